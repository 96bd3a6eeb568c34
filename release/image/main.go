// Command image makes the container image of the command from its binaries, without a container
// engine. The image is made from scratch and has only the binary and its licence.
//
//	go run ./image DIST LAYOUT [REFERENCE]
//
// DIST is the folder that goreleaser has filled. LAYOUT is the folder for an OCI image layout with
// one image for each architecture. With a REFERENCE, such as ghcr.io/espalier-dev/espalier:vX.Y.Z,
// the image is also pushed there, with the credentials of ~/.docker/config.json.
package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

func main() {
	if len(os.Args) < 3 || len(os.Args) > 4 {
		fmt.Fprintln(os.Stderr, "usage: image DIST LAYOUT [REFERENCE]")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2], os.Args[3:]); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dist, to string, references []string) error {
	r, err := readDist(dist)
	if err != nil {
		return err
	}
	index, err := newIndex(r)
	if err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	if _, err := layout.Write(to, index); err != nil {
		return err
	}
	for _, reference := range references {
		ref, err := name.NewTag(reference, name.StrictValidation)
		if err != nil {
			return err
		}
		if err := remote.WriteIndex(ref, index, remote.WithAuthFromKeychain(authn.DefaultKeychain)); err != nil {
			return err
		}
	}
	digest, err := index.Digest()
	if err != nil {
		return err
	}
	fmt.Println(digest)
	return nil
}

// A build is the output of goreleaser, from its metadata.json and artifacts.json.
type build struct {
	Version string
	Commit  string
	Date    time.Time // the date of the commit, so that the same binaries make the same image
	// Binaries are the binaries for Linux.
	Binaries []binary
}

type binary struct {
	Type, Path, Goos, Goarch string
}

func readDist(dist string) (*build, error) {
	var metadata struct {
		Version, Commit string
	}
	if err := readJSON(filepath.Join(dist, "metadata.json"), &metadata); err != nil {
		return nil, err
	}
	var artifacts []binary
	if err := readJSON(filepath.Join(dist, "artifacts.json"), &artifacts); err != nil {
		return nil, err
	}
	committed, err := exec.Command("git", "show", "--no-patch", "--format=%cI", "HEAD").Output()
	if err != nil {
		return nil, fmt.Errorf("git show: %w", err)
	}
	b := &build{Version: metadata.Version, Commit: metadata.Commit}
	if b.Date, err = time.Parse(time.RFC3339, strings.TrimSpace(string(committed))); err != nil {
		return nil, err
	}
	for _, a := range artifacts {
		if a.Type == "Binary" && a.Goos == "linux" {
			// Paths are relative to the folder in which goreleaser ran, the parent of DIST.
			a.Path = filepath.Join(filepath.Dir(dist), filepath.FromSlash(a.Path))
			b.Binaries = append(b.Binaries, a)
		}
	}
	if len(b.Binaries) == 0 {
		return nil, fmt.Errorf("%s has no binaries for Linux", dist)
	}
	return b, nil
}

func readJSON(name string, v any) error {
	text, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	return json.Unmarshal(text, v)
}

func newIndex(b *build) (v1.ImageIndex, error) {
	var index v1.ImageIndex = mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, bin := range b.Binaries {
		image, err := newImage(b, bin)
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add:        image,
			Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: bin.Goos, Architecture: bin.Goarch}},
		})
	}
	return index, nil
}

// nobody is a user without rights, which other images call nonroot.
const nobody = "65532:65532"

func newImage(b *build, bin binary) (v1.Image, error) {
	text, err := layerOf(bin.Path, b.Date)
	if err != nil {
		return nil, err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
		tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return nil, err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.AppendLayers(image, layer); err != nil {
		return nil, err
	}
	return mutate.ConfigFile(image, configOf(b, bin, image))
}

func configOf(b *build, bin binary, image v1.Image) *v1.ConfigFile {
	config, err := image.ConfigFile()
	if err != nil { // the file has just been made
		panic(err)
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = bin.Goos, bin.Goarch
	config.Created = v1.Time{Time: b.Date}
	config.Config = v1.Config{
		Entrypoint: []string{"/espalier"},
		User:       nobody,
		WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.source":   "https://github.com/espalier-dev/espalier",
			"org.opencontainers.image.version":  b.Version,
			"org.opencontainers.image.revision": b.Commit,
			"org.opencontainers.image.licenses": "Apache-2.0",
		},
	}
	return config
}

// layerOf returns a tar archive with the binary and the licence, the same for the same input.
func layerOf(name string, date time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, f := range []struct {
		from, to string
		mode     int64
	}{{name, "espalier", 0o755}, {"../LICENSE", "LICENSE", 0o644}} {
		text, err := os.ReadFile(f.from)
		if err != nil {
			return nil, err
		}
		if err := w.WriteHeader(&tar.Header{Name: f.to, Mode: f.mode, Size: int64(len(text)), ModTime: date, Format: tar.FormatUSTAR}); err != nil {
			return nil, err
		}
		if _, err := w.Write(text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
