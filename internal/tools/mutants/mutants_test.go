package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..")

// TestApply asserts that all mutants fit the code: each part is there once, what replaces it is Go,
// and there are the tests that are named.
func TestApply(t *testing.T) {
	all, err := readMutants(root)
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(all), 10)
	for _, m := range all {
		changed, err := m.apply(root)
		if !assert.NoError(t, err) {
			continue
		}
		for name, text := range changed {
			_, err := parser.ParseFile(token.NewFileSet(), name, text, 0)
			assert.NoError(t, err, m.name)
		}
		for _, test := range m.tests {
			files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(test.folder), "*_test.go"))
			require.NoError(t, err)
			assert.True(t, slices.ContainsFunc(files, func(file string) bool {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				return bytes.Contains(text, []byte("\nfunc "+test.name+"(t *testing.T)"))
			}), "%s: there is no %s", m.name, test)
		}
	}
}

func TestReadMutants(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "has no mutants",
		"-- a.go --\nx\n-- becomes --\ny\n":      "want a comment",
		"About.\n":                               "want a comment",
		"About.\n-- a.go --\nx\n":                "want a comment",
		"About.\n-- a.go --\nx\n-- b.go --\ny\n": "want a comment",
		"About.\n-- a.go --\nx\n-- becomes --\ny\n-- tests --\na\n": "want a comment",
		"About.\n-- a.go --\nx\n-- becomes --\ny\n-- a\n":           "",
	} {
		dir := t.TempDir()
		folder := filepath.Join(dir, "testdata", "mutants")
		require.NoError(t, os.MkdirAll(folder, 0o777))
		if text != "" {
			require.NoError(t, os.WriteFile(filepath.Join(folder, "m.txtar"), []byte(text), 0o666))
		}
		all, err := readMutants(dir)
		if want != "" {
			assert.ErrorContains(t, err, want, "%s", text)
			continue
		}
		require.NoError(t, err, "%s", text)
		want := []mutant{{"m", "About.", []edit{{"a.go", []byte("x\n"), []byte("y\n-- a\n")}}, nil}}
		assert.Equal(t, want, all)
	}
}

func TestReadTests(t *testing.T) {
	dir := t.TempDir()
	folder := filepath.Join(dir, "testdata", "mutants")
	require.NoError(t, os.MkdirAll(folder, 0o777))
	const text = "About.\n-- a.go --\nx\n-- becomes --\ny\n-- tests --\na/b TestC\nd TestE -f 1\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "m.txtar"), []byte(text), 0o666))
	all, err := readMutants(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
	assert.Equal(t, []test{{"a/b", "TestC", []string{}}, {"d", "TestE", []string{"-f", "1"}}}, all[0].tests)
	assert.Equal(t, "a/b.TestC", all[0].tests[0].String())
}

// TestRunTests plants a fault in a package of this test, whose tests find it, and one in its comment.
func TestRunTests(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"go.mod": "module m\n", "a.go": "package a\n\n// A is one.\nconst A = 1\n",
		"a_test.go": "package a\n\nimport \"testing\"\n\nfunc TestA(t *testing.T) {\n\tif A != 1 {\n\t\tt.Fatal()\n\t}\n}\n",
	} {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o666))
	}
	t.Setenv("GOWORK", "off")
	for _, c := range []struct {
		old, new, want string
		found          bool
		tests          []test
	}{
		{"A = 1", "A = 2", "..TestA", true, []test{{".", "TestA", nil}}},
		{"is one", "is two", "not found by ..TestA", false, []test{{".", "TestA", nil}}},
		{"A = 1", "A = 2", "not found by ..TestB", false, []test{{".", "TestA", nil}, {".", "TestB", nil}}},
	} {
		m := mutant{name: "m", edits: []edit{{"a.go", []byte(c.old), []byte(c.new)}}, tests: c.tests}
		found, text, err := m.plant(root, t.TempDir(), "", least, 0)
		require.NoError(t, err)
		assert.Equal(t, c.found, found)
		assert.Equal(t, c.want, text)
	}
	m := mutant{name: "m", edits: []edit{{"a.go", []byte("A = 1"), []byte("B = 1")}}, tests: []test{{".", "TestA", nil}}}
	_, _, err := m.plant(root, t.TempDir(), "", least, 0)
	require.ErrorContains(t, err, "undefined: A")
	m = mutant{name: "m", edits: []edit{{"a.go", []byte("A = 1"), []byte("A = 2")}}, tests: []test{{".", "TestA", []string{"-no"}}}}
	_, _, err = m.plant(root, t.TempDir(), "", least, 0)
	require.ErrorContains(t, err, "flag provided but not defined")
}

func TestApplyRefuses(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a.go"), []byte("x\ny\ny\n"), 0o666))
	edited := func(edits ...edit) (map[string][]byte, error) {
		return mutant{name: "m", edits: edits}.apply(dir)
	}
	first := edit{"a.go", []byte("x\n"), []byte("z\n")}
	changed, err := edited(first, edit{"a.go", []byte("z\n"), nil})
	require.NoError(t, err)
	assert.Equal(t, map[string][]byte{"a.go": []byte("y\ny\n")}, changed)
	_, err = edited(first, first)
	assert.ErrorContains(t, err, "m: a.go has this 0 times")
	_, err = edited(edit{"a.go", []byte("y\n"), nil})
	assert.ErrorContains(t, err, "m: a.go has this 2 times")
	_, err = edited(edit{"b.go", []byte("y\n"), nil})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestFirstFailure(t *testing.T) {
	const out = `--- FAIL: TestParity (1.27s)
    parity_test.go:138: 1024 pairs from seed 64 on, in 1s
    parity_test.go:74: seed 200
        DIFFERENCE: value
    parity_test.go:74: seed 77
        DIFFERENCE: findings
    spec_test.go:74: seed 100: value
`
	first, ok := firstFailure(out, 64, 1000)
	assert.Equal(t, failure{14, false}, first)
	assert.True(t, ok)
	first, ok = firstFailure("panic: index out of range\n", 0, 1000)
	assert.Equal(t, failure{1000, true}, first)
	assert.True(t, ok)
	_, ok = firstFailure("too few pairs\n", 0, 1000)
	assert.False(t, ok)
	assert.Equal(t, "    14 pairs: TestParity 14, TestSpec 1000 (panics)",
		summary(map[string]failure{"TestSpec": {1000, true}, "TestParity": {14, false}}, 9))
	assert.Equal(t, "not found in 9 pairs", summary(nil, 9))
}
