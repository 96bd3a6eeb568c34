// Package origin finds where in its file a definition says something: where a schema starts, and
// where the keyword is that refuses a value. It reads the files again, each definition once.
package origin

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

// Files are the files of definitions, as far as they were read. All workers share them. The zero
// Files is ready for use.
type Files struct {
	// Streams are the texts of what cannot be read again, by names. They are set before the Files are
	// shared.
	Streams map[string][]byte

	mu      sync.Mutex
	sources map[*schema.Version]*source
}

// A source is the document with the schema of an entry. It has no document if the file cannot be
// read, or does not have the schema any more.
type source struct {
	reader input.Reader // which the document needs
	doc    input.Document
	base   []string // leads to the schema
	root   node
	lines  position.Index // of the document's JSON
}

// source returns the source of an entry, or nil.
func (f *Files) source(entry schema.Entry) *source {
	s, ok := f.sources[entry.Version]
	if !ok {
		s = f.read(entry)
		if f.sources == nil {
			f.sources = make(map[*schema.Version]*source)
		}
		f.sources[entry.Version] = s
	}
	return s
}

func (f *Files) read(entry schema.Entry) *source {
	content, ok := f.Streams[entry.CRD.File]
	if !ok {
		var err error
		if content, err = bounded.ReadFile(entry.CRD.File, schema.MaxFileBytes); err != nil {
			return nil
		}
	}
	texts := [][]byte{content}
	if plain, ok := input.WithoutActionLines(content); ok {
		texts = append(texts, plain) // as definitions in the templates of a chart are read
	}
	for _, text := range texts {
		s := new(source)
		for doc, err := range s.reader.Texts(entry.CRD.File, text) {
			if err != nil {
				continue
			}
			if base, ok := schemaBase(doc, entry); ok {
				s.doc, s.base = doc, base
				s.lines.Start(doc.JSON, 0)
				return s
			}
		}
	}
	return nil
}

// at returns the position in the file of what keywords and indices lead to. It is zero if there is
// no such place.
func (s *source) at(steps []string) errors.Position {
	n := &s.root
	for _, step := range steps {
		if n = n.find(s.doc.JSON, step); n == nil {
			return errors.Position{}
		}
	}
	return s.doc.Locate(s.lines.At(n.at))
}

// Schemas returns where the schemas of the steps of a trace are in the file of the definition. A
// position that is not known is zero.
func (f *Files) Schemas(entry schema.Entry, trace []schema.Step) []finding.Place {
	f.mu.Lock()
	defer f.mu.Unlock()
	places := slices.Repeat([]finding.Place{{File: entry.CRD.File}}, len(trace))
	s := f.source(entry)
	if s == nil {
		return places
	}
	steps := s.base
	for i, step := range trace {
		if i > 0 && step.Keywords == nil {
			break
		}
		if i > 0 {
			steps = slices.Concat(followReference(s.doc.JSON, steps), step.Keywords)
		}
		places[i].At = s.at(steps)
	}
	return places
}

// Rule returns where the keyword is because of which the value at a path is refused. Without the
// keyword, it is where the schema of the value is. There is no such place for what the server
// demands of all kinds, as in metadata.
func (f *Files) Rule(entry schema.Entry, path errors.Path, why *errors.ValueError) finding.Place {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.source(entry)
	if s == nil {
		return finding.Place{}
	}
	var steps []string
	if why.Rule == "scale" {
		steps = s.scale(entry.Version.Scale, why.Field)
	} else if below := keyword(entry.Version.Schema, path, why); below != nil {
		steps = slices.Concat(s.base, below)
	}
	if steps == nil {
		return finding.Place{}
	}
	if at := s.at(steps); at.IsValid() {
		return finding.Place{File: entry.CRD.File, At: at}
	}
	return finding.Place{}
}

// scale returns what leads to a path of the scale subresource.
func (s *source) scale(scale *schema.Scale, path string) []string {
	if scale == nil {
		return nil
	}
	name := "specReplicasPath"
	switch {
	case path == scale.StatusReplicasPath:
		name = "statusReplicasPath"
	case scale.LabelSelectorPath != nil && path == *scale.LabelSelectorPath:
		name = "labelSelectorPath"
	}
	// The base ends in schema.openAPIV3Schema, or in validation.openAPIV3Schema.
	return slices.Concat(s.base[:len(s.base)-2], []string{"subresources", "scale", name})
}

// schemaBase returns the path to the schema of an entry, if it is in this document.
func schemaBase(doc input.Document, entry schema.Entry) ([]string, bool) {
	if component := []string{"components", "schemas", entry.CRD.Name}; entry.CRD.APIVersion == "" {
		_, depth := locate.Offset(doc.JSON, component)
		return component, depth == len(component)
	}
	if doc.Number != entry.CRD.Document {
		return nil, false
	}
	base := definitionBase(doc, entry.CRD)
	version := slices.IndexFunc(entry.CRD.Versions, func(v schema.Version) bool { return v.Name == entry.Version.Name })
	for _, below := range [][]string{
		{"spec", "versions", strconv.Itoa(version), "schema", "openAPIV3Schema"},
		{"spec", "validation", "openAPIV3Schema"},
	} {
		steps := append(slices.Clip(base), below...)
		if _, depth := locate.Offset(doc.JSON, steps); depth == len(steps) {
			return steps, true
		}
	}
	return nil, false
}

// definitionBase returns what leads to a definition in its document, which may be a List.
func definitionBase(doc input.Document, crd *schema.CRD) (base []string) {
	if items, ok := doc.Items(); ok {
		for i, item := range items {
			if item.Start == crd.Position {
				base = []string{"items", strconv.Itoa(i)}
			}
		}
	}
	return base
}

// followReference returns the path to the schema that the one at base refers to, or
// base.
func followReference(js []byte, base []string) []string {
	at := locate.Fields(base...)
	for _, reference := range [][]locate.Step{{locate.Field("$ref")}, {locate.Field("allOf"), locate.Element(0), locate.Field("$ref")}} {
		value, ok := locate.Value(js, append(slices.Clip(at), reference...))
		if !ok || value.Kind() != '"' {
			continue
		}
		if name, ok := strings.CutPrefix(strings.Trim(string(value), `"`), "#/components/schemas/"); ok {
			return []string{"components", "schemas", name}
		}
	}
	return base
}
