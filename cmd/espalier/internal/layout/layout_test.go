package layout

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// write writes files of a repository, which becomes the working folder.
func write(t *testing.T, files map[string]string) {
	t.Helper()
	t.Chdir(t.TempDir())
	for name, text := range files {
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

func TestRoles(t *testing.T) {
	write(t, map[string]string{
		"c/Chart.yaml":             "",
		"d/templates/_helpers.tpl": "",
		"k/kustomization.yaml": `
resources: [whole.yaml, twice.yaml]
patches: [{path: patch.yaml}, {path: twice.yaml}, {patch: "a: 1"}, {path: ../up.yaml}]
patchesStrategicMerge: [merge.yaml, "a: 1\nb: 2"]
patchesJson6902: [{path: operations.yaml}]
replacements: [{path: replace.yaml}, {source: {}}]
configurations: [names.yaml]
transformers: [sub/transform.yaml]
generators: [generate.yaml]
validators: [validate.yaml]
openapi: {path: api.json}
`,
		"k/l/Kustomization": "bases: [../merge.yaml]\n---\n- no mapping\n---\npatches: {a: b}\n",
		"t/chainsaw-test.yaml": `
spec:
  steps:
  - try:
    - apply: {file: both.yaml}
    - apply: {file: applied.yaml}
    - assert: {file: both.yaml}
    - assert: {resource: {a: 1}}
    - nonsense
    catch: [{create: {file: made.yaml}}]
    finally: [{delete: {file: gone.yaml}}]
  - no mapping
`,
	})
	names := []string{"-", "c/a.yaml", "d/a.yaml", "k/a.yaml", "k/l/a.yaml", "t/a.yaml"}
	l := Of(names)
	for name, want := range map[string]Role{
		"-":                      Object,
		"a.yaml":                 Object,
		"c/templates/a/b.yaml":   Template,
		"d/templates/a.yaml":     Template,
		"c/templates":            Object,
		"c/crds/a.yaml":          Object,
		"c/Chart.yaml":           Settings,
		"c/values.yaml":          Settings,
		"c/values-prod.yaml":     Settings,
		"c/prod-values.yaml":     Settings,
		"c/ci/a.yaml":            Settings,
		"c/ci/a/b.yaml":          Object,
		"c/other.yaml":           Object,
		"k/whole.yaml":           Object,
		"k/twice.yaml":           Object,
		"k/patch.yaml":           Patch,
		"k/image_patch.yaml":     Patch, // which no kustomization uses
		"k/dispatch.yaml":        Object,
		"k/merge.yaml":           Object, // another kustomization uses it whole
		"k/operations.yaml":      Patch,
		"up.yaml":                Patch,
		"k/replace.yaml":         Settings,
		"k/names.yaml":           Settings,
		"k/sub/transform.yaml":   Settings,
		"k/generate.yaml":        Settings,
		"k/validate.yaml":        Settings,
		"k/api.json":             Settings,
		"t/both.yaml":            Assertion,
		"t/applied.yaml":         Step,
		"t/made.yaml":            Step,
		"t/gone.yaml":            Assertion,
		"x/00-assert.yaml":       Assertion,
		"x/01-errors.yaml":       Assertion,
		"x/02-error-pages.yaml":  Object,
		"x/01-error-more.yml":    Object,
		"x/01-assertion.yaml":    Object,
		"x/assert.yaml":          Object,
		"x/00-assert.yaml/a.yml": Object,
	} {
		role, chart := l.Role(name)
		assert.Equal(t, want, role, name)
		assert.Equal(t, want == Template || name[0] == 'c' && want == Settings, chart != "", name)
	}
	assert.True(t, IsKustomization("a/Kustomization"))
	assert.False(t, IsKustomization("a/kustomize.yaml"))
}

// TestFoldersAbove: folders above the inputs are looked into up to the root of the repository, and
// not beyond.
func TestFoldersAbove(t *testing.T) {
	write(t, map[string]string{
		"kustomization.yaml":        "patches: [{path: repo/a/b/patch.yaml}]",
		"repo/.git":                 "",
		"repo/kustomization.yaml":   "patches: [{path: a/b/other.yaml}]",
		"repo/a/kustomization.yaml": "patches: [{path: b/third.yaml}]",
		"free/kustomization.yaml":   "patches: [{path: a/patch.yaml}]",
		"free/a/patch.yaml":         "",
		"work/here":                 "",
	})
	for _, dir := range []string{".", "repo/a/b"} {
		require.NoError(t, os.MkdirAll(dir, 0o777))
	}
	role := func(l *Layout, name string) Role { r, _ := l.Role(name); return r }
	l := Of([]string{"repo/a/b/patch.yaml", "repo/a/b/other.yaml"})
	assert.Equal(t, Object, role(l, "repo/a/b/patch.yaml"))
	assert.Equal(t, Patch, role(l, "repo/a/b/other.yaml"))
	assert.Equal(t, Patch, role(l, "repo/a/b/third.yaml"))
	assert.Equal(t, Patch, role(Of([]string{"free/a/patch.yaml"}), "free/a/patch.yaml"))
	t.Chdir("work")
	// Nobody says how far up to look, so only the folders of the inputs count.
	assert.Equal(t, Object, role(Of([]string{"../free/a/patch.yaml"}), "../free/a/patch.yaml"))
	name := filepath.Join("..", "free", "a", "patch.yaml")
	assert.Equal(t, Patch, role(Of([]string{name, filepath.Join("..", "free", "kustomization.yaml")}), name))
}
