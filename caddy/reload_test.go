package caddyespalier

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/caddyserver/caddy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/request"
)

// writeDefinition writes a definition of BackupPlan in which the spec has one field, or a broken one.
func writeDefinition(t *testing.T, name, field string) {
	text := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: backupplans.backup.example.com}
spec:
  group: backup.example.com
  names: {kind: BackupPlan, plural: backupplans}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {%s: {type: integer}}}}}
`, field)
	if field == "broken" {
		text = "kind: CustomResourceDefinition\nspec: ["
	}
	writeFile(t, name+".new", text) // nobody must find half of it, however slow the machine is
	require.NoError(t, os.Rename(name+".new", name))
}

// values returns the values of a metric that a registry has, by its labels.
func values(t *testing.T, registry prometheus.Gatherer, name string) map[string]float64 {
	families, err := registry.Gather()
	require.NoError(t, err)
	all := map[string]float64{}
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			var labels []string
			for _, label := range m.GetLabel() {
				labels = append(labels, label.GetValue())
			}
			all[strings.Join(labels, " ")] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return all
}

// registry returns the registry of the configuration that runs.
func registry() prometheus.Gatherer {
	ctx := caddy.ActiveContext()
	return ctx.GetMetricsRegistry()
}

// TestFilesChange follows a file through a change, a fault and its repair, without a new
// configuration.
func TestFilesChange(t *testing.T) {
	u := startUpstream(t)
	name := filepath.Join(t.TempDir(), "crd.yaml")
	writeDefinition(t, name, "a")
	text := fmt.Sprintf("espalier {\ncrd %q\nreload_interval 10ms\n}\nreverse_proxy UPSTREAM", name)
	s := start(t, u.URL, text)
	keeps := func(field string) bool {
		_, text := s.post(plansPath, plan(`"a":1,"b":1,"c":1`))
		return strings.Contains(text, `"spec":{"`+field+`":1}`)
	}
	assert.True(t, keeps("a"))
	assert.Equal(t, map[string]float64{name: 1}, values(t, registry(), "espalier_definitions"))
	before := values(t, registry(), "espalier_reloads_total")

	writeDefinition(t, name, "b")
	require.Eventually(t, func() bool { return keeps("b") }, time.Minute, 10*time.Millisecond)
	writeDefinition(t, name, "broken")
	failed := func() bool { return values(t, registry(), "espalier_definitions_failed")[name] == 1 }
	require.Eventually(t, failed, time.Minute, 10*time.Millisecond)
	assert.True(t, keeps("b"), "the old definitions stay")
	require.Eventually(t, func() bool {
		return strings.Contains(s.logged(), "the new definitions cannot be used, and the old ones stay")
	}, time.Minute, 10*time.Millisecond)
	assert.Error(t, s.load(u.URL, text), "a new configuration is refused")
	assert.True(t, keeps("b"))
	assert.True(t, failed())

	writeDefinition(t, name, "c")
	require.Eventually(t, func() bool { return keeps("c") }, time.Minute, 10*time.Millisecond)
	assert.False(t, failed())
	after := values(t, registry(), "espalier_reloads_total")
	assert.InDelta(t, before["loaded"]+2, after["loaded"], 0)
	assert.InDelta(t, before["failed"]+1, after["failed"], 0)

	// A new configuration reads the files at once.
	writeDefinition(t, name, "a")
	require.NoError(t, s.load(u.URL, strings.Replace(text, "10ms", "1h", 1)))
	assert.True(t, keeps("a"))
}

// TestMetrics counts through a new configuration, and for all sites together.
func TestMetrics(t *testing.T) {
	u := startUpstream(t)
	const text = "espalier {\ncrd CRD\nmax_held_bytes 10MB\n}\nreverse_proxy UPSTREAM"
	s := start(t, u.URL, text)
	bodies := func(result string) float64 {
		return values(t, registry(), "espalier_bodies_total")["backup.example.com/v1 Warn BackupPlan "+result]
	}
	passed, refused := bodies("passed"), bodies("415")
	s.post(plansPath, plan(`"x":1`))
	require.NoError(t, s.load(u.URL, text))
	s.post(plansPath, plan(`"x":1`))
	do(t, once, "POST", s.url+plansPath, "text/plain", "")
	assert.InDelta(t, passed+2, bodies("passed"), 0)
	assert.InDelta(t, refused+1, bodies("415"), 0)
	assert.Positive(t, values(t, registry(), "espalier_findings_total")["backup.example.com/v1 unknown field BackupPlan"])
	assert.Positive(t, values(t, registry(), "espalier_received_bytes_total")[""])
	assert.Contains(t, values(t, registry(), "espalier_held_bytes"), "10000000")
	require.NoError(t, s.load(u.URL, "espalier {\ncrd CRD\n}\nroute /x {\nespalier {\ncrd CRD\n}\n}\nreverse_proxy UPSTREAM"))
	assert.Equal(t, map[string]float64{"../testdata/quickstart/crd.yaml": 1}, values(t, registry(), "espalier_definitions"))
	assert.NotContains(t, values(t, registry(), "espalier_held_bytes"), "10000000", "nobody uses it any more")
}

// TestBudgetIsShared: what requests of one site hold is missing to another, and to the sites of a new
// configuration.
func TestBudgetIsShared(t *testing.T) {
	arrived, release := make(chan bool, 1), make(chan bool)
	u := startUpstream(t)
	waiting := startWaiting(t, arrived, release)
	text := "@slow path */slow\nroute @slow {\nespalier {\ncrd CRD\nmax_held_bytes 700KiB\n}\nreverse_proxy " + strings.TrimPrefix(waiting, "http://") + "\n}\n" +
		"@fast not path */slow\nroute @fast {\nespalier {\ncrd CRD\nmax_held_bytes 700KiB\n}\nreverse_proxy UPSTREAM\n}"
	s := start(t, u.URL, text)
	body := plan(`"schedule":"` + strings.Repeat("x", 200<<10) + `"`)
	code := make(chan int)
	go func() {
		response, _ := s.post(plansPath+"/slow", strings.Replace(body, `"a"`, `"slow"`, 1))
		code <- response.StatusCode
	}()
	<-arrived
	response, _ := s.post(plansPath, body)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.NoError(t, s.load(u.URL, text+"\n"))
	response, _ = s.post(plansPath, body)
	assert.Equal(t, http.StatusServiceUnavailable, response.StatusCode, "the old configuration still holds it")
	close(release)
	assert.Equal(t, http.StatusCreated, <-code)
	require.Eventually(t, func() bool {
		response, _ := s.post(plansPath, body)
		return response.StatusCode == http.StatusCreated
	}, time.Minute, 10*time.Millisecond)
	require.NoError(t, caddy.Stop())
	n, found := budgets.References(int64(700 << 10))
	assert.False(t, found, "%d handlers still use it", n)
}

// TestNothingStays: neither a configuration that was replaced, nor one that was refused after its
// definitions were read, leaves somebody who follows files, or a budget.
func TestNothingStays(t *testing.T) {
	const text = "espalier {\ncrd CRD\nmax_held_bytes 900KiB\n}\n"
	s := start(t, "", text)
	require.NoError(t, s.load("", text+"route /x {\n"+text+"}"))
	require.Error(t, s.load("", text+"route /x {\n"+strings.Replace(text, "CRD", "none.yaml", 1)+"}"))
	require.Error(t, s.load("", text+"reverse_proxy {\nlb_policy none\n}"))
	n, _ := budgets.References(int64(900 << 10))
	assert.Equal(t, 2, n, "that of the configuration that runs")
	require.Eventually(t, func() bool { return following() == 2 }, time.Minute, time.Millisecond)
	require.NoError(t, caddy.Stop())
	_, found := budgets.References(int64(900 << 10))
	assert.False(t, found)
	assert.Zero(t, following())
}

// following returns how many goroutines follow files.
func following() int {
	stacks := make([]byte, 4<<20)
	return strings.Count(string(stacks[:runtime.Stack(stacks, true)]), "reload.(*Files).Follow(")
}

// TestReloadsUnderLoad: neither new definitions nor new configurations lose a request or judge one by
// half of them.
func TestReloadsUnderLoad(t *testing.T) {
	u := startUpstream(t)
	name := filepath.Join(t.TempDir(), "crd.yaml")
	writeDefinition(t, name, "a")
	text := fmt.Sprintf("espalier {\ncrd %q\nreload_interval 5ms\n}\nreverse_proxy UPSTREAM", name)
	s := start(t, u.URL, text)
	var stop atomic.Bool
	var all sync.WaitGroup
	var sent, passedA, passedB atomic.Int64
	for range 4 {
		all.Go(func() {
			for !stop.Load() {
				response, text := s.post(plansPath, plan(`"a":1,"b":1`))
				sent.Add(1)
				if !assert.Equal(t, http.StatusCreated, response.StatusCode, text) {
					return
				}
				switch {
				case strings.Contains(text, `"spec":{"a":1}`):
					passedA.Add(1)
				case strings.Contains(text, `"spec":{"b":1}`):
					passedB.Add(1)
				default:
					assert.Fail(t, "neither the old nor the new", text)
				}
			}
		})
	}
	enough := func(n *atomic.Int64) {
		least := n.Load() + 20
		require.Eventually(t, func() bool { return n.Load() >= least }, time.Minute, time.Millisecond)
	}
	for range 3 {
		writeDefinition(t, name, "b")
		enough(&passedB)
		require.NoError(t, s.load(u.URL, text))
		writeDefinition(t, name, "broken")
		enough(&passedB)
		writeDefinition(t, name, "a")
		require.NoError(t, s.load(u.URL, text))
		enough(&passedA)
	}
	stop.Store(true)
	all.Wait()
	assert.Len(t, u.taken(), int(sent.Load()), "each request reached the server once")
	held, _ := budgetOf(t, request.DefaultMaxHeldBytes).Held()
	assert.Zero(t, held)
}
