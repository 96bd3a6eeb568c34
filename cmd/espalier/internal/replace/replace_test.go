package replace

import (
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// oneFile returns the path of a file in a folder of its own.
func oneFile(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "a.yaml")
	writeFile(t, name, content)
	return name
}

// alone makes sure that there is nothing beside a file.
func alone(t *testing.T, name string) {
	t.Helper()
	left, err := os.ReadDir(filepath.Dir(name))
	require.NoError(t, err)
	assert.Len(t, left, 1)
}

func replaceFile(name string, content []byte) error {
	o, err := Read(name)
	if err != nil {
		return err
	}
	return o.Replace(content)
}

func TestReplaceOwner(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("skipped: only root can give files away")
	}
	a := oneFile(t, "a")
	require.NoError(t, os.Chown(a, 12, 34))
	require.NoError(t, os.Chmod(a, 0o755|os.ModeSetgid))
	before, err := os.Stat(a)
	require.NoError(t, err)
	require.NoError(t, replaceFile(a, []byte("b")))
	after, err := os.Stat(a)
	require.NoError(t, err)
	assert.Equal(t, before.Mode(), after.Mode())
	// The owner is part of the system's information, beside times and sizes.
	for _, name := range []string{"Uid", "Gid"} {
		assert.Equal(t, reflect.ValueOf(before.Sys()).Elem().FieldByName(name).Uint(), reflect.ValueOf(after.Sys()).Elem().FieldByName(name).Uint(), name)
	}
}

func TestReplaceFails(t *testing.T) {
	dir := t.TempDir()
	assert.Error(t, replaceFile(filepath.Join(dir, "none"), nil))
	assert.Error(t, replaceFile(dir, nil))
	a := oneFile(t, "a")
	assert.NoError(t, replaceFile(a, []byte("b")))
	assert.Equal(t, "b", read(t, a))
	alone(t, a)
	if os.Getuid() > 0 {
		require.NoError(t, os.Chmod(a, 0o400))
		assert.ErrorIs(t, replaceFile(a, []byte("c")), os.ErrPermission)
		assert.Equal(t, "b", read(t, a))
		require.NoError(t, os.Chmod(a, 0o600))
		require.NoError(t, os.Chmod(filepath.Dir(a), 0o500))
		t.Cleanup(func() { assert.NoError(t, os.Chmod(filepath.Dir(a), 0o700)) })
		assert.Error(t, replaceFile(a, []byte("c")))
		assert.Equal(t, "b", read(t, a))
	}
}

// TestReplaceIrregular: a file without content of its own is not read, because it may never
// end.
func TestReplaceIrregular(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("skipped: there is no such device")
	}
	_, err := Read(os.DevNull)
	assert.Equal(t, errIrregular, err)
}

// TestReplaceChanged: changes that somebody else makes meanwhile are kept.
func TestReplaceChanged(t *testing.T) {
	for name, change := range map[string]func(t *testing.T, name string){
		"appended": func(t *testing.T, name string) {
			f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
			require.NoError(t, err)
			defer f.Close()
			_, err = f.WriteString("more")
			require.NoError(t, err)
		},
		"truncated":   func(t *testing.T, name string) { require.NoError(t, os.Truncate(name, 1)) },
		"overwritten": func(t *testing.T, name string) { writeFile(t, name, "other") },
		"overwritten, with its time": func(t *testing.T, name string) {
			info, err := os.Stat(name)
			require.NoError(t, err)
			writeFile(t, name, "other")
			require.NoError(t, os.Chtimes(name, info.ModTime(), info.ModTime()))
		},
		"replaced": func(t *testing.T, name string) {
			writeFile(t, name+".new", "first")
			require.NoError(t, os.Rename(name+".new", name))
		},
		"touched": func(t *testing.T, name string) {
			require.NoError(t, os.Chtimes(name, time.Unix(1, 0), time.Unix(1, 0)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := oneFile(t, "first")
			o, err := Read(a)
			require.NoError(t, err)
			change(t, a)
			want := read(t, a)
			assert.Equal(t, errChanged, o.Replace([]byte("mine")))
			assert.Equal(t, want, read(t, a))
			alone(t, a)
		})
	}
	a := oneFile(t, "first")
	o, err := Read(a)
	require.NoError(t, err)
	require.NoError(t, os.Remove(a))
	assert.Equal(t, errChanged, o.Replace([]byte("mine")), "it is gone")
	assert.Equal(t, errChanged, o.isCurrent())
}

// TestReplaceTogether: if several replace the file that they have read, one succeeds, and the
// others get an error.
func TestReplaceTogether(t *testing.T) {
	for range 20 {
		a := oneFile(t, "first")
		var all []*File
		for range 4 {
			o, err := Read(a)
			require.NoError(t, err)
			all = append(all, o)
		}
		var done atomic.Int32
		var last atomic.Pointer[string]
		var group sync.WaitGroup
		for i, o := range all {
			group.Go(func() {
				content := strings.Repeat("x", i+1)
				if err := o.Replace([]byte(content)); err == nil {
					done.Add(1)
					last.Store(&content)
				} else {
					assert.Equal(t, errChanged, err)
				}
			})
		}
		group.Wait()
		require.EqualValues(t, 1, done.Load())
		assert.Equal(t, *last.Load(), read(t, a))
		alone(t, a)
	}
}

func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(content)
}

func writeFile(t *testing.T, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(name, []byte(content), 0o666))
}
