package validation

import (
	"reflect"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// Update returns the reasons why the API server refuses to replace the
// definition old by c, which has the same name. The result, and what is checked,
// are those of [CRD]; but where the old definition breaks one of these rules,
// the new one may break it, too, in any place:
//
//   - a version has a schema,
//   - schemas are structural, unless something is pruned or defaulted, or
//     extensions are used,
//   - types are those of OpenAPI,
//   - defaults are pruned, and
//   - items of sets are atomic, and items and keys of lists of the type map
//     cannot be missing.
//
// spec.preserveUnknownFields may stay, but not come back. The group and the
// plural name must not change.
//
// The old definition is taken for established: the scope and the kind must not
// change either. Its storage version is taken for stored, as are its
// StoredVersions: the new definition must have them.
//
// The limits are those of [Structural]. Defaults of the old definition beyond
// [MaxDefaultSteps] are not looked at, and then none of them excuses a new one.
//
// Both are taken as the server holds them, whatever version their manifests
// have. As [CRD], Update does not compile rules in CEL: the function Definition
// of the module cel does. Update changes neither c nor old.
func Update(c, old *schema.CRD) error {
	if c.OpenAPI || old.OpenAPI {
		return nil
	}
	if errs := append(infiniteSchemas(c), infiniteSchemas(old)...); len(errs) > 0 {
		return errs
	}
	d := definitionReport{CRD: c, kept: keepsOf(old)}
	d.spec()
	d.immutable("spec.scope", c.Scope, old.Scope)
	d.immutable("spec.names.kind", c.Kind, old.Kind)
	d.immutable("spec.group", c.Group, old.Group)
	d.immutable("spec.names.plural", c.Plural, old.Plural)
	d.stored(storageVersions(storageVersions(slices.Clone(old.StoredVersions), old), c))
	d.preserving()
	return d.result()
}

func (d *definitionReport) immutable(field, value, old string) {
	if value != old {
		d.add(errors.SchemaInvalid, field, validate.Render(value), "field is immutable")
	}
}

// storageVersions adds the storage version of a definition to those that were before. It is the
// first one, as for the server (PrepareForUpdate in pkg/registry/customresourcedefinition).
func storageVersions(stored []string, c *schema.CRD) []string {
	i := slices.IndexFunc(c.Versions, func(v schema.Version) bool { return v.Storage })
	if i >= 0 && !slices.Contains(stored, c.Versions[i].Name) {
		stored = append(stored, c.Versions[i].Name)
	}
	return stored
}

// stored checks that stored versions are still there
// (ValidateCustomResourceDefinitionStoredVersions).
func (d *definitionReport) stored(stored []string) {
	const field = "status.storedVersions"
	if len(stored) == 0 {
		d.add(errors.SchemaInvalid, field, validate.Render(stored),
			"must have at least one stored version")
		return
	}
	places := map[string]int{}
	for i, name := range stored {
		places[name] = i
	}
	for _, v := range d.Versions {
		if _, ok := places[v.Name]; v.Storage && !ok {
			d.add(errors.SchemaInvalid, field, validate.Render(stored),
				"must have the storage version "+v.Name)
		}
		delete(places, v.Name)
	}
	for i, v := range stored {
		if place, isMissing := places[v]; isMissing && place == i {
			d.add(errors.SchemaInvalid, field+"["+strconv.Itoa(i)+"]", validate.Render(v),
				"missing from spec.versions; "+v+" was previously a storage version, and must remain in "+
					"spec.versions until a storage migration ensures no data remains persisted in "+v+
					" and removes "+v+" from status.storedVersions")
		}
	}
}

// A keeps says which rules a definition may break, because its older self does
// (validationOptions).
type keeps struct {
	noSchemas        bool // versions need no schema
	looseSchemas     bool // schemas need not be structural
	otherTypes       bool // types need not be those of OpenAPI
	unprunedDefaults bool // defaults may have unknown fields
	compositeSets    bool // items of sets need not be atomic
	optionalKeys     bool // items of sets and maps, and keys of maps, may be missing
	preserving       bool // spec.preserveUnknownFields may be set

	// unvalidated says that schemas that need not be structural need not be anything else, as for
	// v1beta1.
	unvalidated bool
}

// keepsOf returns what the successor of a definition may keep
// (ValidateCustomResourceDefinitionUpdate).
func keepsOf(old *schema.CRD) keeps {
	kept := keeps{
		otherTypes:    hasSchemaWith(old, isOfOtherType),
		compositeSets: hasSchemaWith(old, isCompositeSet),
		optionalKeys:  hasSchemaWith(old, hasOptionalKeys),
		preserving:    old.PreserveUnknownFields,
	}
	for _, v := range old.Versions {
		if v.Schema == nil {
			kept.noSchemas = true
			continue
		}
		isLoose := unsupportedKeyword(v.Schema) != "" ||
			len(structuralErrors(v.Schema, nil).list) > 0
		kept.looseSchemas = kept.looseSchemas || isLoose
		kept.unprunedDefaults = kept.unprunedDefaults || !isLoose && hasUnprunedDefaults(v.Schema)
	}
	return kept
}

// isCompositeSet reports whether s is a set whose items have parts that are not compared as a whole
// (hasNonAtomicSetType). Its type does not matter.
func isCompositeSet(s *schema.Structural) bool {
	var r report
	if s.XListType != nil && *s.XListType == "set" {
		r.setItems(element(s), nil)
	}
	return len(r.list) > 0
}

// hasOptionalKeys reports whether items of a set or map, or keys of a map, can be missing
// (hasInvalidMapListKeysMapSet).
func hasOptionalKeys(s *schema.Structural) bool {
	var r report
	r.listItems(s, nil)
	return len(r.list) > 0
}

// hasUnprunedDefaults reports whether a default has fields that pruning removes from a whole object
// (schemaHasUnprunedDefaults). s is structural.
func hasUnprunedDefaults(s *schema.Structural) bool {
	root := *s
	root.XEmbeddedResource = true
	u := unpruned{root: &root, steps: MaxDefaultSteps}
	u.visit(s, nil)
	return u.found && !u.failed && u.steps >= 0
}

// An unpruned looks for defaults that are not pruned (PruneDefaults).
type unpruned struct {
	root   *schema.Structural
	steps  int // that are left
	found  bool
	failed bool // there is a default that no object can have; then the server looks no further
}

// A place leads to a schema of the core, from the root, which is nil.
type place struct {
	up      *place
	name    string // of a member
	isArray bool   // the place is that of the elements of an array
}

func (u *unpruned) visit(s *schema.Structural, at *place) {
	if u.steps < 0 || u.failed {
		return
	}
	if hasDefault(s) {
		u.check(s, at)
	}
	if value := additional(s); value != nil {
		u.visit(value, &place{up: at, name: "*"})
	}
	if item := element(s); item != nil {
		u.visit(item, &place{up: at, isArray: true})
	}
	for name, prop := range s.Properties {
		u.visit(orEmpty(prop), &place{up: at, name: name})
	}
}

// check prunes an object that has nothing but the default of s.
func (u *unpruned) check(s *schema.Structural, at *place) {
	x := decodeRaw(s.Default)
	for p := at; p != nil; p = p.up {
		if u.steps--; p.isArray {
			x = []any{x}
		} else {
			x = map[string]any{p.name: x}
		}
	}
	if _, isObject := x.(map[string]any); !isObject {
		u.failed = true
		return
	}
	validate.Coerce(u.root, x)
	pruneValue(x, u.root, false)
	if left, ok := at.in(x); !ok || !reflect.DeepEqual(left, decodeRaw(s.Default)) {
		u.found = true
	}
}

// in returns the value at the place in x, if it is there.
func (p *place) in(x any) (any, bool) {
	if p == nil {
		return x, true
	}
	x, _ = p.up.in(x)
	if p.isArray {
		list, _ := x.([]any)
		if len(list) == 0 {
			return nil, false
		}
		return list[0], true
	}
	object, _ := x.(map[string]any)
	v, ok := object[p.name]
	return v, ok
}
