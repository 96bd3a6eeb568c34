package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/txtar"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
)

const writeCases = "../../testdata/write/"

// TestWriteCases runs the cases of testdata/write: in.yaml or in.json becomes want.yaml or
// want.json, or is not edited if there is none. code is the exit code, stderr the reports, and
// diff the output of --diff.
func TestWriteCases(t *testing.T) {
	files, err := filepath.Glob(writeCases + "*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			require.NoError(t, err)
			require.NotEmpty(t, archive.Comment)
			sections := map[string]string{}
			for _, f := range archive.Files {
				require.Contains(t, []string{"in.yaml", "in.json", "want.yaml", "want.json", "code", "stderr", "diff"}, f.Name)
				sections[f.Name] = string(f.Data)
			}
			in := archive.Files[0].Name
			want, changes := sections[strings.Replace(in, "in.", "want.", 1)]
			if !changes {
				want = sections[in]
			}
			code := command.ExitClean
			if s, ok := sections["code"]; ok {
				code, err = strconv.Atoi(strings.TrimSpace(s))
				require.NoError(t, err)
			}
			crd, err := filepath.Abs(writeCases + "crd.yaml")
			require.NoError(t, err)
			t.Chdir(write(t, map[string]string{in: sections[in]}))

			before, _, _ := espalier("", "prune", "--kubernetes-version", "none", "--crd", crd, in, "-o", "ndjson")
			stdout, stderr, got := espalier("", "prune", "--kubernetes-version", "none", "--crd", crd, in, "--diff")
			if diff, ok := sections["diff"]; ok {
				assert.Equal(t, diff, stdout)
			}
			assert.Equal(t, changes, stdout != "")
			if changes {
				assert.Equal(t, max(code, command.ExitFindings), got)
			} else {
				assert.Equal(t, code, got)
			}
			assert.Equal(t, sections[in], read(t, in), "--diff changes nothing")

			stdout, stderr2, got := espalier("", "prune", "--kubernetes-version", "none", "--crd", crd, in, "--write")
			assert.Equal(t, code, got, stderr2)
			assert.Empty(t, stdout)
			assert.Equal(t, want, read(t, in))
			assert.Equal(t, stderr, stderr2)
			if s, ok := sections["stderr"]; ok {
				assert.Equal(t, s, stderr)
			}
			after, _, _ := espalier("", "prune", "--kubernetes-version", "none", "--crd", crd, in, "-o", "ndjson")
			assert.Equal(t, before, after, "the objects are the same")

			stdout, _, got = espalier("", "prune", "--kubernetes-version", "none", "--crd", crd, in, "--diff")
			assert.Equal(t, code, got, "there is nothing more to do")
			assert.Empty(t, stdout)
		})
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
}

const (
	tree     = "apiVersion: write.example.com/v1\nkind: Tree\n"
	writeCRD = writeCases + "crd.yaml"
)

// TestWriteLines: lines keep their breaks, and a file without a break at its end stays without.
func TestWriteLines(t *testing.T) {
	for _, test := range []struct{ in, want string }{
		{tree + "colour: brown", tree},
		{"colour: brown\n" + strings.TrimSuffix(tree, "\n"), strings.TrimSuffix(tree, "\n")},
		{tree + "spec:\n  text: |\n    a\n\n  ? x\n  : 1\n  size: 1\n", tree + "spec:\n  text: |\n    a\n\n  size: 1\n"},
		{"\uFEFF" + tree + "x: 1\n", "\uFEFF" + tree},
	} {
		for _, lineBreak := range []string{"\n", "\r\n"} {
			in, want := strings.ReplaceAll(test.in, "\n", lineBreak), strings.ReplaceAll(test.want, "\n", lineBreak)
			file := filepath.Join(write(t, map[string]string{"a.yaml": in}), "a.yaml")
			_, stderr, code := espalier("", "prune", "--crd", writeCRD, "--write", file)
			assert.Equal(t, command.ExitClean, code, stderr)
			assert.Equal(t, want, read(t, file))
		}
	}
}

