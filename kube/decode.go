package kube

// NOTE: an object says itself of which version it is, and to read that first would be a pass of its own.
// So an object is decoded by the version that is expected, and again if it turns out to be of another one. The
// server's code decodes what was refused, all of it, as the text depends on which step fails first.

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
	yaml, strict, stored bool
	item                 bool // of a list: what is found has no place of its own
}

func (v *version) pool(how reading) *decoder.Pool {
	switch {
	case how.stored:
		return v.stored
	case how.strict:
		return v.strict
	}
	return v.lenient
}

// decode decodes a document by the schema of the version.
func (v *version) decode(data []byte, how reading) (object map[string]any, strict []error, err error) {
	pool := v.pool(how)
	d := pool.Get()
	defer pool.Put(d)
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

// omitted is the last entry of a list: how many findings are not in it.
type omitted int

func (n omitted) Error() string { return fmt.Sprintf("and %d more", int(n)) }

// decode decodes an object of the resource, or of another kind: of that only metadata is
// pruned. The type is that of the object, also where there is an error and it could be read.
func (r *Resource) decode(data []byte, expected *runtimeschema.GroupVersionKind, how reading) (object map[string]any, gvk *runtimeschema.GroupVersionKind, strict []error, err error) {
	if err := r.check(); err != nil {
		return nil, nil, nil, err
	}
	object, gvk, strict, err = r.decodeFast(data, expected, how)
	if err == nil && r.serverTexts && how.strict && !how.item {
		strict = r.asServer(data, how, strict)
	}
	return object, gvk, strict, err
}

// decodeFast is decode with texts of ours. It tries the version that is expected first.
func (r *Resource) decodeFast(data []byte, expected *runtimeschema.GroupVersionKind, how reading) (object map[string]any, gvk *runtimeschema.GroupVersionKind, strict []error, err error) {
	guess := r.guess(expected)
	object, strict, err = guess.decode(data, how)
	if err != nil {
		return r.decodeRefused(data, guess, expected, how, err)
	}
	gvk = typeOf(object)
	if actual := r.version(*gvk); actual != guess {
		if how.stored && actual == r.foreign {
			return r.decodeForeign(data)
		}
		object, strict, err = actual.decode(data, how)
		if err != nil {
			return r.decodeRefused(data, actual, expected, how, err)
		}
	}
	return object, gvk, strict, nil
}

// decodeRefused decodes what a version has refused: by the right one if it was another, and
// else it returns the server's error.
func (r *Resource) decodeRefused(data []byte, tried *version, expected *runtimeschema.GroupVersionKind, how reading, refusal error) (object map[string]any, gvk *runtimeschema.GroupVersionKind, strict []error, err error) {
	if isLimit(refusal) {
		return nil, nil, nil, refusal
	}
	if panicked := guard(func() { object, gvk, strict, err = r.explain(data, tried, expected, how, refusal) }); panicked {
		return nil, nil, nil, refusal
	}
	return object, gvk, strict, err
}

// guard calls f and reports whether it panics. The server's reader of YAML has defects, and must
// not stop a program because of a document that was refused.
func guard(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// explain is decodeRefused, with the server's code.
func (r *Resource) explain(data []byte, tried *version, expected *runtimeschema.GroupVersionKind, how reading, refusal error) (map[string]any, *runtimeschema.GroupVersionKind, []error, error) {
	u, gvk, err := parseAsServer(data, expected, how)
	if err != nil {
		return nil, gvk, nil, explained(err, refusal)
	}
	actual := r.version(*typeOf(u.Object))
	if how.stored && actual == r.foreign {
		return r.decodeForeign(data)
	}
	if actual != tried {
		object, strict, err := actual.decode(data, how)
		if err == nil {
			return object, typeOf(object), strict, nil
		}
		refusal = err
	}
	_, err = r.coerce(u, how.stored, false)
	if err == nil && how.stored { // the server does it again, behind defaults
		r.Default(u)
		_, err = r.coerce(u, false, false)
	}
	if err != nil {
		return nil, gvk, nil, explained(err, refusal)
	}
	return nil, gvk, nil, refusal
}

// decodeForeign decodes a stored object of another kind, of which the server does not repair
// the generation.
func (r *Resource) decodeForeign(data []byte) (map[string]any, *runtimeschema.GroupVersionKind, []error, error) {
	u, gvk, err := parseAsServer(data, nil, reading{stored: true})
	if err == nil {
		_, err = r.coerce(u, true, false)
	}
	return u.Object, gvk, nil, err
}

// typeOf returns the type of an object that was decoded: of its kind and apiVersion, both
// are strings or absent.
func typeOf(object map[string]any) *runtimeschema.GroupVersionKind {
	apiVersion, _ := object["apiVersion"].(string)
	kind, _ := object["kind"].(string)
	gvk := runtimeschema.FromAPIVersionAndKind(apiVersion, kind)
	return &gvk
}

// isLimit reports whether a document is refused for a limit that the server does not have,
// as it has one for the depth.
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

// explained returns the server's error for a document together with ours. What others
// tell by its type stays as it is.
func explained(server, ours error) error {
	if runtime.IsMissingKind(server) || runtime.IsMissingVersion(server) || runtime.IsNotRegisteredError(server) {
		return server
	}
	return &Error{Text: server.Error(), Err: ours, server: server}
}
