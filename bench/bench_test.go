package main

import (
	"bytes"
	"errors"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// TestOutputs compares the results of each contender for each workload with those of Kubernetes.
// The figures of a contender that fails here would mean nothing. W8 is W2 many times over and takes
// a while, so it is only compared when it is measured.
func TestOutputs(t *testing.T) {
	for _, w := range Generated() {
		if w.Name == "W8" || testing.Short() && w.Size(false) > 1_000_000 {
			continue
		}
		for _, job := range Jobs() {
			for i := range job.Contenders {
				for _, d := range w.Docs {
					if job.takes(w) {
						assert.NoError(t, Compare(&job.Contenders[i], d), "%s/%s", job.Name, w.Name)
					}
				}
			}
		}
	}
}

// TestOutputsOfCorpus asserts that Corpus leaves few resources out.
func TestOutputsOfCorpus(t *testing.T) {
	w, left := Corpus()
	if w == nil {
		t.Skip("skipped: no third-party data (real definitions and resources); set ESPALIER_CORPUS to a folder that has it")
	}
	assert.Greater(t, len(w.Docs), 700)
	assert.Less(t, left, 20)
	for _, d := range w.Docs {
		for _, job := range Jobs() {
			if job.takes(w) {
				assert.NoError(t, Compare(&job.Contenders[0], d), job.Name)
			}
		}
	}
	typed := Typed(w)
	assert.Greater(t, len(typed.Docs), 700)
	for _, c := range structJob().Contenders {
		if c.Name == "sonic" || strings.Contains(c.Name, "FromUnstructured") {
			continue // they take long to prepare
		}
		for _, d := range typed.Docs {
			assert.NoError(t, Compare(&c, d), c.Name)
		}
	}
}

// TestStructOf asserts what the types of a schema are.
func TestStructOf(t *testing.T) {
	s := MustSchema(`
type: object
properties:
  spec:
    type: object
    required: [a]
    properties:
      a: {type: object, properties: {m: {type: integer}}}
      b: {type: object, properties: {x: {type: number, nullable: true}}}
      c: {type: object, additionalProperties: {type: array, items: {type: boolean}}}
      d: {x-kubernetes-int-or-string: true}
      e: {type: object, x-kubernetes-preserve-unknown-fields: true}
`)
	of := structOf(s)
	assert.Equal(t, []string{"Kind", "APIVersion", "ObjectMeta", "F0"}, []string{of.Field(0).Name, of.Field(1).Name, of.Field(2).Name, of.Field(3).Name})
	spec := of.Field(3).Type
	require.Equal(t, reflect.Pointer, spec.Kind(), "it is not required")
	var types []string
	for i := range spec.Elem().NumField() {
		types = append(types, spec.Elem().Field(i).Type.String())
	}
	assert.Equal(t, []string{`struct { F0 int64 "json:\"m\"" }`, `*struct { F0 *float64 "json:\"x\"" }`, "map[string][]bool", "interface {}", "map[string]interface {}"}, types)
}

// TestCompare asserts that Compare finds contenders that do other work.
func TestCompare(t *testing.T) {
	d := Generated()[1].Docs[0]
	wrong := toBytes(d, func(dst []byte) ([]byte, error) { return append(dst, d.Src...), nil })
	c := Contender{"does nothing", Decoded, "", func(*Document) Run { return wrong }}
	assert.ErrorContains(t, Compare(&c, d), "another value than Kubernetes")

	c = ours("silent", decoder.Ignore)
	start := c.Start
	c.Start = func(d *Document) Run {
		r := start(d)
		r.Findings = func() []string { return nil }
		return r
	}
	assert.ErrorContains(t, Compare(&c, d), "other findings than Kubernetes")
}

// TestDecodeServer asserts that its findings are those of a server, in metadata, too.
func TestDecodeServer(t *testing.T) {
	s := MustSchema(resourceSchema(`{type: object, properties: {pod: {type: object, x-kubernetes-embedded-resource: true}}}`))
	_, findings, err := decodeServer([]byte(`{"kind":"K","kind":"K","metadata":{"a":1},"spec":{"pod":{"apiVersion":"v1","kind":"Pod","metadata":{"b":1},"c":1}}}`), s.Structural, true)
	require.NoError(t, err)
	assert.Equal(t, []string{`duplicate field "kind"`, `unknown field "metadata.a"`, `unknown field "spec.pod.c"`, `unknown field "spec.pod.metadata.b"`}, findings)
}

// TestGenerated asserts that workloads are the same each time, and have the size that is
// documented.
func TestGenerated(t *testing.T) {
	sizes := map[string][2]int{"W1": {850, 950}, "W2": {20_000, 22_000}, "W3": {1e6, 12e5}, "W4": {1e6, 12e5},
		"W5": {95e4, 11e5}, "W6": {28e5, 34e5}, "W7": {15e5, 3e6}, "W8": {95e5, 11e6}}
	again := Generated()
	for i, w := range Generated() {
		assert.True(t, bytes.Equal(w.Docs[0].Src, again[i].Docs[0].Src), w.Name)
		assert.GreaterOrEqual(t, w.Size(false), sizes[w.Name][0], w.Name)
		assert.LessOrEqual(t, w.Size(false), sizes[w.Name][1], w.Name)
	}
}

// TestUnknown asserts that the share of unknown bytes is as documented: it is the share by which a
// document becomes shorter without defaults.
func TestUnknown(t *testing.T) {
	bare := regexp.MustCompile(`,? *default: (\{}|\w+)`).ReplaceAllString(resourceSchema(specSchema), "")
	s, err := schema.Parse([]byte(bare))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	for i, share := range map[int]float64{0: 0, 1: 0.05, 2: 0.05, 3: 0.95} {
		src := Generated()[i].Docs[0].Src
		out, err := decoder.New(p).AppendJSON(nil, src)
		require.NoError(t, err)
		assert.InDelta(t, share, 1-float64(len(out))/float64(len(src)), 0.02)
	}
}

func TestStatistics(t *testing.T) {
	assert.Equal(t, Figure{2, 1.5, 2.5}, FigureOf([]float64{3, 1, 2}))
	assert.Equal(t, Figure{7, 7, 7}, FigureOf([]float64{7}))
	assert.True(t, math.IsNaN(FigureOf(nil).Median))
	assert.InDelta(t, 4, Geomean([]float64{2, 8}), 1e-9)

	// Within rounds: means of 4, 6 and 5.
	mean := GeomeanOf([][]float64{{2, 4, 5}, {8, 9, 5}})
	assert.InDelta(t, 5, mean.Median, 1e-9)
	assert.InDelta(t, 4.5, mean.Low, 1e-9)
	assert.True(t, math.IsNaN(GeomeanOf(nil).Median))

	for x, want := range map[float64]string{1.234: "1.23", 12.34: "12.3", 123.4: "123", math.NaN(): "-"} {
		assert.Equal(t, want, short(x))
	}
}

// TestRace checks a race without looking at a clock. Each contender does each document in each
// round, in turns with the first one, and no other contender has anything in memory. Ratios are
// those of the same round.
func TestRace(t *testing.T) { synctest.Test(t, testRace) } // the contenders sleep

func testRace(t *testing.T) {
	w := Generated()[0]
	var order, held []int
	job := &Job{Contenders: []Contender{
		{"fails", Decoded, "", func(*Document) Run { return verdict(func() error { return errors.New("no") }) }},
	}}
	for i := range 3 {
		job.Contenders = append(job.Contenders, Contender{"sleeps", Partial, "", func(d *Document) Run {
			held = append(held, len(d.made))
			made(d.Schema, i, func() int { return i })
			runs := 0
			return Run{Do: func() error {
				order = append(order, i)
				runs++ // the first one becomes slower and slower
				time.Sleep(slice * time.Duration([]int{runs, 2, 3}[i]))
				return nil
			}}
		}})
	}
	assert.Empty(t, Race(job, w, 3).Measures[1].NS, "there is nothing to compare with")
	order = nil
	job.Contenders[0], job.Contenders[1] = job.Contenders[1], job.Contenders[0]
	trial := Race(job, w, 3)
	assert.Equal(t, []int{0, 0, 0}, held[len(held)-3:], "what was made before is gone")
	assert.Empty(t, w.Docs[0].made)
	assert.ErrorContains(t, trial.Measures[1].Err, "no")
	assert.Empty(t, trial.Measures[1].NS)

	all := []int{0, 0, 1, 1} // two runs to prepare
	for range 3 {
		all = append(all, 0, 0, 1, 1) // one for which no time is taken, and one
	}
	all = append(all, 2, 2)
	for range 3 {
		all = append(all, 0, 0, 2, 2)
	}
	assert.Equal(t, all, order[len(order)-len(all):])
	first := trial.Measures[0]
	require.Len(t, first.NS, 6, "in each round of each other one")
	assert.Equal(t, []float64{1, 1, 1}, first.Ratios)
	for i, m := range trial.Measures[2:] {
		for round, ratio := range m.Ratios {
			assert.InDelta(t, first.NS[0]+float64(slice)*float64(2*(3*i+round)), first.NS[3*i+round], 1e-3, "two runs a round")
			assert.InDelta(t, m.NS[round]/first.NS[3*i+round], ratio, 1e-9)
		}
		assert.InDelta(t, float64(slice)*float64(i+2), m.NS[0], 1e-3)
	}
}

// TestCycles asserts that a contender that makes garbage works until a cycle of the collector has
// ended, and that another one does not wait for that.
func TestCycles(t *testing.T) {
	w := &Workload{Docs: []*Document{{Schema: MustSchema(resourceSchema(specSchema))}}}
	runs := 0
	var garbage []byte
	littering := Contender{"littering", Partial, "", func(*Document) Run {
		return verdict(func() error {
			runs++
			garbage = make([]byte, 1<<20)
			return nil
		})
	}}
	r := prepare(&Measure{Contender: &littering}, w)
	r.countAllocations()
	assert.InDelta(t, 1<<20, r.Bytes, 1<<17)
	before := cycles()
	r.work(0)
	assert.Greater(t, cycles(), before)
	runs, r.Bytes, r.mean = 0, 0, slice // so that it looks after each run
	r.work(0)
	assert.Equal(t, 1, runs)
	r.Bytes = 1 // it would take ages
	r.work(0)
	assert.Equal(t, 2, runs)
	assert.Len(t, garbage, 1<<20)
}

// TestTargets asserts that the jobs, contenders and workloads in the first table exist.
func TestTargets(t *testing.T) {
	for _, target := range Targets() {
		if !target.raced() {
			continue
		}
		names := []string{}
		for _, c := range jobNamed(target.Job).Contenders {
			names = append(names, c.Name)
		}
		assert.True(t, slices.Contains(names, target.Over), "%s in %q", target.Over, names)
	}
}

// TestGates holds which rows smoke measures.
func TestGates(t *testing.T) {
	gates := make(map[string]int)
	for _, target := range Targets() {
		if target.isGate() {
			gates[target.Job]++
		}
	}
	assert.Equal(t, map[string]int{"bytes": 2, "strict": 1, "busy": 1, "busystrict": 1, "skip": 1, "map": 1, "yaml": 1, "yamlbridge": 1, "verdict": 1, "rules": 1, "values": 1}, gates)
}

// TestFigures reads a row of each kind out of trials, those that other tests print among them.
func TestFigures(t *testing.T) {
	trials := kubeTrials("    turns_linux_test.go:97: stored in v1, read in v2: 11.0 (9.9 to 11.8), 18 µs for 201 µs\n" +
		"    turns_linux_test.go:146: schemas: 213 KiB, 1.12ms\n    turns_linux_test.go:146: ForCRD: 86 KiB, 2.07ms\n")
	trials = append(trials, (&start{ns: []float64{18e6, 20e6, 19e6}, peak: []float64{30e6, 30e6, 31e6}, size: 309e5}).trials()...)
	job := &Job{Name: "job"}
	for _, w := range []string{"W1", "W2", "corpus"} {
		trial := trialOf(job, "other", map[string][]float64{"W1": {2, 4, 4}, "W2": {8, 16, 16}, "corpus": {1, 1, 1}}[w])
		trial.Workload.Name = w
		trials = append(trials, trial)
	}
	want := map[string]Figure{otherVersion: {11, 9.9, 11.8}, resourceKiB: {86, 86, 86}, resourceMS: {2.07, 2.07, 2.07}, startMS: {19, 18.5, 19.5}, startMB: {30, 30, 30.5}, binaryMB: {30.9, 30.9, 30.9}}
	for _, target := range Targets() {
		if f, there := want[target.Over]; there {
			_, row := target.figures(trials)
			assert.InDeltaSlice(t, []float64{f.Median, f.Low, f.High}, []float64{row.Median, row.Low, row.High}, 1e-9, target.Work)
			delete(want, target.Over)
		}
	}
	assert.Empty(t, want)

	target := Target{Job: "job", Over: "other", Workloads: []string{"W1", "W2"}}
	each, row := target.figures(trials)
	assert.Equal(t, Figure{1, 1, 1}, each["corpus"])
	assert.InDelta(t, 8, row.Median, 1e-9)
	assert.True(t, target.holds(8, 7))
	target.Figure = ourCost
	_, row = target.figures(trials)
	assert.InDelta(t, 1/8.0, row.Median, 1e-9)
	assert.False(t, target.holds(8, 7))
	_, row = (&Target{Job: "other"}).figures(trials)
	assert.True(t, math.IsNaN(row.Median))
}

// TestTables writes all tables of a short race.
func TestTables(t *testing.T) {
	workloads := Generated()[:1]
	trials := raceAll(Jobs(), workloads, regexp.MustCompile(""), 1)
	var out bytes.Buffer
	writeHead(&out, 1, 0)
	writeTargets(&out, trials)
	for _, trial := range trials {
		writeJob(&out, trial.Job, trials)
	}
	writeWorkload(&out, workloads[0], trials)
	for _, line := range []string{"| AppendJSON, Ignore, over Kubernetes to bytes | **", "| Kubernetes, as its server | ", "accepts bad UTF-8", "### W1: "} {
		assert.Contains(t, out.String(), line)
	}
}

// TestServers asserts that the servers under load answer alike, with the same warnings if they
// decode, and that the middleware passes on what the pipeline makes of the body.
func TestServers(t *testing.T) {
	body := itemsDocument(2, 2, 5)
	var want []string
	for _, s := range Servers() {
		w := httptest.NewRecorder()
		s.New(MustSchema(resourceSchema(specSchema))).ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(body)))
		require.Equal(t, http.StatusCreated, w.Code, "%s: %s", s.Name, w.Body)
		got := w.Header().Values("Warning")
		switch {
		case want == nil:
			require.NotEmpty(t, got)
			want = got
		case s.Less == "decodes nothing":
			assert.Empty(t, got)
		default:
			assert.Equal(t, want, got, s.Name)
		}
	}
}

// TestRepeat asserts that documents are read as often in a row as the workload says, and that the
// figures are those of one time.
func TestRepeat(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := MustSchema(resourceSchema(specSchema))
		a, b := &Document{Schema: s, Src: []byte("a")}, &Document{Schema: s, Src: []byte("b")}
		read := ""
		sleeps := Contender{"sleeps", Partial, "", func(d *Document) Run {
			return verdict(func() error {
				read += string(d.Src)
				time.Sleep(slice / 4)
				return nil
			})
		}}
		trial := Race(&Job{Contenders: []Contender{sleeps, sleeps}}, &Workload{Docs: []*Document{a, b}, Repeat: 3}, 2)
		assert.Equal(t, "abab"+"aaabbb", read[:10], "each contender reads each document once before it is measured")
		for _, m := range trial.Measures {
			for _, ns := range m.NS {
				assert.InDelta(t, float64(slice)/2, ns, 1e-3)
			}
		}
	})
}
