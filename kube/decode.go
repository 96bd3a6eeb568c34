package kube

// NOTE: an object names its own version, and reading that first would take a pass of its own. So an
// object is decoded by the version that is expected, and again if it turns out to be of another
// one. If a document is refused, the server's code decodes all of it, because the text of the error
// depends on which step fails first.

import (
	"errors"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	runtimeschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// A reading says how a document is decoded.
type reading struct {
	yaml, strict bool
	item         bool             // of a list: the server has no texts for its findings
	origin       ferrors.Position // where the document starts in a list, if it is known
}

// validation returns how fields are validated. Findings are returned, and are never errors.
func (how reading) validation() decoder.FieldValidation {
	if how.strict {
		return decoder.Warn
	}
	return decoder.Ignore
}

// decode decodes a document by the schema of the version.
func (v *version) decode(
	data []byte, how reading,
) (object map[string]any, strict []error, err error) {
	d := v.requests.GetFor(how.validation())
	defer v.requests.Put(d)
	d.SetOrigin(how.origin)
	if how.yaml {
		err = d.UnmarshalYAML(data, &object)
	} else {
		err = d.Unmarshal(data, &object)
	}
	if err != nil {
		return nil, nil, err
	}
	return object, strictErrors(d), nil
}

// strictErrors returns the findings in the last document of a decoder as the API server lists them:
// each is a *errors.Finding, except for the repeated names of a YAML document, which are one entry.
func strictErrors(d *decoder.Decoder) []error {
	found := d.Findings()
	if len(found) == 0 && d.Omitted() == 0 {
		return nil
	}
	list := make([]error, 0, len(found)+1)
	if lines := d.YAMLDuplicates(); len(lines) > 0 {
		list = append(list, errors.New("yaml: unmarshal errors:\n  "+strings.Join(lines, "\n  ")))
	}
	for i := range found {
		if f := found[i]; d.ListedByServer(&f) {
			list = append(list, &f)
		}
	}
	if n := d.Omitted(); n > 0 {
		list = append(list, omitted(n))
	}
	return list
}

// omitted is the last entry of a list. It counts the findings that are not in it.
type omitted int

func (n omitted) Error() string { return fmt.Sprintf("and %d more", int(n)) }

// decode decodes an object. Of an object of another kind than the resource's only metadata is
// pruned. gvk is the type of the object, also if there is an error and the type could be read.
func (r *Resource) decode(
	data []byte, expected *runtimeschema.GroupVersionKind, how reading,
) (object map[string]any, gvk *runtimeschema.GroupVersionKind, strict []error, err error) {
	if err := r.check(); err != nil {
		return nil, nil, nil, err
	}
	object, gvk, strict, err = r.decodeFast(data, expected, how)
	if err != nil {
		return nil, gvk, nil, err
	}
	if r.serverTexts && how.strict && !how.item {
		strict = r.asServer(data, how, strict)
	}
	r.version(*gvk).typ.detach(object)
	return object, gvk, strict, err
}

// decodeFast is decode with our texts. It tries the version that is expected first.
func (r *Resource) decodeFast(
	data []byte, expected *runtimeschema.GroupVersionKind, how reading,
) (object map[string]any, gvk *runtimeschema.GroupVersionKind, strict []error, err error) {
	guess := r.guess(expected)
	object, strict, err = guess.decode(data, how)
	if err != nil {
		return r.decodeRefused(data, guess, expected, how, err)
	}
	gvk = typeOf(object)
	if actual := r.version(*gvk); actual.program != guess.program {
		object, strict, err = actual.decode(data, how)
		if err != nil {
			return r.decodeRefused(data, actual, expected, how, err)
		}
	}
	return object, gvk, strict, nil
}

// decodeRefused decodes a document that a version has refused: by the right version if that is
// another one. Otherwise it returns the server's error.
func (r *Resource) decodeRefused(
	data []byte, tried *version, expected *runtimeschema.GroupVersionKind, how reading,
	refusal error,
) (object map[string]any, gvk *runtimeschema.GroupVersionKind, strict []error, err error) {
	if isLimit(refusal) {
		return nil, nil, nil, refusal
	}
	decode := func() { object, gvk, strict, err = r.decodeAsServer(data, tried, expected, how, refusal) }
	if panicked := guard(decode); panicked {
		return nil, nil, nil, refusal
	}
	return object, gvk, strict, err
}

// guard calls f and reports whether it panics. The server's reader of YAML has defects, which must
// not end a program because of a document that was refused.
func guard(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// decodeAsServer does the work of decodeRefused with the server's code.
func (r *Resource) decodeAsServer(
	data []byte, tried *version, expected *runtimeschema.GroupVersionKind, how reading,
	refusal error,
) (map[string]any, *runtimeschema.GroupVersionKind, []error, error) {
	u, gvk, err := parseAsServer(data, expected, how)
	if err != nil {
		return nil, gvk, nil, newError(err, refusal)
	}
	actual := r.version(*typeOf(u.Object))
	if actual.program != tried.program {
		object, strict, err := actual.decode(data, how)
		if err == nil {
			return object, typeOf(object), strict, nil
		}
		refusal = err
	}
	if _, err = r.coerce(u, false, false); err != nil {
		return nil, gvk, nil, newError(err, refusal)
	}
	return nil, gvk, nil, refusal
}

// typeOf returns the type of an object that was decoded. Its kind and apiVersion are strings or
// absent.
func typeOf(object map[string]any) *runtimeschema.GroupVersionKind {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := runtimeschema.FromAPIVersionAndKind(apiVersion, kind)
	return &gvk
}

// isLimit reports whether a document is refused for a limit that the server does not have. The
// server limits the depth as well.
func isLimit(err error) bool {
	var limit *ferrors.LimitError
	return errors.As(err, &limit) && limit.Limit != ferrors.LimitDepth
}

// An Error says why a document is refused. Text is in the words of the API
// server, as in its answers. Err is an error of this library's package errors,
// in its own words and with the position. errors.As and errors.Is also find the
// server's own error, such as a *json.UnmarshalTypeError.
type Error struct {
	Text string
	Err  error

	server error
}

// Error returns Text.
func (e *Error) Error() string { return e.Text }

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// As looks for a target in the server's error: see errors.As.
func (e *Error) As(target any) bool { return e.server != nil && errors.As(e.server, target) }

// Is looks for a target in the server's error: see errors.Is.
func (e *Error) Is(target error) bool { return e.server != nil && errors.Is(e.server, target) }

// newError returns the server's error for a document together with ours. Errors of the server that
// callers distinguish by their types stay as they are.
func newError(server, ours error) error {
	isMissing := runtime.IsMissingKind(server) || runtime.IsMissingVersion(server)
	if isMissing || runtime.IsNotRegisteredError(server) {
		return server
	}
	return &Error{Text: server.Error(), Err: ours, server: server}
}
