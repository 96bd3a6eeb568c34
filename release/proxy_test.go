package release

import (
	"archive/zip"
	"encoding/json"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/mod/modfile"
	"golang.org/x/mod/module"
	modzip "golang.org/x/mod/zip"
)

// root is the path of the root module, which starts the path of each other module.
const root = "github.com/espalier-dev/espalier"

// A checkout is a commit of this repository: HEAD, with uncommitted changes of tracked files.
type checkout struct {
	dir    string // of the work tree
	clone  string // the repository itself, in .git
	commit string
}

func newCheckout(t *testing.T) checkout {
	dir, err := filepath.Abs("..")
	require.NoError(t, err)
	if _, err := os.Stat(filepath.Join(dir, ".git")); err != nil {
		t.Skip("skipped: this is no clone of the repository, of which a release could be made")
	}
	trustClone(t)
	c := checkout{dir: dir}
	if c.commit = c.git(t, "stash", "create"); c.commit == "" {
		c.commit = c.git(t, "rev-parse", "HEAD")
	}
	c.clone = filepath.Dir(c.git(t, "rev-parse", "--path-format=absolute", "--git-common-dir"))
	return c
}

// trustClone makes git accept a clone that belongs to another user, as in a container.
func trustClone(t *testing.T) {
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "safe.directory")
	t.Setenv("GIT_CONFIG_VALUE_0", "*")
}

func (c checkout) git(t *testing.T, args ...string) string {
	t.Helper()
	git := exec.Command("git", append([]string{"-C", c.dir, "-c", "user.name=test", "-c", "user.email=test@example.com"}, args...)...)
	git.Stderr = os.Stderr
	out, err := git.Output()
	require.NoError(t, err, "git %s", strings.Join(args, " "))
	return strings.TrimSpace(string(out))
}

// modules returns the go.mod of each module by its folder.
func (c checkout) modules(t *testing.T) map[string]*modfile.File {
	files := make(map[string]*modfile.File)
	for name := range strings.Lines(c.git(t, "ls-tree", "-r", "--name-only", c.commit)) {
		name = strings.TrimSpace(name)
		if path.Base(name) != "go.mod" {
			continue
		}
		text := c.git(t, "show", c.commit+":"+name)
		f, err := modfile.Parse(name, []byte(text), nil)
		require.NoError(t, err)
		files[path.Dir(name)] = f
	}
	return files
}

// required returns the version at which the modules of the repository require each other.
func required(t *testing.T, files map[string]*modfile.File) string {
	version := ""
	for _, f := range files {
		for _, r := range f.Require {
			if r.Mod.Path != root && !strings.HasPrefix(r.Mod.Path, root+"/") {
				continue
			}
			if version == "" {
				version = r.Mod.Version
			}
			require.Equal(t, version, r.Mod.Version, "%s: %s: all modules have the same version", f.Module.Mod.Path, r.Mod.Path)
		}
	}
	require.NotEmpty(t, version)
	return version
}

// publish writes all modules of the checkout, tagged as for a release, to a module proxy in a
// folder, and returns its URL.
func (c checkout) publish(t *testing.T, files map[string]*modfile.File, version string) string {
	proxy := t.TempDir()
	for dir, f := range files {
		mod := module.Version{Path: f.Module.Mod.Path, Version: version}
		escaped, err := module.EscapePath(mod.Path)
		require.NoError(t, err)
		at := filepath.Join(proxy, filepath.FromSlash(escaped), "@v")
		require.NoError(t, os.MkdirAll(at, 0o755))
		put := func(name string, data []byte) {
			require.NoError(t, os.WriteFile(filepath.Join(at, name), data, 0o644))
		}
		put("list", []byte(version+"\n"))
		info, err := json.Marshal(map[string]any{"Version": version, "Time": time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)})
		require.NoError(t, err)
		put(version+".info", info)
		put(version+".mod", modfile.Format(f.Syntax))
		archive, err := os.Create(filepath.Join(at, version+".zip"))
		require.NoError(t, err)
		require.NoError(t, modzip.CreateFromVCS(archive, mod, c.clone, c.commit, strings.TrimPrefix(dir, ".")), dir)
		require.NoError(t, archive.Close())
		requireLicense(t, archive.Name())
	}
	return "file://" + filepath.ToSlash(proxy)
}

// requireLicense fails if a module has no licence. The go command adds that of the root.
func requireLicense(t *testing.T, archive string) {
	z, err := zip.OpenReader(archive)
	require.NoError(t, err)
	defer z.Close()
	for _, f := range z.File {
		if path.Base(f.Name) == "LICENSE" {
			return
		}
	}
	require.Fail(t, "there is no LICENSE", archive)
}

// A machine has Go, and of this repository only what the proxy has.
type machine struct {
	env []string
	bin string
}

func newMachine(t *testing.T, proxy string) machine {
	gopath := t.TempDir()
	ask := func(name string) string {
		out, err := exec.Command("go", "env", name).Output()
		require.NoError(t, err)
		return strings.TrimSpace(string(out))
	}
	// Modules that were fetched before need not be fetched again: the module cache is a proxy, too.
	fetched := "file://" + filepath.ToSlash(filepath.Join(ask("GOMODCACHE"), "cache", "download"))
	m := machine{bin: filepath.Join(gopath, "bin")}
	m.env = append(os.Environ(),
		"GOPATH="+gopath, "GOMODCACHE="+filepath.Join(gopath, "pkg", "mod"), "GOBIN="+m.bin,
		"GOPROXY="+strings.Join([]string{proxy, fetched, ask("GOPROXY")}, ","),
		"GOSUMDB=off", // it does not know unpublished versions
		"GONOPROXY=", "GOPRIVATE=", "GOWORK=off", "GOTOOLCHAIN=local",
		// The cache of modules can be removed, and its content builds the same anywhere.
		"GOFLAGS=-modcacherw -trimpath")
	return m
}

// run runs a command in a folder and returns its output.
func (m machine) run(t *testing.T, dir string, words ...string) string {
	t.Helper()
	command := exec.Command(words[0], words[1:]...)
	command.Dir, command.Env = dir, m.env
	var stderr strings.Builder
	command.Stderr = &stderr
	start := time.Now()
	out, err := command.Output()
	require.NoError(t, err, "%s\n%s%s", strings.Join(words, " "), out, stderr.String())
	t.Logf("%s (%.1f s)", strings.Join(words, " "), time.Since(start).Seconds())
	return string(out)
}

// program makes a module of a program in testdata that requires one of our modules, and returns its
// folder.
func (m machine) program(t *testing.T, mod, version, name string) string {
	t.Helper()
	source, err := os.ReadFile(filepath.Join("testdata", name, "main.go"))
	require.NoError(t, err)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(dir, "main.go"), source, 0o600))
	m.run(t, dir, "go", "mod", "init", "example.com/program")
	m.run(t, dir, "go", "get", mod+"@"+version)
	m.run(t, dir, "go", "mod", "tidy")
	return dir
}
