package main

import (
	"fmt"
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"time"
)

// slice is how long a contender works in a round, at least. Two contenders take turns in one process,
// and the figure is their ratio within a round. The speed of a machine changes by a factor of two from
// one minute to the next, and affects both.
//
// Before each slice the contender works for half of that time, so that a collection that the other one
// has begun can end. If it makes garbage, the half and the slice both end with the run in which a
// cycle of Go's collector ends: whole cycles are timed. So each contender pays for its own garbage,
// except for the share that an idle processor collects, and for no other's. When slices only began
// with a collection, the memory had become so large that the first contender needed no other one, and
// the second one collected for both.
const slice = 100 * time.Millisecond

// mostWait is how far apart cycles may be for work to wait for the end of one. It gives up after twice
// that and a slice. A contender that makes less garbage does not pay for it.
const mostWait = time.Second

// A Measure has the figures of a contender for a workload.
type Measure struct {
	Contender *Contender
	Err       error     // why it could not do the work
	Wrong     int       // documents whose result differs from that of Kubernetes
	NS        []float64 // time of a run, for each round; for the first contender, of all its races
	Ratios    []float64 // speedup of the first contender over this one, for each round
	Allocs    float64   // for a run
	Bytes     float64   // allocated for a run
}

// A Trial has the measures of a job's contenders for a workload.
type Trial struct {
	Job      *Job
	Workload *Workload
	Measures []*Measure
}

// A racer is a contender with its runs.
type racer struct {
	*Measure
	runs   []Run
	repeat int
	mean   time.Duration // of a run, on average, before the first round
}

// Race measures the contenders of a job on a workload, each in turns with the first one alone. If
// all of them took turns, the memory that some of them keep would let the collector run less often,
// and so make others faster that produce garbage.
func Race(job *Job, w *Workload, rounds int) *Trial {
	t := &Trial{Job: job, Workload: w}
	for i := range job.Contenders {
		t.Measures = append(t.Measures, compare(&job.Contenders[i], w))
	}
	w.forget()
	defer w.forget()
	if t.Measures[0].Err != nil {
		return t
	}
	first := prepare(t.Measures[0], w)
	first.countAllocations()
	for _, m := range t.Measures[1:] {
		if m.Err != nil {
			continue
		}
		w.forget()
		other := prepare(m, w)
		other.countAllocations()
		for range rounds {
			first.NS = append(first.NS, first.slice())
			other.NS = append(other.NS, other.slice())
			other.Ratios = append(other.Ratios, other.NS[len(other.NS)-1]/first.NS[len(first.NS)-1])
		}
	}
	for range rounds {
		first.Ratios = append(first.Ratios, 1)
	}
	return t
}

// compare compares a contender's results with those of Kubernetes.
func compare(c *Contender, w *Workload) *Measure {
	m := &Measure{Contender: c}
	for _, d := range w.Docs {
		switch err := Compare(c, d); {
		case w.Invalid:
			if err == nil && c.Output == Valid {
				m.Wrong++
			}
		case err != nil && len(w.Docs) == 1:
			m.Err = err
			return m
		case err != nil:
			m.Wrong++
		}
	}
	return m
}

// prepare starts a contender on each document.
func prepare(m *Measure, w *Workload) *racer {
	r := &racer{Measure: m, repeat: max(1, w.Repeat)}
	for _, d := range w.Docs {
		r.runs = append(r.runs, m.Contender.Start(d))
	}
	for start, i := time.Now(), 0; i < 3 && time.Since(start) < slice; i++ {
		before := time.Now()
		r.run() // buffers grow to their final size
		r.mean = time.Since(before) + 1
	}
	return r
}

// run does the workload once, or each of its documents as often as it says. compare has counted the documents that fail.
func (r *racer) run() {
	for i := range r.runs {
		for range r.repeat {
			_ = r.runs[i].Do()
		}
	}
}

// slice returns the nanoseconds of the workload, done once.
func (r *racer) slice() float64 {
	r.work(slice / 2)
	d, runs := r.work(slice)
	return float64(d.Nanoseconds()) / float64(runs*r.repeat)
}

