// Seeds keeps, of what fuzzing has come up with, the inputs that cover statements which the other seeds of
// their target do not, in testdata/fuzz of their package, where go test runs them.
//
//	seeds -cache "$(go env GOCACHE)/fuzz" ./decoder ./yamlbridge
//
// Short inputs are preferred. What is there already stays only if it covers more, too: an
// input that has failed belongs into the code of its target, or into testdata/regress.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"
)

// longest is how long a file with an input may be.
const longest = 2 << 10

func main() {
	cache := flag.String("cache", "", "the `folder` of the inputs that fuzzing has found, as go test -fuzz fills it")
	flag.Parse()
	for _, folder := range flag.Args() {
		if err := minimise(*cache, folder); err != nil {
			fmt.Fprintf(os.Stderr, "seeds: %s: %v\n", folder, err)
			os.Exit(1)
		}
	}
}

// minimise does so for the targets of the package in a folder.
func minimise(cache, folder string) error {
	temp, err := os.MkdirTemp("", "seeds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "package.test")
	if out, err := exec.Command("go", "test", "-c", "-cover", "-coverpkg=github.com/espalier-dev/espalier/...", "-o", binary, folder).CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	importPath, err := exec.Command("go", "list", folder).Output()
	if err != nil {
		return err
	}
	list := exec.Command(binary, "-test.list", "^Fuzz")
	list.Dir = folder
	names, err := list.Output()
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(string(names)) {
		t := target{name: name, binary: binary, folder: folder, profile: filepath.Join(temp, "profile"), covered: make(map[string]bool)}
		if err := t.minimise(filepath.Join(cache, strings.TrimSpace(string(importPath)), name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// A target is a fuzz target, with what the seeds that are kept cover.
type target struct {
	name, binary, folder, profile string
	covered                       map[string]bool
	kept                          []string
}

// minimise keeps the inputs of the folder found that cover more.
func (t *target) minimise(found string) error {
	seeds := filepath.Join(t.folder, "testdata", "fuzz", t.name)
	if err := os.MkdirAll(seeds, 0o777); err != nil {
		return err
	}
	if _, err := os.Stat(found); err == nil {
		if err := os.CopyFS(seeds, os.DirFS(found)); err != nil && !os.IsExist(err) {
			return err
		}
	}
	entries, err := os.ReadDir(seeds)
	if err != nil {
		return err
	}
	sizes := make(map[string]int64)
	var names []string
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if sizes[e.Name()] = info.Size(); info.Size() <= longest {
			names = append(names, e.Name())
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b)) })
	if _, err := t.run("^seed#"); err != nil {
		return err
	}
	if err := t.keep(names); err != nil {
		return err
	}
	for name := range sizes {
		if !slices.Contains(t.kept, name) {
			if err := os.Remove(filepath.Join(seeds, name)); err != nil {
				return err
			}
		}
	}
	fmt.Printf("%s %s: %d of %d\n", t.folder, t.name, len(t.kept), len(sizes))
	return nil
}

// keep keeps those of the inputs that cover more than what is kept before them, by halves.
func (t *target) keep(names []string) error {
	if len(names) == 0 {
		return nil
	}
	more, err := t.run("^(" + strings.Join(names, "|") + ")$")
	switch {
	case err != nil:
		return err
	case len(more) == 0:
		return nil
	case len(names) == 1:
		for _, block := range more {
			t.covered[block] = true
		}
		t.kept = append(t.kept, names[0])
		return nil
	}
	if err := t.keep(names[:len(names)/2]); err != nil {
		return err
	}
	return t.keep(names[len(names)/2:])
}

// run runs some seeds, and returns the blocks that they cover and those that are kept do not. What
// the target covers by itself, with the seeds of its code, counts as kept.
func (t *target) run(seeds string) (more []string, err error) {
	command := exec.Command(t.binary, "-test.run", "^"+t.name+"$/"+seeds, "-test.coverprofile", t.profile)
	command.Dir = t.folder
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	profiles, err := cover.ParseProfiles(t.profile)
	if err != nil {
		return nil, err
	}
	isFirst := len(t.covered) == 0
	for _, p := range profiles {
		for _, b := range p.Blocks {
			key := fmt.Sprintf("%s:%d.%d", p.FileName, b.StartLine, b.StartCol)
			if b.Count > 0 && !t.covered[key] {
				more = append(more, key)
				if isFirst {
					t.covered[key] = true
				}
			}
		}
	}
	return more, nil
}
