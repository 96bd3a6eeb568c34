// Package schemas loads the definitions and OpenAPI documents that flags name, and
// compiles what objects are decoded with. All workers share the result.
package schemas

import (
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/builtin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/origin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/schema"
)

// Loaded is the set of schemas that objects are decoded by. All workers share it.
type Loaded struct {
	*Kinds
	// Catalog has what --crd and --openapi name, and nothing else.
	Catalog *schema.Catalog
	// Given means that --crd, --openapi or --context was used.
	Given     bool
	Anything  *schema.Program // for objects without a schema
	List      *schema.Program // for a List, whose items are not looked at
	EmptyList *schema.Program // for a List, whose items become empty
	// Definition is for definitions of apiextensions.k8s.io/v1, and SchemaProps for documents
	// that are a schema.
	Definition, SchemaProps *schema.Program
	// kinds are the kinds of the groups with schemas, built-in ones among them.
	kinds map[string][]string
	// groupsOf are the groups that have a kind, and folded those whose names are the same in lower
	// case. They are sorted.
	groupsOf, folded map[string][]string
	Files            origin.Files // with the definitions
	// LeftOut are the files in folders that have parts of definitions alone, which kustomize applies.
	LeftOut []string
	// Untyped has the same kinds without type checks, so that values of wrong types are examined
	// inside.
	Untyped func() (*Kinds, error)
	// The options for programs of files, and for those of built-in kinds.
	ofFiles, ofBuiltIn []schema.Option
	// rivals are the definitions of kinds that differ, by apiVersion and kind.
	rivals map[[2]string]*Rivals
	// Differing are their kinds, and places is where the first ones are.
	Differing []*DifferingKind
	places    map[string]bool
	// refused are the kinds of definitions among the inputs that have no meaning, with their files.
	refused map[groupKind]string
	// inputGroups are the groups of which only definitions among the inputs are known.
	inputGroups map[string]bool
}

// Sources say where schemas come from.
type Sources struct {
	Definitions, OpenAPI []string         // files, folders and patterns; - in Definitions is Stdin
	Stdin                io.Reader        // or nil
	Cluster              []*schema.CRD    // the definitions of a cluster; those of files take precedence
	BuiltIn              *builtin.Release // or nil
	// Values is the option for programs that validate values, or nil. Built-in kinds have no rules.
	Values schema.Option
	// MayDiffer makes rivals of definitions of a kind that differ. Otherwise they are an error, as a
	// command that changes objects must not guess.
	MayDiffer bool
}

