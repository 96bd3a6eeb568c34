package schema

// This file reads CustomResourceDefinitions. It brings v1beta1 into the form of v1, so that nothing
// after ParseCRD needs to know both.

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

const (
	crdGroup = "apiextensions.k8s.io"
	crdKind  = "CustomResourceDefinition"

	// crdV1beta1 was served until Kubernetes 1.21. Manifests of it are still in use.
	crdV1      = crdGroup + "/v1"
	crdV1beta1 = crdGroup + "/v1beta1"
)

// A CRD is a CustomResourceDefinition of apiextensions.k8s.io/v1, or one of
// v1beta1 in the form of v1, reduced to what decoding its resources depends on.
type CRD struct {
	// APIVersion is that of the manifest: apiextensions.k8s.io/v1 or
	// v1beta1.
	APIVersion string
	// File names the file that the definition comes from, for messages. A
	// [Catalog] sets it for the files that it reads; ParseCRD leaves it
	// empty.
	File string
	// Document is the number of the document in the file, from 1, not
	// counting empty documents. Position is where the definition starts in
	// the file.
	Document int
	Position errors.Position

	Name     string // metadata.name
	Group    string
	Kind     string
	ListKind string // Kind + "List" if the manifest has none
	Plural   string
	Singular string // Kind in lower case if the manifest has none
	Scope    string // Cluster or Namespaced

	// PreserveUnknownFields turns pruning off for all versions. In v1beta1
	// it is set where the manifest does not mention it; v1 no longer allows
	// it.
	PreserveUnknownFields bool
	// ConversionWebhook is set if a webhook converts resources from version to
	// version. Without one, nothing but their apiVersion is changed.
	ConversionWebhook bool
	// Versions are in the order of the manifest. If a v1beta1 manifest has
	// one schema for all versions, they share it.
	Versions []Version
	// StoredVersions are the versions in which resources have ever been
	// stored, as status.storedVersions has them. Manifests rarely do.
	StoredVersions []string

	// GoType is set for a kind of an OpenAPI document whose objects the
	// server decodes into a Go type of its own, and not by a schema.
	// Formats are then a part of decoding.
	GoType bool

	// OpenAPI is set for a kind of an OpenAPI document ([ParseOpenAPI]),
	// for which there is no definition.
	OpenAPI bool
}

// A Version is one version of the resources that a [CRD] defines.
type Version struct {
	Name string
	// Schema is nil if the manifest has none. All fields except apiVersion,
	// kind and metadata are then pruned.
	Schema *Structural
	// Served is set if the API server accepts requests for the version.
	Served bool
	// Storage is set if resources are stored in this version.
	Storage bool
	// Deprecated is set if the API server warns of the version. The warning
	// is DeprecationWarning, or a text of the server's own where that is
	// empty.
	Deprecated         bool
	DeprecationWarning string
	// HasStatus is set if there is a status subresource.
	HasStatus bool
	// Scale is the scale subresource, or nil if there is none.
	Scale *Scale
}

// A Scale says where the scale subresource finds its values in a resource: by
// names with dots between them and a dot at the start, such as .spec.replicas.
// The API server refuses a resource that has other values there than numbers of
// replicas, and a selector that is no text.
type Scale struct {
	SpecReplicasPath   string
	StatusReplicasPath string
	LabelSelectorPath  *string // nil if the definition has none
}

// ParseCRD reads the CustomResourceDefinitions in a manifest. The manifest is
// JSON or YAML and has one document or several; each is a definition or a List
// of them. The known versions are v1 and v1beta1 of apiextensions.k8s.io.
// Documents of other kinds are skipped, and so are such items of a List.
//
// As in [Parse], members that a definition does not have are dropped, and names
// that occur twice are refused. ParseCRD does not check whether a definition is
// valid; package schema/validation does.
//
// Reading ends with an error at the first document that is not well-formed, or
// that is not a definition although its kind says so. The error starts with the
// number of the document and wraps an [*errors.SyntaxError], an
// [*errors.LimitError] or [errors.SchemaErrors]. No definitions are then
// returned. The result keeps no reference to manifest.
func ParseCRD(manifest []byte) ([]*CRD, error) {
	var crds []*CRD
	number := 0
	for t, err := range readTexts(manifest) {
		number++
		if err == nil {
			var some []*CRD
			some, err = t.definitions()
			for _, c := range some {
				c.Document = number
			}
			crds = append(crds, some...)
		}
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", number, err)
		}
	}
	return crds, nil
}

