package decoder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// TestFirstReading asserts that kind and apiVersion are refused if the server's first reading of
// them, with encoding/json, fails (SimpleMetaFactory.Interpret). Module kube compares the same with
// the server's packages.
func TestFirstReading(t *testing.T) {
	for name, s := range map[string]string{
		"pruning":    serverSchema,
		"preserving": `{type: object, x-kubernetes-preserve-unknown-fields: true}`,
		"declared":   `{type: object, properties: {KIND: {}, apiversion: {}, Kind: {type: string}}}`,
		"map":        `{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}`,
	} {
		for _, v := range []FieldValidation{Warn, Ignore} {
			for way, decode := range map[string]func(*Decoder, []byte, []byte) ([]byte, error){
				"JSON": (*Decoder).AppendJSON, "YAML": (*Decoder).AppendYAML,
			} {
				d := New(compileYAML(t, s), ServerRequests, v)
				typed := New(compileYAML(t, s), ServerTypedRequests, v)
				stored := New(compileYAML(t, s), ServerStorage, v)
				for _, c := range []struct {
					in  string
					bad string // "JSON", "YAML" or "both": where it is refused
				}{
					{`"KIND":5`, "both"},
					{`"Kind":[1,{"kind":2}],"a":1`, "both"},
					{`"kinD":true`, "both"},
					{`"\u212aind":{}`, "both"},
					{"\"\u212aIND\":0", "both"},
					{`"\u004bind":1.5`, "both"},
					{`"APIVERSION":5`, "both"},
					{`"apiVer\u017fion":5`, "both"},
					{`"apiversion":"a/b/c"`, "both"}, // after apiVersion, in the document and sorted
					{`"APIVERSION":"a/b/c","a":{"KIND":5}`, "JSON"},
					{`"APIVERSION":"a/b/c","apiVersion":"v1"`, ""},
					{`"apiversion":"a/b/c","apiVersion":"v1"`, "YAML"},
					{`"apiversion":"a/b/c","Apiversion":null`, "both"}, // null has no effect
					{`"KIND":null,"Kind":"x","APIVERSION":null`, ""},
					{`"KIND":"x","apiversion":"b/c"`, ""},
					{`"KIND":5,"KIND":"x"`, "JSON"}, // in YAML the first is gone by then
					{`"KIND":"x","KIND":5`, "both"},
					{`"kind":5,"kind":"K"`, "JSON"},
					{`"kind":{},"kind":"K"`, "JSON"},
					{`"kind":"L","kind":"K"`, ""},
					{`"apiVersion":7,"apiVersion":"v1"`, "JSON"},
					{`"apiVersion":"a/b/c","apiVersion":"v1"`, ""},
					{`"a":{"KIND":5,"kind":6},"b":[{"kind":1,"kind":2}]`, ""},
					{`"ind":5,"kinds":5,"kin":5,"xind":5,"kind ":5,"apiVersions":5,"apiVersio":5,"apiVer":5`, ""},
					{`"\u0161ind":5,"\u212a\u212and":5`, ""},
				} {
					doc := []byte(`{"apiVersion":"v1","kind":"K",` + c.in + `,"z":"` +
						strings.Repeat("x", 99) + `"}`)
					before := append([]byte(nil), doc...)
					if name == "declared" && strings.Contains(c.in, `"Kind":[`) {
						continue // it has the wrong type, too
					}
					where := name + ", " + v.String() + ", " + way + ": " + c.in
					for _, d := range []*Decoder{d, typed} {
						out, err := decode(d, nil, doc)
						if c.bad == "both" || c.bad == way {
							var object *errors.ObjectError
							if assert.ErrorAs(t, err, &object, where) {
								assert.True(t, object.Position.IsValid(), where)
								assert.Nil(t, out, where)
							}
						} else {
							assert.NoError(t, err, where)
						}
					}
					assert.Equal(t, before, doc, where)
					_, err := decode(stored, nil, doc)
					assert.NoError(t, err, "from storage, %s", where)
				}
			}
		}
	}
}

func TestFirstReadingPositions(t *testing.T) {
	const text = "kind and apiVersion must be strings, in any case of their letters, " +
		"and also where another one follows in "
	d := New(compileYAML(t, serverSchema), ServerRequests)
	_, err := d.AppendJSON(nil, []byte("{\"kind\":\n 5, \"kind\": \"K\"}"))
	assert.EqualError(t, err, `2:2: `+text+`"kind"`)
	_, err = d.AppendJSON(nil, []byte(" { \"n\" : 1 ,\n\"K\\u0049nd\" : [ ] , \"kind\" : \"K\" }"))
	assert.EqualError(t, err, `2:15: `+text+`"KInd"`)
	_, err = d.AppendYAML(nil, []byte("kind: K\nn: 1\nKIND: 5\n"))
	assert.EqualError(t, err, `3:7: `+text+`"KIND"`)
	_, err = d.AppendJSON(nil, []byte("{\"kind\":\"K\xff\",\"KIND\":5}")) // this document is repaired
	assert.EqualError(t, err, `1:21: `+text+`"KIND"`)
	_, err = d.AppendJSON(nil, []byte(`{"kind":"K","apiversion":"a/b/c"}`))
	assert.EqualError(t, err, `1:26: unexpected GroupVersion string: "a/b/c" in "apiVersion"`)

	folded := New(compileYAML(t, `{type: object, properties: {Kind: {}}}`), ServerRequests)
	for _, empty := range []string{`{}`, " { \n } "} {
		_, err = folded.AppendJSON(nil, []byte(empty))
		assert.ErrorContains(t, err, "Object 'Kind' is missing")
	}

	hardened := New(compileYAML(t, serverSchema))
	_, err = hardened.AppendJSON(nil, []byte(`{"kind":5,"KIND":5,"kind":"K"}`))
	require.NoError(t, err, "kind is what the name says")
	stored := New(compileYAML(t, `
type: object
x-kubernetes-preserve-unknown-fields: true
properties: {a: {type: object, default: {"x": null}}}
`), ServerStorage)
	_, err = stored.AppendJSON(nil, []byte(`{"kind":"K","KIND":5,"metadata":{}}`))
	assert.NoError(t, err, "with defaults that are decoded again")
}

// TestHasFoldedFields asserts that documents are read once more only where the schema makes it necessary.
func TestHasFoldedFields(t *testing.T) {
	for text, want := range map[string]bool{
		`{type: object}`: false,
		`{type: object, properties: {kind: {type: string}, apiVersion: {type: string}, kinds: {type: string}}}`: false,
		`{type: object, properties: {Kind: {type: string}}}`:                                                    true,
		`{type: object, properties: {APIversion: {}}}`:                                                          true,
		`{type: object, properties: {a: {type: object, properties: {Kind: {type: string}}}}}`:                   false,
	} {
		assert.Equal(t, want, New(compileYAML(t, text), ServerRequests).foldedFields, text)
	}
}
