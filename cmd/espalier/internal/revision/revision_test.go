package revision

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A repo is a repository of a test.
type repo struct {
	*testing.T
	dir string
}

func newRepo(t *testing.T) *repo {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("skipped: git is not installed")
	}
	t.Setenv("GIT_CONFIG_GLOBAL", os.DevNull)
	t.Setenv("GIT_CONFIG_SYSTEM", os.DevNull)
	dir, err := filepath.EvalSymlinks(t.TempDir())
	require.NoError(t, err)
	r := &repo{t, dir}
	r.git("init", "-q", "-b", "main", ".")
	return r
}

func (r *repo) git(args ...string) string {
	r.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=a", "-c", "user.email=a@example.com", "-c", "core.hooksPath=" + os.DevNull, "-c", "core.fsmonitor=false"}, args...)...)
	cmd.Dir = r.dir
	out, err := cmd.CombinedOutput()
	require.NoError(r, err, "%s", out)
	return strings.TrimSpace(string(out))
}

func (r *repo) write(name, content string) {
	r.Helper()
	name = filepath.Join(r.dir, name)
	require.NoError(r, os.MkdirAll(filepath.Dir(name), 0o777))
	require.NoError(r, os.WriteFile(name, []byte(content), 0o666))
}

func (r *repo) commit() {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "-q", "--allow-empty", "-m", "x")
}

// contents returns the files to which an argument leads at a revision, with their contents or why
// they cannot be read.
func contents(t *testing.T, rev, argument string, recursive bool) map[string]string {
	t.Helper()
	r, err := New(rev)
	require.NoError(t, err)
	files, err := r.Find(argument, recursive)
	require.NoError(t, err)
	var from Reader
	defer from.Close()
	got := map[string]string{}
	for _, f := range files {
		err := from.Read(f, func(in io.Reader) {
			text, err := io.ReadAll(in)
			require.NoError(t, err)
			got[f.Name] = string(text)
		})
		if err != nil {
			got[f.Name] = err.Error()
		}
	}
	return got
}

// TestFind: of a folder, a file and a pattern the same files are read as on disk.
func TestFind(t *testing.T) {
	r := newRepo(t)
	for _, name := range []string{"m/b.yaml", "m/a.json", "m/sub/c.yml.gz", "m/.hidden.yaml", "m/.d/x.yaml", "m/text.txt", "m2/z.yaml", "gone/g.yaml"} {
		r.write(name, "content of "+name)
	}
	r.commit()
	require.NoError(t, os.RemoveAll(filepath.Join(r.dir, "gone")))
	r.write("m/new.yaml", "")
	all := map[string]string{"main:m/a.json": "content of m/a.json", "main:m/b.yaml": "content of m/b.yaml", "main:m/sub/c.yml.gz": "content of m/sub/c.yml.gz"}
	assert.Equal(t, all, contents(t, "main", filepath.Join(r.dir, "m"), true))
	t.Chdir(filepath.Join(r.dir, "m"))
	assert.Equal(t, all, contents(t, "main", ".", true))
	assert.Equal(t, all, contents(t, "main", "../m/", true))
	delete(all, "main:m/sub/c.yml.gz")
	assert.Equal(t, all, contents(t, "main", ".", false))
	assert.Equal(t, map[string]string{"main:m/text.txt": "content of m/text.txt"}, contents(t, "main", "text.txt", true))
	assert.Equal(t, map[string]string{"main:m/.hidden.yaml": "content of m/.hidden.yaml", "main:m/b.yaml": "content of m/b.yaml"}, contents(t, "main", "*.yaml", true))
	assert.Equal(t, map[string]string{"main:m/sub/c.yml.gz": "content of m/sub/c.yml.gz"}, contents(t, "main", "s*", true))
	assert.Equal(t, map[string]string{"main:gone/g.yaml": "content of gone/g.yaml"}, contents(t, "main", "../gone", true))
	assert.Equal(t, map[string]string{"main:gone/g.yaml": "content of gone/g.yaml"}, contents(t, "main", "../gone/g.yaml", true))
	assert.Empty(t, contents(t, "main", "new.yaml", true))
	assert.Len(t, contents(t, "main", "..", true), 5)

	v, err := New("main")
	require.NoError(t, err)
	files, err := v.Find("../m/sub", true)
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Equal(t, filepath.Join("..", "m", "sub", "c.yml.gz"), files[0].Path)
}

// TestNames: names of files are no options, patterns or ends of lines.
func TestNames(t *testing.T) {
	r := newRepo(t)
	want := map[string]string{}
	for _, name := range []string{"-r/--all.yaml", "-r/-.yaml", "-r/:(glob)*.yaml", "-r/a b.yaml", "-r/new\nline.yaml", "-r/ü\t.yaml", "-r/HEAD.yaml", "-r/\xff.yaml"} {
		r.write(name, name)
		want["main:"+name] = name
	}
	r.commit()
	t.Chdir(r.dir)
	assert.Equal(t, want, contents(t, "main", "-r", true))
	for name := range want {
		name = strings.TrimPrefix(name, "main:")
		assert.Equal(t, map[string]string{"main:" + name: name}, contents(t, "main", name, true))
	}
}

