package main

import (
	stderrors "errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/schema"
)

// schemas are what objects are decoded against. They are shared by all workers.
type schemas struct {
	catalog *schema.Catalog
	// given says that there are any: those that --crd and --openapi name.
	given    bool
	anything *schema.Program // what objects without a schema are decoded with
	envelope *schema.Program // what is around the items of a List
	frame    *schema.Program // that, with items in which nothing is left
	// untyped has the same schemas as catalog, without a look at types: what is within a
	// value of a wrong type is looked at, too.
	untyped func() (*schema.Catalog, error)
}

// loadSchemas reads definitions and OpenAPI documents: files, folders and patterns.
// The error has a line for each that cannot be read.
func loadSchemas(crds, openAPI []string, opts ...schema.Option) (*schemas, error) {
	s := &schemas{catalog: schema.NewCatalog(opts...), given: len(crds)+len(openAPI) > 0}
	s.untyped = sync.OnceValues(func() (*schema.Catalog, error) {
		return copyCatalog(s.catalog, append(slices.Clip(opts), schema.CheckTypes(false)))
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
	}{{&s.anything, whatever}, {&s.envelope, list(whatever)}, {&s.frame, list(empty)}} {
		var err error
		if *p.to, err = schema.Compile(p.from, schema.ResourceRoot(false)); err != nil {
			return nil, err
		}
	}
	var errs []error
	for _, name := range crds {
		for _, err := range unjoined(addEach(name, s.catalog.AddPath)) {
			if err != nil {
				errs = append(errs, fmt.Errorf("reading definitions: %w", err))
			}
		}
	}
	for _, name := range openAPI {
		for _, err := range unjoined(addEach(name, s.catalog.AddOpenAPIPath)) {
			if err != nil {
				errs = append(errs, fmt.Errorf("reading OpenAPI documents: %w", err))
			}
		}
	}
	return s, stderrors.Join(errs...)
}

// copyCatalog returns a catalog with the same definitions, compiled in another way.
func copyCatalog(of *schema.Catalog, opts []schema.Option) (*schema.Catalog, error) {
	c := schema.NewCatalog(opts...)
	seen := map[*schema.CRD]bool{}
	for e := range of.All() {
		if seen[e.CRD] {
			continue
		}
		seen[e.CRD] = true
		if err := c.Add(e.CRD); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// addEach adds what a name or a pattern stands for.
func addEach(name string, add func(string) error) error {
	err := add(name)
	if err == nil || !isPattern(name) {
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
