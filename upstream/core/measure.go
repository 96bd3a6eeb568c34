package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// benchmarks are those of package decoder that are measured.
const benchmarks = "^(BenchmarkAppendJSON|BenchmarkEntryPoints)$"

// A build is a test binary of package decoder.
type build struct {
	name, dir, binary string
	taken             map[string][]float64 // nanoseconds, by benchmark
}

// measure runs benchmarks of the default build, of the same with Go 1.27, and of the core, in turns.
func measure(ctx context.Context, out io.Writer, root, copied string, turns int) error {
	builds := []*build{{name: "default", dir: root}, {name: "default, Go 1.27", dir: root}, {name: "core", dir: copied}}
	for i, b := range builds {
		b.taken = make(map[string][]float64)
		b.binary = filepath.Join(copied, fmt.Sprintf("decoder%d.test", i))
		env := "GOTOOLCHAIN=" + toolchain
		if i == 0 {
			env = "GOFLAGS=" // with the toolchain that runs this
		}
		args := []string{"go", "test", "-c", "-vet=off", "-o", b.binary}
		if b.dir == copied {
			args = append(args, "-tags=purego")
		}
		if _, err := command(ctx, b.dir, env, append(args, "./decoder")...); err != nil {
			return err
		}
	}
	for range turns {
		for _, b := range builds {
			said, err := command(ctx, filepath.Join(b.dir, "decoder"), b.binary, "-test.run=^$", "-test.bench="+benchmarks, "-test.benchtime=50ms", "-test.cpu=1")
			if err != nil {
				return err
			}
			b.read(said)
		}
	}
	return table(out, builds)
}

// read reads what a run of benchmarks prints.
func (b *build) read(said string) {
	for line := range strings.Lines(said) {
		if f := strings.Fields(line); len(f) >= 4 && strings.HasPrefix(f[0], "Benchmark") && f[3] == "ns/op" {
			if ns, err := strconv.ParseFloat(f[2], 64); err == nil {
				b.taken[f[0]] = append(b.taken[f[0]], ns)
			}
		}
	}
}

// table prints medians, with what the others take of the first, and the range of these ratios over the
// turns.
func table(out io.Writer, builds []*build) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "benchmark\t", builds[0].name)
	for _, b := range builds[1:] {
		fmt.Fprint(w, "\t", b.name)
	}
	fmt.Fprintln(w)
	names := make([]string, 0, len(builds[0].taken))
	for name := range builds[0].taken {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		first := builds[0].taken[name]
		fmt.Fprintf(w, "%s\t%.0f ns", strings.TrimPrefix(name, "Benchmark"), median(first))
		for _, b := range builds[1:] {
			ratios := make([]float64, 0, len(first))
			for i, ns := range b.taken[name] {
				ratios = append(ratios, ns/first[i])
			}
			if len(ratios) == 0 {
				fmt.Fprint(w, "\tnone")
				continue
			}
			fmt.Fprintf(w, "\t× %.2f (%.2f to %.2f)", median(ratios), slices.Min(ratios), slices.Max(ratios))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

func median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}
