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
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/skip"
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
	w := requiredWalker{Cursor: skip.Cursor{Text: o.Doc.JSON}}
	w.value(fields) // which is known to be JSON
	if len(w.missing) == 0 {
		return
	}
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
	skip.Cursor
	has     []bool // for each required field of the open objects, those of the innermost last
	missing []missingField
}

// A missingField is a field that is missing in the object at an offset.
type missingField struct {
	path []locate.Step
	at   int
}

// value reads the next value, which must have fields if it is an object, and reports whether that was
// possible. An element that is null is an empty object for the server. Values of wrong types are not
// looked at: they have a finding already.
func (w *requiredWalker) value(fields *builtin.Fields) (ok bool) {
	kind, at := w.Next(), w.At
	switch {
	case fields == nil || kind != '{' && kind != '[':
		if n := len(w.Path); fields != nil && kind == 'n' && n > 0 && w.Path[n-1].Name == nil {
			w.miss(fields, nil, at)
		}
		_, ok = w.Value()
		return ok
	case kind == '[':
		return w.Each(func(skip.Step) bool { return w.value(fields.Below["[]"]) })
	}
	first := len(w.has)
	w.has = slices.Grow(w.has, len(fields.Required))[:first+len(fields.Required)]
	clear(w.has[first:])
	ok = w.Each(func(step skip.Step) bool {
		if i := slices.Index(fields.Required, string(step.Name)); i >= 0 {
			w.has[first+i] = w.Next() != 'n' // of duplicates the last one counts
		}
		return w.value(fields.Below[string(step.Name)])
	})
	if ok {
		w.miss(fields, w.has[first:], at)
	}
	w.has = w.has[:first]
	return ok
}

// miss notes the fields that an object at an offset does not have.
func (w *requiredWalker) miss(fields *builtin.Fields, has []bool, at int) {
	for i, name := range fields.Required {
		if len(has) > 0 && has[i] || len(w.missing) == maxRequired {
			continue
		}
		path := make([]locate.Step, 0, len(w.Path)+1)
		for _, s := range w.Path {
			if s.Name == nil {
				path = append(path, locate.Element(s.Index))
			} else {
				path = append(path, locate.Field(string(s.Name)))
			}
		}
		w.missing = append(w.missing, missingField{append(path, locate.Field(name)), at})
	}
}
