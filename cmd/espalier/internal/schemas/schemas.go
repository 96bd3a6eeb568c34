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
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/schema"
)

// Entry returns what the catalog has for a kind.
func (s *Loaded) Entry(apiVersion, kind string) (schema.Entry, bool) {
	e, ok := s.entries[[2]string{apiVersion, kind}]
	return e, ok
}

// Loaded are what objects are decoded against. They are shared by all workers.
type Loaded struct {
	Catalog *schema.Catalog
	// Given says that there are any: those that --crd and --openapi name.
	Given     bool
	Anything  *schema.Program // what objects without a schema are decoded with
	List      *schema.Program // what is around the items of a List
	EmptyList *schema.Program // that, with items in which nothing is left
	// Definition is what definitions of v1 are decoded with, and props what a schema that
	// stands alone is.
	Definition, SchemaProps *schema.Program
	// groups are those that have a schema, and kinds are theirs.
	groups  map[string]bool
	kinds   map[string][]string
	entries map[[2]string]schema.Entry // by apiVersion and kind
	// Untyped has the same schemas as catalog, without a look at types: what is within a
	// value of a wrong type is looked at, too.
	Untyped func() (*schema.Catalog, error)
}

// Load reads definitions and OpenAPI documents: files, folders and patterns.
// The error has a line for each that cannot be read.
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

// A source is a flag that says where schemas are.
type source struct {
	flag, of string
	add      func(*schema.Catalog, string) error
}

var (
	fromDefinitions = source{"crd", "custom resource definitions", (*schema.Catalog).AddPath}
	fromOpenAPI     = source{"openapi", "kinds in OpenAPI documents", (*schema.Catalog).AddOpenAPIPath}
)

// AddDefinitions adds the definitions of a file or folder to a catalog. None at all is a
// *nothingFoundError.
func AddDefinitions(catalog *schema.Catalog, name string) error {
	crds, err := fromDefinitions.read(name, fromDefinitions.add)
	if err != nil {
		return err
	}
	return catalog.Add(crds...)
}

// read returns what add finds under a name. In a catalog of its own that can be counted,
// even if others have the same.
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

// add adds what an argument of a flag stands for, or says why it cannot be read, or that
// there is nothing: with a wrong path everything would pass.
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

// A NothingFoundError is for an argument of --crd or --openapi that leads to no schema. It
// is an error of use.
type NothingFoundError struct {
	source
	name string
}

func (e *NothingFoundError) Error() string {
	text := fmt.Sprintf("--%s %s: there are no %s", e.flag, e.name, e.of)
	if info, err := os.Stat(e.name); err == nil && info.IsDir() {
		text += "; in folders, only files ending in .yaml, .yml or .json are read"
	}
	return text
}

// definitionsOf returns the definitions that a catalog has entries of, each once.
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

// copyCatalog returns a catalog with the same definitions, compiled in another way.
func copyCatalog(of *schema.Catalog, opts []schema.Option) (*schema.Catalog, error) {
	c := schema.NewCatalog(opts...)
	return c, c.Add(definitionsOf(of)...)
}

// addEach adds what a name or a pattern stands for.
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
