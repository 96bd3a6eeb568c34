package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/espalier-dev/espalier/upstream/internal/turns"
)

// benchmarks are those of package decoder that are measured.
const benchmarks = "^(BenchmarkAppendJSON|BenchmarkEntryPoints)$"

// A build is a test binary of package decoder.
type build struct {
	turns.Contender
	dir, binary, toolchain string
	tags                   string
}

// measure runs benchmarks of the default build, of the same with Go 1.27, and of the core, in turns.
func measure(ctx context.Context, out io.Writer, root, copied string, rounds int) error {
	builds := []*build{
		{Contender: turns.Contender{Name: "default"}, dir: root, toolchain: "local"},
		{Contender: turns.Contender{Name: "default, Go 1.27"}, dir: root, toolchain: toolchain},
		{Contender: turns.Contender{Name: "core"}, dir: copied, toolchain: toolchain, tags: "purego"},
	}
	contenders := make([]*turns.Contender, len(builds))
	for i, b := range builds {
		contenders[i] = &b.Contender
		b.binary = filepath.Join(copied, fmt.Sprintf("decoder%d.test", i))
		_, err := command(ctx, b.dir, "GOTOOLCHAIN="+b.toolchain,
			"go", "test", "-c", "-vet=off", "-tags="+b.tags, "-o", b.binary, "./decoder")
		if err != nil {
			return err
		}
	}
	for round := range rounds {
		for i := range builds {
			b := builds[(i+round)%len(builds)] // none is always the first
			said, err := command(ctx, filepath.Join(b.dir, "decoder"), b.binary,
				"-test.run=^$", "-test.bench="+benchmarks, "-test.benchtime=50ms", "-test.cpu=1")
			if err != nil {
				return err
			}
			b.Read(said, strings.Clone)
		}
	}
	return turns.Table(out, "ns/op", contenders...)
}
