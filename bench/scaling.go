package main

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
)

// scalingJob is the work that is measured while one property of the workload changes.
func scalingJob() *Job {
	return &Job{Name: "scaling", Contenders: []Contender{
		ours("Ignore", decoder.Ignore),
		ours("Strict", decoder.Strict),
		kubernetesBytes()[0],
		jsontextPruner("jsontext", "", true),
	}}
}

// jobOfLarge is for documents for which Kubernetes would allocate gigabytes.
func jobOfLarge() *Job {
	job := scalingJob()
	job.keep("Strict")
	for i := range job.Contenders {
		job.Contenders[i].Output = Partial // compared with nothing
	}
	return job
}

// A Series is a property of workloads with several values of it.
type Series struct {
	Name      string
	Workloads func() []*Workload
}

func scalings() []Series {
	return []Series{
		{"size of the document", bySize},
		{"depth, in 100 kB", byDepth},
		{"share of bytes that are unknown, in 100 kB", byShare},
		{"declared fields of an object, all of them in the document", byFields},
	}
}

func bySize() (list []*Workload) {
	for _, items := range []int{1, 10, 100, 1000, 10_000, 100_000} {
		list = append(list, newWorkload(sizeName(items), "", resourceSchema(specSchema), itemsDocument(10, items, 5)))
	}
	return list
}

func sizeName(items int) string {
	return map[int]string{1: "1 kB", 10: "10 kB", 100: "100 kB", 1000: "1 MB", 10_000: "10 MB", 100_000: "100 MB"}[items]
}

func byShare() (list []*Workload) {
	for _, share := range []int{0, 5, 25, 50, 75, 95} {
		items := max(1, 100*(100-share)/100)
		list = append(list, newWorkload(fmt.Sprintf("%d %%", share), "", resourceSchema(specSchema), itemsDocument(11, items, share)))
	}
	return list
}

// byDepth has chains of objects that are all declared.
func byDepth() (list []*Workload) {
	for _, depth := range []int{1, 10, 100, 1000} {
		level := `{"type":"object","properties":{"name":{"type":"string"}}}`
		value := `{"name":"web"}`
		for range depth - 1 {
			level = `{"type":"object","properties":{"name":{"type":"string"},"next":` + level + `}}`
			value = `{"name":"web","next":` + value + `}`
		}
		n := max(1, 100_000/len(value))
		src := `{"kind":"Chain","items":[` + value + strings.Repeat(","+value, n-1) + `]}`
		list = append(list, newWorkload(fmt.Sprint(depth), "", `{"type":"object","properties":{"items":{"type":"array","items":`+level+`}}}`, []byte(src)))
	}
	return list
}

// byFields has objects of n fields, in another order than in the schema.
func byFields() (list []*Workload) {
	for _, n := range []int{1, 10, 100, 1000, 10_000} {
		var properties, members strings.Builder
		for i := range n {
			fmt.Fprintf(&properties, `,"field%d":{"type":"string"}`, i)
			fmt.Fprintf(&members, `,"field%d":"value"`, i*7919%n)
		}
		object := "{" + members.String()[1:] + "}"
		src := `{"kind":"Wide","items":[` + object + strings.Repeat(","+object, 100_000/len(object)) + `]}`
		list = append(list, newWorkload(fmt.Sprint(n), "", `{"type":"object","properties":{"items":{"type":"array","items":{"type":"object","properties":{`+properties.String()[1:]+`}}}}}`, []byte(src)))
	}
	return list
}

// writeScaling measures a series and writes its table: absolute figures, which show whether they
// stay the same, and ratios.
func writeScaling(w io.Writer, s Series, rounds int) {
	job := scalingJob()
	fmt.Fprintf(w, "### %s\n\n| | Ignore MB/s | Strict MB/s | allocations | over Kubernetes | over jsontext |\n|---|--:|--:|--:|--:|--:|\n", s.Name)
	for _, workload := range s.Workloads() {
		job := job
		if workload.Size(false) > 50_000_000 {
			job = jobOfLarge()
		}
		t := Race(job, workload, rounds)
		speed := func(i int) string {
			return short(float64(workload.Size(false)) * 1e3 / FigureOf(t.Measures[i].NS).Median)
		}
		over := func(i int) string {
			if i >= len(t.Measures) {
				return "-"
			}
			return FigureOf(t.Measures[i].Ratios).String()
		}
		fmt.Fprintf(w, "| %s | %s | %s | %.0f | %s | %s |\n", workload.Name, speed(0), speed(1), t.Measures[0].Allocs+t.Measures[1].Allocs, over(2), over(3))
	}
	fmt.Fprintln(w)
}

// writeGoroutines compares the work of one goroutine with twice that work on two.
func writeGoroutines(w io.Writer, workloads []*Workload, rounds int) {
	fmt.Fprintf(w, "### goroutines\n\nThroughput of two goroutines over that of one, each with a decoder of its own.\n\n| | AppendJSON, Ignore | Kubernetes |\n|---|--:|--:|\n")
	for _, workload := range workloads {
		var cells []string
		for _, c := range []Contender{ours("Ignore", decoder.Ignore), kubernetesBytes()[0]} {
			both := []Contender{c, c}
			both[0].Start, both[1].Start = many(c), twice(c)
			t := Race(&Job{Name: "goroutines", Contenders: both}, workload, rounds)
			ratios := t.Measures[1].Ratios
			for i := range ratios {
				ratios[i] = 2 / ratios[i]
			}
			cells = append(cells, FigureOf(ratios).String())
		}
		fmt.Fprintf(w, "| %s | %s |\n", workload.Name, strings.Join(cells, " | "))
	}
	fmt.Fprintln(w)
}

// many repeats the work of a contender until a workload takes some milliseconds, so that the start
// of a goroutine does not matter.
func many(c Contender) func(d *Document) Run {
	return func(d *Document) Run {
		r := c.Start(d)
		n, do := max(1, 5_000_000/max(1, d.Among)/len(d.Src)), r.Do
		r.Do = func() (err error) {
			for range n {
				err = do()
			}
			return err
		}
		return r
	}
}

// twice does the work of many on two goroutines at the same time.
func twice(c Contender) func(d *Document) Run {
	return func(d *Document) Run {
		other := *d
		other.Schema = d.alone()
		a, b := many(c)(d), many(c)(&other)
		return Run{Do: func() error {
			var wg sync.WaitGroup
			wg.Go(func() { _ = b.Do() })
			err := a.Do()
			wg.Wait()
			return err
		}, Result: a.Result}
	}
}

// A processor is the key for data that a schema keeps for a goroutine.
type processor int

// busy does the work of many on each processor at the same time, like a server under load, where no
// processor is idle and collects garbage.
func busy(contenders ...Contender) (list []Contender) {
	for _, c := range contenders {
		start := many(c)
		c.Start = func(d *Document) Run {
			runs := []Run{start(d)}
			for len(runs) < runtime.GOMAXPROCS(0) {
				other := *d
				// Documents of a schema share a decoder and a buffer on each processor, as with one
				// goroutine.
				other.Schema = made(d.Schema, processor(len(runs)), d.alone)
				runs = append(runs, start(&other))
			}
			return together(runs)
		}
		list = append(list, c)
	}
	return list
}

// together does several runs at the same time.
func together(runs []Run) Run {
	return Run{Do: func() error {
		errs := make([]error, len(runs))
		var wg sync.WaitGroup
		for i := range runs {
			wg.Go(func() { errs[i] = runs[i].Do() })
		}
		wg.Wait()
		return errors.Join(errs...)
	}, Result: runs[0].Result, Findings: runs[0].Findings}
}
