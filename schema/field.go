package schema

import (
	"maps"
	"slices"
	"strings"
)

// fieldOf returns the path from s, through the core, to a schema, in the spelling of schema errors.
// Compiling keeps no paths: for each default they would cost as many segments as the schema is
// deep.
func (s *Structural) fieldOf(wanted *Structural) string {
	f := finder{wanted: wanted, passed: make(map[*Structural]bool)}
	f.find(s, 0)
	f.segments = append(f.segments, "openAPIV3Schema")
	slices.Reverse(f.segments)
	return strings.Join(f.segments, "")
}

// A finder looks for a schema in the order of the compiler. It has the segments of the path to it,
// the last one first.
type finder struct {
	wanted   *Structural
	passed   map[*Structural]bool
	segments []string
}

func (f *finder) find(s *Structural, depth int) bool {
	switch {
	case s == nil || f.passed[s] || depth > MaxDepth:
		return false
	case s == f.wanted:
		return true
	}
	f.passed[s] = true
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if f.find(s.Properties[name], depth+1) {
			f.segments = append(f.segments, propertySegment(name))
			return true
		}
	}
	if f.find(s.value(), depth+1) {
		f.segments = append(f.segments, valueSegment)
		return true
	}
	if f.find(s.element(), depth+1) {
		f.segments = append(f.segments, elementSegment)
		return true
	}
	return false
}

// Segments of the path from a schema to one within it, in the spelling of schema errors.
const (
	valueSegment   = ".additionalProperties"
	elementSegment = ".items"
)

func propertySegment(name string) string { return ".properties[" + name + "]" }
