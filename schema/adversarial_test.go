package schema_test

import (
	"fmt"
	"math"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A family is a kind of schema whose cost exceeds its size if something is not linear. Its texts
// for n and 2n differ by a factor of two in their length.
type family struct {
	name string
	text func(n int) string
	// but has the operations whose cost may exceed the proportion, with the limits that bound them.
	but map[string]string
}

func joined(n int, format string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		if strings.Contains(format, "%") {
			fmt.Fprintf(&b, format, i)
		} else {
			b.WriteString(format)
		}
	}
	return b.String()
}

func nested(n int, before, within, after string) string {
	return strings.Repeat(before, n) + within + strings.Repeat(after, n)
}

func inRoot(schema string) string { return `{"type":"object","properties":{"a":` + schema + `}}` }

func definition(versions string) string {
	return `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.example.com"},
		"spec":{"group":"example.com","scope":"Namespaced","names":{"kind":"A","plural":"as"},"versions":[` + versions + `]}}`
}

func legacy(rest string) string {
	return strings.NewReplacer("/v1", "/v1beta1", `"versions":[]`, rest).Replace(definition(""))
}

func openAPI(schemas string) string {
	return `{"openapi":"3.0.0","components":{"schemas":{` + schemas + `}}}`
}

const openAPIKind = `"x-kubernetes-group-version-kind":[{"group":"g","kind":"K%d","version":"v1"}],"type":"object"`

