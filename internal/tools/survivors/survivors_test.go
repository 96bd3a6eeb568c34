package main

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const code = `package m

const size = 2 * 3

type state struct{ list []int }

// Sum adds what is below a limit.
func (s *state) Sum(limit int) (sum int) {
	for i := 0; i < len(s.list); i++ {
		if x := s.list[i]; x*2 <= limit {
			sum += x
		}
	}
	return sum
}

func first(text string, or string) string {
	switch {
	case text == "":
		return or + "!"
	case len(text) > size:
		return text[:size-1]
	}
	return text
}

func flip(x float64, done chan bool) float64 {
	defer close(done)
again:
	x--
	if x > 5 {
		goto again
	}
	return -x
}
`

const codeTest = `package m

import "testing"

func TestSum(t *testing.T) {
	s := &state{list: []int{1, 2, 4}}
	if s.Sum(4) != 3 || s.Sum(5) != 3 {
		t.Fatal()
	}
}

func TestFirst(t *testing.T) {
	if first("", "a") != "a!" || first("abcdefgh", "") != "abcde" || first("abc", "") != "abc" {
		t.Fatal()
	}
}

func TestFlip(t *testing.T) {
	done := make(chan bool)
	if flip(6.5, done) != -4.5 {
		t.Fatal()
	}
	<-done
}
`

// lists are the survivors of code, and one that is killed.
const lists = `m.go: first: len(text) > size: CONDITIONALS_BOUNDARY > to >=
	No test has a text of that length.
m.go: (*state).Sum: i++: INCREMENT_DECREMENT ++ to --
	It is killed.
`

func module(t *testing.T) (root string) {
	root = t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n\ngo 1.26.0\n", "m.go": code, "m_test.go": codeTest, "testdata/mutation/m.txt": lists,
	} {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
	t.Setenv("GOWORK", "off")
	return root
}

// TestAgain has a mutant whose only fault is that it takes many steps. Beside a test that takes many, too, they
// are not too many, and by itself they are.
func TestAgain(t *testing.T) {
	root := module(t)
	for name, text := range map[string]string{
		"m.go":      "package m\n\nfunc count(n int) (k int) {\n\tfor i := 0; i < n-499_999; i++ {\n\t\tk++\n\t}\n\treturn k\n}\n",
		"m_test.go": "package m\n\nimport \"testing\"\n\nfunc TestCount(t *testing.T) {\n\tif count(500_000) == 0 {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o666))
	}
	p, err := instrument(root, ".")
	require.NoError(t, err)
	all, err := build(p)
	require.NoError(t, err)
	defer os.RemoveAll(all.temp)
	require.NoError(t, all.measure(len(p.mutants), 1))
	all.all = append(all.all, &test{name: "TestOther", reached: make([]bool, len(p.mutants)+1), steps: 10_000_000})
	at := slices.IndexFunc(p.mutants, func(m mutant) bool { return strings.HasSuffix(m.key, "ARITHMETIC_BASE - to +") })
	f, err := all.run(p.mutants[at], all.all, inDoubt, 1)
	require.NoError(t, err)
	assert.Equal(t, survived, f)
	f, err = all.again(p.mutants[at])
	require.NoError(t, err)
	assert.Equal(t, bySteps, f)
}

// TestInstrument asserts which mutants there are, in their order.
func TestInstrument(t *testing.T) {
	p, err := instrument(module(t), ".")
	require.NoError(t, err)
	var keys []string
	for i, m := range p.mutants {
		assert.Equal(t, i+1, m.number)
		keys = append(keys, strings.TrimPrefix(m.key, "m.go: "))
	}
	assert.Equal(t, []string{
		"(*state).Sum: i < len(s.list): CONDITIONALS_BOUNDARY < to <=",
		"(*state).Sum: i < len(s.list): CONDITIONALS_NEGATION < to >=",
		"(*state).Sum: i++: INCREMENT_DECREMENT ++ to --",
		"(*state).Sum: x*2 <= limit: CONDITIONALS_BOUNDARY <= to <",
		"(*state).Sum: x*2 <= limit: CONDITIONALS_NEGATION <= to >",
		"(*state).Sum: x*2: ARITHMETIC_BASE * to /",
		"(*state).Sum: sum += x: STATEMENT removed",
		`first: text == "": CONDITIONALS_NEGATION == to !=`,
		"first: len(text) > size: CONDITIONALS_BOUNDARY > to >=",
		"first: len(text) > size: CONDITIONALS_NEGATION > to <=",
		"flip: defer close(done): STATEMENT removed",
		"flip: x--: STATEMENT removed",
		"flip: x--: INCREMENT_DECREMENT -- to ++",
		"flip: x > 5: CONDITIONALS_BOUNDARY > to >=",
		"flip: x > 5: CONDITIONALS_NEGATION > to <=",
		"flip: -x: INVERT_NEGATIVES - to +",
	}, keys)
}

