package main

import (
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
	"time"
)

// A fate is what becomes of a mutant.
type fate int

const (
	survived fate = iota
	killed
	tooLate // killed by the time that it takes
)

// tests are those of a package, in a binary that has all its mutants.
type tests struct {
	temp, binary, dir string
	skipped           []string         // they fail without a mutant
	slow              []string         // they come last
	usual             [2]time.Duration // of the quick ones and of the slow ones
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
	t := &tests{temp: temp, binary: filepath.Join(temp, "package.test"), dir: p.dir}
	command := exec.Command("go", "test", "-c", "-vet=off", "-overlay", filepath.Join(temp, "overlay.json"), "-o", t.binary, ".")
	command.Dir = p.dir
	if out, err := command.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("%w\n%s", err, out)
	}
	return t, nil
}

// slowTest is how long a test takes that comes last.
const slowTest = 300 * time.Millisecond

var result = regexp.MustCompile(`(?m)^--- (PASS|FAIL|SKIP): (\w+) \(([\d.]+)s\)$`)

// measure runs all tests without a mutant. It finds those that are slow, and those that fail: what
// they assert may be that nothing is allocated, or how functions are compiled.
func (t *tests) measure() error {
	ctx := context.Background()
	out, _ := t.command(ctx, 0, 30*time.Minute, "-test.v", "-test.failfast=false").CombinedOutput()
	found := result.FindAllStringSubmatch(string(out), -1)
	if len(found) == 0 {
		return fmt.Errorf("no tests:\n%s", out)
	}
	for _, f := range found {
		took, err := time.ParseDuration(f[3] + "s")
		switch {
		case err != nil:
			return err
		case f[1] == "FAIL":
			t.skipped = append(t.skipped, f[2])
		case took > slowTest:
			t.slow = append(t.slow, f[2])
			t.usual[1] += took
		default:
			t.usual[0] += took
		}
	}
	return nil
}

// try runs the tests for a mutant, the slow ones only if the others pass.
func (t *tests) try(number int) (fate, error) {
	for i, usual := range t.usual {
		if i == 1 && len(t.slow) == 0 {
			continue
		}
		limit := 10*time.Second + 5*usual
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), 2*limit)
		err := t.phase(ctx, number, i, limit).Run()
		cancel()
		var exit *exec.ExitError
		switch {
		case err == nil:
		case time.Since(began) >= limit:
			return tooLate, nil
		case errors.As(err, &exit):
			return killed, nil
		default:
			return survived, err
		}
	}
	return survived, nil
}

// phase is the command for the quick tests, which is phase 0, or the slow ones.
func (t *tests) phase(ctx context.Context, number, phase int, limit time.Duration) *exec.Cmd {
	if phase == 0 {
		skip := slices.Concat(t.skipped, t.slow)
		return t.command(ctx, number, limit, "-test.skip", only(skip))
	}
	return t.command(ctx, number, limit, "-test.run", only(t.slow), "-test.skip", only(t.skipped))
}

// only returns an expression for tests of these names, which none has if there are none.
func only(names []string) string { return "^(" + strings.Join(names, "|") + ")$" }

// command runs tests for a mutant, which may allocate without end: that is why memory is limited,
// where the system can do that. The tests end by themselves at the limit, or with ctx.
func (t *tests) command(ctx context.Context, number int, limit time.Duration, flags ...string) *exec.Cmd {
	line := append([]string{
		"-c", `ulimit -v 6000000 2>/dev/null; exec "$0" "$@"`, t.binary, "-test.short", "-test.failfast", "-test.timeout", limit.String(),
	}, flags...)
	c := exec.CommandContext(ctx, "sh", line...)
	c.Dir = t.dir
	c.Env = append(os.Environ(), variable+"="+strconv.Itoa(number))
	c.WaitDelay = time.Second
	return c
}
