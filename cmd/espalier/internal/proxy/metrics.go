package proxy

import (
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema/reload"
)

// metrics counts bodies by their results, and writes the counts in the text format of
// Prometheus (version 0.0.4). The number of series is bounded by the number of kinds and status
// codes. The client library of Prometheus would double the dependencies of the module.
type metrics struct {
	files  *reload.Files
	budget *request.Budget

	mu        sync.Mutex
	bodies    map[bodyLabels]uint64
	findings  map[findingLabels]uint64
	bytes     [2]uint64 // in, out
	reading   histogram
	decoding  histogram
	upstreams uint64 // requests that the upstream server did not answer
}

type bodyLabels struct {
	apiVersion, kind, validation string
	code                         int // 0 if the body was passed on
}

type findingLabels struct{ apiVersion, kind, finding string }

func newMetrics(files *reload.Files, budget *request.Budget) *metrics {
	return &metrics{files: files, budget: budget, bodies: map[bodyLabels]uint64{}, findings: map[findingLabels]uint64{}}
}

// Observe counts a body.
func (m *metrics) Observe(_ *http.Request, o request.Observation) {
	labels := bodyLabels{validation: o.FieldValidation.String()}
	if o.Resource != nil {
		labels.apiVersion, labels.kind = o.Resource.APIVersion, o.Resource.Kind
	}
	if o.Refused != nil {
		labels.code = o.Refused.Code
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.bodies[labels]++
	for _, kind := range []errors.FindingKind{errors.UnknownField, errors.DuplicateField, errors.TypeMismatch, errors.InvalidValue} {
		if n := o.Findings.Count(kind); n > 0 {
			m.findings[findingLabels{labels.apiVersion, labels.kind, kind.String()}] += uint64(n)
		}
	}
	if o.Omitted > 0 {
		m.findings[findingLabels{labels.apiVersion, labels.kind, "omitted"}] += uint64(o.Omitted)
	}
	m.bytes[0] += uint64(o.BytesIn)
	m.bytes[1] += uint64(o.BytesOut)
	m.reading.add(o.Reading)
	m.decoding.add(o.Decoding)
}

func (m *metrics) upstreamFailed() {
	m.mu.Lock()
	m.upstreams++
	m.mu.Unlock()
}

// ServeHTTP writes the metrics.
func (m *metrics) ServeHTTP(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
	var b strings.Builder
	m.write(&b)
	_, _ = io.WriteString(w, b.String())
}

func (m *metrics) write(b *strings.Builder) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var series []string
	for l, n := range m.bodies {
		result := "passed"
		if l.code != 0 {
			result = strconv.Itoa(l.code)
		}
		series = append(series, sample("espalier_bodies_total", n,
			"api_version", l.apiVersion, "kind", l.kind, "field_validation", l.validation, "result", result))
	}
	family(b, "espalier_bodies_total", "counter", "Bodies by what became of them: passed, or the status code of the answer.", series)
	series = nil
	for l, n := range m.findings {
		series = append(series, sample("espalier_findings_total", n, "api_version", l.apiVersion, "kind", l.kind, "finding", l.finding))
	}
	family(b, "espalier_findings_total", "counter", "Findings in bodies.", series)
	family(b, "espalier_received_bytes_total", "counter", "Bytes of bodies that were decoded, after decompression.",
		[]string{sample("espalier_received_bytes_total", m.bytes[0])})
	family(b, "espalier_passed_bytes_total", "counter", "Bytes of bodies that were passed on.",
		[]string{sample("espalier_passed_bytes_total", m.bytes[1])})
	family(b, "espalier_upstream_failures_total", "counter", "Requests that the upstream server did not answer.",
		[]string{sample("espalier_upstream_failures_total", m.upstreams)})
	m.reading.write(b, "espalier_reading_seconds", "How long it took until bodies were there.")
	m.decoding.write(b, "espalier_decoding_seconds", "How long it took to decode bodies.")
	m.writeState(b)
}

// writeState writes how the definitions and the memory are.
func (m *metrics) writeState(b *strings.Builder) {
	one := func(name, kind, help string, value any, labels ...string) {
		family(b, name, kind, help, []string{sample(name, value, labels...)})
	}
	state := m.files.State()
	failed := 0
	if state.Err != nil {
		failed = 1
	}
	one("espalier_definitions", "gauge", "How many served versions of kinds have a definition.", served(m.files.Catalog()))
	one("espalier_definitions_loaded_timestamp_seconds", "gauge", "When the definitions were read that are in use.", float64(state.Loaded.UnixMilli())/1000)
	one("espalier_definitions_failed", "gauge", "1 if the files have changed and cannot be used, so that the definitions in use are old ones.", failed)
	family(b, "espalier_reloads_total", "counter", "How often definitions were read again, by whether they could be used.", []string{
		sample("espalier_reloads_total", state.Loads-1, "result", "loaded"), sample("espalier_reloads_total", state.Failures, "result", "failed"),
	})
	requests, idle := m.budget.Held()
	limit := strconv.FormatInt(m.budget.Limit(), 10)
	one("espalier_held_bytes", "gauge", "Bytes that requests hold, by the limit for them.", requests, "limit", limit)
	one("espalier_idle_bytes", "gauge", "Bytes that are kept for later requests, within the limit.", idle, "limit", limit)
}

// family writes the series of one metric in a stable order.
func family(b *strings.Builder, name, kind, help string, series []string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
	slices.Sort(series)
	for _, s := range series {
		b.WriteString(s)
	}
}

var labelEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)

// sample returns one line. The labels are names and values in turn.
func sample(name string, value any, labels ...string) string {
	var b strings.Builder
	b.WriteString(name)
	for i := 0; i+1 < len(labels); i += 2 {
		b.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
		b.WriteString(labels[i] + `="` + labelEscapes.Replace(labels[i+1]) + `"`)
	}
	if len(labels) > 0 {
		b.WriteString("}")
	}
	fmt.Fprintf(&b, " %v\n", value)
	return b.String()
}

// bounds are those of the buckets in seconds, from the time to decode 2 kB to that of a slow
// client.
var bounds = [...]float64{10e-6, 30e-6, 100e-6, 300e-6, 1e-3, 3e-3, 10e-3, 30e-3, 0.1, 0.3, 1, 3, 10, 30}

// A histogram counts durations in buckets; the last one is for those above all bounds.
type histogram struct {
	buckets [len(bounds) + 1]uint64
	sum     float64
}

func (h *histogram) add(d time.Duration) {
	seconds := d.Seconds()
	i, _ := slices.BinarySearch(bounds[:], seconds)
	h.buckets[i]++
	h.sum += seconds
}

func (h *histogram) write(b *strings.Builder, name, help string) {
	fmt.Fprintf(b, "# HELP %s %s\n# TYPE %s histogram\n", name, help, name)
	total := uint64(0)
	for i, n := range h.buckets {
		bound := "+Inf"
		if i < len(bounds) {
			bound = strconv.FormatFloat(bounds[i], 'g', -1, 64)
		}
		total += n
		b.WriteString(sample(name+"_bucket", total, "le", bound))
	}
	b.WriteString(sample(name+"_sum", h.sum))
	b.WriteString(sample(name+"_count", total))
}