// TestRun runs all mutants of a package. What survives is listed or not, and so is what is killed.
func TestRun(t *testing.T) {
	root := module(t)
	var out bytes.Buffer
	err := run(&out, root, options{percent: 100, only: "first", workers: 2}, []string{"."})
	require.NoError(t, err, "%s", &out)
	assert.Equal(t, ".: 3 of 16 mutants run: 2 killed, 0 of them by steps and 0 by time, and 1 survived; 0 are not as listed\n", out.String())

	out.Reset()
	require.NoError(t, os.WriteFile(filepath.Join(root, "testdata", "mutation", "m.txt"), nil, 0o666))
	require.ErrorContains(t, run(&out, root, options{percent: 100, only: "text) > size", workers: 1}, []string{"."}), "1 lines of testdata/mutation")
	assert.Contains(t, out.String(), "m.go:21: survives, reached by 1 tests: m.go: first: len(text) > size: CONDITIONALS_BOUNDARY > to >=\n")
}

// TestListedButKilled has mutants of which one is listed that does not survive.
func TestListedButKilled(t *testing.T) {
	root := module(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, "m.go"), []byte(strings.Split(code, "func flip")[0]), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(root, "m_test.go"), []byte(strings.Split(codeTest, "func TestFlip")[0]), 0o666))
	var out bytes.Buffer
	require.ErrorContains(t, run(&out, root, options{percent: 100, workers: 2}, []string{"."}), "1 lines", "%s", &out)
	assert.Contains(t, out.String(), "listed, but killed: m.go: (*state).Sum: i++: INCREMENT_DECREMENT ++ to --\n")
	assert.Contains(t, out.String(), "10 of 10 mutants run: 9 killed")

	out.Reset()
	require.ErrorContains(t, run(&out, root, options{percent: 100, listed: true, workers: 2}, []string{"."}), "1 lines", "%s", &out)
	assert.Equal(t, "listed, but killed: m.go: (*state).Sum: i++: INCREMENT_DECREMENT ++ to --\n"+
		".: 2 of 10 mutants run: 1 killed, 0 of them by steps and 0 by time, and 1 survived; 1 are not as listed\n", out.String())
}

func TestChoose(t *testing.T) {
	var all []mutant
	for i := range 200 {
		all = append(all, mutant{number: i + 1})
	}
	some := choose(all, 5, 7, "")
	assert.Len(t, some, 10)
	assert.IsIncreasing(t, []int{some[0].number, some[4].number, some[9].number})
	assert.Equal(t, some, choose(all, 5, 7, ""))
	assert.NotEqual(t, some, choose(all, 5, 8, ""))
	assert.Len(t, choose(all, 100, 7, ""), 200)
	assert.Len(t, choose(all[:1], 5, 7, ""), 1, "one at least")
}

// TestWithoutListed has one line for two mutants, of which one is listed.
func TestWithoutListed(t *testing.T) {
	all := []mutant{{number: 1, key: "a"}, {number: 2, key: "b"}, {number: 3, key: "b"}, {number: 4, key: "c"}}
	left := withoutListed(slices.Clone(all), all, map[string]int{"a": 1, "b": 1})
	assert.Equal(t, all[1:], left)
}

// TestFaults has packages that are none, do not compile or fail as they are.
func TestFaults(t *testing.T) {
	root := module(t)
	all := options{percent: 100, workers: 1}
	require.ErrorContains(t, run(&bytes.Buffer{}, root, all, []string{"nowhere"}), "nowhere")
	require.NoError(t, os.WriteFile(filepath.Join(root, "m_test.go"), []byte("package m\n"), 0o666))
	require.ErrorContains(t, run(&bytes.Buffer{}, root, all, []string{"."}), "no tests")
	require.NoError(t, os.WriteFile(filepath.Join(root, "m.go"), []byte("package m\nfunc f() { x }\n"), 0o666))
	require.ErrorContains(t, run(&bytes.Buffer{}, root, all, []string{"."}), "no package that compiles")
}

// TestFates has a mutant that does not end, one that waits, one that no test reaches, and one that only
// a test finds which did not reach it when that was noted.
func TestFates(t *testing.T) {
	root := module(t)
	require.NoError(t, os.WriteFile(filepath.Join(root, "m.go"), []byte(`package m

import "sync"

func loop(n int) (i int) {
	for i < n {
		i++
	}
	return i
}

func wait() {
	var all sync.WaitGroup
	all.Add(1)
	go all.Done()
	all.Wait()
}

func unreached(x int) int { return -x }

func seldom(x int) int { return -x }
`), 0o666))
	require.NoError(t, os.WriteFile(filepath.Join(root, "m_test.go"), []byte(`package m

import (
	"os"
	"testing"
)

func TestLoop(t *testing.T) { loop(10) }

func TestWait(t *testing.T) { wait() }

func TestSeldom(t *testing.T) {
	if os.Getenv("ESPALIER_MUTANT_NOTES") == "" && seldom(1) != -1 {
		t.Fatal()
	}
}
`), 0o666))
	fateOf := func(only string, percent float64) string {
		var out bytes.Buffer
		_ = run(&out, root, options{percent: percent, only: only, workers: 1}, []string{"."})
		return out.String()
	}
	assert.Contains(t, fateOf("i++: STATEMENT removed", 100), "1 killed, 1 of them by steps and 0 by time")
	assert.Contains(t, fateOf("go all.Done()", 100), "1 killed, 0 of them by steps and 1 by time")
	assert.Contains(t, fateOf("unreached", 100), "survives, reached by no test: m.go: unreached: -x: INVERT_NEGATIVES - to +\n")
	assert.Contains(t, fateOf("seldom", 100), "1 killed, 0 of them by steps and 0 by time")
}
