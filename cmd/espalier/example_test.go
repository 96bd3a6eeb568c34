package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/command"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// examples counts what became of the examples of a definition's versions.
type examples struct{ made, none, withRules int }

// make makes the full and the smallest example of each version that is served. Other commands
// must have nothing to say about them.
func (x *examples) make(t *testing.T, name, file string, crd *schema.CRD) {
	for _, v := range crd.Versions {
		if !v.Served {
			continue
		}
		for _, flag := range []string{"-o=commented", "--smallest"} {
			object, stderr, code := espalier("", "schema", "example", "--crd", file, flag, crd.Group+"/"+v.Name, crd.Kind)
			if code == command.ExitFindings {
				x.none++
				assert.Contains(t, stderr, "no valid object was found")
				t.Logf("%s %s: %.300s", name, v.Name, strings.TrimPrefix(stderr, "error: "+file+": "))
				continue
			}
			require.Equal(t, command.ExitClean, code, "%s: %s", name, stderr)
			x.made++
			hasRules := stderr != ""
			if hasRules {
				x.withRules++
				assert.Regexp(t, `^not evaluated: \d+ rules? in CEL .*\n$`, stderr)
			}
			// No object is valid where the schema declares metadata.generation as a string: the server
			// sets it to a number.
			values := fmt.Sprintf("--values=%t", !strings.HasPrefix(name, "regress/026-"))
			found, _, code := espalier(object, "check", "--crd", file, "-q", values, "--fail-on", "warning", "-")
			if hasRules { // which no example is made for
				if found = withoutRules(found); found == "" {
					code = command.ExitClean
				}
			}
			assert.Equal(t, command.ExitClean, code, "%s %s: %s", name, v.Name, found)
			assert.Empty(t, found, "%s %s", name, v.Name)
			_, stderr, code = espalier(object, "prune", "--crd", file, "--validate", "strict")
			assert.Equal(t, command.ExitClean, code, "%s %s: %s", name, v.Name, stderr)
			assert.Empty(t, stderr, "%s %s", name, v.Name)
		}
	}
}

// withoutRules returns the findings that are not about rules in CEL.
func withoutRules(findings string) (others string) {
	for line := range strings.Lines(findings) {
		if !strings.Contains(line, "[invalid-value/x-kubernetes-validations]") {
			others += line
		}
	}
	return others
}

// TestExampleCases makes examples of the schemas that the cases have.
func TestExampleCases(t *testing.T) {
	var x examples
	for _, c := range corpus.Load(t, "*/*") {
		if c.ValueRoot {
			continue
		}
		js, err := yamlbridge.AppendJSON(nil, c.Schema)
		require.NoError(t, err, c.Name)
		definition := fmt.Appendf(nil, `{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": {"group": "example.com", "scope": "Namespaced",
			"names": {"kind": "Thing", "plural": "things"}, "versions": [{"name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": %s}}]}}`, js)
		crds, err := schema.ParseCRD(definition)
		if err != nil {
			continue // of a case that is about that
		}
		x.make(t, c.Name, filepath.Join(write(t, map[string]string{"crd.json": string(definition)}), "crd.json"), crds[0])
	}
	t.Logf("%+v", x)
	assert.Greater(t, x.made, 100)
}

// TestExampleCorpus makes examples of real definitions.
func TestExampleCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes long")
	}
	var x examples
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err, file.Name)
		for _, crd := range crds {
			x.make(t, crd.Name, filepath.Join(corpus.Dir(t), "crds", file.Name), crd)
		}
	}
	t.Logf("%+v", x)
	assert.Greater(t, x.made, 100)
}
