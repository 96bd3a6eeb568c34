package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"sigs.k8s.io/yaml"
)

// The peers are installed when they are measured, as this module must not depend on their
// dependencies.
const (
	kubeconform     = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"
	kubectlValidate = "sigs.k8s.io/kubectl-validate@v0.0.4"
)

// commandJob is the work of the commands: to validate all manifests in a folder, values included,
// by a definition, or, for kubeconform, by the JSON Schema that is made of it.
var commandJob = &Job{Name: "command", Title: "Manifests in YAML, 5 % unknown, wall time of a command", InYAML: true, Contenders: []Contender{
	{Name: "espalier check", Output: Partial, Less: "reports unknown and duplicate fields and invalid values, with lines"},
	{Name: "espalier prune", Output: Partial, Less: "writes the result, too; no value validation"},
	{Name: "kubeconform -n 2", Output: Partial, Less: "reports unknown fields and invalid values"},
	{Name: "kubectl-validate", Output: Partial, Less: "reports unknown fields and invalid values"},
}}

// A commandTrial is a trial of processes. It has the peaks of their memory in bytes, for each
// contender and round.
type commandTrial struct {
	*Trial
	peaks [][]float64
}

// raceCommands measures the commands on folders with 1 000 and 10 000 manifests, from the start of
// a process to its end. Each of them may use all processors, and they take turns. They read the
// large folder once, as that takes the peers minutes.
func raceCommands(rounds int) ([]*commandTrial, error) {
	dir, err := buildCommands([]string{"install", kubeconform}, []string{"install", kubectlValidate})
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var trials []*commandTrial
	for _, size := range []struct {
		name      string
		manifests int
		rounds    int
	}{{"1 000 manifests", 1_000, rounds}, {"10 000 manifests", 10_000, 1}} {
		t, err := raceCommandsOn(dir, size.name, size.manifests, size.rounds)
		if err != nil {
			return nil, err
		}
		trials = append(trials, t)
	}
	return trials, nil
}

// buildCommands returns a new folder with espalier as it is released, with peak, and with what the
// arguments of go in this module build.
func buildCommands(others ...[]string) (dir string, err error) {
	if dir, err = os.MkdirTemp("", "espalier-bench-"); err != nil {
		return "", err
	}
	for i, args := range append([][]string{
		{"build", "-trimpath", "-ldflags=-s -w", "-o", dir, "./cmd/espalier"},
		{"build", "-o", dir, "./peak"},
	}, others...) {
		cmd := exec.Command("go", args...)
		if i == 0 {
			cmd.Dir = ".."
			if purego {
				cmd.Args = slices.Insert(cmd.Args, 2, "-tags", "purego")
			}
		}
		cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOBIN="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			os.RemoveAll(dir)
			return "", fmt.Errorf("go %s: %w: %s", strings.Join(args, " "), err, out)
		}
	}
	return dir, nil
}

