package validate

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// This file validates whole custom resources: the strategies of apiextensions-apiserver
// (pkg/registry/customresource), after what the registry does before them (rest.BeforeCreate and
// Store.Create of k8s.io/apiserver). Rules in CEL are evaluated elsewhere. What depends on a stored
// object is in update.go.

// A Kind is what the validation of a custom resource depends on.
type Kind struct {
	// APIVersion and Kind are those that an object must have. Objects are of any type where Kind is
	// empty.
	APIVersion, Kind string
	Namespaced       bool // for objects in namespaces
	// HasStatus is set if there is a status subresource. Objects are then created without status.
	HasStatus bool
	Scale     *schema.Scale      // nil if there is no scale subresource
	Schema    *schema.Structural // nil if there is none
}

// KindOf returns the kind of a version of a definition.
func KindOf(c *schema.CRD, v *schema.Version) *Kind {
	return &Kind{
		APIVersion: strings.TrimPrefix(c.Group+"/"+v.Name, "/"), // core kinds have no group
		Kind:       c.Kind,
		Namespaced: c.Scope == "Namespaced",
		HasStatus:  v.HasStatus,
		Scale:      v.Scale,
		Schema:     v.Schema,
	}
}

// Create validates an object that is created, in the order of the server: its type, its metadata,
// its values, what the scale subresource shows of them, the metadata of the resources embedded in
// it, and the elements of its sets and maps. Where the server goes through a map, the errors are in
// the order of names. If the type is another one, the server looks only at embedded resources, sets
// and maps.
//
// The object is not changed. What the server changes before it validates is validated: the status
// is gone where it is a subresource, the generation is 1, a name is generated, with xxxxx for its
// five random characters, owner references that repeat another are gone, managedFields that cannot
// be read are gone, and the namespace is that of the request. That is the object's own, or any if it
// has none, and in a kind without namespaces the server drops it.
//
// If there are no errors, the server validates the metadata again, as that of any resource
// (rest.ValidateCreate). That finds nothing: the rules are the same, except that a name need only
// be a segment of a path, as each name is that is a DNS subdomain.
func (v *Validator) Create(k *Kind, object map[string]any, steps *int) []Error {
	x, places := k.created(object)
	r := report{steps: steps, places: places}
	if r.typeMeta(k, x); len(r.errs) == 0 {
		r.root(x)
		r.errs = append(r.errs, v.Value(k.Schema, x, steps)...)
		r.scaleSpec(k.Scale, x)
		r.scaleStatus(k.Scale, x)
	}
	r.places = nil
	r.embedded(x, k.Schema)
	r.lists(x, k.Schema)
	return r.errs
}

// StatusUpdate validates an object that is written through its status subresource, as far as that
// does not depend on the stored object: its type, its metadata, its status, what the scale
// subresource shows of that, and the elements of its sets and maps. The object is that which would
// be stored: the server takes all but the status and metadata.managedFields from the stored one.
// Not compared are metadata that must not change, and what is invalid already in the stored object.
func (v *Validator) StatusUpdate(k *Kind, object map[string]any, steps *int) []Error {
	r := report{steps: steps}
	if r.typeMeta(k, object); len(r.errs) == 0 {
		r.rule = "metadata"
		r.metadata((*trail)(nil).child("metadata"), object["metadata"], unchanged)
		r.errs = append(r.errs, v.status(k, object, nil, steps)...)
		r.scaleStatus(k.Scale, object)
	}
	r.lists(object, k.Schema)
	return r.errs
}

// status validates the status by its own schema. The path of the whole is then status. It is compared
// with that of the stored object, if there is one.
func (v *Validator) status(k *Kind, object, old map[string]any, steps *int) []Error {
	x, ok := object[statusField]
	s, isDeclared := orEmpty(k.Schema).Properties[statusField]
	if !ok || !isDeclared || !k.HasStatus {
		return nil
	}
	at := (*trail)(nil).to(statusField, "") // which messages do not repeat
	c := checker{rules: ofObjects, by: v, steps: steps}.with(s, at)
	if old != nil {
		c.pair = &pair{value: x, old: old[statusField], schema: c.Structural, steps: steps}
	}
	errs := c.check(x).errs
	for i := range errs {
		errs[i].Field = "." + statusField + errs[i].Field
	}
	return errs
}

