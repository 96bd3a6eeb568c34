package errors

import (
	"encoding/json"
	"fmt"

	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// MarshalText returns the text of [Path.String], so that paths can be read in
// logs. There is no UnmarshalText: different paths may have the same text.
func (p Path) MarshalText() ([]byte, error) { return p.AppendText(nil) }

// MarshalText returns the text of [FindingKind.String]. It never fails.
func (k FindingKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText sets k to the kind whose MarshalText is text. It fails if there
// is no such kind.
func (k *FindingKind) UnmarshalText(text []byte) error {
	for kind := UnknownField; kind <= InvalidValue; kind++ {
		if string(text) == kind.String() {
			*k = kind
			return nil
		}
	}
	return fmt.Errorf("errors: there is no kind of finding called %s", fieldpath.Quoted(string(text)))
}

// MarshalJSON returns the error for logs: an object with the member findings,
// and with the member omitted if findings were omitted.
func (e *StrictError) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Findings List `json:"findings"`
		Omitted  int  `json:"omitted,omitzero"`
	}{e.list, e.omitted})
}

// MarshalJSON returns the finding for logs: an object with the members kind,
// message (the text of Error), path (that of FieldPath), pointer and position,
// and with first, count, want, got and invalid where these are set.
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
		Invalid  *ValueError `json:"invalid,omitzero"`
	}{f.Kind, f.Error(), f.FieldPath(), f.Path.Pointer(), f.Position, f.First, f.Count, f.Want, f.Got, f.Invalid})
}
