package schema

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestExpansionFigures has figures that were worked out by hand. The tests of the decoder measure
// these figures and others on documents.
func TestExpansionFigures(t *testing.T) {
	const item = `{type: object, properties: {d: {type: string, default: "12345678"}}}`
	const gets = float64(len(`"d":"12345678"`))
	of := func(shortest string) float64 { return gets / float64(len(shortest)) }
	const l, m = "openAPIV3Schema.properties[l].items", "openAPIV3Schema.properties[m].additionalProperties"
	for _, c := range []struct {
		name, schema string
		want         Expansion
	}{
		{"nothing", `{type: object}`, Expansion{}},
		{"the root", item, Expansion{PerDocument: int(gets)}},
		{"an array at the root", `{type: array, items: ` + item + `}`, Expansion{0, of(`{},`), "openAPIV3Schema.items"}},
		{"elements, and a default beside them", `{type: object, properties: {d: {type: string, default: ""}, l: {type: array, items: ` + item + `}}}`,
			Expansion{len(`,"d":""`), of(`{},`), l}},
		{"elements of elements", `{type: object, properties: {l: {type: array, items: {type: array, items: ` + item + `}}}}`, Expansion{0, of(`{},`), l + ".items"}},
		{"as much in two places: the first", `{type: object, properties: {b: {type: array, items: ` + item + `}, a: {type: array, items: {type: object, properties: {d: {type: string, default: "abcdefgh"}}}}}}`,
			Expansion{0, of(`{},`), "openAPIV3Schema.properties[a].items"}},
		{"nulls", `{type: object, properties: {l: {type: array, items: {type: string, default: "12345678"}}}}`, Expansion{0, 10.0 / float64(len(`null,`)), l}},
		{"a map, in which one has no name", `{type: object, properties: {m: {type: object, additionalProperties: ` + item + `}}}`, Expansion{int(gets), of(`"x":{},`), m}},
		{"a field of elements", `{type: object, properties: {l: {type: array, items: {type: object, properties: {a: ` + item + `}}}}}`, Expansion{0, of(`{"a":{}},`), l}},
		{"two fields of elements", `{type: object, properties: {l: {type: array, items: {type: object, properties: {a: ` + item + `, b: ` + item + `}}}}}`,
			Expansion{0, 2 * gets / float64(len(`{"a":{},"b":{}},`)), l}},
		{"a field that does not pay", `{type: object, properties: {l: {type: array, items: {type: object, properties: {d: {type: string, default: "12345678"}, e: {type: object, properties: {x: {type: boolean, default: true}}}}}}}}`,
			Expansion{0, of(`{},`), l}},
		{"a field that costs the least, for the comma", `{type: object, properties: {l: {type: array, items: {type: object, properties: {d: {type: string, default: "1"}, a: {type: string}, more: {type: string}}}}}}`,
			Expansion{0, float64(len(`"d":"1"`)) / float64(len(`{},`)), l}},
		{"a name that is longer in the program", `{type: object, properties: {l: {type: array, items: {type: object, properties: {"\b\f": ` + item + `}}}}}`, Expansion{0, of(`{"\b\f":{}},`), l}},
		{"a name of what may be one byte each", `{type: object, properties: {l: {type: array, items: {type: object, properties: {"\uFFFD\uFFFD": ` + item + `}}}}}`, Expansion{0, of(`{"??":{}},`), l}},
		{"what is kept as it is", `{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {l: {type: array}, d: {type: string}}}`, Expansion{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, dialect := range []Semantics{Deployed, KEP} {
				if c.name == "nulls" && dialect == KEP {
					c.want = Expansion{} // unknown fields stay
				}
				p, err := Compile(parseText(t, c.schema), ResourceRoot(false), dialect)
				require.NoError(t, err)
				got := p.Expansion()
				assert.InDelta(t, c.want.PerByte, got.PerByte, 1e-9)
				got.PerByte = c.want.PerByte
				assert.Equal(t, c.want, got)
			}
		})
	}
}

// TestExpansionOfText has fields with defaults in values that must be text under the KEP.
func TestExpansionOfText(t *testing.T) {
	const text = `{type: string, properties: {d: {type: string, default: x}}}`
	for _, s := range []string{text, `{type: object, properties: {l: {type: array, items: ` + text + `}}}`} {
		p, err := Compile(parseText(t, s), ResourceRoot(false), KEP)
		require.NoError(t, err)
		assert.Zero(t, p.Expansion(), s)
	}
}

// TestExpansionOfCircles has schemas that contain themselves, and one that describes a document of
// 2^200 bytes.
func TestExpansionOfCircles(t *testing.T) {
	s := parseText(t, `{type: object, properties: {d: {type: string, default: "12345678"}}}`)
	s.Properties["s"] = s
	p, err := Compile(s, ResourceRoot(false))
	require.NoError(t, err)
	assert.Equal(t, Expansion{len(`"d":"12345678"`), float64(len(`,"d":"12345678"`)) / float64(len(`"s":{}`)), "openAPIV3Schema.properties[s]"}, p.Expansion())

	list := parseText(t, `{type: object, properties: {d: {type: string, default: "12345678"}, l: {type: array}}}`)
	list.Properties["l"].Items = &SchemaOrArray{Schema: list}
	p, err = Compile(list, ResourceRoot(false))
	require.NoError(t, err)
	assert.Equal(t, Expansion{len(`,"d":"12345678"`), float64(len(`"d":"12345678"`)) / float64(len(`{},`)), "openAPIV3Schema.properties[l].items"}, p.Expansion())

	there := parseText(t, `{type: object, properties: {d: {type: string, default: "12345678"}, a: {type: object, properties: {}}}}`)
	there.Properties["a"].Properties = map[string]*Structural{"back": there}
	p, err = Compile(there, ResourceRoot(false))
	require.NoError(t, err)
	assert.Equal(t, Expansion{len(`,"d":"12345678"`), float64(len(`"d":"12345678"`)) / float64(len(`"back":{}`)), "openAPIV3Schema.properties[a].properties[back]"}, p.Expansion())

	back := parseText(t, `{default: x}`)
	back.Properties = map[string]*Structural{"s": back}
	p, err = Compile(back, ResourceRoot(false))
	require.NoError(t, err)
	assert.Equal(t, Expansion{len(`"s":"x"`), float64(len(`,"s":"x"`)) / float64(len(`"s":{}`)), "openAPIV3Schema.properties[s]"}, p.Expansion())

	wide := parseText(t, `{type: object, properties: {d: {type: string, default: x}}}`)
	for range 200 {
		wide = &Structural{Type: "object", Properties: map[string]*Structural{"a": wide, "b": wide}}
	}
	p, err = Compile(wide)
	require.NoError(t, err)
	e := p.Expansion()
	assert.Positive(t, e.PerByte)
	assert.Less(t, e.PerByte, float64(len(`"d":"x"`))/float64(len(`"a":{},`)))
}