// Load reads definitions and OpenAPI documents. Its error joins one error for each of the files that
// cannot be read.
func Load(from Sources, opts ...schema.Option) (*Loaded, error) {
	ofFiles := slices.Clip(opts)
	if from.Values != nil {
		ofFiles = append(ofFiles, from.Values)
	}
	s := &Loaded{
		Catalog: schema.NewCatalog(ofFiles...), Given: len(from.Definitions)+len(from.OpenAPI)+len(from.Cluster) > 0,
		ofFiles: ofFiles, ofBuiltIn: slices.Clip(opts), rivals: map[[2]string]*Rivals{}, places: map[string]bool{}, refused: map[groupKind]string{},
	}
	s.Untyped = sync.OnceValues(func() (*Kinds, error) {
		return s.copy(untyped(s.ofFiles), untyped(s.ofBuiltIn))
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
	var all []*schema.CRD
	for _, name := range from.Definitions {
		source := fromDefinitions
		source.read = s.readWhole
		if name == "-" {
			source.read = func(string) ([]*schema.CRD, error) { return s.readStream(input.DisplayName(name), from.Stdin) }
		}
		found, some := source.find("reading definitions", name)
		all, errs = append(all, found...), append(errs, some...)
	}
	if len(errs) == 0 {
		add := func(crds []*schema.CRD) error { return s.Catalog.Add(crds...) }
		if from.MayDiffer {
			add = s.settle
		}
		errs = append(errs, prefixed("reading definitions", add(all))...)
	}
	for _, name := range from.OpenAPI {
		found, some := fromOpenAPI.find("reading OpenAPI documents", name)
		errs = append(errs, some...)
		errs = append(errs, prefixed("reading OpenAPI documents", s.Catalog.Add(found...))...)
	}
	errs = append(errs, prefixed("reading definitions", s.addCluster(from.Cluster))...)
	s.index(from.BuiltIn)
	return s, stderrors.Join(errs...)
}

// index makes what is looked up by kind from the catalog.
func (s *Loaded) index(release *builtin.Release) {
	s.Kinds = newKinds(s.Catalog, release, s.ofBuiltIn)
	s.kinds = s.Kinds.byGroup()
	s.indexGroups()
}

// With returns the same kinds, compiled with other options.
func (s *Loaded) With(opts ...schema.Option) (*Kinds, error) { return s.copy(opts, opts) }

// copy returns the same kinds, compiled with options for those of files and for built-in ones.
func (s *Loaded) copy(ofFiles, ofBuiltIn []schema.Option) (*Kinds, error) {
	c := schema.NewCatalog(ofFiles...)
	err := c.Add(definitionsOf(s.Catalog)...)
	return newKinds(c, s.Release, ofBuiltIn), err
}

// A source is a flag that names schemas.
type source struct {
	flag, of string
	read     func(name string) ([]*schema.CRD, error)
}

var (
	fromDefinitions = source{"crd", "custom resource definitions", readDefinitions}
	fromOpenAPI     = source{"openapi", "kinds in OpenAPI documents", readOpenAPI}
)

// AddDefinitions adds the definitions in a file or folder to a catalog. If there are none, the
// error is a *NothingFoundError.
func AddDefinitions(catalog *schema.Catalog, name string) error {
	crds, err := fromDefinitions.read(name)
	switch {
	case err != nil:
		return err
	case len(crds) == 0:
		return &NothingFoundError{fromDefinitions, name}
	}
	return catalog.Add(crds...)
}

// OldDefinitions returns the definitions in the files and folders that --old names, by their names.
func OldDefinitions(names []string) (map[string]*schema.CRD, error) {
	if len(names) == 0 {
		return nil, nil
	}
	const doing = "reading old definitions"
	catalog := schema.NewCatalog()
	var errs []error
	for _, name := range names {
		crds, some := source{"old", fromDefinitions.of, fromDefinitions.read}.find(doing, name)
		errs = append(errs, some...)
		errs = append(errs, prefixed(doing, catalog.Add(crds...))...)
	}
	all := map[string]*schema.CRD{}
	for _, crd := range definitionsOf(catalog) {
		all[crd.Name] = crd
	}
	return all, stderrors.Join(errs...)
}

// find returns the schemas that an argument of a flag names. It is an error if there are none: with
// a wrong path, every object would be accepted.
func (s source) find(doing, name string) ([]*schema.CRD, []error) {
	crds, err := s.read(name)
	switch {
	case err != nil:
		return nil, prefixed(doing, err)
	case len(crds) == 0:
		return nil, []error{&NothingFoundError{s, name}}
	}
	return crds, nil
}

// prefixed returns the errors that one joins, which say what was done.
func prefixed(doing string, err error) (errs []error) {
	if err == nil {
		return nil
	}
	for _, one := range sanitize.Unjoin(err) {
		errs = append(errs, fmt.Errorf("%s: %w", doing, one))
	}
	return errs
}

// readOpenAPI returns the kinds of the OpenAPI documents in a file, in a folder or in what matches
// a pattern.
func readOpenAPI(name string) ([]*schema.CRD, error) {
	found := schema.NewCatalog()
	err := addEach(name, found.AddOpenAPIPath)
	return definitionsOf(found), err
}

// A NothingFoundError is for an argument without any schema, of --crd or --openapi for example. It
// is a wrong argument, not a wrong input.
type NothingFoundError struct {
	source
	name string
}

// Error names the flag, if there is one, and its argument.
func (e *NothingFoundError) Error() string {
	text := fmt.Sprintf("%s: there are no %s", e.name, e.of)
	if e.flag != "" {
		text = fmt.Sprintf("--%s %s", e.flag, text)
	}
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

// addEach adds the file or folder with a name, or those that match the pattern.
func addEach(name string, add func(string) error) error {
	err := add(name)
	if err == nil || !input.IsPattern(name) {
		return err
	}
	matches, bad := input.Glob(name)
	if bad != nil {
		return bad
	}
	var errs []error
	for _, match := range matches {
		errs = append(errs, add(match))
	}
	return stderrors.Join(errs...)
}
