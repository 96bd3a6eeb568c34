// Package schemadiff compares definitions of custom resources. It says what the
// change from one to another does to objects that exist, and to clients: which
// fields the server drops, which values it refuses, which defaults it inserts. It
// looks at no object.
package schemadiff

import (
	"cmp"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A Severity says how much a change matters. A higher one matters more.
type Severity uint8

const (
	Harmless Severity = iota + 1 // what was there stays, and what was accepted is
	Caution                      // objects have other values, or behave otherwise, and nothing is refused
	Client                       // requests are refused that were accepted
	Data                         // stored data is lost, or no longer of its type
)

// Severities are the names of all severities, from the lowest one on.
var Severities = []string{"harmless", "caution", "client", "data"}

// String returns the name of the severity.
func (s Severity) String() string { return Severities[s-1] }

// The rules, which name changes. Tightened, Loosened and Changed come with the keyword of the schema
// that changed, as in tightened/maximum. It is not known whether what is Changed is stricter.
const (
	RuleDefinitionAdded   = "definition-added"
	RuleDefinitionRemoved = "definition-removed"
	RuleScope             = "scope-changed"
	RuleNames             = "names-changed"
	RuleConversion        = "conversion-changed"
	RuleRefused           = "update-refused"

	RuleVersionAdded      = "version-added"
	RuleVersionRemoved    = "version-removed"
	RuleVersionServed     = "version-served"
	RuleVersionUnserved   = "version-unserved"
	RuleVersionDeprecated = "version-deprecated"
	RuleStorage           = "storage-changed"
	RuleStatusAdded       = "status-added"
	RuleStatusRemoved     = "status-removed"
	RuleScaleAdded        = "scale-added"
	RuleScaleRemoved      = "scale-removed"
	RuleScaleChanged      = "scale-changed"

	RuleFieldAdded      = "field-added"
	RuleFieldRemoved    = "field-removed"
	RuleFieldPreserved  = "field-preserved" // it is kept without a schema, which it had
	RuleFieldSpecified  = "field-specified" // it has a schema, and was kept without one
	RuleUnknownKept     = "unknown-fields-kept"
	RuleUnknownPruned   = "unknown-fields-pruned"
	RuleType            = "type-changed"
	RuleTypeWidened     = "type-widened"
	RuleNullableAdded   = "nullable-added"
	RuleNullableRemoved = "nullable-removed"
	RuleDefaultAdded    = "default-added"
	RuleDefaultChanged  = "default-changed"
	RuleDefaultRemoved  = "default-removed"
	RuleNotCompared     = "not-compared"

	Tightened = "tightened/"
	Loosened  = "loosened/"
	Changed   = "changed/"
)

// A Change is a difference between two definitions.
type Change struct {
	Severity Severity
	Rule     string
	// Version is where the change is, or empty if it is about the whole definition. From is the
	// version with which it is compared, if that has another name.
	Version, From string
	// Stored means that objects are stored in the version.
	Stored  bool
	Path    Path
	Message string
	// Old and New are names and indices that lead from a definition to the place of the change. What
	// does not exist in one of them has the place that it would have.
	Old, New []string
}

// A Definition is the difference between two definitions of one name.
type Definition struct {
	Name     string
	Old, New *schema.CRD // one of them may be nil
	Changes  []Change
}

// Worst returns the highest severity of the changes, or 0.
func (d *Definition) Worst() (s Severity) {
	for i := range d.Changes {
		s = max(s, d.Changes[i].Severity)
	}
	return s
}

// Compare compares the definitions of each name. The result is in the order of the names, and has
// those without changes, too. Of definitions with one name, the last counts.
func Compare(old, updated []*schema.CRD) []Definition {
	byName := map[string]*Definition{}
	at := func(name string) *Definition {
		if byName[name] == nil {
			byName[name] = &Definition{Name: name}
		}
		return byName[name]
	}
	for _, crd := range old {
		at(crd.Name).Old = crd
	}
	for _, crd := range updated {
		at(crd.Name).New = crd
	}
	var all []Definition
	for _, d := range byName {
		d.Changes = changes(d.Old, d.New)
		all = append(all, *d)
	}
	slices.SortFunc(all, func(a, b Definition) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// A Path leads to the values that a schema is about. The empty Path is that of the whole object.
type Path []Segment

// A Segment is a part of a Path.
type Segment struct {
	Name string // of a field
	Kind SegmentKind
}

// A SegmentKind says what a segment leads to.
type SegmentKind uint8

const (
	Field   SegmentKind = iota
	Member              // all members that have no field: *
	Element             // all elements of a list: []
)

// String spells a path as the API server does, such as spec.containers[].env.*.
func (p Path) String() string {
	text := ""
	for _, s := range p {
		part := errors.Path{}.Child(s.Name).String() // in brackets if it is not safe
		switch {
		case s.Kind == Element:
			part = "[]"
		case s.Kind == Member:
			part = "*"
		}
		if text != "" && part[0] != '[' {
			text += "."
		}
		text += part
	}
	return text
}
