package reload_test

import (
	"context"
	stderrors "errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/reload"
)

// definition returns a definition with one field of its spec, of a type.
func definition(kind, field, typ string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[1]ss.example.com}
spec:
  group: example.com
  names: {kind: %[2]s, plural: %[1]ss}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%[3]s: {type: %[4]s}}}}}
`, strings.ToLower(kind), kind, field, typ)
}

func write(t *testing.T, name, text string) {
	require.NoError(t, os.WriteFile(name, []byte(text), 0o600))
}

// fieldOf returns which of two fields the schema of a kind has.
func fieldOf(t *testing.T, c *schema.Catalog, kind string) string {
	for e := range c.All() {
		if e.Kind == kind {
			for name := range e.Version.Schema.Properties["spec"].Properties {
				return name
			}
		}
	}
	return ""
}

// TestCheck follows a folder through changes, faults and repairs.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	foo := filepath.Join(dir, "foo.yaml")
	write(t, foo, definition("Foo", "a", "string"))
	f, err := reload.Open(reload.Paths([]string{dir}, schema.KEP)) // which refuses defaults of other types
	require.NoError(t, err)
	check := func(wantLoaded bool) error {
		t.Helper()
		loaded, err := f.Check()
		assert.Equal(t, wantLoaded, loaded)
		return err
	}
	require.NoError(t, check(false), "nothing has changed")

	write(t, foo, definition("Foo", "longer", "string"))
	require.NoError(t, check(false), "it may still be written")
	write(t, foo, definition("Foo", "longest", "string"))
	require.NoError(t, check(false), "it was still written")
	require.NoError(t, check(true))
	assert.Equal(t, "longest", fieldOf(t, f.Catalog(), "Foo"))
	require.NoError(t, check(false))

	bar := filepath.Join(dir, "sub", "bar.yml")
	require.NoError(t, os.Mkdir(filepath.Dir(bar), 0o700))
	write(t, bar, definition("Bar", "b", "string"))
	require.NoError(t, check(false))
	require.NoError(t, check(true), "a new file")
	assert.Equal(t, "b", fieldOf(t, f.Catalog(), "Bar"))

	for name, text := range map[string]string{
		"cannot be read":      "kind: CustomResourceDefinition\nspec: [",
		"does not compile":    definition("Bar", "b", "string, default: 1"),
		"another's kind":      strings.Replace(definition("Foo", "c", "string"), "foos.", "others.", 1),
		"has no group":        strings.Replace(definition("Bar", "b", "string"), "group: example.com", "group: ''", 1),
		"is longer than that": "",
	} {
		if text == "" {
			require.NoError(t, os.Truncate(bar, schema.MaxFileBytes+1))
		} else {
			write(t, bar, text)
		}
		require.NoError(t, check(false), name)
		require.Error(t, check(true), name)
		assert.Contains(t, f.State().Err.Error(), "bar.yml", name)
		require.Error(t, check(true), "%s: it tries again", name)
		assert.Equal(t, "longest", fieldOf(t, f.Catalog(), "Foo"), name)
		assert.Equal(t, "b", fieldOf(t, f.Catalog(), "Bar"), name)
	}
	state := f.State()
	assert.Equal(t, uint64(3), state.Loads)
	assert.Equal(t, uint64(10), state.Failures)
	assert.False(t, state.Failed.Before(state.Loaded))

	require.NoError(t, os.Remove(bar))
	require.NoError(t, check(false))
	require.NoError(t, check(true))
	assert.NoError(t, f.State().Err)
	assert.Empty(t, fieldOf(t, f.Catalog(), "Bar"))

	require.NoError(t, os.Remove(foo))
	require.NoError(t, check(false))
	require.ErrorContains(t, check(true), "there is no definition")
	assert.Equal(t, "longest", fieldOf(t, f.Catalog(), "Foo"), "an empty folder replaces nothing")
}

// TestLinks changes a folder as the kubelet changes that of a ConfigMap: a link to a folder is
// replaced, and the times of its files may be older, or the same as those of images and archives.
func TestLinks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege")
	}
	dir := t.TempDir()
	for i, field := range []string{"a", "b", "c"} {
		versions := filepath.Join(dir, fmt.Sprintf("..v%d", i))
		require.NoError(t, os.Mkdir(versions, 0o700))
		name := filepath.Join(versions, "foo.yaml")
		write(t, name, definition("Foo", field, "string"))
		at := time.Unix(1e9, 0).Add(-time.Duration(min(i, 1)) * time.Hour)
		require.NoError(t, os.Chtimes(name, at, at))
	}
	require.NoError(t, os.Symlink("..v0", filepath.Join(dir, "..data")))
	require.NoError(t, os.Symlink(filepath.Join("..data", "foo.yaml"), filepath.Join(dir, "foo.yaml")))
	f, err := reload.Open(reload.Paths([]string{dir}))
	require.NoError(t, err)
	for i, field := range []string{"b", "c"} {
		require.NoError(t, os.Symlink(fmt.Sprintf("..v%d", i+1), filepath.Join(dir, "..new")))
		require.NoError(t, os.Rename(filepath.Join(dir, "..new"), filepath.Join(dir, "..data")))
		for _, want := range []bool{false, true, false} {
			loaded, err := f.Check()
			require.NoError(t, err)
			assert.Equal(t, want, loaded)
		}
		assert.Equal(t, field, fieldOf(t, f.Catalog(), "Foo"))
	}
}

func TestOpen(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "foo.yaml"), definition("Foo", "a", "string"))
	write(t, filepath.Join(dir, ".hidden.yaml"), "[")
	write(t, filepath.Join(dir, "other.txt"), "[")
	for name, paths := range map[string][]string{
		"no definition":  {dir, t.TempDir()},
		"no such file":   {filepath.Join(dir, "none.yaml")},
		"nothing in all": {filepath.Join(dir, "foo.yaml"), t.TempDir()},
	} {
		_, err := reload.Open(reload.Paths(paths))
		assert.Error(t, err, name)
	}
	f, err := reload.Open(reload.Paths([]string{dir, filepath.Join(dir, "foo.yaml")}))
	require.NoError(t, err, "the same definition twice")
	assert.Equal(t, "a", fieldOf(t, f.Catalog(), "Foo"))
	assert.Panics(t, func() { _, _ = reload.Open(reload.Source{}) })

	// Load reads what Check takes for unchanged.
	require.NoError(t, f.Load())
	assert.Equal(t, uint64(2), f.State().Loads)
}

// TestWrittenWhileRead: what was read of a file that somebody writes meanwhile is not used.
func TestWrittenWhileRead(t *testing.T) {
	name := filepath.Join(t.TempDir(), "foo.yaml")
	write(t, name, definition("Foo", "a", "string"))
	source := reload.Paths([]string{name})
	read, interfere := source.Read, func() {}
	source.Read = func() (*schema.Catalog, error) {
		defer interfere()
		return read()
	}
	f, err := reload.Open(source)
	require.NoError(t, err)
	interfere = func() { write(t, name, definition("Foo", "whole", "string")) }
	for i, text := range []string{definition("Foo", "ha", "string"), "kind: ["} {
		write(t, name, text)
		for _, want := range []bool{false, false} {
			loaded, err := f.Check()
			require.NoError(t, err)
			assert.Equal(t, want, loaded)
		}
		assert.Equal(t, []string{"a", "whole"}[i], fieldOf(t, f.Catalog(), "Foo"))
		keep := interfere
		interfere = func() {}
		loaded, err := f.Check()
		require.NoError(t, err)
		assert.True(t, loaded)
		assert.Equal(t, "whole", fieldOf(t, f.Catalog(), "Foo"))
		interfere = keep
	}
	assert.Zero(t, f.State().Failures)
}

// TestSameTime changes a file twice within a step of the file system's clock, so that its time and its size
// stay as they were when it was read.
func TestSameTime(t *testing.T) {
	name := filepath.Join(t.TempDir(), "foo.yaml")
	now := time.Now().Truncate(time.Second)
	put := func(field string) {
		write(t, name, definition("Foo", field, "string"))
		require.NoError(t, os.Chtimes(name, now, now))
	}
	put("a")
	files, err := reload.Open(reload.Paths([]string{name}))
	require.NoError(t, err)
	check := func(want bool) {
		t.Helper()
		loaded, err := files.Check()
		require.NoError(t, err)
		require.Equal(t, want, loaded)
	}
	check(false)
	put("b")
	check(false) // it may still be written
	check(true)
	require.Equal(t, "b", fieldOf(t, files.Catalog(), "Foo"))
	check(false)

	// A file that was old when it was looked at again is not read for that any more.
	now = time.Now().Add(-time.Hour)
	put("a")
	check(false)
	check(true)
	check(false)
	check(false)
	put("b")
	check(false)
	check(false)
	require.Equal(t, "a", fieldOf(t, files.Catalog(), "Foo"), "a file system cannot tell this, and nothing else is asked")
}

// TestFollow has a source that fails for a while, and readers that must find a definition at any time.
func TestFollow(t *testing.T) {
	crds, err := schema.ParseCRD([]byte(definition("Foo", "a", "string")))
	require.NoError(t, err)
	var mu sync.Mutex
	calls := 0
	name := filepath.Join(t.TempDir(), "missing") // which is no change
	f, err := reload.Open(reload.Source{
		List: func() []string {
			mu.Lock()
			defer mu.Unlock()
			return []string{name, fmt.Sprint(calls / 2)}
		},
		Read: func() (*schema.Catalog, error) {
			mu.Lock()
			defer mu.Unlock()
			switch calls++; calls {
			case 2, 3, 4:
				return nil, stderrors.New("the disk is away")
			case 5:
				return nil, stderrors.New("it is slow")
			}
			c := schema.NewCatalog()
			return c, c.Add(crds...)
		},
	})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	reports := make(chan error)
	ended := make(chan bool)
	go func() {
		defer close(ended)
		f.Follow(ctx, time.Millisecond, func(err error) {
			select {
			case reports <- err:
			case <-ctx.Done():
			}
		})
	}()
	require.EqualError(t, f.Load(), "the disk is away")
	var got []error
	for len(got) == 0 || got[len(got)-1] != nil {
		select {
		case err := <-reports:
			got = append(got, err)
		case <-time.After(time.Minute):
			t.Fatal("nothing was reported")
		}
		_, err := f.Catalog().Lookup("example.com/v1", "Foo")
		require.NoError(t, err)
	}
	cancel()
	<-ended
	require.Len(t, got, 2)
	assert.EqualError(t, got[0], "it is slow")
	assert.Panics(t, func() { f.Follow(t.Context(), 0, nil) })
}
