package validation

import (
	"encoding/json"
	"fmt"
	"strings"
	"unicode"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

// This file handles the metadata of embedded resources in defaults as the server does:
// pkg/apiserver/schema/objectmeta of apiextensions-apiserver, and ValidateObjectMeta of
// k8s.io/apimachinery.

func decodeMeta(v any) (*apiserver.ObjectMeta, error) {
	js, _ := json.Marshal(v)
	return apiserver.DecodeMetadata(js)
}

// member returns the schema for a member of an object, and its path as messages about metadata show
// it.
func member(
	s *schema.Structural, p *schemapath.Path, name string,
) (*schema.Structural, *schemapath.Path, bool) {
	if s == nil {
		return nil, nil, false
	}
	if prop, ok := property(s, name); ok {
		return prop, p.Child(name), true
	}
	return additional(s), p.Key(name), s.AdditionalProperties != nil
}

// coerceMeta brings the metadata of the embedded resources in x into its canonical form. It stops
// at the first metadata that has none.
func coerceMeta(p *schemapath.Path, x any, s *schema.Structural) errors.SchemaErrors {
	if s == nil {
		return nil
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range sortedKeys(x) {
			v := x[name]
			if s.XEmbeddedResource {
				if errs := coerceField(p.Child(name), x, name); errs != nil {
					return errs
				}
			}
			if sub, at, ok := member(s, p, name); ok {
				if errs := coerceMeta(at, v, sub); errs != nil {
					return errs
				}
			}
		}
	case []any:
		for i, v := range x {
			if errs := coerceMeta(p.Index(i), v, element(s)); errs != nil {
				return errs
			}
		}
	}
	return nil
}

func coerceField(p *schemapath.Path, resource map[string]any, name string) errors.SchemaErrors {
	var r report
	switch v := resource[name]; name {
	case "apiVersion", "kind":
		if _, ok := v.(string); !ok {
			r.invalid(p, v, "must be a string")
		}
	case "metadata":
		meta, err := decodeMeta(v)
		if err != nil {
			r.invalid(p, v, err.Error())
			break
		}
		js, _ := json.Marshal(meta)
		resource[name] = decodeRaw(js)
	}
	return r.list
}

// resources validates the type and the metadata of the embedded resources in x.
func (r *report) resources(p *schemapath.Path, x any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		if s.XEmbeddedResource {
			r.resource(p, x)
		}
		for _, name := range sortedKeys(x) {
			if sub, at, ok := member(s, p, name); ok {
				r.resources(at, x[name], sub)
			}
		}
	case []any:
		for i, v := range x {
			r.resources(p.Index(i), v, element(s))
		}
	}
}

// resource validates one embedded resource (validateEmbeddedResource).
func (r *report) resource(p *schemapath.Path, x map[string]any) {
	for _, name := range []string{"apiVersion", "kind"} {
		if _, ok := x[name]; !ok {
			r.required(p.Child(name), "")
		}
	}
	if v, ok := r.typeField(p, x, "apiVersion"); ok {
		if _, ok := versionOf(v); !ok {
			r.invalid(p.Child("apiVersion"), v, "unexpected GroupVersion string: "+v)
		}
	}
	if v, ok := r.typeField(p, x, "kind"); ok {
		if faults := kindFaults(strings.ToLower(v)); len(faults) > 0 {
			r.invalid(p.Child("kind"), v, "may have mixed case, but should otherwise match: "+strings.Join(faults, ","))
		}
	}
	if v, ok := x["metadata"]; ok {
		at := p.Child("metadata")
		meta, _ := decodeMeta(v) // coerceMeta has left only metadata that can be decoded
		var sub report
		sub.metadata(at, meta)
		r.take(distinct(sub.list))
	}
}

// typeField returns apiVersion or kind, which are text, if it is not empty.
func (r *report) typeField(p *schemapath.Path, x map[string]any, name string) (string, bool) {
	v, ok := x[name]
	s, _ := v.(string)
	if ok && s == "" {
		r.invalid(p.Child(name), s, "must not be empty")
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

// metadata validates metadata as for an object that is created. A name may be absent, and a
// namespace may be present.
func (r *report) metadata(p *schemapath.Path, m *apiserver.ObjectMeta) {
	faults := func(at string, v string, faults []string) {
		for _, fault := range faults {
			r.invalid(p.Child(at), v, fault)
		}
	}
	faults("generateName", m.GenerateName, segmentFaults(m.GenerateName, true))
	faults("name", m.Name, segmentFaults(m.Name, false))
	if m.Namespace != "" {
		faults("namespace", m.Namespace, namespaceFaults(m.Namespace))
	}
	if m.Generation < 0 {
		r.invalid(p.Child("generation"), m.Generation, "must be greater than or equal to 0")
	}
	for _, k := range sortedKeys(m.Labels) {
		faults("labels", k, labelKeyFaults(k))
		faults("labels", m.Labels[k], labelValueFaults(m.Labels[k]))
	}
	const maxAnnotations = 256 << 10
	size := 0
	for _, k := range sortedKeys(m.Annotations) {
		faults("annotations", k, labelKeyFaults(strings.ToLower(k)))
		size += len(k) + len(m.Annotations[k])
	}
	if size > maxAnnotations {
		r.add(errors.SchemaTooLong, p.Child("annotations"), "", tooLong(maxAnnotations))
	}
	r.owners(p.Child("ownerReferences"), m.OwnerReferences)
	has := make(map[string]bool)
	for _, f := range m.Finalizers {
		faults("finalizers", f, labelKeyFaults(f))
		has[f] = true
	}
	if has["orphan"] && has["foregroundDeletion"] {
		r.invalid(p.Child("finalizers"), m.Finalizers, "finalizer orphan and foregroundDeletion cannot be both set")
	}
	for i, f := range m.ManagedFields {
		r.managed(p.Child("managedFields").Index(i), f)
	}
}

func (r *report) owners(p *schemapath.Path, owners []apiserver.OwnerReference) {
	controller := ""
	for i, o := range owners {
		at := p.Index(i)
		version, ok := versionOf(o.APIVersion)
		if o.APIVersion != "" && (!ok || version == "") {
			r.invalid(at.Child("apiVersion"), o.APIVersion, "must be <group>/<version> or <version>")
		}
		for _, field := range []struct{ name, value string }{
			{"apiVersion", o.APIVersion}, {"kind", o.Kind}, {"name", o.Name}, {"uid", string(o.UID)},
		} {
			if field.value == "" {
				r.required(at.Child(field.name), "must not be empty")
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

func (r *report) managed(p *schemapath.Path, f apiserver.ManagedFieldsEntry) {
	switch f.Operation {
	case "Apply", "Update":
	case "":
		r.required(p.Child("operation"), "must not be empty")
	default:
		r.unsupported(p.Child("operation"), f.Operation, []string{"Apply", "Update"})
	}
	if f.FieldsType != "" && f.FieldsType != "FieldsV1" {
		r.invalid(p.Child("fieldsType"), f.FieldsType, "must be `FieldsV1`")
	}
	const maxManager, maxSubresource = 128, 256
	if len(f.Manager) > maxManager {
		r.add(errors.SchemaTooLong, p.Child("manager"), "", tooLong(maxManager))
	}
	for i, c := range f.Manager {
		if !unicode.IsPrint(c) {
			r.invalid(p.Child("manager"), f.Manager, fmt.Sprintf("invalid character %#U (at position %d)", c, i))
		}
	}
	if len(f.Subresource) > maxSubresource {
		r.add(errors.SchemaTooLong, p.Child("subresource"), "", tooLong(maxSubresource))
	}
}
