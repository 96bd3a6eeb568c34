package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// A Target is a row of the first table: the speedup over a contender that Espalier must have, in
// the geometric mean, and the one that it aims for. The first figure of each is for amd64 with
// AVX-512, the second for any other machine and the build tag purego.
type Target struct {
	Work      string
	Job       string
	Over      string // the contender
	Workloads []string
	Must, Aim [2]float64
	AtMost    bool // the figure is a cost: how much longer than the first contender the other takes
}

var (
	allJSON  = []string{"W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8"}
	allYAML  = []string{"W1", "W2", "W3", "corpus"}
	allValid = []string{"valid"}
)

// Targets returns the rows of the first table.
func Targets() []Target {
	return []Target{
		{"AppendJSON, Ignore, over Kubernetes to bytes", "bytes", "Kubernetes", allJSON, [2]float64{55, 45}, [2]float64{75, 60}, false},
		{"AppendJSON, Strict, over Kubernetes strict to bytes", "strict", "Kubernetes strict", allJSON, [2]float64{36, 32}, [2]float64{55, 45}, false},
		{"the same, on all processors at the same time", "busy", "Kubernetes", allJSON, [2]float64{55, 45}, [2]float64{75, 60}, false},
		{"AppendJSON, Strict, the same", "busystrict", "Kubernetes strict", allJSON, [2]float64{36, 32}, [2]float64{55, 45}, false},
		{"AppendJSON over a pruner on jsontext tokens", "bytes", "jsontext tokens, duplicates allowed", allJSON, [2]float64{5, 4.5}, [2]float64{7, 6}, false},
		{"skipping over jsontext SkipValue", "skip", "jsontext SkipValue", allJSON, [2]float64{3, 1.8}, [2]float64{3.5, 2}, false},
		{"Unmarshal to map over Kubernetes to map", "map", "Kubernetes", allJSON, [2]float64{6, 5.5}, [2]float64{7, 7}, false},
		{"AppendYAML, Strict, over Kubernetes strict from YAML", "yaml", "Kubernetes strict", allYAML, [2]float64{35, 35}, [2]float64{50, 50}, false},
		{"yamlbridge over sigs.k8s.io/yaml YAMLToJSON", "yamlbridge", "sigs.k8s.io/yaml YAMLToJSON", allYAML, [2]float64{22, 22}, [2]float64{30, 30}, false},
		{"items of a List of 1 GB on all cores over one, of which two can make no more than 2", "list", oneCore, []string{"1 GB"}, [2]float64{1.8, 1.8}, [2]float64{2, 2}, false},
		{"espalier check, values included, on 1 000 and 10 000 manifests over kubeconform", "command", "kubeconform -n 2", []string{"1 000 manifests", "10 000 manifests"}, [2]float64{15, 15}, [2]float64{25, 25}, false},
		{"the same over kubectl-validate", "command", "kubectl-validate", []string{"1 000 manifests", "10 000 manifests"}, [2]float64{12, 12}, [2]float64{25, 25}, false},
		{"the whole verdict, without CEL, over Kubernetes", "verdict", "Kubernetes", allValid, [2]float64{100, 100}, [2]float64{150, 150}, false},
		{"the whole verdict, with CEL, over Kubernetes", "rules", "Kubernetes", []string{"ruled"}, [2]float64{5, 5}, [2]float64{10, 10}, false},
		{"value validation on, over off", "values", valuesOn, allValid, [2]float64{1.6, 1.6}, [2]float64{1.3, 1.3}, true},
	}
}

// holds reports whether a figure is as good as another.
func (t *Target) holds(figure, other float64) bool {
	if t.AtMost {
		return figure <= other
	}
	return figure >= other
}

// keepTargets keeps the contenders that the first table names.
func (j *Job) keepTargets() {
	var names []string
	for _, t := range Targets() {
		if t.Job == j.Name {
			names = append(names, t.Over)
		}
	}
	j.keep(names...)
}

// keep keeps the first contender and the named ones.
func (j *Job) keep(names ...string) {
	first := j.Contenders[0].Name
	j.Contenders = slices.DeleteFunc(j.Contenders, func(c Contender) bool {
		return c.Name != first && !slices.Contains(names, c.Name)
	})
}

// figures returns the ratio for each measured workload, and their mean.
func (t *Target) figures(trials []*Trial) (each map[string]Figure, mean Figure) {
	each = make(map[string]Figure)
	var all [][]float64
	for _, trial := range trials {
		if trial.Job.Name != t.Job {
			continue
		}
		for _, m := range trial.Measures {
			if m.Contender.Name != t.Over || m.Err != nil {
				continue
			}
			each[trial.Workload.Name] = FigureOf(m.Ratios)
			if slices.Contains(t.Workloads, trial.Workload.Name) {
				all = append(all, m.Ratios)
			}
		}
	}
	return each, GeomeanOf(all)
}

// column returns the index of the figure that applies to this machine and build.
func column() int {
	if runtime.GOARCH == "amd64" && !purego && strings.Contains(cpuInfo("flags"), "avx512bw") {
		return 0
	}
	return 1
}

// cpuInfo returns a line of Linux' description of the first processor, or "" on other systems.
func cpuInfo(name string) string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}
