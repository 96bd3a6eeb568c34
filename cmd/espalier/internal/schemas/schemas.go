// Package schemas loads the definitions and OpenAPI documents that flags name, and
// compiles what objects are decoded with. All workers share the result.
package schemas

import (
	stderrors "errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/origin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/schema"
)

// Loaded is the set of schemas that objects are decoded by. All workers share it.
type Loaded struct {
	Catalog *schema.Catalog
	// Given means that --crd or --openapi was used.
	Given     bool
	Anything  *schema.Program // for objects without a schema
	List      *schema.Program // for a List, whose items are not looked at
	EmptyList *schema.Program // for a List, whose items become empty
	// Definition is for definitions of apiextensions.k8s.io/v1, and SchemaProps for documents
	// that are a schema.
	Definition, SchemaProps *schema.Program
	// groups are the groups with schemas, and kinds are their kinds.
	groups  map[string]bool
	kinds   map[string][]string
	entries map[[2]string]schema.Entry // by apiVersion and kind
	Files   origin.Files               // with the definitions
	// Untyped has the schemas of Catalog without type checks, so that values of wrong types are
	// examined inside.
	Untyped func() (*schema.Catalog, error)
}

// Load reads definitions and OpenAPI documents from files, folders and patterns. Its error
// joins one error for each of them that cannot be read.
func Load(crds, openAPI []string, opts ...schema.Option) (*Loaded, error) {
	s := &Loaded{Catalog: schema.NewCatalog(opts...), Given: len(crds)+len(openAPI) > 0}
	s.Untyped = sync.OnceValues(func() (*schema.Catalog, error) {
		return copyCatalog(s.Catalog, append(slices.Clip(opts), schema.CheckTypes(false)))
	})
	preserve := true
	whatever, text := &schema.Structural{XPreserveUnknownFields: &preserve}, &schema.Structural{Type: "string"}
	empty := &schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: &schema.Structural{Type: "object"}}}
	list := func(items *schema.Structural) *schema.Structural {
		return &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
			"apiVersion": text, "kind": text, "metadata": whatever, "items": items,
		}}
	}
	for _, p := range []struct {
		to   **schema.Program
		from *schema.Structural
	}{{&s.Anything, whatever}, {&s.List, list(whatever)}, {&s.EmptyList, list(empty)}} {
		var err error
		if *p.to, err = schema.Compile(p.from, schema.ResourceRoot(false)); err != nil {
			return nil, err
		}
	}
	var err error
	if s.Definition, err = schema.Compile(definition.Schema()); err != nil {
		return nil, err
	}
	if s.SchemaProps, err = schema.Compile(definition.Props(), schema.ResourceRoot(false)); err != nil {
		return nil, err
	}
	var errs []error
	for _, name := range crds {
		errs = append(errs, s.add("reading definitions", name, fromDefinitions)...)
	}
	for _, name := range openAPI {
		errs = append(errs, s.add("reading OpenAPI documents", name, fromOpenAPI)...)
	}
	s.groups, s.kinds = map[string]bool{}, map[string][]string{}
	s.entries = map[[2]string]schema.Entry{}
	for e := range s.Catalog.All() {
		s.entries[[2]string{e.APIVersion, e.Kind}] = e
		group := e.CRD.Group
		s.groups[group] = true
		if kinds := s.kinds[group]; len(kinds) == 0 || kinds[len(kinds)-1] != e.Kind { // they are sorted
			s.kinds[group] = append(kinds, e.Kind)
		}
	}
	return s, stderrors.Join(errs...)
}

// Entry returns the catalog's entry for a kind.
func (s *Loaded) Entry(apiVersion, kind string) (schema.Entry, bool) {
	e, ok := s.entries[[2]string{apiVersion, kind}]
	return e, ok
}

// A source is a flag that names schemas.
type source struct {
	flag, of string
	add      func(*schema.Catalog, string) error
}

var (
	fromDefinitions = source{"crd", "custom resource definitions", (*schema.Catalog).AddPath}
	fromOpenAPI     = source{"openapi", "kinds in OpenAPI documents", (*schema.Catalog).AddOpenAPIPath}
)

// AddDefinitions adds the definitions in a file or folder to a catalog. If there are none, the
// error is a *NothingFoundError.
func AddDefinitions(catalog *schema.Catalog, name string) error {
	crds, err := fromDefinitions.read(name, fromDefinitions.add)
	if err != nil {
		return err
	}
	return catalog.Add(crds...)
}

// read returns the definitions that add finds under a name. It counts them in a catalog of
// their own, because others may have the same.
func (s source) read(name string, add func(*schema.Catalog, string) error) ([]*schema.CRD, error) {
	found := schema.NewCatalog()
	if err := add(found, name); err != nil {
		return nil, err
	}
	crds := definitionsOf(found)
	if len(crds) == 0 {
		return nil, &NothingFoundError{s, name}
	}
	return crds, nil
}

// add adds the schemas that an argument of a flag names. It is an error if there are none: with
// a wrong path, every object would be accepted.
func (s *Loaded) add(doing, name string, from source) (errs []error) {
	crds, err := from.read(name, func(found *schema.Catalog, name string) error {
		return addEach(name, func(name string) error { return from.add(found, name) })
	})
	switch {
	case stderrors.As(err, new(*NothingFoundError)):
		return []error{err}
	case err != nil:
		for _, one := range sanitize.Unjoin(err) {
			errs = append(errs, fmt.Errorf("%s: %w", doing, one))
		}
		return errs
	}
	for _, err := range sanitize.Unjoin(s.Catalog.Add(crds...)) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", doing, err))
		}
	}
	return errs
}

// A NothingFoundError is for an argument of --crd or --openapi without any schema. It is a
// wrong argument, not a wrong input.
type NothingFoundError struct {
	source
	name string
}

// Error names the flag and its argument.
func (e *NothingFoundError) Error() string {
	text := fmt.Sprintf("--%s %s: there are no %s", e.flag, e.name, e.of)
	if info, err := os.Stat(e.name); err == nil && info.IsDir() {
		text += "; in folders, only files ending in .yaml, .yml or .json are read"
	}
	return text
}

// definitionsOf returns the definitions in a catalog, each once.
func definitionsOf(c *schema.Catalog) (crds []*schema.CRD) {
	seen := map[*schema.CRD]bool{}
	for e := range c.All() {
		if !seen[e.CRD] {
			seen[e.CRD] = true
			crds = append(crds, e.CRD)
		}
	}
	return crds
}

// copyCatalog returns a catalog with the same definitions and other options.
func copyCatalog(of *schema.Catalog, opts []schema.Option) (*schema.Catalog, error) {
	c := schema.NewCatalog(opts...)
	return c, c.Add(definitionsOf(of)...)
}

// addEach adds the file or folder with a name, or those that match the pattern.
func addEach(name string, add func(string) error) error {
	err := add(name)
	if err == nil || !input.IsPattern(name) {
		return err
	}
	matches, bad := filepath.Glob(name)
	if bad != nil {
		return err
	}
	if len(matches) == 0 {
		return fmt.Errorf("%s: no file matches the pattern", name)
	}
	var errs []error
	for _, match := range matches {
		errs = append(errs, add(match))
	}
	return stderrors.Join(errs...)
}
