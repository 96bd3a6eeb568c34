package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/espalier-dev/espalier/upstream/internal/turns"
)

// benchmark runs the benchmark of field validation that k8s.io/kubernetes has, for custom resources, in all
// variants in turns. Each turn is a process of its own, with client and server in it, and an etcd beside it.
func benchmark(ctx context.Context, out io.Writer, s *suite, variants []string, rounds int) error {
	jobs, contenders, stop, err := s.contenders(ctx, variants)
	if err != nil {
		return err
	}
	defer stop()
	for round := range rounds {
		for i := range jobs {
			at := (i + round) % len(jobs) // none is always the first
			binary, err := jobs[at].build(ctx, fieldValidation)
			if err != nil {
				return err
			}
			said, err := output(ctx, s.tree.temp, jobs[at].environment(), binary, "-test.run=^$",
				"-test.bench=^BenchmarkFieldValidation$", "-test.benchtime=100x", "-test.benchmem")
			if err != nil {
				return err
			}
			contenders[at].Read(string(said), benchmarkGroup)
		}
	}
	for _, unit := range []string{"ns/op", "B/op", "allocs/op"} {
		if err := turns.Table(out, unit, contenders...); err != nil {
			return err
		}
		fmt.Fprintln(out)
	}
	return nil
}

// benchmarkGroup returns the verb of a benchmark, and whether bodies are YAML.
func benchmarkGroup(name string) string {
	parts := strings.Split(name, "/")
	if len(parts) != 3 {
		return ""
	}
	if strings.HasSuffix(parts[2], "-yaml") {
		return parts[1] + " YAML"
	}
	return parts[1]
}

// contenders returns a job for each variant, and who it is in turns. They share an etcd, which stop ends.
func (s *suite) contenders(ctx context.Context, variants []string) (jobs []*job, in []*turns.Contender, stop func(), err error) {
	etcd, stop, err := startEtcd(ctx)
	if err != nil {
		return nil, nil, nil, err
	}
	for _, name := range variants {
		overlay, err := s.tree.overlay(name)
		if err != nil {
			stop()
			return nil, nil, nil, err
		}
		jobs = append(jobs, &job{suite: s, result: newResult(name), overlay: overlay, etcd: etcd})
		in = append(in, &turns.Contender{Name: name})
	}
	return jobs, in, stop, nil
}
