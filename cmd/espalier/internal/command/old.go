package command

// This file reads the old state, which check compares objects with.

import (
	stderrors "errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/parallel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/pathmatch"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/revision"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/stored"
)

// An oldState is where the old state is.
type oldState struct {
	paths  []string // of --old
	rev    string   // of --old-rev
	hasRev bool     // --old-rev is given, and may be empty
}

// isGiven reports whether there is an old state.
func (s *oldState) isGiven() bool { return len(s.paths) > 0 || s.hasRev }

// An oldFile is a file of the old state.
type oldFile struct {
	name string // for messages, and to open it if it is on disk
	key  string
	at   *revision.File // or nil
}

// path returns the name that the file has, or would have, in the working folder.
func (f *oldFile) path() string {
	if f.at != nil {
		return f.at.Path
	}
	return f.name
}

// errOldInput is for an old state without a path.
var errOldInput = stderrors.New("--old-rev: standard input is in no revision: name the old files with --old")

// check returns an error about the flags.
func (s *oldState) check(arguments []string) error {
	switch {
	case slices.Contains(s.paths, ""):
		return stderrors.New("--old: the path is empty: name a file or a folder")
	case slices.Contains(s.paths, "-"):
		return stderrors.New("--old: standard input cannot be the old state: name a file or a folder")
	}
	if !s.hasRev {
		return nil
	}
	if _, err := revision.New(s.rev); err != nil {
		return fmt.Errorf("--old-rev %q: %w", s.rev, err)
	}
	if len(s.paths) == 0 && slices.Contains(arguments, "-") {
		return errOldInput
	}
	return nil
}

// keys returns what tells which file of the new state is which one of the old state. The revision of
// an argument has its names; another folder has the same names below it.
func (s *oldState) keys(arguments []string) func(name string) string {
	if len(s.paths) == 0 {
		return filepath.Clean
	}
	return func(name string) string { return input.Below(arguments, name) }
}

// files returns the files of the old state.
func (s *oldState) files(arguments []string, recursive bool) (files []oldFile, submodules []string, err error) {
	if !s.hasRev {
		names, errs := input.Expand(s.paths, recursive)
		key := s.keys(s.paths)
		for _, name := range names {
			files = append(files, oldFile{name: name, key: key(name)})
		}
		return files, nil, stderrors.Join(errs...)
	}
	rev, err := revision.New(s.rev)
	if err != nil {
		return nil, nil, err
	}
	paths := s.paths
	if len(paths) == 0 {
		paths = arguments
	}
	key := s.keys(paths)
	var errs []error
	seen := map[string]bool{}
	for _, path := range paths {
		found, err := rev.Find(path, recursive)
		if err == nil && len(found) == 0 && len(s.paths) > 0 {
			err = stderrors.New("the revision has no such files")
		}
		if err != nil {
			for _, one := range sanitize.Unjoin(err) {
				errs = append(errs, fmt.Errorf("%s: %w", path, one))
			}
		}
		for _, f := range found {
			if !seen[f.Path] {
				seen[f.Path] = true
				files = append(files, oldFile{name: f.Name, key: key(f.Path), at: &f})
			}
		}
	}
	return files, rev.Submodules, stderrors.Join(errs...)
}

// loadOld reads the old state. What cannot be read is reported; the other objects are compared.
func (c *checker) loadOld(set *examine.Settings) bool {
	if !c.old.isGiven() {
		return true
	}
	files, submodules, err := c.old.files(c.arguments, c.recursive)
	for _, name := range submodules {
		fmt.Fprintf(c.stderr, "warning: %s: is a submodule, whose files are not in the revision\n", sanitize.Name(name))
	}
	if err != nil {
		for _, one := range sanitize.Unjoin(err) {
			c.fail(fmt.Errorf("reading the old state: %w", one))
		}
		return false
	}
	catalog, err := set.With(c.compileOptions()...)
	if err != nil {
		c.fail(fmt.Errorf("reading the old state: %w", err))
		return false
	}
	files = slices.DeleteFunc(files, func(f oldFile) bool {
		return slices.ContainsFunc(c.exclude.All, func(p *pathmatch.Pattern) bool { return p.Match(f.path()) })
	})
	set.Old = &examine.Old{Key: c.old.keys(c.arguments), Catalog: catalog}
	if err := c.readOld(set.ForOld(), files, &set.Old.Objects); err != nil {
		c.fail(err)
		return false
	}
	return true
}

// An oldObject is an object of the old state, or an error.
type oldObject struct {
	finding.Identity
	*stored.Object
	err error
}

func (c *checker) readOld(set *examine.Settings, files []oldFile, to *stored.Objects) error {
	examiners := c.examiners(set)
	readers := make([]revision.Reader, len(examiners))
	defer func() {
		for i := range readers {
			readers[i].Close()
		}
	}()
	return parallel.InOrder(len(examiners), slices.Values(files), func(worker int, f oldFile, emit func(oldObject) bool) {
		e := examiners[worker]
		visit := func(o *examine.Object) bool {
			for i := range o.Findings {
				if one := &o.Findings[i]; one.Fatal && one.Rule != finding.RuleMissingSchema && one.Rule != finding.RuleMissingType {
					at := finding.Place{File: f.name, At: one.At}
					if !emit(oldObject{err: fmt.Errorf("reading the old state: %s: %s", at, one.Message)}) {
						return false
					}
				}
			}
			if !e.IsStored(o) {
				return true
			}
			s := &stored.Object{APIVersion: o.APIVersion, JSON: slices.Clone(o.Result), File: f.name, Key: f.key, At: o.Start}
			return emit(oldObject{Identity: o.Identity, Object: s})
		}
		if f.at == nil {
			e.Read(f.name, strings.NewReader(""), visit)
			return
		}
		err := readers[worker].Read(*f.at, func(content io.Reader) { e.Input(f.name, content, visit) })
		if err != nil {
			emit(oldObject{err: fmt.Errorf("reading the old state: %s: %w", sanitize.Name(f.name), err)})
		}
	}, func(_ oldFile, o oldObject) error {
		if o.Object == nil {
			c.fail(o.err)
			return nil
		}
		return to.Add(o.Identity, o.Object)
	})
}
