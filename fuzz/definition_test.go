package fuzz

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	server "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	crdform "github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestDefinitionNames compares with the server's validation which names and versions of definitions
// are refused.
func TestDefinitionNames(t *testing.T) {
	definitions := newDefinitionServer()
	names := []string{"", "widgets", "Widget", "widget", "WidgetList", "w", "1w", "w-", "-w", "w_w", "w.w", "ä", strings.Repeat("a", 63), strings.Repeat("a", 64), "a\n"}
	groups := []string{"", "ex.io", "ex", "Ex.io", "ex..io", "ex.io.", "1.2", strings.Repeat("a.", 126) + "a", strings.Repeat("a.", 127) + "a"}
	usual := []string{"widgets", "widget", "Widget", "WidgetList"}
	r := rand.New(rand.NewPCG(5, 6))
	pick := func(from []string, usual string) string {
		if r.IntN(3) > 0 {
			return usual
		}
		return from[r.IntN(len(from))]
	}
	refused := map[string]int{}
	for range 5000 {
		plural, group := pick(names, usual[0]), pick(groups, "ex.io")
		var versions []string
		for range 1 + r.IntN(3) {
			versions = append(versions, fmt.Sprintf(`{"name":%q,"served":true,"storage":%t,"schema":{"openAPIV3Schema":{"type":"object"}}}`, pick(names, "v1"), r.IntN(2) == 0))
		}
		js := []byte(fmt.Sprintf(`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":%q},"spec":{"group":%q,"scope":%q,"names":{"plural":%q,"singular":%q,"kind":%q,"listKind":%q},"versions":[%s]}}`,
			pick(names, plural+"."+group), group, pick([]string{"", "Cluster", "cluster"}, "Namespaced"), plural, pick(names, usual[1]), pick(names, usual[2]), pick(names, usual[3]), strings.Join(versions, ",")))

		crd := definitions.read(t, js)
		require.NotNil(t, crd)
		want := map[string]bool{}
		for _, err := range server.ValidateCustomResourceDefinition(context.Background(), crd) {
			field := strings.Replace(err.Field, "spec.version ", "spec.versions ", 1)
			switch {
			case strings.HasPrefix(field, "spec.names."), strings.HasPrefix(field, "spec.versions"), field == "spec.group", field == "spec.scope", field == "metadata.name":
				want[field+": "+string(err.Type)] = true
			}
		}
		crds, err := schema.ParseCRD(js)
		require.NoError(t, err)
		got := map[string]bool{}
		both := crdform.Faults(crds[0])
		if err := validation.CRD(crds[0]); err != nil {
			both = append(both, err.(ferrors.SchemaErrors)...)
		}
		for _, f := range both {
			if strings.HasPrefix(f.Field, "status.") {
				continue // which TestDefinitionUpdates compares
			}
			kind := map[ferrors.SchemaErrorKind]string{ferrors.SchemaRequired: "FieldValueRequired", ferrors.SchemaInvalid: "FieldValueInvalid", ferrors.SchemaUnsupported: "FieldValueNotSupported"}[f.Kind]
			got[f.Field+": "+kind] = true
			refused[f.Field]++
		}
		if !assert.Equal(t, want, got, "%s", js) {
			return
		}
	}
	assert.Greater(t, len(refused), 10)
}

// TestDefinitionFields compares with strict decoding into the server's types which fields of
// definitions are unknown. The definitions are real ones with mistakes in them.
func TestDefinitionFields(t *testing.T) {
	program, err := schema.Compile(crdform.Schema())
	require.NoError(t, err)
	d := decoder.New(program, decoder.Strict, decoder.Limits{Findings: 10_000, FindingBytes: 1 << 24})
	n, unknown := uint64(0), 0
	for file := range corpus.CRDs(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, file.Name)
			if apiVersion, kind, err := decoder.PeekType(js); err != nil || apiVersion != "apiextensions.k8s.io/v1" || kind != "CustomResourceDefinition" || len(js) > 200_000 {
				continue
			}
			for range 4 {
				mutant := js
				if n++; n%4 != 0 {
					mutant = Mutate(js, rand.New(rand.NewPCG(n, 7)))
				}
				strict, err := kjson.UnmarshalStrict(mutant, new(apiextensionsv1.CustomResourceDefinition), kjson.DisallowUnknownFields)
				if err != nil || bytes.Contains(mutant, []byte(`"":`)) {
					continue // empty names are spelled differently
				}
				_, err = d.AppendJSON(nil, mutant)
				if _, isStrict := err.(*ferrors.StrictError); err != nil && !isStrict {
					continue
				}
				var got []string
				for i := range d.Findings() {
					if f := &d.Findings()[i]; f.Kind == ferrors.UnknownField {
						got = append(got, f.Error())
					}
				}
				for _, err := range strict {
					unknown++
					assert.Contains(t, got, err.Error(), "%s\n%.2000s", file.Name, mutant)
				}
				// Within items and additionalProperties the server's types decode themselves, and
				// are not strict. We report the fields that they drop there.
				got = slices.DeleteFunc(got, func(text string) bool {
					return strings.Contains(text, ".items.") || strings.Contains(text, ".additionalProperties.") || strings.Contains(text, ".items[")
				})
				assert.Len(t, got, len(strict), "%s\n%v\n%v", file.Name, got, strict)
			}
		}
	}
	assert.Positive(t, unknown)
	t.Logf("%d definitions, %d unknown fields", n, unknown)
}
