package main

import (
	"archive/zip"
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// TestCommitted asserts that the files in the repository have what this program writes. What they
// are made of is not fetched. The archive is compared by its contents: Go may compress in other
// ways one day.
func TestCommitted(t *testing.T) {
	t.Setenv("GOPROXY", "off")
	for _, release := range releases {
		if _, err := module(release); err != nil {
			t.Skipf("skipped: %v; to fetch it, run go generate in the folder of package builtin", err)
		}
	}
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(name) == ".zip" {
			got, want = contents(t, got), contents(t, want)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s is not what this program writes: run go generate in its folder", name)
		}
	}
}

// contents returns the names and contents in an archive.
func contents(t *testing.T, archive []byte) (all []byte) {
	r, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		all = append(append(append(all, f.Name...), '\n'), text...)
	}
	return all
}