// work does the workload again and again for a time and, if it makes garbage, until a cycle of the
// collector has ended.
func (r *racer) work(least time.Duration) (d time.Duration, runs int) {
	const seldom = 200 * time.Microsecond // to ask for cycles takes a part of a microsecond
	atOnce := max(1, int(seldom/r.mean))
	wait := r.wait()
	before := cycles()
	for start := time.Now(); ; {
		for range atOnce {
			r.run()
		}
		runs += atOnce
		d = time.Since(start)
		now := cycles()
		if d >= least && (wait == 0 || now > before || d >= least+wait) {
			return d, runs
		}
		before = now
	}
}

// wait returns how long to wait for the end of a cycle, or 0. A cycle begins when about as much was
// allocated as was in use after the last one.
func (r *racer) wait() time.Duration {
	const least = 4 << 20                                                                     // bytes; the collector does not begin before (runtime, GOGC)
	runs := float64(max(least, gauge("/gc/heap/live:bytes"))) / (r.Bytes * float64(r.repeat)) // in a cycle
	if cycle := runs * float64(r.mean); cycle <= float64(mostWait) {
		return slice + 2*time.Duration(cycle)
	}
	return 0
}

// cycles returns how many cycles the collector has ended.
func cycles() uint64 { return gauge("/gc/cycles/total:gc-cycles") }

// gauge reads a metric of package runtime/metrics.
func gauge(name string) uint64 {
	sample := [1]metrics.Sample{{Name: name}}
	metrics.Read(sample[:])
	return sample[0].Value.Uint64()
}

// countAllocations counts over several runs, to even out the occasional allocations of the runtime.
func (r *racer) countAllocations() {
	n := int(min(50, 1+50*time.Millisecond/r.mean))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range n {
		r.run()
	}
	r.mean = time.Since(start)/time.Duration(n) + 1
	runtime.ReadMemStats(&after)
	r.Allocs = math.Floor(float64(after.Mallocs-before.Mallocs) / float64(n*r.repeat))
	r.Bytes = math.Floor(float64(after.TotalAlloc-before.TotalAlloc) / float64(n*r.repeat))
}

// A Figure is a median with its spread: the quartiles.
type Figure struct{ Median, Low, High float64 }

func (f Figure) String() string {
	if math.IsNaN(f.Median) {
		return "-"
	}
	return fmt.Sprintf("%s (%s-%s)", short(f.Median), short(f.Low), short(f.High))
}

// short writes a number with two or three significant digits.
func short(x float64) string {
	switch {
	case math.IsNaN(x):
		return "-"
	case x < 10:
		return fmt.Sprintf("%.2f", x)
	case x < 100:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.0f", x)
}

// FigureOf returns the median and the quartiles. Without values, all are NaN.
func FigureOf(values []float64) Figure {
	sorted := slices.Sorted(slices.Values(values))
	return Figure{quantile(sorted, 0.5), quantile(sorted, 0.25), quantile(sorted, 0.75)}
}

// quantile interpolates between the two nearest values.
func quantile(sorted []float64, q float64) float64 {
	if len(sorted) == 0 {
		return math.NaN()
	}
	at := q * float64(len(sorted)-1)
	i := int(at)
	if i+1 == len(sorted) {
		return sorted[i]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}

// Geomean returns the geometric mean.
func Geomean(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += math.Log(v)
	}
	return math.Exp(sum / float64(len(values)))
}

// GeomeanOf takes the geometric mean over workloads within each round, and returns the median and
// the spread of these means. Each element of ratios is a workload.
func GeomeanOf(ratios [][]float64) Figure {
	var means []float64
	for round := 0; ; round++ {
		var values []float64
		for _, r := range ratios {
			if round < len(r) {
				values = append(values, r[round])
			}
		}
		if len(values) < len(ratios) || len(ratios) == 0 {
			return FigureOf(means)
		}
		means = append(means, Geomean(values))
	}
}
