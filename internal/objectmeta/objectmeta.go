// Package objectmeta does to the metadata of an object what a kube-apiserver does
// by decoding it into a metav1.ObjectMeta and encoding that again.
package objectmeta

import (
	"bytes"
	"encoding/json"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// These are metav1.ObjectMeta and what is in it, as far as JSON goes
// (k8s.io/apimachinery v0.37).
type (
	v1ObjectMeta struct {
		Name                       string             `json:"name,omitempty"`
		GenerateName               string             `json:"generateName,omitempty"`
		Namespace                  string             `json:"namespace,omitempty"`
		SelfLink                   string             `json:"selfLink,omitempty"`
		UID                        string             `json:"uid,omitempty"`
		ResourceVersion            string             `json:"resourceVersion,omitempty"`
		Generation                 int64              `json:"generation,omitempty"`
		CreationTimestamp          v1Time             `json:"creationTimestamp,omitzero"`
		DeletionTimestamp          *v1Time            `json:"deletionTimestamp,omitempty"`
		DeletionGracePeriodSeconds *int64             `json:"deletionGracePeriodSeconds,omitempty"`
		Labels                     map[string]string  `json:"labels,omitempty"`
		Annotations                map[string]string  `json:"annotations,omitempty"`
		OwnerReferences            []v1OwnerReference `json:"ownerReferences,omitempty"`
		Finalizers                 []string           `json:"finalizers,omitempty"`
		ManagedFields              []v1ManagedFields  `json:"managedFields,omitempty"`
	}
	v1OwnerReference struct {
		APIVersion         string `json:"apiVersion"`
		Kind               string `json:"kind"`
		Name               string `json:"name"`
		UID                string `json:"uid"`
		Controller         *bool  `json:"controller,omitempty"`
		BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
	}
	v1ManagedFields struct {
		Manager     string    `json:"manager,omitempty"`
		Operation   string    `json:"operation,omitempty"`
		APIVersion  string    `json:"apiVersion,omitempty"`
		Time        *v1Time   `json:"time,omitempty"`
		FieldsType  string    `json:"fieldsType,omitempty"`
		FieldsV1    *v1Fields `json:"fieldsV1,omitempty"`
		Subresource string    `json:"subresource,omitempty"`
	}
	v1Time   struct{ time.Time }
	v1Fields struct{ json.RawMessage }
)

func (t *v1Time) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*t = v1Time{}
	if text == nil {
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, *text)
	t.Time = parsed
	return err
}

func (t v1Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat([]byte{'"'}, time.RFC3339+`"`), nil
}

// Append appends the metadata b, which is JSON without repeated names, after a
// round trip through ObjectMeta: without members that it does not know or that
// are empty. Where dropInvalid is set, members that do not fit are left out, too;
// metadata that is no object never fits. With repairGeneration, a generation of 0
// becomes 1.
func Append(dst, b []byte, dropInvalid, repairGeneration bool) ([]byte, error) {
	b = jsonwire.AppendServerNumbers(nil, b)
	var m v1ObjectMeta
	if err := kjson.UnmarshalCaseSensitivePreserveInts(b, &m); err != nil {
		if !dropInvalid {
			return dst, err
		}
		if m, err = fittingMembers(b); err != nil {
			return dst, err
		}
	}
	if repairGeneration && m.Generation == 0 {
		m.Generation = 1
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(&m); err != nil {
		return dst, err
	}
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), nil
}

// fittingMembers decodes those members of metadata that fit, each for itself.
func fittingMembers(b []byte) (m v1ObjectMeta, err error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return m, err
	}
	for name, value := range members {
		one := append(append(append(jsonwire.AppendQuoted([]byte{'{'}, name), ':'), value...), '}')
		if kjson.UnmarshalCaseSensitivePreserveInts(one, new(v1ObjectMeta)) == nil {
			if err := kjson.UnmarshalCaseSensitivePreserveInts(one, &m); err != nil {
				return m, err
			}
		}
	}
	return m, nil
}
