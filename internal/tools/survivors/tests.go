package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A fate is what becomes of a mutant.
type fate int

const (
	survived fate = iota
	killed
	bySteps // killed as it takes too many steps
	byTime  // killed as it takes too long, though not many steps
)

// A test is one of the package, as it is without a mutant.
type test struct {
	name    string
	reached []bool // by the numbers of mutants
	steps   int
	cpu     time.Duration // for itself, without the start of the process
	took    time.Duration // by the clock
}

// tests are those of a package, in a binary that has all its mutants.
type tests struct {
	temp, binary, dir string
	all               []*test
	skipped           []string // they fail without a mutant

	lock  sync.Mutex
	kills map[string]map[*test]int // by the function of the mutant
}

// build links the tests with an instrumented package.
func build(p *instrumented) (*tests, error) {
	temp, err := os.MkdirTemp("", "survivors")
	if err != nil {
		return nil, err
	}
	overlay := struct{ Replace map[string]string }{make(map[string]string)}
	for name, text := range p.files {
		to := filepath.Join(temp, strconv.Itoa(len(overlay.Replace))+".go")
		if err := os.WriteFile(to, text, 0o666); err != nil {
			return nil, err
		}
		overlay.Replace[name] = to
	}
	js, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(temp, "overlay.json"), js, 0o666); err != nil {
		return nil, err
	}
	t := &tests{temp: temp, binary: filepath.Join(temp, "package.test"), dir: p.dir, kills: make(map[string]map[*test]int)}
	command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(temp, "overlay.json"), "-o", t.binary, ".")
	command.Dir = p.dir
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return t, nil
}

// measure runs each test without a mutant, by itself. It notes which mutants a test reaches, and finds
// those that fail: what they assert may be that nothing is allocated, or how functions are compiled.
func (t *tests) measure(mutants, workers int) error {
	list, err := t.command(context.Background(), "-test.list", ".").Output()
	if err != nil {
		return err
	}
	var names []string
	for _, name := range append(strings.Fields(string(list)), "") {
		if name == "" || !strings.HasPrefix(name, "Benchmark") {
			names = append(names, name)
		}
	}
	measured, faults := make([]*test, len(names)), make([]error, len(names))
	each(len(names), workers, func(i int) { measured[i], faults[i] = t.note(names[i], mutants) })
	if err := errors.Join(faults...); err != nil {
		return err
	}
	start := measured[len(names)-1].cpu // without a test
	for i, one := range measured[:len(names)-1] {
		if one.reached == nil {
			t.skipped = append(t.skipped, names[i])
			continue
		}
		one.cpu = max(one.cpu-start, time.Millisecond)
		t.all = append(t.all, one)
	}
	if len(t.all) == 0 {
		return fmt.Errorf("no tests that pass:\n%s", list)
	}
	return nil
}

// note runs a test. If it fails it has reached nil.
func (t *tests) note(name string, mutants int) (*test, error) {
	notes, err := os.CreateTemp(t.temp, "notes")
	if err != nil {
		return nil, err
	}
	notes.Close()
	defer os.Remove(notes.Name())
	c := t.command(context.Background(), "-test.timeout=30m", "-test.run", only([]string{name}))
	c.Env = append(c.Env, variable+"_NOTES="+notes.Name())
	began := time.Now()
	var exit *exec.ExitError
	switch err := c.Run(); {
	case errors.As(err, &exit):
		return &test{name: name}, nil
	case err != nil:
		return nil, err
	}
	one := &test{
		name: name, reached: make([]bool, mutants+1), took: time.Since(began),
		cpu: c.ProcessState.UserTime() + c.ProcessState.SystemTime(),
	}
	noted, err := os.ReadFile(notes.Name())
	if err != nil {
		return nil, err
	}
	for _, line := range strings.Fields(string(noted)) {
		switch n, err := strconv.Atoi(line); {
		case err != nil:
			return nil, err
		case n < 0:
			one.steps = max(one.steps, -n)
		default:
			one.reached[n] = true
		}
	}
	return one, nil
}

// each calls f with the numbers below n, in some goroutines.
func each(n, workers int, f func(int)) {
	var next atomic.Int64
	var all sync.WaitGroup
	for range workers {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				f(i)
			}
		})
	}
	all.Wait()
}

// A mutant is killed that takes ten times the steps or the time of the tests, and some more. Once more,
// in doubt, all tests together may take a part of the steps only, so that none is at the limit.
const (
	factor       = 10
	moreSteps    = 1_000_000
	moreTime     = 2 * time.Second
	inDoubt      = 3
	tooManySteps = 97 // the exit code
)

// firstBatch is how long the first tests take that a mutant runs. The next take four times as long.
const firstBatch = 50 * time.Millisecond

