package screen_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// compile compiles the schema of a value that is no resource.
func compile(t testing.TB, text string) *schema.Program {
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err, text)
	p, err := schema.Compile(s, validation.Values(), schema.ResourceRoot(false))
	require.NoError(t, err, text)
	return p
}

// verdict decodes a document, and says whether the screen passes the result and whether it is
// valid.
func verdict(t testing.TB, p *schema.Program, doc string, as program.Request) (passes, valid bool) {
	t.Helper()
	out, err := decoder.New(p).AppendJSON(nil, []byte(doc))
	require.NoError(t, err, doc)
	of := program.Of(p)
	var m screen.Machine
	passes = m.IsValid(of, out, as)
	errs, complete := of.Validator.Validate(out, as, 1<<24)
	require.True(t, complete)
	return passes, len(errs) == 0
}

// TestFaultsOfTheScreen has what the screen once passed although it is invalid.
func TestFaultsOfTheScreen(t *testing.T) {
	for _, c := range []struct{ schema, doc string }{
		{`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, `{}`},
		{`{type: string, enum: ["a\0b"]}`, `"a"`},
		{`{type: number, format: float}`, `1e39`},
		{`{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {
			metadata: {type: object, properties: {name: {type: string, maxLength: 1}}}}}}}`,
			`{"e":{"apiVersion":"v1","kind":"K","metadata":{"name":"ab"}}}`},
	} {
		passes, valid := verdict(t, compile(t, c.schema), c.doc, program.Create)
		require.False(t, passes || valid, "%s: %s", c.schema, c.doc)
	}
	s, err := schema.Parse([]byte(`{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}}}}`))
	require.NoError(t, err)
	p, err := schema.Compile(s, validation.Values())
	require.NoError(t, err)
	for doc, want := range map[string]bool{
		`{"apiVersion":"v1","kind":"K","metadata":{"name":"a"}}`:         true,
		`{"apiVersion":"v1","kind":"K","metadata":{"generateName":"a"}}`: false, // the name becomes axxxxx
	} {
		passes, valid := verdict(t, p, doc, program.Create)
		require.Equal(t, []bool{want, want}, []bool{passes, valid}, doc)
	}
}

// TestVerdicts has what the screen passes, and what it leaves to the validator although it is valid
// or because it is not.
func TestVerdicts(t *testing.T) {
	many := func(n int, of string) string { return strings.Repeat(of+",", n-1) + of }
	nested := func(n int, open, inner, end string) string {
		return strings.Repeat(open, n) + inner + strings.Repeat(end, n)
	}
	numbers := func(n int) string {
		var list []string
		for i := range n {
			list = append(list, strconv.Itoa(i))
		}
		return strings.Join(list, ",")
	}
	quoted := func(n int) string { return `"` + strings.ReplaceAll(numbers(n), ",", `","`) + `"` }
	names := quoted(140) // more than there are bits for
	set := func(items string) string {
		return `{type: array, x-kubernetes-list-type: set, items: ` + items + `}`
	}
	const listMap = `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k],
		items: {type: object, nullable: true, properties: {k: {type: string}, l: {type: integer}}}}`
	wide := `{type: object, properties: {` + many(70, `f%d: {type: string, default: a, enum: [b]}`) + `}}`
	for i := range 70 {
		wide = strings.Replace(wide, "%d", strconv.Itoa(i), 1)
	}
	for _, c := range []struct {
		schema, doc   string
		passes, valid bool
	}{
		{set(`{type: integer}`), `[` + numbers(30) + `]`, true, true},
		{set(`{type: integer}`), `[` + numbers(30) + `,7]`, false, false},
		{set(`{type: boolean}`), `[true,false]`, true, true},
		{set(`{type: boolean}`), `[true,false,true]`, false, false},
		{set(`{type: number}`), `[1,1.0]`, false, true},
		{set(`{type: object}`), `[{},{}]`, false, false},
		{set(`{type: string}`), `["a","\u0061"]`, false, false},
		{set(``), `[1,2]`, true, true},
		{listMap, `[{"k":"a"},{"k":"b"}]`, true, true},
		{listMap, `[{"k":"a"},{"l":2,"k":"a"}]`, false, false},
		{listMap, `[{"k":"a"},{}]`, true, true},
		{listMap, `[{},{"l":1}]`, false, false},
		{listMap, `[null]`, false, true},
		{`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k]}`, `[{"k":1},{"k":1}]`, false, false},
		{wide, `{}`, false, false},
		{nested(40, `{type: object, properties: {a: `, `{type: integer, minimum: 1}`, `}}`), nested(40, `{"a":`, `1`, `}`), true, true},
		{nested(40, `{type: object, properties: {a: `, `{type: integer, minimum: 1}`, `}}`), nested(40, `{"a":`, `0`, `}`), false, false},
		{`{type: string, anyOf: [` + many(100, `{maxLength: 3}`) + `, {minLength: 4}]}`, `"` + strings.Repeat("x", 1e5) + `"`, false, true},
		{`{type: string, anyOf: [{maxLength: 3}, {minLength: 4}]}`, `"` + strings.Repeat("x", 1e5) + `"`, true, true},
		{`{type: string, ` + nested(20, `not: {`, `maxLength: 3`, `}`) + `}`, `"x"`, false, true},
		{`{type: string, ` + nested(3, `not: {`, `maxLength: 3`, `}`) + `}`, `"xxxx"`, true, true},
		{`{type: string, anyOf: [null, {maxLength: 3}]}`, `"xxxx"`, true, true},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, oneOf: [{required: [a]}, {required: [b]}]}`, `{"a":1}`, true, true},
		{`{type: object, properties: {a: {type: integer}, b: {type: integer}}, oneOf: [{required: [a]}, {required: [b]}]}`, `{"a":1,"b":2}`, false, false},
		{`{type: array, items: {type: integer}, anyOf: [{required: [a]}]}`, `[1]`, false, true},
		{`{type: string, pattern: "("}`, `"x"`, true, true},
		{`{type: string, enum: [` + numbers(20) + `, "x"]}`, `"x"`, true, true},
		{`{type: string, enum: [` + quoted(20) + `]}`, `"7"`, true, true},
		{`{type: string, enum: [` + quoted(20) + `]}`, `"20"`, false, false},
		{`{type: integer, enum: [1, 2]}`, `2`, true, true},
		{`{type: boolean, enum: [true]}`, `true`, true, true},
		{`{type: object, nullable: true, enum: [{"a":1}]}`, `{}`, false, false},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true, required: [` + names + `]}`,
			`{` + strings.ReplaceAll(names, ",", ":1,") + `:1}`, true, true},
		{`{type: object, x-kubernetes-preserve-unknown-fields: true, required: [` + names + `]}`,
			`{` + strings.ReplaceAll(names, ",", ":1,") + `:1,"x":"` + strings.Repeat("x", 1e5) + `"}`, false, true},
	} {
		passes, valid := verdict(t, compile(t, c.schema), c.doc, program.Create)
		name := fmt.Sprintf("%.200s: %.100s", c.schema, c.doc)
		require.Equal(t, c.valid, valid, "valid: %s", name)
		require.Equal(t, c.passes, passes, "passes: %s", name)
	}
}
