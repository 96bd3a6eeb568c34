// Seeds selects, from the inputs that fuzzing has found, those that cover statements which the
// other seeds of their target do not. It keeps them in testdata/fuzz of the package, in one file
// for each target, which corpus.AddSeeds reads.
//
//	seeds -cache "$(go env GOCACHE)/fuzz" ./decoder ./yamlbridge
//
// Short inputs are preferred. A seed that is in the file already stays only if it covers more, too.
// An input that has failed always stays: go test -fuzz writes it to a file of its own, and this
// tool moves it from there, with or without -cache.
package main

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// longest is the limit for the length of a seed's text.
const longest = 2 << 10

func main() {
	cache := flag.String("cache", "", "the `folder` to which go test -fuzz writes what it finds")
	flag.Parse()
	for _, folder := range flag.Args() {
		err := moveFailed(filepath.Join(folder, "testdata", "fuzz"))
		if err == nil && *cache != "" {
			err = minimise(*cache, folder)
		}
		if err != nil {
			fmt.Fprintf(os.Stderr, "seeds: %s: %v\n", folder, err)
			os.Exit(1)
		}
	}
}

// moveFailed moves the inputs that have failed, of all targets of a package, into the files of
// their targets.
func moveFailed(folder string) error {
	targets, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, target := range targets {
		if !target.IsDir() {
			continue
		}
		inputs := filepath.Join(folder, target.Name())
		failed, err := readInputs(inputs)
		if err != nil {
			return err
		}
		for i := range failed {
			failed[i].reason = "failed " + failed[i].reason
		}
		seeds, err := readSeeds(inputs + ".txtar")
		if err != nil {
			return err
		}
		if err := writeSeeds(inputs+".txtar", append(seeds, failed...)); err != nil {
			return err
		}
		if err := os.RemoveAll(inputs); err != nil {
			return err
		}
		fmt.Printf("%s: %d have failed\n", inputs, len(failed))
	}
	return nil
}

// minimise keeps the seeds that cover more, for each target of a package.
func minimise(cache, folder string) error {
	temp, err := os.MkdirTemp("", "seeds")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	binary := filepath.Join(temp, "package.test")
	_, err = output(folder, "go", "test", "-c", "-cover", "-coverpkg="+module+"...", "-o", binary, ".")
	if err != nil {
		return err
	}
	place, err := output(folder, "go", "list", "-f", "{{.Dir}}\n{{.ImportPath}}", ".")
	if err != nil {
		return err
	}
	dir, importPath, _ := strings.Cut(strings.TrimSpace(place), "\n")
	names, err := output(folder, binary, "-test.list", "^Fuzz")
	if err != nil {
		return err
	}
	for name := range strings.FieldsSeq(names) {
		t := target{
			name: name, binary: binary, folder: folder,
			file:    filepath.Join(folder, "testdata", "fuzz", name+".txtar"),
			profile: filepath.Join(temp, "profile"),
			covered: make(map[block]bool),
			source:  newSource(dir, importPath),
		}
		if err := t.minimise(filepath.Join(cache, filepath.FromSlash(importPath), name)); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	return nil
}

// output runs a command in a folder, and returns what it prints.
func output(folder, name string, args ...string) (string, error) {
	command := exec.Command(name, args...)
	command.Dir = folder
	out, err := command.Output()
	var failure *exec.ExitError
	if errors.As(err, &failure) {
		return "", fmt.Errorf("%s: %w\n%s%s", name, err, out, failure.Stderr)
	}
	return string(out), err
}

// A target is a fuzz target, with the blocks that its kept seeds cover.
type target struct {
	name, binary, folder, file, profile string
	covered                             map[block]bool
	source                              *packageSource
	candidates, kept                    []seed
}

// minimise keeps the seeds that cover more, from those of the target and from the inputs in the
// folder found.
func (t *target) minimise(found string) (err error) {
	seeds, err := readSeeds(t.file)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, writeSeeds(t.file, seeds))
		}
	}()
	inputs, err := readInputs(found)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	var failed []seed
	for _, s := range slices.Concat(seeds, inputs) {
		if s.hasFailed() {
			failed = append(failed, s)
		} else if len(s.text) <= longest {
			t.candidates = append(t.candidates, s)
		}
	}
	slices.SortFunc(t.candidates, func(a, b seed) int {
		return cmp.Or(cmp.Compare(len(a.text), len(b.text)), cmp.Compare(a.text, b.text))
	})

	// The seeds in the code of the target and those that have failed are kept anyway.
	if err := writeSeeds(t.file, failed); err != nil {
		return err
	}
	always, err := t.run("")
	if err != nil {
		return err
	}
	t.cover(always)
	if err := writeSeeds(t.file, t.candidates); err != nil {
		return err
	}
	if err := t.keep(0, len(t.candidates)); err != nil {
		return err
	}
	fmt.Printf("%s: %d of %d\n", t.file, len(t.kept)+len(failed), len(seeds)+len(inputs))
	return writeSeeds(t.file, append(t.kept, failed...))
}

// keep bisects the candidates from one number to another, and keeps those that cover more than the
// kept ones before them.
func (t *target) keep(from, to int) error {
	if from == to {
		return nil
	}
	var numbers []string
	for n := range to - from {
		numbers = append(numbers, strconv.Itoa(from+n))
	}
	more, err := t.run("(" + strings.Join(numbers, "|") + ")$")
	switch {
	case err != nil || len(more) == 0:
		return err
	case to-from == 1:
		reason, err := t.source.function(more)
		t.cover(more)
		t.kept = append(t.kept, seed{reason, t.candidates[from].text})
		return err
	}
	middle := (from + to) / 2
	if err := t.keep(from, middle); err != nil {
		return err
	}
	return t.keep(middle, to)
}

func (t *target) cover(blocks []block) {
	for _, b := range blocks {
		t.covered[b] = true
	}
}

// run runs the seeds whose numbers match a pattern. It returns the blocks that these cover, and the
// kept seeds do not.
func (t *target) run(numbers string) (more []block, err error) {
	pattern := "^" + t.name + "$/^seed#" + numbers
	_, err = output(t.folder, t.binary, "-test.run", pattern, "-test.coverprofile", t.profile)
	if err != nil {
		return nil, err
	}
	covered, err := readProfile(t.profile)
	return slices.DeleteFunc(covered, func(b block) bool { return t.covered[b] }), err
}
