package schema

// This file reads the OpenAPI v3 documents that an API server publishes under /openapi/v3, so that
// built-in kinds can be decoded as well. References in their schemas are replaced by the schemas
// that they refer to. Schemas become graphs in which one may contain itself, which Compile accepts,
// and which functions for trees cannot walk.

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// refPrefix is the start of references within a document.
const refPrefix = "#/components/schemas/"

// isGoType reports whether a component with the name was made from a Go type of Kubernetes itself:
// k8s.io/api/... or k8s.io/MODULE/pkg/.... Names of custom resources whose group ends in k8s.io
// begin with io.k8s. as well.
func isGoType(name string) bool {
	return strings.HasPrefix(name, "io.k8s.api.") ||
		strings.HasPrefix(name, "io.k8s.") && strings.Contains(name, ".pkg.")
}

// goFormats are formats of Go types that decode themselves from strings. Their schemas do not tell
// them from other strings.
var goFormats = map[string]string{
	"io.k8s.apimachinery.pkg.api.resource.Quantity":  FormatQuantity,
	"io.k8s.apimachinery.pkg.apis.meta.v1.Duration":  FormatDuration,
	"io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime": FormatMicroTime,
}

// These are the formats that [ParseOpenAPI] gives to resource.Quantity,
// metav1.Duration and metav1.MicroTime of k8s.io/apimachinery.
const (
	FormatQuantity  = "quantity"
	FormatDuration  = "duration"
	FormatMicroTime = "micro-date-time"
)

// ParseOpenAPI reads the kinds of an OpenAPI v3 document, in JSON or YAML, as
// an API server publishes it for each group and version under /openapi/v3. The
// kinds are the schemas in components.schemas that have
// x-kubernetes-group-version-kind and metadata. Each is returned in the form of
// a definition with one version. Lists are left out, because their items are
// resources of their own. The APIVersion of these definitions is empty, and so
// is the Group of the core kinds.
//
// References are replaced by the schemas they refer to, and a schema may
// therefore contain itself. [Compile] accepts such a schema, but it is not a
// tree: it cannot be marshalled or passed to package schema/validation, which
// has no rules for such kinds. An allOf with a reference, which the server
// writes around references that have a description, is merged into the schema
// that holds it.
//
// Schemas of Kubernetes' own Go types, which are called io.k8s.api. or io.k8s.
// with a pkg in the name, are read as the server means them. Their defaults are
// left out, because the server applies none of them. An object without any
// further specification may hold anything, unless it has
// x-kubernetes-preserve-unknown-fields: false. The format int-or-string means
// x-kubernetes-int-or-string. Types with a decoding method of their own have
// one of the formats [FormatQuantity], [FormatDuration] and [FormatMicroTime].
// A kind with a schema of such a Go type has [CRD.GoType] set.
//
// The error is an [*errors.SyntaxError] or an [*errors.LimitError], or names a
// reference that leads nowhere or in a circle, or a schema that is deeper than
// [MaxDepth].
func ParseOpenAPI(document []byte) ([]*CRD, error) {
	t, err := readText(document)
	if err != nil {
		return nil, err
	}
	var d struct {
		Swagger    string                  `json:"swagger"`
		Paths      map[string]jsonv2.Value `json:"paths"`
		Components struct {
			Schemas jsonv2.Value `json:"schemas"`
		} `json:"components"`
	}
	if err := t.unmarshal(&d); err != nil {
		return nil, err
	}
	switch {
	case len(d.Components.Schemas) > 0:
	case d.Swagger != "":
		return nil, &errors.SyntaxError{Position: t.position(0),
			Msg: "this is OpenAPI v2; the API server has v3 under /openapi/v3"}
	case bytes.Contains(t.json[:min(len(t.json), 1<<12)], []byte("serverRelativeURL")):
		return nil, &errors.SyntaxError{Position: t.position(0),
			Msg: "this is the list of the documents; each is where its serverRelativeURL says, " +
				"such as /openapi/v3/apis/apps/v1"}
	default:
		return nil, &errors.SyntaxError{Position: t.position(0),
			Msg: "there are no components.schemas: this is no OpenAPI v3 document"}
	}
	start := bytes.Index(t.json, d.Components.Schemas)
	r, err := newResolver(t.part(d.Components.Schemas, start))
	if err != nil {
		return nil, err
	}
	return r.kinds()
}

// A component is a schema of a document.
type component struct {
	schema *Structural
	kinds  []groupVersionKind
	name   string
}

type groupVersionKind struct {
	Group   string `json:"group"`
	Version string `json:"version"`
	Kind    string `json:"kind"`
}

