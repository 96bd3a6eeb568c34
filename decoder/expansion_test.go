package decoder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// inserted returns how many bytes of defaults are inserted into a document.
func inserted(t testing.TB, p *schema.Program, src string, opts ...Option) int {
	t.Helper()
	const most = 1 << 30
	d := New(p, append(opts, Limits{DefaultBytes: most}, Ignore)...)
	_, err := d.AppendJSON(nil, []byte(src))
	require.NoError(t, err, "%.200s", src)
	return most - d.walker.DefaultsLeft
}

func requireWithin(t testing.TB, p *schema.Program, src string, opts ...Option) {
	t.Helper()
	e := p.Expansion()
	require.LessOrEqual(t, float64(inserted(t, p, src, opts...)),
		float64(e.PerDocument)+e.PerByte*float64(len(src))+1e-6, "%+v\n%.500s", e, src)
}

// times returns a text with one part repeated many times.
func times(before, part, between, after string) string {
	return before + strings.Repeat(part+between, 9_999) + part + after
}

// TestExpansion has figures that were worked out by hand, and documents that come close to them.
func TestExpansion(t *testing.T) {
	const ten = `, default: "12345678"` // ten bytes
	const item = `{type: object, properties: {d: {type: string` + ten + `}}}`
	const gets = len(`"d":"12345678"`)
	var names strings.Builder
	for c := ' '; c < 0x7f; c++ {
		if c != '"' && c != '\\' {
			fmt.Fprintf(&names, `,"%c":{}`, c)
		}
	}
	recursive := func() *schema.Structural {
		s := parse(t, item)
		s.Properties["s"] = s
		return s
	}
	for _, c := range []struct {
		name        string
		schema      *schema.Structural
		perDocument int
		perByte     float64
		field       string
		worst       string
		near        float64 // the part of PerByte that the document reaches
	}{
		{"no default", parse(t, `{type: object, properties: {l: {type: array, items: {type: object}}}}`), 0, 0, "",
			`{"l":[{},{}]}`, 1},
		{"root", parse(t, item), gets, 0, "",
			`{}`, 1},
		{"once", parse(t, `{type: object, properties: {spec: `+item+`}}`), gets, 0, "",
			`{"spec":{}}`, 1},
		{"a default for an object, and what it lacks", parse(t, `{type: object, properties: {spec: {type: object, default: {}, properties: {x: `+item+`}}}}`),
			max(gets, len(`"spec":{}`)), 0, "",
			`{"spec":{"x":{}}}`, 1},
		{"elements", parse(t, `{type: object, properties: {l: {type: array, items: `+item+`}}}`),
			0, float64(gets) / 3, "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `{}`, `,`, `]}`), 0.999},
		{"elements and the root", parse(t, `{type: object, properties: {d: {type: string`+ten+`}, l: {type: array, items: `+item+`}}}`),
			gets + 1, float64(gets) / 3, "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `{}`, `,`, `]}`), 0.999},
		{"elements of elements", parse(t, `{type: object, properties: {l: {type: array, items: {type: array, items: `+item+`}}}}`),
			0, float64(gets) / 3, "openAPIV3Schema.properties[l].items.items",
			times(`{"l":[[`, `{}`, `,`, `]]}`), 0.999},
		{"nulls", parse(t, `{type: object, properties: {l: {type: array, items: {type: string`+ten+`}}}}`),
			0, 10.0 / 5, "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `null`, `,`, `]}`), 0.999},
		{"an object within elements", parse(t, `{type: object, properties: {l: {type: array, items: {type: object, properties: {in: `+item+`}}}}}`),
			0, float64(gets) / float64(len(`{"in":{}},`)), "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `{"in":{}}`, `,`, `]}`), 0.999},
		// If the object is present, the default needs a comma.
		{"both", parse(t, `{type: object, properties: {l: {type: array, items: {type: object, properties: {in: `+item+`, d: {type: string, default: ""}}}}}}`),
			0, float64(gets+len(`,"d":""`)) / float64(len(`{"in":{}},`)), "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `{"in":{}}`, `,`, `]}`), 0.999},
		{"what does not pay is left out", parse(t, `{type: object, properties: {l: {type: array, items: {type: object, properties: {in: {type: object, properties: {x: {type: boolean, default: true}}}, d: {type: string`+ten+`}}}}}}`),
			0, float64(gets) / 3, "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `{}`, `,`, `]}`), 0.999},
		{"a map", parse(t, `{type: object, properties: {m: {type: object, additionalProperties: `+item+`}}}`),
			gets, float64(gets) / float64(len(`"x":{},`)), "openAPIV3Schema.properties[m].additionalProperties",
			`{"m":{"":{}` + names.String() + `}}`, 0.98},
		{"maps within elements", parse(t, `{type: object, properties: {l: {type: array, items: {type: object, additionalProperties: `+item+`}}}}`),
			0, float64(gets) / float64(len(`"x":{},`)), "openAPIV3Schema.properties[l].items.additionalProperties",
			times(`{"l":[`, `{"":{}`+names.String()+`}`, `,`, `]}`), 0.99},
		{"in itself", recursive(),
			gets, float64(gets+1) / float64(len(`"s":{}`)), "openAPIV3Schema.properties[s]",
			strings.Repeat(`{"s":`, 9_999) + `{}` + strings.Repeat(`}`, 9_999), 0.999},
		{"metadata of embedded resources", parse(t, `{type: object, properties: {l: {type: array, items: {type: object, x-kubernetes-embedded-resource: true, properties: {metadata: {type: object, properties: {name: {type: string, default: "12345678"}}}}}}}}`),
			0, float64(len(`"name":"12345678"`)) / float64(len(`{"metadata":{}},`)), "openAPIV3Schema.properties[l].items",
			times(`{"l":[`, `{"metadata":{}}`, `,`, `]}`), 0.999},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := schema.Compile(c.schema, schema.ResourceRoot(false))
			require.NoError(t, err)
			e := p.Expansion()
			assert.Equal(t, c.perDocument, e.PerDocument)
			assert.InDelta(t, c.perByte, e.PerByte, 1e-9)
			assert.Equal(t, c.field, e.Field)
			requireWithin(t, p, c.worst)
			got := float64(inserted(t, p, c.worst))
			if c.perByte == 0 {
				assert.EqualValues(t, c.perDocument, got)
			} else {
				assert.GreaterOrEqual(t, got/float64(len(c.worst)), c.near*c.perByte)
			}
		})
	}
}

func parse(t testing.TB, text string) *schema.Structural {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	return s
}

// TestExpansionOfGraphs has a small graph, which as a tree would have 2^200 schemas.
func TestExpansionOfGraphs(t *testing.T) {
	s := parse(t, `{type: object, properties: {d: {type: string, default: x}}}`)
	for range 200 {
		s = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": s, "b": s}}
	}
	p, err := schema.Compile(s)
	require.NoError(t, err)
	e := p.Expansion()
	assert.Positive(t, e.PerByte)
	assert.Less(t, e.PerByte, float64(len(`"d":"x"`)/len(`{}`)))
	requireWithin(t, p, `{"a":{"a":{},"b":{}}}`)
}

// A schemaWriter makes random schemas with defaults, and documents for them.
type schemaWriter struct {
	*rand.Rand
	maps bool                 // also embedded resources, preserved fields and recursive schemas
	open []*schema.Structural // the objects on the path
}

func (w *schemaWriter) schema(depth int) *schema.Structural {
	s := new(schema.Structural)
	switch n := w.IntN(10); {
	case depth == 0 || n < 2:
		s.Type = "string"
	case n < 4:
		s.Type = "array"
		s.Items = &schema.SchemaOrArray{Schema: w.schema(depth - 1)}
	case n < 5 && w.maps:
		s.Type = "object"
		s.AdditionalProperties = &schema.SchemaOrBool{Allows: true, Schema: w.schema(depth - 1)}
	case n < 6 && w.maps && len(w.open) > 0:
		return w.open[w.IntN(len(w.open))]
	default:
		w.object(s, depth)
	}
	if w.IntN(3) == 0 {
		value := fmt.Sprintf("%q", strings.Repeat("x", w.IntN(40)))
		switch s.Type {
		case "object":
			value = "{}"
		case "array":
			value = []string{"[]", "[null]", "[{}]"}[w.IntN(3)]
		}
		s.Default = []byte(value)
	}
	s.Nullable = w.IntN(5) == 0
	return s
}

func (w *schemaWriter) object(s *schema.Structural, depth int) {
	s.Type = "object"
	w.open = append(w.open, s)
	s.Properties = make(map[string]*schema.Structural)
	for range 1 + w.IntN(3) {
		s.Properties[[]string{"a", "b", "longer", "\b\b\b"}[w.IntN(4)]] = w.schema(depth - 1)
	}
	if w.maps {
		s.XEmbeddedResource = w.IntN(8) == 0
		if w.IntN(8) == 0 {
			s.XPreserveUnknownFields = new(true)
		}
		if s.XEmbeddedResource && w.IntN(2) == 0 {
			s.Properties["metadata"] = parsed(`{"type": "object", "properties": {` +
				`"name": {"type": "string", "default": "n"},` +
				`"labels": {"type": "object", "default": {"a": "b"}}}}`)
		}
	}
	w.open = w.open[:len(w.open)-1]
}

func parsed(text string) *schema.Structural {
	s, err := schema.Parse([]byte(text))
	if err != nil {
		panic(err)
	}
	return s
}

// TestExpansionHolds measures random documents under random schemas. The documents are short for
// the defaults that they get.
func TestExpansionHolds(t *testing.T) {
	compiled, above, schemas := 0, 0.0, Fewer(600)
	for seed := range uint64(schemas) {
		w := &schemaWriter{Rand: rand.New(rand.NewPCG(seed, 3)), maps: true}
		s := new(schema.Structural)
		w.object(s, 4)
		p, err := schema.Compile(s, schema.ResourceRoot(seed%2 == 0), schema.Semantics(seed%4/2))
		if err != nil {
			continue // a default that contains itself
		}
		compiled++
		e := p.Expansion()
		for range 10 {
			var b strings.Builder
			w.greedy(&b, s, 12)
			src := b.String()
			if seed%4/2 == 1 { // under the KEP a wrong type is an error
				src = strings.ReplaceAll(src, "7", "null")
			}
			requireWithin(t, p, src)
			if e.PerByte > 0 {
				got := float64(inserted(t, p, src)) - float64(e.PerDocument)
				above = max(above, got/float64(len(src))/e.PerByte)
			}
			if seed%4 == 1 {
				requireWithin(t, p, src, ServerTypedRequests)
			}
		}
	}
	require.Greater(t, compiled, schemas*2/3)
	require.Greater(t, above, 0.4, "the documents come near")
}

// greedy writes a document that is short for the defaults that it gets.
func (w *schemaWriter) greedy(b *strings.Builder, s *schema.Structural, depth int) {
	switch {
	case s == nil || depth == 0 || s.Type == "string":
		b.WriteString([]string{"null", "7", "{}"}[w.IntN(2)])
	case s.Type == "array":
		b.WriteByte('[')
		for i := range w.IntN(6) {
			if i > 0 {
				b.WriteByte(',')
			}
			w.greedy(b, s.Items.Schema, depth-1)
		}
		b.WriteByte(']')
	default:
		names := []string{"metadata", "", "x", "y", "a", "b", "longer", "\b\b\b"}[w.IntN(4):]
		b.WriteByte('{')
		comma := ""
		for _, name := range names {
			value := s.Properties[name]
			if value == nil && s.AdditionalProperties != nil {
				value = s.AdditionalProperties.Schema
			}
			if name == "metadata" && !s.XEmbeddedResource ||
				w.IntN(3) > 0 && (value == nil || len(value.Properties) == 0) {
				continue
			}
			b.WriteString(comma + `"` + strings.ReplaceAll(name, "\b", `\b`) + `":`)
			if name == "metadata" {
				b.WriteString("{}")
			} else {
				w.greedy(b, value, depth-1)
			}
			comma = ","
		}
		b.WriteByte('}')
	}
}

// TestExpansionIsReached tries all possible elements of random schemas, and asserts that the best
// one gets exactly PerByte.
func TestExpansionIsReached(t *testing.T) {
	reached := 0
	for seed := range uint64(400) {
		w := &schemaWriter{Rand: rand.New(rand.NewPCG(seed, 4))}
		s := new(schema.Structural)
		w.object(s, 4)
		p, err := schema.Compile(s, schema.ResourceRoot(false))
		require.NoError(t, err)
		e := p.Expansion()
		if e.PerByte == 0 {
			continue
		}
		best := 0.0
		lists(s, "", "", func(items *schema.Structural, before, after string) {
			for _, v := range everything(items) {
				src := before + "[" + strings.Repeat(v+",", 999) + v + "]" + after
				got := float64(inserted(t, p, src)) - float64(inserted(t, p, before+"[]"+after))
				best = max(best, got/float64(len(v)+1)/1000)
			}
		})
		require.InEpsilon(t, e.PerByte, best, 1e-9, "seed %d: %+v", seed, e)
		reached++
	}
	require.Greater(t, reached, 100)
}

// lists calls do for each array of a schema, with the text around it.
func lists(s *schema.Structural, before, after string,
	do func(items *schema.Structural, before, after string)) {
	switch s.Type {
	case "array":
		do(s.Items.Schema, before, after)
		lists(s.Items.Schema, before+"[", "]"+after, do)
	case "object":
		for name, p := range s.Properties {
			lists(p, before+`{"`+strings.ReplaceAll(name, "\b", `\b`)+`":`, "}"+after, do)
		}
	}
}

// everything returns all values of a schema that may get defaults: objects with every subset of
// their fields.
func everything(s *schema.Structural) []string {
	texts := []string{"null"}
	if s.Type != "object" {
		return texts
	}
	objects := []string{""}
	for name, p := range s.Properties {
		for _, o := range slices.Clone(objects) {
			for _, v := range everything(p) {
				objects = append(objects, o+`,"`+strings.ReplaceAll(name, "\b", `\b`)+`":`+v)
			}
		}
	}
	for _, o := range objects {
		texts = append(texts, "{"+strings.TrimPrefix(o, ",")+"}")
	}
	return texts
}
