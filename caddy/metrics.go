package caddyespalier

import (
	stderrors "errors"
	"net/http"
	"strconv"
	"strings"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
)

// observed counts for all handlers of the process. Caddy makes a registry for each configuration, so
// that what is counted has to outlive a registry.
var observed = newMetrics()

// metrics is a collector. The number of its series is bounded by the numbers of kinds, status codes
// and handlers.
type metrics struct {
	bodies, findings, reloads *prometheus.CounterVec
	received, passed          prometheus.Counter
	reading, decoding         prometheus.Histogram

	mu       sync.Mutex
	handlers map[*Handler]bool // those in use
}

var (
	loadedDesc = prometheus.NewDesc("espalier_definitions_loaded_timestamp_seconds",
		"When the definitions were read that are in use.", []string{"crds"}, nil)
	versionsDesc = prometheus.NewDesc("espalier_definitions",
		"How many served versions of kinds have a definition.", []string{"crds"}, nil)
	failedDesc = prometheus.NewDesc("espalier_definitions_failed",
		"1 if the files have changed and cannot be used, so that the definitions in use are old ones.", []string{"crds"}, nil)
	heldDesc = prometheus.NewDesc("espalier_held_bytes",
		"Bytes that requests hold, by the limit for them.", []string{"limit"}, nil)
	idleDesc = prometheus.NewDesc("espalier_idle_bytes",
		"Bytes that are kept for later requests, within the limit.", []string{"limit"}, nil)
)

func newMetrics() *metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	seconds := func(name, help string) prometheus.Histogram {
		return prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help,
			Buckets: []float64{10e-6, 30e-6, 100e-6, 300e-6, 1e-3, 3e-3, 10e-3, 30e-3, 0.1, 0.3, 1, 3, 10, 30}})
	}
	return &metrics{
		bodies: counter("espalier_bodies_total", "Bodies by what became of them: passed, or the status code of the answer.",
			"api_version", "kind", "field_validation", "result"),
		findings: counter("espalier_findings_total", "Findings in bodies.", "api_version", "kind", "finding"),
		reloads:  counter("espalier_reloads_total", "How often changed definitions were read, by whether they could be used.", "result"),
		received: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "espalier_received_bytes_total", Help: "Bytes of bodies that were decoded, after decompression."}),
		passed: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "espalier_passed_bytes_total", Help: "Bytes of bodies that were passed on."}),
		reading:  seconds("espalier_reading_seconds", "How long it took until bodies were there."),
		decoding: seconds("espalier_decoding_seconds", "How long it took to decode bodies."),
		handlers: map[*Handler]bool{},
	}
}

// register makes the metrics those of a registry, and a handler one of those that they are about.
func (m *metrics) register(registry *prometheus.Registry, h *Handler) error {
	m.mu.Lock()
	m.handlers[h] = true
	m.mu.Unlock()
	err := registry.Register(m)
	if registered := (prometheus.AlreadyRegisteredError{}); stderrors.As(err, &registered) {
		return nil // by another handler of the configuration
	}
	return err
}

// forget leaves a handler out from now on.
func (m *metrics) forget(h *Handler) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.handlers, h)
}

// reloaded counts that definitions were read again.
func (m *metrics) reloaded(err error) {
	result := "loaded"
	if err != nil {
		result = "failed"
	}
	m.reloads.WithLabelValues(result).Inc()
}

// Observe counts a body.
func (m *metrics) Observe(_ *http.Request, o request.Observation) {
	apiVersion, kind, result := "", "", "passed"
	if o.Resource != nil {
		apiVersion, kind = o.Resource.APIVersion, o.Resource.Kind
	}
	if o.Refused != nil {
		result = strconv.Itoa(o.Refused.Code)
	}
	m.bodies.WithLabelValues(apiVersion, kind, o.FieldValidation.String(), result).Inc()
	for _, finding := range []errors.FindingKind{
		errors.UnknownField, errors.DuplicateField, errors.TypeMismatch, errors.InvalidValue,
	} {
		if n := o.Findings.Count(finding); n > 0 {
			m.findings.WithLabelValues(apiVersion, kind, finding.String()).Add(float64(n))
		}
	}
	if o.Omitted > 0 {
		m.findings.WithLabelValues(apiVersion, kind, "omitted").Add(float64(o.Omitted))
	}
	m.received.Add(float64(o.BytesIn))
	m.passed.Add(float64(o.BytesOut))
	m.reading.Observe(o.Reading.Seconds())
	m.decoding.Observe(o.Decoding.Seconds())
}

// parts returns the collectors that count.
func (m *metrics) parts() []prometheus.Collector {
	return []prometheus.Collector{m.bodies, m.findings, m.reloads, m.received, m.passed, m.reading, m.decoding}
}

// Describe is for the registry.
func (m *metrics) Describe(to chan<- *prometheus.Desc) {
	for _, part := range m.parts() {
		part.Describe(to)
	}
	for _, d := range []*prometheus.Desc{loadedDesc, versionsDesc, failedDesc, heldDesc, idleDesc} {
		to <- d
	}
}

// Collect is for the registry. Handlers of the same files have one series: that of the handler whose
// definitions are the latest, as two configurations are in use while one follows the other.
func (m *metrics) Collect(to chan<- prometheus.Metric) {
	for _, part := range m.parts() {
		part.Collect(to)
	}
	latest := map[string]*Handler{}
	held := map[int64]*request.Budget{}
	m.mu.Lock()
	for h := range m.handlers {
		crds := strings.Join(h.CRDs, " ")
		if other := latest[crds]; other == nil || other.files.State().Loaded.Before(h.files.State().Loaded) {
			latest[crds] = h
		}
		held[h.budget.Limit()] = h.budget
	}
	m.mu.Unlock()
	gauge := func(desc *prometheus.Desc, value float64, label string) {
		to <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, label)
	}
	for crds, h := range latest {
		state := h.files.State()
		gauge(loadedDesc, float64(state.Loaded.UnixMilli())/1000, crds)
		gauge(versionsDesc, float64(versions(h.files.Catalog())), crds)
		failed := 0.0
		if state.Err != nil {
			failed = 1
		}
		gauge(failedDesc, failed, crds)
	}
	for limit, budget := range held {
		requests, idle := budget.Held()
		gauge(heldDesc, float64(requests), strconv.FormatInt(limit, 10))
		gauge(idleDesc, float64(idle), strconv.FormatInt(limit, 10))
	}
}

// versions returns how many served versions a catalog has.
func versions(c *schema.Catalog) (n int) {
	for e := range c.All() {
		if e.Version.Served {
			n++
		}
	}
	return n
}
