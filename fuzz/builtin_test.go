package fuzz

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os/exec"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// openAPIDocuments is a module with the documents that API servers of several releases publish.
const openAPIDocuments = "sigs.k8s.io/kubectl-validate@v0.0.4"

// openAPICatalog returns a catalog of the built-in kinds of Kubernetes 1.30.
func openAPICatalog(t *testing.T, opts ...schema.Option) *schema.Catalog {
	t.Helper()
	out, err := exec.Command("go", "mod", "download", "-json", openAPIDocuments).Output()
	var module struct{ Dir string }
	if err != nil || json.Unmarshal(out, &module) != nil || module.Dir == "" {
		t.Skipf("skipped: module %s: %v", openAPIDocuments, err)
	}
	c := schema.NewCatalog(opts...)
	require.NoError(t, c.AddOpenAPIPath(filepath.Join(module.Dir, "pkg/openapiclient/builtins/1.30")))
	return c
}

// TestOpenAPIOfAServer compiles all kinds of a release, under both semantics.
func TestOpenAPIOfAServer(t *testing.T) {
	for _, d := range []schema.Semantics{schema.Deployed, schema.KEP} {
		kinds := 0
		for e := range openAPICatalog(t, d, schema.CheckTypes(true)).All() {
			p, err := e.Program()
			require.NoError(t, err, "%s %s", e.APIVersion, e.Kind)
			assert.NotEmpty(t, p.FieldNames(ferrors.Path{}))
			kinds++
		}
		assert.Greater(t, kinds, 80)
	}
}

// TestBuiltInKinds compares the findings in built-in kinds, by the documents of a server, with
// those of the typed decoder of Kubernetes. The objects are the resources of the corpus, as they
// are and with mistakes in them.
func TestBuiltInKinds(t *testing.T) {
	catalog := openAPICatalog(t)
	typed := openAPICatalog(t, schema.CheckTypes(true))
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{corev1.AddToScheme, appsv1.AddToScheme, batchv1.AddToScheme, networkingv1.AddToScheme, rbacv1.AddToScheme} {
		require.NoError(t, add(scheme))
	}
	anything, err := schema.Compile(&schema.Structural{XPreserveUnknownFields: new(true)}, schema.ResourceRoot(false))
	require.NoError(t, err)
	objects, unknown, refused := 0, 0, 0
	for o := range realObjects(t) {
		if !scheme.Recognizes(kschema.FromAPIVersionAndKind(o.apiVersion, o.kind)) || strings.HasSuffix(o.kind, "List") {
			continue
		}
		objects++
		for n := range 20 {
			mutant := o.js
			if n > 0 {
				mutant = Mutate(o.js, rand.New(rand.NewPCG(uint64(objects), uint64(n))))
			}
			names := decoder.New(anything)
			if _, err := names.AppendJSON(nil, mutant); err != nil || len(names.Findings()) > 0 || bytes.Contains(mutant, []byte(`"":`)) {
				continue // typed decoding treats repeated names by its own rules, and empty names are spelled differently
			}
			if v, k, err := decoder.PeekType(mutant); err != nil || v != o.apiVersion || k != o.kind {
				continue // another object, or none
			}
			object, err := scheme.New(kschema.FromAPIVersionAndKind(o.apiVersion, o.kind))
			require.NoError(t, err)
			strict, err := kjson.UnmarshalStrict(mutant, object)
			if err != nil && !strings.Contains(err.Error(), "cannot unmarshal") {
				continue // the format of a string, base64 or a time, is up to validation
			}
			if err != nil {
				refused++
				program, err := typed.Lookup(o.apiVersion, o.kind)
				require.NoError(t, err)
				_, err = decoder.New(program).AppendJSON(nil, mutant)
				assert.Error(t, err, "the server refuses it: %s", mutant)
				continue
			}
			program, err := catalog.Lookup(o.apiVersion, o.kind)
			require.NoError(t, err, o.file)
			d := decoder.New(program, decoder.Strict)
			if _, err := d.AppendJSON(nil, mutant); err != nil && !errors.As(err, new(*ferrors.StrictError)) {
				t.Errorf("%s: %v\n%s", o.file, err, mutant)
				continue
			}
			var got, want []string
			for i := range d.Findings() {
				got = append(got, d.Findings()[i].Error())
			}
			for _, err := range strict {
				want = append(want, err.Error())
			}
			sort.Strings(got)
			sort.Strings(want)
			unknown += len(want)
			assert.Equal(t, want, got, "%s\n%s", o.file, mutant)
		}
	}
	t.Logf("%d objects, %d findings, %d refused", objects, unknown, refused)
	assert.Positive(t, objects)
}
