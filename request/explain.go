package request

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	stderrors "errors"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// maxEcho bounds what an answer repeats of a body at a time, and maxReason all of a text: the
// findings that are kept have a limit of their own, which is below that.
const (
	maxEcho   = 1 << 10
	maxReason = 128 << 10
	// maxLines of the server about names that stand twice are longer than maxReason.
	maxLines = 4 << 10
	// maxMetadata bounds the metadata that is decoded again for the server's text: that takes
	// a hundred times as much memory.
	maxMetadata = 256 << 10
)

// upTo returns the start of a text, without the rest in memory.
func upTo(n int, text string) string {
	if len(text) <= n {
		return text
	}
	return strings.Clone(text[:n])
}

// explain is the answer to a body that cannot be decoded: transformDecodeError of
// k8s.io/apiserver, pkg/endpoints/handlers/rest.go. The server reads apiVersion and kind with
// encoding/json first, and so most of its texts are from there.
func (x *Exchange) explain(err error) *StatusError {
	// What follows reads the body with encoding/json, which copies strings.
	const copies = 4
	if stderrors.Is(err, errors.ErrBudget) || !x.loan.charge(copies*len(x.body)) {
		return overloaded()
	}
	if x.form == mergePatch {
		return x.explainMerge(err)
	}
	text, yamlErr := x.json()
	if stderrors.Is(yamlErr, errors.ErrBudget) || !x.loan.charge(copies*max(0, len(text)-len(x.body))) {
		return overloaded()
	}
	var found struct {
		APIVersion string `json:"apiVersion,omitempty"`
		Kind       string `json:"kind,omitempty"`
	}
	reason := err.Error()
	switch {
	case yamlErr != nil:
	case json.Unmarshal(text, &found) != nil:
		reason = "couldn't get version/kind; json parse error: " + json.Unmarshal(text, &found).Error()
		found.Kind = ""
	case strings.Count(found.APIVersion, "/") > 1:
		reason = noGroupVersion(found.APIVersion)
		found.Kind = ""
	case found.Kind == "" && x.resource != nil && x.resource.Kind != "":
		return x.kindless(found.APIVersion, err)
	case x.serverReason(err, text) != "":
		reason = x.serverReason(err, text)
	default:
		// Of another type than the path says, nothing but metadata is decoded.
		_, isMismatch := stderrors.AsType[*errors.TypeError](err)
		if other := x.otherType(found.APIVersion, found.Kind, text); other != nil && isMismatch {
			other.Err = err
			return other
		}
	}
	refused := x.cannotDecode(found.APIVersion, found.Kind, reason)
	refused.Err = err
	return refused
}

// noGroupVersion is the text of schema.ParseGroupVersion of k8s.io/apimachinery.
func noGroupVersion(apiVersion string) string {
	return "unexpected GroupVersion string: " + upTo(maxEcho, apiVersion)
}

// json returns the body as JSON.
func (x *Exchange) json() ([]byte, error) {
	if !x.form.isYAML() {
		return x.body, nil
	}
	return x.bridge(yamlbridge.Kubernetes)
}

// bridge returns a body in YAML as JSON. What that takes is charged until the request ends.
func (x *Exchange) bridge(dialect yamlbridge.Dialect) ([]byte, error) {
	bridge := yamlbridge.Reader{Dialect: dialect, AliasFactor: aliasFactor, Budget: &x.loan}
	return bridge.AppendJSON(nil, x.body)
}

// serverReason is the server's text for what is wrong with a number or with the metadata of the
// object, if that is it.
func (x *Exchange) serverReason(err error, text []byte) string {
	root := errors.Path{}.Child("metadata")
	if object, ok := stderrors.AsType[*errors.ObjectError](err); ok && object.Err != nil && object.Path == root {
		return object.Err.Error()
	}
	if _, ok := stderrors.AsType[*errors.TypeError](err); ok {
		if inMetadata := x.metadataError(text); inMetadata != nil {
			return inMetadata.Error()
		}
	}
	if syntax, ok := stderrors.AsType[*errors.SyntaxError](err); ok {
		number := string(numberAt(text, int(syntax.Position.Offset)))
		if _, err := strconv.ParseFloat(number, 64); stderrors.Is(err, strconv.ErrRange) {
			return "json: cannot unmarshal number " + number + " into Go value of type float64"
		}
	}
	return ""
}

// numberAt returns the number at an index, if there is one.
func numberAt(text []byte, at int) []byte {
	text = text[min(at, len(text)):]
	if end := bytes.IndexFunc(text, func(r rune) bool { return !strings.ContainsRune("+-.0123456789Ee", r) }); end >= 0 {
		text = text[:end]
	}
	return text
}

// metadataError is the server's error about the metadata of an object, if it has one: it
// decodes the members in the order of their names.
func (x *Exchange) metadataError(text []byte) error {
	value := member(text, "metadata")
	const times = 100 // as much memory
	if value == nil || len(value) > maxMetadata || !x.loan.charge(times*len(value)) {
		return nil // what cannot be read is explained by others
	}
	defer x.loan.repay(times * len(value))
	var metadata map[string]json.RawMessage
	if json.Unmarshal(value, &metadata) != nil {
		_, err := apiserver.DecodeMetadata(value)
		return err
	}
	sorted, err := json.Marshal(metadata)
	if err == nil {
		_, err = apiserver.DecodeMetadata(sorted)
	}
	return err
}