// definitions returns the definitions in a document. There are none if the document is of another
// kind.
func (t *text) definitions() ([]*CRD, error) {
	apiVersion, kind := t.header()
	if kind != "List" && kind != crdKind+"List" {
		return t.definition(apiVersion, kind)
	}
	var crds []*CRD
	for i, item := range t.items() {
		itemVersion, itemKind := item.header()
		if itemKind == "" && itemVersion == "" && kind == crdKind+"List" {
			// A typed list says of which type its items are.
			itemVersion, itemKind = apiVersion, crdKind
		}
		some, err := item.definition(itemVersion, itemKind)
		if err != nil {
			return nil, fmt.Errorf("items[%d]: %w", i, err)
		}
		crds = append(crds, some...)
	}
	return crds, nil
}

// header returns the type of a document. A document of an unknown type may have any contents.
func (t *text) header() (apiVersion, kind string) {
	var h struct {
		APIVersion jsonv2.Value `json:"apiVersion"`
		Kind       jsonv2.Value `json:"kind"`
	}
	if t.json.Kind() != '{' || jsonv2.Unmarshal(t.json, &h, jsonv2.AllowDuplicateNames(true)) != nil {
		return "", ""
	}
	// A value that is not a string leaves the result empty.
	_ = jsonv2.Unmarshal(h.APIVersion, &apiVersion)
	_ = jsonv2.Unmarshal(h.Kind, &kind)
	return apiVersion, kind
}

// items returns the items of a List, if they are an array.
func (t *text) items() []*text {
	const name = jsonv2.Pointer("/items")
	_, start := locate(t.json, name)
	d := jsonv2.NewDecoder(bytes.NewBuffer(t.json[start:]), jsonv2.AllowDuplicateNames(true))
	if d.PeekKind() != '[' {
		return nil
	}
	d.ReadToken()
	var items []*text
	for {
		v, err := d.ReadValue()
		if err != nil { // at the end of the array
			return items
		}
		end := start + int(d.InputOffset())
		items = append(items, t.part(t.json[end-len(v):end], end-len(v)))
	}
}

// The parts of a definition that are read, in the spelling of both versions.
type (
	crdManifest struct {
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Spec   crdSpec `json:"spec"`
		Status struct {
			StoredVersions []string `json:"storedVersions"`
		} `json:"status"`
	}
	crdSpec struct {
		Group string `json:"group"`
		Names struct {
			Kind     string `json:"kind"`
			ListKind string `json:"listKind"`
			Plural   string `json:"plural"`
			Singular string `json:"singular"`
		} `json:"names"`
		Scope                 string       `json:"scope"`
		PreserveUnknownFields *bool        `json:"preserveUnknownFields"`
		Versions              []crdVersion `json:"versions"`
		Conversion            struct {
			Strategy string `json:"strategy"`
		} `json:"conversion"`

		// v1beta1 only.

		Version      string           `json:"version"`
		Validation   *crdValidation   `json:"validation"`
		Subresources *crdSubresources `json:"subresources"`
	}
	crdVersion struct {
		Name               string           `json:"name"`
		Served             bool             `json:"served"`
		Storage            bool             `json:"storage"`
		Deprecated         bool             `json:"deprecated"`
		DeprecationWarning string           `json:"deprecationWarning"`
		Schema             *crdValidation   `json:"schema"`
		Subresources       *crdSubresources `json:"subresources"`
	}
	crdValidation struct {
		OpenAPIV3Schema *Structural `json:"openAPIV3Schema"`
	}
	crdSubresources struct {
		Status *struct{} `json:"status"`
		Scale  *crdScale `json:"scale"`
	}
	crdScale struct {
		SpecReplicasPath   string  `json:"specReplicasPath"`
		StatusReplicasPath string  `json:"statusReplicasPath"`
		LabelSelectorPath  *string `json:"labelSelectorPath"`
	}
)