// Warnings returns the server's warnings about an object that is created without errors: about
// owner references that it leaves out, and about names of finalizers.
func (v *Validator) Warnings(object map[string]any) []string { return v.UpdateWarnings(object, nil) }

// UpdateWarnings is Warnings for an object that replaces old. It is about finalizers that are new.
func (v *Validator) UpdateWarnings(object, old map[string]any) (texts []string) {
	if _, _, repeated := distinctOwners(metadataOf(object)); len(repeated) > 0 {
		texts = append(texts, repeatedOwners+strings.Join(repeated, ", "))
	}
	had := make(map[any]bool)
	list, _ := metadataOf(old)["finalizers"].([]any)
	for _, x := range list {
		if name, isText := x.(string); isText {
			had[name] = true
		}
	}
	var finalizers []string
	list, _ = metadataOf(object)["finalizers"].([]any)
	for _, x := range list {
		name, ok := x.(string)
		if !ok {
			return texts
		}
		if !had[name] {
			finalizers = append(finalizers, name)
		}
	}
	slices.Sort(finalizers)
	for _, name := range slices.Compact(finalizers) {
		faults := labelKeyFaults(name)
		switch {
		case strings.Contains(name, "/"), slices.Contains(standardFinalizers, name):
		case strings.Contains(name, "."):
			faults = append(faults,
				"prefer a domain-qualified finalizer name including a path (/) "+noConflicts)
		default:
			faults = append(faults, "prefer a domain-qualified finalizer name "+noConflicts)
		}
		for _, fault := range faults {
			texts = append(texts, fmt.Sprintf("metadata.finalizers: %q: %s", name, fault))
		}
	}
	return texts
}

// repeatedOwners is DuplicateOwnerReferencesWarningFormat of pkg/endpoints/handlers in
// k8s.io/apiserver.
const repeatedOwners = ".metadata.ownerReferences contains duplicate entries; " +
	"API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; " +
	"please fix your requests; duplicate UID(s) observed: "

var standardFinalizers = []string{"orphan", "foregroundDeletion", "kubernetes"}

const noConflicts = "to avoid accidental conflicts with other finalizer writers"

// metadataOf returns the metadata of an object, or nil.
func metadataOf(object map[string]any) map[string]any {
	m, _ := object["metadata"].(map[string]any)
	return m
}

// systemFields are the members of metadata that only the server sets (WipeObjectMetaSystemFields of
// k8s.io/apiserver).
var systemFields = []string{
	"creationTimestamp", "uid", "deletionTimestamp", "deletionGracePeriodSeconds", "selfLink",
}

// distinctOwners returns the owner references in metadata without those that equal one before them,
// with their indices there, and the uids of the others (dedupOwnerReferences of
// k8s.io/apiserver/pkg/endpoints/handlers).
func distinctOwners(metadata map[string]any) (owners []any, places []int, repeated []string) {
	list, _ := metadata["ownerReferences"].([]any)
	seen := make(map[string]bool)
	for i, owner := range list {
		js, _ := json.Marshal(owner)
		if seen[string(js)] {
			o, _ := owner.(map[string]any)
			repeated = append(repeated, fmt.Sprint(o["uid"]))
			continue
		}
		seen[string(js)] = true
		owners, places = append(owners, owner), append(places, i)
	}
	return owners, places, repeated
}

// created returns what the server makes of an object before it validates it, with the places of its
// owner references if some are left out. The server also sets a uid and the time of the creation,
// which nothing validates. Neither the object nor its metadata is changed.
func (k *Kind) created(object map[string]any) (x map[string]any, places []int) {
	object = maps.Clone(object)
	if k.HasStatus {
		delete(object, statusField)
	}
	m := maps.Clone(metadataOf(object))
	if m == nil {
		if _, ok := object["metadata"]; ok {
			return object, nil // decoding leaves no such metadata
		}
		m = make(map[string]any)
	}
	object["metadata"] = m
	for _, name := range systemFields {
		delete(m, name)
	}
	m["generation"] = int64(1)
	if base, _ := m["generateName"].(string); base != "" && (m["name"] == nil || m["name"] == "") {
		m["name"] = GeneratedName(base)
	}
	switch namespace := m["namespace"]; {
	case !k.Namespaced:
		delete(m, "namespace")
	case namespace == nil || namespace == "":
		m["namespace"] = "default"
	}
	if owners, at, repeated := distinctOwners(m); len(repeated) > 0 {
		m["ownerReferences"], places = owners, at
	}
	if list, _ := m["managedFields"].([]any); !areManaged(list) {
		delete(m, "managedFields")
	}
	return object, places
}

