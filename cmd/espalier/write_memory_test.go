package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
)

// writeMany writes a text n times into a file, and returns the length of the file.
func writeMany(t *testing.T, name, text string, n int) int64 {
	t.Helper()
	f, err := os.Create(name)
	require.NoError(t, err)
	out := bufio.NewWriter(f)
	for range n {
		_, err = out.WriteString(text)
		require.NoError(t, err)
	}
	require.NoError(t, out.Flush())
	info, err := f.Stat()
	require.NoError(t, err)
	require.NoError(t, f.Close())
	return info.Size()
}

// stopsTheWorld runs a test again, in a process whose garbage collector stops the world, and reports
// whether this is that process. A collector that runs beside the program takes what is made meanwhile
// for live, which is much where other programs take the processors.
func stopsTheWorld(t *testing.T) bool {
	const setting = "gcstoptheworld=1"
	if strings.Contains(os.Getenv("GODEBUG"), setting) {
		return true
	}
	cmd := exec.Command(os.Args[0], "-test.v", "-test.run=^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), "GODEBUG="+setting)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.Contains(t, string(out), "--- PASS: "+t.Name())
	return false
}

// peakOf returns by how much more memory was in use at most while a function ran, as the garbage
// collector finds it. It is made to look often.
func peakOf(f func()) uint64 {
	defer debug.SetGCPercent(debug.SetGCPercent(50))
	runtime.GC()
	heap := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	before, peak := heap(), uint64(0)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			peak = max(peak, heap())
			select {
			case <-stop:
				return
			case <-time.After(time.Millisecond):
			}
		}
	}()
	f()
	close(stop)
	<-stopped
	return peak - min(peak, before)
}

// TestWriteMemory: memory holds one document of a file that is edited, and not the file. The edited
// file would not be held either, which is longer by defaults.
func TestWriteMemory(t *testing.T) {
	if !stopsTheWorld(t) {
		return
	}
	long := strings.Repeat("every day, ", 500)
	plan := "apiVersion: backup.example.com/v1\nkind: BackupPlan\n# why\nmetadata: {name: a}\nspec:\n  schedule: " + long + "\n  retention: {daily: 1, dayly: 2}\n---\n"
	line := `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"schedule":"` + long + `","retention":{"daily":1,"dayly":2}}}` + "\n"
	for _, test := range []struct {
		file, text, pruned, defaulted string
	}{
		{"a.yaml", plan, strings.Replace(plan, ", dayly: 2", "", 1), strings.Replace(plan, "dayly: 2}", "dayly: 2, \"monthly\": 12}\n  suspend: false", 1)},
		{"a.ndjson", line, strings.Replace(line, `,"dayly":2`, "", 1), strings.Replace(line, `"dayly":2}`, `"dayly":2, "monthly": 12}, "suspend": false`, 1)},
	} {
		for verb, want := range map[string]string{"prune": test.pruned, "default": test.defaulted} {
			file := filepath.Join(t.TempDir(), test.file)
			const n = 4_000
			size := writeMany(t, file, test.text, n)
			var stderr string
			var code int
			peak := peakOf(func() {
				_, stderr, code = espalier("", verb, "--config=", "--crd", crd, "--validate=ignore", "--write", file)
			})
			require.Equal(t, command.ExitClean, code, "%.1000s", stderr)
			assert.Less(t, peak, uint64(size)/8, "%s %s of %d bytes", verb, test.file, size)
			assert.True(t, strings.Repeat(want, n) == read(t, file), "%s %s: %.1000s", verb, test.file, read(t, file))
		}
	}
}

// TestWriteDiffMemory: a diff takes memory for its changes.
func TestWriteDiffMemory(t *testing.T) {
	if !stopsTheWorld(t) {
		return
	}
	file := filepath.Join(t.TempDir(), "a.yaml")
	size := writeMany(t, file, tree+"spec: {text: "+strings.Repeat("a", 5_000)+"}\n---\n", 4_000)
	f, err := os.OpenFile(file, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(tree + "x: 1\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	var stdout string
	var code int
	peak := peakOf(func() {
		stdout, _, code = espalier("", "prune", "--config=", "--crd", writeCRD, "--validate=ignore", "--diff", file)
	})
	assert.Equal(t, command.ExitFindings, code)
	name := strings.TrimPrefix(filepath.ToSlash(file), "/")
	assert.Equal(t, fmt.Sprintf("--- a/%s\n+++ b/%[1]s\n@@ -16000,4 +16000,3 @@\n ---\n apiVersion: write.example.com/v1\n kind: Tree\n-x: 1\n", name), stdout)
	assert.Less(t, peak, uint64(size)/8, "of %d bytes", size)
}

// TestWriteHostile: files that are long in one way or another are edited in time in proportion to
// their length. What is not takes minutes.
func TestWriteHostile(t *testing.T) {
	const n = 200_000
	for name, test := range map[string]struct{ before, part, after string }{
		"empty documents":             {"", "--- # nothing\n", tree},
		"documents without a schema":  {"", "--- {}\n", "---\n" + tree},
		"a long line":                 {"", "x, y: z", tree + "spec: {text: '"},
		"a long list":                 {tree + "spec:\n  branches:\n", "  - {name: a}\n", ""},
		"a comment between documents": {tree + "...\n", "# nothing\n", "---\n" + tree},
		"lines that end in CR":        {"", "--- # nothing\r", tree},
	} {
		long := strings.Repeat(test.part, n)
		want := test.before + long + test.after
		if name == "a long line" {
			want = test.after + long + "'}\n"
		}
		file := filepath.Join(write(t, map[string]string{"a.yaml": strings.Replace(want, tree, tree+"x: 1\n", 1)}), "a.yaml")
		start := time.Now()
		_, stderr, code := espalier("", "prune", "--config=", "--crd", writeCRD, "--ignore-missing-schemas", "--validate=ignore", "--write", file)
		assert.Equal(t, command.ExitClean, code, "%s: %.1000s", name, stderr)
		assert.True(t, read(t, file) == want, name)
		assert.Less(t, time.Since(start), 2*time.Minute, name)
		t.Logf("%s: %v", name, time.Since(start))
	}
}
