package input

// This file says from which argument a file comes, and keeps --write within its arguments. A link
// in a folder may lead anywhere, because the sender of a repository chooses it.

import (
	"os"
	"path/filepath"
	"strings"
)

// Within returns those of the files which --write edits, and --diff and --list-changed show,
// each once. A file that an argument names is edited, even through a link. A file that was
// found in a folder or by a pattern is edited if it is within that folder after links are
// followed; otherwise outside is called with its name and its target.
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
			within = append(within, name) // reading it says what is wrong
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

// Below returns the path of a file from the argument that leads to it: from the folder, or from the
// one in which the pattern starts. Of a file that is an argument it is the last name.
func Below(arguments []string, name string) string {
	for _, argument := range arguments {
		folder, ok := folderOf(argument)
		if rest, err := filepath.Rel(folder, name); ok && err == nil && contains(folder, name) {
			return rest
		}
	}
	return filepath.Base(name)
}

// folderOf returns the folder that an argument names, or the one in which its pattern starts.
// It is not ok if the argument names a file.
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

// isReached reports whether a file was found in one of the folders, and its target, the path
// without links, is in the same folder.
func isReached(folders []string, name, target string) bool {
	for _, folder := range folders {
		root, err := filepath.EvalSymlinks(folder)
		if err == nil && contains(folder, name) && contains(root, target) {
			return true
		}
	}
	return false
}

// contains reports whether a path is below a folder, judging by the names alone.
func contains(folder, path string) bool {
	rest, err := filepath.Rel(folder, path)
	return err == nil && rest != ".." && !strings.HasPrefix(rest, ".."+string(filepath.Separator))
}
