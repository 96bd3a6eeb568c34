package explain

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

// shown returns the steps of a trace that are in the definition, and the first
// of those that are not: in metadata, and in what is preserved.
func shown(trace []schema.Step) []schema.Step {
	for i, step := range trace {
		switch step.Kind {
		case schema.StepPruned, schema.StepUnspecified:
			return trace[:i]
		case schema.StepImplicit, schema.StepPreserved:
			return trace[:i+1]
		}
	}
	return trace
}

func preserves(s *schema.Structural) bool {
	return s != nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// describe returns what the schema says at a step, as far as it matters.
func describe(step schema.Step) string {
	n := step.Schema
	switch {
	case step.Kind == schema.StepImplicit:
		return "specified implicitly"
	case step.Kind == schema.StepPreserved:
		return "not specified, and preserved"
	case n == nil:
		return "not specified"
	}
	var parts []string
	add := func(when bool, text string) {
		if when {
			parts = append(parts, text)
		}
	}
	add(n.Type != "", "type "+sanitize.Name(n.Type))
	add(n.XIntOrString, "integer or string")
	add(preserves(n), "preserves unknown fields")
	add(n.XEmbeddedResource, "an embedded resource")
	add(n.Nullable, "nullable")
	add(len(n.Default) > 0, "default "+brief(n.Default))
	add(n.AdditionalProperties != nil, "a map")
	if len(n.Properties) > 0 {
		parts = append(parts, "declares "+listed(slices.Sorted(maps.Keys(n.Properties))))
	}
	if len(parts) == 0 {
		return "says nothing"
	}
	return strings.Join(parts, ", ")
}

// definitionLines returns where the schemas of steps are in the file of the definition, as
// file:line:column:, or the name of the file alone.
func definitionLines(entry schema.Entry, trace []schema.Step) []string {
	lines := make([]string, len(trace))
	for i := range lines {
		lines[i] = sanitize.Name(entry.CRD.File) + ":"
	}
	content, err := bounded.ReadFile(entry.CRD.File, schema.MaxFileBytes)
	if err != nil {
		return lines
	}
	var r input.Reader
	for doc, err := range r.Texts(entry.CRD.File, content) {
		if err != nil {
			continue
		}
		if base, ok := schemaBase(doc, entry); ok {
			for i, at := range schemaOffsets(doc.JSON, base, trace) {
				if at >= 0 {
					c := position.From(doc.JSON, errors.Position{})
					lines[i] = sanitize.Name(entry.CRD.File) + ":" + doc.Locate(c.At(at)).String() + ":"
				}
			}
			return lines
		}
	}
	return lines
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
	base := []string(nil)
	if items, ok := doc.Items(); ok {
		for i, item := range items {
			if item.Start == entry.CRD.Position {
				base = []string{"items", strconv.Itoa(i)}
			}
		}
	}
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

// schemaOffsets returns where the schemas of steps are in the JSON of a document, or
// -1. References are followed.
func schemaOffsets(js []byte, base []string, trace []schema.Step) []int {
	offsets := slices.Repeat([]int{-1}, len(trace))
	for i, step := range trace {
		if i > 0 && step.Keywords == nil {
			break
		}
		if i > 0 {
			base = append(slices.Clip(followReference(js, base)), step.Keywords...)
		}
		if at, depth := locate.Offset(js, base); depth == len(base) {
			offsets[i] = at
		}
	}
	return offsets
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
