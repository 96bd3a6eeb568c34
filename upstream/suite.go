package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
)

// A suite is what is run in each variant.
type suite struct {
	tree  *tree
	tests map[string][]string // by the paths of their packages within the module
	short bool
	log   io.Writer
}

// integration is the package of the tests that need an etcd and a server. They take time and little else,
// so several processes share them.
const (
	integration = "test/integration"
	processes   = 3
	// fieldValidation is a package that is only in the overlays.
	fieldValidation = "test/integration/fieldvalidation"
)

// selected are the files of integration whose tests are the short selection.
var selected = []string{"pruning", "defaulting", "validation", "ratcheting", "yaml", "listtype", "objectmeta", "subresources"}

// newSuite returns the suite of all packages with tests whose paths start with prefix, or the short selection.
func newSuite(t *tree, short bool, prefix string) (*suite, error) {
	s := &suite{tree: t, tests: make(map[string][]string), short: short}
	if short {
		for _, file := range selected {
			if err := s.addFile(integration + "/" + file + "_test.go"); err != nil {
				return nil, err
			}
		}
		return s, nil
	}
	err := fs.WalkDir(os.DirFS(t.dir), ".", func(name string, d fs.DirEntry, err error) error {
		within := strings.HasPrefix(name, "pkg/") || strings.HasPrefix(name, "test/")
		if err != nil || !within || !strings.HasPrefix(name, prefix) || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		return s.addFile(name)
	})
	if t.whole != "" && strings.HasPrefix(fieldValidation, prefix) {
		s.tests[fieldValidation] = []string{"TestFieldValidation"}
	}
	if err == nil && len(s.tests) == 0 {
		err = fmt.Errorf("no package with tests starts with %q", prefix)
	}
	return s, err
}

// addFile adds the tests of a file.
func (s *suite) addFile(name string) error {
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(s.tree.dir, name), nil, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	dir := path.Dir(name)
	for _, decl := range file.Decls {
		f, ok := decl.(*ast.FuncDecl)
		if ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") && f.Name.Name != "TestMain" {
			s.tests[dir] = append(s.tests[dir], f.Name.Name)
		}
	}
	return nil
}

// A test is a test of a package. Subtests are tests, too. A package itself has no name.
type test struct{ pkg, name string }

func (t test) String() string { return t.pkg + " " + t.name }

// ours says whether a test is one that a variant inserts.
func (t test) ours() bool { return strings.HasPrefix(t.name, "TestEspalier") }

// A result is what the tests of a variant said: pass, fail or skip.
type result struct {
	variant  string
	outcomes map[test]string
	output   map[test]string // of those that failed, and of ours
	flaky    []test          // failed, and passed when they were run again
	beside   map[string]bool // packages that failed while none of their tests did
	took     time.Duration
}

// newResult returns an empty one.
func newResult(variant string) *result {
	return &result{
		variant: variant, outcomes: make(map[test]string), output: make(map[test]string), beside: make(map[string]bool),
	}
}

// A job runs tests of a variant.
type job struct {
	*suite
	*result
	overlay, etcd string
	mu            sync.Mutex // of the result
}

// runAll runs the suite in the variants beside one etcd: one after the other, or the short selection in all
// at once.
func (s *suite) runAll(ctx context.Context, variants []string) ([]*result, error) {
	etcd, stop, err := startEtcd(ctx)
	if err != nil {
		return nil, err
	}
	defer stop()
	results := make([]*result, len(variants))
	run := func(ctx context.Context, i int) error {
		overlay, err := s.tree.overlay(variants[i])
		if err != nil {
			return err
		}
		j := &job{suite: s, result: newResult(variants[i]), overlay: overlay, etcd: etcd}
		results[i] = j.result
		started := time.Now()
		defer func() { j.took = time.Since(started) }()
		return j.runSuite(ctx)
	}
	all, ctx := errgroup.WithContext(ctx)
	if !s.short {
		all.SetLimit(1)
	}
	for i := range variants {
		all.Go(func() error { return run(ctx, i) })
	}
	return results, all.Wait()
}

