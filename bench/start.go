package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// deployment is an object of a built-in kind, for which the command has schemas in itself.
const deployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - name: web
        image: shop/web:v1.7
        ports: [{containerPort: 8080}]
        resources: {limits: {cpu: 500m, memory: 128Mi}}
`

// A start is what it takes to check one object: seconds and bytes of memory in each round, and the
// bytes of the binary.
type start struct {
	ns, peak []float64
	size     int64
}

// measureStart checks one Deployment in a process of its own, in each round.
func measureStart(rounds int) (*start, error) {
	dir, err := buildCommands()
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "deployment.yaml")
	if err := os.WriteFile(file, []byte(deployment), 0o666); err != nil {
		return nil, err
	}
	info, err := os.Stat(filepath.Join(dir, "espalier"))
	if err != nil {
		return nil, err
	}
	s := &start{size: info.Size()}
	for range rounds {
		ns, peak, err := run(dir, "espalier", "check", "--config=", file)
		if err != nil {
			return nil, err
		}
		s.ns, s.peak = append(s.ns, ns), append(s.peak, peak)
	}
	return s, nil
}

// The contenders of the job "start", for the first table.
const startMS, startMB, binaryMB = "milliseconds", "peak of memory in MB", "binary in MB"

// trials returns the figures for the first table.
func (s *start) trials() []*Trial {
	job := &Job{Name: "start"}
	ms, mb := s.figures()
	return []*Trial{trialOf(job, startMS, ms), trialOf(job, startMB, mb), trialOf(job, binaryMB, []float64{float64(s.size) / 1e6})}
}

// figures returns milliseconds and peaks of memory in MB, for each round.
func (s *start) figures() (ms, mb []float64) {
	for i := range s.ns {
		ms, mb = append(ms, s.ns[i]/1e6), append(mb, s.peak[i]/1e6)
	}
	return ms, mb
}

// writeStart writes the table of the start.
func writeStart(w io.Writer, s *start) {
	ms, mb := s.figures()
	fmt.Fprintf(w, "## Start of the command, one Deployment\n\nThe median and the quartiles; the binary is stripped.\n\n")
	fmt.Fprintf(w, "| | now | must | aim |\n|---|--:|--:|--:|\n")
	fmt.Fprintf(w, "| %s | %s | 50 | 20 |\n", startMS, FigureOf(ms))
	fmt.Fprintf(w, "| %s | %s | 40 | 25 |\n", startMB, FigureOf(mb))
	fmt.Fprintf(w, "| %s | %s | 40 | 25 |\n\n", binaryMB, short(float64(s.size)/1e6))
}
