package errors

import (
	"encoding/json"
	"fmt"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// MarshalText returns what [Path.String] returns, so that paths can be read in logs. It has no counterpart: different paths may
// have the same text.
func (p Path) MarshalText() ([]byte, error) { return p.AppendText(nil) }

// MarshalText returns what [Kind.String] returns.
func (k FindingKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads what MarshalText returns of the kinds that there are.
func (k *FindingKind) UnmarshalText(text []byte) error {
	for kind := UnknownField; kind <= DroppedNull; kind++ {
		if string(text) == kind.String() {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("errors: there is no kind of finding called %s", fieldpath.Quoted(string(text)))
}

// MarshalJSON returns the error for logs: an object with findings, and omitted where there are such.
func (e *StrictError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Findings List `json:"findings"`
		Omitted  int  `json:"omitted,omitzero"`
	}{e.list, e.omitted})
}

// MarshalJSON returns the finding for logs: an object with kind, message (that of Error), path (that of FieldPath), pointer
// and position, and with first, count, want and got where they say something.
func (f Finding) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Kind     FindingKind `json:"kind"`
		Message  string      `json:"message"`
		Path     string      `json:"path"`
		Pointer  string      `json:"pointer"`
		Position Position    `json:"position,omitzero"`
		First    Position    `json:"first,omitzero"`
		Count    int         `json:"count,omitzero"`
		Want     string      `json:"want,omitzero"`
		Got      string      `json:"got,omitzero"`
	}{f.Kind, f.Error(), f.FieldPath(), f.Path.Pointer(), f.Position, f.First, f.Count, f.Want, f.Got})
}
