package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

const committed = "../kernel_amd64.s"

// TestCommitted asserts that the assembly in the repository is what this program writes.
func TestCommitted(t *testing.T) {
	out := filepath.Join(t.TempDir(), "kernel.s")
	if text, err := exec.Command("go", "run", ".", "-out", out).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	got, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	// The first line has the command and its paths.
	_, got, _ = bytes.Cut(got, []byte("\n"))
	_, want, _ = bytes.Cut(want, []byte("\n"))
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what this program writes: run go generate in the folder of the kernels", committed)
	}
}

// TestEncodings looks for instructions on vectors without a V: see the note of main.go.
func TestEncodings(t *testing.T) {
	text, err := os.ReadFile(committed)
	if err != nil {
		t.Fatal(err)
	}
	if legacy := regexp.MustCompile(`(?m)^\s+[A-UW-Z]\w*\s.*\b[XYZ][0-9].*$`).Find(text); legacy != nil {
		t.Errorf("%s has %q", committed, legacy)
	}
}
