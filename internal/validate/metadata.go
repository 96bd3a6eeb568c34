package validate

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/schema"
)

// This file handles the metadata of embedded resources as the server does:
// pkg/apiserver/schema/objectmeta of apiextensions-apiserver, and ValidateObjectMeta of
// k8s.io/apimachinery.

func decodeMeta(v any) (*apiserver.ObjectMeta, error) {
	js, _ := json.Marshal(v)
	return apiserver.DecodeMetadata(js)
}

// inside returns the schema for a member of an object, and its place as messages about metadata
// show it.
func inside(s *schema.Structural, at *trail, name string) (*schema.Structural, *trail) {
	if prop, ok := s.Properties[name]; ok {
		return orEmpty(prop), at.child(name)
	}
	if s.AdditionalProperties != nil {
		return s.AdditionalProperties.Schema, at.key(name)
	}
	return nil, nil
}

// Metadata brings the metadata of the embedded resources in x into its canonical form, in place,
// and validates it. It stops at the first metadata that has no such form. A step is a byte of a
// message.
func Metadata(s *schema.Structural, x any, steps *int) []Error {
	r := report{rule: embeddedRule, steps: steps}
	if r.coerce(nil, x, s) {
		r.resources(nil, x, s)
	}
	return r.errs
}

// A report collects errors about metadata.
type report struct {
	errs  []Error
	rule  string // of the errors that are added
	steps *int   // that are left
	// places are the indices of the owner references in the object, where some are left out.
	places []int
}

// hasRoom reports whether there is room for another error.
func (r *report) hasRoom() bool { return *r.steps > 0 }

func (r *report) add(kind errors.SchemaErrorKind, at *trail, value, msg string) {
	if !r.hasRoom() {
		*r.steps = -1
		return
	}
	e := Error{Kind: kind, Rule: r.rule, Field: at.String(), Value: value, Msg: msg, at: at}
	*r.steps -= len(e.Field) + len(e.Value) + len(e.Msg)
	r.errs = append(r.errs, e)
}

func (r *report) required(at *trail, msg string) { r.add(errors.SchemaRequired, at, "", msg) }

func (r *report) invalid(at *trail, value any, msg string) {
	shown := ""
	if r.hasRoom() {
		shown = Render(value)
	}
	r.add(errors.SchemaInvalid, at, shown, msg)
}

// Distinct drops errors that repeat an earlier one of the same text.
func Distinct(errs []Error) []Error {
	seen := make(map[string]bool)
	return slices.DeleteFunc(errs, func(e Error) bool {
		text := e.Error()
		defer func() { seen[text] = true }()
		return seen[text]
	})
}

// coerce brings metadata into its canonical form, and reports whether all of it has one.
func (r *report) coerce(at *trail, x any, s *schema.Structural) bool {
	if s == nil {
		return true
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range sortedKeys(x) {
			v := x[name]
			if s.XEmbeddedResource && !r.coerceField(at.child(name), x, name) {
				return false
			}
			if sub, at := inside(s, at, name); !r.coerce(at, v, sub) {
				return false
			}
		}
	case []any:
		for i, v := range x {
			if !r.coerce(at.element(i), v, element(s)) {
				return false
			}
		}
	}
	return true
}

func (r *report) coerceField(at *trail, resource map[string]any, name string) bool {
	switch v := resource[name]; name {
	case "apiVersion", "kind":
		if _, ok := v.(string); !ok {
			r.invalid(at, v, noString)
			return false
		}
	case "metadata":
		meta, err := decodeMeta(v)
		if err != nil {
			r.invalid(at, v, err.Error())
			return false
		}
		js, _ := json.Marshal(meta)
		resource[name], _ = Decode(js)
	}
	return true
}

const embeddedRule = "x-kubernetes-embedded-resource"

// embedded validates the type and the metadata of the resources that are embedded in an object.
func (r *report) embedded(x any, s *schema.Structural) {
	r.rule = embeddedRule
	r.resources(nil, x, s)
}

