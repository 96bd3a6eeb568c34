package schemas

// This file reads the definitions of a state that is compared with another: files, a revision of
// git, or standard input.

import (
	stderrors "errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/revision"
	"github.com/espalier-dev/espalier/schema"
)

// A File is a text with definitions. Its name is that of messages.
type File struct {
	Name    string
	Content []byte
	CRDs    []*schema.CRD
}

func parseFile(name string, content []byte) (File, error) {
	crds, err := parseDefinitions(name, content)
	return File{name, content, crds}, err
}

// A State is the definitions of one state.
type State struct {
	Files []File // those that have definitions
	// LeftOut are the files in folders that have parts of definitions alone, which kustomize applies.
	LeftOut []string
}

// Definitions returns the definitions, in the order of the files.
func (s *State) Definitions() (all []*schema.CRD) {
	for _, f := range s.Files {
		all = append(all, f.CRDs...)
	}
	return all
}

// ReadState reads the definitions to which a name leads: a file, a folder, a pattern, - for standard
// input, or REVISION:PATH for a file or a folder in a revision of git. A file that exists comes
// before a revision. The error joins one for each file that cannot be read. It is an error if there
// are no definitions, or if those of one name differ.
func ReadState(name string, stdin io.Reader) (*State, error) {
	if name == "-" {
		s := new(State)
		return s, s.read(input.DisplayName(name), func(visit func(File)) error {
			return readFile(input.DisplayName(name), stdin, visit)
		})
	}
	rev, path, isRev := strings.Cut(name, ":")
	if _, err := os.Lstat(name); err != nil && isRev && filepath.VolumeName(name) == "" {
		return stateAt(rev, path)
	}
	s := new(State)
	return s, s.read(name, func(visit func(File)) error {
		return eachFile(name, func(f File) {
			if f.Name != name && isPatch(f.Name) {
				s.leaveOutPatches(&f)
			}
			visit(f)
		})
	})
}

func (s *State) leaveOutPatches(f *File) {
	if f.leaveOutPatches() {
		s.LeftOut = append(s.LeftOut, f.Name)
	}
}

// stateAt reads the definitions to which a path leads in a revision of git. Kustomizations are not read
// there: each part of a definition in a folder is taken for a patch.
func stateAt(rev, path string) (*State, error) {
	r, err := revision.New(rev)
	if err != nil {
		return nil, fmt.Errorf("%q: %w", rev, err)
	}
	s := new(State)
	return s, s.read(rev+":"+path, func(visit func(File)) error {
		files, err := r.Find(path, true)
		errs := []error{err}
		var from revision.Reader
		defer from.Close()
		for _, f := range files {
			isNamed := f.Path == filepath.Clean(path)
			if !isNamed && !isDefinitionFile(f.Path) {
				continue
			}
			err := from.Read(f, func(in io.Reader) {
				errs = append(errs, readFile(f.Name, in, func(f File) {
					if !isNamed {
						s.leaveOutPatches(&f)
					}
					visit(f)
				}))
			})
			if err != nil {
				errs = append(errs, fmt.Errorf("%s: %w", f.Name, err))
			}
		}
		return stderrors.Join(errs...)
	})
}

// readFile visits a text with its definitions.
func readFile(name string, in io.Reader, visit func(File)) error {
	content, err := io.ReadAll(io.LimitReader(in, schema.MaxFileBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case len(content) > schema.MaxFileBytes:
		return fmt.Errorf("%s: is longer than the limit of %d bytes", name, schema.MaxFileBytes)
	}
	f, err := parseFile(name, content)
	if err == nil {
		visit(f)
	}
	return err
}

// read adds the definitions in the files that are visited. The name is that of all of them.
func (s *State) read(name string, each func(visit func(File)) error) error {
	err := each(func(f File) {
		if len(f.CRDs) > 0 {
			s.Files = append(s.Files, f)
		}
	})
	const doing = "reading definitions"
	switch {
	case err != nil:
		return stderrors.Join(prefixed(doing, err)...)
	case len(s.Files) == 0:
		return &NothingFoundError{source{of: fromDefinitions.of}, name}
	}
	if err := schema.NewCatalog().Add(s.Definitions()...); err != nil {
		return stderrors.Join(prefixed(doing, err)...)
	}
	return nil
}
