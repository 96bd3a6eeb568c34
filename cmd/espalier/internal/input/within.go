package input

// This file keeps --write within its arguments: a link in a folder, as in a repository of
// somebody else, may lead anywhere.

import (
	"os"
	"path/filepath"
	"strings"
)

// Within returns those of the files that arguments stand for which --write edits, each
// once: --diff and --list-changed show these, too. Where an argument names a file, that is
// edited, or what it is a link to. What was met in a folder or by a pattern is edited if it
// is within that folder, also when links are followed; else a warning says that it is not.
func Within(arguments, names []string, outside func(name, target string)) (within []string) {
	given := map[string]bool{}
	var folders []string
	for _, argument := range arguments {
		if folder, ok := folderOf(argument); ok {
			folders = append(folders, folder)
		} else {
			given[filepath.Clean(argument)] = true
		}
	}
	seen := map[string]bool{}
	for _, name := range names {
		target, err := filepath.EvalSymlinks(name)
		if err != nil {
			within = append(within, name) // What is wrong is said when it is read.
			continue
		}
		if !given[filepath.Clean(name)] && !isReached(folders, name, target) {
			outside(name, target)
			continue
		}
		if !seen[target] {
			seen[target] = true
			within = append(within, name)
		}
	}
	return within
}

// folderOf returns the folder that an argument is about, if it names no file: itself, or
// what is in front of a pattern.
func folderOf(argument string) (folder string, ok bool) {
	info, err := os.Stat(argument)
	switch {
	case err == nil && info.IsDir():
		return argument, true
	case err == nil || !IsPattern(argument):
		return "", false
	}
	for folder = argument; IsPattern(folder); {
		folder = filepath.Dir(folder)
	}
	return folder, true
}

// isReached reports whether a file was met in one of the folders, and its target, the path
// without links, is there, too.
func isReached(folders []string, name, target string) bool {
	for _, folder := range folders {
		root, err := filepath.EvalSymlinks(folder)
		if err == nil && contains(folder, name) && contains(root, target) {
			return true
		}
	}
	return false
}

// contains reports whether a path is below a folder, by its name.
func contains(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