func (r *report) resources(at *trail, x any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			r.resource(at, x)
		}
		for _, name := range sortedKeys(x) {
			sub, at := inside(s, at, name)
			r.resources(at, x[name], sub)
		}
	case []any:
		for i, v := range x {
			r.resources(at.element(i), v, element(s))
		}
	}
}

// resource validates one embedded resource (validateEmbeddedResource).
func (r *report) resource(p *trail, x map[string]any) {
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := x[name]; !ok {
			r.required(p.child(name), "")
		}
	}
	if v, ok := r.typeField(p, x, "apiVersion"); ok {
		if _, ok := versionOf(v); !ok {
			r.invalid(p.child("apiVersion"), v, "unexpected GroupVersion string: "+v)
		}
	}
	if v, ok := r.typeField(p, x, "kind"); ok {
		if faults := LabelFaults(strings.ToLower(v)); len(faults) > 0 {
			r.invalid(p.child("kind"), v, "may have mixed case, but should otherwise match: "+strings.Join(faults, ","))
		}
	}
	if v, ok := x["metadata"]; ok {
		r.metadata(p.child("metadata"), v, namesInPaths)
	}
}

const noString = "must be a string"

// typeField returns apiVersion or kind if it is text that is not empty.
func (r *report) typeField(p *trail, x map[string]any, name string) (string, bool) {
	v, ok := x[name]
	s, isString := v.(string)
	switch {
	case !ok || s != "":
	case !isString:
		r.invalid(p.child(name), v, noString)
	default:
		r.invalid(p.child(name), s, "must not be empty")
	}
	return s, s != ""
}

// versionOf returns the version in an apiVersion, which has at most one slash.
func versionOf(apiVersion string) (version string, ok bool) {
	if apiVersion == "" || apiVersion == "/" {
		return "", true
	}
	group, version, hasGroup := strings.Cut(apiVersion, "/")
	if !hasGroup {
		return group, true
	}
	return version, !strings.Contains(version, "/")
}

// root validates the metadata of a whole object.
func (r *report) root(x map[string]any) {
	r.rule = "metadata"
	r.metadata((*trail)(nil).child("metadata"), x["metadata"], names{nameFaults, true})
}

// names are the rules for the name of an object.
type names struct {
	faults   func(s string, part bool) []string // part says that s is only the start of a name
	required bool
}

var (
	// namesInPaths are those of embedded resources.
	namesInPaths = names{faults: segmentFaults}
	// unchanged are those of an object that is updated, where no rule is for names and finalizers.
	unchanged = names{}
)

// metadata validates metadata as for an object that is created, unless its names are unchanged. A
// namespace may be present.
func (r *report) metadata(p *trail, x any, names names) {
	m, err := decodeMeta(x)
	if err != nil { // decoding leaves no such metadata in an object
		r.invalid(p, x, err.Error())
		return
	}
	before := len(r.errs)
	r.objectMeta(p, m, names)
	r.errs = append(r.errs[:before], Distinct(r.errs[before:])...)
}

// objectMeta validates metadata (ValidateObjectMetaDeclaratively). What it finds in labels,
// annotations and finalizers has the path of the whole in its text.
func (r *report) objectMeta(p *trail, m *apiserver.ObjectMeta, names names) {
	isCreated := names.faults != nil
	if isCreated {
		r.names(p, m, names)
	}
	if m.Generation < 0 {
		r.invalid(p.child("generation"), m.Generation, "must be greater than or equal to 0")
	}
	for _, k := range sortedKeys(m.Labels) {
		at := p.child("labels").to(k, "")
		r.faults(at, k, labelKeyFaults(k))
		r.faults(at, m.Labels[k], labelValueFaults(m.Labels[k]))
	}
	const maxAnnotations = 256 << 10
	size := 0
	for _, k := range sortedKeys(m.Annotations) {
		r.faults(p.child("annotations").to(k, ""), k, labelKeyFaults(strings.ToLower(k)))
		size += len(k) + len(m.Annotations[k])
	}
	if size > maxAnnotations {
		r.add(errors.SchemaTooLong, p.child("annotations"), "", tooLong(maxAnnotations))
	}
	r.owners(p.child("ownerReferences"), m.OwnerReferences)
	if isCreated {
		r.finalizers(p.child("finalizers"), m.Finalizers)
	}
	for i, f := range m.ManagedFields {
		r.managed(p.child("managedFields").element(i), f)
	}
}

