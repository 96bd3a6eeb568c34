package spec

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"
)

// Package internal/apiserver has these types, too. They are here once more, as the specification
// shares no code with what it judges.

// An ObjectMeta is metav1.ObjectMeta as JSON has it (pkg/apis/meta/v1/types.go of
// k8s.io/apimachinery v0.37), against which fuzz.TestObjectMeta holds it.
type ObjectMeta struct {
	Name                       string               `json:"name,omitempty"`
	GenerateName               string               `json:"generateName,omitempty"`
	Namespace                  string               `json:"namespace,omitempty"`
	SelfLink                   string               `json:"selfLink,omitempty"`
	UID                        string               `json:"uid,omitempty"`
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

// An OwnerReference is metav1.OwnerReference.
type OwnerReference struct {
	APIVersion         string `json:"apiVersion"`
	Kind               string `json:"kind"`
	Name               string `json:"name"`
	UID                string `json:"uid"`
	Controller         *bool  `json:"controller,omitempty"`
	BlockOwnerDeletion *bool  `json:"blockOwnerDeletion,omitempty"`
}

// A ManagedFieldsEntry is metav1.ManagedFieldsEntry.
type ManagedFieldsEntry struct {
	Manager     string           `json:"manager,omitempty"`
	Operation   string           `json:"operation,omitempty"`
	APIVersion  string           `json:"apiVersion,omitempty"`
	Time        *Time            `json:"time,omitempty"`
	FieldsType  string           `json:"fieldsType,omitempty"`
	FieldsV1    *json.RawMessage `json:"fieldsV1,omitempty"`
	Subresource string           `json:"subresource,omitempty"`
}

// A Time is metav1.Time: RFC 3339, which is written in UTC and without fractions. Zero is null.
type Time struct{ time.Time }

// UnmarshalJSON reads a time or null.
func (t *Time) UnmarshalJSON(text []byte) error {
	var s *string
	err := json.Unmarshal(text, &s)
	if *t = (Time{}); err == nil && s != nil {
		t.Time, err = time.Parse(time.RFC3339, *s)
	}
	return err
}

// MarshalJSON writes a time or null.
func (t Time) MarshalJSON() ([]byte, error) {
	if t.IsZero() {
		return []byte("null"), nil
	}
	return json.Marshal(t.UTC().Format(time.RFC3339))
}

var (
	objectMeta = reflect.TypeFor[ObjectMeta]()
	timeType   = reflect.TypeFor[Time]()
	rawType    = reflect.TypeFor[json.RawMessage]() // any JSON
)

// memberType returns the type of a member of an object that is read into a t, and whether there is
// one. Names are compared case by case, as sigs.k8s.io/json does.
func memberType(t reflect.Type, name string) (member reflect.Type, ok bool) {
	switch {
	case t.Kind() == reflect.Map:
		return t.Elem(), true
	case t.Kind() != reflect.Struct || t == timeType:
		return rawType, true // any JSON, or what is refused as a whole
	}
	for field := range t.Fields() {
		if tag, _, _ := strings.Cut(field.Tag.Get("json"), ","); tag != name {
			continue
		} else if field.Type.Kind() == reflect.Pointer {
			return field.Type.Elem(), true
		}
		return field.Type, true
	}
	return nil, false
}

// elementType returns the type of the elements of an array that is read into a t.
func elementType(t reflect.Type) reflect.Type {
	if t.Kind() == reflect.Slice && t != rawType {
		return t.Elem()
	}
	return rawType
}