// A resolver replaces references by the schemas that they refer to.
type resolver struct {
	components map[string]*component
	// done has the result for each schema, including those that are being resolved; nil for references
	// that are being followed.
	done  map[*Structural]*Structural
	again map[*Structural]bool // references that are being followed a second time
	depth int                  // of the schema that is being resolved
	// merged counts the properties that schemas have taken from others.
	merged int
}

// maxMerged is how many properties a document may repeat by references under allOf in schemas that
// have more than the reference. A list of such references is the product of two sizes.
const maxMerged = 1 << 20

func newResolver(t *text) (*resolver, error) {
	r := &resolver{components: map[string]*component{}, done: map[*Structural]*Structural{}, again: map[*Structural]bool{}}
	var schemas map[string]*Structural
	if err := t.unmarshal(&schemas); err != nil {
		return nil, err
	}
	var kinds map[string]struct {
		Kinds []groupVersionKind `json:"x-kubernetes-group-version-kind"`
	}
	if err := t.unmarshal(&kinds); err != nil {
		return nil, err
	}
	for name, s := range schemas {
		if s == nil {
			s = new(Structural)
		}
		s.normalize()
		r.components[name] = &component{s, kinds[name].Kinds, name}
	}
	return r, nil
}

// kinds returns the kinds of resources, in the order of the names of their schemas.
func (r *resolver) kinds() (kinds []*CRD, err error) {
	for _, name := range slices.Sorted(maps.Keys(r.components)) {
		c := r.components[name]
		metadata := c.schema.Properties["metadata"]
		isList := metadata != nil && strings.HasSuffix(reference(metadata), ".ListMeta")
		if len(c.kinds) == 0 || metadata == nil || isList {
			continue
		}
		s, err := r.component(name)
		if err != nil {
			return nil, err
		}
		for _, k := range c.kinds {
			kinds = append(kinds, &CRD{
				Name: name, Group: k.Group, Kind: k.Kind, ListKind: k.Kind + "List",
				Versions: []Version{{Name: k.Version, Schema: s, Served: true}},
				GoType:   isGoType(name),
				OpenAPI:  true,
			})
		}
	}
	return kinds, nil
}

// reference returns the reference of a schema that consists of one, alone or under allOf, and ""
// for others.
func reference(s *Structural) string {
	if s.Ref == nil && len(s.AllOf) == 1 {
		s = s.AllOf[0]
	}
	if s.Ref == nil {
		return ""
	}
	return *s.Ref
}

// component returns the schema with the name, with its references resolved.
func (r *resolver) component(name string) (*Structural, error) {
	c := r.components[name]
	if c == nil {
		return nil, fmt.Errorf("components.schemas has no %s", fieldpath.Quoted(name))
	}
	return r.resolve(c.schema, c)
}

// resolve returns the result for a schema within a component.
func (r *resolver) resolve(s *Structural, within *component) (*Structural, error) {
	done, ok := r.done[s]
	switch {
	case done != nil:
		return done, nil
	case ok:
		// A schema within the one that is referred to has taken over this reference, by an allOf. Where
		// it leads is known by now, unless it leads to references only.
		if r.again[s] {
			return nil, fmt.Errorf("components.schemas[%s] refers to nothing but itself", within.name)
		}
		r.again[s] = true
		defer delete(r.again, s)
		return r.refer(*s.Ref, within)
	}
	if r.depth == MaxDepth {
		return nil, fmt.Errorf("components.schemas[%s] is nested more than 10000 deep, "+
			"with what it refers to and what refers to it", within.name)
	}
	r.depth++
	defer func() { r.depth-- }()
	if s.Ref != nil {
		r.done[s] = nil // until the result is known
		to, err := r.refer(*s.Ref, within)
		r.done[s] = to
		return to, err
	}
	r.done[s] = s
	if isGoType(within.name) {
		s.asGoType()
		if format := goFormats[within.name]; format != "" && s == within.schema {
			s.Format = format
		}
	}
	if s.Format == "int-or-string" {
		s.XIntOrString, s.Type = true, ""
	}
	whole, err := r.merge(s, within)
	if whole != nil || err != nil {
		r.done[s] = whole
		return whole, err
	}
	for name, child := range s.Properties {
		to, err := r.resolve(child, within)
		if err != nil {
			return nil, err
		}
		s.Properties[name] = to
	}
	for _, child := range []**Structural{s.elementPlace(), s.valuePlace()} {
		if child == nil {
			continue
		}
		to, err := r.resolve(*child, within)
		if err != nil {
			return nil, err
		}
		*child = to
	}
	return s, nil
}

