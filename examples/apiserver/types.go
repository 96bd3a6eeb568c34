package main

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

var groupVersion = schema.GroupVersion{Group: "garden.example.com", Version: "v1"}

// A Trellis is a resource. The schema in crd.yaml says what it may contain, and has its defaults.
type Trellis struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
	Spec              TrellisSpec `json:"spec,omitempty"`
}

type TrellisSpec struct {
	Rows   int64   `json:"rows,omitempty"`
	Plants []Plant `json:"plants,omitempty"`
}

type Plant struct {
	Name   string `json:"name,omitempty"`
	Litres int64  `json:"litres,omitempty"`
}

type TrellisList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Trellis `json:"items"`
}

func (t *Trellis) DeepCopyObject() runtime.Object {
	c := *t
	t.ObjectMeta.DeepCopyInto(&c.ObjectMeta)
	c.Spec.Plants = append([]Plant(nil), t.Spec.Plants...)
	return &c
}

func (l *TrellisList) DeepCopyObject() runtime.Object {
	c := *l
	l.ListMeta.DeepCopyInto(&c.ListMeta)
	c.Items = make([]Trellis, len(l.Items))
	for i := range l.Items {
		c.Items[i] = *l.Items[i].DeepCopyObject().(*Trellis)
	}
	return &c
}

// The names of the types in OpenAPI.
func (Trellis) OpenAPIModelName() string     { return "com.example.garden.v1.Trellis" }
func (TrellisList) OpenAPIModelName() string { return "com.example.garden.v1.TrellisList" }

// newScheme returns a scheme in which the types are internal ones as well.
func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	internal := schema.GroupVersion{Group: groupVersion.Group, Version: runtime.APIVersionInternal}
	scheme.AddKnownTypes(groupVersion, &Trellis{}, &TrellisList{})
	scheme.AddKnownTypes(internal, &Trellis{}, &TrellisList{})
	metav1.AddToGroupVersion(scheme, groupVersion)
	metav1.AddToGroupVersion(scheme, schema.GroupVersion{Version: "v1"})
	return scheme
}