var families = []family{
	{name: "deep properties", text: func(n int) string {
		return nested(n/16, `{"type":"object","properties":{"a":`, `{"type":"string"}`, `}}`)
	}},
	{name: "deep items", text: func(n int) string { return nested(n/16, `{"type":"array","items":`, `{"type":"string"}`, `}`) }},
	{name: "deep additionalProperties", text: func(n int) string {
		return inRoot(nested(n/16, `{"type":"object","additionalProperties":`, `{"type":"string"}`, `}`))
	}},
	{name: "deep not", text: func(n int) string {
		return inRoot(`{"type":"object","not":` + nested(n/16, `{"not":`, `{}`, `}`) + `}`)
	}},
	{name: "deep allOf", text: func(n int) string {
		return inRoot(`{"type":"object","allOf":[` + nested(n/16, `{"allOf":[`, `{}`, `]}`) + `]}`)
	}},
	{name: "wide", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n, `"f%d":{"type":"string"}`) + `}}`)
	}},
	{name: "wide, alike", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n, `"beginning-%09d-theend00":{"type":"string"}`) + `}}`)
	}},
	{name: "huge names", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(8, `"`+strings.Repeat("x", 4*n)+`%d":{"type":"string"}`) + `}}`)
	}},
	{name: "escaped names", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n, `"\u0008%d":{"type":"string"}`) + `}}`)
	}},
	{name: "defaults", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n, `"f%d":{"type":"integer","default":1}`) + `}}`)
	}},
	{name: "defaults at the bottom", text: func(n int) string {
		return nested(n/16, `{"type":"object","properties":{"a":`, `{"type":"object","properties":{`+joined(n, `"f%d":{"type":"integer","default":1}`)+`}}`, `}}`)
	}},
	{name: "a default with many elements", text: func(n int) string {
		return inRoot(`{"type":"array","default":[` + joined(n, `{"a":%d}`) + `],"items":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer","default":1}}}}`)
	}},
	{name: "a default with many members", text: func(n int) string {
		return inRoot(`{"type":"object","default":{` + joined(n, `"f%d":1`) + `},"properties":{` + joined(n, `"f%d":{"type":"integer"}`) + `}}`)
	}},
	{name: "a default with unknown members", text: func(n int) string { return inRoot(`{"type":"object","default":{` + joined(n, `"f%d":1`) + `}}`) }},
	{name: "a default of another type", text: func(n int) string { return inRoot(`{"type":"string","default":[` + joined(n, `{"f%d":1}`) + `]}`) }},
	{name: "a deep default", text: func(n int) string {
		return inRoot(`{"type":"object","default":` + nested(n/16, `{"a":`, `1`, `}`) + `}`)
	}},
	{name: "metadata that does not fit", text: func(n int) string {
		return inRoot(`{"type":"array","default":[` + joined(n/8, `{"metadata":{}}`) + `],"items":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"metadata":{"type":"object","properties":{` +
			joined(n/8, `"f%d":{"type":"string","default":"x"}`) + `}}}}}`)
	}, but: map[string]string{"Compile": "MaxDefaultBytes, of which each field that is looked at takes one"}},
	{name: "embedded resources", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n/4, `"f%d":{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"A","metadata":{"name":"a"}}}`) + `}}`)
	}},
	{name: "patterns", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n/4, `"f%d":{"type":"string","pattern":"^[a-z]{1,9}$"}`) + `}}`)
	}},
	{name: "a long pattern", text: func(n int) string {
		return inRoot(`{"type":"string","pattern":"` + strings.Repeat("[a-z]x|", n) + `y"}`)
	}},
	{name: "broken patterns", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n/4, `"f%d":{"type":"string","pattern":"("}`) + `}}`)
	}},
	{name: "an enum", text: func(n int) string { return inRoot(`{"type":"integer","enum":[` + joined(n, `%d`) + `]}`) }},
	{name: "enums", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{` + joined(n/2, `"f%d":{"type":"string","enum":["a","b"],"default":"a"}`) + `}}`)
	}},
	{name: "required", text: func(n int) string { return inRoot(`{"type":"object","required":[` + joined(n, `"f%d"`) + `]}`) }},
	{name: "list map keys", text: func(n int) string {
		return inRoot(`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[` + joined(n, `"f%d"`) + `],"items":{"type":"object","properties":{` + joined(n, `"f%d":{"type":"integer"}`) + `}}}`)
	}},
	{name: "list map keys that are twice there", text: func(n int) string {
		return inRoot(`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":[` + joined(n, `"f"`) + `],"items":{"type":"object","properties":{"f":{"type":"integer"}}}}`)
	}},
	{name: "rules", text: func(n int) string {
		return inRoot(`{"type":"object","x-kubernetes-validations":[` + joined(n, `{"rule":"self == %d"}`) + `]}`)
	}},
	{name: "allOf", text: func(n int) string {
		return inRoot(`{"type":"object","properties":{"f":{"type":"string"}},"allOf":[` + joined(n, `{"properties":{"f":{"maxLength":%d}}}`) + `]}`)
	}},
	{name: "anyOf, not in the core", text: func(n int) string {
		return inRoot(`{"type":"object","anyOf":[` + joined(n, `{"properties":{"f%d":{"maxLength":1}}}`) + `]}`)
	}},
	{name: "oneOf with types", text: func(n int) string {
		return inRoot(`{"type":"object","oneOf":[` + joined(n, `{"type":"string"}`) + `]}`)
	}},
	{name: "without types", text: func(n int) string { return inRoot(`{"type":"object","properties":{` + joined(n, `"f%d":{}`) + `}}`) }},
	{name: "without types at the bottom", text: func(n int) string {
		return nested(n/16, `{"type":"object","properties":{"a":`, `{"type":"object","properties":{`+joined(n, `"f%d":{}`)+`}}`, `}}`)
	}},
	{name: "a default under anyOf", text: func(n int) string {
		return inRoot(`{"type":"string","default":"x","anyOf":[` + joined(n, `{"maxLength":%d}`) + `]}`)
	}},
	{name: "a default that must be unique", text: func(n int) string {
		return inRoot(`{"type":"array","uniqueItems":true,"items":{"type":"integer"},"default":[` + joined(n, `%d`) + `]}`)
	}},
	{name: "no prune", text: func(n int) string { return nested(n/16, `{"x-no-pruning":true,"properties":{"a":`, `{}`, `}}`) },
		but: map[string]string{"Skeleton": "maxSkeletonErrors, each with its path", "Validate": "MaxErrorBytes"}},
	{name: "versions", text: func(n int) string {
		return definition(joined(n/4, `{"name":"v%d","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object"}}}`))
	}},
	{name: "versions that differ", text: func(n int) string {
		return definition(joined(n/4, `{"name":"v%d","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","description":"%[1]d"}}}`))
	}},
	{name: "versions with one schema", text: func(n int) string {
		return legacy(`"versions":[` + joined(n/4, `{"name":"v%d","served":true}`) + `],"preserveUnknownFields":false,"validation":{"openAPIV3Schema":{"type":"object","properties":{` + joined(n/4, `"f%d":{"type":"string"}`) + `}}}`)
	}},
	{name: "definitions", text: func(n int) string {
		return `{"apiVersion":"v1","kind":"List","items":[` + joined(n/8, strings.NewReplacer(`"A"`, `"A%d"`, `%`, `%[1]`).Replace(definition(`{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}}}`))) + `]}`
	}},
	{name: "definitions, one after the other", text: func(n int) string {
		return strings.ReplaceAll(joined(n/8, strings.Replace(definition(`{"name":"v1","schema":{"openAPIV3Schema":{"type":"object"}}}`), `"A"`, `"A%d"`, 1)), "}},{", "}}\n{")
	}},
	{name: "references to one", text: func(n int) string {
		return openAPI(`"c":{"type":"string"},"k":{` + fmt.Sprintf(openAPIKind, 0) + `,"properties":{"metadata":{"type":"object"},` + joined(n, `"f%d":{"$ref":"#/components/schemas/c"}`) + `}}`)
	}},
	{name: "references to the next", text: func(n int) string {
		return openAPI(`"c0":{` + fmt.Sprintf(openAPIKind, 0) + `,"properties":{"metadata":{"type":"object"},"n":{"$ref":"#/components/schemas/c1"}}},` + refChain(n/16))
	}},
	{name: "references to all", text: func(n int) string {
		return openAPI(joined(n/4, `"c%d":{`+strings.Replace(openAPIKind, "K%d", "K%[1]d", 1)+`,"properties":{"metadata":{"type":"object"},"s":{"$ref":"#/components/schemas/c%[1]d"},"f":{"$ref":"#/components/schemas/c0"}}}`))
	}},
	{name: "references under allOf", text: func(n int) string {
		return openAPI(`"c":{"type":"object","properties":{` + joined(n, `"f%d":{"type":"string"}`) + `}},"k":{` + fmt.Sprintf(openAPIKind, 0) + `,"properties":{"metadata":{"type":"object"},` +
			joined(n/8, `"f%d":{"allOf":[{"$ref":"#/components/schemas/c"}]}`) + `}}`)
	}},
	{name: "white space", text: func(n int) string { return inRoot(strings.Repeat(" \n", 8*n) + `{"type":"string"}`) }},
	{name: "block YAML, wide", text: func(n int) string {
		return "type: object\nproperties:\n  a:\n    type: object\n    properties:\n" + strings.ReplaceAll(joined(n, "      f%d: {type: string}\n"), ",", "")
	}},
	{name: "aliases", text: func(n int) string {
		return "type: object\nproperties:\n  a: &a {type: string}\n" + strings.ReplaceAll(joined(n, "  f%d: *a\n"), ",", "")
	}},
}