// asGoType changes a schema that was made from a Go type.
func (s *Structural) asGoType() {
	s.Default = nil
	opaque := len(s.Properties) == 0 && s.AdditionalProperties == nil && s.Items == nil &&
		len(s.AllOf) == 0
	if opaque && (s.Type == "" || s.Type == "object") && s.XPreserveUnknownFields == nil {
		s.XPreserveUnknownFields = new(true)
	}
}

// elementPlace and valuePlace return where s has the schemas for elements and for undeclared
// members, or nil.
func (s *Structural) elementPlace() **Structural {
	if s.Items == nil || s.Items.Schema == nil {
		return nil
	}
	return &s.Items.Schema
}

func (s *Structural) valuePlace() **Structural {
	if s.AdditionalProperties == nil || s.AdditionalProperties.Schema == nil {
		return nil
	}
	return &s.AdditionalProperties.Schema
}

// refer returns the schema that a reference leads to.
func (r *resolver) refer(ref string, within *component) (*Structural, error) {
	name, ok := strings.CutPrefix(ref, refPrefix)
	if !ok {
		return nil, fmt.Errorf("components.schemas[%s]: the reference %s does not lead to %s",
			within.name, fieldpath.Quoted(ref), refPrefix)
	}
	// It is a pointer within a URI (RFC 6901, section 6), without the escapes that no name has.
	name = strings.NewReplacer("~1", "/", "~0", "~").Replace(name)
	s, err := r.component(name)
	if err != nil {
		return nil, fmt.Errorf("components.schemas[%s]: %w", within.name, err)
	}
	return s, nil
}

// merge adds to a schema the contents of references under its allOf. The schema's own contents take
// precedence. If it has none, whole is the schema that it refers to.
func (r *resolver) merge(s *Structural, within *component) (whole *Structural, err error) {
	if !slices.ContainsFunc(s.AllOf, func(a *Structural) bool { return a.Ref != nil }) {
		return nil, nil
	}
	parts := s.AllOf
	s.AllOf = nil
	silent := len(parts) == 1 && s.saysNothing()
	for _, part := range parts {
		from, err := r.resolve(part, within)
		if err != nil {
			return nil, err
		}
		s.take(from) // in any case: others that refer to s may have it already
		if silent {
			return from, nil
		}
		if r.merged += len(from.Properties); r.merged > maxMerged {
			return nil, fmt.Errorf("components.schemas[%s]: references under allOf repeat more than %d properties",
				within.name, maxMerged)
		}
	}
	return nil, nil
}

// saysNothing reports whether s has nothing that [Structural.take] would add to.
func (s *Structural) saysNothing() bool {
	return s.Properties == nil && s.AdditionalProperties == nil && s.Items == nil && s.XPreserveUnknownFields == nil &&
		s.Type == "" && !s.XIntOrString && !s.XEmbeddedResource && !s.Nullable && s.Default == nil
}

// take adds the contents of another schema for the same place.
func (s *Structural) take(from *Structural) {
	switch {
	case s.Properties == nil:
		// This is not a copy, because schemas in it may still be replaced.
		s.Properties = from.Properties
	case from.Properties != nil:
		s.Properties = maps.Clone(s.Properties)
		for name, p := range from.Properties {
			if s.Properties[name] == nil {
				s.Properties[name] = p
			}
		}
	}
	if s.AdditionalProperties == nil {
		s.AdditionalProperties = from.AdditionalProperties
	}
	if s.Items == nil {
		s.Items = from.Items
	}
	if s.Format == "" {
		s.Format = from.Format
	}
	if s.XPreserveUnknownFields == nil {
		s.XPreserveUnknownFields = from.XPreserveUnknownFields
	}
	if s.Type == "" && !s.XIntOrString {
		s.Type = from.Type
	}
	s.XIntOrString = s.XIntOrString || from.XIntOrString
	s.XEmbeddedResource = s.XEmbeddedResource || from.XEmbeddedResource
	s.Nullable = s.Nullable || from.Nullable
	if s.Default == nil {
		s.Default = from.Default
	}
}

// AddOpenAPIPath is [Catalog.AddPath] for OpenAPI v3 documents: see
// [ParseOpenAPI].
func (c *Catalog) AddOpenAPIPath(name string) error {
	var all []*CRD
	err := readPath(name, func(name string, document []byte) error {
		kinds, err := ParseOpenAPI(document)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		for _, kind := range kinds {
			kind.File = name
		}
		all = append(all, kinds...)
		return nil
	})
	if err != nil {
		return err
	}
	return c.Add(all...)
}
