package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/espalier-dev/espalier/internal/corpus"
)

// kubeJob has what tests of module kube measure, so that this module need not import that one.
var kubeJob = &Job{Name: "kube"}

// What the tests of module kube print of the rows of the first table.
const (
	otherVersion = "stored in v1, read in v2"
	resourceKiB  = "ForCRD, KiB"
	resourceMS   = "ForCRD, ms"
)

// measureKube runs the tests of module kube that measure, in time of the processor. Without the
// third-party data there is no definition of HTTPRoute.
func measureKube(rounds int) ([]*Trial, error) {
	args := []string{"test", "-count=1", "-v", "-run", "^(TestTurns|TestDefinitionCost)$"}
	if purego {
		args = append(args, "-tags", "purego")
	}
	args = append(args, ".", "-turns", strconv.Itoa(rounds))
	if tb := (outsideTests{}); corpus.IsThere(tb) {
		file := filepath.Join(corpus.Dir(tb), "crds", "kubernetes-sigs__gateway-api__config__crd__standard__gateway.networking.k8s.io_httproutes.yaml")
		file, err := filepath.Abs(file)
		if err != nil {
			return nil, err
		}
		args = append(args, "-crd", file)
	}
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Stderr = filepath.Join("..", "kube"), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go test in kube: %w: %s", err, out)
	}
	return kubeTrials(string(out)), nil
}

var (
	turnsLine = regexp.MustCompile(`: (stored in v1, read in v2): ([\d.]+) \(([\d.]+) to ([\d.]+)\)`)
	costLine  = regexp.MustCompile(`: ForCRD: (\d+) KiB, ([\d.]+)ms`)
)

// kubeTrials reads what the tests print.
func kubeTrials(out string) (trials []*Trial) {
	figures := func(texts ...string) (list []float64) {
		for _, text := range texts {
			f, _ := strconv.ParseFloat(text, 64)
			list = append(list, f)
		}
		return list
	}
	if m := turnsLine.FindStringSubmatch(out); m != nil {
		f := figures(m[2:]...)
		// These have the same median and quartiles.
		trials = append(trials, trialOf(kubeJob, otherVersion, []float64{f[1], f[1], f[0], f[2], f[2]}))
	}
	if m := costLine.FindStringSubmatch(out); m != nil {
		trials = append(trials, trialOf(kubeJob, resourceKiB, figures(m[1])), trialOf(kubeJob, resourceMS, figures(m[2])))
	}
	return trials
}

// trialOf is a trial of figures that Race does not measure. The contender and the workload have the
// same name.
func trialOf(job *Job, name string, figures []float64) *Trial {
	m := &Measure{Contender: &Contender{Name: name}, Ratios: figures}
	return &Trial{Job: job, Workload: &Workload{Name: name}, Measures: []*Measure{m}}
}
