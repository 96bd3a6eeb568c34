package kube

// This file decodes the bodies of server-side apply.

import (
	"errors"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
)

// DecodeApply decodes the body of a server-side apply (KEP-555,
// types.ApplyYAMLPatchType, in YAML or JSON) as the API server does before it
// merges the body into an object: with the server's values, of which none is
// pruned or defaulted.
//
// Under decoder.Warn and decoder.Strict it returns what it finds: the repeated
// names, in one entry with the server's text, and the unknown fields, each an
// *errors.Finding with its position. Under Strict repeated names are an error.
// Unknown fields are no error here. The server's merge refuses them in every
// mode, with status 500 and without a place.
//
// The errors are those with which the server answers, each an
// *apierrors.StatusError with the code 400 and the server's text, or an
// *errors.LimitError. A FieldValidation that is not one of the constants is
// another error.
func (r *Resource) DecodeApply(
	body []byte, v decoder.FieldValidation,
) (u *unstructured.Unstructured, found []error, err error) {
	if err := r.check(); err != nil {
		return nil, nil, err
	}
	if _, err := v.MarshalText(); err != nil {
		return nil, nil, err
	}
	u = &unstructured.Unstructured{Object: map[string]any{}}
	how := reading{yaml: true, strict: v != decoder.Ignore}
	repeated, err := r.decodeAnything(body, how, &u.Object)
	if err != nil {
		return r.refusedApply(body, err)
	}
	if repeated != nil {
		found = append(found, repeated)
		if v == decoder.Strict {
			return nil, found, apierrors.NewBadRequest("error strict decoding patch: " + repeated.Error())
		}
	}
	of := r.version(u.GroupVersionKind())
	if how.strict {
		unknown, err := of.unknownFields(body)
		if err != nil {
			return nil, nil, err
		}
		found = append(found, unknown...)
	}
	of.typ.detach(u.Object)
	return u, found, nil
}

// decodeAnything decodes an object in YAML that no schema prunes. It returns the server's error for
// names that repeat, or nil.
func (r *Resource) decodeAnything(
	body []byte, how reading, object *map[string]any,
) (repeated, err error) {
	d := r.anything.GetFor(how.validation())
	defer r.anything.Put(d)
	var read map[string]any
	if err := d.UnmarshalYAML(body, &read); err != nil {
		return nil, err
	}
	if read != nil { // null changes nothing, and the merge refuses it
		*object = read
	}
	if lines := d.YAMLDuplicates(); len(lines) > 0 {
		repeated = errors.New("error converting YAML to JSON: yaml: unmarshal errors:\n  " + strings.Join(lines, "\n  "))
	}
	return repeated, nil
}

// unknownFields returns the unknown fields of an object in YAML, and how many are omitted. The error
// is about a limit.
func (v *version) unknownFields(body []byte) (found []error, err error) {
	d := v.typedRequests.GetFor(decoder.Warn)
	defer v.typedRequests.Put(d)
	buffer := takeBuffer()
	defer giveBuffer(buffer)
	*buffer, err = d.AppendYAML((*buffer)[:0], body)
	switch {
	case isLimit(err):
		return nil, err
	case err != nil:
		return nil, nil // the merge says what is wrong with its metadata
	}
	for _, f := range d.Findings() {
		if f.Kind == ferrors.UnknownField {
			found = append(found, &f)
		}
	}
	if n := d.Omitted(); n > 0 {
		found = append(found, omitted(n))
	}
	return found, nil
}

// refusedApply returns the server's answer to a body that is refused.
func (r *Resource) refusedApply(
	body []byte, refusal error,
) (*unstructured.Unstructured, []error, error) {
	if isLimit(refusal) {
		return nil, nil, refusal
	}
	var converting, decoding error
	panicked := guard(func() {
		if _, converting = utilyaml.ToJSON(body); converting == nil {
			decoding = utilyaml.Unmarshal(body, &map[string]any{})
		}
	})
	switch {
	case panicked:
	case converting != nil:
		return nil, nil, apierrors.NewBadRequest("error encoding patch: " + converting.Error())
	case decoding != nil:
		return nil, nil, apierrors.NewBadRequest("error decoding patch: " + decoding.Error())
	}
	return nil, nil, refusal
}
