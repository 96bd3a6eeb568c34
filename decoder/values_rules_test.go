package decoder

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestValuesOfOneRule has documents that break one rule, which nothing else in them makes doubtful,
// and documents that are close to these.
func TestValuesOfOneRule(t *testing.T) {
	for _, c := range []struct {
		schema         string
		valid, invalid []string
	}{
		{
			`{type: array, items: {type: integer}, not: {minItems: 2}}`,
			[]string{`[]`, `[1]`}, []string{`[1,2]`, `[ 1 , 2 ]`},
		}, {
			`{type: array, items: {type: object, properties: {a: {type: integer}}}, anyOf: [{maxItems: 1}, {minItems: 3}]}`,
			[]string{`[]`, `[{}]`, `[{"a":1},{},{}]`}, []string{`[{"a":1},{"a":2}]`},
		}, {
			`{type: object, properties: {l: {type: array, items: {type: string}, oneOf: [{maxItems: 2}, {minItems: 2}]}}}`,
			[]string{`{"l":["a"]}`, `{"l":["a","b","c"]}`, `{}`}, []string{`{"l":["a","b"]}`},
		}, {
			`{type: object, properties: {a: {type: integer}, b: {type: integer}}, anyOf: [{required: [a], properties: {a: {minimum: 5}}}, {required: [b]}]}`,
			[]string{`{"a":5}`, `{"a":1,"b":1}`}, []string{`{"a":1}`, `{}`},
		}, {
			`{type: object, properties: {a: {type: integer}, b: {type: integer}}, oneOf: [{required: [a], maxProperties: 1}, {required: [b], minProperties: 2}]}`,
			[]string{`{"a":1}`, `{"a":1,"b":1}`}, []string{`{"b":1}`, `{}`},
		}, {
			`{type: object, properties: {a: {type: integer}, b: {type: integer}}, not: {required: [a], properties: {b: {minimum: 1}}}}`,
			[]string{`{"a":1,"b":0}`, `{"b":1}`}, []string{`{"a":1,"b":1}`, `{"a":1}`},
		}, {
			`{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`,
			[]string{`{"e":{"apiVersion":"v1","kind":"K"}}`, `{}`},
			[]string{`{"e":{}}`, `{"e":{"kind":"K"}}`, `{"e":{"apiVersion":"v1"}}`, `{"e":{"apiVersion":"v1","kind":""}}`},
		}, {
			`{type: array, x-kubernetes-list-type: set, items: {type: integer}}`,
			[]string{`[0,1]`, `[-1,1]`}, []string{`[0,-0]`, `[-0,1,0]`, `[1,1]`},
		}, {
			`{type: array, x-kubernetes-list-type: set, items: {type: number}}`,
			[]string{`[1,2.0]`}, []string{`[1.0,1e0]`, `[0.0,-0.0]`, `[0,-0]`},
		}, {
			`{type: array, x-kubernetes-list-type: set, items: {type: string}}`,
			[]string{`["a","\u0062"]`, `["\\u0061","a"]`}, []string{`["a","\u0061"]`, `["\/","/"]`},
		}, {
			`{type: object, properties: {a: {type: integer}}, additionalProperties: {type: integer}, maxProperties: 1}`,
			[]string{`{"b":1}`}, []string{`{"b":1,"c":1}`},
		}, {
			`{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: integer}}, minProperties: 1, maxProperties: 2}`,
			[]string{`{"a":1,"c":1}`, `{"c":1}`}, []string{`{"a":1,"b":1,"c":1}`, `{}`},
		}, {
			`{type: object, properties: {s: {type: string, minLength: 2}}}`,
			[]string{`{"s":"\u0061b"}`, `{"s":"éé"}`}, []string{`{"s":"\u0061"}`, `{"s":"é"}`, `{"s":"🌳"}`},
		}, {
			`{type: object, properties: {s: {type: string, nullable: true, enum: [a]}}}`,
			[]string{`{"s":"a"}`, `{}`}, []string{`{"s":null}`, `{"s":"b"}`},
		}, {
			`{type: object, required: [a], properties: {a: {type: string}, b: {type: string}}}`,
			[]string{`{"a":"x","b":null}`}, []string{`{"a":null}`, `{"b":"x","a":null}`, `{}`},
		}, {
			`{type: object, properties: {a: {type: integer, default: 0, minimum: 1}}}`,
			[]string{`{"a":1}`}, []string{`{}`, `{"a":null}`, `{"a":0}`},
		}, {
			`{type: array, items: {type: integer, default: 0, minimum: 1}}`,
			[]string{`[1]`, `[]`}, []string{`[null]`, `[1,null]`, `[0]`},
		}, {
			`{type: object, additionalProperties: {type: integer, default: 0, minimum: 1}}`,
			[]string{`{"k":1}`, `{}`}, []string{`{"k":null}`, `{"k":0}`},
		}, {
			`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l], items: {type: object, required: [k], properties: {k: {type: string}, l: {type: integer, default: 1}}}}`,
			[]string{`[{"k":"a"},{"k":"a","l":2},{"k":"b"}]`}, []string{`[{"k":"a"},{"k":"a","l":1}]`, `[{"k":"a"},{"k":"b"},{"k":"a"}]`},
		}, {
			`{type: object, properties: {a: {type: array, items: {type: integer}, maxItems: 2}, b: {type: array, items: {type: integer}, maxItems: 1}, c: {type: array, items: {type: integer}, maxItems: 2}}}`,
			[]string{`{"a":[1,2],"b":[1],"c":[1,2]}`}, []string{`{"a":[1,2,3]}`, `{"b":[1,2]}`, `{"c":[1,2,3]}`},
		}, {
			`{type: array, items: {type: string, allOf: [{minLength: 2}], not: {pattern: x}}}`,
			[]string{`["ab"]`}, []string{`["a"]`, `["ax"]`},
		},
	} {
		d := New(compileValues(t, c.schema), ValidateCreate)
		for want, docs := range map[bool][]string{true: c.valid, false: c.invalid} {
			for _, doc := range docs {
				_, err := d.AppendJSON(nil, []byte(doc))
				require.Equal(t, want, err == nil, "%s: %s: %v", c.schema, doc, err)
			}
		}
	}
}

// TestStatusAlone asserts that of the objects that are created only the status is not validated, and
// no other field because it is the one of that number in its object.
func TestStatusAlone(t *testing.T) {
	number := &schema.Structural{Type: "integer", Minimum: new(1.0)}
	fields := make(map[string]*schema.Structural)
	for i := range 10 {
		fields[fmt.Sprint("f", i)] = number
	}
	spec := &schema.Structural{Type: "object", Properties: fields}
	crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Versions: []schema.Version{{
		Name: "v1", HasStatus: true,
		Schema: &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"spec": spec, "status": spec}},
	}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	create, update := New(p, ValidateCreate), New(p, ValidateStatusUpdate)
	for field := range fields {
		for _, of := range []string{"spec", "status"} {
			doc := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"},"%s":{"%s":0}}`, of, field)
			_, err := create.AppendJSON(nil, []byte(doc))
			require.Equal(t, of == "status", err == nil, "created: %s: %v", doc, err)
			_, err = update.AppendJSON(nil, []byte(doc))
			require.Equal(t, of == "spec", err == nil, "updated: %s: %v", doc, err)
		}
	}
}