func refChain(n int) string {
	var b strings.Builder
	for i := 1; i <= n; i++ {
		fmt.Fprintf(&b, `"c%d":{"type":"object","properties":{"n":{"$ref":"#/components/schemas/c%d"}}},`, i, i+1)
	}
	fmt.Fprintf(&b, `"c%d":{"type":"string"}`, n+1)
	return b.String()
}

// operations are applied to a text, each by itself. Their preparation is done once.
var operations = []struct {
	name string
	of   func(text []byte) (do func())
}{
	{"Parse", func(text []byte) func() { return func() { schema.Parse(text) } }},
	{"Skeleton", func(text []byte) func() { return func() { schema.Skeleton(text) } }},
	{"Validate", func(text []byte) func() {
		s, err := schema.Parse(text)
		if err != nil {
			return nil
		}
		return func() { validation.Structural(s); validation.Warnings(s) }
	}},
	{"Compile", func(text []byte) func() {
		s, err := schema.Parse(text)
		if err != nil {
			return nil
		}
		return func() { schema.Compile(s); schema.Compile(s, schema.CheckTypes(true)) }
	}},
	{"Expansion", func(text []byte) func() {
		s, err := schema.Parse(text)
		if err != nil {
			return nil
		}
		p, err := schema.Compile(s)
		if err != nil {
			return nil
		}
		return func() { p.Expansion() }
	}},
	{"ParseCRD", func(text []byte) func() { return func() { schema.ParseCRD(text) } }},
	{"definition", func(text []byte) func() {
		crds, err := schema.ParseCRD(text)
		if err != nil || len(crds) == 0 {
			return nil
		}
		return func() {
			for _, c := range crds {
				validation.CRD(c)
			}
			schema.NewCatalog().Add(crds...)
		}
	}},
	{"ParseOpenAPI", func(text []byte) func() { return func() { schema.ParseOpenAPI(text) } }},
	{"kinds", func(text []byte) func() {
		kinds, err := schema.ParseOpenAPI(text)
		if err != nil || len(kinds) == 0 {
			return nil
		}
		return func() {
			_ = schema.NewCatalog().Add(kinds...)
			schema.Compile(kinds[0].Versions[0].Schema)
		}
	}},
}

// TestAdversarialSchemas asserts that each operation takes little more than four times as much
// memory for a schema of four times the size.
func TestAdversarialSchemas(t *testing.T) {
	const n = 1600
	for _, f := range families {
		once, fourTimes := []byte(f.text(n)), []byte(f.text(4*n))
		for _, operation := range operations {
			small, large := operation.of(once), operation.of(fourTimes)
			require.Equal(t, small == nil, large == nil)
			if small == nil {
				continue
			}
			a, b := allocated(small), allocated(large)
			if f.but[operation.name] == "" {
				assert.LessOrEqual(t, float64(b), 5.5*float64(a)+1<<19, "%s of %s: %d and %d bytes for %d and %d", operation.name, f.name, a, b, len(once), len(fourTimes))
			}
		}
	}
}

// allocated returns how many bytes are allocated while do runs, at best: the first run fills pools.
// Pools are kept for each processor, and the garbage collector empties them.
func allocated(do func()) int {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	best := math.MaxInt
	for range 3 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		do()
		runtime.ReadMemStats(&after)
		best = min(best, int(after.TotalAlloc-before.TotalAlloc))
	}
	return best
}

// BenchmarkAdversarialSchemas measures the time: the time for a byte must not grow with the size.
func BenchmarkAdversarialSchemas(b *testing.B) {
	for _, f := range families {
		for _, operation := range operations {
			for _, n := range []int{8000, 32_000} {
				text := []byte(f.text(n))
				do := operation.of(text)
				if do == nil {
					continue
				}
				b.Run(fmt.Sprintf("%s/%s/%d", f.name, operation.name, n), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for b.Loop() {
						do()
					}
				})
			}
		}
	}
}
