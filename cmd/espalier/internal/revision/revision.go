// Package revision finds and reads files as they are in a revision of a git
// repository. It has the rules of package input for files on disk: which files of
// a folder are read, and where links may lead.
package revision

import (
	stderrors "errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
)

// A File is a file in a revision.
type File struct {
	// Path is the name that the file has, or would have, in the working folder.
	Path string
	// Name is the name of the file as git has it: main:manifests/a.yaml.
	Name   string
	from   *folder
	object string // its name for git
}

// A Revision is the state of files at a commit. Each argument may be in another repository.
type Revision struct {
	name    string             // of the commit, as the user gives it
	folders map[string]*folder // by their names
	commits map[string]string  // by the top folders of repositories
	// Submodules are the folders that are repositories of their own. Their files are not in the
	// revision.
	Submodules []string
}

// A folder is one of the working folder in which a path starts, with all files below it at the
// commit.
type folder struct {
	top, prefix, commit string // prefix leads from top to the folder, and ends with a slash or is empty
	entries             []entry
}

// An entry is a file, a link or a submodule.
type entry struct{ mode, object, path string }

// The modes of entries that are no regular files.
const (
	modeLink      = "120000"
	modeSubmodule = "160000"
)

// ErrName is the error for the name of a revision that git would take for something else.
var ErrName = stderrors.New("names no revision")

// New returns the revision with a name that git resolves: a branch, a tag, HEAD~1.
func New(name string) (*Revision, error) {
	if name == "" || strings.HasPrefix(name, "-") || strings.ContainsAny(name, "\x00\n") {
		return nil, ErrName
	}
	return &Revision{name: name, folders: map[string]*folder{}, commits: map[string]string{}}, nil
}

// Find returns the files at the revision to which an argument leads: a file, the files in a folder,
// or those that match a pattern. There are none if the revision does not have the argument.
func (r *Revision) Find(argument string, recursive bool) (files []File, err error) {
	start, pattern, err := split(argument)
	if err != nil {
		return nil, err
	}
	at, rest, err := existing(start)
	if err != nil {
		return nil, err
	}
	f, err := r.folder(at)
	if err != nil {
		return nil, err
	}
	root := f.prefix + filepath.ToSlash(rest) // without a slash at its end
	if rest == "" {
		root = strings.TrimSuffix(f.prefix, "/")
	}
	var errs []error
	for _, e := range f.entries {
		below, ok := cutFolder(e.path, root)
		if !ok {
			continue
		}
		if pattern != "" {
			if below, ok = matchStart(pattern, below); !ok {
				continue
			}
		}
		if below != "" && !isRead(below, recursive) {
			continue
		}
		fromStart := strings.TrimPrefix(strings.TrimPrefix(e.path, root), "/")
		file := File{
			Path: filepath.Join(start, filepath.FromSlash(fromStart)),
			Name: r.name + ":" + e.path, from: f, object: e.object,
		}
		switch {
		case e.mode == modeSubmodule:
			r.Submodules = append(r.Submodules, file.Name)
			continue
		case below != "" && !input.IsManifest(e.path):
			continue
		case e.mode != modeLink:
		case strings.Contains(e.path, "\n"):
			errs = append(errs, fmt.Errorf("%s: is a link, and its name has a line feed", file.Name))
			continue
		default:
			file.object = f.commit + ":" + e.path // git follows the link within the commit
		}
		files = append(files, file)
	}
	return files, stderrors.Join(errs...)
}

// split divides a pattern into the folder in which it starts, and the pattern below that, with
// slashes. The pattern is empty for the path of a file or folder, whatever characters that has.
func split(argument string) (start, pattern string, err error) {
	if _, err := os.Lstat(argument); err == nil || !input.IsPattern(argument) {
		return argument, "", nil
	}
	for start = argument; input.IsPattern(start); {
		start = filepath.Dir(start)
	}
	pattern, err = filepath.Rel(start, argument)
	return start, filepath.ToSlash(pattern), err
}

// existing returns the folder in which a path starts, as far as there are folders, and the rest of
// the path.
func existing(name string) (dir, rest string, err error) {
	if dir, err = filepath.Abs(name); err != nil {
		return "", "", err
	}
	for {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			return dir, rest, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", "", fmt.Errorf("%s: there is no such folder", dir)
		}
		dir, rest = parent, filepath.Join(filepath.Base(dir), rest)
	}
}

// cutFolder returns the path from a folder to a file, which is empty if both are the same.
func cutFolder(file, folder string) (below string, ok bool) {
	if folder == "" || file == folder {
		return strings.TrimPrefix(file, folder), true
	}
	if below, ok = strings.CutPrefix(file, folder); ok {
		return strings.CutPrefix(below, "/")
	}
	return "", false
}

// matchStart returns the path from the file or folder that matches a pattern to a file.
func matchStart(pattern, file string) (below string, ok bool) {
	if strings.Contains(pattern, "**") {
		return "", input.MatchBelow(pattern, file)
	}
	names := strings.Split(file, "/")
	n := strings.Count(pattern, "/") + 1
	if len(names) < n {
		return "", false
	}
	ok, err := path.Match(pattern, strings.Join(names[:n], "/"))
	return strings.Join(names[n:], "/"), ok && err == nil
}

// isRead reports whether the folders and the name that lead to a file are those that are read.
func isRead(below string, recursive bool) bool {
	return !strings.HasPrefix(below, ".") && !strings.Contains(below, "/.") &&
		(recursive || !strings.Contains(below, "/"))
}

// folder returns a folder with its files.
func (r *Revision) folder(dir string) (*folder, error) {
	if f := r.folders[dir]; f != nil {
		return f, nil
	}
	top, err := line(output(dir, "rev-parse", "--show-toplevel"))
	if err != nil {
		return nil, err
	}
	f := &folder{top: top}
	if f.prefix, err = line(output(dir, "rev-parse", "--show-prefix")); err != nil {
		return nil, err
	}
	if f.commit, err = r.commit(top); err != nil {
		return nil, err
	}
	// Without a path, all files are listed.
	list := []string{"ls-tree", "-r", "-z", "--full-tree", "--", f.commit}
	if f.prefix != "" {
		list = append(list, f.prefix)
	}
	text, err := output(top, list...)
	if err != nil {
		return nil, err
	}
	for one := range strings.SplitSeq(strings.TrimSuffix(text, "\x00"), "\x00") {
		meta, name, _ := strings.Cut(one, "\t")
		if parts := strings.Fields(meta); len(parts) == 3 {
			f.entries = append(f.entries, entry{mode: parts[0], object: parts[2], path: name})
		}
	}
	r.folders[dir] = f
	return f, nil
}

// commit returns the name of the object that the revision is in a repository.
func (r *Revision) commit(top string) (string, error) {
	if id := r.commits[top]; id != "" {
		return id, nil
	}
	id, err := line(output(top, "rev-parse", "--verify", "--quiet", "--end-of-options", r.name+"^{commit}"))
	if err != nil || strings.Trim(id, "0123456789abcdef") != "" || id == "" {
		hint := ""
		shallow, err := line(output(top, "rev-parse", "--is-shallow-repository"))
		if err == nil && shallow == "true" {
			hint = "; the clone is shallow: fetch the revision, or all with git fetch --unshallow"
		}
		return "", fmt.Errorf("the repository %s has no commit %s%s", top, r.name, hint)
	}
	r.commits[top] = id
	return id, nil
}
