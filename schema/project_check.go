package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
)

// CheckProjection reports what a projection keeps that objects of the schema s
// cannot have: a misspelled path, a field that a Go type has and the definition
// has not, or one that is in another place. projection is a result of [Project],
// and s the schema of a definition. The error is [errors.SchemaErrors], sorted,
// with the paths as Project reads them.
//
// It takes time linear in the product of both sizes at most, and in their sum
// where neither has the same schema in several places.
func CheckProjection(projection, s *Structural) error {
	c := projectionCheck{seen: map[[2]*Structural]bool{}}
	c.object(projection, s, "", true)
	if len(c.found) == 0 {
		return nil
	}
	slices.SortFunc(c.found, func(a, b *errors.SchemaError) int { return strings.Compare(a.Field, b.Field) })
	return c.found
}

type projectionCheck struct {
	seen  map[[2]*Structural]bool
	found errors.SchemaErrors
}

// object compares what p keeps with what s specifies, at a path.
func (c *projectionCheck) object(p, s *Structural, path string, isResource bool) {
	if p == nil || s == nil || p == whole || c.seen[[2]*Structural{p, s}] || len(c.found) >= maxSkeletonErrors {
		return
	}
	c.seen[[2]*Structural{p, s}] = true
	for _, name := range slices.Sorted(maps.Keys(p.Properties)) {
		if isResource && slices.Contains(reserved, name) {
			continue
		}
		c.member(p.Properties[name], s, s.member(name), projectionPath(path, name))
	}
	if p.AdditionalProperties != nil && p.value() != nil {
		c.member(p.value(), s, s.value(), strings.TrimPrefix(path+".*", "."))
	}
	if items := p.element(); items != nil {
		switch {
		case s.element() != nil:
			c.object(items, s.element(), path+"[]", s.element().XEmbeddedResource)
		case s.Type != "" && s.Type != "array":
			c.add(path+"[]", "is specified as "+s.Type+", not as a list")
		}
	}
}

// member compares what p keeps with the schema of a member of s, which is nil if there is none.
func (c *projectionCheck) member(p, s, member *Structural, path string) {
	switch {
	case member != nil:
		c.object(p, member, path, member.XEmbeddedResource)
	case s.preserves() || s.AdditionalProperties != nil || strings.HasSuffix(path, "*") && len(s.Properties) > 0:
	case s.Type == "array":
		c.add(path, "is in a list: write [] before the name")
	default:
		c.add(path, "is not specified by the schema")
	}
}

func (c *projectionCheck) add(path, why string) {
	c.found = append(c.found, &errors.SchemaError{Kind: errors.SchemaInvalid, Field: path, Msg: why})
}

// DroppedFields returns what objects of the schema s can have and a projection
// does not keep, sorted, as paths for [Project]: the outermost ones, so that a
// field stands for what is in it. A test of a controller that holds this list
// shows in review which fields the controller cannot see, and which have come
// since. s may be the schema of a definition, or a result of Project for a
// larger Go type. Of what a Go type drops of another in several places, it lists
// the first. Time is that of [CheckProjection].
func DroppedFields(projection, s *Structural) []string {
	d := droppedFields{seen: map[[2]*Structural]bool{}}
	d.below(projection, s, "", true)
	slices.Sort(d.found)
	return d.found
}

type droppedFields struct {
	seen  map[[2]*Structural]bool
	found []string
}

// below looks at what is within values of s of which p keeps a part.
func (d *droppedFields) below(p, s *Structural, path string, isResource bool) {
	if p == nil || p == whole || s == nil || d.seen[[2]*Structural{p, s}] {
		return
	}
	d.seen[[2]*Structural{p, s}] = true
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if !isResource || !slices.Contains(reserved, name) {
			d.value(p.member(name), s.Properties[name], projectionPath(path, name))
		}
	}
	if s.AdditionalProperties != nil || s.preserves() {
		d.value(p.value(), s.value(), strings.TrimPrefix(path+".*", "."))
	}
	if s.element() != nil {
		d.value(p.element(), s.element(), path+"[]")
	}
}

// value looks at a value of s, which may be nil, of which p keeps a part, or nothing if it is nil.
func (d *droppedFields) value(p, s *Structural, path string) {
	if p == nil {
		d.found = append(d.found, path)
		return
	}
	d.below(p, s, path, s != nil && s.XEmbeddedResource)
}

// projectionPath returns the path to a name below another path.
func projectionPath(path, name string) string {
	switch {
	case name == "" || strings.ContainsAny(name, `.["\*`):
		return path + `["` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"]`
	case path == "":
		return name
	}
	return path + "." + name
}