func (r *report) faults(at *trail, v string, faults []string) {
	for _, fault := range faults {
		r.invalid(at, v, fault)
	}
}

func (r *report) names(p *trail, m *apiserver.ObjectMeta, names names) {
	if m.GenerateName != "" {
		r.faults(p.child("generateName"), m.GenerateName, names.faults(m.GenerateName, true))
	}
	if m.Name != "" {
		r.faults(p.child("name"), m.Name, names.faults(m.Name, false))
	} else if names.required && m.GenerateName == "" {
		r.required(p.child("name"), "name or generateName is required")
	}
	if m.Namespace != "" {
		r.faults(p.child("namespace"), m.Namespace, namespaceFaults(m.Namespace))
	}
}

func (r *report) finalizers(p *trail, finalizers []string) {
	for i, f := range finalizers {
		r.faults(p.element(i).unspelled(), f, labelKeyFaults(f))
	}
	if slices.Contains(finalizers, "orphan") && slices.Contains(finalizers, "foregroundDeletion") {
		r.invalid(p, finalizers, "finalizer orphan and foregroundDeletion cannot be both set")
	}
}

func (r *report) owners(p *trail, owners []apiserver.OwnerReference) {
	controller := ""
	for i, o := range owners {
		at := p.element(i)
		if r.places != nil {
			at.step.Index = r.places[i]
		}
		version, ok := versionOf(o.APIVersion)
		if o.APIVersion != "" && (!ok || version == "") {
			r.invalid(at.child("apiVersion"), o.APIVersion, "must be <group>/<version> or <version>")
		}
		for _, field := range []struct{ name, value string }{
			{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"name", o.Name}, {"uid", string(o.UID)},
		} {
			if field.value == "" {
				r.required(at.child(field.name), "must not be empty")
			}
		}
		if strings.TrimPrefix(o.APIVersion, "/") == "v1" && o.Kind == "Event" {
			r.invalid(at, o, "/v1, Kind=Event is disallowed from being an owner")
		}
		if o.Controller == nil || !*o.Controller {
			continue
		}
		if name := o.Kind + "/" + o.Name; controller == "" {
			controller = name
		} else {
			r.invalid(p, owners, fmt.Sprintf("Only one reference can have Controller set to true. "+
				"Found \"true\" in references for %v and %v", controller, name))
		}
	}
}

func (r *report) managed(p *trail, f apiserver.ManagedFieldsEntry) {
	switch f.Operation {
	case "Apply", "Update":
	case "":
		r.required(p.child("operation"), "must not be empty")
	default:
		n := len(r.errs)
		r.add(errors.SchemaUnsupported, p.child("operation"),
			Render(f.Operation), Supported([]string{"Apply", "Update"}))
		if len(r.errs) > n {
			r.errs[n].enum = []any{"Apply", "Update"}
		}
	}
	if f.FieldsType != "" && f.FieldsType != "FieldsV1" {
		r.invalid(p.child("fieldsType"), f.FieldsType, "must be `FieldsV1`")
	}
	const maxManager, maxSubresource = 128, 256
	if len(f.Manager) > maxManager {
		r.add(errors.SchemaTooLong, p.child("manager"), "", tooLong(maxManager))
	}
	for i, c := range f.Manager {
		if !unicode.IsPrint(c) {
			r.invalid(p.child("manager"), f.Manager, fmt.Sprintf("invalid character %#U (at position %d)", c, i))
		}
	}
	if len(f.Subresource) > maxSubresource {
		r.add(errors.SchemaTooLong, p.child("subresource"), "", tooLong(maxSubresource))
	}
}
