package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"
)

// writeHead says what was measured, and where. left is how many resources of the corpus were left
// out. It is negative if there is no corpus.
func writeHead(w io.Writer, rounds, left int) {
	writeMachine(w)
	fmt.Fprintf(w, "- %d rounds; each contender takes turns with the first one of its job, in slices of at least %v in one process, in whole cycles of Go's collector if it makes garbage. Ratios say how many times Espalier is as fast within a round: median (quartiles). Absolute figures are medians, and not to be compared with those of other runs.\n", rounds, slice)
	if left >= 0 {
		fmt.Fprintf(w, "- Of the corpus %d resources are left out, for which the two are not meant to agree.\n", left)
	}
	fmt.Fprintf(w, "- Peers: %s\n\n", strings.Join(versions(), ", "))
}

// writeMachine writes the date and the machine.
func writeMachine(w io.Writer) {
	build := "default"
	if purego {
		build = "purego"
	}
	fmt.Fprintf(w, "# Espalier and its peers, %s\n\n", time.Now().Format(time.DateOnly))
	fmt.Fprintf(w, "- %s, %s/%s, GOMAXPROCS %d, build: %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.GOMAXPROCS(0), build)
	fmt.Fprintf(w, "- %s\n", orUnknown(cpuInfo("model name")))
}

func orUnknown(s string) string {
	if s == "" {
		return "unknown CPU"
	}
	return s
}

// versions returns the versions of the modules that take part.
func versions() (list []string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return nil
	}
	for _, m := range info.Deps {
		switch m.Path {
		case "k8s.io/apiextensions-apiserver", "sigs.k8s.io/json", "sigs.k8s.io/yaml", "github.com/valyala/fastjson",
			"github.com/goccy/go-json", "github.com/goccy/go-yaml", "github.com/bytedance/sonic", "github.com/tidwall/gjson",
			"github.com/santhosh-tekuri/jsonschema/v6", "github.com/yannh/kubeconform",
			"github.com/buger/jsonparser", "github.com/go-json-experiment/json", "go.yaml.in/yaml/v3", "go.yaml.in/yaml/v4":
			list = append(list, m.Path+" "+m.Version)
		}
	}
	return list
}

// writeTargets writes the first table.
func writeTargets(w io.Writer, trials []*Trial) {
	names := append(slices.Clone(allJSON), "1 GB", "corpus", "valid", "mixed")
	fmt.Fprintf(w, "## Targets\n\nThe mean is the geometric one over W1 to W8, for YAML over W1 to W3 and the corpus; W1 to W3 are W9 there. Maps of real resources are those of the corpus. Verdicts are on the valid resources, each of them some times in a row; mixed are the same in turns.\n\n")
	fmt.Fprintf(w, "| work | measured | must | aim | %s |\n|---|--:|--:|--:|%s\n", strings.Join(names, " | "), strings.Repeat("--:|", len(names)))
	for _, t := range Targets() {
		each, mean := t.figures(trials)
		if len(each) == 0 {
			continue
		}
		sign := ""
		if t.atMost() {
			sign = "≤ "
		}
		aim := "-"
		if a := t.Aim[column()]; a > 0 {
			aim = fmt.Sprint(sign, a)
		}
		fmt.Fprintf(w, "| %s | **%s** | %s%v | %s |", t.Work, mean, sign, t.Must[column()], aim)
		for _, name := range names {
			cell := ""
			if f, ok := each[name]; ok {
				cell = short(f.Median)
			}
			fmt.Fprintf(w, " %s |", cell)
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w)
}

// writeJob writes the table of a job: a row for each contender, with its ratio on each workload and
// their mean.
func writeJob(w io.Writer, job *Job, trials []*Trial) {
	trials = slices.DeleteFunc(slices.Clone(trials), func(t *Trial) bool { return t.Job != job })
	if len(trials) == 0 {
		return
	}
	fmt.Fprintf(w, "## %s\n\nThe ratio of each contender's time to that of %s.\n\n| contender |", job.Title, job.Contenders[0].Name)
	for _, t := range trials {
		fmt.Fprintf(w, " %s |", t.Workload.Name)
	}
	fmt.Fprintf(w, " mean | does less |\n|---|%s--:|---|\n", strings.Repeat("--:|", len(trials)))
	for i := range job.Contenders {
		writeContender(w, &job.Contenders[i], trials, i)
	}
	fmt.Fprintln(w)
}

func writeContender(w io.Writer, c *Contender, trials []*Trial, i int) {
	fmt.Fprintf(w, "| %s |", c.Name)
	var all [][]float64
	var notes []string
	if c.Less != "" {
		notes = append(notes, c.Less)
	}
	for _, t := range trials {
		m := t.Measures[i]
		fmt.Fprintf(w, " %s |", short(FigureOf(m.Ratios).Median))
		if len(m.Ratios) > 0 && (!t.Job.Verdict || t.Workload.Name == "valid" || t.Workload.Rules) {
			all = append(all, m.Ratios)
		}
		if m.Err != nil {
			notes = append(notes, fmt.Sprintf("%s: %.200v", t.Workload.Name, m.Err))
		}
		if m.Wrong > 0 {
			what := "result for"
			if c.Output == Valid {
				what = "verdict on"
			}
			notes = append(notes, fmt.Sprintf("another %s %d of %d documents of %s", what, m.Wrong, len(t.Workload.Docs), t.Workload.Name))
		}
	}
	if c.Output == Valid {
		if list := misses(c); len(list) > 0 {
			notes = append(notes, "misses "+strings.Join(list, ", "))
		}
	}
	if c.Output == Verdict {
		if list := accepts(c, trials[0].Workload.Docs[0].Schema); len(list) > 0 {
			notes = append(notes, "accepts "+strings.Join(list, ", "))
		}
	}
	fmt.Fprintf(w, " %s | %s |\n", GeomeanOf(all), strings.ReplaceAll(strings.Join(notes, "; "), "|", "\\|"))
}

// writeWorkload writes the absolute figures of a workload, for all jobs.
func writeWorkload(w io.Writer, workload *Workload, trials []*Trial) {
	fmt.Fprintf(w, "### %s: %s\n\n| job | contender | MB/s | us a document | allocations | bytes allocated | ratio |\n|---|---|--:|--:|--:|--:|--:|\n", workload.Name, workload.What)
	for _, t := range trials {
		if t.Workload != workload {
			continue
		}
		size := float64(workload.Size(t.Job.InYAML))
		for _, m := range t.Measures {
			ns := FigureOf(m.NS).Median
			switch {
			case m.Err != nil:
			case t.Job.Many:
				fmt.Fprintf(w, "| %s | %s | | | | | %s |\n", t.Job.Name, m.Contender.Name, FigureOf(m.Ratios))
			default:
				fmt.Fprintf(w, "| %s | %s | %s | %s | %.0f | %.0f | %s |\n", t.Job.Name, m.Contender.Name, short(size*1e3/ns), short(ns/1e3/float64(len(workload.Docs))), m.Allocs, m.Bytes, FigureOf(m.Ratios))
			}
		}
	}
	fmt.Fprintln(w)
}
