package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// allocated returns how many bytes are allocated while do runs.
func allocated(do func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// TestMaxDefaultBytes has defaults of exactly as many bytes as are allowed, and of one more.
func TestMaxDefaultBytes(t *testing.T) {
	for past := range 2 {
		s := &Structural{Type: "object", Properties: map[string]*Structural{
			"a": {Type: "string", Default: []byte(`"` + strings.Repeat("x", MaxDefaultBytes-len(`""`)-len(`{}`)+past) + `"`)},
			"b": {Type: "object", Default: []byte(`{}`)},
		}}
		_, err := Compile(s)
		if past == 0 {
			require.NoError(t, err)
			continue
		}
		var errs errors.SchemaErrors
		require.ErrorAs(t, err, &errs)
		assert.Equal(t, "openAPIV3Schema.properties[b].default: Invalid value: {}: defaults within defaults must not grow beyond 16 MiB", err.Error())
	}
}

// TestDefaultsWithinDefaults has schemas whose defaults would grow to many gigabytes, and asserts
// that they grow to the limit at most.
func TestDefaultsWithinDefaults(t *testing.T) {
	long := `"` + strings.Repeat("x", 1<<19) + `"`
	list := func(part string, n int) string { return "[" + strings.Repeat(part+",", n-1) + part + "]" }
	const levels = 500
	filled := `{"type":"string"}`
	for range levels {
		// The first elements have all fields and fill the list; the last one asks for it.
		filled = `{"type":"array","default":` + list(`{"n":[]}`, 4000) + `,"items":{"type":"object","properties":{"a":{"type":"string","default":"` +
			strings.Repeat("x", 1<<12) + `"},"n":` + filled + `}}}`
	}
	for name, text := range map[string]string{
		"nulls among elements": `{"type":"array","default":` + list("null", 10_000) + `,"items":{"type":"string","default":` + long + `}}`,
		"nulls in a map":       `{"type":"object","default":{` + manyMembers("null", 10_000) + `},"additionalProperties":{"type":"string","default":` + long + `}}`,
		"objects":              `{"type":"array","default":` + list("{}", 10_000) + `,"items":{"type":"object","properties":{"a":{"type":"string","default":` + long + `}}}}`,
		"one within the other": strings.ReplaceAll(filled, `{"n":[]}]`, `{}]`),
	} {
		t.Run(name, func(t *testing.T) {
			s := parseText(t, `{"type":"object","properties":{"p":`+text+`}}`)
			var err error
			used := allocated(func() { _, err = Compile(s) })
			assert.ErrorContains(t, err, "must not grow beyond 16 MiB")
			assert.Less(t, used, 32*MaxDefaultBytes)
		})
	}
}

func manyMembers(value string, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"k%d":%s`, i, value)
	}
	return b.String()[1:]
}

// TestMaxDepth has a schema that is as deep as is allowed, and a deeper one.
func TestMaxDepth(t *testing.T) {
	for past := range 2 {
		s := &Structural{Type: "object", Properties: map[string]*Structural{"leaf": {Type: "string"}}}
		for range MaxDepth - 1 + past {
			s = &Structural{Type: "object", Properties: map[string]*Structural{"a": s}}
		}
		_, err := Compile(s)
		if past == 0 {
			require.NoError(t, err)
			continue
		}
		var errs errors.SchemaErrors
		require.ErrorAs(t, err, &errs)
		assert.Equal(t, "openAPIV3Schema"+strings.Repeat(".properties[a]", MaxDepth)+": Forbidden: must not be nested more than 10000 deep", err.Error())
	}
}

// TestMaxDepthOfSiblings has more objects side by side than may be nested.
func TestMaxDepthOfSiblings(t *testing.T) {
	s := &Structural{Type: "object", Properties: map[string]*Structural{}}
	for i := range MaxDepth {
		s.Properties[fmt.Sprint(i)] = &Structural{Type: "object", Properties: map[string]*Structural{"a": nil}}
	}
	_, err := Compile(s)
	assert.NoError(t, err)
}

// TestCompileMemory asserts that a schema of four times the size takes little more than four times
// as much memory, although it is four times as deep and each default is at the bottom.
func TestCompileMemory(t *testing.T) {
	compile := func(n int) int {
		s := parseText(t, strings.Repeat(`{"properties":{"a":`, n)+`{"properties":{`+manyMembers(`{"default":1}`, n)+`}}`+strings.Repeat("}}", n))
		return allocated(func() {
			_, err := Compile(s)
			require.NoError(t, err)
		})
	}
	compile(4000) // this fills a pool
	once, fourTimes := compile(1000), compile(4000)
	assert.Less(t, float64(fourTimes), 8*float64(once), "the pool may have been emptied; a square would be 16 times as much")
}

func TestMaxExpansion(t *testing.T) {
	s := parseText(t, `{type: object, properties: {
		spec: {type: object, default: {}, properties: {class: {type: string, default: standard}}},
		l: {type: array, items: {type: object, properties: {d: {type: string, default: "12345678"}}}}}}`)
	p, err := Compile(s)
	require.NoError(t, err)
	e := p.Expansion()
	once := len(`,"spec":{"class":"standard"}`)
	assert.Equal(t, Expansion{once, 14.0 / 3, "openAPIV3Schema.properties[l].items"}, e)

	for _, c := range []struct {
		perDocument int
		perByte     float64
		want        string
	}{
		{0, 0, ""},
		{once, 14.0 / 3, ""},
		{once - 1, 5, `openAPIV3Schema: Invalid value: 28: is how many bytes defaults add to a document of any length, more than the bound of 27: remove or shorten defaults outside of items and additionalProperties`},
		{once, 4.6, `openAPIV3Schema.properties[l].items: Invalid value: 4.7: is how many bytes defaults add here for each byte of a document, more than the bound of 4.6: remove or shorten defaults here and below`},
		{once, 0, ""},
		{0, 14.0 / 3, ""},
		{once - 1, 0, `openAPIV3Schema: Invalid value: 28: is how many bytes defaults add to a document of any length, more than the bound of 27: remove or shorten defaults outside of items and additionalProperties`},
		{0, 4.6, `openAPIV3Schema.properties[l].items: Invalid value: 4.7: is how many bytes defaults add here for each byte of a document, more than the bound of 4.6: remove or shorten defaults here and below`},
	} {
		_, err := Compile(s, MaxExpansion(c.perDocument, c.perByte))
		if c.want == "" {
			assert.NoError(t, err)
			continue
		}
		var errs errors.SchemaErrors
		require.ErrorAs(t, err, &errs)
		assert.Equal(t, c.want, err.Error())
	}
}

// TestOpenAPILimits has the longest chains of references that are allowed, and references under
// allOf that repeat as many properties as are allowed, and one more of each.
func TestOpenAPILimits(t *testing.T) {
	const kind = `"x-kubernetes-group-version-kind":[{"group":"g","kind":"K","version":"v1"}],"type":"object","properties":{"metadata":{}`
	chain := func(n int) error {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"c%d":{"items":{"$ref":"#/components/schemas/c%d"}},`, i, i+1)
		}
		_, err := ParseOpenAPI([]byte(`{"components":{"schemas":{` + b.String() + fmt.Sprintf(`"c%d":{}`, n) + `,"k":{` + kind + `,"c":{"$ref":"#/components/schemas/c0"}}}}}}`))
		return err
	}
	const around = 3 // the kind, the reference to c0, and the last one
	assert.NoError(t, chain(MaxDepth/2-around/2-1))
	assert.ErrorContains(t, chain(MaxDepth/2), "is nested more than 10000 deep, with what it refers to and what refers to it")

	const fields = 1 << 10
	repeat := func(n int) error {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `,"f%d":{"nullable":true,"allOf":[{"$ref":"#/components/schemas/c"}]}`, i)
		}
		_, err := ParseOpenAPI([]byte(`{"components":{"schemas":{"c":{"properties":{` + manyMembers(`{}`, fields) + `}},"k":{` + kind + b.String() + `}}}}}`))
		return err
	}
	assert.NoError(t, repeat(maxMerged/fields))
	assert.EqualError(t, repeat(maxMerged/fields+1), "components.schemas[k]: references under allOf repeat more than 1048576 properties")
}
