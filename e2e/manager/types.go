package main

import (
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Whole is a release with all its fields.
type Whole struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Version    string           `json:"version"`
		Replicas   int64            `json:"replicas"`
		Hosts      []string         `json:"hosts"`
		Containers []container      `json:"containers"`
		Notes      string           `json:"notes"`
		Values     map[string]value `json:"values"`
	} `json:"spec"`
	Status status `json:"status"`
}

type container struct {
	Name  string   `json:"name"`
	Image string   `json:"image"`
	Args  []string `json:"args"`
	Env   []struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	} `json:"env"`
}

type value struct {
	Enabled bool     `json:"enabled"`
	Weight  int64    `json:"weight"`
	Memory  string   `json:"memory"`
	Tags    []string `json:"tags"`
}

type status struct {
	Phase      string `json:"phase"`
	Ready      int64  `json:"ready"`
	Conditions []struct {
		Type    string `json:"type"`
		Status  string `json:"status"`
		Message string `json:"message"`
	} `json:"conditions"`
}

// Small is a release with the fields that the controller reads.
type Small struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              struct {
		Version  string `json:"version"`
		Replicas int64  `json:"replicas"`
	} `json:"spec"`
	Status struct {
		Phase string `json:"phase"`
		Ready int64  `json:"ready"`
	} `json:"status"`
}

// WholeList is a list of them.
type WholeList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Whole `json:"items"`
}

// SmallList is a list of them.
type SmallList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`
	Items           []Small `json:"items"`
}

// The copies are made through JSON, as nothing that is measured makes any.

func (w *Whole) DeepCopyObject() runtime.Object     { return copied(w) }
func (s *Small) DeepCopyObject() runtime.Object     { return copied(s) }
func (l *WholeList) DeepCopyObject() runtime.Object { return copied(l) }
func (l *SmallList) DeepCopyObject() runtime.Object { return copied(l) }

func copied[T any](from *T) *T {
	text, err := json.Marshal(from)
	if err != nil {
		panic(err)
	}
	to := new(T)
	if err := json.Unmarshal(text, to); err != nil {
		panic(err)
	}
	return to
}
