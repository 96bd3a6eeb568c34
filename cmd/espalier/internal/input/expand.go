package input

import (
	stderrors "errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are those of the files that are looked for in folders.
var extensions = []string{".json", ".ndjson", ".jsonl", ".yaml", ".yml"}

// Expand returns the files that arguments stand for, each once, in their order.
// What cannot be found is left out, and said in the errors.
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

// expandOne returns the files that an argument stands for: itself, those of a folder,
// or those that match a pattern, if no file is called like it.
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
	matches, err := filepath.Glob(name)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(matches) == 0 {
		return nil, fmt.Errorf("%s: no file matches the pattern", name)
	}
	var names []string
	var errs []error
	for _, match := range matches {
		if info, err := os.Stat(match); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
			// Nobody has named it, and it may have no end.
			errs = append(errs, fmt.Errorf("%s: is not a regular file, and is not read", match))
			continue
		}
		some, err := expandOne(match, recursive)
		names = append(names, some...)
		errs = append(errs, err)
	}
	return names, stderrors.Join(errs...)
}

func IsPattern(name string) bool { return strings.ContainsAny(name, "*?[") }

// isFileOrMissing reports whether a link may be opened: where it leads nowhere, that is
// said when it is.
func isFileOrMissing(link string) bool {
	info, err := os.Stat(link)
	return err != nil || info.Mode().IsRegular()
}

// filesBelow returns the manifests of a folder in the order of their paths, without
// those whose names, or folders' names, start with a dot, and without pipes, sockets and
// devices. Folders that cannot be read are left out, and said in the error, and so are
// links to what is no file: who sends a repository chooses where they lead.
func filesBelow(dir string, recursive bool) (names []string, err error) {
	var errs []error
	root := filepath.Clean(dir) + string(filepath.Separator) // where a link leads
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			errs = append(errs, err)
		case path == root:
		case d.IsDir() && (!recursive || strings.HasPrefix(d.Name(), ".")):
			return filepath.SkipDir
		case d.IsDir() || strings.HasPrefix(d.Name(), "."):
		case !d.Type().IsRegular() && d.Type() != fs.ModeSymlink: // nobody may ever write into a pipe
		case !slices.Contains(extensions, filepath.Ext(strings.TrimSuffix(path, ".gz"))):
		case d.Type() == fs.ModeSymlink && !isFileOrMissing(path):
			errs = append(errs, fmt.Errorf("%s: links to what is not a regular file, and is not read", path))
		default:
			names = append(names, path)
		}
		return nil
	})
	return names, stderrors.Join(append(errs, err)...)
}
