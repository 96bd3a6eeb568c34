package schema_test

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

var garden = filepath.Join("..", "testdata", "catalog", "garden")

func list(c *schema.Catalog) []string {
	var all []string
	for e := range c.All() {
		all = append(all, fmt.Sprintf("%s %s %s", e.APIVersion, e.Kind, filepath.ToSlash(e.CRD.File)))
	}
	return all
}

func TestCatalogAddPath(t *testing.T) {
	want := []string{
		"garden.example.com/v1 Shed ../testdata/catalog/garden/legacy.yml",
		"garden.example.com/v1 Tool ../testdata/catalog/garden/tools/tools.json",
		"garden.example.com/v1 Tree ../testdata/catalog/garden/trees.yaml",
		"garden.example.com/v1alpha1 Tree ../testdata/catalog/garden/trees.yaml",
		"garden.example.com/v1beta1 Tree ../testdata/catalog/garden/trees.yaml",
	}
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath(garden))
	require.Equal(t, want, list(c))
	require.NoError(t, c.AddPath(garden), "the same files once more")
	require.Equal(t, want, list(c))

	one := schema.NewCatalog()
	require.NoError(t, one.AddPath(filepath.Join(garden, "trees.yaml")))
	require.Equal(t, want[2:], list(one))

	embedded := schema.NewCatalog()
	require.NoError(t, embedded.AddFS(os.DirFS(garden)))
	require.Len(t, list(embedded), 5)
	require.Equal(t, "garden.example.com/v1 Tool tools/tools.json", list(embedded)[1])

	require.ErrorIs(t, c.AddPath(filepath.Join(garden, "none.yaml")), os.ErrNotExist)
	require.ErrorContains(t, c.AddPath(filepath.Join(garden, ".drafts", "broken.yaml")), "broken.yaml: document 1: ")
}

func TestCatalogLookup(t *testing.T) {
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath(garden))
	for _, tt := range []struct{ apiVersion, kind string }{
		{"garden.example.com/v1", "Tree"},
		{"garden.example.com/v1beta1", "Tree"},
		{"garden.example.com/v1", "Shed"},
		{"garden.example.com/v1", "Tool"},
	} {
		p, err := c.Lookup(tt.apiVersion, tt.kind)
		require.NoError(t, err)
		again, err := c.Lookup(tt.apiVersion, tt.kind)
		require.NoError(t, err)
		require.Same(t, p, again, "compiled once")
	}
	require.Equal(t, []string{"v1", "v1beta1"}, c.Versions("garden.example.com", "Tree"))
	require.Empty(t, c.Versions("garden.example.com", "Bush"))
	require.Empty(t, c.Versions("", "Tree"))

	for _, tt := range []struct{ apiVersion, kind, want string }{
		{"garden.example.com/v3", "Tree", `no matches for kind "Tree" in version "garden.example.com/v3": the kind has v1, v1beta1`},
		{"garden.example.com/v1alpha1", "Tree", `no matches for kind "Tree" in version "garden.example.com/v1alpha1": the version is not served, v1, v1beta1 are`},
		{"garden.example.com/v1", "tree", `no matches for kind "tree" in version "garden.example.com/v1"`},
		{"garden.example.com", "Tree", `no matches for kind "Tree" in version "garden.example.com": the kind has v1, v1beta1`},
		{"garden.example.com/v1/v1", "Tree", `no matches for kind "Tree" in version "garden.example.com/v1/v1": the kind has v1, v1beta1`},
		{"v1", "Tree", `no matches for kind "Tree" in version "v1"`},
		{"", "a\"\n", `no matches for kind "a\"\n" in version ""`},
	} {
		p, err := c.Lookup(tt.apiVersion, tt.kind)
		require.Nil(t, p)
		require.EqualError(t, err, tt.want)
		var missing *schema.NotFoundError
		require.ErrorAs(t, err, &missing)
		require.Equal(t, tt.kind, missing.Kind)
	}
}