// areManaged reports whether the server can read managedFields that are sent to it. If it cannot, it
// drops all of them, as it does where clients ask for it by an empty entry (decodeLiveOrNew and
// DecodeManagedFields of k8s.io/apimachinery/pkg/util/managedfields/internal). It does so for
// malformed fieldsV1, too, which matters only if the manager or the subresource of an entry is
// invalid, and which is not looked at here.
func areManaged(list []any) bool {
	for _, x := range list {
		entry, _ := x.(map[string]any)
		isKnown := entry["operation"] == "Apply" || entry["operation"] == "Update"
		if version, _ := entry["apiVersion"].(string); !isKnown || version == "" || entry["fieldsType"] != "FieldsV1" {
			return false
		}
	}
	return true
}

// GeneratedName returns the name that is validated for one that the server generates. Such a name
// ends in five random characters, which are all x here.
func GeneratedName(base string) string {
	const limit = 58
	return base[:min(len(base), limit)] + "xxxxx"
}

// typeMeta validates the type of an object.
func (r *report) typeMeta(k *Kind, x map[string]any) {
	if k.Kind == "" {
		return
	}
	kind, _ := x["kind"].(string)
	version, _ := x["apiVersion"].(string)
	switch strings.Count(version, "/") { // as schema.ParseGroupVersion reads it
	case 0, 1:
		version = strings.TrimPrefix(version, "/")
	default:
		kind, version = "", ""
	}
	member := func(name, got, want string) {
		if got != want {
			r.rule = name
			r.invalid((*trail)(nil).child(name), got, "must be "+want)
		}
	}
	member("kind", kind, k.Kind)
	member("apiVersion", version, k.APIVersion)
}

// scaleSpec validates the number of replicas that are wanted.
func (r *report) scaleSpec(s *schema.Scale, x map[string]any) {
	if s != nil {
		r.replicas(s.SpecReplicasPath, x)
	}
}

// scaleStatus validates the number of replicas that there are, and their selector.
func (r *report) scaleStatus(s *schema.Scale, x map[string]any) {
	if s == nil {
		return
	}
	r.replicas(s.StatusReplicasPath, x)
	if path := s.LabelSelectorPath; path != nil {
		if selector, at, fault := nested[string](*path, x); fault != "" {
			r.scale(*path, at, selector, fault)
		}
	}
}

func (r *report) replicas(path string, x map[string]any) {
	n, at, fault := nested[int64](path, x)
	switch {
	case fault != "":
	case n < 0:
		fault = "should be a non-negative integer"
	case n > math.MaxInt32:
		fault = fmt.Sprint("should be less than or equal to ", math.MaxInt32)
	default:
		return
	}
	r.scale(path, at, n, fault)
}

// scale adds an error about the scale subresource. Its field is the path as the definition has it,
// with the dot at the start.
func (r *report) scale(path string, at *trail, value any, msg string) {
	r.rule = "scale"
	n := len(r.errs)
	r.invalid(at, value, msg)
	if len(r.errs) > n {
		r.errs[n].Field = "." + path
	}
}

// nested returns the value at a path of the scale subresource, or the zero value if there is none
// (unstructured.NestedInt64, unstructured.NestedString). A fault is in the place of the value, or
// of a value on the way to it that is no object.
func nested[T int64 | string](path string, x any) (value T, at *trail, fault string) {
	names := strings.Split(strings.TrimPrefix(path, "."), ".")
	mistyped := func(names []string, want string) string {
		return fmt.Sprintf(".%s accessor error: %v is of the type %T, expected %s",
			strings.Join(names, "."), x, x, want)
	}
	for i, name := range names {
		if x == nil {
			return value, nil, ""
		}
		object, ok := x.(map[string]any)
		if !ok {
			return value, at, mistyped(names[:i+1], "map[string]interface{}")
		}
		if x, ok = object[name]; !ok {
			return value, nil, ""
		}
		at = at.child(name)
	}
	value, ok := x.(T)
	if !ok {
		return value, at, mistyped(names, fmt.Sprintf("%T", value))
	}
	return value, at, ""
}
