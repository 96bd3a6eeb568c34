package validate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
)

// This file validates objects that replace stored ones: the update strategies of
// apiextensions-apiserver (pkg/registry/customresource), and what rest.BeforeUpdate of
// k8s.io/apiserver does before and around them.

// Update validates an object that replaces the stored object old: its type, its metadata, its
// values, what the scale subresource shows of them, the metadata of the resources embedded in it,
// and the elements of its sets and maps.
//
// Errors in values are excused where nothing has changed (see ratchet.go), and lists are not looked
// at if the stored object has an invalid one. Everything else is as for an object that is created,
// except that the metadata must fit that of the stored object.
//
// Neither object is changed. What the server changes before it validates is validated: the status
// is the stored one where it is a subresource, and so are the uid, the times and the namespace where
// the object has none; the generation is the stored one, or the next where the object differs. That
// the object has the stored resourceVersion is left to the server. So are managedFields that it
// takes from the stored object.
//
// The server validates metadata twice: as that of any resource (rest.ValidateUpdate), and as that
// of a custom resource, unless the type is wrong. An error that both find is one.
func (v *Validator) Update(k *Kind, object, old map[string]any, steps *int) []Error {
	x, places := k.updated(object, old, steps)
	r := report{steps: steps, places: places}
	r.replaced(k, x, old)
	metadata := len(r.errs)
	if r.typeMeta(k, x); len(r.errs) == metadata {
		r.errs = append(r.errs, v.ratcheted(k.Schema, x, old, steps)...)
		r.scaleSpec(k.Scale, x)
		r.scaleStatus(k.Scale, x)
	} else {
		isCommon(r.errs[:metadata])
	}
	r.places = nil
	r.embedded(x, k.Schema)
	r.newLists(k, x, old)
	return k.noteOld(OfUpdate, r.errs)
}

// StatusUpdateOf validates an object that is written through the status subresource of the stored
// object old, with all that depends on that. All but the status is that of the stored object.
func (v *Validator) StatusUpdateOf(k *Kind, object, old map[string]any, steps *int) []Error {
	x := k.statusUpdated(object, old)
	r := report{steps: steps}
	r.replaced(k, x, old)
	metadata := len(r.errs)
	if r.typeMeta(k, x); len(r.errs) == metadata {
		r.errs = append(r.errs, v.status(k, x, old, steps)...)
		r.scaleStatus(k.Scale, x)
	} else {
		isCommon(r.errs[:metadata])
	}
	r.newLists(k, x, old)
	return k.noteOld(OfStatusUpdate, r.errs)
}

// PartUpdate is Part for a value that replaces old.
func (v *Validator) PartUpdate(k *Kind, x, old any, steps *int) []Error {
	r := report{steps: steps, errs: v.ratcheted(k.Schema, x, old, steps)}
	r.embedded(x, k.Schema)
	r.newLists(k, x, old)
	return r.errs
}

// newLists validates the lists in a value, unless those in the one that it replaces are invalid.
func (r *report) newLists(k *Kind, x, old any) {
	n := len(r.errs)
	r.lists(x, k.Schema)
	if len(r.errs) == n {
		return
	}
	before := report{steps: r.steps}
	if before.lists(old, k.Schema); len(before.errs) > 0 {
		r.errs = r.errs[:n]
	}
}

// isCommon notes that errors are those of any resource, which do not hinder rules.
func isCommon(errs []Error) {
	for i := range errs {
		errs[i].isCommon = true
	}
}

// noteOld notes which errors are about values of the stored object.
func (k *Kind) noteOld(scope Scope, errs []Error) []Error {
	for i := range errs {
		errs[i].IsOld = k.IsOld(scope, errs[i].Segments())
	}
	return errs
}

// IsOld reports whether the value at a path is that of the stored object, where objects are
// validated together with that.
func (k *Kind) IsOld(scope Scope, path []errors.Segment) bool {
	if len(path) == 0 {
		return false
	}
	isStatus := path[0].IsName && path[0].Name == statusField
	return scope == OfUpdate && k.HasStatus && isStatus || scope == OfStatusUpdate && !isStatus
}

// Settled returns what the server makes of an object before it validates it: one that is created
// or, if old is not nil, replaces old. Objects may lack parts, which the result lacks then. They are
// not changed.
func (k *Kind) Settled(scope Scope, object, old map[string]any, steps *int) map[string]any {
	switch {
	case scope == OfCreate:
		object, _ = k.created(object)
	case scope == OfUpdate && old != nil:
		object, _ = k.updated(object, old, steps)
	case scope == OfStatusUpdate && old != nil:
		object = k.statusUpdated(object, old)
	}
	return object
}