// TestLinks: links lead to files of the revision, as git has them.
func TestLinks(t *testing.T) {
	r := newRepo(t)
	outside := filepath.Join(t.TempDir(), "secret.yaml")
	require.NoError(t, os.WriteFile(outside, []byte("secret"), 0o666))
	r.write("m/file.yaml", "file")
	r.write("other/file.yaml", "other")
	for name, target := range map[string]string{
		"in.yaml": "file.yaml", "chain.yaml": "in.yaml", "up.yaml": "../other/file.yaml", "out.yaml": outside, "far.yaml": "../../../secret.yaml",
		"gone.yaml": "absent.yaml", "loop.yaml": "loop.yaml", "folder.yaml": "../other", "within.yaml": "file.yaml/x", "text": "file.yaml",
	} {
		require.NoError(t, os.Symlink(target, filepath.Join(r.dir, "m", name)))
	}
	r.commit()
	assert.Equal(t, map[string]string{
		"main:m/file.yaml": "file", "main:m/in.yaml": "file", "main:m/chain.yaml": "file", "main:m/up.yaml": "other",
		"main:m/out.yaml":    "links to a file out of the repository, and is not read",
		"main:m/far.yaml":    "links to a file out of the repository, and is not read",
		"main:m/gone.yaml":   "links to a file that the revision does not have",
		"main:m/within.yaml": "links to a file that the revision does not have",
		"main:m/loop.yaml":   "links to itself",
		"main:m/folder.yaml": "links to something that is no regular file, and is not read",
	}, contents(t, "main", filepath.Join(r.dir, "m"), true))
	assert.Equal(t, map[string]string{"main:m/text": "file"}, contents(t, "main", filepath.Join(r.dir, "m", "text"), true))

	require.NoError(t, os.Symlink("file.yaml", filepath.Join(r.dir, "m", "a\nb.yaml")))
	r.commit()
	v, err := New("main")
	require.NoError(t, err)
	_, err = v.Find(filepath.Join(r.dir, "m"), true)
	assert.EqualError(t, err, "main:m/a\nb.yaml: is a link, and its name has a line feed")
}

// TestHostile: nothing that a repository has is run.
func TestHostile(t *testing.T) {
	r := newRepo(t)
	run := "touch " + filepath.Join(r.dir, "pwned")
	r.write("m/a.yaml", "a\n")
	r.write(".gitattributes", "*.yaml filter=x diff=x eol=crlf ident\n")
	r.commit()
	for _, name := range []string{"core.fsmonitor", "core.pager", "core.sshCommand", "core.editor", "filter.x.smudge", "filter.x.process", "diff.x.textconv", "diff.external", "alias.rev-parse", "alias.cat-file"} {
		r.git("config", name, run)
	}
	for _, hook := range []string{"post-index-change", "reference-transaction", "post-checkout"} {
		r.write(".git/hooks/"+hook, "#!/bin/sh\n"+run+"\n")
		require.NoError(t, os.Chmod(filepath.Join(r.dir, ".git/hooks", hook), 0o777))
	}
	assert.Equal(t, map[string]string{"main:m/a.yaml": "a\n"}, contents(t, "main", filepath.Join(r.dir, "m"), true))

	// An object that replaces another is not read, and what is absent is not fetched.
	blob := r.git("rev-parse", "main:m/a.yaml")
	r.write("b", "b\n")
	r.git("update-ref", "refs/replace/"+blob, r.git("hash-object", "-w", "--no-filters", "b"))
	assert.Equal(t, map[string]string{"main:m/a.yaml": "a\n"}, contents(t, "main", filepath.Join(r.dir, "m"), true))
	require.NoError(t, os.Remove(filepath.Join(r.dir, ".git/objects", blob[:2], blob[2:])))
	r.git("config", "extensions.partialClone", "origin")
	r.git("config", "remote.origin.promisor", "true")
	r.git("config", "remote.origin.url", "ext::"+run)
	r.git("config", "protocol.ext.allow", "always")
	for _, text := range contents(t, "main", filepath.Join(r.dir, "m"), true) {
		assert.NotEqual(t, "a\n", text)
		assert.Regexp(t, "not in the clone|not allowed|could not fetch", text)
	}
	assert.NoFileExists(t, filepath.Join(r.dir, "pwned"))

	// A bare repository within another is not used.
	r.write("bare/HEAD", "ref: refs/heads/main\n")
	r.write("bare/config", "[core]\nrepositoryformatversion = 0\nbare = false\nworktree = .\nfsmonitor = "+run+"\n")
	for _, dir := range []string{"bare/objects", "bare/refs"} {
		require.NoError(t, os.MkdirAll(filepath.Join(r.dir, dir), 0o777))
	}
	v, err := New("main")
	require.NoError(t, err)
	_, err = v.Find(filepath.Join(r.dir, "bare"), true)
	assert.ErrorContains(t, err, "cannot use bare repository")
	assert.NoFileExists(t, filepath.Join(r.dir, "pwned"))
}

