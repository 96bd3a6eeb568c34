// Survivors changes one thing in the code of a package after the other, such as a < to a <=, and runs
// the tests of the package. A mutant for which no test fails survives. Each survivor must be in
// testdata/mutation, with the reason why no test tells it from the code.
//
//	survivors internal/jsonwire schema        all mutants of these packages
//	survivors -percent 5 -seed 7 decoder      one in twenty, those that the seed chooses
//
// All mutants of a package are in one binary, which is built once: see enumerate.go. A mutant is
// killed if a test fails, panics, or takes far longer than it does without it. The tests are run with
// -test.short, first those that take little time. Survivors fails if one of the mutants survives that
// is not listed, and, if it runs all mutants of a package, if one that is listed is killed. On a busy
// machine time may kill one that would survive, which is said, and is no fault of the lists.
package main

import (
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

func main() {
	root := flag.String("root", ".", "the root of the repository")
	percent := flag.Float64("percent", 100, "how many of the mutants of each package")
	seed := flag.Uint64("seed", 1, "which of them")
	only := flag.String("only", "", "only mutants whose line in the lists has this `text`")
	flag.Parse()
	if err := run(os.Stdout, *root, *percent, *seed, *only, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "survivors:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root string, percent float64, seed uint64, only string, folders []string) error {
	root, err := filepath.Abs(root)
	if err != nil {
		return err
	}
	listed, err := readLists(root)
	if err != nil {
		return err
	}
	wrong := 0
	for _, folder := range folders {
		n, err := judge(out, root, folder, percent, seed, only, listed)
		if err != nil {
			return fmt.Errorf("%s: %w", folder, err)
		}
		wrong += n
	}
	if wrong > 0 {
		return fmt.Errorf("%d lines of testdata/mutation are missing or wrong: write a test, or list why there is none", wrong)
	}
	return nil
}

// readLists returns how often each mutant is listed.
func readLists(root string) (map[string]int, error) {
	names, err := filepath.Glob(filepath.Join(root, "testdata", "mutation", "*.txt"))
	if err != nil {
		return nil, err
	}
	all := make(map[string]int)
	for _, name := range names {
		listed, err := source.ReadList(name)
		if err != nil {
			return nil, err
		}
		maps.Copy(all, listed)
	}
	return all, nil
}

// judge runs the mutants of a package, and returns for how many lines the lists are wrong.
func judge(out io.Writer, root, folder string, percent float64, seed uint64, only string, listed map[string]int) (wrong int, err error) {
	p, err := instrument(root, folder)
	if err != nil {
		return 0, err
	}
	t, err := build(p)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(t.temp)
	if err := t.measure(); err != nil {
		return 0, err
	}
	if len(t.skipped) > 0 {
		fmt.Fprintf(out, "%s: not run, as they fail without a mutant, too: %s\n", folder, strings.Join(t.skipped, ", "))
	}
	chosen := choose(p.mutants, percent, seed, only)
	alive, late := make(map[string]int), make(map[string]int)
	for _, m := range chosen {
		switch fate, err := t.try(m.number); {
		case err != nil:
			return 0, err
		case fate == survived:
			alive[m.key]++
			if alive[m.key] > listed[m.key] {
				fmt.Fprintf(out, "%s: survives: %s\n", m.place, m.key)
				wrong++
			}
		case fate == tooLate:
			late[m.key]++
			fmt.Fprintf(out, "%s: killed by time: %s\n", m.place, m.key)
		}
	}
	if len(chosen) == len(p.mutants) {
		for _, key := range slices.Sorted(maps.Keys(listed)) {
			if isOf(key, p.mutants) && alive[key]+late[key] < listed[key] {
				fmt.Fprintf(out, "listed, but killed: %s\n", key)
				wrong++
			}
		}
	}
	fmt.Fprintf(out, "%s: %d of %d mutants run: %d killed, %d of them by time, and %d survived, %d of which are not as listed\n",
		folder, len(chosen), len(p.mutants), len(chosen)-sum(alive), sum(late), sum(alive), wrong)
	return wrong, nil
}

func sum(counts map[string]int) (n int) {
	for _, c := range counts {
		n += c
	}
	return n
}

// isOf reports whether a line of a list is about one of the mutants.
func isOf(key string, mutants []mutant) bool {
	return slices.ContainsFunc(mutants, func(m mutant) bool { return m.key == key })
}

// choose returns some of the mutants, in their order.
func choose(all []mutant, percent float64, seed uint64, only string) (chosen []mutant) {
	for _, i := range rand.New(rand.NewPCG(seed, 0)).Perm(len(all))[:int(math.Ceil(float64(len(all))*percent/100))] { //nolint:gosec // anybody may know which
		if strings.Contains(all[i].key, only) {
			chosen = append(chosen, all[i])
		}
	}
	slices.SortFunc(chosen, func(a, b mutant) int { return a.number - b.number })
	return chosen
}
