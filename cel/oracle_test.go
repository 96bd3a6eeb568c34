package cel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	server "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"sigs.k8s.io/gateway-api/pkg/consts"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A pair has the rules of a schema, compiled by both sides.
type pair struct {
	name   string
	crd    *schema.CRD
	decode *decoder.Decoder // which inserts defaults
	schema *schema.Structural
	ours   validation.Rules
	theirs *server.Validator
	of     *structural.Structural
}

// compiler is that of all tests, so that what one definition has compiled serves the next one.
var compiler = sync.OnceValue(func() *Compiler { return Rules() })

func newPair(t testing.TB, name string, s *schema.Structural) *pair {
	t.Helper()
	p := &pair{name: name, schema: s, ours: compiler().CompileRules(s, true), of: structuralOf(t, s)}
	p.theirs = server.NewValidator(p.of, true, celconfig.PerCallLimit)
	require.Equal(t, p.theirs == nil, p.ours == nil, name)
	return p
}

func structuralOf(t testing.TB, s *schema.Structural) *structural.Structural {
	t.Helper()
	js, err := json.Marshal(s)
	require.NoError(t, err)
	var v1 apiextensionsv1.JSONSchemaProps
	require.NoError(t, json.Unmarshal(js, &v1))
	var internal apiextensions.JSONSchemaProps
	require.NoError(t, apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil))
	of, err := structural.NewStructural(&internal)
	require.NoError(t, err)
	return of
}

// schemaPair has the rules of a schema in YAML.
func schemaPair(t testing.TB, yaml string) *pair {
	t.Helper()
	s, err := schema.Parse([]byte(yaml))
	require.NoError(t, err)
	return newPair(t, t.Name(), s)
}

// value reads an object.
func value(t testing.TB, js []byte) (x any) {
	t.Helper()
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(js, &x))
	return x
}

// yamlValue reads an object in YAML, or nothing.
func yamlValue(t testing.TB, yaml string) any {
	t.Helper()
	if yaml == "" {
		return nil
	}
	js, err := yamlbridge.AppendJSON(nil, []byte(yaml))
	require.NoError(t, err)
	return value(t, js)
}

var (
	selfTypes = regexp.MustCompile(`selfType(\d+|@)`) // the server's have random numbers
	pointers  = regexp.MustCompile(`0x[0-9a-f]+`)
)

func canonical(kind, text string) string {
	text = selfTypes.ReplaceAllString(text, "selfType")
	return kind + " " + pointers.ReplaceAllString(text, "0x")
}

// texts are our errors as the server writes them.
func texts(errs []validation.RuleError) (list []string) {
	for _, e := range errs {
		text := cmp.Or(e.Field, "<nil>") + ": " + string(e.Kind)
		if e.Value != "" {
			text += ": " + e.Value
		}
		if e.Msg != "" {
			text += ": " + e.Msg
		}
		list = append(list, canonical(string(e.Kind), text))
	}
	return list
}

// request has the parts of two objects that are read.
func (p *pair) request(x, old any) *validation.RuleRequest {
	self, oldSelf := p.ours.Selections()
	r := &validation.RuleRequest{Object: selected(x, self), Old: selected(old, oldSelf)}
	if old != nil {
		r.Whole = func() (any, any) { return x, old }
	}
	return r
}

// selected returns the selected parts of a value.
func selected(x any, s *validation.Selection) any {
	if s == nil {
		return nil
	}
	if s.All {
		return x
	}
	switch x := x.(type) {
	case map[string]any:
		m := map[string]any{}
		for name, v := range x {
			of := s.Members[name]
			if of == nil {
				of = s.Others
			}
			if of == nil {
				continue
			}
			if v = selected(v, of); v != nil || !s.Within {
				m[name] = v
			}
		}
		if len(m) == 0 && s.Within {
			return nil
		}
		return m
	case []any:
		l := []any{}
		for _, v := range x {
			if s.Elements != nil {
				l = append(l, selected(v, s.Elements))
			}
		}
		if s.Within && !slices.ContainsFunc(l, func(x any) bool { return x != nil }) {
			return nil
		}
		return l
	}
	if s.Within {
		return nil
	}
	return x
}

// server returns the errors of the server. Those of an update are ratcheted.
func (p *pair) server(x, old any) (list []string) {
	var options []server.Option
	if old != nil {
		options = append(options, server.WithRatcheting(common.NewCorrelatedObject(x, old, &model.Structural{Structural: p.of})))
	}
	errs, _ := p.theirs.Validate(context.Background(), nil, p.of, x, old, celconfig.RuntimeCELCostBudget, options...)
	for _, e := range errs {
		list = append(list, canonical(e.Type.String(), e.Error()))
	}
	slices.Sort(list)
	return list
}

