package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write writes a file of a temporary folder, and returns its name.
func write(t *testing.T, folder, name, content string) string {
	name = filepath.Join(folder, filepath.FromSlash(name))
	require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
	require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
	return name
}

func TestReadable(t *testing.T) {
	for written, want := range map[string]string{
		"[]byte(\"a: b\")\nuint64(3)\n":  "[]byte(\"a: b\")\nuint64(3)\n",
		"string(\"\\\\\")\nbyte('\"')":   "string(`\\`)\nbyte('\"')\n",
		`[]byte("a:\n- \"b\"\n")`:        "[]byte(`a:\n- \"b\"\n`)\n",
		`[]byte("{\n\t\"é\": 1}")`:       "[]byte(`{\n\t\"é\": 1}`)\n",
		`[]byte("a:\n\tb")`:              "[]byte(\"a:\\n\\tb\")\n", // tabs have a meaning in YAML
		`[]byte("\"\u00a0\u202e\ufeff")`: "[]byte(\"\\\"\\u00a0\\u202e\\ufeff\")\n",
		"[]byte(\"\\n`\")":               "[]byte(\"\\n`\")\n",
		`[]byte("\n\r")`:                 "[]byte(\"\\n\\r\")\n",
		`[]byte("\n\xff")`:               "[]byte(\"\\n\\xff\")\n",
		`[]byte("a \nb")`:                "[]byte(\"a \\nb\")\n",
		`[]byte("\n-- a --\n")`:          "[]byte(\"\\n-- a --\\n\")\n",
	} {
		assert.Equal(t, want, readable(written))
	}
}

func TestMoveFailed(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, moveFailed(filepath.Join(dir, "testdata", "fuzz")), "without a folder")
	file := write(t, dir, "FuzzA.txtar", "comment\n-- 0 T.f --\nint(1)\n-- 1 --\nint(2)\n")
	write(t, dir, "FuzzA/0f3c", "go test fuzz v1\n[]byte(\"a\\nb\")\n")
	write(t, dir, "FuzzB/77aa", "go test fuzz v1\nbool(true)\n")
	require.NoError(t, moveFailed(dir))
	seeds, err := readSeeds(file)
	require.NoError(t, err)
	want := []seed{{"T.f", "int(1)\n"}, {"", "int(2)\n"}, {"failed 0f3c", "[]byte(`a\nb`)\n"}}
	assert.Equal(t, want, seeds)
	assert.True(t, seeds[2].hasFailed())
	assert.False(t, seeds[0].hasFailed())
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	assert.Contains(t, string(text), "Seeds of FuzzA.")
	assert.Contains(t, string(text), "\n\n-- 0 T.f --\nint(1)\n-- 1 --\nint(2)\n"+
		"-- 2 failed 0f3c --\n[]byte(`a\nb`)\n")
	seeds, err = readSeeds(filepath.Join(dir, "FuzzB.txtar"))
	require.NoError(t, err)
	assert.Equal(t, []seed{{"failed 77aa", "bool(true)\n"}}, seeds)
	assert.NoDirExists(t, filepath.Join(dir, "FuzzA"))

	write(t, dir, "FuzzA/1", "bool(true)\n")
	assert.ErrorContains(t, moveFailed(dir), "is no input of version 1")
	assert.FileExists(t, filepath.Join(dir, "FuzzA", "1"))
}

func TestFunction(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a/a.go", "package a\nvar v = 1\nfunc f() {\n}\nfunc (t *T[K]) g() {\n}\n"+
		"func (t U[K, V]) h() {\n}\nfunc (T) i() {\n}\n")
	write(t, dir, "b/b.go", "package b\nfunc j() {\n}\n")
	s := newSource(filepath.Join(dir, "a"), module+"a")
	const a, b = module + "a/a.go", module + "b/b.go"
	for want, blocks := range map[string][]block{
		"":    {{a, 2, 1, 1}},
		"f":   {{a, 3, 1, 2}, {a, 5, 1, 1}},
		"T.g": {{a, 3, 1, 2}, {a, 5, 1, 1}, {a, 6, 1, 1}}, // as many as f, whose name comes later
		"U.h": {{a, 7, 1, 1}},
		"T.i": {{a, 9, 1, 1}},
		"b.j": {{b, 2, 1, 1}},
	} {
		got, err := s.function(blocks)
		require.NoError(t, err)
		assert.Equal(t, want, got)
	}
	_, err := s.function([]block{{module + "c/c.go", 1, 1, 1}})
	assert.Error(t, err)
}

func TestReadProfile(t *testing.T) {
	profile := write(t, t.TempDir(), "profile", "mode: set\n"+
		module+"a/a.go:3.10,4.2 2 1\n"+
		module+"a/a.go:5.10,6.2 1 0\n"+
		module+"internal/corpus/seeds.go:5.1,6.2 1 1\n")
	covered, err := readProfile(profile)
	require.NoError(t, err)
	assert.Equal(t, []block{{module + "a/a.go", 3, 10, 2}}, covered)
}
