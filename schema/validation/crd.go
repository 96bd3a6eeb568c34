package validation

import (
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// v1beta1 was served until Kubernetes 1.21.
const v1beta1 = "apiextensions.k8s.io/v1beta1"

// CRD returns the reasons why the API server refuses the schemas of the
// definition, as [errors.SchemaErrors] with the server's paths and messages, or
// nil.
//
// It checks what decoding depends on: the schemas of all versions as
// [Structural] does, that there are schemas, and spec.preserveUnknownFields. It
// does not check the rest of a definition, such as its conversion, its printer
// columns, or its names beyond their presence. Definitions of v1beta1 are
// checked by the rules of v1beta1, under which a schema need not be structural
// if nothing is pruned or defaulted.
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
	report := func(kind errors.SchemaErrorKind, field, value, msg string) {
		errs = append(errs, &errors.SchemaError{Kind: kind, Field: field, Value: value, Msg: msg})
	}
	if c.Group == "" {
		report(errors.SchemaRequired, "spec.group", "", "")
	}
	legacy := c.APIVersion == v1beta1
	errs = append(errs, missingSchemas(c, legacy)...)
	if c.PreserveUnknownFields && hasSchemaWith(c, hasDefault) {
		report(errors.SchemaInvalid, "spec.preserveUnknownFields", "true",
			"must be false in order to use defaults in the schema")
	}
	structural := !legacy || !c.PreserveUnknownFields ||
		hasSchemaWith(c, hasDefault) || hasSchemaWith(c, hasExtension)
	hoisted := sharedSchema(c)
	if structural && hoisted == nil {
		for i, v := range c.Versions {
			if v.Schema != nil {
				errs = append(errs, validateAt(v.Schema, versionRoot(i), v.HasStatus)...)
			}
		}
	}
	if c.Kind == "" {
		report(errors.SchemaRequired, "spec.names.kind", "", "")
	}
	if structural && hoisted != nil {
		hasStatus := slices.ContainsFunc(c.Versions, func(v schema.Version) bool {
			return v.HasStatus
		})
		errs = append(errs, validateAt(hoisted, "spec.validation.openAPIV3Schema", hasStatus)...)
	}
	if c.PreserveUnknownFields && !legacy {
		report(errors.SchemaInvalid, "spec.preserveUnknownFields", "true",
			"cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
	}
	if len(errs) == 0 {
		return nil
	}
	return errs
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

// missingSchemas returns an error for each version that needs a schema and has none. legacy says
// that the definition is of v1beta1.
func missingSchemas(c *schema.CRD, legacy bool) (errs errors.SchemaErrors) {
	for i, v := range c.Versions {
		e := &errors.SchemaError{Kind: errors.SchemaRequired, Field: versionRoot(i)}
		switch {
		case v.Schema != nil:
			continue
		case !legacy:
		case v.Served && !c.PreserveUnknownFields:
			e.Msg = "because otherwise all fields are pruned"
		default:
			continue
		}
		errs = append(errs, e)
	}
	return errs
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
