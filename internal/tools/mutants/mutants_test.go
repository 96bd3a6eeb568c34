package main

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var root = filepath.Join("..", "..", "..")

// TestApply asserts that all mutants fit the code: each part is there once, and what replaces it is
// Go.
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
	}
}

func TestReadMutants(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "has no mutants",
		"-- a.go --\nx\n-- becomes --\ny\n":      "want a comment",
		"About.\n":                               "want a comment",
		"About.\n-- a.go --\nx\n":                "want a comment",
		"About.\n-- a.go --\nx\n-- b.go --\ny\n": "want a comment",
		"About.\n-- a.go --\nx\n-- becomes --\ny\n-- a\n": "",
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
		want := []mutant{{"m", "About.", []edit{{"a.go", []byte("x\n"), []byte("y\n-- a\n")}}}}
		assert.Equal(t, want, all)
	}
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
