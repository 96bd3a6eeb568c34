package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// withCopy calls f with a copy of the root module in which the core has taken the place of its packages, and
// from which what the core leaves out is removed. It has the tests, and what these need.
func (c *core) withCopy(ctx context.Context, f func(dir string) error) error {
	dir, err := os.MkdirTemp("", "espalier-core")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	names, err := command(ctx, c.root, "git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
	if err != nil {
		return err
	}
	for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
		text, err := os.ReadFile(filepath.Join(c.root, name))
		switch {
		case os.IsNotExist(err) || slices.Contains(c.left, name):
			continue
		case err != nil:
			return err
		case c.files[name] != nil:
			text = c.files[name]
		}
		to := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o600); err != nil {
			return err
		}
	}
	// The core's go.mod and what the tests need beside it.
	if _, err := command(ctx, dir, "go", "mod", "edit", "-go=1.27"); err != nil {
		return err
	}
	return f(dir)
}

// runTests builds the core with Go 1.27, and runs the tests of its packages.
func (c *core) runTests(ctx context.Context, out io.Writer, dir string) error {
	deps, err := command(ctx, dir, "GOTOOLCHAIN="+toolchain, append([]string{"go", "list", "-tags=purego", "-deps"}, imported...)...)
	if err != nil {
		return err
	}
	if !strings.Contains(deps, "encoding/json/v2\n") || strings.Contains(deps, "go-json-experiment") {
		return fmt.Errorf("it does not link encoding/json/v2 in place of go-json-experiment: %s", deps)
	}
	args := []string{"go", "test", "-short", "-vet=off", "-timeout=0", "-tags=purego"}
	said, err := command(ctx, dir, "GOTOOLCHAIN="+toolchain, append(args, c.packages()...)...)
	fmt.Fprint(out, said)
	return err
}

// packages returns the folders of the core, for go.
func (c *core) packages() (list []string) {
	for file := range c.files {
		list = append(list, "./"+path.Dir(file))
	}
	slices.Sort(list)
	return slices.Compact(list)
}
