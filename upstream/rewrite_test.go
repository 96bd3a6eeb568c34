package main

import (
	"context"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"
)

const example = `package p

type box struct {
	n int
}

func (b *box) fill() error {
	var list []int
	for _, v := range b.all() {
		list = append(list, v)
	}
	return use(option{name: "a", size: 2}, list)
}
`

// TestRewrite makes an edit of each kind, and the rest of the file stays.
func TestRewrite(t *testing.T) {
	got, err := rewrite("p.go", []byte(example), []edit{
		{in: "box", find: lastField(), after: "\nextra string"},
		{in: "box.fill", find: loopWith("b.all()", "append"), before: "open()\n"},
		{in: "box.fill", find: lastElement("option"), after: ", last: true"},
		{in: "box.fill", find: member("option", "name"), instead: `"b"`},
	})
	require.NoError(t, err)
	want := strings.NewReplacer(
		"n int", "n     int\n\textra string", "\tfor _", "\topen()\n\tfor _",
		"size: 2", "size: 2, last: true", `"a"`, `"b"`).Replace(example)
	assert.Equal(t, want, string(got))
}

// TestEditsAtOnce holds that variants can be made at the same time, as the short selection makes them.
func TestEditsAtOnce(t *testing.T) {
	shared := []edit{
		{in: "box", what: "the field", find: lastField(), after: "\nextra string"},
		{in: "box.fill", what: "the option", find: lastElement("option"), after: ", last: true"},
		{in: "box.fill", what: "the name", find: member("option", "name"), instead: `"b"`},
	}
	var all errgroup.Group
	for range 8 {
		all.Go(func() error {
			for range 500 {
				if _, err := rewrite("p.go", []byte(example), shared); err != nil {
					return err
				}
			}
			return nil
		})
	}
	assert.NoError(t, all.Wait())
}

// TestEditsFail holds that an edit whose place is missing, or not the only one, is an error that says so.
func TestEditsFail(t *testing.T) {
	for name, c := range map[string]struct {
		edit edit
		want string
	}{
		"no function": {edit{in: "box.empty", find: lastField()}, "p.go: there are 0 declarations of box.empty, and not one"},
		"no place":    {edit{in: "box.fill", what: "the loop", find: loopWith("b.all()", "print")}, "p.go: the loop is found 0 times in box.fill, and not once"},
		"no text":     {edit{in: "box.fill", what: "it", find: member("option", "no")}, "p.go: it is found 0 times in box.fill, and not once"},
	} {
		_, err := rewrite("p.go", []byte(example), []edit{c.edit})
		assert.EqualError(t, err, c.want, name)
	}
	twice := strings.Replace(example, "return use(", "use(option{size: 1})\n\treturn use(", 1)
	_, err := rewrite("p.go", []byte(twice), []edit{{in: "box.fill", what: "it", find: lastElement("option")}})
	assert.EqualError(t, err, "p.go: it is found 2 times in box.fill, and not once")
	_, err = rewrite("p.go", []byte(example), []edit{
		{in: "box.fill", find: loopWith("b.all()", "append"), instead: "x()"},
		{in: "box.fill", find: lastElement("option"), after: " }"},
	})
	assert.Error(t, err, "the result is no Go")
}

// TestVariants makes all edits in the release that go.mod names, and holds how much they change of it: what
// a proposal would change.
func TestVariants(t *testing.T) {
	tree, err := openTree(context.Background())
	require.NoError(t, err)
	defer tree.close()
	lines := make(map[string]int)
	for _, variant := range slices.Sorted(maps.Keys(variants)) {
		var diff strings.Builder
		require.NoError(t, tree.printDiff(context.Background(), &diff, variant))
		for line := range strings.Lines(diff.String()) {
			if strings.HasPrefix(line, "+") && !strings.HasPrefix(line, "+++") {
				lines[variant]++
			}
			if !strings.HasPrefix(line, "-") {
				continue
			}
			// One line is changed for requests, and one for the strategy.
			if !strings.HasPrefix(line, "---") {
				lines[variant+", removed"]++
			}
		}
	}
	assert.Equal(t, 1, lines["decoding, removed"]-lines["stock, removed"])
	t.Logf("lines that are added or removed: %v", lines)
}

// TestCopy holds that a copy of a folder that nobody may write can be written to, and that a second one changes
// nothing.
func TestCopy(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "from"), filepath.Join(t.TempDir(), "a", "to")
	require.NoError(t, os.MkdirAll(filepath.Join(from, "x"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(from, "x", "f"), []byte("text"), 0o444))
	require.NoError(t, os.Chmod(filepath.Join(from, "x"), 0o555))
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(from, "x"), 0o755) })
	require.NoError(t, copyTree(from, to))
	info, err := os.Stat(filepath.Join(to, "x"))
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o755), info.Mode().Perm())
	require.NoError(t, copyTree(from, to))
	text, err := os.ReadFile(filepath.Join(to, "x", "f"))
	require.NoError(t, err)
	assert.Equal(t, "text", string(text))
	left, err := os.ReadDir(filepath.Dir(to))
	require.NoError(t, err)
	assert.Len(t, left, 1, "nothing is left beside it")
}

// TestFieldValidation makes the edits in the test of k8s.io/kubernetes, if that is in the module cache.
func TestFieldValidation(t *testing.T) {
	tree, err := openTree(context.Background())
	require.NoError(t, err)
	defer tree.close()
	t.Setenv("GOPROXY", "off")
	if err := tree.download(context.Background()); err != nil {
		t.Skipf("skipped without k8s.io/kubernetes in the module cache: %v", err)
	}
	files, err := tree.changed(stock)
	require.NoError(t, err)
	edited := string(files[fieldValidation+"/field_validation_test.go"])
	assert.NotContains(t, edited, "k8s.io/kubernetes/")
	assert.NotContains(t, edited, `t.Run("Post",`)
	assert.Contains(t, edited, `t.Run("PostCRD",`)
}

// TestSuite holds that the suite finds the packages of the module, and the tests of the short selection.
func TestSuite(t *testing.T) {
	tree, err := openTree(context.Background())
	require.NoError(t, err)
	defer tree.close()
	all, err := newSuite(tree, false, "")
	require.NoError(t, err)
	assert.Contains(t, all.tests, "pkg/apiserver")
	assert.Contains(t, all.tests, integration+"/conversion")
	assert.Greater(t, len(all.tests), 25)
	short, err := newSuite(tree, true, "")
	require.NoError(t, err)
	assert.Len(t, short.tests, 1)
	assert.Contains(t, short.tests[integration], "TestPruningCreate")
	assert.Greater(t, len(short.tests[integration]), 30)
	_, err = newSuite(tree, false, "nothing")
	assert.Error(t, err)
}
