package explain

import (
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

// How a schema leads to the one of a value.
type via uint8

const (
	viaRoot via = iota
	viaProperty
	viaMap
	viaItems
	viaPreserve // there is none: what is unknown is preserved
)

// A waypoint is what the schema says at a place on the way to a value.
type waypoint struct {
	node  *schema.Structural // nil where nothing is specified
	depth int                // how many steps lead here
	via   via
	// keywords lead from the schema of the waypoint before to this one.
	keywords []string

	implicit    bool // apiVersion, kind or metadata of a resource, or within it
	inMetadata  bool
	undeclared  bool // the next step is not specified, and not preserved
	preservedAt int  // how many steps lead to what preserves unknown fields
}

// walkSchema follows a path through a schema, up to where it says nothing any more.
// The first waypoint is the root.
func walkSchema(entry schema.Entry, dialect schema.Semantics, steps []locate.Step) []waypoint {
	root := entry.Version.Schema
	if root == nil {
		root = &schema.Structural{Type: "object"}
	}
	way := []waypoint{{node: root}}
	everything := entry.CRD.PreserveUnknownFields
	for i, s := range steps {
		at := &way[len(way)-1]
		next, ok := enterSchema(at, s, i == 0)
		if !ok {
			at.undeclared = !everything && !preserves(at.node)
			if !at.undeclared {
				way = append(way, waypoint{depth: i + 1, via: viaPreserve, preservedAt: at.depth})
			}
			return way
		}
		next.depth = i + 1
		way = append(way, next)
		if next.node == nil {
			return way
		}
	}
	return way
}

// enterSchema returns what a schema says about a member or an element.
func enterSchema(at *waypoint, s locate.Step, isRoot bool) (next waypoint, ok bool) {
	n := at.node
	if n == nil {
		return waypoint{}, false
	}
	reserved := s.Index < 0 && (isRoot || n.XEmbeddedResource) && slices.Contains([]string{"apiVersion", "kind", "metadata"}, s.Name)
	switch {
	case s.Index >= 0:
		if n.Items == nil || n.Items.Schema == nil {
			return waypoint{}, false
		}
		return waypoint{node: n.Items.Schema, via: viaItems, keywords: []string{"items"}}, true
	case n.Properties[s.Name] != nil && !reserved:
		return waypoint{node: n.Properties[s.Name], via: viaProperty, keywords: []string{"properties", s.Name}}, true
	case reserved:
		return waypoint{implicit: true, inMetadata: s.Name == "metadata", via: viaProperty}, true
	case n.AdditionalProperties != nil:
		return waypoint{node: n.AdditionalProperties.Schema, via: viaMap, keywords: []string{"additionalProperties"}}, true
	}
	return waypoint{}, false
}

func preserves(n *schema.Structural) bool {
	return n != nil && n.XPreserveUnknownFields != nil && *n.XPreserveUnknownFields
}

// describe says what the schema says there, as far as it matters.
func (w *waypoint) describe() string {
	n := w.node
	switch {
	case w.implicit:
		return "specified implicitly"
	case w.via == viaPreserve:
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
		parts = append(parts, "declares "+listed(sortedNames(n.Properties)))
	}
	if len(parts) == 0 {
		return "says nothing"
	}
	return strings.Join(parts, ", ")
}

func sortedNames(m map[string]*schema.Structural) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// schemaLines returns where the waypoints are in the file of the definition, as
// file:line:column:.
func schemaLines(entry schema.Entry, way []waypoint) []string {
	lines := make([]string, len(way))
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
			for i, at := range wayOffsets(doc.JSON, base, way) {
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

// schemaBase returns the steps to the schema of an entry, if it is in this document.
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

// wayOffsets returns where the schemas of waypoints are in the JSON of a document, or
// -1. References are followed.
func wayOffsets(js []byte, base []string, way []waypoint) []int {
	offsets := make([]int, len(way))
	for i, w := range way {
		offsets[i] = -1
		if i > 0 && w.keywords == nil {
			return append(offsets[:i], slices.Repeat([]int{-1}, len(way)-i)...)
		}
		if i > 0 {
			base = append(slices.Clip(followReference(js, base)), w.keywords...)
		}
		if at, depth := locate.Offset(js, base); depth == len(base) {
			offsets[i] = at
		}
	}
	return offsets
}

// followReference returns the steps to the schema that the one at base refers to, or
// base.
func followReference(js []byte, base []string) []string {
	for _, suffix := range [][]string{{"$ref"}, {"allOf", "0", "$ref"}} {
		var steps []locate.Step
		for _, s := range append(slices.Clip(base), suffix...) {
			if n, err := strconv.Atoi(s); err == nil && suffix[0] == "allOf" && s == "0" {
				steps = append(steps, locate.Element(n))
				continue
			}
			steps = append(steps, locate.Field(s))
		}
		value, ok := locate.Value(js, steps)
		if !ok || value.Kind() != '"' {
			continue
		}
		if name, ok := strings.CutPrefix(strings.Trim(string(value), `"`), "#/components/schemas/"); ok {
			return []string{"components", "schemas", name}
		}
	}
	return base
}
