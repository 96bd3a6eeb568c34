package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// commandDir is the folder in which the command was built, or "".
var commandDir string

// buildCommand builds the command, once.
var buildCommand = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "espalier-fuzz-")
	if err != nil {
		return "", err
	}
	commandDir = dir
	name := filepath.Join(dir, "espalier")
	build := exec.Command("go", "build", "-o", name, "./cmd/espalier")
	build.Dir = ".." // in its own module
	out, err := build.CombinedOutput()
	if err != nil {
		return "", errors.New(string(out))
	}
	return name, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if commandDir != "" {
		os.RemoveAll(commandDir)
	}
	os.Exit(code)
}

// espalier runs the command, which must end with the exit code.
func espalier(t *testing.T, code int, args ...string) (stdout []byte) {
	t.Helper()
	name, err := buildCommand()
	require.NoError(t, err)
	cmd := exec.Command(name, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	stdout, err = cmd.Output()
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else {
		require.NoError(t, err)
	}
	require.Equal(t, code, got, "%s", stderr.String())
	return stdout
}

// A found is what a report says about a field.
type found struct {
	file, rule, pointer string
	line, column        int
}

// TestCommandFindsWhatTheServerFinds checks the resources of the corpus with the command. It must
// report the unknown and duplicate fields that the server's packages report, each at the place
// where another reader of YAML finds it.
func TestCommandFindsWhatTheServerFinds(t *testing.T) {
	dir := corpus.Dir(t)
	samples := filepath.Join(dir, "samples")
	var report struct {
		Findings []struct {
			File    string
			Rule    string
			Path    string
			Pointer string
			Start   struct{ Line, Column int }
			Object  struct{ APIVersion, Kind string }
		}
	}
	out := espalier(t, 1, "check", "--crd", filepath.Join(dir, "crds"), "--ignore-missing-schemas", "--config=", "-o", "json", samples)
	require.NoError(t, json.Unmarshal(out, &report))
	comparers := realSchemas(t, newComparer)
	var got []found
	refused := map[string]bool{} // files that the server refuses, in decoding or later
	texts := map[string][]string{}
	wrong := map[string][]string{} // the paths of values of wrong types
	for _, f := range report.Findings {
		if f.Rule == "type-mismatch" {
			file, err := filepath.Rel(samples, f.File)
			require.NoError(t, err)
			refused[file] = true
			wrong[file] = append(wrong[file], f.Path)
		}
		if comparers[f.Object.APIVersion+" "+f.Object.Kind] == nil || f.Rule != "unknown-field" && f.Rule != "duplicate-field" {
			continue
		}
		file, err := filepath.Rel(samples, f.File)
		require.NoError(t, err)
		got = append(got, found{file, f.Rule, f.Pointer, f.Start.Line, f.Start.Column})
		texts[file] = append(texts[file], strings.TrimSuffix(f.Rule, "-field")+` field "`+f.Path+`"`)
	}

	var paths, objects, all, within int
	want := map[string][]string{}
	places := map[string]map[string][2]int{}
	for file := range corpus.Samples(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, file.Name)
			apiVersion, kind, err := decoder.PeekType(js)
			require.NoError(t, err, file.Name)
			c := comparers[apiVersion+" "+kind]
			if c == nil {
				continue
			}
			all++
			answer, err := c.server.Decode(js)
			if err != nil {
				assert.Contains(t, refused, file.Name, "the server refuses it: %v", err)
				delete(want, file.Name)
				continue
			}
			if strict := answer.Strict(); len(strict) > 0 {
				paths += len(strict)
				objects++
				// A value of a wrong type is one mistake with everything in it, and is reported
				// once.
				for _, text := range strict {
					if slices.ContainsFunc(wrong[file.Name], func(path string) bool {
						return strings.HasPrefix(text, `unknown field "`+path+".") || strings.HasPrefix(text, `unknown field "`+path+"[")
					}) {
						within++
						continue
					}
					want[file.Name] = append(want[file.Name], text)
				}
			}
		}
		places[file.Name] = keyPlaces(t, file.Data)
	}
	assert.Equal(t, [3]int{737, 14, 29}, [3]int{all, objects, paths}, "resources, those with findings, and findings, by the server's packages")
	assert.Equal(t, 2, within, "unknown fields within values of wrong types")
	for _, lists := range []map[string][]string{want, texts} {
		for _, list := range lists {
			sort.Strings(list)
		}
	}
	assert.Equal(t, want, texts)
	for _, f := range got {
		want := places[f.file][f.pointer]
		assert.Equal(t, want, [2]int{f.line, f.column}, "%s %s", f.file, f.pointer)
	}
}

// keyPlaces returns the lines and columns of the keys of all documents by their JSON Pointers, as
// yaml.v3 finds them. If several documents have a key, the last of them wins, which suffices for
// this corpus.
func keyPlaces(t *testing.T, text []byte) map[string][2]int {
	places := map[string][2]int{}
	var walk func(n *yaml.Node, pointer string)
	walk = func(n *yaml.Node, pointer string) {
		for i, child := range n.Content {
			switch {
			case n.Kind == yaml.MappingNode && i%2 == 0:
				key := strings.NewReplacer("~", "~0", "/", "~1").Replace(child.Value)
				places[pointer+"/"+key] = [2]int{child.Line, child.Column}
				walk(n.Content[i+1], pointer+"/"+key)
			case n.Kind == yaml.SequenceNode:
				walk(child, pointer+"/"+strconv.Itoa(i))
			case n.Kind == yaml.DocumentNode:
				walk(child, pointer)
			}
		}
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var n yaml.Node
		if err := d.Decode(&n); err != nil {
			return places
		}
		walk(&n, "")
	}
}
