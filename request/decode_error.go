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

// maxEcho bounds one text of the body that an answer repeats, and maxReason a whole reason.
// Findings have a limit of their own, which is lower.
const (
	maxEcho   = 1 << 10
	maxReason = 128 << 10
	// maxLines lines of the server about repeated names are longer than maxReason.
	maxLines = 4 << 10
	// maxMetadata bounds the metadata that is decoded again for the server's text. Decoding takes a
	// hundred times as much memory.
	maxMetadata = 256 << 10
)

// upTo returns at most n bytes of the start of a text. A shortened text does not keep the rest in
// memory.
func upTo(n int, text string) string {
	if len(text) <= n {
		return text
	}
	return strings.Clone(text[:n])
}

// decodeError returns the answer to a body that cannot be decoded: transformDecodeError of
// k8s.io/apiserver, pkg/endpoints/handlers/rest.go. The server first reads apiVersion and kind with
// encoding/json, and most of its texts are from there.
func (x *Exchange) decodeError(err error) *StatusError {
	// From here on the body is read with encoding/json, which copies strings.
	const copies = 4
	if stderrors.Is(err, errors.ErrBudget) || !x.memory.charge(copies*len(x.body)) {
		return overloaded()
	}
	if x.form == mergePatch {
		return x.mergePatchError(err)
	}
	text, yamlErr := x.json()
	more := copies * max(0, len(text)-len(x.body))
	if stderrors.Is(yamlErr, errors.ErrBudget) || !x.memory.charge(more) {
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
		// If the object is of another type than the path says, only its metadata is decoded.
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

// bridge returns a body in YAML as JSON. Its memory is charged until the request ends.
func (x *Exchange) bridge(dialect yamlbridge.Dialect) ([]byte, error) {
	bridge := yamlbridge.Reader{Dialect: dialect, AliasFactor: aliasFactor, Budget: &x.memory}
	return bridge.AppendJSON(nil, x.body)
}

// serverReason returns the server's text if the fault is a number or the object's metadata, and
// otherwise an empty text.
func (x *Exchange) serverReason(err error, text []byte) string {
	root := errors.Path{}.Child("metadata")
	object, isObject := stderrors.AsType[*errors.ObjectError](err)
	if isObject && object.Err != nil && object.Path == root {
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

// numberAt returns the number at an index, or nothing if there is none.
func numberAt(text []byte, at int) []byte {
	text = text[min(at, len(text)):]
	isOther := func(r rune) bool { return !strings.ContainsRune("+-.0123456789Ee", r) }
	if end := bytes.IndexFunc(text, isOther); end >= 0 {
		text = text[:end]
	}
	return text
}

// metadataError returns the server's error about the metadata of an object, or nil if the server
// has none.
func (x *Exchange) metadataError(text []byte) error {
	value := apiserver.Member(text, "metadata")
	const times = 100 // times as much memory
	if value == nil || len(value) > maxMetadata || !x.memory.charge(times*len(value)) {
		return nil // other texts explain what cannot be read
	}
	defer x.memory.release(times * len(value))
	_, err := apiserver.DecodeMetadata(value)
	return err
}

// cannotDecode returns the server's refusal of a body, whether its type is known or not.
func (x *Exchange) cannotDecode(apiVersion, kind, reason string) *StatusError {
	kind, reason = upTo(maxEcho, kind), upTo(maxReason, reason)
	wanted := kind
	if x.resource != nil && x.resource.Kind != "" {
		wanted = x.resource.Kind
	}
	switch {
	case wanted == "": // such resources are no objects of Kubernetes
		return BadRequest(reason)
	case kind == "":
		return BadRequest("the object provided is unrecognized (must be of type " + wanted + "): " +
			reason + " (" + summary(x.body) + ")")
	}
	_, version := splitAPIVersion(apiVersion)
	return BadRequest(kind + " in version " + strconv.Quote(upTo(maxEcho, version)) +
		" cannot be handled as a " + wanted + ": " + reason)
}

// kindless returns the answer to an object that must have a kind and has none. Under Ignore the
// server notices later, when it has inserted the kind of the path.
func (x *Exchange) kindless(apiVersion string, err error) *StatusError {
	body, kind := x.body, ""
	if x.validation == decoder.Ignore {
		text, _ := x.json() // it was decoded before
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

// summary is summarizeData of k8s.io/apiserver with the length that the server passes to it.
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

// strict returns the answer to findings under Strict, with the texts of the server's entries. The
// lines about repeated names in YAML are one entry, the first.
func (x *Exchange) strict(lines, entries []string) *StatusError {
	if len(lines) > 0 {
		first := "yaml: unmarshal errors:\n  " + strings.Join(lines, "\n  ")
		entries = slices.Insert(entries, 0, first)
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
	refused.Err = errors.NewStrictError(withoutValues(x.findings), x.omitted)
	return refused
}

// checkType refuses a result of another type than the resource's.
func (x *Exchange) checkType() *StatusError {
	want := x.resource
	if x.form == mergePatch || want.APIVersion == "" && want.Kind == "" ||
		startsWithType(x.result, want.APIVersion, want.Kind) {
		return nil
	}
	apiVersion, kind, err := decoder.PeekType(x.result)
	if err != nil {
		return x.decodeError(err)
	}
	return x.otherType(apiVersion, kind, x.result)
}

// otherType refuses an object of another type than the resource's.
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
		return BadRequest("the API version in the data (" + apiVersion +
			") does not match the expected API version (" + want.APIVersion + ")")
	case want.Kind != "" && kind != want.Kind:
		group, _ := splitAPIVersion(want.APIVersion)
		return invalid(group, kind, upTo(maxEcho, nameOf(object)), "kind", "FieldValueInvalid",
			"Invalid value: "+strconv.Quote(kind)+": must be "+want.Kind)
	}
	return nil
}

// startsWithType reports whether the first two members of a result are apiVersion and kind with
// these values, in either order. In most results they are.
func startsWithType(result []byte, apiVersion, kind string) bool {
	i := jsonwire.Blanks(result, 0)
	for range 2 {
		name, end := plainString(result, jsonwire.Blanks(result, i+1))
		end = jsonwire.Blanks(result, end) // the colon
		value, end := plainString(result, jsonwire.Blanks(result, end+1))
		isType := string(name) == "apiVersion" && string(value) == apiVersion ||
			string(name) == "kind" && string(value) == kind
		if !isType {
			return false
		}
		i = jsonwire.Blanks(result, end)
	}
	return true // no name occurs twice in a result
}

// plainString returns the text of the string at an index and the index after it. If there is no
// string, or one with escapes, it returns nil and the index.
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

// nameOf returns the name of an object, or an empty text if it has none.
func nameOf(result []byte) string {
	var object struct {
		Metadata struct{ Name string }
	}
	_ = json.Unmarshal(result, &object) // the name stays empty
	return object.Metadata.Name
}
