package validation

import (
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// v1beta1 was served until Kubernetes 1.21.
const v1beta1 = "apiextensions.k8s.io/v1beta1"

// CRD returns the reasons why the API server refuses to create the definition,
// as [errors.SchemaErrors] with the server's paths and messages, or nil.
//
// It checks what decoding depends on: the schemas of all versions as
// [Structural] does, that there are schemas, the names of versions, that one of
// them is stored, and spec.preserveUnknownFields. It does not check the rest of
// a definition, such as its conversion, its printer columns, or its names beyond
// their presence. The server shows all of spec.versions where a name repeats or
// none is stored; CRD shows the names. Definitions of v1beta1 are checked by the
// rules of v1beta1, under which a schema need not be structural if nothing is
// pruned or defaulted. Rules in CEL (x-kubernetes-validations) are not compiled:
// the function Definition of the module cel does that.
//
// The server moves a schema that all versions share, or that of the only
// version, to the top. The paths of errors in it are therefore below
// spec.validation.openAPIV3Schema, although the manifest has it below
// spec.versions
// (Convert_v1_CustomResourceDefinitionSpec_To_apiextensions_CustomResourceDefinitionSpec).
//
// For a kind of an OpenAPI document the result is nil, because it is not a
// definition. CRD does not change c.
func CRD(c *schema.CRD) error {
	if c.OpenAPI {
		return nil
	}
	errs := infiniteSchemas(c)
	if len(errs) > 0 {
		return errs // the other rules visit all places
	}
	var kept keeps
	if c.APIVersion == v1beta1 {
		kept = keeps{noSchemas: true, looseSchemas: true, unvalidated: true, preserving: true}
	}
	d := definitionReport{CRD: c, kept: kept}
	d.spec()
	d.stored(storageVersions(nil, c))
	d.preserving()
	return d.result()
}

// A definitionReport collects the errors of a definition.
type definitionReport struct {
	*schema.CRD
	kept keeps
	errs errors.SchemaErrors
}

func (d *definitionReport) add(kind errors.SchemaErrorKind, field, value, msg string) {
	d.errs = append(d.errs, &errors.SchemaError{Kind: kind, Field: field, Value: value, Msg: msg})
}

func (d *definitionReport) result() error {
	if len(d.errs) == 0 {
		return nil
	}
	return d.errs
}

// spec checks what validateCustomResourceDefinitionSpec does, in its order.
func (d *definitionReport) spec() {
	if d.Group == "" {
		d.add(errors.SchemaRequired, "spec.group", "", "")
	}
	d.missingSchemas()
	hasDefaults := hasSchemaWith(d.CRD, hasDefault)
	if d.PreserveUnknownFields && hasDefaults {
		d.add(errors.SchemaInvalid, "spec.preserveUnknownFields", "true",
			"must be false in order to use defaults in the schema")
	}
	if !d.PreserveUnknownFields || hasDefaults || hasSchemaWith(d.CRD, hasExtension) {
		d.kept.looseSchemas = false
	}
	shared := sharedSchema(d.CRD)
	d.versions(shared == nil)
	if d.Kind == "" {
		d.add(errors.SchemaRequired, "spec.names.kind", "", "")
	}
	if shared != nil {
		hasStatus := slices.ContainsFunc(d.Versions, func(v schema.Version) bool {
			return v.HasStatus
		})
		d.schema(shared, "spec.validation.openAPIV3Schema", hasStatus)
	}
}

func (d *definitionReport) schema(s *schema.Structural, root string, hasStatus bool) {
	if !d.kept.looseSchemas || !d.kept.unvalidated {
		d.errs = append(d.errs, validateAt(s, root, hasStatus, d.kept)...)
	}
}

// versions checks the versions one by one, with their schemas unless they share one, and then their
// flags and names.
func (d *definitionReport) versions(withSchemas bool) {
	stored := 0
	first := map[string]int{}
	for i, v := range d.Versions {
		if v.Storage {
			stored++
		}
		if _, repeats := first[v.Name]; !repeats {
			first[v.Name] = i
		}
		if faults := validate.LabelFaults(v.Name); len(faults) > 0 {
			d.add(errors.SchemaInvalid, "spec.versions["+strconv.Itoa(i)+"].name",
				validate.Render(v.Name), strings.Join(faults, ","))
		}
		if withSchemas && v.Schema != nil {
			// The server looks for subresources by the name of the version.
			d.schema(v.Schema, versionRoot(i), d.Versions[first[v.Name]].HasStatus)
		}
	}
	if len(first) < len(d.Versions) {
		d.add(errors.SchemaInvalid, "spec.versions", d.versionNames(),
			"must contain unique version names")
	}
	if stored != 1 {
		d.add(errors.SchemaInvalid, "spec.versions", d.versionNames(),
			"must have exactly one version marked as storage version")
	}
}

// versionNames abbreviates the value of spec.versions.
func (d *definitionReport) versionNames() string {
	names := make([]string, len(d.Versions))
	for i, v := range d.Versions {
		names[i] = validate.Render(v.Name)
	}
	return "[" + strings.Join(names, ", ") + "]"
}

// preserving checks that spec.preserveUnknownFields is not set anew
// (validatePreserveUnknownFields).
func (d *definitionReport) preserving() {
	if d.PreserveUnknownFields && !d.kept.preserving {
		d.add(errors.SchemaInvalid, "spec.preserveUnknownFields", "true",
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true "+
				"in spec.versions[*].schema instead")
	}
}

// infiniteSchemas returns an error for each schema whose places cannot all be visited.
func infiniteSchemas(c *schema.CRD) (errs errors.SchemaErrors) {
	for i, v := range c.Versions {
		if v.Schema == nil || i > 0 && v.Schema == c.Versions[i-1].Schema {
			continue // versions of v1beta1 share one
		}
		if why := infinite(v.Schema); why != "" {
			errs = append(errs, &errors.SchemaError{
				Kind: errors.SchemaForbidden, Field: versionRoot(i), Msg: why,
			})
		}
	}
	return errs
}

// missingSchemas reports each version that needs a schema and has none.
func (d *definitionReport) missingSchemas() {
	for i, v := range d.Versions {
		switch {
		case v.Schema != nil:
		case !d.kept.noSchemas:
			d.add(errors.SchemaRequired, versionRoot(i), "", "")
		case v.Served && !d.PreserveUnknownFields:
			d.add(errors.SchemaRequired, versionRoot(i), "",
				"because otherwise all fields are pruned")
		}
	}
}

func versionRoot(i int) string {
	return "spec.versions[" + strconv.Itoa(i) + "].schema.openAPIV3Schema"
}

// sharedSchema returns the schema that all versions have, or nil if they have none or different
// ones.
func sharedSchema(c *schema.CRD) *schema.Structural {
	for i := range c.Versions {
		if !c.Versions[0].Schema.Equal(c.Versions[i].Schema) {
			return nil
		}
	}
	if len(c.Versions) == 0 {
		return nil
	}
	return c.Versions[0].Schema
}

// hasSchemaWith reports whether has is true of a node in a schema of the definition, in the core or
// elsewhere.
func hasSchemaWith(c *schema.CRD, has func(*schema.Structural) bool) bool {
	var last *schema.Structural // schemas of v1beta1 are shared by all versions
	return slices.ContainsFunc(c.Versions, func(v schema.Version) bool {
		if v.Schema == last {
			return false
		}
		last = v.Schema
		return v.Schema != nil && anyNode(v.Schema, has)
	})
}

// hasExtension reports whether s uses extensions that only structural schemas may use
// (schemaHasKubernetesExtensions of apiextensions).
func hasExtension(s *schema.Structural) bool {
	return s.XEmbeddedResource || s.XPreserveUnknownFields != nil || s.XIntOrString ||
		len(s.XListMapKeys) > 0 || s.XListType != nil || len(s.XValidations) > 0
}

// anyNode reports whether has is true of s or of a schema within it.
func anyNode(s *schema.Structural, has func(*schema.Structural) bool) bool {
	if has(s) {
		return true
	}
	for _, c := range within(s) {
		if c != nil && anyNode(c, has) {
			return true
		}
	}
	return false
}
