// Survivors changes one thing in the code of a package after the other, such as a < to a <=, and runs
// the tests of the package. A mutant for which no test fails survives. Each survivor must be in
// testdata/mutation, with the reason why no test tells it from the code.
//
//	survivors internal/jsonwire schema        all mutants of these packages
//	survivors -percent 5 -seed 7 decoder      one in twenty, those that the seed chooses
//	survivors -listed decoder                 those that are listed, to see whether a new test kills one
//
// All mutants of a package are in one binary, which is built once: see enumerate.go. Each test is run by
// itself first, without a mutant, to see which mutants it reaches. Then each mutant is run with the tests
// that reach it, with -test.short: those that take little time first, and in batches, up to the first
// that fails. A mutant is killed if a test fails or panics, if it takes ten times as many steps as the
// tests do without it, where a step is the execution of an expression or a statement that has mutants,
// if it takes ten times as long, or if it waits for ever. What time has killed is said: on a busy machine
// it may be one that would survive.
//
// Survivors fails if one of the mutants survives that is not listed, and, if it runs all mutants of a
// package, if one that is listed is killed, though not by time. A sample leaves out those that are listed,
// as each would take all the tests. In it, one that survives has to survive all tests of the package once
// more, with a third of the steps, and each that reaches it by itself, so that neither chance nor a limit
// decides.
package main

import (
	"errors"
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
	"sync"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

// options say which mutants are run, and how.
type options struct {
	percent float64
	seed    uint64
	only    string
	listed  bool
	workers int
}

func main() {
	root := flag.String("root", ".", "the root of the repository")
	var o options
	flag.Float64Var(&o.percent, "percent", 100, "how many of the mutants of each package")
	flag.Uint64Var(&o.seed, "seed", 1, "which of them")
	flag.StringVar(&o.only, "only", "", "only mutants whose line in the lists has this `text`")
	flag.BoolVar(&o.listed, "listed", false, "only mutants that are listed, to see whether a test kills one")
	flag.IntVar(&o.workers, "workers", 1, "how many run at a time")
	flag.Parse()
	if err := run(os.Stdout, *root, o, flag.Args()); err != nil {
		fmt.Fprintln(os.Stderr, "survivors:", err)
		os.Exit(1)
	}
}

func run(out io.Writer, root string, o options, folders []string) error {
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
		n, err := judge(out, root, folder, o, listed)
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
func judge(out io.Writer, root, folder string, o options, listed map[string]int) (wrong int, err error) {
	p, err := instrument(root, folder)
	if err != nil {
		return 0, err
	}
	t, err := build(p)
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(t.temp)
	if err := t.measure(len(p.mutants), o.workers); err != nil {
		return 0, err
	}
	if len(t.skipped) > 0 {
		fmt.Fprintf(out, "%s: not run, as they fail without a mutant, too: %s\n", folder, strings.Join(t.skipped, ", "))
	}
	chosen := choose(p.mutants, o.percent, o.seed, o.only)
	isWhole := len(chosen) == len(p.mutants)
	if o.listed {
		chosen = slices.DeleteFunc(chosen, func(m mutant) bool { return listed[m.key] == 0 })
	} else if o.percent < 100 {
		chosen = withoutListed(chosen, p.mutants, listed)
	}
	j := &judgement{out: out, tests: t, listed: listed, inDoubt: !isWhole, alive: make(map[string]int), late: make(map[string]int)}
	faults := make([]error, len(chosen))
	each(len(chosen), o.workers, func(i int) { faults[i] = j.try(chosen[i]) })
	if err := errors.Join(faults...); err != nil {
		return 0, err
	}
	if isWhole {
		j.compare(p.mutants)
	}
	fmt.Fprintf(out, "%s: %d of %d mutants run: %d killed, %d of them by steps and %d by time, and %d survived; %d are not as listed\n",
		folder, len(chosen), len(p.mutants), len(chosen)-sum(j.alive), j.steps, sum(j.late), sum(j.alive), j.wrong)
	return j.wrong, nil
}

// A judgement is what has become of the mutants of a package.
type judgement struct {
	out         io.Writer
	tests       *tests
	listed      map[string]int
	inDoubt     bool // survivors that are not listed are run again
	lock        sync.Mutex
	alive, late map[string]int // by their lines
	steps       int
	wrong       int
}

// try runs a mutant. None is said to survive, and not to be listed, for which one of all tests fails.
func (j *judgement) try(m mutant) error {
	f, err := j.tests.try(m)
	if err == nil && f == survived && j.inDoubt && j.listed[m.key] == 0 {
		f, err = j.tests.again(m)
	}
	if err != nil {
		return err
	}
	j.lock.Lock()
	defer j.lock.Unlock()
	switch f {
	case survived:
		j.alive[m.key]++
		if j.alive[m.key] > j.listed[m.key] {
			reached := "by no test"
			if n := len(j.tests.order(m)); n > 0 {
				reached = fmt.Sprintf("by %d tests", n)
			}
			fmt.Fprintf(j.out, "%s: survives, reached %s: %s\n", m.place, reached, m.key)
			j.wrong++
		}
	case bySteps:
		j.steps++
	case byTime:
		j.late[m.key]++
		fmt.Fprintf(j.out, "%s: killed by time: %s\n", m.place, m.key)
	}
	return nil
}

// compare finds what is listed, but killed. What time has killed may live on a machine that is not busy.
func (j *judgement) compare(mutants []mutant) {
	for _, key := range slices.Sorted(maps.Keys(j.listed)) {
		if isOf(key, mutants) && j.alive[key]+j.late[key] < j.listed[key] {
			fmt.Fprintf(j.out, "listed, but killed: %s\n", key)
			j.wrong++
		}
	}
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

// withoutListed returns those of the chosen mutants that may not survive: of all mutants with the same line,
// fewer are listed than there are.
func withoutListed(chosen, all []mutant, listed map[string]int) []mutant {
	count := make(map[string]int)
	for _, m := range all {
		count[m.key]++
	}
	return slices.DeleteFunc(chosen, func(m mutant) bool { return listed[m.key] >= count[m.key] })
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
