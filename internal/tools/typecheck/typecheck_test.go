package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func write(t *testing.T, root string, files map[string]string) {
	for name, text := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		require.NoError(t, os.MkdirAll(filepath.Dir(name), 0o777))
		require.NoError(t, os.WriteFile(name, []byte(text), 0o666))
	}
}

// TestCheck has a module with files for some systems, each of which gets one fault after the other.
func TestCheck(t *testing.T) {
	t.Setenv("GOWORK", "off")
	t.Setenv("GOOS", "windows")
	t.Setenv("GOARCH", "386")
	good := map[string]string{
		"go.mod":              "module m\n\ngo 1.26.0\n",
		"m.go":                "package m\n\nimport \"m/other\"\n\nfunc F() int { return other.G() }\n",
		"m_test.go":           "package m\n\nfunc f() int { return F() }\n",
		"m_linux.go":          "package m\n\nvar x = unknown\n",
		"other/o_windows.go":  "package other\n\nfunc G() int { return 1 }\n",
		"other/o_amd64.go":    "package other\n\nvar y = unknown\n",
		"other/o_386_test.go": "package other\n\nvar z = G()\n",
	}
	root := t.TempDir()
	write(t, root, good)
	var out bytes.Buffer
	require.NoError(t, check(&out, root, "./..."))
	assert.Regexp(t, `^windows/386: the types of \d+ packages and tests fit\n$`, out.String())

	for _, fault := range []struct{ name, text, where string }{
		{"m.go", "package m\n\nfunc F() int { return 1 << 40 }\n", "m.go:3:"}, // too wide for this system
		{"m_test.go", "package m\n\nfunc f() string { return F() }\n", "m_test.go:3:"},
		{"other/o_windows.go", "package other\n\nfunc H() int { return 1 }\n", "m.go:5:"},
		{"other/o_386_test.go", "package other\n\nvar z = unknown\n", "o_386_test.go:3:"},
	} {
		write(t, root, map[string]string{fault.name: fault.text})
		out.Reset()
		require.ErrorContains(t, check(&out, root, "./..."), fault.where)
		assert.Empty(t, out.String())
		write(t, root, good)
	}
	require.Error(t, check(&out, root, "./nowhere"))
	require.Error(t, check(&out, filepath.Join(root, "nowhere"), "./..."))
}
