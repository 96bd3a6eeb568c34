package fuzz

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/schema"
)

// pair returns what compares documents under a schema in YAML.
func pair(t *testing.T, openAPIV3Schema string, newComparer maker) *comparer {
	t.Helper()
	js, err := yaml.YAMLToJSON([]byte(openAPIV3Schema))
	require.NoError(t, err)
	s, err := schema.Parse(js)
	require.NoError(t, err)
	c, err := newComparer(s, js)
	require.NoError(t, err)
	return c
}

// TestIntendedDifferences has a case for each difference between the hardened
// default and the server that is meant.
func TestIntendedDifferences(t *testing.T) {
	// embedded is a schema with an embedded resource e whose metadata is declared.
	embedded := func(metadata string) string {
		return "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, " + metadata + "}}}}}"
	}
	for _, c := range []struct {
		why              string
		schema, document string
		want             class
	}{
		{"The server mangles what is not UTF-8, so that two names can become one: refused.",
			"{type: object}", "{\"a\xff\":1}", hardenedUTF8},
		{"The same for half of a surrogate pair.",
			"{type: object}", `{"a":"\ud800"}`, hardenedUTF8},
		{"The server reads kind and apiVersion with encoding/json first, which takes KIND for kind. Here it is an unknown field.",
			"{type: object}", `{"KIND":5}`, sniffCase},
		{"That reader also sees values that a later one replaces. Here the last value wins, and only it is looked at.",
			"{type: object}", `{"kind":5,"kind":"A"}`, sniffLoser},
		{"Times are normalised by the server, and not read here.",
			"{type: object}", `{"metadata":{"creationTimestamp":"x"}}`, metaTime},
		{"The server leaves empty members out of metadata before it inserts defaults. Here they are kept, and are not absent.",
			embedded("properties: {generation: {type: integer, default: 3}}"), `{"e":{"metadata":{"generation":0}}}`, metaDefaults},
	} {
		t.Run(c.document, func(t *testing.T) {
			k, what, detail := pair(t, c.schema, newComparer).compare([]byte(c.document))
			assert.Equal(t, c.want, k, "%s\n%s\n%s", c.why, what, detail)
		})
	}
}

// TestSpellings has the findings whose text is not the server's, or not in both
// modes: what the comparison of findings takes as equal.
func TestSpellings(t *testing.T) {
	const maps = "{type: object, properties: {m: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}"
	for _, c := range []struct{ why, schema, document, theirs, exact, ours string }{
		{"The server prints names as they are, so that a name can forge a line or a field.",
			"{type: object}", `{"kind":"A","a\nb":1}`, "unknown field \"a\nb\"", `unknown field "["a\nb"]"`, `unknown field "["a\nb"]"`},
		{"For what is unknown in embedded metadata, the server has another spelling: of keys of maps.",
			maps, `{"kind":"A","m":{"k":{"metadata":{"junk":1}}}}`,
			`unknown field "m[k].metadata.junk"`, `unknown field "m[k].metadata.junk"`, `unknown field "m.k.metadata.junk"`},
		{"Pruning has the common one.",
			maps, `{"kind":"A","m":{"k":1,"k1":{"metadata":{}}},"x":1}`,
			`unknown field "x"`, `unknown field "x"`, `unknown field "x"`},
		{"It sorts by that spelling, and so do we, in which a name that another starts with comes after it.",
			maps, `{"kind":"A","m":{"k":{"metadata":{"x":1}},"k1":{"metadata":{"x":1}}}}`,
			`unknown field "m[k1].metadata.x", unknown field "m[k].metadata.x"`,
			`unknown field "m[k1].metadata.x", unknown field "m[k].metadata.x"`,
			`unknown field "m.k1.metadata.x", unknown field "m.k.metadata.x"`},
		{"With an embedded resource for its root the server reports root metadata twice.",
			"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
			`{"kind":"A","metadata":{"junk":1}}`, `unknown field "metadata.junk", unknown field "metadata.junk"`,
			`unknown field "metadata.junk"`, `unknown field "metadata.junk"`},
		{"The server reports each path of a duplicate once. A path that stands for two places is no reason to leave one out.",
			"{type: object, x-kubernetes-preserve-unknown-fields: true}",
			`{"kind":"A","a":{"b":1,"b":2},"a.b":3,"a.b":4}`, `duplicate field "a.b"`,
			`duplicate field "a.b", duplicate field "a.b"`, `duplicate field "a.b", duplicate field "a.b"`},
	} {
		t.Run(c.document, func(t *testing.T) {
			for _, mode := range []struct {
				maker
				want string
			}{{newExactComparer, c.exact}, {newComparer, c.ours}} {
				p := pair(t, c.schema, mode.maker)
				k, what, detail := p.compare([]byte(c.document))
				assert.Equal(t, same, k, "%s\n%s\n%s", c.why, what, detail)
				a, err := p.server.Decode([]byte(c.document))
				require.NoError(t, err)
				assert.Equal(t, c.theirs, strings.Join(a.Strict(), ", "))
				var ours []string
				findings := p.decoder.Findings()
				for i := range findings {
					ours = append(ours, findings[i].Error())
				}
				assert.Equal(t, mode.want, strings.Join(ours, ", "))
			}
		})
	}
}