// TestWriteArguments has reports, exit codes and arguments that are refused.
func TestWriteArguments(t *testing.T) {
	dir := write(t, map[string]string{"a.yaml": tree + "x: 1\n", "b.json": `{"apiVersion": "v1", "kind": "Secret", "a": 1, "a": 2}`, "c.txt": tree + "x: 1\n"})
	a, b := filepath.Join(dir, "a.yaml"), filepath.Join(dir, "b.json")
	stdout, stderr, code := espalier("", "prune", "--kubernetes-version", "none", "--crd", writeCRD, "--diff", "--validate=ignore", "--ignore-missing-schemas", dir)
	assert.Equal(t, command.ExitFindings, code)
	assert.Empty(t, stderr)
	assert.Contains(t, stdout, "-x: 1\n")
	assert.Contains(t, stdout, "-"+read(t, b)+"\n\\ No newline at end of file\n"+`+{"apiVersion": "v1", "kind": "Secret", "a": 2}`)

	_, stderr, code = espalier("", "prune", "--crd", writeCRD, "--write", "--validate=strict", "-f", a)
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, a+`:3:1: error: unknown field "x" (Tree) [unknown-field]`+"\n", stderr)
	assert.Equal(t, tree, read(t, a), "findings do not keep the file from being written")
	assert.Equal(t, tree+"x: 1\n", read(t, filepath.Join(dir, "c.txt")), "it was not named")

	stdout, _, code = espalier(tree+"x: 1\n", "prune", "--crd", writeCRD, "--diff")
	assert.Equal(t, command.ExitFindings, code)
	assert.Equal(t, "--- a/<stdin>\n+++ b/<stdin>\n@@ -1,3 +1,2 @@\n apiVersion: write.example.com/v1\n kind: Tree\n-x: 1\n", stdout)

	for _, args := range [][]string{{"--write"}, {"--write", "-"}, {"--write", "-f", "-", a}} {
		stdout, stderr, code = espalier(tree, append([]string{"prune", "--crd", writeCRD}, args...)...)
		assert.Equal(t, command.ExitUsage, code)
		assert.Empty(t, stdout)
		assert.Contains(t, stderr, "name the files, or redirect the output")
	}
	for _, args := range [][]string{{"--write", "--diff"}, {"--write", "-o", "ndjson"}, {"--diff", "-o", "yaml"}} {
		_, _, code = espalier(tree, append([]string{"prune", "--crd", writeCRD, a}, args...)...)
		assert.Equal(t, command.ExitUsage, code, args)
	}
	_, stderr, code = espalier("", "prune", "--crd", writeCRD, "--write", filepath.Join(dir, "none.yaml"))
	assert.Equal(t, command.ExitInput, code)
	assert.Contains(t, stderr, "none.yaml")
}

// TestWriteFiles: a file is replaced as a whole, with its mode, and links lead
// where they did. What needs no change is not touched.
func TestWriteFiles(t *testing.T) {
	dir := write(t, map[string]string{"files/a.yaml": tree + "x: 1\n", "files/b.yaml": tree, "links/none": ""})
	a, b, link := filepath.Join(dir, "files/a.yaml"), filepath.Join(dir, "files/b.yaml"), filepath.Join(dir, "links/a.yaml")
	require.NoError(t, os.Chmod(a, 0o640))
	require.NoError(t, os.Symlink("../files/a.yaml", link))
	oldA, err := os.Stat(a)
	require.NoError(t, err)
	oldB, err := os.Stat(b)
	require.NoError(t, err)

	_, stderr, code := espalier("", "prune", "--crd", writeCRD, "--write", link, b)
	assert.Equal(t, command.ExitClean, code, stderr)
	assert.Equal(t, tree, read(t, a))
	target, err := os.Readlink(link)
	assert.NoError(t, err)
	assert.Equal(t, "../files/a.yaml", target)
	newA, err := os.Stat(a)
	require.NoError(t, err)
	assert.Equal(t, oldA.Mode(), newA.Mode())
	assert.False(t, os.SameFile(oldA, newA))
	newB, err := os.Stat(b)
	require.NoError(t, err)
	assert.True(t, os.SameFile(oldB, newB))
	for _, folder := range []string{"files", "links"} {
		left, err := os.ReadDir(filepath.Join(dir, folder))
		assert.NoError(t, err)
		assert.Len(t, left, 2, "nothing is left behind")
	}
}

// TestWriteLimit: an object with too many fields to remove is not edited.
func TestWriteLimit(t *testing.T) {
	for n, want := range map[int]int{examine.MaxKept: command.ExitClean, examine.MaxKept + 1: command.ExitInput} {
		var in strings.Builder
		in.WriteString(tree)
		for i := range n {
			fmt.Fprintf(&in, "x%d:\n", i)
		}
		file := filepath.Join(write(t, map[string]string{"a.yaml": in.String()}), "a.yaml")
		_, stderr, code := espalier("", "prune", "--crd", writeCRD, "--write", "--validate=ignore", file)
		assert.Equal(t, want, code, "%.1000s", stderr)
		if want == command.ExitClean {
			assert.Equal(t, tree, read(t, file))
		} else {
			assert.Equal(t, in.String(), read(t, file))
			assert.Contains(t, stderr, "more than 10000 ")
		}
	}
}
