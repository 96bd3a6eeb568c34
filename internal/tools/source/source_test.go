package source

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestFunctions(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a.go")
	const code = "package a\nvar v = 1\nfunc f() {\n}\nfunc (t *T[K]) g() {\n}\n" +
		"func (t U[K, V]) h() {\n}\nfunc (T) i() {\n}\n"
	require.NoError(t, os.WriteFile(name, []byte(code), 0o666))
	functions, err := Functions(name)
	require.NoError(t, err)
	var got []Function
	for _, f := range functions {
		assert.False(t, f.Holds(f.Start.Line-1, 9))
		assert.True(t, f.Holds(f.Start.Line, 1))
		assert.True(t, f.Holds(f.Start.Line+1, 1))
		assert.False(t, f.Holds(f.Start.Line+2, 1))
		got = append(got, Function{Receiver: f.Receiver, IsPointer: f.IsPointer, Name: f.Name})
	}
	assert.Equal(t, []Function{
		{Name: "f"}, {Receiver: "T", IsPointer: true, Name: "g"}, {Receiver: "U", Name: "h"}, {Receiver: "T", Name: "i"},
	}, got)
	_, err = Functions(name + "x")
	assert.Error(t, err)
}