// A version that is not served has a program for those who ask for it explicitly.
func TestCatalogNotServed(t *testing.T) {
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath(garden))
	for e := range c.All() {
		p, err := e.Program()
		require.NoError(t, err)
		require.NotNil(t, p)
		require.Same(t, e.Version, &e.CRD.Versions[indexOf(e)])
	}
}

func indexOf(e schema.Entry) int {
	for i := range e.CRD.Versions {
		if e.CRD.Group+"/"+e.CRD.Versions[i].Name == e.APIVersion {
			return i
		}
	}
	return -1
}

// The programs are those of Compile.
func TestCatalogPrograms(t *testing.T) {
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath(garden))
	for e := range c.All() {
		s := e.Version.Schema
		if s == nil {
			s = &schema.Structural{Type: "object"}
		}
		want, err := schema.Compile(s, schema.PreserveUnknownFields(e.Kind == "Shed"))
		require.NoError(t, err)
		got, err := e.Program()
		require.NoError(t, err)
		require.Equal(t, want.String(), got.String())
	}
	kep := schema.NewCatalog(schema.KEP)
	require.NoError(t, kep.AddPath(garden))
	p, err := c.Lookup("garden.example.com/v1", "Tree")
	require.NoError(t, err)
	q, err := kep.Lookup("garden.example.com/v1", "Tree")
	require.NoError(t, err)
	require.NotEqual(t, p.String(), q.String())
}

func TestCatalogConflicts(t *testing.T) {
	const manifest = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: as.example.com}
spec:
  group: example.com
  names: {plural: as, kind: A}
  versions:
  - {name: v1, served: true, schema: {openAPIV3Schema: {type: object, description: first}}}