// try runs the tests that reach a mutant, in batches. First come those that take little time, and that
// have killed others in the function.
func (t *tests) try(m mutant) (fate, error) {
	order := t.order(m)
	for size := firstBatch; len(order) > 0; size *= 4 {
		n, sum := 0, time.Duration(0)
		for n < len(order) && (n == 0 || sum+order[n].cpu <= size) {
			sum += order[n].cpu
			n++
		}
		if f, err := t.run(m, order[:n], 1, 1); f != survived || err != nil {
			return f, err
		}
		order = order[n:]
	}
	return survived, nil
}

// again runs all tests together, and each that reaches the mutant by itself, for one that has survived:
// which tests were in a batch, and so how many steps were too many, is a matter of chance.
func (t *tests) again(m mutant) (fate, error) {
	f, err := t.run(m, t.all, inDoubt, 1)
	for _, one := range t.order(m) {
		if f != survived || err != nil {
			break
		}
		f, err = t.run(m, []*test{one}, 1, 1)
	}
	return f, err
}

func (t *tests) order(m mutant) (order []*test) {
	t.lock.Lock()
	defer t.lock.Unlock()
	kills := t.kills[m.function]
	for _, one := range t.all {
		if one.reached[m.number] {
			order = append(order, one)
		}
	}
	slices.SortStableFunc(order, func(a, b *test) int {
		return cmp.Compare(int(a.cpu)/(1+kills[a]), int(b.cpu)/(1+kills[b]))
	})
	return order
}

var failed = regexp.MustCompile(`(?m)^--- FAIL: (\w+)|running tests:\n\t(\w+)`)

// run runs some tests for a mutant, with a part of the steps, and with as much time as patience says.
// Where the clock has ended what could have gone on, the machine was busy, and they run once more.
func (t *tests) run(m mutant, some []*test, part, patience int) (fate, error) {
	steps, limit := moreSteps, moreTime
	var cpu time.Duration
	var names []string
	for _, one := range some {
		steps += factor * one.steps
		limit += factor * one.took
		cpu += factor * one.cpu
		names = append(names, one.name)
	}
	limit *= time.Duration(patience)
	ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
	defer cancel()
	c := t.command(ctx, "-test.failfast", "-test.timeout", limit.String(), "-test.run", only(names))
	seconds := int((cpu + moreTime).Seconds()) + 1
	c.Env = append(c.Env, variable+"="+strconv.Itoa(m.number), variable+"_STEPS="+strconv.Itoa(steps/part), variable+"_SECONDS="+strconv.Itoa(seconds))
	out, err := output(ctx, cancel, c)
	var exit *exec.ExitError
	switch {
	case err == nil:
		return survived, nil
	case !errors.As(err, &exit):
		return survived, err
	case exit.ExitCode() == tooManySteps:
		return bySteps, nil
	case bytes.Contains(out, []byte("panic: test timed out")):
		if patience == 1 && (bytes.Contains(out, []byte(" [runnable")) || bytes.Contains(out, []byte("running on other thread"))) {
			return t.run(m, some, part, factor)
		}
		return byTime, nil
	case exit.ExitCode() < 0: // by a signal: of ctx, or of the system
		return byTime, nil
	}
	if found := failed.FindSubmatch(out); found != nil {
		t.killedBy(m, string(found[1])+string(found[2]))
	}
	return killed, nil
}

// output runs a command until it ends, ctx is done, or it is idle.
func output(ctx context.Context, stop func(), c *exec.Cmd) ([]byte, error) {
	var out bytes.Buffer
	c.Stdout, c.Stderr = &out, &out
	if err := c.Start(); err != nil {
		return nil, err
	}
	go untilIdle(ctx, c.Process.Pid, stop)
	err := c.Wait()
	stop()
	return out.Bytes(), err
}

func (t *tests) killedBy(m mutant, name string) {
	t.lock.Lock()
	defer t.lock.Unlock()
	if t.kills[m.function] == nil {
		t.kills[m.function] = make(map[*test]int)
	}
	for _, one := range t.all {
		if one.name == name {
			t.kills[m.function][one]++
		}
	}
}

// only returns an expression for tests of these names, which none has if there are none.
func only(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// command runs tests, which may allocate without end, or go on: that is why memory and, if there are
// SECONDS, time of the CPU are limited, where the system can do that.
func (t *tests) command(ctx context.Context, flags ...string) *exec.Cmd {
	line := append([]string{
		"-c", `ulimit -v 6000000 2>/dev/null; ulimit -t ${` + variable + `_SECONDS:-unlimited} 2>/dev/null; exec "$0" "$@"`, t.binary, "-test.short",
	}, flags...)
	c := exec.CommandContext(ctx, "sh", line...)
	c.Dir = t.dir
	c.Env = os.Environ()
	c.WaitDelay = time.Second
	return c
}
