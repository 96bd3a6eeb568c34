package request

import (
	"bytes"
	"cmp"
	"encoding/json"
	stderrors "errors"
	"strconv"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// dropRemovals drops findings about unknown fields that a merge patch removes: there is nothing
// of them in the result, where the server looks.
func (x *Exchange) dropRemovals() {
	if x.form != mergePatch {
		return
	}
	var kept errors.List
	for _, f := range x.findings {
		if f.Kind != errors.UnknownField || !isNull(x.body, int(f.Position.Offset)) {
			kept = append(kept, f)
		}
	}
	x.findings = kept
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

// explainMerge is the answer to a merge patch that cannot be decoded: k8s.io/apiserver,
// pkg/endpoints/handlers/patch.go. Under Ignore the server decodes the result only, and what is
// wrong with metadata shows there in any case.
func (x *Exchange) explainMerge(err error) *StatusError {
	_, isMismatch := stderrors.AsType[*errors.TypeError](err)
	var refused *StatusError
	var object map[string]any
	switch first := jsonwire.At(x.body, jsonwire.Blanks(x.body, 0)); {
	case !json.Valid(x.body):
		refused = BadRequest("invalid JSON patch")
	case first != '{' && first != '[' && (first == 'n' || x.validation == decoder.Ignore):
		refused = BadRequest("Invalid JSON Patch")
	case first != '{' && x.validation != decoder.Ignore:
		refused = BadRequest("error decoding patch: " + json.Unmarshal(x.body, &object).Error())
	case isMismatch:
		refused = x.invalidPatch(cmp.Or(x.serverReason(err, x.body), err.Error()))
	default:
		refused = BadRequest("error decoding patch: " + upTo(maxReason, cmp.Or(x.serverReason(err, x.body), err.Error())))
	}
	refused.Err = err
	return refused
}

// invalidPatch is the server's answer where the result of a patch cannot be decoded, with the patch in
// its place.
func (x *Exchange) invalidPatch(reason string) *StatusError {
	patch := x.body[:min(len(x.body), maxEcho)]
	return invalid("", "", "", "patch", "FieldValueInvalid", "Invalid value: "+strconv.Quote(string(patch))+": "+upTo(maxReason, reason))
}