`
	const version = "  - {name: v1, served: true, schema: {openAPIV3Schema: {type: object, description: first}}}\n"
	other := strings.NewReplacer("kind: A", "kind: B", "first", "second").Replace(manifest)
	file := func(replace ...string) *fstest.MapFile {
		return &fstest.MapFile{Data: []byte(strings.NewReplacer(replace...).Replace(manifest))}
	}
	tests := []struct {
		name  string
		other *fstest.MapFile
		want  string
	}{
		{"identical", file(), ""},
		{"another version", file("v1, served", "v2, served"), ""},
		{"another kind", file("kind: A", "kind: B"), ""},
		{"another schema", file("first", "second"), "example.com/v1, kind A is defined in a.yaml and differently in b.yaml"},
		{"another default", file("description: first", "description: first, properties: {a: {default: ''}}"), "example.com/v1, kind A is defined in a.yaml and differently in b.yaml"},
		{"not served", file("served: true", "served: false"), "example.com/v1, kind A is defined in a.yaml and differently in b.yaml"},
		{"preserving", file("group:", "preserveUnknownFields: true\n  group:"), "example.com/v1, kind A is defined in a.yaml and differently in b.yaml"},
		{"one version twice", file("kind: A", "kind: B", version, version+strings.Replace(version, "first", "second", 1)), "b.yaml: spec.versions has v1 twice, with different schemas"},
		{"in one file", file("kind: A", "kind: B", version, version+"---"+other), "example.com/v1, kind B is defined in b.yaml:2:1 and differently in b.yaml:11:1"},
		{"no group", file("group: example.com", "group: null"), "b.yaml: no spec.group or no spec.names.kind"},
		{"no kind", file("kind: A", "kind: ''"), "b.yaml: no spec.group or no spec.names.kind"},
		{"no version", file("name: v1", "name: ''"), "b.yaml: no spec.versions[0].name"},
		{"broken", file("names:", "names: {"), "b.yaml: document 1: "},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := schema.NewCatalog()
			err := c.AddFS(fstest.MapFS{"a.yaml": file(), "b.yaml": tt.other})
			if tt.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, tt.want)
			require.Empty(t, list(c), "nothing is added")
		})
	}
	// The error names every bad file.
	err := schema.NewCatalog().AddFS(fstest.MapFS{"a.yaml": {Data: []byte("a: b: c")}, "b.json": {Data: []byte("[")}})
	require.ErrorContains(t, err, "a.yaml: document 1: ")
	require.ErrorContains(t, err, "\nb.json: document 1: ")
}

// TestCatalogFaults has files and folders that cannot be read, and a schema that
// cannot be compiled.
func TestCatalogFaults(t *testing.T) {
	file := &fstest.MapFile{Data: []byte(`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition,
  spec: {group: example.com, names: {kind: A, plural: as}, versions: [{name: v1, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: string, default: 5}}}}}]}}`)}
	c := schema.NewCatalog(schema.KEP)
	require.NoError(t, c.AddFS(fstest.MapFS{"dir/a.yaml": file, "dir/notes.txt": {Data: []byte("a: b: c")}, ".a.yaml": {Data: []byte("a: b: c")}}))
	_, err := c.Lookup("example.com/v1", "A")
	require.EqualError(t, err, "dir/a.yaml: example.com/v1, kind A: openAPIV3Schema.properties[a].default: Invalid value: 5: must be of type string")

	for _, name := range []string{".", "dir", "dir/a.yaml"} {
		err := schema.NewCatalog().AddFS(faultyFS{fstest.MapFS{"dir/a.yaml": file, "dir/b.yaml": file}, name})
		require.ErrorIs(t, err, fs.ErrPermission, name)
		require.EqualError(t, err, "open "+name+": permission denied")
	}
}

// A faultyFS does not open one of its files or folders.
type faultyFS struct {
	fs.FS
	name string
}

func (f faultyFS) Open(name string) (fs.File, error) {
	if name == f.name {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	return f.FS.Open(name)
}

func TestNotFoundError(t *testing.T) {
	for _, c := range []struct {
		err  schema.NotFoundError
		want string
	}{
		{schema.NotFoundError{}, ""},
		{schema.NotFoundError{Versions: []string{"v1"}}, ": the kind has v1"},
		{schema.NotFoundError{Versions: []string{"v1", "v2"}}, ": the kind has v1, v2"},
		{schema.NotFoundError{NotServed: true}, ": the version is not served"},
		{schema.NotFoundError{NotServed: true, Versions: []string{"v1"}}, ": the version is not served, v1 is"},
		{schema.NotFoundError{NotServed: true, Versions: []string{"v1", "v2"}}, ": the version is not served, v1, v2 are"},
	} {
		c.err.APIVersion, c.err.Kind = "g/v3", "K"
		require.EqualError(t, &c.err, `no matches for kind "K" in version "g/v3"`+c.want)
	}
}

func TestCatalogConcurrently(t *testing.T) {
	c := schema.NewCatalog()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := c.AddPath(garden); err != nil {
				t.Error(err)
			}
			for e := range c.All() {
				if _, err := e.Program(); err != nil {
					t.Error(err)
				}
			}
			if _, err := c.Lookup("garden.example.com/v1", "Tree"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	require.Len(t, list(c), 5)
}

// The third-party definitions fit into one catalog.
func TestCatalogOfCorpus(t *testing.T) {
	c := schema.NewCatalog()
	require.NoError(t, c.AddPath(filepath.Join(corpus.Dir(t), "crds")))
	served := 0
	for e := range c.All() {
		p, err := c.Lookup(e.APIVersion, e.Kind)
		if !e.Version.Served {
			require.ErrorAs(t, err, new(*schema.NotFoundError))
			continue
		}
		require.NoError(t, err)
		require.NotNil(t, p)
		served++
	}
	t.Logf("%d versions, %d served", len(list(c)), served)
	require.Equal(t, 225, served, "10 of the 240 versions are there twice, 5 are not served")
}

func ExampleCatalog() {
	c := schema.NewCatalog()
	if err := c.AddPath("../testdata/catalog/garden"); err != nil {
		fmt.Println(err)
		return
	}
	if _, err := c.Lookup("garden.example.com/v1", "Tree"); err != nil {
		fmt.Println(err)
	}
	_, err := c.Lookup("garden.example.com/v2", "Tree")
	fmt.Println(err)
	for e := range c.All() {
		fmt.Println(e.Kind, e.APIVersion, e.Version.Served)
	}
	// Output:
	// no matches for kind "Tree" in version "garden.example.com/v2": the kind has v1, v1beta1
	// Shed garden.example.com/v1 true
	// Tool garden.example.com/v1 true
	// Tree garden.example.com/v1 true
	// Tree garden.example.com/v1alpha1 false
	// Tree garden.example.com/v1beta1 true
}

// TestCatalogGeneration: the generation changes when something was added, and only then.
func TestCatalogGeneration(t *testing.T) {
	c := schema.NewCatalog()
	before := c.Generation()
	require.Equal(t, before, c.Generation())
	require.NoError(t, c.AddPath(garden))
	added := c.Generation()
	require.NotEqual(t, before, added)

	require.Error(t, c.Add(&schema.CRD{}), "without a group")
	require.Equal(t, added, c.Generation())

	kinds, err := schema.ParseOpenAPI([]byte(`{"components": {"schemas": {"k": {"type": "object",
		"x-kubernetes-group-version-kind": [{"group": "g", "version": "v1", "kind": "K"}], "properties": {"metadata": {"type": "object"}}}}}}`))
	require.NoError(t, err)
	require.NoError(t, c.Add(kinds...))
	require.NotContains(t, []uint64{before, added}, c.Generation())
}

// TestCatalogReplaceAll holds that the old contents are gone at once, while lookups go on, and that
// the two catalogs share nothing that changes.
func TestCatalogReplaceAll(t *testing.T) {
	crd := func(kind string) *schema.CRD {
		return &schema.CRD{Group: "g", Kind: kind, Versions: []schema.Version{{Name: "v1", Served: true}}}
	}
	old, next := schema.NewCatalog(), schema.NewCatalog()
	require.NoError(t, old.Add(crd("A"), crd("B")))
	require.NoError(t, next.Add(crd("B"), crd("C")))
	kept, err := old.Lookup("g/v1", "A")
	require.NoError(t, err)
	before := old.Generation()

	old.ReplaceAll(next)
	require.NotEqual(t, before, old.Generation())
	var missing *schema.NotFoundError
	_, err = old.Lookup("g/v1", "A")
	require.ErrorAs(t, err, &missing)
	for _, kind := range []string{"B", "C"} {
		_, err = old.Lookup("g/v1", kind)
		require.NoError(t, err)
	}
	out, err := decoder.New(kept).AppendJSON(nil, []byte(`{"kind":"A","x":1}`))
	require.NoError(t, err)
	require.Equal(t, `{"kind":"A"}`, string(out), "a program that was found goes on working")

	require.NoError(t, next.Add(crd("D")))
	_, err = old.Lookup("g/v1", "D")
	require.ErrorAs(t, err, &missing)
	require.True(t, old.Remove("g", "C"))
	require.False(t, old.Remove("g", "C"))
	_, err = old.Lookup("g/v1", "C")
	require.ErrorAs(t, err, &missing)
	_, err = next.Lookup("g/v1", "C")
	require.NoError(t, err)
	old.ReplaceAll(old)
	require.Len(t, list(old), 1)
}

// TestCatalogReplace holds that a replaced kind has its new versions and none of the old ones, and
// that other kinds are unchanged.
func TestCatalogReplace(t *testing.T) {
	crd := func(kind string, versions ...string) *schema.CRD {
		c := &schema.CRD{Group: "g", Kind: kind}
		for _, v := range versions {
			c.Versions = append(c.Versions, schema.Version{Name: v, Served: true})
		}
		return c
	}
	c := schema.NewCatalog()
	require.NoError(t, c.Replace(crd("A", "v1", "v2"), crd("B", "v1")), "of nothing")
	require.NoError(t, c.Replace(crd("A", "v3", "v2"), crd("C", "v1")))
	for kind, want := range map[string][]string{"A": {"v2", "v3"}, "B": {"v1"}, "C": {"v1"}} {
		require.Equal(t, want, c.Versions("g", kind), kind)
	}
	renamed, again := crd("D", "v1"), crd("E", "v1")
	renamed.Plural, again.Plural = "ds", "ds"
	require.NoError(t, c.Replace(renamed))
	require.NoError(t, c.Replace(again), "of which the kind has another name now")
	require.Empty(t, c.Versions("g", "D"))
	require.Equal(t, []string{"v1"}, c.Versions("g", "E"))
	before := c.Generation()
	require.EqualError(t, c.Replace(crd("A", "v4"), nil), "schema: Catalog.Add: definition 2 of 2 is nil")
	require.Error(t, c.Replace(crd("A", "v4"), crd("B", "")))
	require.Equal(t, []string{"v2", "v3"}, c.Versions("g", "A"), "nothing was changed")
	require.Equal(t, before, c.Generation())
	require.PanicsWithValue(t, "schema: Catalog.ReplaceAll: the Catalog is nil", func() { c.ReplaceAll(nil) })
}

// TestDefinitionsGoBeforeOpenAPI holds that a definition takes precedence over a kind of an OpenAPI
// document, in any order, and the first of two documents over the second.
func TestDefinitionsGoBeforeOpenAPI(t *testing.T) {
	of := func(field string, openAPI bool) *schema.CRD {
		s := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{field: {}}}
		return &schema.CRD{Group: "g", Kind: "K", OpenAPI: openAPI, Versions: []schema.Version{{Name: "v1", Served: true, Schema: s}}}
	}
	defined, first, second := of("defined", false), of("first", true), of("second", true)
	for want, order := range map[string][][]*schema.CRD{
		"defined": {{defined, first}, {first, defined}, {first, second, defined}}, "first": {{first, second}},
	} {
		for _, crds := range order {
			together, apart := schema.NewCatalog(), schema.NewCatalog()
			require.NoError(t, together.Add(crds...))
			for _, crd := range crds {
				require.NoError(t, apart.Add(crd))
			}
			for _, c := range []*schema.Catalog{together, apart} {
				p, err := c.Lookup("g/v1", "K")
				require.NoError(t, err)
				require.Contains(t, p.FieldNames(errors.Path{}), want)
				require.Equal(t, []string{"v1"}, c.Versions("g", "K"))
			}
		}
	}
	c := schema.NewCatalog()
	require.NoError(t, c.Add(first))
	require.Error(t, c.Add(defined, nil))
	p, err := c.Lookup("g/v1", "K")
	require.NoError(t, err)
	require.Contains(t, p.FieldNames(errors.Path{}), "first", "nothing was added")
}

// TestMaxFileBytes has the longest file that is read, and a longer one. Devices and folders are not
// files.
func TestMaxFileBytes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.json")
	text := []byte(`{"apiVersion": "v1", "kind": "Thing"}`)
	text = append(text, bytes.Repeat([]byte{' '}, schema.MaxFileBytes-len(text))...)
	require.NoError(t, os.WriteFile(name, text, 0o666))
	require.NoError(t, schema.NewCatalog().AddPath(name))
	require.NoError(t, os.Truncate(name, schema.MaxFileBytes+1))
	const longer = "a.json: is longer than the limit of 67108864 bytes"
	require.ErrorContains(t, schema.NewCatalog().AddPath(name), longer)
	require.ErrorContains(t, schema.NewCatalog().AddOpenAPIPath(name), longer)
	require.ErrorContains(t, schema.NewCatalog().AddPath(filepath.Dir(name)), longer)
	require.ErrorContains(t, schema.NewCatalog().AddFS(os.DirFS(filepath.Dir(name))), longer)
	require.ErrorContains(t, schema.NewCatalog().AddFS(fstest.MapFS{"a.yaml": {Mode: fs.ModeNamedPipe}}), "a.yaml: is a pipe and no regular file")
}
