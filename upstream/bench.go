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
	etcd, stop, err := startEtcd(ctx)
	if err != nil {
		return err
	}
	defer stop()
	jobs := make([]*job, len(variants))
	contenders := make([]*turns.Contender, len(variants))
	for i, name := range variants {
		overlay, err := s.tree.overlay(name)
		if err != nil {
			return err
		}
		jobs[i] = &job{suite: s, result: newResult(name), overlay: overlay, etcd: etcd}
		contenders[i] = &turns.Contender{Name: name}
	}
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
