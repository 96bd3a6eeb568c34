package sample

import (
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// Of returns a maker of objects of a version of a definition, served or not, or of the kinds that
// [schema.ParseOpenAPI] returns. Unlike with [New], full objects of namespaced kinds have a
// namespace, and those of kinds with a status subresource have no status, unless it is required:
// the API server drops the status of what clients create. A version without a schema has objects with apiVersion, kind and metadata.
//
// If there is no such version, the error is a [*schema.NotFoundError] whose Versions are all
// versions of the definition.
func Of(crd *schema.CRD, version string) (*Maker, error) {
	apiVersion := strings.TrimPrefix(crd.Group+"/"+version, "/") // core kinds have no group
	var names []string
	for _, v := range crd.Versions {
		if v.Name == version {
			s := v.Schema
			if s == nil {
				s = &schema.Structural{Type: "object"}
			}
			m := New(s, apiVersion, crd.Kind)
			m.isNamespaced = crd.Scope == "Namespaced"
			m.hasStatus = v.HasStatus
			return m, nil
		}
		names = append(names, v.Name)
	}
	slices.Sort(names)
	return nil, &schema.NotFoundError{APIVersion: apiVersion, Kind: crd.Kind, Versions: names}
}
