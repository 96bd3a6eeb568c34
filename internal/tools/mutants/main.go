// Mutants shows that tests find the faults that they should. Each file in testdata/mutants is a fault
// that a person might make. The command plants one after the other, without touching the code. It
// runs the tests that the file names, each of which must fail. If it names none, the command compares
// generated pairs until a test of module fuzz fails.
//
//	mutants                        all of them
//	mutants -only null -pairs 4000 those whose names match, and fewer pairs
//
// It prints which of the named tests fail, or after how many pairs the tests have failed that fail
// first. It fails if a test that is named does not, or if no test has failed for one of the mutants.
package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	root := flag.String("root", ".", "the root of the repository")
	only := flag.String("only", "", "a regular `expression` for the names of mutants")
	tests := flag.String("run", "^Test(|Exact|Storage|Preserve|ExactYAML|Spec)Parity$|^TestKEP$",
		"a regular `expression` for tests of module fuzz that take -pairs and -from")
	pairs := flag.Int("pairs", 64_000, "the most `pairs` that each test compares for a mutant")
	from := flag.Uint64("from", 0, "the `seed` that the tests start with")
	flag.Parse()
	if *pairs < least {
		fmt.Fprintf(os.Stderr, "mutants: -pairs must be at least %d\n", least)
		os.Exit(2)
	}
	if err := run(*root, *only, *tests, *pairs, *from); err != nil {
		fmt.Fprintln(os.Stderr, "mutants:", err)
		os.Exit(1)
	}
}

func run(root, only, tests string, pairs int, from uint64) error {
	pattern, err := regexp.Compile(only)
	if err != nil {
		return err
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return err
	}
	all, err := readMutants(root)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "planted")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	missed := 0
	for _, m := range all {
		if !pattern.MatchString(m.name) {
			continue
		}
		found, text, err := m.plant(root, dir, tests, pairs, from)
		if err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
		if !found {
			missed++
		}
		fmt.Printf("%-24s%s\n", m.name, text)
	}
	if missed > 0 {
		return fmt.Errorf("%d mutants are not found", missed)
	}
	return nil
}

// plant reports whether the tests find a mutant, and which.
func (m mutant) plant(root, dir, tests string, pairs int, from uint64) (found bool, text string, err error) {
	if len(m.tests) > 0 {
		return m.runTests(root, dir)
	}
	binary, err := m.build(root, dir, "fuzz")
	if err != nil {
		return false, "", err
	}
	failed, err := search(root, binary, tests, pairs, from)
	return len(failed) > 0, summary(failed, pairs), err
}

// runTests runs the tests that the mutant names, and reports whether all of them fail.
func (m mutant) runTests(root, dir string) (found bool, text string, err error) {
	var failed, passed []string
	for _, t := range m.tests {
		binary, err := m.build(root, dir, t.folder)
		if err != nil {
			return false, "", err
		}
		run := exec.Command(binary, append([]string{"-test.run", "^" + t.name + "$"}, t.flags...)...)
		run.Dir = filepath.Join(root, filepath.FromSlash(t.folder))
		switch out, err := run.CombinedOutput(); {
		case err == nil:
			passed = append(passed, t.String())
		case bytes.Contains(out, []byte("--- FAIL: ")) || bytes.Contains(out, []byte("panic: ")):
			failed = append(failed, t.String())
		default:
			return false, "", fmt.Errorf("%s: %w\n%s", t, err, out)
		}
	}
	if len(passed) > 0 {
		return false, "not found by " + strings.Join(passed, ", "), nil
	}
	return true, strings.Join(failed, ", "), nil
}

// summary says which tests have failed after how many pairs, the first one first.
func summary(failed map[string]failure, pairs int) string {
	if len(failed) == 0 {
		return fmt.Sprintf("not found in %d pairs", pairs)
	}
	names := slices.SortedFunc(maps.Keys(failed), func(a, b string) int {
		return cmp.Or(cmp.Compare(failed[a].pairs, failed[b].pairs), strings.Compare(a, b))
	})
	first := failed[names[0]]
	for i, name := range names {
		f := failed[name]
		if names[i] = fmt.Sprintf("%s %d", name, f.pairs); f.panics {
			names[i] += " (panics)"
		}
	}
	return fmt.Sprintf("%6d pairs: %s", first.pairs, strings.Join(names, ", "))
}

// build links the tests of the package in a folder with the mutant, in dir, and returns the binary.
func (m mutant) build(root, dir, folder string) (binary string, err error) {
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	changed, err := m.apply(root)
	if err != nil {
		return "", err
	}
	for name, text := range changed {
		to := filepath.Join(dir, strconv.Itoa(len(overlay.Replace))+".go")
		if err := os.WriteFile(to, text, 0o666); err != nil {
			return "", err
		}
		overlay.Replace[filepath.Join(root, filepath.FromSlash(name))] = to
	}
	js, err := json.Marshal(overlay)
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, js, 0o666); err != nil {
		return "", err
	}
	binary = filepath.Join(dir, "mutant.test")
	build := exec.Command("go", "test", "-c", "-overlay", file, "-o", binary, ".")
	build.Dir = filepath.Join(root, filepath.FromSlash(folder))
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return binary, nil
}

// least is how many pairs share a schema.
const least = 64

// search runs the tests of a binary with more and more pairs, until one fails. It returns the
// number of pairs after which each has failed that finds the mutant as early as those before it.
func search(root, binary, tests string, pairs int, from uint64) (map[string]failure, error) {
	run := func(args ...string) (string, error) {
		test := exec.Command(binary, args...)
		test.Dir = filepath.Join(root, "fuzz")
		out, err := test.CombinedOutput()
		return string(out), err
	}
	list, err := run("-test.list", tests)
	if err != nil {
		return nil, fmt.Errorf("%w\n%s", err, list)
	}
	failed := make(map[string]failure)
	for n := least; ; n = min(4*n, pairs) {
		most := n
		for name := range strings.FieldsSeq(list) {
			// One goroutine takes the pairs in order.
			out, err := run("-test.run", "^"+name+"$", "-test.cpu", "1", "-first", "-reports", "1",
				"-pairs", strconv.Itoa(most), "-from", strconv.FormatUint(from, 10))
			if err == nil {
				continue
			}
			f, ok := firstFailure(out, from, most)
			if !ok {
				return nil, fmt.Errorf("%s fails without a difference:\n%s", name, out)
			}
			failed[name], most = f, max(f.pairs, least)
		}
		if len(failed) > 0 || n == pairs {
			return failed, nil
		}
	}
}

var seed = regexp.MustCompile(`(?m)^ +\w+\.go:\d+: seed (\d+)`)

// A failure is that of a test after so many pairs. A test that panics does not say more than how
// many it was to compare.
type failure struct {
	pairs  int
	panics bool
}

// firstFailure reads the output of a test that has compared a number of pairs, and has failed. It
// reports whether there is a difference or a panic.
func firstFailure(out string, from uint64, pairs int) (first failure, ok bool) {
	first.pairs = pairs
	for _, found := range seed.FindAllStringSubmatch(out, -1) {
		if at, err := strconv.ParseUint(found[1], 10, 64); err == nil {
			first.pairs, ok = min(first.pairs, int(at-from)+1), true
		}
	}
	first.panics = !ok && strings.Contains(out, "panic: ")
	return first, ok || first.panics
}
