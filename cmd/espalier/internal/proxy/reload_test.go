package proxy

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const vinesPath = "/apis/any.example.com/v1/vines"

// writeVines writes a definition of Vine with one field, or one that is broken.
func writeVines(t *testing.T, name, field string) {
	text := anyCRD("Vine", "{type: object, properties: {"+field+": {type: integer}}}")
	if field == "broken" {
		text = []byte("kind: CustomResourceDefinition\nspec: [")
	}
	require.NoError(t, os.WriteFile(name+".new", text, 0o600)) // nobody must find half of it, however slow the machine is
	require.NoError(t, os.Rename(name+".new", name))
}

// keeps reports whether the proxy keeps only one field of a Vine.
func keeps(t *testing.T, p *proxied, field string) bool {
	_, text := do(t, http.DefaultClient, "POST", p.url+vinesPath, "application/json", `{"apiVersion":"any.example.com/v1","kind":"Vine","a":1,"b":1,"c":1}`)
	return text == `{"apiVersion":"any.example.com/v1","kind":"Vine","`+field+`":1}`
}

// ready returns what /readyz says.
func ready(t *testing.T, p *proxied) (r readiness) {
	response, text := do(t, http.DefaultClient, "GET", p.admin+"/readyz", "", "")
	assert.Equal(t, http.StatusOK, response.StatusCode)
	assert.Equal(t, "application/json", response.Header.Get("Content-Type"))
	require.NoError(t, json.Unmarshal([]byte(text), &r), text)
	return r
}

// TestProxyReloads follows a file through a change, a fault and its repair.
func TestProxyReloads(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "vines.yaml")
	writeVines(t, name, "a")
	p := startProxy(t, echoing(t).URL, "--crd", filepath.Join(dir, "*.yaml"), "--reload-interval", "10ms")
	eventually := func(is func() bool) {
		t.Helper()
		require.Eventually(t, is, time.Minute, 10*time.Millisecond)
	}
	assert.True(t, keeps(t, p, "a"))
	first := ready(t, p)
	assert.Equal(t, readiness{
		Ready: true, Loaded: first.Loaded, Loads: 1, Definitions: 2,
		Kinds: []readyKind{{"any.example.com", "Vine", []string{"v1"}}, {"backup.example.com", "BackupPlan", []string{"v1"}}},
	}, first)

	writeVines(t, name, "b")
	eventually(func() bool { return keeps(t, p, "b") })
	second := ready(t, p)
	assert.True(t, second.Loaded.After(first.Loaded))

	writeVines(t, name, "broken")
	eventually(func() bool { return ready(t, p).Error != "" })
	broken := ready(t, p)
	assert.True(t, broken.Ready)
	assert.Contains(t, broken.Error, "vines.yaml")
	assert.Equal(t, second.Loaded, broken.Loaded)
	assert.NotNil(t, broken.Failed)
	assert.True(t, keeps(t, p, "b"), "the old definitions stay")
	_, text := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, text, "\nespalier_definitions_failed 1\n")
	assert.Contains(t, text, "\nespalier_definitions 2\n")
	checkExposition(t, text)

	writeVines(t, name, "c")
	eventually(func() bool { return keeps(t, p, "c") })
	assert.Empty(t, ready(t, p).Error)
	_, text = do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, text, "\nespalier_definitions_failed 0\n")
	assert.Contains(t, text, "\nespalier_reloads_total{result=\"loaded\"} 2\n")

	// A file more, which the pattern matches.
	require.NoError(t, os.WriteFile(filepath.Join(dir, "weeds.yaml"), anyCRD("Weed", anythingSchema), 0o600))
	eventually(func() bool { return ready(t, p).Definitions == 3 })
	logged := p.stop()
	assert.Equal(t, 1, strings.Count(logged, "the new definitions cannot be used, and the old ones stay"), logged)
	assert.Contains(t, logged, "definitions were read again: 3 versions of kinds")
}

// TestProxyHangup: SIGHUP reads the definitions at once, and does not end the process.
func TestProxyHangup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGHUP")
	}
	name := filepath.Join(t.TempDir(), "vines.yaml")
	writeVines(t, name, "a")
	p := startProxy(t, echoing(t).URL, "--crd", name, "--reload-interval", "0")
	hangup := func() {
		self, err := os.FindProcess(os.Getpid())
		require.NoError(t, err)
		require.NoError(t, self.Signal(syscall.SIGHUP))
	}
	writeVines(t, name, "b")
	time.Sleep(50 * time.Millisecond)
	assert.True(t, keeps(t, p, "a"), "nobody looks at the files")
	hangup()
	require.Eventually(t, func() bool { return keeps(t, p, "b") }, time.Minute, 10*time.Millisecond)
	writeVines(t, name, "broken")
	hangup()
	require.Eventually(t, func() bool { return ready(t, p).Failures == 1 }, time.Minute, 10*time.Millisecond)
	assert.True(t, keeps(t, p, "b"))
}

// TestProxyReloadsUnderLoad: while definitions are replaced, each request is judged by the old or the
// new ones, and none is lost.
func TestProxyReloadsUnderLoad(t *testing.T) {
	name := filepath.Join(t.TempDir(), "vines.yaml")
	writeVines(t, name, "a")
	p := startProxy(t, echoing(t).URL, "--crd", name, "--reload-interval", "5ms", "--max-held-bytes", "10000000")
	var stop atomic.Bool
	var all sync.WaitGroup
	var kept [2]atomic.Int64
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 8}}
	defer client.CloseIdleConnections()
	for range 8 {
		all.Go(func() {
			for !stop.Load() {
				const object = `{"apiVersion":"any.example.com/v1","kind":"Vine","`
				response, text := do(t, client, "POST", p.url+vinesPath, "application/json", object+`a":1,"b":1}`)
				assert.Equal(t, http.StatusOK, response.StatusCode, text)
				i := strings.Index("ab", strings.TrimSuffix(strings.TrimPrefix(text, object), `":1}`))
				if !assert.GreaterOrEqual(t, i, 0, text) {
					return
				}
				kept[i].Add(1)
			}
		})
	}
	for i := range 8 {
		if i%3 == 2 {
			writeVines(t, name, "broken")
			time.Sleep(20 * time.Millisecond)
		}
		writeVines(t, name, "ba"[i%2:i%2+1])
		before := kept[1-i%2].Load()
		require.Eventually(t, func() bool { return kept[1-i%2].Load() >= before+20 }, time.Minute, time.Millisecond)
	}
	stop.Store(true)
	all.Wait()
	_, text := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, text, fmt.Sprintf("result=\"passed\"} %d\n", kept[0].Load()+kept[1].Load()))
	assert.Contains(t, text, "\nespalier_held_bytes{limit=\"10000000\"} 0\n")
	assert.Contains(t, text, "\nespalier_upstream_failures_total 0\n")
}