// run runs a command of the folder, and returns its time in nanoseconds and its peak of memory in
// bytes.
func run(bin string, command ...string) (ns, peak float64, err error) {
	cmd := exec.Command(filepath.Join(bin, "peak"), append([]string{filepath.Join(bin, command[0])}, command[1:]...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", command[0], err)
	}
	_, err = fmt.Sscan(string(out), &ns, &peak)
	return ns, peak, err
}

func raceCommandsOn(bin, name string, manifests, rounds int) (*commandTrial, error) {
	dir := filepath.Join(bin, strconv.Itoa(manifests))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	w, err := writeManifests(dir, manifests)
	if err != nil {
		return nil, err
	}
	w.Name = name
	input, crd := filepath.Join(dir, "manifests"), filepath.Join(dir, "crds", "crd.yaml")
	commands := [][]string{
		{"espalier", "check", "--config=", "--crd", crd, input},
		{"espalier", "prune", "--config=", "--crd", crd, "-o", "ndjson", input},
		{"kubeconform", "-n", "2", "-schema-location", filepath.Join(dir, "schema.json"), input},
		{"kubectl-validate", "--local-crds", filepath.Join(dir, "crds"), input},
	}
	t := &commandTrial{Trial: &Trial{Job: commandJob, Workload: w}, peaks: make([][]float64, len(commands))}
	for i := range commands {
		t.Measures = append(t.Measures, &Measure{Contender: &commandJob.Contenders[i]})
	}
	for range rounds {
		for i, command := range commands {
			ns, peak, err := run(bin, command...)
			if err != nil {
				return nil, err
			}
			m, first := t.Measures[i], t.Measures[0]
			m.NS = append(m.NS, ns)
			m.Ratios = append(m.Ratios, ns/first.NS[len(first.NS)-1])
			t.peaks[i] = append(t.peaks[i], peak)
		}
	}
	return t, nil
}

// writeCommands writes the table of the commands: time and memory.
func writeCommands(w io.Writer, trials []*commandTrial) {
	if len(trials) == 0 {
		return
	}
	fmt.Fprintf(w, "## %s\n\nThe ratio of times is to that of the first, and so is that of the peaks of memory (resident set).\n\n", commandJob.Title)
	fmt.Fprintf(w, "| workload | command | seconds | ratio | peak in MB | ratio | does |\n|---|---|--:|--:|--:|--:|---|\n")
	for _, t := range trials {
		for i, m := range t.Measures {
			peak := FigureOf(t.peaks[i]).Median
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s |\n", t.Workload.Name, m.Contender.Name, short(FigureOf(m.NS).Median/1e9),
				FigureOf(m.Ratios), short(peak/1e6), short(peak/FigureOf(t.peaks[0]).Median), m.Contender.Less)
		}
	}
	fmt.Fprintln(w)
}

// valueRules are rules for the values in specSchema, which the manifests keep.
var valueRules = strings.NewReplacer(
	"  items:\n    type: array\n    items:\n      type: object\n", "  items:\n    type: array\n    maxItems: 1000\n    items:\n      type: object\n      required: [name, image]\n",
	" name: {type: string}", " name: {type: string, maxLength: 253, pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$'}",
	" image: {type: string}", " image: {type: string, minLength: 1, maxLength: 1000}",
	"default: IfNotPresent}", "default: IfNotPresent, enum: [Always, IfNotPresent, Never]}",
	"default: TCP}", "default: TCP, enum: [TCP, UDP, SCTP]}",
	" replicas: {type: integer,", " replicas: {type: integer, minimum: 0, maximum: 100000,",
	" weight: {type: number}", " weight: {type: number, minimum: 0, maximum: 1000}",
	" containerPort: {type: integer}", " containerPort: {type: integer, format: int32, minimum: 1, maximum: 65535}",
	" timeoutSeconds: {type: integer}", " timeoutSeconds: {type: integer, minimum: 0}",
	"path: {type: string}", "path: {type: string, pattern: '^/'}",
	"command: {type: array, items: {type: string}}", "command: {type: array, maxItems: 64, items: {type: string, minLength: 1}}",
)

// manifestSchema returns the schema of the manifests, as JSON.
func manifestSchema() ([]byte, error) {
	return yaml.YAMLToJSON([]byte(resourceSchema(valueRules.Replace(specSchema))))
}

// writeManifests writes manifests like W2, and the schema in the form that each side needs.
func writeManifests(dir string, n int) (*Workload, error) {
	w := &Workload{Name: "manifests", What: fmt.Sprintf("%d manifests like W2", n)}
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o777); err != nil {
		return nil, err
	}
	for i := range n {
		text, err := yaml.JSONToYAML(itemsDocument(uint64(1000+i), 20, 5))
		if err != nil {
			return nil, err
		}
		if err := os.WriteFile(filepath.Join(dir, "manifests", fmt.Sprintf("%d.yaml", i)), text, 0o666); err != nil {
			return nil, err
		}
	}
	s, err := manifestSchema()
	if err != nil {
		return nil, err
	}
	strict, err := json.Marshal(jsonSchema(s))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "schema.json"), strict, 0o666); err != nil {
		return nil, err
	}
	crd := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"workloads.apps.example.com"},
"spec":{"group":"apps.example.com","scope":"Namespaced","names":{"kind":"Workload","plural":"workloads"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + string(s) + `}}]}}`
	if err := os.Mkdir(filepath.Join(dir, "crds"), 0o777); err != nil {
		return nil, err
	}
	return w, os.WriteFile(filepath.Join(dir, "crds", "crd.yaml"), []byte(crd), 0o666)
}
