package middleware

import (
	"bytes"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// dropRemovals drops findings about unknown fields that a merge patch removes: there is nothing
// of them in the result, where the server looks.
func (e *exchange) dropRemovals() {
	if e.form != mergePatch {
		return
	}
	var kept errors.List
	for _, f := range e.findings {
		if f.Kind != errors.UnknownField || !isNull(e.body, int(f.Position.Offset)) {
			kept = append(kept, f)
		}
	}
	e.findings = kept
}

// isNull reports whether the member whose name stands at an index is null.
func isNull(body []byte, name int) bool {
	end, _, st := jsonwire.ScanString(body, name+1)
	if st != jsonwire.OK {
		return false
	}
	at := jsonwire.Blanks(body, jsonwire.Blanks(body, end+1)+1) // behind the colon
	return bytes.HasPrefix(body[at:], []byte("null"))
}