// TestEnvironment: the paths say which repository it is. Git has set these variables if the command is
// run by a hook.
func TestEnvironment(t *testing.T) {
	r, other := newRepo(t), newRepo(t)
	r.write("a.yaml", "a")
	r.commit()
	t.Setenv("GIT_DIR", filepath.Join(other.dir, ".git"))
	t.Setenv("GIT_INDEX_FILE", "absent")
	t.Setenv("GIT_LITERAL_PATHSPECS", "0")
	assert.Equal(t, map[string]string{"main:a.yaml": "a"}, contents(t, "main", r.dir, true))
}

func TestSubmodules(t *testing.T) {
	r := newRepo(t)
	r.write("m/a.yaml", "a")
	r.commit()
	r.git("update-index", "--add", "--cacheinfo", "160000,"+r.git("rev-parse", "main")+",m/sub")
	r.git("commit", "-q", "-m", "y")
	v, err := New("main")
	require.NoError(t, err)
	files, err := v.Find(filepath.Join(r.dir, "m"), true)
	require.NoError(t, err)
	assert.Len(t, files, 1)
	assert.Equal(t, []string{"main:m/sub"}, v.Submodules)
}

func TestRevisions(t *testing.T) {
	for _, name := range []string{"", "-h", "--all", "a\nb", "a\x00"} {
		_, err := New(name)
		assert.ErrorIs(t, err, ErrName, name)
	}
	r := newRepo(t)
	r.write("a.yaml", "1")
	r.commit()
	r.git("tag", "-a", "-m", "x", "tag")
	r.git("tag", "hex")
	r.write("a.yaml", "2")
	r.commit()
	for name, want := range map[string]string{"HEAD": "2", "HEAD~1": "1", "tag": "1", "main^": "1", "refs/heads/main": "2", r.git("rev-parse", "--short", "main~"): "1", "@{0}": "2"} {
		assert.Equal(t, map[string]string{name + ":a.yaml": want}, contents(t, name, r.dir, true))
	}
	find := func(name, argument string) error {
		v, err := New(name)
		require.NoError(t, err)
		_, err = v.Find(argument, true)
		return err
	}
	for _, name := range []string{"absent", "HEAD~2", "main:a.yaml", "main..HEAD", "^main", "HEAD:", "main^{tree}"} {
		assert.EqualError(t, find(name, r.dir), "the repository "+r.dir+" has no commit "+name)
	}
	assert.ErrorContains(t, find("main", t.TempDir()), "git: not a git repository")
	assert.ErrorContains(t, find("main", filepath.Join(r.dir, ".git")), "git: ")

	clone := filepath.Join(t.TempDir(), "clone")
	r.git("clone", "-q", "--depth=1", "file://"+r.dir, clone)
	assert.ErrorContains(t, find("HEAD~1", clone), "the clone is shallow: fetch the revision, or all with git fetch --unshallow")

	t.Setenv("PATH", "")
	assert.EqualError(t, find("main", r.dir), "git is not installed, or not in PATH")
}

// TestEnded: a process that ends is an error of each file, and of no other call.
func TestEnded(t *testing.T) {
	r := newRepo(t)
	r.write("a.yaml", "a")
	r.commit()
	v, err := New("main")
	require.NoError(t, err)
	files, err := v.Find(r.dir, true)
	require.NoError(t, err)
	var from Reader
	defer from.Close()
	p, err := from.process(r.dir)
	require.NoError(t, err)
	require.NoError(t, p.cmd.Process.Kill())
	_, err = p.out.ReadByte()
	require.Error(t, err)
	assert.Error(t, from.Read(files[0], func(io.Reader) { t.Error("there is no content") }))
	assert.NoError(t, from.Read(files[0], func(in io.Reader) {}))
	assert.NoError(t, from.Read(files[0], func(in io.Reader) {}), "what was not read is skipped")

	// It ends within a file.
	p, err = from.process(r.dir)
	require.NoError(t, err)
	p.out = bufio.NewReader(strings.NewReader("x blob 100\nabc"))
	assert.EqualError(t, from.Read(files[0], func(io.Reader) {}), "git: it has ended early: unexpected EOF")
	assert.NoError(t, from.Read(files[0], func(io.Reader) {}))
}
