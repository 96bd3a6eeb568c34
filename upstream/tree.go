package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// module is the module whose handler is changed.
const module = "k8s.io/apiextensions-apiserver"

// A tree is a copy of the module as it was released, and a folder for what is made from it.
type tree struct {
	dir      string // the copy; never changed
	temp     string // workspace, overlays
	here     string // the folder of this program's module
	released string // version
	whole    string // k8s.io/kubernetes of that release in the module cache, or empty
}

// openTree copies the module, unless an earlier run has done so. Builds find their cache then, whose keys
// hold the paths of files.
func openTree(ctx context.Context) (t *tree, err error) {
	var mod struct{ Version, Dir string }
	found, err := output(ctx, "", nil, "go", "list", "-m", "-json", module)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(found, &mod); err != nil {
		return nil, err
	}
	if mod.Dir == "" {
		return nil, fmt.Errorf("%s is not in the module cache: run go mod download", module)
	}
	gomod, err := output(ctx, "", nil, "go", "env", "GOMOD")
	if err != nil {
		return nil, err
	}
	cache, err := os.UserCacheDir()
	if err != nil {
		return nil, err
	}
	t = &tree{
		dir:      filepath.Join(cache, "espalier-upstream", "apiextensions-apiserver@"+mod.Version),
		here:     filepath.Dir(strings.TrimSpace(string(gomod))),
		released: mod.Version,
	}
	if _, err := os.Stat(t.dir); err != nil {
		if err := copyTree(mod.Dir, t.dir); err != nil {
			return nil, err
		}
	}
	if t.temp, err = os.MkdirTemp("", "espalier-upstream"); err != nil {
		return nil, err
	}
	root := filepath.Dir(t.here)
	work := "go 1.26.0\n\nuse (\n\t" + t.here + "\n\t" + filepath.Join(root, "fuzz") + "\n)\n\nreplace (\n" +
		"\tgithub.com/espalier-dev/espalier => " + root + "\n" +
		"\tgithub.com/espalier-dev/espalier/cel => " + filepath.Join(root, "cel") + "\n" +
		"\tgithub.com/espalier-dev/espalier/kube => " + filepath.Join(root, "kube") + "\n" +
		"\t" + module + " => " + t.dir + "\n)\n"
	return t, os.WriteFile(t.workspace(), []byte(work), 0o600)
}

// download brings the release of k8s.io/kubernetes that the module belongs to, whose tests of field validation
// are run.
func (t *tree) download(ctx context.Context) error {
	version := "v1." + strings.TrimPrefix(t.released, "v0.")
	found, err := output(ctx, t.temp, []string{"GOWORK=off"}, "go", "mod", "download", "-json", "k8s.io/kubernetes@"+version)
	if err != nil {
		return err
	}
	var mod struct{ Dir string }
	if err := json.Unmarshal(found, &mod); err != nil {
		return err
	}
	t.whole = mod.Dir
	return nil
}

// close removes what was made, but not the copy.
func (t *tree) close() { _ = os.RemoveAll(t.temp) }

func (t *tree) workspace() string { return filepath.Join(t.temp, "go.work") }
func (t *tree) version() string   { return module + " " + t.released }

// copyTree copies a folder of the module cache, all or nothing.
func copyTree(from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	temp, err := os.MkdirTemp(filepath.Dir(to), "copy")
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp)
	copied := filepath.Join(temp, "tree")
	if err := os.CopyFS(copied, os.DirFS(from)); err != nil {
		return err
	}
	// The server for tests writes a certificate beside its source.
	root, err := os.OpenRoot(copied)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			err = root.Chmod(path, 0o755)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := os.Rename(copied, to); err != nil && !os.IsExist(err) {
		return err
	}
	return nil
}

// changed returns the files that a variant changes or adds, by their paths within the module.
func (t *tree) changed(variant string) (map[string][]byte, error) {
	files := make(map[string][]byte)
	for _, c := range variants[variant] {
		switch {
		case t.whole == "" && strings.HasPrefix(c.path, fieldValidation+"/"):
		case c.inserted != "":
			data, err := inserted.ReadFile("testdata/inserted/" + c.inserted)
			if err != nil {
				return nil, err
			}
			files[c.path] = data
		default:
			source := files[c.path]
			from := filepath.Join(t.dir, filepath.FromSlash(c.path))
			if c.taken != "" {
				from = filepath.Join(t.whole, filepath.FromSlash(c.taken))
			}
			if source == nil {
				var err error
				if source, err = os.ReadFile(from); err != nil {
					return nil, err
				}
			}
			result, err := rewrite(c.path, source, c.edits)
			if err != nil {
				return nil, fmt.Errorf("variant %s, %s: %w", variant, t.version(), err)
			}
			files[c.path] = result
		}
	}
	return files, nil
}

// overlay writes the files of a variant, and returns the file for go's -overlay.
func (t *tree) overlay(variant string) (string, error) {
	files, err := t.changed(variant)
	if err != nil {
		return "", err
	}
	dir := filepath.Join(t.temp, variant)
	replace := make(map[string]string)
	for path, data := range files {
		to := filepath.Join(dir, filepath.FromSlash(path))
		if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
			return "", err
		}
		if err := os.WriteFile(to, data, 0o600); err != nil {
			return "", err
		}
		replace[filepath.Join(t.dir, filepath.FromSlash(path))] = to
	}
	data, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	return dir + ".json", os.WriteFile(dir+".json", data, 0o600)
}

// printDiff prints what a variant changes.
func (t *tree) printDiff(ctx context.Context, out io.Writer, variant string) error {
	if _, ok := variants[variant]; !ok {
		return fmt.Errorf("there is no variant %q", variant)
	}
	if _, err := t.overlay(variant); err != nil {
		return err
	}
	files, err := t.changed(variant)
	if err != nil {
		return err
	}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		old := filepath.Join(t.dir, filepath.FromSlash(path))
		if _, err := os.Stat(old); err != nil {
			old = os.DevNull
		}
		cmd := exec.CommandContext(ctx, "git", "diff", "--no-index", "--no-prefix", old,
			filepath.Join(t.temp, variant, filepath.FromSlash(path)))
		patch, err := cmd.Output()
		if len(patch) == 0 {
			return fmt.Errorf("git diff: %w", err)
		}
		for line := range bytes.Lines(patch) {
			line = bytes.ReplaceAll(line, []byte(strings.TrimPrefix(t.dir, "/")), []byte("a"))
			line = bytes.ReplaceAll(line, []byte(strings.TrimPrefix(filepath.Join(t.temp, variant), "/")), []byte("b"))
			if _, err := out.Write(line); err != nil {
				return err
			}
		}
	}
	return nil
}

// output runs a command and returns what it prints.
func output(ctx context.Context, dir string, env []string, name string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, stderr.Bytes())
	}
	return out, nil
}
