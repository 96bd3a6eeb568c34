package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/txtar"
)

// A mutant is a fault in the code.
type mutant struct {
	name  string
	about string
	edits []edit
	tests []test // of which each must fail; if there are none, generated pairs must find the fault
}

// A test is a test of the package in a folder.
type test struct {
	folder, name string
	flags        []string
}

func (t test) String() string { return t.folder + "." + t.name }

// An edit replaces the only place in a file that has the text old.
type edit struct {
	file     string
	old, new []byte
}

// readMutants reads the mutants of a repository. A mutant is a txtar file: its comment says what is
// wrong. Each file in it is a part of a file of the code, and is followed by one with the name
// becomes, with the text that replaces that part. A last one, with the name tests, may have tests:
// in each line a folder, the name of a test and its flags.
func readMutants(root string) (all []mutant, err error) {
	files, err := filepath.Glob(filepath.Join(root, "testdata", "mutants", "*.txtar"))
	if err != nil {
		return nil, err
	}
	if len(files) == 0 {
		return nil, fmt.Errorf("%s has no mutants", root)
	}
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			return nil, err
		}
		m := mutant{
			name:  strings.TrimSuffix(filepath.Base(file), ".txtar"),
			about: string(bytes.TrimSpace(archive.Comment)),
		}
		parts := archive.Files
		for ; len(parts) >= 2 && parts[1].Name == "becomes"; parts = parts[2:] {
			m.edits = append(m.edits, edit{parts[0].Name, parts[0].Data, parts[1].Data})
		}
		if len(parts) == 1 && parts[0].Name == "tests" {
			for line := range strings.Lines(string(parts[0].Data)) {
				if words := strings.Fields(line); len(words) >= 2 {
					m.tests = append(m.tests, test{words[0], words[1], words[2:]})
				}
			}
			parts = parts[min(len(m.tests), 1):]
		}
		if m.about == "" || len(m.edits) == 0 || len(parts) > 0 {
			return nil, fmt.Errorf("%s: want a comment, parts of files, each with what it becomes, and tests if any",
				file)
		}
		all = append(all, m)
	}
	return all, nil
}

// apply returns the files that the mutant changes, as they are then.
func (m mutant) apply(root string) (changed map[string][]byte, err error) {
	changed = make(map[string][]byte)
	for _, e := range m.edits {
		text, ok := changed[e.file]
		if !ok {
			text, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(e.file)))
			if err != nil {
				return nil, fmt.Errorf("%s: %w", m.name, err)
			}
		}
		if n := bytes.Count(text, e.old); n != 1 {
			return nil, fmt.Errorf("%s: %s has this %d times, where one is wanted:\n%s",
				m.name, e.file, n, e.old)
		}
		changed[e.file] = bytes.Replace(text, e.old, e.new, 1)
	}
	return changed, nil
}
