package examine

// This file finds fields of built-in kinds that are missing. Nothing else that the API server's
// code demands of them is known.

import (
	"bytes"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
)

// maxRequired is how many missing fields of one object are reported.
const maxRequired = 100

// checkRequired adds the fields that an object of a built-in kind must have and does not have.
func (e *Examiner) checkRequired(o *Object) {
	if !e.Check && !e.Explain || !e.Values || o.Part || !e.IsBuiltIn(o.APIVersion, o.Kind) {
		return
	}
	fields, known := e.required[o.Program]
	if !known {
		fields = e.Release.Required(o.APIVersion, o.Kind)
		e.required[o.Program] = fields
	}
	w := requiredWalker{d: locate.NewDecoder(bytes.NewReader(o.Doc.JSON))}
	w.value(fields)
	var lines position.Index
	lines.Start(o.Doc.JSON, 0)
	for _, m := range w.missing {
		path := locate.FieldPath(m.path)
		e.add(o, finding.Finding{Severity: finding.Error, Rule: finding.ValueRule("required"), Message: path.String() + ": Required value", At: lines.At(m.at), Field: path}, o.Doc.Locate, "")
	}
}

// A requiredWalker reads an object along with the fields that it must have.
type requiredWalker struct {
	d       *jsonv2.Decoder
	path    []locate.Step
	missing []missingField
}

// A missingField is a field that is missing in the object at an offset.
type missingField struct {
	path []locate.Step
	at   int
}

// value reads the next value, which must have fields if it is an object. Values of wrong types are
// not looked at: they have a finding already.
func (w *requiredWalker) value(fields *builtin.Fields) {
	kind := w.d.PeekKind()
	if fields == nil || kind != '{' && kind != '[' {
		_ = w.d.SkipValue() // the object was decoded before
		return
	}
	_, _ = w.d.ReadToken()
	at := int(w.d.InputOffset()) - 1
	w.path = append(w.path, locate.Step{})
	last := len(w.path) - 1
	has := map[string]bool{}
	for n := 0; w.d.PeekKind() != '}' && w.d.PeekKind() != ']' && w.d.PeekKind() != 0; n++ {
		w.path[last] = locate.Element(n)
		below := "[]"
		if kind == '{' {
			name, err := w.d.ReadToken()
			if err != nil {
				return
			}
			below = name.String()
			w.path[last] = locate.Field(below)
			has[below] = w.d.PeekKind() != 'n'
		}
		w.value(fields.Below[below])
	}
	_, _ = w.d.ReadToken()
	for _, name := range fields.Required {
		if kind == '{' && !has[name] && len(w.missing) < maxRequired {
			w.path[last] = locate.Field(name)
			w.missing = append(w.missing, missingField{append([]locate.Step(nil), w.path...), at})
		}
	}
	w.path = w.path[:last]
}
