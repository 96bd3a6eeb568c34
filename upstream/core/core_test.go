package main

import (
	"context"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestCore holds what the core is: small requirements, no assembly, no unsafe. It builds what is written to a
// folder, with the toolchain that builds the core.
func TestCore(t *testing.T) {
	ctx := context.Background()
	root, err := repository(ctx)
	require.NoError(t, err)
	c, err := newCore(ctx, root)
	require.NoError(t, err)
	assert.Contains(t, c.left, "internal/kernel/kernel_amd64.s")
	assert.Contains(t, c.left, "internal/values/box.go")
	assert.Contains(t, c.files, "internal/values/box_purego.go")
	assert.Contains(t, string(c.files[bridge]), `"encoding/json/v2"`)
	assert.Subset(t, c.packages(), append(imported, "./internal/jsonv2", "./internal/walk"))
	assert.Equal(t, 1, strings.Count(c.gomod, "require "), c.gomod)
	assert.Contains(t, c.gomod, "\nrequire sigs.k8s.io/json v")

	var out strings.Builder
	require.NoError(t, c.print(ctx, &out))
	assert.Contains(t, out.String(), "+\t\"encoding/json/v2\"\n")
	assert.Contains(t, out.String(), "no file is assembly or imports unsafe")

	dir := filepath.Join(t.TempDir(), "core")
	require.NoError(t, run(ctx, []string{"-o", dir}, &out))
	assert.Error(t, run(ctx, []string{"-o", dir}, &out), "the folder exists")
	if testing.Short() {
		t.Skip("skipped with -short: it compiles the standard library of another Go")
	}
	if said, err := command(ctx, dir, "GOTOOLCHAIN="+toolchain, "go", "version"); err != nil {
		t.Skipf("there is no Go 1.27 to be had: %v: %s", err, said)
	}
	_, err = command(ctx, dir, "GOTOOLCHAIN="+toolchain, "go", "build", "./...")
	require.NoError(t, err)
	_, err = command(ctx, dir, "GOTOOLCHAIN="+toolchain, "go", "mod", "tidy", "-diff")
	assert.NoError(t, err, "go.mod says what the core imports")
}

// TestImported holds that the core has what package kube imports, and nothing else but what that imports.
func TestImported(t *testing.T) {
	ctx := context.Background()
	root, err := repository(ctx)
	require.NoError(t, err)
	files, err := filepath.Glob(filepath.Join(root, "kube", "*.go"))
	require.NoError(t, err)
	var own []string
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, spec := range file.Imports {
			if pkg, isOurs := strings.CutPrefix(strings.Trim(spec.Path.Value, `"`), module); isOurs {
				own = append(own, "."+pkg)
			}
		}
	}
	slices.Sort(own)
	assert.Equal(t, slices.Compact(own), imported)
}

// TestCheck holds that a core with unsafe, or with what has no releases, is refused.
func TestCheck(t *testing.T) {
	for _, name := range []string{"unsafe", "C", "github.com/go-json-experiment/json/jsontext"} {
		c := &core{files: map[string][]byte{"a/a.go": []byte("package a\n\nimport \"" + name + "\"\n")}}
		assert.EqualError(t, c.check(), "a/a.go imports "+name)
	}
	assert.Equal(t, "package a\n", string(unconstrained([]byte("//go:build purego\n\npackage a\n"))))
}
