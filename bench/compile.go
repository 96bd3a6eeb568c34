package main

import (
	"fmt"
	"io"
	"runtime"
	"slices"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
)

// compileJob is the work of a server on the schema of a definition that it has read.
func compileJob() *Job {
	return &Job{Name: "compile", Contenders: []Contender{
		{"schema.Compile", Partial, "", func(d *Document) Run {
			return verdict(func() error { _, err := schema.Compile(d.Parsed); return err })
		}},
		{"NewStructural and PruneDefaults", Partial, "", func(d *Document) Run {
			return verdict(func() error {
				s, err := structural.NewStructural(d.Internal)
				if err != nil {
					return err
				}
				return defaulting.PruneDefaults(s)
			})
		}},
	}}
}

// writeCompile compares compiling all schemas of the corpus, and each of them.
func writeCompile(w io.Writer, rounds int) {
	tb := outsideTests{}
	if !corpus.IsThere(tb) {
		return
	}
	all := &Workload{Name: "all"}
	for _, s := range realSchemas(corpus.CRDs(tb)) {
		if s != nil {
			all.Docs = append(all.Docs, &Document{Schema: s})
		}
	}
	nodes, bytes := programSize(all)
	job := compileJob()
	t := Race(job, all, rounds)
	ours, theirs := t.Measures[0], t.Measures[1]
	fmt.Fprintf(w, "## Compiling the %d schemas of the corpus\n\n| | ms | allocations | bytes allocated | ratio |\n|---|--:|--:|--:|--:|\n", len(all.Docs))
	for _, m := range []*Measure{ours, theirs} {
		fmt.Fprintf(w, "| %s | %s | %.0f | %.0f | %s |\n", m.Contender.Name, short(FigureOf(m.NS).Median/1e6), m.Allocs, m.Bytes, FigureOf(m.Ratios))
	}
	var each []float64
	for _, d := range all.Docs {
		t := Race(job, &Workload{Docs: []*Document{d}}, min(rounds, 3))
		each = append(each, FigureOf(t.Measures[1].Ratios).Median)
	}
	slices.Sort(each)
	slower := 0
	for slower < len(each) && each[slower] < 1 {
		slower++
	}
	fmt.Fprintf(w, "\nOne by one, Compile is %s times as fast (median; lowest %s, highest %s), and slower for %d of them. The programs have %d nodes and take %.0f bytes a node, their fields included.\n\n",
		short(quantile(each, 0.5)), short(each[0]), short(each[len(each)-1]), slower, nodes, bytes)
}

// programSize compiles all schemas, and returns the number of nodes and their size.
func programSize(all *Workload) (nodes int, bytesPerNode float64) {
	var before, after runtime.MemStats
	var programs []*schema.Program
	runtime.GC() // twice, as pools keep their content for one more collection
	runtime.GC()
	runtime.ReadMemStats(&before)
	for _, d := range all.Docs {
		p, err := schema.Compile(d.Parsed)
		if err != nil {
			panic(err) // it compiled before
		}
		programs = append(programs, p)
		nodes += len(program.Of(p).Nodes)
	}
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&after)
	bytesPerNode = float64(int64(after.HeapAlloc)-int64(before.HeapAlloc)) / float64(nodes)
	runtime.KeepAlive(programs)
	return nodes, bytesPerNode
}
