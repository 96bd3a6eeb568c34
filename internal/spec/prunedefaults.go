package spec

import (
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// pruneDefaults returns the schema with its defaults pruned, as the server prunes them before it
// serves a definition (schema/defaulting/prune.go: PruneDefaults; KEP-575, Behaviour of Embedded
// Resource ObjectMeta Defaults). What is specified for a default depends on what is around it. So
// a default is put in its place, where path leads from the root, in an object that has nothing
// else, and that is repaired and pruned (schema/defaulting/surroundingobject.go).
func (r Rules) pruneDefaults(s *schema.Structural, path []step) *schema.Structural {
	if s == nil {
		return nil
	}
	pruned := *s
	if r.hasDefault(s) {
		object := r.repairMetadata(surround(r.defaultOf(s), path), r.schema, true)
		object = r.prune(object, r.schema, false, nil, new(findings))
		pruned.Default = nil
		if v, ok := surrounded(object, path); ok {
			pruned.Default = Text(v)
			r.defaults[&pruned] = mustParse(pruned.Default)
		}
	}
	below := func(child *schema.Structural, to step) *schema.Structural {
		return r.pruneDefaults(child, append(slices.Clone(path), to))
	}
	pruned.Properties = make(map[string]*schema.Structural)
	for name, p := range s.Properties {
		pruned.Properties[name] = below(p, step{name: name})
	}
	if s.AdditionalProperties != nil {
		values := *s.AdditionalProperties
		values.Schema = below(values.Schema, step{name: "*"})
		pruned.AdditionalProperties = &values
	}
	if items(s) != nil {
		pruned.Items = &schema.SchemaOrArray{Schema: below(items(s), step{isElement: true})}
	}
	return &pruned
}

// A step leads to a member or to the first element.
type step struct {
	name      string
	isElement bool
}

// surround returns a value that has only v, where path leads.
func surround(v Value, path []step) Value {
	for _, s := range slices.Backward(path) {
		if s.isElement {
			v = Array{v}
		} else {
			v = Object{{s.name, v}}
		}
	}
	return v
}

// surrounded returns what is left where path leads, or ok is false if nothing is.
func surrounded(v Value, path []step) (left Value, ok bool) {
	for _, s := range path {
		if s.isElement {
			v = v.(Array)[0]
		} else if object := v.(Object); len(object) == 1 {
			v = object[0].Value
		} else {
			return nil, false
		}
	}
	return v, true
}
