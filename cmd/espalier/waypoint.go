package main

import (
	"slices"
	"strconv"
	"strings"

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
func walkSchema(entry schema.Entry, dialect schema.Semantics, steps []step) []waypoint {
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
func enterSchema(at *waypoint, s step, isRoot bool) (next waypoint, ok bool) {
	n := at.node
	if n == nil {
		return waypoint{}, false
	}
	reserved := s.index < 0 && (isRoot || n.XEmbeddedResource) && slices.Contains([]string{"apiVersion", "kind", "metadata"}, s.name)
	switch {
	case s.index >= 0:
		if n.Items == nil || n.Items.Schema == nil {
			return waypoint{}, false
		}
		return waypoint{node: n.Items.Schema, via: viaItems, keywords: []string{"items"}}, true
	case n.Properties[s.name] != nil && !reserved:
		return waypoint{node: n.Properties[s.name], via: viaProperty, keywords: []string{"properties", s.name}}, true
	case reserved:
		return waypoint{implicit: true, inMetadata: s.name == "metadata", via: viaProperty}, true
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
	add(n.Type != "", "type "+printable(n.Type))
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
		lines[i] = printable(entry.CRD.File) + ":"
	}
	content, err := bounded.ReadFile(entry.CRD.File, schema.MaxFileBytes)
	if err != nil {
		return lines
	}
	var r reader
	for doc, err := range r.texts(entry.CRD.File, content) {
		if err != nil {
			continue
		}
		if base, ok := schemaBase(doc, entry); ok {
			for i, at := range wayOffsets(doc.json, base, way) {
				if at >= 0 {
					c := position.From(doc.json, errors.Position{})
					lines[i] = printable(entry.CRD.File) + ":" + doc.locate(c.At(at)).String() + ":"
				}
			}
			return lines
		}
	}
	return lines
}

// schemaBase returns the steps to the schema of an entry, if it is in this document.
func schemaBase(doc document, entry schema.Entry) ([]string, bool) {
	if component := []string{"components", "schemas", entry.CRD.Name}; entry.CRD.APIVersion == "" {
		_, depth := find(doc.json, component)
		return component, depth == len(component)
	}
	if doc.number != entry.CRD.Document {
		return nil, false
	}
	base := []string(nil)
	if items, ok := doc.items(); ok {
		for i, item := range items {
			if item.start == entry.CRD.Position {
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
		if _, depth := find(doc.json, steps); depth == len(steps) {
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
		if at, depth := find(js, base); depth == len(base) {
			offsets[i] = at
		}
	}
	return offsets
}

// followReference returns the steps to the schema that the one at base refers to, or
// base.
func followReference(js []byte, base []string) []string {
	for _, suffix := range [][]string{{"$ref"}, {"allOf", "0", "$ref"}} {
		var steps []step
		for _, s := range append(slices.Clip(base), suffix...) {
			if n, err := strconv.Atoi(s); err == nil && suffix[0] == "allOf" && s == "0" {
				steps = append(steps, element(n))
				continue
			}
			steps = append(steps, field(s))
		}
		value, ok := valueAt(js, steps)
		if !ok || value.Kind() != '"' {
			continue
		}
		if name, ok := strings.CutPrefix(strings.Trim(string(value), `"`), "#/components/schemas/"); ok {
			return []string{"components", "schemas", name}
		}
	}
	return base
}
