package schemas

// This file reads definitions: those that flags name, and those among the inputs.

import (
	stderrors "errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/layout"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/parallel"
	"github.com/espalier-dev/espalier/internal/bounded"
	"github.com/espalier-dev/espalier/schema"
)

// readDefinitions returns the definitions in a file, in a folder or in what matches a pattern. The
// error joins one for each file that cannot be read.
func readDefinitions(name string) (all []*schema.CRD, err error) {
	err = eachFile(name, func(f File) { all = append(all, f.CRDs...) })
	return all, err
}

// readWhole is readDefinitions without what patches in a folder say of definitions. It notes their
// files.
func (s *Loaded) readWhole(name string) (all []*schema.CRD, err error) {
	err = eachFile(name, func(f File) {
		if f.Name != name && isPatch(f.Name) && f.leaveOutPatches() {
			s.LeftOut = append(s.LeftOut, f.Name)
		}
		all = append(all, f.CRDs...)
	})
	return all, err
}

// leaveOutPatches leaves out what patches say of definitions, and reports whether there was any.
func (f *File) leaveOutPatches() bool {
	n := len(f.CRDs)
	f.CRDs = slices.DeleteFunc(f.CRDs, isNoDefinition)
	return len(f.CRDs) < n
}

// isNoDefinition reports whether a definition does not even say of which kind it is. A server
// refuses it.
func isNoDefinition(crd *schema.CRD) bool {
	return crd.Group == "" && crd.Kind == "" && crd.Plural == ""
}

// isPatch reports whether kustomize applies a file to objects that are elsewhere.
func isPatch(file string) bool {
	role, _ := layout.Of([]string{file}).Role(file)
	return role == layout.Patch
}

// eachFile visits the files to which an argument leads, with their definitions. In a folder,
// templates are passed over if they are no definitions without the lines that have nothing but
// actions.
func eachFile(name string, visit func(File)) error {
	names, errs := input.Expand([]string{name}, true)
	for _, file := range names {
		isNamed := file == name
		if !isNamed && !isDefinitionFile(file) {
			continue
		}
		content, err := bounded.ReadFile(file, schema.MaxFileBytes)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		f, err := parseFile(file, content)
		if err != nil && (isNamed || !input.HasActions(content)) {
			errs = append(errs, err)
		}
		visit(f)
	}
	return stderrors.Join(errs...)
}

// readStream returns the definitions in a stream, and keeps its text for positions in it.
func (s *Loaded) readStream(name string, in io.Reader) ([]*schema.CRD, error) {
	content, err := io.ReadAll(io.LimitReader(in, schema.MaxFileBytes+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", name, err)
	case len(content) > schema.MaxFileBytes:
		return nil, fmt.Errorf("%s: is longer than the limit of %d bytes", name, schema.MaxFileBytes)
	case input.IsBlank(content):
		return nil, fmt.Errorf("%s: %w", name, input.ErrEmptyInput)
	}
	s.Files.Streams = map[string][]byte{name: content}
	return parseDefinitions(name, content)
}

// addCluster adds the definitions of a cluster, but those of kinds that files define.
func (s *Loaded) addCluster(all []*schema.CRD) error {
	given := s.definedKinds()
	return s.Catalog.Add(slices.DeleteFunc(slices.Clone(all), func(crd *schema.CRD) bool { return given[kindOf(crd)] })...)
}

// isDefinitionFile reports whether definitions are looked for in a file of a folder.
func isDefinitionFile(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc([]string{".yaml", ".yml", ".json"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// parseDefinitions returns the definitions in the content of a file. Charts wrap definitions into
// conditions, whose lines are blank here; positions stay the same.
func parseDefinitions(name string, content []byte) ([]*schema.CRD, error) {
	crds, err := schema.ParseCRD(content)
	if err != nil {
		if plain, ok := input.WithoutActionLines(content); ok {
			if some, failed := schema.ParseCRD(plain); failed == nil {
				crds, err = some, nil
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for _, crd := range crds {
		crd.File = name
	}
	return crds, nil
}

// AddInputs adds the definitions in those inputs that hold whole objects, so that the resources of
// a repository are checked by its own definitions. Kinds of --crd stay as they are. A file that
// cannot be read is no error here, and nor is a definition that is refused: the check of the file
// itself reports it. workers is how many files are read at the same time.
func (s *Loaded) AddInputs(names []string, workers int, isWhole func(name string) bool) error {
	whole := func(yield func(string) bool) {
		for _, name := range names {
			if name != "-" && isDefinitionFile(name) && isWhole(name) && !yield(name) {
				return
			}
		}
	}
	var all []*schema.CRD
	err := parallel.InOrder(workers, whole, func(_ int, name string, emit func([]*schema.CRD) bool) {
		if crds := definitionsAmong(name); len(crds) > 0 {
			emit(crds)
		}
	}, func(_ string, crds []*schema.CRD) error {
		all = append(all, crds...)
		return nil
	})
	if err != nil {
		return err
	}
	given := s.definedKinds()
	for b := range s.Release.Kinds() {
		given[groupKind{b.Group(), b.Kind}] = true // which the server serves itself
	}
	all = slices.DeleteFunc(all, func(crd *schema.CRD) bool {
		return given[kindOf(crd)] || !isComplete(crd) || s.refuses(crd)
	})
	if len(all) == 0 {
		return nil
	}
	s.Given = true
	known := s.kinds
	if err := s.settle(all); err != nil {
		return err
	}
	s.index(s.Release)
	s.inputGroups = map[string]bool{}
	for group := range s.kinds {
		s.inputGroups[group] = known[group] == nil
	}
	return nil
}

// definitionsAmong returns the definitions in a file, which most files have none of, or none if it
// cannot be read.
func definitionsAmong(name string) []*schema.CRD {
	if mentions, err := bounded.Contains(name, "CustomResourceDefinition"); err != nil || !mentions {
		return nil
	}
	content, err := bounded.ReadFile(name, schema.MaxFileBytes)
	if err != nil {
		return nil
	}
	crds, err := parseDefinitions(name, content)
	if err != nil {
		return nil
	}
	return crds
}

// refuses reports whether a definition has no meaning, because one of its versions has two schemas.
// The check of its file says so, and its objects have no schema.
func (s *Loaded) refuses(crd *schema.CRD) bool {
	if schema.NewCatalog().Add(crd) == nil {
		return false
	}
	if _, ok := s.refused[kindOf(crd)]; !ok {
		s.refused[kindOf(crd)], s.Given = crd.File, true
	}
	return true
}

// isComplete reports whether a definition among the inputs says enough to judge objects by it. The
// expectations of tests leave out schemas.
func isComplete(crd *schema.CRD) bool {
	return crd.Group != "" && crd.Kind != "" && len(crd.Versions) > 0 &&
		!slices.ContainsFunc(crd.Versions, func(v schema.Version) bool {
			return v.Name == "" || v.Schema == nil && !crd.PreserveUnknownFields
		})
}

// definedKinds returns the kinds that have a definition.
func (s *Loaded) definedKinds() map[groupKind]bool {
	kinds := map[groupKind]bool{}
	for e := range s.Catalog.All() {
		if !e.CRD.OpenAPI {
			kinds[kindOf(e.CRD)] = true
		}
	}
	return kinds
}
