package input

import (
	stderrors "errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// extensions are those of the files that are read in folders.
var extensions = []string{".json", ".ndjson", ".jsonl", ".yaml", ".yml"}

// IsManifest reports whether a file in a folder is read, by the end of its name.
func IsManifest(name string) bool {
	return slices.Contains(extensions, extension(name))
}

// extension returns how the name of a file ends, in small letters and without .gz.
func extension(name string) string {
	return filepath.Ext(strings.TrimSuffix(strings.ToLower(name), ".gz"))
}

// Expand returns the files that the arguments lead to, in their order and each once. There is
// an error for each argument, file or folder that cannot be read.
func Expand(arguments []string, recursive bool) (names []string, errs []error) {
	seen := map[string]bool{}
	for _, argument := range arguments {
		some, err := expandOne(argument, recursive)
		if err != nil {
			errs = append(errs, err)
		}
		for _, name := range some {
			if key := filepath.Clean(name); !seen[key] {
				seen[key] = true
				names = append(names, name)
			}
		}
	}
	return names, errs
}

// expandOne returns the files that one argument leads to: the file of this name, the files in
// the folder of this name, or else those that match the pattern.
func expandOne(name string, recursive bool) ([]string, error) {
	if name == "-" {
		return []string{name}, nil
	}
	info, err := os.Stat(name)
	switch {
	case err == nil && info.IsDir():
		return filesBelow(name, recursive)
	case err == nil:
		return []string{name}, nil
	case !stderrors.Is(err, fs.ErrNotExist) || !IsPattern(name):
		return nil, err
	}
	matches, err := Glob(name)
	if err != nil {
		return nil, err
	}
	var names []string
	var errs []error
	for _, match := range matches {
		if info, err := os.Stat(match); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			// No argument names this file, and it may never end.
			errs = append(errs, fmt.Errorf("%s: is not a regular file, and is not read", match))
			continue
		}
		some, err := expandOne(match, recursive)
		names = append(names, some...)
		errs = append(errs, err)
	}
	return names, stderrors.Join(errs...)
}

// IsPattern reports whether an argument may be a pattern for names.
func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// maxAny is how often a pattern may have **. The time for each grows with the depth of the folders.
const maxAny = 2

// Glob returns the files and folders that match a pattern, in the order of their names. It is an
// error if there are none. With **, which stands for any number of folders, they are the files that
// MatchBelow matches.
func Glob(pattern string) (matches []string, err error) {
	if !strings.Contains(pattern, "**") {
		matches, err = filepath.Glob(pattern)
	} else if strings.Count(pattern, "**") > maxAny {
		return nil, fmt.Errorf("%s: has ** more than %d times: name a folder", pattern, maxAny)
	} else if matches, err = doublestar.FilepathGlob(pattern, doublestar.WithNoHidden(), doublestar.WithNoFollow(), doublestar.WithFilesOnly()); err == nil {
		matches = slices.DeleteFunc(matches, func(name string) bool { return !isMeant(pattern, name) })
		slices.Sort(matches)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("%s: %w", pattern, err)
	case len(matches) == 0:
		return nil, fmt.Errorf("%s: no file matches the pattern", pattern)
	}
	return matches, nil
}

// MatchBelow reports whether a path with slashes matches a pattern with **. As in a folder, names
// that start with a dot do not match.
func MatchBelow(pattern, path string) bool {
	isHidden := strings.HasPrefix(path, ".") || strings.Contains(path, "/.")
	isTooMany := strings.Count(pattern, "**") > maxAny
	return !isHidden && !isTooMany && isMeant(pattern, path) && doublestar.MatchUnvalidated(pattern, path)
}

// isMeant reports whether a file is one that a pattern with ** leads to, which the file matches. A
// pattern that gives no end of the name means manifests: a/** is like the folder a.
func isMeant(pattern, name string) bool { return !strings.HasSuffix(pattern, "*") || IsManifest(name) }

// isFileOrMissing reports whether a link may be opened. A link that leads nowhere may: opening
// it says so.
func isFileOrMissing(link string) bool {
	info, err := os.Stat(link)
	return err != nil || info.Mode().IsRegular()
}

// filesBelow returns the manifests in a folder, in the order of their paths. It leaves out
// names that start with a dot, pipes, sockets and devices. The error names folders that cannot
// be read, and links to anything but files: the sender of a repository chooses where its links
// lead.
func filesBelow(dir string, recursive bool) (names []string, err error) {
	var errs []error
	root := filepath.Clean(dir) + string(filepath.Separator) // with the separator, a link to a folder is followed
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, err)
		case path == root:
		case d.IsDir() && (!recursive || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
		case !d.Type().IsRegular() && d.Type() != fs.ModeSymlink: // a pipe may never be written to
		case !IsManifest(path):
		case d.Type() == fs.ModeSymlink && !isFileOrMissing(path):
			errs = append(errs, fmt.Errorf("%s: links to something that is no regular file, and is not read", path))
		default:
			names = append(names, path)
		}
		return nil
	})
	return names, stderrors.Join(append(errs, err)...)
}
