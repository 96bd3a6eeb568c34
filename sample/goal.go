package sample

import (
	"math"
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// A goal is what one value has to satisfy.
type goal struct {
	// given are the schema of the value, which comes first, and the value validations that junctors
	// around it have for it. There is at least one, and each may be the empty schema.
	given []*schema.Structural
	// all are those of given, and what their junctors ask for: all of allOf, and one each of anyOf
	// and of oneOf.
	all []*schema.Structural
	// not are the schemas which the value must not satisfy.
	not []*schema.Structural
}

var anything = new(schema.Structural)

// core is the structural schema of the value.
func (g *goal) core() *schema.Structural { return g.given[0] }

// resolve chooses alternatives: other ones for each attempt, until all have been tried. Then again
// is set.
func (b *builder) resolve(given []*schema.Structural, attempt int) (_ *goal, again bool) {
	g := &goal{given: given}
	for _, s := range given {
		attempt = b.require(g, s, attempt)
	}
	return g, attempt > 0
}

func (b *builder) require(g *goal, s *schema.Structural, attempt int) (left int) {
	g.all = append(g.all, s)
	if s.Not != nil {
		g.not = append(g.not, s.Not)
	}
	for _, a := range s.AllOf {
		attempt = b.require(g, a, attempt)
	}
	for i, alternatives := range [][]*schema.Structural{s.AnyOf, s.OneOf} {
		n := len(alternatives)
		if n == 0 {
			continue
		}
		chosen := (b.below(n) + attempt) % n
		attempt = b.require(g, alternatives[chosen], attempt/n)
		if i == 1 { // exactly one may fit
			g.not = append(g.not, alternatives[:chosen]...)
			g.not = append(g.not, alternatives[chosen+1:]...)
		}
	}
	return attempt
}

// types returns the types that the value may have, the simplest first.
func (g *goal) types() []string {
	types := []string{"object", "string", "integer", "number", "boolean", "array"}
	for _, s := range g.all {
		types = slices.DeleteFunc(types, func(t string) bool {
			switch {
			case s.XIntOrString && t != "integer" && t != "string":
				return true
			case s.Type == "" || s.Type == t:
				return false
			}
			return s.Type != "number" || t != "integer"
		})
	}
	if len(types) == 2 && types[0] == "integer" && types[1] == "number" {
		return types[1:] // numbers include integers
	}
	return types
}

// required returns the names that an object must have.
func (g *goal) required() map[string]bool {
	names := make(map[string]bool)
	for _, s := range g.all {
		for _, name := range s.Required {
			names[name] = true
		}
	}
	return names
}

// forbidden returns names that an object must not have, so that it does not satisfy what it must
// not. Where one of several names would do, it is the first that is not required.
func (g *goal) forbidden(required map[string]bool) map[string]bool {
	names := make(map[string]bool)
	var forbid func(s *schema.Structural)
	forbid = func(s *schema.Structural) {
		for _, name := range s.Required {
			if names[name] {
				return
			}
		}
		for _, name := range s.Required {
			if !required[name] {
				names[name] = true
				return
			}
		}
		for _, one := range slices.Concat(s.AnyOf, s.OneOf) {
			forbid(one)
		}
		if len(s.AllOf) > 0 {
			forbid(s.AllOf[0])
		}
	}
	for _, s := range g.not {
		forbid(s)
	}
	return names
}

// names returns the names of all fields, sorted. What the value's own schema does not specify, and
// junctors or required do, is no field: it is pruned.
func (g *goal) names() []string {
	var names []string
	for _, s := range g.all {
		for name := range s.Properties {
			names = append(names, name)
		}
		names = append(names, s.Required...)
	}
	if s := g.core(); s != anything && s.AdditionalProperties == nil && !preserves(s) {
		names = slices.DeleteFunc(names, func(name string) bool { return s.Properties[name] == nil })
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// member returns what the value of a member has to satisfy.
func (g *goal) member(name string) []*schema.Structural {
	given := []*schema.Structural{anything}
	for i, s := range g.all {
		p, ok := s.Properties[name]
		if !ok && i == 0 && s.AdditionalProperties != nil {
			p = s.AdditionalProperties.Schema
		}
		switch {
		case p == nil:
		case i == 0:
			given[0] = p
		default:
			given = append(given, p)
		}
	}
	return given
}

// element returns what each element has to satisfy.
func (g *goal) element() []*schema.Structural {
	given := []*schema.Structural{anything}
	for i, s := range g.all {
		switch {
		case s.Items == nil || s.Items.Schema == nil:
		case i == 0:
			given[0] = s.Items.Schema
		default:
			given = append(given, s.Items.Schema)
		}
	}
	return given
}

// atLeast returns the greatest of the lower bounds, which is 0 where there is none.
func (g *goal) atLeast(bound func(*schema.Structural) *int64) int {
	least := int64(0)
	for _, s := range g.all {
		if n := bound(s); n != nil {
			least = max(least, *n)
		}
	}
	return int(min(least, math.MaxInt32))
}

// atMost returns the least of the upper bounds, or a large number.
func (g *goal) atMost(bound func(*schema.Structural) *int64) int {
	most := int64(math.MaxInt32)
	for _, s := range g.all {
		if n := bound(s); n != nil {
			most = min(most, max(*n, 0))
		}
	}
	return int(most)
}

func minLength(s *schema.Structural) *int64     { return s.MinLength }
func maxLength(s *schema.Structural) *int64     { return s.MaxLength }
func minItems(s *schema.Structural) *int64      { return s.MinItems }
func maxItems(s *schema.Structural) *int64      { return s.MaxItems }
func minProperties(s *schema.Structural) *int64 { return s.MinProperties }
func maxProperties(s *schema.Structural) *int64 { return s.MaxProperties }

func preserves(s *schema.Structural) bool {
	return s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}
