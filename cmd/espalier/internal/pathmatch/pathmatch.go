// Package pathmatch matches paths of files with patterns, as .gitignore has them.
package pathmatch

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// maxPattern is the length of the longest pattern.
const maxPattern = 1000

// A Pattern is one for paths below a folder: *, ? and [a-z] match within a name, and ** matches any
// number of folders. A pattern without a slash, unless that is its last character, matches names at
// any depth. What is within a folder that matches, matches, too.
type Pattern struct {
	text    string // as it was given
	dir     string // absolute
	names   []string
	folders bool // it matches folders alone
	working string
}

// New returns the pattern for paths below dir.
func New(dir, text string) (*Pattern, error) {
	p := &Pattern{text: text}
	pattern, folders := strings.CutSuffix(filepath.ToSlash(text), "/")
	p.folders = folders
	p.names = strings.Split(strings.TrimPrefix(strings.TrimPrefix(pattern, "./"), "/"), "/")
	if !strings.Contains(pattern, "/") {
		p.names = []string{"**", pattern}
	}
	switch {
	case len(text) > maxPattern:
		return nil, fmt.Errorf("pattern %q...: is longer than %d bytes", text[:40], maxPattern)
	case slices.Contains(p.names, ""):
		return nil, fmt.Errorf("pattern %q: has an empty name: name a file or a folder", text)
	case strings.HasPrefix(text, "!"):
		return nil, fmt.Errorf("pattern %q: ! is not supported: name the files that are meant", text)
	case strings.Contains(text, "{"):
		return nil, fmt.Errorf("pattern %q: { is not supported: write a pattern for each alternative", text)
	case slices.Contains(p.names, ".."):
		return nil, fmt.Errorf("pattern %q: leads out of the folder that it is relative to", text)
	case slices.ContainsFunc(p.names, isMalformed):
		return nil, fmt.Errorf("pattern %q: is malformed: is a ] missing?", text)
	}
	var err error
	if p.working, err = os.Getwd(); err != nil {
		return nil, err
	}
	p.dir = p.absolute(dir)
	return p, nil
}

// String returns the pattern as it was given.
func (p *Pattern) String() string { return p.text }

func (p *Pattern) absolute(name string) string {
	if !filepath.IsAbs(name) {
		name = filepath.Join(p.working, name)
	}
	return filepath.Clean(name)
}

// Match reports whether a file matches, or a folder around it.
func (p *Pattern) Match(name string) bool {
	if name == "-" {
		return false // standard input
	}
	below, ok := relative(p.dir, p.absolute(name))
	return ok && p.matches(strings.Split(below, "/"))
}

// matches compares a path name by name, with all places of the pattern at which it may be. So it
// takes time in proportion to the product of their lengths at most.
func (p *Pattern) matches(path []string) bool {
	at := make([]bool, len(p.names)+1)
	at[0] = true
	for i, name := range path {
		next := make([]bool, len(at))
		for place, pattern := range p.names {
			switch {
			case at[place] && pattern == "**":
				next[place], at[place+1] = true, true
			case at[place] && matchesName(pattern, name):
				next[place+1] = true
			}
		}
		at = next
		if at[len(p.names)] && (i+1 < len(path) || !p.folders) {
			return true
		}
	}
	// A ** at the end needs no more names.
	last := len(p.names) - 1
	return at[last] && p.names[last] == "**" && !p.folders
}

func matchesName(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil
}

func isMalformed(pattern string) bool {
	_, err := path.Match(pattern, "")
	return err != nil
}

// relative returns the path to a file below a folder, with slashes.
func relative(dir, name string) (below string, ok bool) {
	below, err := filepath.Rel(dir, name)
	below = filepath.ToSlash(below)
	return below, err == nil && below != ".." && !strings.HasPrefix(below, "../")
}

// IsWithin reports whether everything that the pattern could match is in one of some folders, or is
// one of some files. A pattern that matches nothing is a mistake then, and not merely about other
// files.
func (p *Pattern) IsWithin(arguments []string) bool {
	base := p.dir
	for _, name := range p.names {
		if strings.ContainsAny(name, `*?[\`) {
			break
		}
		base = filepath.Join(base, name)
	}
	return slices.ContainsFunc(arguments, func(argument string) bool {
		_, ok := relative(p.absolute(argument), base)
		return ok && argument != "-"
	})
}
