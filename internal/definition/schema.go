// Package definition knows the form of a CustomResourceDefinition of apiextensions.k8s.io/v1, apart
// from the schemas in it, which package schema knows.
package definition

import (
	"encoding/json"
	"reflect"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// node is a schema under construction.
type node = schema.Structural

func object(properties map[string]*node) *node { return &node{Type: "object", Properties: properties} }

func list(of *node) *node {
	return &node{Type: "array", Items: &schema.SchemaOrArray{Schema: of}}
}

// fields returns properties with these names and no further rules.
func fields(names string) map[string]*node {
	properties := map[string]*node{}
	for _, name := range strings.Fields(names) {
		properties[name] = &node{}
	}
	return properties
}

// with adds a property.
func with(properties map[string]*node, name string, of *node) map[string]*node {
	properties[name] = of
	return properties
}

// Schema returns the schema of definitions: the fields of CustomResourceDefinition in
// k8s.io/apiextensions-apiserver v0.37. It has no types, and it contains itself: schema.Compile
// accepts it.
func Schema() *schema.Structural {
	names := func() *node { return object(fields("plural singular shortNames kind listKind categories")) }
	service := object(fields("namespace name path port"))
	client := object(with(fields("url caBundle"), "service", service))
	webhook := object(with(fields("conversionReviewVersions"), "clientConfig", client))
	scale := object(fields("specReplicasPath statusReplicasPath labelSelectorPath"))
	subresources := object(map[string]*node{"status": {}, "scale": scale})
	version := fields("name served storage deprecated deprecationWarning")
	version["schema"] = object(map[string]*node{"openAPIV3Schema": Props()})
	version["subresources"] = subresources
	version["additionalPrinterColumns"] = list(object(fields("name type format description priority jsonPath")))
	version["selectableFields"] = list(object(fields("jsonPath")))
	spec := fields("group scope preserveUnknownFields")
	spec["names"] = names()
	spec["versions"] = list(object(version))
	spec["conversion"] = object(with(fields("strategy"), "webhook", webhook))
	status := fields("storedVersions observedGeneration")
	status["conditions"] = list(object(fields("type status lastTransitionTime reason message observedGeneration")))
	status["acceptedNames"] = names()
	return object(map[string]*node{"spec": object(spec), "status": object(status)})
}

// Props returns the schema of schemas (JSONSchemaProps), which has the fields of
// [schema.Structural].
func Props() *schema.Structural {
	props := &node{Properties: map[string]*node{}}
	// items is a schema or an array of schemas.
	either := &node{Properties: props.Properties, Items: &schema.SchemaOrArray{Schema: props}}
	whatever := &node{XPreserveUnknownFields: new(true)}
	t := reflect.TypeFor[schema.Structural]()
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		var of *node
		switch t.Field(i).Type {
		case reflect.TypeFor[map[string]*schema.Structural]():
			of = &node{AdditionalProperties: &schema.SchemaOrBool{Allows: true, Schema: props}}
		case reflect.TypeFor[*schema.Structural](), reflect.TypeFor[*schema.SchemaOrBool]():
			of = props
		case reflect.TypeFor[*schema.SchemaOrArray]():
			of = either
		case reflect.TypeFor[[]*schema.Structural]():
			of = list(props)
		case reflect.TypeFor[json.RawMessage](), reflect.TypeFor[[]json.RawMessage](), reflect.TypeFor[map[string]json.RawMessage]():
			of = whatever
		default:
			of = &node{}
		}
		props.Properties[name] = of
	}
	props.Properties["externalDocs"] = object(fields("description url"))
	props.Properties["x-kubernetes-validations"] = list(object(fields("rule message messageExpression reason fieldPath optionalOldSelf")))
	return props
}
