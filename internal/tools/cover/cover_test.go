package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

const code = `package a

type T[K any] struct{}

func (t *T[K]) one(x int) int {
	if x > 0 {
		// why
		return 1
	}
	return 2
}

func two(x int) {
	switch {
	case x > 1:
		two(x - 1)
	}
}
`

// writeFile writes a file of a temporary folder, and returns its name.
func writeFile(t *testing.T, folder, name, content string) string {
	name = filepath.Join(folder, name)
	require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
	return name
}

func TestUncovered(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "a.go", code)
	const in = module + "a.go:"
	first := writeFile(t, dir, "first", "mode: set\n"+in+"5.31,6.11 1 1\n"+in+"6.11,9.3 1 0\n"+in+"10.2,10.10 1 0\n"+in+"13.17,14.9 1 1\n"+in+"15.12,16.13 1 0\n")
	second := writeFile(t, dir, "second", "mode: set\n"+in+"10.2,10.10 1 1\n"+in+"6.11,9.3 1 0\n")
	blocks, err := readProfiles([]string{first, second})
	require.NoError(t, err)
	assert.Equal(t, []string{".                           5 statements,  60.00 % covered"}, summary(blocks))
	keys, err := uncovered(dir, blocks)
	require.NoError(t, err)
	assert.Equal(t, []string{
		"a.go: (*T).one: if x > 0 { return 1",
		"a.go: two: case x > 1: two(x - 1)",
	}, keys)
}

func TestReadList(t *testing.T) {
	for _, c := range []struct {
		name, list string
		want       map[string]int
		fault      string
	}{
		{"with reasons", "# what\n\na.go: f: x\na.go: f: x\n\tnobody calls it\na.go: : y: z\n  because\n", map[string]int{"a.go: f: x": 2, "a.go: : y: z": 1}, ""},
		{"empty", "", map[string]int{}, ""},
		{"without a reason", "a.go: f: x\n", nil, "no reason is given for a.go: f: x"},
		{"no key", "a.go: f\n\twhy\n", nil, "list:1: want file: function: statement"},
	} {
		got, err := source.ReadList(writeFile(t, t.TempDir(), "list", c.list))
		assert.Equal(t, c.want, got, c.name)
		if c.fault != "" {
			require.Error(t, err, c.name)
			assert.Contains(t, err.Error(), c.fault, c.name)
		}
	}
}

func TestCompare(t *testing.T) {
	unlisted, stale := compare([]string{"a", "b", "b", "c"}, map[string]int{"b": 1, "c": 2, "d": 1})
	assert.Equal(t, []string{"a", "b"}, unlisted)
	assert.Equal(t, []string{"c", "d"}, stale)
}
