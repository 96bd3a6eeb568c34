package main

import (
	"archive/tar"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImage makes images of files in place of binaries, and reads them again.
func TestImage(t *testing.T) {
	if _, err := os.Stat("../../.git"); err != nil {
		t.Skip("skipped: this is no clone, and the date of its commit is unknown")
	}
	t.Chdir("..") // the folder in which it runs
	// The clone may belong to another user, as in a container.
	t.Setenv("GIT_CONFIG_COUNT", "1")
	t.Setenv("GIT_CONFIG_KEY_0", "safe.directory")
	t.Setenv("GIT_CONFIG_VALUE_0", "*")
	dist := filepath.Join(t.TempDir(), "dist")
	put := func(name string, v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(filepath.Join(dist, name), text, 0o600))
	}
	require.NoError(t, os.Mkdir(dist, 0o755))
	put("metadata.json", map[string]string{"version": "0.1.0", "commit": "abc"})
	var artifacts []binary
	for _, platform := range [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "arm64"}} {
		name := platform[0] + "_" + platform[1]
		put(name, name)
		artifacts = append(artifacts, binary{"Binary", "dist/" + name, platform[0], platform[1]})
	}
	put("artifacts.json", append(artifacts, binary{"Archive", "dist/espalier.tar.gz", "linux", "amd64"}))

	to := filepath.Join(dist, "image")
	require.NoError(t, run(dist, to, nil))
	index, err := layout.ImageIndexFromPath(to)
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	digest, err := index.Digest()
	require.NoError(t, err)
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2, "an image for each architecture of Linux")
	for i, arch := range []string{"amd64", "arm64"} {
		assert.Equal(t, "linux/"+arch, manifest.Manifests[i].Platform.String())
		image, err := index.Image(manifest.Manifests[i].Digest)
		require.NoError(t, err)
		config, err := image.ConfigFile()
		require.NoError(t, err)
		assert.Equal(t, arch, config.Architecture)
		assert.Equal(t, []string{"/espalier"}, config.Config.Entrypoint)
		assert.Equal(t, "65532:65532", config.Config.User, "it is not root")
		assert.Equal(t, "0.1.0", config.Config.Labels["org.opencontainers.image.version"])
		assert.Equal(t, "abc", config.Config.Labels["org.opencontainers.image.revision"])
		layers, err := image.Layers()
		require.NoError(t, err)
		require.Len(t, layers, 1)
		content, err := layers[0].Uncompressed()
		require.NoError(t, err)
		files := make(map[string]string)
		r := tar.NewReader(content)
		for {
			h, err := r.Next()
			if err == io.EOF {
				break
			}
			require.NoError(t, err)
			text, err := io.ReadAll(r)
			require.NoError(t, err)
			files[h.Name] = string(text)
		}
		require.NoError(t, content.Close())
		assert.Len(t, files, 2, "nothing but the command and its licence")
		assert.Equal(t, `"linux_`+arch+`"`, files["espalier"])
		assert.Contains(t, files["LICENSE"], "Apache License")
	}

	require.NoError(t, run(dist, to, nil))
	again, err := layout.ImageIndexFromPath(to)
	require.NoError(t, err)
	same, err := again.Digest()
	require.NoError(t, err)
	assert.Equal(t, digest, same, "the same binaries make the same image")

	put("artifacts.json", artifacts[2:])
	assert.ErrorContains(t, run(dist, to, nil), "no binaries for Linux")
}
