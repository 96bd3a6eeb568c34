package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"sigs.k8s.io/yaml"
)

// kubeconform is installed when it is measured, as its dependencies are no concern of
// this module.
const kubeconform = "github.com/yannh/kubeconform/cmd/kubeconform@v0.8.0"

// raceCommands measures the command on a folder of manifests, from the start of the
// process to its end. Both may use all processors.
func raceCommands(rounds int) (*Trial, error) {
	dir, err := os.MkdirTemp("", "espalier-bench-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	w, err := writeManifests(dir, 1000)
	if err != nil {
		return nil, err
	}
	for _, build := range [][]string{{"go", "build", "-o", dir, "./cmd/espalier"}, {"go", "install", kubeconform}} {
		cmd := exec.Command(build[0], build[1:]...)
		cmd.Dir = ".." // in the module of the command
		cmd.Env = append(os.Environ(), "GOBIN="+dir)
		if out, err := cmd.CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%s: %w: %s", strings.Join(build, " "), err, out)
		}
	}
	manifests := filepath.Join(dir, "manifests")
	job := &Job{Name: "command", Title: "1 000 manifests in YAML, 5 % unknown, wall time of a command", InYAML: true, Contenders: []Contender{
		command("espalier prune", "writes the result; reports unknown fields; no value validation", filepath.Join(dir, "espalier"),
			"prune", "--crd", filepath.Join(dir, "crd.yaml"), "-o", "ndjson", manifests),
		command("kubeconform -n 2", "validates types; unknown fields pass", filepath.Join(dir, "kubeconform"),
			"-n", "2", "-schema-location", filepath.Join(dir, "schema.json"), manifests),
	}}
	return Race(job, w, rounds), nil
}

// command is a contender that is a process. What it prints is read by nobody.
func command(name, less, path string, args ...string) Contender {
	return Contender{name, Partial, less, func(*Document) Run {
		return Run{Do: func() error { return exec.Command(path, args...).Run() }}
	}}
}

// writeManifests writes manifests like W2, and what each side needs to know of their
// schema.
func writeManifests(dir string, n int) (*Workload, error) {
	w := &Workload{Name: "manifests", What: fmt.Sprintf("%d manifests like W2", n)}
	all := &Document{Schema: MustSchema(resourceSchema(specSchema))}
	w.Docs = append(w.Docs, all)
	if err := os.Mkdir(filepath.Join(dir, "manifests"), 0o777); err != nil {
		return nil, err
	}
	for i := range n {
		text, err := yaml.JSONToYAML(itemsDocument(uint64(1000+i), 20, 5))
		if err != nil {
			return nil, err
		}
		all.YAML = append(all.YAML, text...)
		if err := os.WriteFile(filepath.Join(dir, "manifests", fmt.Sprintf("%d.yaml", i)), text, 0o666); err != nil {
			return nil, err
		}
	}
	s, err := yaml.YAMLToJSON([]byte(resourceSchema(specSchema)))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "schema.json"), s, 0o666); err != nil {
		return nil, err
	}
	crd := `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"workloads.apps.example.com"},
"spec":{"group":"apps.example.com","scope":"Namespaced","names":{"kind":"Workload","plural":"workloads"},
"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":` + string(s) + `}}]}}`
	return w, os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(crd), 0o666)
}