// TestFound has the smallest pair for each mistake that comparing has found.
func TestFound(t *testing.T) {
	embedded := func(rest string) string {
		return "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, " + rest + "}}}"
	}
	const (
		both      = iota
		exactOnly // for the hardened default it is an intended difference
	)
	for _, c := range []struct {
		why, schema, document string
		modes                 int
	}{
		{"A null that is dropped as its field is declared in embedded metadata is not unknown, though ObjectMeta does not know the field (3.1: nulls are dropped before metadata is looked at).",
			embedded("properties: {metadata: {type: object, properties: {junk: {type: string}}}}"), `{"kind":"A","e":{"metadata":{"junk":null}}}`, both},
		{"A null kind or apiVersion of an embedded resource stays until metadata is looked at, if it has a default: and is fatal there, as it is no string.",
			embedded("properties: {apiVersion: {type: string, default: v1}}"), `{"kind":"A","e":{"apiVersion":null}}`, both},
		{"A default below metadata that normalising metadata leaves out is none (3.4): labels stay absent, and what is in them is not defaulted.",
			embedded("properties: {metadata: {type: object, properties: {labels: {type: object, default: {}, properties: {a: {type: string, default: A}}}}}}"), `{"kind":"A","e":{"metadata":{}}}`, both},
		{"Null for metadata in a default is normalised to {} (3.4), into which defaults are inserted.",
			embedded("default: {apiVersion: v1, kind: A, metadata: null}, properties: {metadata: {type: object, properties: {labels: {type: object, default: {a: x}}}}}"), `{"kind":"A"}`, both},
		{"Metadata that is no object stays in a default (3.4); where nothing checks defaults, as in the values of maps.",
			"{type: object, properties: {m: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, default: {apiVersion: v1, kind: A, metadata: 1}}}}}",
			`{"kind":"A","m":{"k":null}}`, exactOnly}, // the other comparison would normalise it
		{"What normalising metadata leaves out is absent, and defaulted.",
			embedded("properties: {metadata: {type: object, properties: {generation: {type: integer, default: 3}}}}"), `{"kind":"A","e":{"metadata":{"generation":0}}}`, exactOnly},
		{"The same for empty maps.",
			embedded("properties: {metadata: {type: object, properties: {labels: {type: object, default: {a: x}}}}}"), `{"kind":"A","e":{"metadata":{"labels":{}}}}`, exactOnly},
		{"Null metadata that has a default is not dropped, and normalised to {} before defaults are inserted.",
			embedded("properties: {metadata: {type: object, default: {name: d}}}"), `{"kind":"A","e":{"metadata":null}}`, exactOnly},
	} {
		t.Run(c.document, func(t *testing.T) {
			for _, newComparer := range []maker{newComparer, newExactComparer}[c.modes:] {
				k, what, detail := pair(t, c.schema, newComparer).compare([]byte(c.document))
				if k != same && k != bothRefuse {
					t.Errorf("%s\n%s\n%s\n%s", c.why, c.schema, what, detail)
				}
			}
		})
	}
}
