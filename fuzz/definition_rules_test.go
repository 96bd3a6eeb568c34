package fuzz

import (
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

var definitionsFlag = flag.Int("definitions", 1, "how many `mutants` of each definition with rules TestDefinitionRules compares")

// TestDefinitionRules compares what is said of real definitions, and of mutants whose rules, types and
// limits are changed, with the server's validation: all errors of schemas, in any order.
func TestDefinitionRules(t *testing.T) {
	mutants := *definitionsFlag
	if testing.Short() {
		mutants = 1
	}
	server := newDefinitionServer()
	counts := map[string]int{}
	n := uint64(0)
	for file, crd := range ruledDefinitions(t) {
		counts["definitions"]++
		compareDefinition(t, server, file, crd, nil, counts)
		for range mutants {
			n++
			r := rand.New(rand.NewPCG(n, 31))
			mutant, older := mutateRules(t, r, crd), crd
			if r.IntN(2) == 0 {
				older = mutateRules(t, r, crd)
			}
			name := fmt.Sprintf("%s %s, seed %d", file, crd.Name, n)
			compareDefinition(t, server, name, mutant, nil, counts)
			compareDefinition(t, server, name, mutant, older, counts)
		}
		if t.Failed() {
			return
		}
	}
	logCounts(t, counts)
	assert.Greater(t, counts["definitions"], 10)
}

// ofStatus ends the messages about roots that do not go with a subresource, which the definitions
// for the server lack here.
const ofStatus = "if the status subresource is enabled"

func compareDefinition(t *testing.T, server definitionServer, name string, c, old *schema.CRD, counts map[string]int) {
	crd := server.read(t, definitionText(t, c))
	require.NotNil(t, crd)
	var theirs field.ErrorList
	if old == nil {
		theirs = server.create(crd)
	} else {
		theirs = server.update(crd, server.read(t, definitionText(t, old)))
	}
	var want, got []string
	for _, e := range theirs {
		if !isAboutSchema(e.Field) || strings.HasSuffix(e.Detail, ofStatus) {
			continue
		}
		want = append(want, comparableText(e.Error()))
	}
	known := validation.CRD(c)
	if old != nil {
		known = validation.Update(c, old)
	}
	if known != nil {
		for _, e := range known.(errors.SchemaErrors) {
			if isAboutSchema(e.Field) && !strings.HasSuffix(e.Msg, ofStatus) {
				got = append(got, e.Error())
			}
		}
	}
	for _, e := range cel.Definition(c, old) {
		got = append(got, comparableText(e.Error()))
		msg, _, _ := strings.Cut(e.Msg, "\n")
		if len(msg) > 60 {
			msg = msg[:60]
		}
		counts[string(e.Kind)+": "+msg]++
		if e.Limits != nil {
			counts["with limits"]++
		}
		if e.Line > 0 {
			counts["with lines"]++
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	counts["compared"]++
	js, _ := json.Marshal(c.Versions)
	if len(js) > 3000 {
		js = js[:3000]
	}
	assert.Equal(t, want, got, "%s: %s", name, js)
}

// comparableText leaves out what the server decides at random: the number of a type, and which of several
// rules of the same cost it names.
func comparableText(text string) string {
	if _, contributed, ok := strings.Cut(text, ": Forbidden: contributed to "); ok {
		return contributed
	}
	return selfTypes.ReplaceAllString(text, "selfType")
}

var selfTypes = regexp.MustCompile(`\bselfType\d+`)

// ruledDefinitions yields the definitions of the corpus that have rules, with the names of their files.
func ruledDefinitions(t *testing.T) iter.Seq2[string, *schema.CRD] {
	return func(yield func(string, *schema.CRD) bool) {
		for file := range corpus.CRDs(t) {
			crds, err := schema.ParseCRD(file.Data)
			require.NoError(t, err, file.Name)
			for _, c := range crds {
				if c.APIVersion == "apiextensions.k8s.io/v1" && definesRules(c) && !yield(file.Name, c) {
					return
				}
			}
		}
	}
}

func definesRules(c *schema.CRD) bool {
	return slices.ContainsFunc(c.Versions, func(v schema.Version) bool {
		for s := range schemasIn(v.Schema) {
			if len(s.XValidations) > 0 {
				return true
			}
		}
		return false
	})
}

// definitionText returns a definition with the schemas of c.
func definitionText(t *testing.T, c *schema.CRD) []byte {
	var versions []any
	for _, v := range c.Versions {
		version := object{"name": v.Name, "served": v.Served, "storage": v.Storage}
		if v.Schema != nil {
			version["schema"] = object{"openAPIV3Schema": v.Schema}
		}
		versions = append(versions, version)
	}
	return marshal(object{
		"apiVersion": c.APIVersion, "kind": "CustomResourceDefinition", "metadata": object{"name": c.Name},
		"spec": object{
			"group": c.Group, "scope": c.Scope, "versions": versions, "preserveUnknownFields": c.PreserveUnknownFields,
			"names": object{"plural": c.Plural, "singular": c.Singular, "kind": c.Kind, "listKind": c.ListKind},
		},
	})
}

func isAboutSchema(path string) bool {
	return strings.HasPrefix(path, "spec.validation.") || strings.HasPrefix(path, "spec.versions[") && strings.Contains(path, ".schema.")
}

// mutateRules returns a definition with changes in some schemas.
func mutateRules(t *testing.T, r *rand.Rand, c *schema.CRD) *schema.CRD {
	mutant := *c
	mutant.Versions = slices.Clone(c.Versions)
	for i, v := range c.Versions {
		if v.Schema == nil {
			continue
		}
		js, err := v.Schema.MarshalJSON()
		require.NoError(t, err)
		s, err := schema.Parse(js)
		require.NoError(t, err)
		var all, ruled []*schema.Structural
		for s := range schemasIn(s) {
			all = append(all, s)
			if len(s.XValidations) > 0 {
				ruled = append(ruled, s)
			}
		}
		for range r.IntN(4) {
			mutateNode(r, all[r.IntN(len(all))], ruled)
		}
		for _, s := range all {
			if r.IntN(8) == 0 { // limits are what makes rules cheap
				s.MaxItems, s.MaxLength, s.MaxProperties = nil, nil, nil
			}
		}
		mutant.Versions[i].Schema = s
	}
	return &mutant
}

// schemasIn yields the schemas in the core of a schema.
func schemasIn(s *schema.Structural) func(yield func(*schema.Structural) bool) {
	return func(yield func(*schema.Structural) bool) {
		var visit func(s *schema.Structural) bool
		visit = func(s *schema.Structural) bool {
			if s == nil {
				return true
			}
			if !yield(s) {
				return false
			}
			for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
				if !visit(s.Properties[name]) {
					return false
				}
			}
			if s.Items != nil && !visit(s.Items.Schema) {
				return false
			}
			return s.AdditionalProperties == nil || visit(s.AdditionalProperties.Schema)
		}
		visit(s)
	}
}

// someRules have mistakes, or are right for some values.
var someRules = []string{
	`{"rule":"self.nothing == 1"}`, `{"rule":"self"}`, `{"rule":"1 +"}`, `{"rule":"self +\n  1","message":"m"}`, `{"rule":"true","messageExpression":"1"}`,
	`{"rule":"true","messageExpression":"'a' + "}`, `{"rule":"true","messageExpression":"'a'"}`, `{"rule":"self == oldSelf"}`,
	`{"rule":"self == oldSelf.orValue(self)","optionalOldSelf":true}`, `{"rule":"true","optionalOldSelf":true}`, `{"rule":"true","optionalOldSelf":false}`,
	`{"rule":"true","fieldPath":".nothing"}`, `{"rule":"true","fieldPath":"x"}`, `{"rule":"true","reason":"FieldValueForbidden"}`, `{"rule":"false"}`,
	`{"rule":"self.all(x, self.all(y, x == y))"}`, `{"rule":"self.exists(x, x == x)"}`, `{"rule":"self.matches('a+')"}`, `{"rule":"size(self) < 5"}`,
	`{"rule":" "}`, `{"rule":"'é' == 1"}`, `{"rule":"has(self.spec)"}`, `{"rule":"self.spec.nothing"}`, `{"rule":"self.metadata.name == 'a'"}`,
	`{"rule":"isIP(self)"}`, `{"rule":"self == 'a' || self.contains(self)"}`,
}

func mutateNode(r *rand.Rand, s *schema.Structural, ruled []*schema.Structural) {
	rule := json.RawMessage(someRules[r.IntN(len(someRules))])
	switch r.IntN(10) {
	case 0, 1, 2:
		s.XValidations = append(s.XValidations, rule)
	case 3, 4, 5:
		if len(ruled) > 0 {
			s = ruled[r.IntN(len(ruled))]
			s.XValidations[r.IntN(len(s.XValidations))] = rule
		}
	case 6:
		s.Type = []string{"string", "integer", "object", "array", ""}[r.IntN(5)]
	case 7:
		s.AllOf = append(s.AllOf, &schema.Structural{XValidations: []json.RawMessage{rule}})
	case 8:
		s.Default = json.RawMessage([]string{`"a"`, `{}`, `[]`, `1`}[r.IntN(4)])
		s.XValidations = append(s.XValidations, rule)
	case 9:
		s.XMapType = new("atomic")
	}
}
