package schema

import (
	"maps"
	"slices"
	"strings"
)

// fieldOf returns the path of a schema that is reached from s through the core, in the
// spelling of schema errors. Compiling keeps no paths: they would cost as many steps for
// each default as the schema is deep.
func (s *Structural) fieldOf(wanted *Structural) string {
	f := finder{wanted: wanted, passed: make(map[*Structural]bool)}
	f.find(s, 0)
	f.steps = append(f.steps, "openAPIV3Schema")
	slices.Reverse(f.steps)
	return strings.Join(f.steps, "")
}

// A finder looks for a schema in the order of the compiler, and has the steps to it, the
// last one first.
type finder struct {
	wanted *Structural
	passed map[*Structural]bool
	steps  []string
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
			f.steps = append(f.steps, propertyStep(name))
			return true
		}
	}
	if f.find(s.value(), depth+1) {
		f.steps = append(f.steps, valueStep)
		return true
	}
	if f.find(s.element(), depth+1) {
		f.steps = append(f.steps, elementStep)
		return true
	}
	return false
}

// Steps on the way from a schema to one within it, in the spelling of schema errors.
const (
	valueStep   = ".additionalProperties"
	elementStep = ".items"
)

func propertyStep(name string) string { return ".properties[" + name + "]" }
