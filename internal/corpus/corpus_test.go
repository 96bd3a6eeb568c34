package corpus

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const shared = `What it shows.
-- schema.yaml --
type: object
-- options --
semantics: both
-- one/in.json --
{"a": 1}
-- one/want.json --
{}
-- one/findings --
1:2: unknown field "a"
-- two/in.json.parts --
"\xff"
` + "`[`" + ` x 3
"%d," x 2
-- two/options --
semantics: kubernetes
yaml: no
-- two/error --
kind: syntax
at: 1:1
a part of it
`

func TestParse(t *testing.T) {
	cases, err := Parse("topic/file.txtar", []byte(shared))
	require.NoError(t, err)
	require.Len(t, cases, 2)

	one := cases[0]
	assert.Equal(t, "topic/file/one", one.Name)
	assert.Equal(t, "What it shows.", one.Comment)
	assert.Equal(t, []string{Kubernetes, KEP}, one.Semantics)
	assert.Equal(t, "type: object\n", string(one.Schema), "the schema is shared")
	want, ok := one.Want(KEP)
	assert.True(t, ok)
	assert.Equal(t, "{}\n", string(want))
	details, ok := one.Findings(Kubernetes, "json")
	assert.True(t, ok)
	assert.Equal(t, []string{`1:2: unknown field "a"`}, details)
	_, ok = one.Findings(Kubernetes, "yaml")
	assert.False(t, ok)
	assert.Nil(t, one.Failure(KEP))
	assert.Equal(t, -1, one.Total)

	two := cases[1]
	assert.Equal(t, []string{Kubernetes}, two.Semantics)
	assert.True(t, two.JSONOnly)
	assert.Equal(t, "\xff[[[0,1,", string(two.JSON))
	assert.Equal(t, &Failure{Kind: "syntax", At: "1:1", Contains: []string{"a part of it"}}, two.Failure(Kubernetes))
}

func TestParseSpecialSections(t *testing.T) {
	cases, err := Parse("f.txtar", []byte(`Null.
-- schema.yaml --
type: object
-- in.json --
{"a": null}
-- want.kubernetes.json --
{}
-- error --
kind: type
`))
	require.NoError(t, err)
	require.Len(t, cases, 1)
	assert.Equal(t, "f", cases[0].Name)
	assert.Nil(t, cases[0].Failure(Kubernetes), "the special section counts")
	assert.Equal(t, "type", cases[0].Failure(KEP).Kind)
}

func TestParseSemantics(t *testing.T) {
	cases, err := Parse("f.txtar", []byte(`Null.
-- schema.yaml --
type: object
-- options --
semantics: kubernetes server
kind: optional
-- in.json --
{"a": null}
-- want.json --
{}
-- error.server --
kind: object
`))
	require.NoError(t, err)
	require.Len(t, cases, 1)
	assert.Equal(t, []string{Kubernetes, Server}, cases[0].Semantics)
	assert.True(t, cases[0].KindOptional)
	assert.Nil(t, cases[0].Failure(Kubernetes))
	assert.Equal(t, "object", cases[0].Failure(Server).Kind)
}

func TestRows(t *testing.T) {
	for name, want := range map[string][]int{
		"adversarial/50-53-nulls/50-51-fields": {50, 51}, "adversarial/13-normal-forms": {13}, "prune/arrays": nil, "adversarial/9": {9},
	} {
		c := Case{Name: name}
		assert.Equal(t, want, c.Rows(), name)
	}
}

func TestParseRefuses(t *testing.T) {
	const head = "Shown.\n-- schema.yaml --\ntype: object\n"
	for name, text := range map[string]string{
		"unknown section":                  head + "-- wants.json --\n{}\n",
		"unknown semantics":                head + "-- options --\nsemantics: kep all\n-- in.json --\n{}\n-- want.json --\n{}\n",
		"unknown option":                   head + "-- options --\nyaml: yes\n-- in.json --\n{}\n-- want.json --\n{}\n",
		"no comment":                       strings.TrimPrefix(head, "Shown.\n") + "-- in.json --\n{}\n-- want.json --\n{}\n",
		"neither in.json nor in.yaml":      head + "-- want.json --\n{}\n",
		"neither a result nor an error":    head + "-- in.json --\n{}\n-- want.kep.json --\n{}\n",
		"want a string and x N":            head + "-- in.json.parts --\n\"a\" times 3\n",
		"section a/in.json stands twice":   head + "-- a/in.json --\n{}\n-- a/in.json --\n{}\n",
		"section in.json.parts stands twi": head + "-- in.json --\n{}\n-- in.json.parts --\n\"\"\n",
	} {
		_, err := Parse("f.txtar", []byte(text))
		assert.ErrorContains(t, err, name)
	}
}

// TestLoad reads all cases, also those that no other test reads.
func TestLoad(t *testing.T) {
	names := map[string]bool{}
	for _, c := range Load(t, "*/*") {
		assert.False(t, names[c.Name], "%s is there twice", c.Name)
		names[c.Name] = true
	}
	assert.True(t, names["kep-2332/07-json-and-properties"])
	assert.True(t, names["adversarial/01-08-duplicates/05-in-replaced"])

	some := Load(t, "kep-575/3-array", "kep-2332/0[12]-*")
	var got []string
	for _, c := range some {
		got = append(got, c.Name)
	}
	assert.Equal(t, []string{
		"kep-575/3-array/empty", "kep-575/3-array/null", "kep-575/3-array/undefined",
		"kep-2332/01-unspecified", "kep-2332/02-properties",
	}, got)
}

func TestThirdParty(t *testing.T) {
	Dir(t)
	count := map[Verdict]int{}
	for text := range JSONTestSuite(t) {
		count[text.Verdict]++
	}
	assert.Equal(t, map[Verdict]int{Accept: 95, Refuse: 188, Open: 35}, count)

	clear(count)
	for text := range JSONChecker(t) {
		count[text.Verdict]++
	}
	assert.Equal(t, map[Verdict]int{Accept: 3, Refuse: 31}, count)

	transforms, crds, samples, yamls, invalid := 0, 0, 0, 0, 0
	for range JSONTestSuiteTransforms(t) {
		transforms++
	}
	for f := range CRDs(t) {
		assert.Contains(t, string(f.Data), "CustomResourceDefinition")
		crds++
	}
	for range Samples(t) {
		samples++
	}
	for y := range YAMLTestSuite(t) {
		yamls++
		if y.Error {
			invalid++
		}
	}
	assert.Equal(t, 22, transforms)
	assert.Equal(t, 165, crds)
	assert.Equal(t, 534, samples)
	assert.Equal(t, 402, yamls)
	assert.Equal(t, 94, invalid)
}
