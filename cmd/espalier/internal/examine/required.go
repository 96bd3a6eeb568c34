package examine

// This file finds fields of built-in kinds that are missing. Nothing else that the API server's
// code demands of them is known.

import (
	"bytes"
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
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
	if fields == nil {
		return
	}
	if at, isMissing := missingName(o.Doc.JSON); fields.NeedsName && isMissing {
		place := position.From(o.Doc.JSON, errors.Position{})
		e.add(o, finding.Finding{
			Severity: finding.Error, Rule: finding.ValueRule("metadata"), Message: "metadata.name: Required value: name or generateName is required",
			At: place.At(at), Field: locate.FieldPath(locate.Fields("metadata", "name")),
		}, o.Doc.Locate, "")
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

// missingName reports whether an object has neither a name nor asks for one, and where it should
// be. The server takes an empty text for none. A value of a wrong type has a finding already.
func missingName(js []byte) (at int, isMissing bool) {
	if _, name := locate.ObjectName(js); name != "" {
		return 0, false
	}
	metadata, hasMetadata := locate.Value(js, locate.Fields("metadata"))
	if hasMetadata && metadata.Kind() != '{' && metadata.Kind() != 'n' {
		return 0, false
	}
	for _, name := range []string{"name", "generateName"} {
		value, has := locate.Value(metadata, locate.Fields(name))
		if has && value.Kind() != 'n' && string(value) != `""` {
			return 0, false
		}
	}
	path := []string{"metadata", "name"}
	at, depth := locate.Offset(js, path)
	if depth == 1 {
		at += max(0, bytes.IndexByte(js[at:], '{'))
	}
	return at, true
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

// value reads the next value, which must have fields if it is an object. An element that is null is
// an empty object for the server. Values of wrong types are not looked at: they have a finding
// already.
func (w *requiredWalker) value(fields *builtin.Fields) {
	kind := w.d.PeekKind()
	if isElement := len(w.path) > 0 && w.path[len(w.path)-1].Index >= 0; isElement && kind == 'n' && fields != nil {
		_, _ = w.d.ReadToken()
		w.path = append(w.path, locate.Step{})
		w.miss(fields, nil, int(w.d.InputOffset())-len("null"))
		w.path = w.path[:len(w.path)-1]
		return
	}
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
	if kind == '{' {
		w.miss(fields, has, at)
	}
	w.path = w.path[:last]
}

// miss notes the fields that are missing in an object at an offset.
func (w *requiredWalker) miss(fields *builtin.Fields, has map[string]bool, at int) {
	last := len(w.path) - 1
	for _, name := range fields.Required {
		if !has[name] && len(w.missing) < maxRequired {
			w.path[last] = locate.Field(name)
			w.missing = append(w.missing, missingField{slices.Clone(w.path), at})
		}
	}
}
