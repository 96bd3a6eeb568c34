package apiserver

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
)

// An ObjectMeta is a metav1.ObjectMeta, as far as JSON goes, and so are the types
// in it (k8s.io/apimachinery v0.37).
type ObjectMeta struct {
	Name                       string               `json:"name,omitempty"`
	GenerateName               string               `json:"generateName,omitempty"`
	Namespace                  string               `json:"namespace,omitempty"`
	SelfLink                   string               `json:"selfLink,omitempty"`
	UID                        UID                  `json:"uid,omitempty"`
	ResourceVersion            string               `json:"resourceVersion,omitempty"`
	Generation                 int64                `json:"generation,omitempty"`
	CreationTimestamp          Time                 `json:"creationTimestamp,omitzero"`
	DeletionTimestamp          *Time                `json:"deletionTimestamp,omitempty"`
	DeletionGracePeriodSeconds *int64               `json:"deletionGracePeriodSeconds,omitempty"`
	Labels                     map[string]string    `json:"labels,omitempty"`
	Annotations                map[string]string    `json:"annotations,omitempty"`
	OwnerReferences            []OwnerReference     `json:"ownerReferences,omitempty"`
	Finalizers                 []string             `json:"finalizers,omitempty"`
	ManagedFields              []ManagedFieldsEntry `json:"managedFields,omitempty"`
}

// An OwnerReference is a metav1.OwnerReference.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                UID    `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// A ManagedFieldsEntry is a metav1.ManagedFieldsEntry.
type ManagedFieldsEntry struct {
	Manager     string                     `json:"manager,omitempty"`
	Operation   ManagedFieldsOperationType `json:"operation,omitempty"`
	APIVersion  string                     `json:"apiVersion,omitempty"`
	Time        *Time                      `json:"time,omitempty"`
	FieldsType  string                     `json:"fieldsType,omitempty"`
	FieldsV1    *json.RawMessage           `json:"fieldsV1,omitempty"`
	Subresource string                     `json:"subresource,omitempty"`
}

type (
	// A UID is a types.UID.
	UID string
	// A ManagedFieldsOperationType is a metav1.ManagedFieldsOperationType.
	ManagedFieldsOperationType string
	// A Time is a metav1.Time.
	Time struct{ time.Time }
)

// UnmarshalJSON reads a time in the form of RFC 3339, or null.
func (t *Time) UnmarshalJSON(b []byte) error {
	var text *string
	if err := json.Unmarshal(b, &text); err != nil {
		return err
	}
	*t = Time{}
	if text == nil {
		return nil
	}
	parsed, err := time.Parse(time.RFC3339, *text)
	t.Time = parsed
	return err
}

// MarshalJSON writes the time in UTC and in seconds.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat([]byte{'"'}, time.RFC3339+`"`), nil
}

// serverNames are the names of the types in the messages of the server.
var serverNames = strings.NewReplacer("apiserver.UID", "types.UID", "apiserver.", "v1.")

// DecodeMetadata decodes metadata, with the error text of the server. Of several errors that is the
// first in the order of names, because the server decodes what it has marshalled from a map
// (GetObjectMetaWithOptions of package objectmeta).
func DecodeMetadata(js []byte) (*ObjectMeta, error) {
	m := new(ObjectMeta)
	err := kjson.UnmarshalCaseSensitivePreserveInts(js, m)
	var members map[string]json.RawMessage
	if err != nil && json.Unmarshal(js, &members) == nil {
		sorted, _ := json.Marshal(members) // it was JSON before
		err = kjson.UnmarshalCaseSensitivePreserveInts(sorted, m)
	}
	var mismatch *json.UnmarshalTypeError
	if errors.As(err, &mismatch) {
		text := "json: cannot unmarshal " + mismatch.Value + " into Go "
		if mismatch.Struct != "" || mismatch.Field != "" {
			text += "struct field " + mismatch.Struct + "." + mismatch.Field
		} else {
			text += "value"
		}
		err = errors.New(text + " of type " + serverNames.Replace(mismatch.Type.String()))
	}
	return m, err
}

// decodedBytes is how many bytes are held at a time, at most, for each byte of metadata
// that goes through ObjectMeta: maps of short strings, which are sorted then, and the
// texts of two buffers.
const decodedBytes = 40

// AppendMetadata appends the metadata b, which is JSON without repeated names, after a
// round trip through ObjectMeta: without members that ObjectMeta does not have, and
// without empty ones. With dropInvalid, members of a wrong type are left out, too;
// metadata that is no object is an error in any case. With repairGeneration, a
// generation of 0 becomes 1. The memory that this takes is charged to the account
// meanwhile.
func AppendMetadata(
	dst, b []byte, dropInvalid, repairGeneration bool, account *memory.Account,
) ([]byte, error) {
	if isCanonical(b, repairGeneration) {
		return append(memory.RoomOutside(account, dst, len(b)), b...), nil
	}
	size := decodedBytes * len(b)
	account.Take(size)
	defer account.Give(size)
	dst = memory.RoomOutside(account, dst, 2*len(b))
	b = AppendNumbers(nil, b)
	m, err := DecodeMetadata(b)
	if err != nil && dropInvalid {
		m, err = fittingMembers(b)
	}
	if err != nil {
		return dst, err
	}
	if repairGeneration && m.Generation == 0 {
		m.Generation = 1
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	err = enc.Encode(m)
	return append(dst, bytes.TrimSuffix(out.Bytes(), []byte("\n"))...), err
}

// fittingMembers decodes those members of metadata that fit, each for itself.
func fittingMembers(b []byte) (*ObjectMeta, error) {
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		return nil, err
	}
	m := new(ObjectMeta)
	for name, value := range members {
		one := append(append(append(jsonwire.AppendQuoted([]byte{'{'}, name), ':'), value...), '}')
		if _, err := DecodeMetadata(one); err == nil {
			_ = kjson.UnmarshalCaseSensitivePreserveInts(one, m) // it fits, as was just seen
		}
	}
	return m, nil
}