// cannotDecode is the server's text for a body whose type is known, or not.
func (x *Exchange) cannotDecode(apiVersion, kind, reason string) *StatusError {
	kind, reason = upTo(maxEcho, kind), upTo(maxReason, reason)
	wanted := kind
	if x.resource != nil && x.resource.Kind != "" {
		wanted = x.resource.Kind
	}
	switch {
	case wanted == "": // these are no objects of Kubernetes, then
		return BadRequest(reason)
	case kind == "":
		return BadRequest("the object provided is unrecognized (must be of type " + wanted + "): " + reason + " (" + summary(x.body) + ")")
	}
	_, version := splitAPIVersion(apiVersion)
	return BadRequest(kind + " in version " + strconv.Quote(upTo(maxEcho, version)) + " cannot be handled as a " + wanted + ": " + reason)
}

// kindless is the answer to an object without a kind where one must be. Under Ignore the
// server finds out later, when it has put that of the path in its place.
func (x *Exchange) kindless(apiVersion string, err error) *StatusError {
	body, kind := x.body, ""
	if x.validation == decoder.Ignore {
		text, _ := x.json() // which was decoded
		body, kind = bytes.TrimSpace(text), x.resource.Kind
		if apiVersion == "" {
			apiVersion = x.resource.APIVersion
		}
	}
	body = body[:min(len(body), maxEcho)]
	refused := x.cannotDecode(apiVersion, kind, "Object 'Kind' is missing in '"+string(body)+"'")
	refused.Err = err
	return refused
}

// summary is summarizeData of k8s.io/apiserver with the length that it is called with.
func summary(body []byte) string {
	const most = 30
	text, rest := body, ""
	if len(body) > most {
		text, rest = body[:most], " ..."
	}
	switch {
	case len(body) == 0:
		return "<empty>"
	case body[0] == '{':
		return string(text) + rest
	}
	return hex.EncodeToString(text) + rest
}

// strict is the answer to findings under Strict.
func (x *Exchange) strict(yamlDuplicates []string) *StatusError {
	entries := x.entries(yamlDuplicates)
	if n := len(yamlDuplicates); n > 0 {
		entries = entries[n-1:]
		entries[0] = "yaml: unmarshal errors:\n  " + strings.Join(yamlDuplicates, "\n  ")
	}
	reason := "strict decoding error: " + strings.Join(entries, ", ")
	if x.omitted > 0 {
		reason += " and " + strconv.Itoa(x.omitted) + " more"
	}
	var refused *StatusError
	if x.form == mergePatch {
		refused = x.invalidPatch(reason)
	} else {
		apiVersion, kind, _ := decoder.PeekType(x.result)
		refused = x.cannotDecode(apiVersion, kind, reason)
	}
	refused.Err = errors.NewStrictError(slices.Clone(x.findings), x.omitted)
	return refused
}

// checkType refuses results of another type than the resource's.
func (x *Exchange) checkType() *StatusError {
	want := x.resource
	if x.form == mergePatch || want.APIVersion == "" && want.Kind == "" || startsWithType(x.result, want.APIVersion, want.Kind) {
		return nil
	}
	apiVersion, kind, err := decoder.PeekType(x.result)
	if err != nil {
		return x.explain(err)
	}
	return x.otherType(apiVersion, kind, x.result)
}

// otherType refuses an object if its type is not the resource's.
func (x *Exchange) otherType(apiVersion, kind string, object []byte) *StatusError {
	want := x.resource
	if want == nil {
		return nil
	}
	apiVersion, kind = upTo(maxEcho, apiVersion), upTo(maxEcho, kind)
	switch {
	case want.Kind != "" && kind == "":
		return x.kindless(apiVersion, nil)
	case strings.Count(apiVersion, "/") > 1:
		return x.cannotDecode("", "", noGroupVersion(apiVersion))
	case want.APIVersion != "" && apiVersion != want.APIVersion:
		return BadRequest("the API version in the data (" + apiVersion + ") does not match the expected API version (" + want.APIVersion + ")")
	case want.Kind != "" && kind != want.Kind:
		group, _ := splitAPIVersion(want.APIVersion)
		return invalid(group, kind, upTo(maxEcho, nameOf(object)), "kind", "FieldValueInvalid",
			"Invalid value: "+strconv.Quote(kind)+": must be "+want.Kind)
	}
	return nil
}

// startsWithType reports whether the first two members of a result are these, in either
// order, as they are in most cases.
func startsWithType(result []byte, apiVersion, kind string) bool {
	i := jsonwire.Blanks(result, 0)
	for range 2 {
		name, end := plainString(result, jsonwire.Blanks(result, i+1))
		end = jsonwire.Blanks(result, end) // of the colon
		value, end := plainString(result, jsonwire.Blanks(result, end+1))
		isType := string(name) == "apiVersion" && string(value) == apiVersion ||
			string(name) == "kind" && string(value) == kind
		if !isType {
			return false
		}
		i = jsonwire.Blanks(result, end)
	}
	return true // no name stands twice in a result
}

// plainString returns the text of a string without escapes at an index, and the index behind
// it; or nothing.
func plainString(b []byte, at int) ([]byte, int) {
	if jsonwire.At(b, at) != '"' {
		return nil, at
	}
	end, escaped, st := jsonwire.ScanString(b, at+1)
	if st != jsonwire.OK || escaped {
		return nil, at
	}
	return b[at+1 : end], end + 1
}

// nameOf returns the name of an object, if it has one.
func nameOf(result []byte) string {
	var object struct {
		Metadata struct{ Name string }
	}
	_ = json.Unmarshal(result, &object) // there is no name, then
	return object.Metadata.Name
}
