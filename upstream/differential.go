package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// differential runs the test that compares the decoders of the handler, stock and ours, on generated documents
// for generated schemas. It is in the variant that decodes: testdata/inserted/apiserver.
func differential(ctx context.Context, out io.Writer, s *suite, documents int, from uint64) error {
	const pkg = "pkg/apiserver"
	overlay, err := s.tree.overlay("decoding")
	if err != nil {
		return err
	}
	j := &job{suite: s, result: newResult("decoding"), overlay: overlay}
	binary, err := j.build(ctx, pkg)
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, binary, "-test.run=^TestEspalierDifferential$", "-test.v", "-test.timeout=0")
	cmd.Dir = filepath.Join(s.tree.dir, pkg)
	cmd.Env = append(os.Environ(), fmt.Sprint("ESPALIER_DOCUMENTS=", documents), fmt.Sprint("ESPALIER_FROM=", from))
	cmd.Stdout, cmd.Stderr = out, os.Stderr
	return cmd.Run()
}
