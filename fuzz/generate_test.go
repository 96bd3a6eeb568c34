package fuzz

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	server "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestRules prints how many of the pairs exercise each rule.
func TestRules(t *testing.T) {
	const pairs = 30_000
	var hits [rules]int
	var s *schema.Structural
	for seed := range uint64(pairs) {
		if seed%DocumentsPerSchema == 0 {
			s, _ = NewSchema(seed)
		}
		met := RulesOf(s, NewDocument(seed, s))
		for r := range rules {
			if met.Has(r) {
				hits[r]++
			}
		}
	}
	for r, n := range hits {
		t.Logf("%6.2f %% %s", float64(n)*100/pairs, Rule(r))
		assert.GreaterOrEqual(t, n, 20, "%s", Rule(r))
	}
}

// TestDeterministic makes pairs twice.
func TestDeterministic(t *testing.T) {
	for _, seed := range []uint64{0, 1, 64, 12345, 1 << 60} {
		s, js := NewSchema(seed)
		_, again := NewSchema(seed)
		require.Equal(t, string(js), string(again))
		doc := NewDocument(seed, s)
		parsed, err := schema.Parse(js)
		require.NoError(t, err)
		same := NewDocument(seed, parsed)
		require.Equal(t, string(doc), string(same))
	}
}

// definition returns a definition whose schema can be validated by the server's rules.
func definition(t *testing.T, js []byte) *apiextensions.CustomResourceDefinition {
	s, err := toInternal(js)
	require.NoError(t, err)
	no := false
	crd := &apiextensions.CustomResourceDefinition{Spec: apiextensions.CustomResourceDefinitionSpec{
		Group:                 testVersion.Group,
		Scope:                 apiextensions.NamespaceScoped,
		Names:                 apiextensions.CustomResourceDefinitionNames{Plural: "trellises", Singular: "trellis", Kind: testKind, ListKind: testKind + "List"},
		Versions:              []apiextensions.CustomResourceDefinitionVersion{{Name: testVersion.Version, Served: true, Storage: true}},
		Validation:            &apiextensions.CustomResourceValidation{OpenAPIV3Schema: s},
		PreserveUnknownFields: &no,
	}}
	crd.Name = "trellises.fuzz.example.com"
	crd.Spec.Version = testVersion.Version
	crd.Status.StoredVersions = []string{testVersion.Version}
	return crd
}

// serverErrors validates a schema by the server's rules.
func serverErrors(t *testing.T, js []byte) (list []string) {
	for _, err := range server.ValidateCustomResourceDefinition(context.Background(), definition(t, js)) {
		list = append(list, err.Error())
	}
	return list
}

// TestSchemas compares the server's rules with package schema: which schemas they accept, of those
// that the generator returns and of those that it discards.
func TestSchemas(t *testing.T) {
	schemas := 1500
	if testing.Short() {
		schemas = 100
	}
	accepted, refused := 0, 0
	for n := range uint64(schemas) {
		s, js := NewSchema(n * DocumentsPerSchema)
		theirs, err := ToStructural(js)
		require.NoError(t, err)
		require.Empty(t, structural.ValidateStructural(nil, theirs), "%s", js)
		want := serverErrors(t, js)
		var got []string
		if err := validation.Structural(s); err != nil {
			for _, e := range err.(interface{ Unwrap() []error }).Unwrap() {
				got = append(got, "spec.validation."+e.Error())
			}
		}
		if len(want) == 0 {
			accepted++
		} else {
			refused++
		}
		slices.Sort(want)
		slices.Sort(got)
		assert.Equal(t, want, got, "schema of seed %d: %s", n*DocumentsPerSchema, js)
		if t.Failed() {
			return
		}
	}
	t.Logf("%d accepted, %d refused", accepted, refused)
}