// runSuite runs all tests, and those that fail or have no outcome up to twice again.
func (j *job) runSuite(ctx context.Context) error {
	// Ours are in each process of the first run, and not in those of a test or two, which may decode nothing.
	if err := j.run(ctx, j.tests, "TestEspalier.*"); err != nil {
		return err
	}
	for range 2 {
		again := make(map[string][]string)
		failed := append(j.failed(), j.without(j.tests)...)
		failed = slices.DeleteFunc(failed, test.ours)
		for _, t := range failed {
			top, _, _ := strings.Cut(t.name, "/")
			if !slices.Contains(again[t.pkg], top) {
				again[t.pkg] = append(again[t.pkg], top)
			}
		}
		if err := j.run(ctx, again, ""); err != nil {
			return err
		}
		for _, t := range failed {
			if j.outcomes[t] == "pass" {
				j.flaky = append(j.flaky, t)
			}
		}
	}
	return nil
}

// run runs tests, and those of ours that match.
func (j *job) run(ctx context.Context, tests map[string][]string, ours string) error {
	args := []string{"test", "-json", "-vet=off", "-count=1", "-timeout=40m", "-overlay", j.overlay}
	var patterns []string
	for pkg, names := range tests {
		if pkg != integration && pkg != fieldValidation {
			args = append(args, module+"/"+pkg)
			patterns = append(patterns, names...)
		}
	}
	if len(patterns) > 0 {
		// A test of that name in another package is run, too.
		args = append(args, "-run", pattern(patterns, ours))
		if err := j.read(ctx, j.tree.here, "go", args...); err != nil {
			return err
		}
	}
	for _, pkg := range []string{integration, fieldValidation} {
		if names := tests[pkg]; len(names) > 0 {
			if err := j.runProcesses(ctx, pkg, names, ours); err != nil {
				return err
			}
		}
	}
	return nil
}

// pattern returns the expression for go test's -run that selects tests, and those of ours that match.
func pattern(names []string, ours string) string {
	if ours != "" {
		names = append([]string{ours}, names...)
	}
	return "^(" + strings.Join(names, "|") + ")$"
}

// build builds the tests of a package, unless they have been built.
func (j *job) build(ctx context.Context, pkg string) (binary string, err error) {
	// By its name, the server knows the manager of a field.
	binary = filepath.Join(j.tree.temp, j.variant+"-tests", path.Base(pkg)+".test")
	if _, err := os.Stat(binary); err == nil {
		return binary, nil
	}
	_, err = output(ctx, j.tree.here, j.environment(), "go", "test", "-c", "-vet=off", "-overlay", j.overlay, "-o", binary, module+"/"+pkg)
	return binary, err
}

// runProcesses has several processes share the tests of a package.
func (j *job) runProcesses(ctx context.Context, pkg string, names []string, ours string) error {
	binary, err := j.build(ctx, pkg)
	if err != nil {
		return err
	}
	dir := filepath.Join(j.tree.dir, pkg)
	if pkg == fieldValidation {
		dir = j.tree.temp
	}
	dealt := make([][]string, min(processes, len(names)))
	for i, name := range names {
		dealt[i%len(dealt)] = append(dealt[i%len(dealt)], name)
	}
	all, ctx := errgroup.WithContext(ctx)
	for _, names := range dealt {
		all.Go(func() error {
			return j.read(ctx, dir, "go", "tool", "test2json", "-t", "-p", module+"/"+pkg,
				binary, "-test.v=test2json", "-test.timeout=40m", "-test.run", pattern(names, ours))
		})
	}
	return all.Wait()
}

func (j *job) environment() []string {
	return []string{"GOWORK=" + j.tree.workspace(), "KUBE_INTEGRATION_ETCD_URL=" + j.etcd}
}

// read runs a command that prints events, and adds them to the result. That tests fail is no error.
func (j *job) read(ctx context.Context, dir, name string, args ...string) error {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), j.environment()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	readErr := j.result.read(stdout, &j.mu, j.log)
	err = cmd.Wait()
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case readErr != nil:
		return fmt.Errorf("%s: %w\n%s", name, readErr, stderr.Bytes())
	case err != nil && !errors.As(err, &exit):
		return err
	}
	return nil
}

// An event is what go test -json says.
type event struct{ Action, Package, Test, Output, ImportPath string }

