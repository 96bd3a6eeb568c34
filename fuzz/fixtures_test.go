package fuzz

import (
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/gateway-api/pkg/consts"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A fixture is an object that a project ships as an example of what a server accepts or refuses.
type fixture struct {
	name             string // of the file in its folder
	yaml, js         []byte // as it is, and as JSON
	apiVersion, kind string
}

// fixturesIn yields the objects in the files of a folder and of those below it. Documents without
// an object are left out: a server refuses them before it validates.
func fixturesIn(t *testing.T, dir string) iter.Seq[fixture] {
	return func(yield func(fixture) bool) {
		for name, data := range filesIn(t, dir, ".yaml", ".json") {
			for doc := range yamlbridge.Documents(data) {
				js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
				require.NoError(t, err, name)
				apiVersion, kind, err := decoder.PeekType(js)
				if err == nil && kind != "" && !yield(fixture{name, doc.Bytes, js, apiVersion, kind}) {
					return
				}
			}
		}
	}
}

// filesIn yields the files whose names have one of the extensions.
func filesIn(t *testing.T, dir string, extensions ...string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || !slices.Contains(extensions, filepath.Ext(name)) {
				return err
			}
			data, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && !yield(name, data) {
				return fs.SkipAll
			}
			return err
		})
		require.NoError(t, err)
	}
}

// definitionsIn returns the versions that the definitions in a folder have, by apiVersion and kind.
func definitionsIn(t *testing.T, dir string) map[string]*verdictPair {
	pairs := make(map[string]*verdictPair)
	for f := range fixturesIn(t, dir) {
		if f.kind != "CustomResourceDefinition" {
			continue
		}
		crds, err := schema.ParseCRD(f.yaml)
		require.NoError(t, err, f.name)
		if crds[0].Group == "apiextensions.k8s.io" {
			continue // it is a fixture itself, for a mistake in its schema
		}
		var m manifest
		require.NoError(t, yaml.Unmarshal(f.yaml, &m), f.name)
		for i, version := range crds[0].Versions {
			v := realVersion{crd: crds[0], version: version, js: m.schema(i), apiVersion: crds[0].Group + "/" + version.Name}
			pairs[v.apiVersion+" "+v.crd.Kind], err = newVerdictPair(v)
			require.NoError(t, err, f.name)
		}
	}
	return pairs
}

