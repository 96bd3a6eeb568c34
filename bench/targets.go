package main

import (
	"os"
	"runtime"
	"slices"
	"strings"
)

// A Target is a row of the first table: the figure that Espalier must have, in the geometric mean,
// and the one that it aims for. The first of each is for amd64 with AVX-512, the second for any
// other machine and the build tag purego.
type Target struct {
	Work      string
	Job       string
	Over      string // the contender
	Workloads []string
	Must, Aim [2]float64 // an aim of 0 is one that bench cannot measure
	Figure    figureOfTarget
}

// A figureOfTarget says what the ratios of a contender mean in the first table.
type figureOfTarget uint8

const (
	speedup figureOfTarget = iota // over the contender
	cost                          // at most: how much longer than the first contender the other takes, or a figure as it is
	ourCost                       // at most: how much longer the first contender takes
)

var (
	allJSON  = []string{"W1", "W2", "W3", "W4", "W5", "W6", "W7", "W8"}
	allYAML  = []string{"W1", "W2", "W3", "corpus"}
	allValid = []string{"valid"}
	folders  = []string{"1 000 manifests", "10 000 manifests"}
)

// same is a figure for all machines and builds.
func same(figure float64) [2]float64 { return [2]float64{figure, figure} }

// Targets returns the rows of the first table.
func Targets() []Target {
	return []Target{
		{"AppendJSON, Ignore, over Kubernetes to bytes", "bytes", "Kubernetes", allJSON, [2]float64{55, 46}, [2]float64{75, 60}, speedup},
		{"AppendJSON, Strict, over Kubernetes strict to bytes", "strict", "Kubernetes strict", allJSON, [2]float64{45, 40}, [2]float64{55, 45}, speedup},
		{"AppendJSON, Ignore, the same on all processors at the same time", "busy", "Kubernetes", allJSON, [2]float64{55, 46}, [2]float64{75, 60}, speedup},
		{"AppendJSON, Strict, the same on all processors at the same time", "busystrict", "Kubernetes strict", allJSON, [2]float64{45, 40}, [2]float64{55, 45}, speedup},
		{"AppendJSON over a pruner on jsontext tokens", "bytes", "jsontext tokens, duplicates allowed", allJSON, [2]float64{5.8, 4.7}, [2]float64{7, 6}, speedup},
		{"skipping over jsontext SkipValue", "skip", "jsontext SkipValue", allJSON, [2]float64{5.5, 2.5}, [2]float64{}, speedup},
		{"Unmarshal to map over Kubernetes to map, real resources", "map", "Kubernetes", []string{"corpus"}, same(6), same(7), speedup},
		{"its time over that of Go for the same maps", "map", mapsAlone, []string{"corpus"}, same(1.5), same(1.3), ourCost},
		{"Unmarshal to map over Kubernetes to map", "map", "Kubernetes", allJSON, [2]float64{6.5, 5.9}, [2]float64{7.5, 7}, speedup},
		{"AppendYAML, Strict, over Kubernetes strict from YAML", "yaml", "Kubernetes strict", allYAML, same(42), same(50), speedup},
		{"yamlbridge over sigs.k8s.io/yaml YAMLToJSON", "yamlbridge", "sigs.k8s.io/yaml YAMLToJSON", allYAML, same(28), same(30), speedup},
		{"the whole verdict, without CEL, over Kubernetes", "verdict", "Kubernetes", allValid, same(100), same(150), speedup},
		{"the whole verdict, with CEL, over Kubernetes", "rules", "Kubernetes", []string{"ruled"}, same(5), same(10), speedup},
		{"value validation on, over off", "values", valuesOn, allValid, same(1.6), same(1.3), cost},
		{"storage read of another version through kube, over the staged decoders", "kube", otherVersion, []string{otherVersion}, same(4), same(8), speedup},
		{"the resource of HTTPRoute in kube, KiB", "kube", resourceKiB, []string{resourceKiB}, same(200), same(100), cost},
		{"the resource of HTTPRoute in kube, ms to make it", "kube", resourceMS, []string{resourceMS}, same(4), same(2), cost},
		{"items of a List of 1 GB on all cores over one, of which two can make no more than 2", "list", oneCore, []string{"1 GB"}, same(1.8), same(2), speedup},
		{"espalier check, values included, on 1 000 and 10 000 manifests over kubeconform", "command", "kubeconform -n 2", folders, same(15), same(25), speedup},
		{"the same over kubectl-validate", "command", "kubectl-validate", folders, same(12), same(25), speedup},
		{"start of espalier check, one Deployment, ms", "start", startMS, []string{startMS}, same(50), same(20), cost},
		{"its peak of memory, MB", "start", startMB, []string{startMB}, same(40), same(25), cost},
		{"the stripped binary, MB", "start", binaryMB, []string{binaryMB}, same(40), same(25), cost},
	}
}

// raced reports whether Race measures the row, and not a process of its own.
func (t *Target) raced() bool {
	return !slices.Contains([]string{"command", "kube", "start"}, t.Job)
}

// isGate reports whether smoke measures the row. It does not measure what takes more than a minute or
// needs two idle cores, nor maps of real resources, of whose time most is the collector's work.
func (t *Target) isGate() bool {
	return t.raced() && t.Job != "list" && !slices.Equal(t.Workloads, []string{"corpus"})
}

// atMost reports whether the figure is a cost.
func (t *Target) atMost() bool { return t.Figure == cost || t.Figure == ourCost }

// holds reports whether a figure is as good as another.
func (t *Target) holds(figure, other float64) bool {
	if t.atMost() {
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

// figures returns the figure for each measured workload, and their mean.
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
			ratios := slices.Clone(m.Ratios)
			if t.Figure == ourCost {
				for i, r := range ratios {
					ratios[i] = 1 / r
				}
			}
			each[trial.Workload.Name] = FigureOf(ratios)
			if slices.Contains(t.Workloads, trial.Workload.Name) {
				all = append(all, ratios)
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