// read reads events. Packages that cannot be built are an error.
func (r *result) read(from io.Reader, mu *sync.Mutex, log io.Writer) error {
	lines := bufio.NewReader(from)
	var notBuilt strings.Builder
	seen := newSighting()
	some := false
	for {
		line, err := lines.ReadBytes('\n')
		if len(line) > 0 {
			var e event
			if err := json.Unmarshal(line, &e); err != nil {
				return fmt.Errorf("%w in %q", err, line)
			}
			some = true
			if e.Action == "build-output" {
				notBuilt.WriteString(e.Output)
			}
			mu.Lock()
			r.add(seen.timeless(e.test()), e)
			if seen.failsBeside(e) {
				r.beside[e.test().pkg] = true
			}
			mu.Unlock()
			if log != nil && e.Output != "" {
				_, _ = io.WriteString(log, e.Output)
			}
		}
		switch {
		case errors.Is(err, io.EOF) && notBuilt.Len() > 0:
			return fmt.Errorf("variant %s cannot be built: %s", r.variant, notBuilt.String())
		case errors.Is(err, io.EOF) && !some:
			return errors.New("it has run nothing")
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

// maxOutput is how much is kept of what a test prints: its end.
const maxOutput = 20 << 10

func (e event) test() test { return test{strings.TrimPrefix(e.Package, module+"/"), e.Test} }

func (r *result) add(t test, e event) {
	switch e.Action {
	case "output":
		said := r.output[t] + e.Output
		r.output[t] = said[max(0, len(said)-maxOutput):]
	case "pass", "skip":
		if t.ours() { // it ends each process, and must pass in all
			if r.outcomes[t] == "" {
				r.outcomes[t] = e.Action
			}
			return
		}
		r.outcomes[t] = e.Action
		delete(r.output, t)
	case "fail":
		r.outcomes[t] = e.Action
	}
}

// failed returns the tests that have failed.
func (r *result) failed() (list []test) {
	for t, outcome := range r.outcomes {
		if outcome == "fail" && t.name != "" {
			list = append(list, t)
		}
	}
	sortTests(list)
	return list
}

// passes counts the tests of a package that pass, without ours.
func (r *result) passes(pkg string) (n int) {
	for t, outcome := range r.outcomes {
		if t.pkg == pkg && t.name != "" && outcome == "pass" && !t.ours() {
			n++
		}
	}
	return n
}

// missing returns the tests that pass in base and were not run in r, or skipped.
func missing(base, r *result) (list []test) {
	for t, outcome := range base.outcomes {
		lost := r.outcomes[t] == "skip" || r.outcomes[t] == ""
		if outcome == "pass" && lost && t.name != "" {
			list = append(list, t)
		}
	}
	sortTests(list)
	return list
}

// A sighting is what one command has said so far.
type sighting struct {
	names  map[test]test   // without times
	taken  map[test]int    // how many tests have a name if it is without times
	open   map[test]bool   // tests that have started and have no outcome
	failed map[string]bool // packages with a test that failed
}

func newSighting() *sighting {
	return &sighting{make(map[test]test), make(map[test]int), make(map[test]bool), make(map[string]bool)}
}

var moment = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ`)

// timeless returns a test whose name has TIME in the place of a time, so that it is the same in all runs. If
// there are several, the others are numbered, as those that have one name are in Go.
func (s *sighting) timeless(t test) test {
	if !moment.MatchString(t.name) {
		return t
	}
	if known, ok := s.names[t]; ok {
		return known
	}
	plain := test{t.pkg, moment.ReplaceAllString(t.name, "TIME")}
	s.names[t] = plain
	if n := s.taken[plain]; n > 0 {
		s.names[t] = test{t.pkg, fmt.Sprintf("%s#%02d", plain.name, n)}
	}
	s.taken[plain]++
	return s.names[t]
}

// failsBeside reports whether an event says that a package failed, of which no test has failed, or is without an
// outcome and will be run again.
func (s *sighting) failsBeside(e event) bool {
	t := e.test()
	switch {
	case t.name != "" && e.Action == "run":
		s.open[t] = true
	case t.name != "" && (e.Action == "pass" || e.Action == "skip" || e.Action == "fail"):
		delete(s.open, t)
		s.failed[t.pkg] = s.failed[t.pkg] || e.Action == "fail"
	case t.name == "" && e.Action == "fail" && !s.failed[t.pkg]:
		for t := range s.open {
			if t.pkg == e.test().pkg {
				return false
			}
		}
		return true
	}
	return false
}

// without returns the tests that have no outcome.
func (r *result) without(tests map[string][]string) (list []test) {
	for pkg, names := range tests {
		for _, name := range names {
			if t := (test{pkg, name}); r.outcomes[t] == "" {
				list = append(list, t)
			}
		}
	}
	sortTests(list)
	return list
}

func sortTests(list []test) {
	slices.SortFunc(list, func(a, b test) int { return strings.Compare(a.String(), b.String()) })
}
