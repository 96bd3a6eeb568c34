package stored

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/errors"
)

var widget = finding.Identity{APIVersion: "ex.io/v1", Kind: "Widget", Namespace: "n", Name: "a"}

func object(js, file string, line int) *Object {
	return &Object{APIVersion: "ex.io/v1", JSON: []byte(js), File: "old/" + file, Key: file, At: errors.Position{Line: line, Column: 1}}
}

// TestFind: an object replaces the one with its identity, whatever the version.
func TestFind(t *testing.T) {
	var s Objects
	require.NoError(t, s.Add(widget, object(`1`, "a.yaml", 1)))
	for _, same := range []finding.Identity{widget, {APIVersion: "ex.io/v2", Kind: "Widget", Namespace: "n", Name: "a"}} {
		got, err := s.Find(same, "b.yaml")
		require.NoError(t, err)
		assert.Equal(t, "1", string(got.JSON))
	}
	for _, other := range []finding.Identity{
		{APIVersion: "ex.com/v1", Kind: "Widget", Namespace: "n", Name: "a"},
		{APIVersion: "v1", Kind: "Widget", Namespace: "n", Name: "a"},
		{APIVersion: "ex.io/v1", Kind: "Gadget", Namespace: "n", Name: "a"},
		{APIVersion: "ex.io/v1", Kind: "Widget", Name: "a"},
		{APIVersion: "ex.io/v1", Kind: "Widget", Namespace: "n", Name: "b"},
	} {
		got, err := s.Find(other, "a.yaml")
		assert.NoError(t, err)
		assert.Nil(t, got)
	}
	core := finding.Identity{APIVersion: "v1", Kind: "Pod", Name: "a"}
	require.NoError(t, s.Add(core, object(`2`, "a.yaml", 1)))
	got, err := s.Find(core, "")
	require.NoError(t, err)
	assert.NotNil(t, got)

	// A name that is generated is none yet.
	unnamed := finding.Identity{APIVersion: "ex.io/v1", Kind: "Widget"}
	require.NoError(t, s.Add(unnamed, object(`3`, "a.yaml", 1)))
	got, err = s.Find(unnamed, "a.yaml")
	assert.NoError(t, err)
	assert.Nil(t, got)
}

// TestSeveral: in one file the last object counts, then the file of the same name, and otherwise all
// must agree.
func TestSeveral(t *testing.T) {
	var s Objects
	add := func(o *Object) { require.NoError(t, s.Add(widget, o)) }
	find := func(key string) string {
		got, err := s.Find(widget, key)
		if err != nil {
			return err.Error()
		}
		return string(got.JSON)
	}
	add(object(`1`, "a.yaml", 1))
	add(object(`2`, "a.yaml", 5))
	assert.Equal(t, `2`, find("x.yaml"))
	add(object(`2`, "b.yaml", 1))
	assert.Equal(t, `2`, find("x.yaml"))
	add(object(`3`, "c.yaml", 1))
	assert.Equal(t, "several files of the old state have it, and differ: old/a.yaml:5:1 and old/c.yaml:1:1", find("x.yaml"))
	assert.Equal(t, `2`, find("a.yaml"))
	assert.Equal(t, `3`, find("c.yaml"))
	other := object(`3`, "c.yaml", 1)
	other.File = "elsewhere/c.yaml"
	add(other)
	assert.Equal(t, `3`, find("c.yaml"))
	other = object(`4`, "c.yaml", 1)
	other.File = "third/c.yaml"
	add(other)
	assert.Equal(t, "several files of the old state have it, and differ: old/c.yaml:1:1 and third/c.yaml:1:1", find("c.yaml"))
}

// TestLimit: what is replaced while the state is read is not counted.
func TestLimit(t *testing.T) {
	s := Objects{most: 2 * (objectBytes + 1)}
	for range 10 {
		require.NoError(t, s.Add(widget, object(`1`, "a.yaml", 1)))
	}
	require.NoError(t, s.Add(widget, object(`1`, "b.yaml", 1)))
	assert.ErrorIs(t, s.Add(widget, object(`1`, "c.yaml", 1)), ErrTooLarge)
}