// moduleDir returns the folder of a module that this one requires.
func moduleDir(t *testing.T, path string) string {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", path).Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// verdicts are the names of fixtures that the server accepts, refuses, refuses for a rule in CEL
// alone, and does not decode.
type verdicts struct{ valid, invalid, ruled, faulty []string }

// judgeFixtures compares the findings in the fixtures of a folder, and returns the kinds that are not
// known.
func judgeFixtures(t *testing.T, pairs map[string]*verdictPair, dir string) (found verdicts, unknown []string) {
	for f := range fixturesIn(t, dir) {
		p := pairs[f.apiVersion+" "+f.kind]
		if p == nil {
			unknown = append(unknown, f.apiVersion+" "+f.kind)
			continue
		}
		v := p.compare(f.js, false)
		for _, v := range []verdict{v, p.compare(f.yaml, true)} {
			if v.what != "" {
				t.Errorf("%s: %s: %s", f.name, v.what, v.detail)
			}
		}
		switch {
		case v.fault != nil:
			found.faulty = append(found.faulty, f.name)
		case len(v.errs) > 0:
			found.invalid = append(found.invalid, f.name)
		case p.breaksRule(t, v.object):
			found.ruled = append(found.ruled, f.name)
		default:
			found.valid = append(found.valid, f.name)
		}
	}
	slices.Sort(unknown)
	return found, slices.Compact(unknown)
}

// breaksRule reports whether a valid object breaks a rule in CEL.
func (p *verdictPair) breaksRule(t *testing.T, object map[string]any) bool {
	if p.values == nil {
		var err error
		p.values, err = NewValidator(p.js)
		require.NoError(t, err)
	}
	_, rules := p.values.Validate(object)
	return len(rules) > 0
}

// TestGatewayAPI compares the findings in the examples of gateway-api. Those that must be refused
// are refused, unless only a rule in CEL refuses them. The server's own tests have examples of an
// older version.
func TestGatewayAPI(t *testing.T) {
	require.Equal(t, "v1.6.0", consts.BundleVersion)
	gateway := moduleDir(t, "sigs.k8s.io/gateway-api")
	server := filepath.Join(moduleDir(t, "k8s.io/apiextensions-apiserver"), "test/integration/ratcheting_test_cases")
	ruled := []string{
		"gateway/hostname-tcp.yaml",
		"gateway/hostname-udp.yaml",
		"gateway/tlsconfig-tcp.yaml",
		"httproute/httproute-portless-backend.yaml",
		"httproute/httproute-portless-service.yaml",
		"httproute/invalid-filter-duplicate.yaml",
		"httproute/invalid-filter-empty.yaml",
		"httproute/invalid-filter-wrong-field.yaml",
		"httproute/invalid-path-alphanum-specialchars-mix.yaml",
		"httproute/invalid-path-specialchars.yaml",
		"httproute/invalid-request-redirect-with-backendref.yaml",
	}
	for _, c := range []struct {
		definitions, invalid, valid string
		invalids, valids            int
		ruled                       []string
	}{
		{
			gateway + "/config/crd/standard", gateway + "/hack/invalid-examples/standard", gateway + "/examples/standard",
			20, 92, slices.Insert(slices.Clone(ruled), 2, "gateway/invalid-tls-mode.yaml"),
		},
		{
			gateway + "/config/crd/experimental", gateway + "/hack/invalid-examples/experimental", gateway + "/examples", // of both channels
			3, 103, []string{"httproute/invalid-filter-externalauth-empty.yaml"},
		},
		{server + "/crds", server + "/invalid", server + "/valid", 18, 57, ruled},
	} {
		kinds := definitionsIn(t, c.definitions)
		found, unknown := judgeFixtures(t, kinds, c.invalid)
		assert.Len(t, found.invalid, c.invalids)
		assert.Equal(t, c.ruled, found.ruled)
		assert.Empty(t, slices.Concat(found.valid, found.faulty, unknown))
		found, unknown = judgeFixtures(t, kinds, c.valid)
		assert.Len(t, found.valid, c.valids)
		assert.Empty(t, slices.Concat(found.invalid, found.ruled, found.faulty))
		assert.Subset(t, []string{"v1 Namespace"}, unknown)
	}
}

// TestNegativeFixtures compares the findings in the fixtures of kubectl-validate and kubeconform.
// Built-in kinds are validated by the documents of a server, as kubectl-validate does it. The kind of
// definitions is not: its schema contains itself, and TestDefinitionFields compares it.
func TestNegativeFixtures(t *testing.T) {
	dir := filepath.Join(corpus.Dir(t), "negative")
	pairs := definitionsIn(t, dir)
	builtIn := make(map[string]schema.Entry)
	for e := range openAPICatalog(t).All() {
		builtIn[e.APIVersion+" "+e.Kind] = e
	}
	for f := range fixturesIn(t, dir) {
		name := f.apiVersion + " " + f.kind
		if e, ok := builtIn[name]; ok && pairs[name] == nil && f.kind != "CustomResourceDefinition" {
			v := realVersion{crd: e.CRD, version: *e.Version, js: marshal(e.Version.Schema), apiVersion: e.APIVersion}
			var err error
			pairs[name], err = newVerdictPair(v)
			require.NoError(t, err)
		}
	}
	found, unknown := judgeFixtures(t, pairs, dir)
	const kubectl, kubeconform = "kubernetes-sigs__kubectl-validate__testcases__manifests__", "yannh__kubeconform__fixtures__"
	assert.Equal(t, []string{
		kubectl + "empty_secret.yaml", // the format byte refuses an empty text
		kubectl + "error_array_instead_of_map.yaml",
		kubectl + "error_invalid_label.yaml",
		kubectl + "error_invalid_name.yaml",
		kubectl + "error_invalid_protocol_type.yaml",
		kubectl + "error_missing_name.yaml",
		kubectl + "error_misspelled_key.yaml",
		kubectl + "error_multiple_resources_all_invalid.yaml",
		kubectl + "error_multiple_resources_all_invalid.yaml",
		kubectl + "error_multiple_resources_one_invalid.yaml",
		kubectl + "error_name_exceeds_max_length.yaml",
		kubectl + "error_quantity.yaml",
		kubectl + "error_x_list_map_default.yaml",
		kubectl + "error_x_list_map_duplicate_key.yaml",
		kubeconform + "invalid.yaml",
		kubeconform + "multi_invalid.yaml",
	}, found.invalid)
	assert.Equal(t, []string{kubectl + "error_cel_basic.yaml", kubectl + "error_cel_basic_multiple.yaml"}, found.ruled)
	assert.Equal(t, []string{kubectl + "error_map_instead_of_array.yaml"}, found.faulty)
	assert.Len(t, found.valid, 65)
	assert.Equal(t, []string{
		" ReplicationController",
		"apiextensions.k8s.io/v1 CustomResourceDefinition", "apiextensions.k8s.io/v1beta1 CustomResourceDefinition", "apps/v1beta1 Deployment",
		"batch.tutorial.kubebuilder.io/v1 CronJob", "grafana.integreatly.org/v1beta1 GrafanaAlertRuleGroup",
		"projectcontour.io/v1 HTTPProxy", "v1 List", "v1 SkipThisKind", "v1 configmap",
	}, unknown)
}
