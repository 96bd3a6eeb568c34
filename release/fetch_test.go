package release

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestFetch fetches the command of a release from a server on loopback as the action does, for each
// system. If a file cannot be verified, it must not be there afterwards.
func TestFetch(t *testing.T) {
	for _, tool := range []string{"bash", "curl", "tar", "awk"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("skipped: %v", err)
		}
	}
	packed := tarball(t, "espalier", "the command")
	zipped := zipball(t, "espalier.exe", "the command")
	files := map[string][]byte{
		"espalier_0.1.0_linux_amd64.tar.gz":  packed,
		"espalier_0.1.0_linux_arm64.tar.gz":  packed,
		"espalier_0.1.0_darwin_arm64.tar.gz": packed,
		"espalier_0.1.0_windows_amd64.zip":   zipped,
	}
	sums := checksums(files)
	linux := "espalier_0.1.0_linux_amd64.tar.gz"
	other := fmt.Sprintf("%x", sha256.Sum256([]byte("another file")))

	for name, c := range map[string]struct {
		system, machine string // the output of uname, by default Linux and x86_64
		version         string // by default v0.1.0
		pinned          string
		sums            string // by default those of files
		remove          string // a file that the release lacks
		want            string // the file that is there afterwards, or
		err             string // part of the error
	}{
		"linux":            {want: "espalier"},
		"linux, arm64":     {machine: "aarch64", want: "espalier"},
		"macOS":            {system: "Darwin", machine: "arm64", want: "espalier"},
		"windows":          {system: "MINGW64_NT-10.0-26100", want: "espalier.exe"},
		"pinned":           {pinned: fmt.Sprintf("%x", sha256.Sum256([]byte(sums))), want: "espalier"},
		"pinned otherwise": {pinned: other, err: "is to have " + other},
		"no pin at all":    {pinned: "0", err: "64 hexadecimal digits"},
		"wrong checksum":   {sums: other + "  " + linux + "\n", err: "is to have " + other},
		"no checksum":      {sums: strings.ReplaceAll(sums, linux, linux+".sig"), err: "does not have one SHA-256"},
		"two checksums":    {sums: sums + other + "  " + linux + "\n", err: "does not have one SHA-256"},
		"broken checksum":  {sums: "abc  " + linux + "\n", err: "does not have one SHA-256"},
		"empty checksums":  {sums: "\n", err: "does not have one SHA-256"},
		"no checksums":     {remove: "checksums.txt", err: "cannot fetch checksums.txt"},
		"no archive":       {remove: linux, err: "cannot fetch " + linux},
		"no such version":  {version: "v0.1.1", err: "cannot fetch checksums.txt"},
		"no version":       {version: "latest", err: "like v0.1.0"},
		"another folder":   {version: "v0.1.0/../v0.0.1", err: "like v0.1.0"},
		"another system":   {system: "Plan9", err: "no binaries for Plan9"},
		"another machine":  {machine: "s390x", err: "no binaries for s390x"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "espalier.exe" {
				if _, err := exec.LookPath("unzip"); err != nil {
					t.Skipf("skipped: %v", err)
				}
			}
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				name := strings.TrimPrefix(r.URL.Path, "/v0.1.0/")
				text := files[name]
				if name == "checksums.txt" {
					text = []byte(cmp.Or(c.sums, sums))
				}
				if text == nil || name == c.remove {
					http.NotFound(w, r)
					return
				}
				_, _ = w.Write(text)
			}))
			defer server.Close()

			tools := t.TempDir()
			uname := "#!/bin/sh\ncase $1 in -s) echo " + cmp.Or(c.system, "Linux") + ";; -m) echo " + cmp.Or(c.machine, "x86_64") + ";; esac\n"
			require.NoError(t, os.WriteFile(filepath.Join(tools, "uname"), []byte(uname), 0o755))
			to := filepath.Join(t.TempDir(), "to here")
			fetch := exec.Command("bash", "../.ci/fetch", cmp.Or(c.version, "v0.1.0"), to, c.pinned, server.URL)
			// Loopback must be reached without a proxy.
			fetch.Env = append(os.Environ(), "PATH="+tools+string(os.PathListSeparator)+os.Getenv("PATH"), "NO_PROXY=*", "no_proxy=*")
			out, err := fetch.CombinedOutput()
			if c.err != "" {
				require.Error(t, err)
				assert.Contains(t, string(out), c.err)
				assert.NoDirExists(t, to)
				return
			}
			require.NoError(t, err, string(out))
			text, err := os.ReadFile(filepath.Join(to, c.want))
			require.NoError(t, err)
			assert.Equal(t, "the command", string(text))
		})
	}
}

// checksums returns the output of sha256sum for files.
func checksums(files map[string][]byte) string {
	var b strings.Builder
	for name, text := range files {
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(text), name)
	}
	return b.String()
}

func tarball(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	w := tar.NewWriter(z)
	require.NoError(t, w.WriteHeader(&tar.Header{Name: name, Mode: 0o755, Size: int64(len(text))}))
	_, err := w.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	require.NoError(t, z.Close())
	return b.Bytes()
}

func zipball(t *testing.T, name, text string) []byte {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	f, err := w.Create(name)
	require.NoError(t, err)
	_, err = f.Write([]byte(text))
	require.NoError(t, err)
	require.NoError(t, w.Close())
	return b.Bytes()
}
