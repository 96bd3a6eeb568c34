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

// dropRemovals drops findings about unknown fields that a merge patch removes. The server looks for
// unknown fields in the result, which does not have them.
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

// isNull reports whether the member whose name starts at an index is null.
func isNull(body []byte, name int) bool {
	end, _, st := jsonwire.ScanString(body, name+1)
	if st != jsonwire.OK {
		return false
	}
	at := jsonwire.Blanks(body, jsonwire.Blanks(body, end+1)+1) // after the colon
	return bytes.HasPrefix(body[at:], []byte("null"))
}

// mergePatchError returns the answer to a merge patch that cannot be decoded: k8s.io/apiserver,
// pkg/endpoints/handlers/patch.go. Under Ignore the server decodes only the result. Faults in
// metadata are in the result in any case.
func (x *Exchange) mergePatchError(err error) *StatusError {
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
		reason := cmp.Or(x.serverReason(err, x.body), err.Error())
		refused = BadRequest("error decoding patch: " + upTo(maxReason, reason))
	}
	refused.Err = err
	return refused
}

// invalidPatch returns the server's answer if the result of a patch cannot be decoded. The text of
// the patch replaces that of the result.
func (x *Exchange) invalidPatch(reason string) *StatusError {
	patch := strconv.Quote(string(x.body[:min(len(x.body), maxEcho)]))
	return invalid("", "", "", "patch", "FieldValueInvalid",
		"Invalid value: "+patch+": "+upTo(maxReason, reason))
}