// compare compares the errors in an object. It returns the number of errors.
func (p *pair) compare(t testing.TB, x, old any) int {
	t.Helper()
	errs := p.ours.Evaluate(p.request(x, old))
	got := slices.Sorted(slices.Values(texts(errs)))
	if want := p.server(x, old); !slices.Equal(want, got) {
		js, _ := json.Marshal(x)
		oldJS, _ := json.Marshal(old)
		t.Errorf("%s:\n%s\n%s\nserver: %s\nours:   %s", p.name, js, oldJS, strings.Join(want, "\n        "), strings.Join(got, "\n        "))
	}
	for _, e := range errs {
		if e.Kind != errors.SchemaInternal {
			require.Equal(t, strings.TrimPrefix(strings.NewReplacer("[", ".", "]", "").Replace(e.Field), "."), pathText(e.Path), p.name)
		}
	}
	return len(errs)
}

// pathText is the path as the server shows it, without its brackets.
func pathText(path []errors.Segment) string {
	var parts []string
	for _, s := range path {
		if s.IsName {
			parts = append(parts, s.Name)
		} else {
			parts = append(parts, fmt.Sprint(s.Index))
		}
	}
	return strings.NewReplacer("[", ".", "]", "").Replace(strings.Join(parts, "."))
}

// objectsIn yields the objects of a manifest of which there are rules, with their defaults.
func objectsIn(t testing.TB, byKind map[string]*pair, name string, manifest []byte) iter.Seq2[*pair, any] {
	return func(yield func(*pair, any) bool) {
		for doc := range yamlbridge.Documents(manifest) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, name)
			apiVersion, kind, _ := decoder.PeekType(js)
			p := byKind[apiVersion+" "+kind]
			if p == nil {
				continue
			}
			js, err = p.decode.AppendJSON(nil, js)
			if err != nil {
				continue // some examples are no objects
			}
			if !yield(p, value(t, js)) {
				return
			}
		}
	}
}

// versionsIn yields the versions with rules of the definitions in manifests.
func versionsIn(t testing.TB, files iter.Seq2[string, []byte]) iter.Seq[*pair] {
	return func(yield func(*pair) bool) {
		for name, data := range files {
			for doc := range yamlbridge.Documents(data) {
				js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
				require.NoError(t, err, name)
				if _, kind, _ := decoder.PeekType(js); kind != "CustomResourceDefinition" {
					continue
				}
				crds, err := schema.ParseCRD(doc.Bytes)
				require.NoError(t, err, name)
				for _, crd := range crds {
					for _, v := range crd.Versions {
						if v.Schema == nil || !hasRules(v.Schema) {
							continue
						}
						p := newPair(t, crd.Group+"/"+v.Name+" "+crd.Kind, v.Schema)
						p.crd = crd
						program, err := crd.Program(v.Name)
						require.NoError(t, err, name)
						p.decode = decoder.New(program)
						if !yield(p) {
							return
						}
					}
				}
			}
		}
	}
}

var all struct {
	sync.Mutex
	pairs []*pair
}

// pairs are the versions with rules of the corpus and of gateway-api.
func pairs(t testing.TB) []*pair {
	all.Lock()
	defer all.Unlock()
	if all.pairs == nil {
		all.pairs = readPairs(t)
	}
	return all.pairs
}

func readPairs(t testing.TB) (list []*pair) {
	if corpus.IsThere(t) {
		list = slices.AppendSeq(list, versionsIn(t, func(yield func(string, []byte) bool) {
			for f := range corpus.CRDs(t) {
				if !yield(f.Name, f.Data) {
					return
				}
			}
		}))
	}
	return slices.AppendSeq(list, versionsIn(t, filesIn(t, gatewayAPI(t)+"/config/crd/experimental")))
}

// gatewayAPI returns the folder of the module.
func gatewayAPI(t testing.TB) string {
	t.Helper()
	require.Equal(t, "v1.6.0", consts.BundleVersion)
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/gateway-api").Output()
	require.NoError(t, err)
	return strings.TrimSpace(string(out))
}

// filesIn yields the manifests below a folder.
func filesIn(t testing.TB, dir string) iter.Seq2[string, []byte] {
	return func(yield func(string, []byte) bool) {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, e fs.DirEntry, err error) error {
			if err != nil || e.IsDir() || filepath.Ext(name) != ".yaml" {
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
