package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"go/build/constraint"
	"go/format"
	"go/parser"
	"go/token"
	"io"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

const module = "github.com/espalier-dev/espalier"

// imported are the packages that package kube imports.
var imported = []string{"./decoder", "./errors", "./schema", "./schema/validation", "./yamlbridge"}

// bridge is the only file that imports github.com/go-json-experiment/json, and what it imports instead.
const bridge = "internal/jsonv2/jsonv2.go"

var standard = strings.NewReplacer(
	`"github.com/go-json-experiment/json/jsontext"`, `"encoding/json/jsontext"`,
	`"github.com/go-json-experiment/json"`, `"encoding/json/v2"`,
)

// A core is what would be vendored.
type core struct {
	root string
	// files has the files by their paths from the root, and left those of the same packages that are left
	// out.
	files map[string][]byte
	left  []string
	gomod string
}

// A listed is a package, as go list -json says.
type listed struct {
	Dir, ImportPath                 string
	GoFiles, SFiles, IgnoredGoFiles []string
	IgnoredOtherFiles               []string
	Module                          *struct{ Path, Version string }
	Standard                        bool
}

// newCore selects the files. It is an error if one is not what a core may have.
func newCore(ctx context.Context, root string) (*core, error) {
	out, err := command(ctx, root, "go", append([]string{"list", "-tags=purego", "-deps", "-json"}, imported...)...)
	if err != nil {
		return nil, err
	}
	c := &core{root: root, files: make(map[string][]byte)}
	requires := make(map[string]string)
	for list := json.NewDecoder(strings.NewReader(out)); list.More(); {
		var p listed
		if err := list.Decode(&p); err != nil {
			return nil, err
		}
		switch {
		case p.Standard:
		case p.Module.Path == module:
			if err := c.add(p); err != nil {
				return nil, err
			}
		case p.Module.Path != "github.com/go-json-experiment/json": // whose place the standard library takes
			requires[p.Module.Path] = p.Module.Version
		}
	}
	c.gomod = "module " + module + "\n\ngo 1.27\n"
	for _, path := range slices.Sorted(maps.Keys(requires)) {
		c.gomod += "\nrequire " + path + " " + requires[path] + "\n"
	}
	return c, c.check()
}

// add adds the files of a package.
func (c *core) add(p listed) error {
	dir, err := filepath.Rel(c.root, p.Dir)
	if err != nil {
		return err
	}
	for _, name := range p.GoFiles {
		path := filepath.ToSlash(filepath.Join(dir, name))
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		text = unconstrained(text)
		if path == bridge {
			if text, err = format.Source([]byte(standard.Replace(string(text)))); err != nil {
				return err
			}
		}
		c.files[path] = text
	}
	for _, name := range slices.Concat(p.SFiles, p.IgnoredGoFiles, p.IgnoredOtherFiles) {
		if !strings.HasSuffix(name, "_test.go") {
			c.left = append(c.left, filepath.ToSlash(filepath.Join(dir, name)))
		}
	}
	return nil
}

// unconstrained returns a file without its build constraint.
func unconstrained(text []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		if !constraint.IsGoBuild(string(line)) {
			out = append(out, line...)
		}
	}
	return bytes.TrimLeft(out, "\n")
}

// check holds that no file is assembly, or imports unsafe, C or a module that has no releases.
func (c *core) check() error {
	for path, text := range c.files {
		file, err := parser.ParseFile(token.NewFileSet(), path, text, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, spec := range file.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				return err
			}
			if name == "unsafe" || name == "C" || strings.HasPrefix(name, "github.com/go-json-experiment/") {
				return fmt.Errorf("%s imports %s", path, name)
			}
		}
	}
	return nil
}

// print prints the packages, go.mod and the patch.
func (c *core) print(ctx context.Context, out io.Writer) error {
	type size struct{ files, lines int }
	sizes := make(map[string]size)
	var sum size
	for path, text := range c.files {
		lines := bytes.Count(text, []byte("\n"))
		s := sizes[filepath.Dir(path)]
		sizes[filepath.Dir(path)] = size{s.files + 1, s.lines + lines}
		sum.files++
		sum.lines += lines
	}
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "package\tfiles\tlines")
	for _, dir := range slices.Sorted(maps.Keys(sizes)) {
		fmt.Fprintf(table, "%s\t%d\t%d\n", dir, sizes[dir].files, sizes[dir].lines)
	}
	fmt.Fprintf(table, "%d packages\t%d\t%d\n", len(sizes), sum.files, sum.lines)
	if err := table.Flush(); err != nil {
		return err
	}
	fmt.Fprintf(out, "\nno file is assembly or imports unsafe; left out are %s\n", strings.Join(c.left, ", "))
	fmt.Fprintf(out, "\ngo.mod:\n\n%s\nthe patch:\n\n", c.gomod)
	return c.printPatch(ctx, out)
}

// printPatch prints what differs from the files of the repository.
func (c *core) printPatch(ctx context.Context, out io.Writer) error {
	temp, err := os.MkdirTemp("", "espalier-core")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	if err := c.write(filepath.Join(temp, "b")); err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(c.files)) {
		old, err := os.ReadFile(filepath.Join(c.root, path))
		if err != nil {
			return err
		}
		if bytes.Equal(old, c.files[path]) {
			continue
		}
		was := filepath.Join(temp, "a", path)
		if err := os.MkdirAll(filepath.Dir(was), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(was, old, 0o600); err != nil {
			return err
		}
		cmd := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-prefix", "a/"+path, "b/"+path)
		cmd.Dir = temp
		patch, err := cmd.Output() // which is an error if there are differences
		if len(patch) == 0 {
			return fmt.Errorf("git diff: %w", err)
		}
		for line := range bytes.Lines(patch) {
			if bytes.HasPrefix(line, []byte("index ")) || bytes.Contains(line, []byte(" mode ")) {
				continue
			}
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes the core to a folder, as a module.
func (c *core) write(dir string) error {
	for path, text := range c.files {
		to := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(to, text, 0o644); err != nil {
			return err
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(c.gomod), 0o644); err != nil {
		return err
	}
	sum, err := os.ReadFile(filepath.Join(c.root, "go.sum"))
	if err != nil {
		return err
	}
	var kept []byte
	for line := range bytes.Lines(sum) {
		path, rest, _ := strings.Cut(string(line), " ")
		version, _, _ := strings.Cut(rest, " ")
		if strings.Contains(c.gomod, "require "+path+" "+strings.TrimSuffix(version, "/go.mod")+"\n") {
			kept = append(kept, line...)
		}
	}
	return os.WriteFile(filepath.Join(dir, "go.sum"), kept, 0o644)
}
