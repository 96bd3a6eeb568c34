// Package layout says which files of a repository do not hold whole objects, judging by
// the files around them: by charts, kustomizations and tests. It reads those and no
// other file, wherever they say that one is.
package layout

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
)

// A Role is what a file is for.
type Role uint8

const (
	// Object is the role of a file with whole objects, as far as is known.
	Object Role = iota
	// Template is the role of a file in the templates of a chart. If it has no actions, it is
	// what it renders to.
	Template
	// Settings is the role of a file that configures Helm or kustomize, and has no objects.
	Settings
	// Patch is the role of a file with parts of objects, or with operations, that kustomize
	// applies.
	Patch
	// Assertion is the role of a file with parts of objects that a test compares with.
	Assertion
	// Step is the role of a file with objects of a test, whose values may be expressions.
	Step
)

// A Layout knows the roles of files.
type Layout struct {
	roles  map[string]Role // by the paths without links, dots and a working folder
	charts map[string]bool // the folders
	// kustomized are the folders with a kustomization.
	kustomized map[string]bool
	// folders has the paths of the files' folders by their names, since to ask for the working folder
	// takes two calls of the system.
	folders map[string]string
}

// Of returns the layout of the files with some names. It looks into their folders, and into the
// folders above them, up to the working folder or to the root of the repository, which has .git.
func Of(names []string) *Layout {
	l := &Layout{
		roles: map[string]Role{}, charts: map[string]bool{}, kustomized: map[string]bool{},
		folders: map[string]string{},
	}
	working, _ := os.Getwd()
	seen := map[string]bool{}
	look := func(dir string) {
		if !seen[dir] {
			seen[dir] = true
			l.look(dir)
		}
	}
	above := map[string]bool{} // folders whose parents were looked into
	for _, name := range names {
		folder, _ := filepath.Split(name)
		if _, ok := l.folders[folder]; !ok {
			if dir, err := filepath.Abs(folder); err == nil {
				l.folders[folder] = dir
			}
		}
		path, ok := l.absolute(name)
		if !ok {
			continue
		}
		dir := filepath.Dir(path)
		look(dir)
		var parents []string
		for at := dir; !above[at]; at = filepath.Dir(at) {
			above[at] = true
			parents = append(parents, at)
			if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil || at == working {
				for _, parent := range parents {
					look(parent)
				}
				break
			}
			if at == filepath.Dir(at) {
				break // The folders above belong to nobody in particular.
			}
		}
	}
	return l
}

// absolute returns a path that does not depend on the working folder. Standard input has none.
func (l *Layout) absolute(name string) (path string, ok bool) {
	if name == "-" {
		return "", false
	}
	folder, file := filepath.Split(name)
	if dir, known := l.folders[folder]; known {
		return filepath.Join(dir, file), true
	}
	path, err := filepath.Abs(name)
	return path, err == nil
}

// look remembers what the files of a folder say.
func (l *Layout) look(dir string) {
	is := func(name string) bool {
		info, err := os.Stat(filepath.Join(dir, name))
		return err == nil && info.Mode().IsRegular()
	}
	if is("Chart.yaml") || is(filepath.Join("templates", "_helpers.tpl")) {
		l.charts[dir] = true
	}
	for _, name := range kustomizations {
		if is(name) {
			l.kustomized[dir] = true
			l.readKustomization(dir, name)
		}
	}
	for _, name := range []string{"chainsaw-test.yaml", "chainsaw-test.yml"} {
		if is(name) {
			l.readChainsaw(dir, name)
		}
	}
}

// Role returns the role of a file, and for that of a chart the folder of the chart.
func (l *Layout) Role(name string) (role Role, chart string) {
	path, ok := l.absolute(name)
	if !ok {
		return Object, ""
	}
	for dir := filepath.Dir(path); ; dir = filepath.Dir(dir) {
		if l.charts[dir] {
			below, _ := filepath.Rel(dir, path)
			if role := inChart(filepath.ToSlash(below)); role != Object {
				return role, dir
			}
			break
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	if role, ok := l.roles[path]; ok {
		return role, ""
	}
	if l.kustomized[filepath.Dir(path)] && patch.MatchString(filepath.Base(path)) {
		return Patch, ""
	}
	if expectation.MatchString(filepath.Base(path)) {
		return Assertion, ""
	}
	return Object, ""
}

// inChart returns the role of a file of a chart by its path from the chart's folder (helm.sh,
// Charts: The Chart File Structure). The folder ci has values for the tests of chart-testing.
func inChart(path string) Role {
	folder, name, isBelow := strings.Cut(path, "/")
	switch {
	case folder == "templates" && isBelow:
		return Template
	case folder == "ci" && isBelow && !strings.Contains(name, "/"):
		return Settings
	case isBelow:
		return Object
	case path == "Chart.yaml", path == "requirements.yaml", strings.HasSuffix(path, "values.yaml"),
		strings.HasPrefix(path, "values") && input.IsManifest(path):
		return Settings
	}
	return Object
}

// expectation matches the names by which kuttl recognises the files that a step compares with, and
// chainsaw in folders without a chainsaw-test.yaml.
var expectation = regexp.MustCompile(`^[0-9]+-(assert([-._].*)?|errors([-._].*)?|error)\.ya?ml$`)

// patch matches the names that kubebuilder gives to patches. Those that a kustomization does not name
// wait for being put into it.
var patch = regexp.MustCompile(`[-_.]patch\.ya?ml$`)

// set gives a role to the file that a path in a folder leads to. Whole objects that are also used
// as something else stay whole.
func (l *Layout) set(dir, path string, role Role) {
	if path == "" || strings.ContainsAny(path, "\r\n") || strings.Contains(path, "://") || filepath.IsAbs(path) {
		return // text or an address in place of a path
	}
	key := filepath.Join(dir, filepath.FromSlash(path))
	if known, ok := l.roles[key]; !ok || known != Object {
		l.roles[key] = role
	}
}