// definition returns the definition in a document of a type, or none.
func (t *text) definition(apiVersion, kind string) ([]*CRD, error) {
	group, _, _ := strings.Cut(apiVersion, "/")
	if kind != crdKind || group != crdGroup && apiVersion != "" {
		return nil, nil
	}
	if apiVersion != crdV1 && apiVersion != crdV1beta1 {
		msg := "a " + crdKind + " must be of apiVersion " + crdV1 + " or " + crdV1beta1
		return nil, &errors.SyntaxError{Msg: msg, Position: t.position(0)}
	}
	var m crdManifest
	if err := t.unmarshal(&m); err != nil {
		return nil, err
	}
	spec := &m.Spec
	spec.Validation.normalize()
	for i := range spec.Versions {
		spec.Versions[i].Schema.normalize()
	}
	if apiVersion == crdV1beta1 {
		if err := spec.upgrade(); err != nil {
			return nil, fmt.Errorf("%s: %w", t.position(0), err)
		}
	}
	c := &CRD{
		APIVersion:            apiVersion,
		Position:              t.position(0),
		Name:                  m.Metadata.Name,
		Group:                 spec.Group,
		Kind:                  spec.Names.Kind,
		ListKind:              spec.Names.ListKind,
		Plural:                spec.Names.Plural,
		Singular:              spec.Names.Singular,
		Scope:                 spec.Scope,
		PreserveUnknownFields: spec.PreserveUnknownFields != nil && *spec.PreserveUnknownFields,
		StoredVersions:        m.Status.StoredVersions,
		ConversionWebhook:     spec.Conversion.Strategy == "Webhook",
	}
	// SetDefaults_CustomResourceDefinitionSpec of apiextensions.
	if c.Singular == "" {
		c.Singular = strings.ToLower(c.Kind)
	}
	if c.ListKind == "" && c.Kind != "" {
		c.ListKind = c.Kind + "List"
	}
	for i := range spec.Versions {
		c.Versions = append(c.Versions, spec.Versions[i].version())
	}
	return []*CRD{c}, nil
}

func (v *crdVersion) version() Version {
	var s *Structural
	if v.Schema != nil {
		s = v.Schema.OpenAPIV3Schema
	}
	var scale *Scale
	if v.Subresources != nil {
		scale = (*Scale)(v.Subresources.Scale)
	}
	return Version{
		Name:               v.Name,
		Schema:             s,
		Served:             v.Served,
		Storage:            v.Storage,
		Deprecated:         v.Deprecated,
		DeprecationWarning: v.DeprecationWarning,
		HasStatus:          v.Subresources != nil && v.Subresources.Status != nil,
		Scale:              scale,
	}
}

func (v *crdValidation) normalize() {
	if v != nil && v.OpenAPIV3Schema != nil {
		v.OpenAPIV3Schema.normalize()
	}
}

// upgrade brings a spec of v1beta1 into the form of v1, with the defaults of v1beta1
// (SetDefaults_CustomResourceDefinitionSpec of apiextensions/v1beta1).
func (s *crdSpec) upgrade() error {
	if s.Scope == "" {
		s.Scope = "Namespaced"
	}
	if s.PreserveUnknownFields == nil {
		s.PreserveUnknownFields = new(true)
	}
	if len(s.Versions) == 0 && s.Version != "" {
		s.Versions = []crdVersion{{Name: s.Version, Served: true, Storage: true}}
	}
	var errs errors.SchemaErrors
	for i := range s.Versions {
		v := &s.Versions[i]
		if s.Validation != nil && v.Schema != nil && len(errs) == 0 {
			errs = append(errs, &errors.SchemaError{
				Kind:  errors.SchemaForbidden,
				Field: "spec.validation",
				Msg:   "top-level and per-version schemas are mutually exclusive",
			})
		}
		if v.Schema == nil {
			v.Schema = s.Validation
		}
		if v.Subresources == nil {
			v.Subresources = s.Subresources
		}
	}
	if len(errs) > 0 {
		return errs
	}
	return nil
}