// updated returns what the server makes of an object before it validates it, with the places of its
// owner references if some are left out.
func (k *Kind) updated(object, old map[string]any, steps *int) (x map[string]any, places []int) {
	x = maps.Clone(object)
	if k.HasStatus {
		if status, ok := old[statusField]; ok {
			x[statusField] = status
		} else {
			delete(x, statusField)
		}
	}
	was := metadataOf(old)
	m := maps.Clone(metadataOf(x))
	if m == nil {
		if _, ok := x["metadata"]; ok {
			return x, nil // decoding leaves no such metadata
		}
		m = make(map[string]any)
	}
	generation, _ := was["generation"].(int64)
	if !sameContents(x, old, steps) {
		generation++
	}
	if m["generation"] = generation; generation == 0 {
		delete(m, "generation")
	}
	take := func(name string) {
		if value, ok := was[name]; ok {
			m[name] = value
		}
	}
	isEmpty := func(name string) bool { return m[name] == nil || m[name] == "" }
	if isEmpty("uid") {
		take("uid")
	}
	if !k.Namespaced {
		delete(m, "namespace")
	} else if isEmpty("namespace") {
		m["namespace"] = "default"
		take("namespace")
	}
	for _, name := range []string{"creationTimestamp", "deletionTimestamp"} {
		if was[name] != nil {
			take(name)
		}
	}
	if m[graceField] == nil {
		take(graceField)
	}
	if owners, at, repeated := distinctOwners(m); len(repeated) > 0 {
		m["ownerReferences"], places = owners, at
	}
	if list, _ := m["managedFields"].([]any); !areManaged(list) {
		delete(m, "managedFields")
	}
	if _, ok := x["metadata"]; ok || len(m) > 0 {
		x["metadata"] = m
	}
	return x, places
}

const graceField = "deletionGracePeriodSeconds"

// sameContents reports whether two objects differ in their metadata at most.
func sameContents(x, old map[string]any, steps *int) bool {
	_, has := x["metadata"]
	_, had := old["metadata"]
	if len(x)-one(has) != len(old)-one(had) {
		return false
	}
	isSame := true
	for name, value := range x {
		if was, ok := old[name]; name != "metadata" {
			isSame = ok && deepEqual(value, was, steps) && isSame
		}
	}
	return isSame
}

func one(is bool) int {
	if is {
		return 1
	}
	return 0
}

// statusUpdated returns the stored object with the status of another one.
func (k *Kind) statusUpdated(object, old map[string]any) map[string]any {
	x := maps.Clone(old)
	if status, ok := object[statusField]; ok {
		x[statusField] = status
	} else {
		delete(x, statusField)
	}
	if m := maps.Clone(metadataOf(x)); m != nil {
		delete(m, "managedFields")
		if !k.Namespaced {
			delete(m, "namespace")
		}
		x["metadata"] = m
	}
	return x
}

// replaced validates the metadata of an object that replaces another one, as
// ValidateObjectMetaAccessor and ValidateObjectMetaAccessorUpdate of k8s.io/apimachinery do.
func (r *report) replaced(k *Kind, x, old map[string]any) {
	r.rule = "metadata"
	p := (*trail)(nil).child("metadata")
	m, err := decodeMeta(x["metadata"])
	if err != nil { // decoding leaves no such metadata in an object
		r.invalid(p, x["metadata"], err.Error())
		return
	}
	was, err := decodeMeta(old["metadata"])
	if err != nil {
		r.invalid(p, old["metadata"], err.Error())
		return
	}
	if !k.Namespaced {
		was.Namespace = ""
	} else if was.Namespace == "" {
		was.Namespace = m.Namespace
	}
	before := len(r.errs)
	r.names(p, m, names{segmentFaults, true})
	if m.Name == "" && m.GenerateName != "" {
		r.required(p.child("name"), "name or generateName is required")
	}
	r.finalizers(p.child("finalizers"), m.Finalizers)
	isCommon(r.errs[before:])
	r.immutable(p, m, was)
	r.objectMeta(p, m, unchanged)
	r.errs = append(r.errs[:before], Distinct(r.errs[before:])...)
}

// immutable validates that metadata fits that of the stored object.
func (r *report) immutable(p *trail, m, was *apiserver.ObjectMeta) {
	if was.DeletionTimestamp != nil {
		var added []string
		for _, name := range slices.Sorted(slices.Values(m.Finalizers)) {
			if !slices.Contains(was.Finalizers, name) {
				added = append(added, name)
			}
		}
		if added = slices.Compact(added); len(added) > 0 {
			r.add(errors.SchemaForbidden, p.child("finalizers"), "", fmt.Sprintf(
				"no new finalizers can be added if the object is being deleted, "+
					"found new finalizers %#v", added))
		}
	}
	if m.Generation < was.Generation {
		r.invalid(p.child("generation"), m.Generation, "must not be decremented")
	}
	keep := func(name string, value any, isTheOld bool) {
		if !isTheOld {
			r.invalid(p.child(name), value, "field is immutable")
		}
	}
	keep("name", m.Name, m.Name == was.Name)
	keep("namespace", m.Namespace, m.Namespace == was.Namespace)
	keep("uid", m.UID, m.UID == was.UID)
	keep("creationTimestamp", m.CreationTimestamp,
		m.CreationTimestamp.Equal(was.CreationTimestamp.Time))
	keep("deletionTimestamp", m.DeletionTimestamp,
		sameTime(m.DeletionTimestamp, was.DeletionTimestamp))
	keep(graceField, m.DeletionGracePeriodSeconds,
		same(m.DeletionGracePeriodSeconds, was.DeletionGracePeriodSeconds))
}

func same[T comparable](x, y *T) bool { return x == y || x != nil && y != nil && *x == *y }

func sameTime(x, y *apiserver.Time) bool {
	return x == y || x != nil && y != nil && x.Equal(y.Time)
}
