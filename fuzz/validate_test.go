package fuzz

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A validatePair validates objects by package validate and by the packages of the server.
type validatePair struct {
	schema    *schema.Structural
	validator validate.Validator
	server    *Validator

	validated
}

// validated counts what was validated.
type validated struct {
	objects, invalid int
	errors           map[string]int // of the server, by package and type
}

func newValidatePair(s *schema.Structural, js []byte) (*validatePair, error) {
	server, err := NewValidator(js)
	return &validatePair{schema: s, server: server, validated: validated{errors: make(map[string]int)}}, err
}

// compare compares the errors for an object. Those of a part are compared with repeats and in any
// order: the server goes through maps.
func (p *validatePair) compare(t *testing.T, name string, x map[string]any) {
	steps := 1 << 30
	var got []string
	for _, err := range p.validator.Object(p.schema, x, &steps) {
		got = append(got, err.Error())
		checkPath(t, x, &err)
	}
	var want []string
	for part, errs := range p.server.Parts(x) {
		first := len(want)
		for _, err := range errs {
			want = append(want, err.Error())
			p.errors[ValidatorParts[part]+" "+string(err.Type)]++
		}
		slices.Sort(want[first:])
		slices.Sort(got[min(first, len(got)):min(len(want), len(got))])
	}
	p.objects++
	if len(want) > 0 {
		p.invalid++
	}
	require.Equal(t, want, got, "%s: %s", name, marshal(x))
}

// checkPath holds that the path of an error leads to a value, or to what is missing.
func checkPath(t *testing.T, x any, e *validate.Error) {
	for _, s := range e.Segments() { // Path shortens long names
		switch v := x.(type) {
		case map[string]any:
			require.True(t, s.IsName, "%v", e)
			x = v[s.Name]
		case []any:
			require.False(t, s.IsName, "%v", e)
			x = v[s.Index]
		default:
			require.Equal(t, ferrors.SchemaRequired, e.Kind, "no place %v: %v", e.Path(), e)
			require.Nil(t, x)
		}
	}
}

// TestObjects validates the resources of the corpus, as they are and with mistakes in them.
func TestObjects(t *testing.T) {
	mutations := uint64(*mutationsFlag)
	if testing.Short() {
		mutations = 1
	}
	pairs := make(map[*comparer]*validatePair)
	comparers := realSchemas(t, func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
		c, err := newExactComparer(s, js, opts...)
		if err == nil {
			pairs[c], err = newValidatePair(s, js)
		}
		return c, err
	})
	refused := 0
	plain := 0 // without mistakes
	plainInvalid := 0
	for o := range realObjects(t) {
		c := comparers[o.apiVersion+" "+o.kind]
		if c == nil {
			continue
		}
		p := pairs[c]
		before := p.invalid
		for n := range mutations + 1 {
			seed, mutant := uint64(plain)<<32|n, o.js
			if n > 0 {
				mutant = c.mutate(o.js, seed)
			}
			answer, err := c.server.Decode(mutant)
			if err != nil {
				refused++
				continue
			}
			p.compare(t, fmt.Sprintf("%s, seed %d", o.file, seed), answer.Object)
			if n == 0 {
				plain++
				plainInvalid += p.invalid - before
			}
		}
	}
	all := validated{errors: make(map[string]int)}
	for _, p := range pairs {
		all.add(&p.validated)
	}
	t.Logf("%d resources, %d invalid; with %d mutants of each, of which decoding refuses %d:", plain, plainInvalid, mutations, refused)
	all.log(t)
	assert.Greater(t, plain, 700)
	assert.Greater(t, all.invalid, plain/20)
}

func (v *validated) add(w *validated) {
	v.objects += w.objects
	v.invalid += w.invalid
	for sort, n := range w.errors {
		v.errors[sort] += n
	}
}

func (v *validated) log(t *testing.T) {
	t.Logf("%d objects, %d invalid", v.objects, v.invalid)
	logCounts(t, v.errors)
}

// TestValidateCases validates the cases of package validate.
func TestValidateCases(t *testing.T) {
	forValidationCases(t, "../internal/validate/testdata/*.txtar", func(yml []byte) objectComparer {
		js, err := yamlbridge.AppendJSON(nil, yml)
		require.NoError(t, err)
		s, err := schema.Parse(js)
		require.NoError(t, err)
		p, err := newValidatePair(s, js)
		require.NoError(t, err)
		return func(t *testing.T, name string, x map[string]any) {
			if _, ok := x["metadata"]; !ok {
				x["metadata"] = map[string]any{"name": "n"}
			}
			p.compare(t, name, x)
		}
	})
}

// An objectComparer compares what both sides say of a decoded object.
type objectComparer func(t *testing.T, name string, object map[string]any)

// forValidationCases compares the objects in the case files that a pattern matches. A file has
// schemas in YAML, each before its objects in JSON.
func forValidationCases(t *testing.T, pattern string, newComparer func(schema []byte) objectComparer) {
	files, err := filepath.Glob(pattern)
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		ar, err := corpus.ReadArchive(file)
		require.NoError(t, err)
		var compare objectComparer
		for _, section := range ar.Sections {
			switch filepath.Ext(section.Name) {
			case ".yaml":
				compare = newComparer(section.Data)
			case ".json":
				var x map[string]any
				require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(section.Data, &x))
				compare(t, section.Name, x)
			}
		}
	}
}

// TestValues validates random values under random schemas, in which keywords of value validation
// are frequent.
func TestValues(t *testing.T) {
	schemas := *pairsFlag / 100
	if testing.Short() {
		schemas = 100
	}
	all := validated{errors: make(map[string]int)}
	for n := *fromFlag; n < *fromFlag+uint64(schemas); n++ {
		g := valueGrower{rand.New(rand.NewPCG(n, 11)), 6 << (n % 4)}
		js := g.root()
		s, err := schema.Parse(js)
		require.NoError(t, err, "%s", js)
		require.NoError(t, validation.Structural(s), "%s", js)
		p, err := newValidatePair(s, js)
		require.NoError(t, err, "%s", js)
		var root map[string]any
		require.NoError(t, json.Unmarshal(js, &root))
		for range 20 {
			x := map[string]any{"apiVersion": "v1", "kind": "K", "metadata": g.metadata(true)}
			for name, value := range g.value(root).(map[string]any) {
				x[name] = value
			}
			var object map[string]any
			require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(marshal(x), &object))
			p.compare(t, fmt.Sprintf("seed %d: %s", n, js), object)
		}
		all.add(&p.validated)
	}
	t.Logf("%d schemas", schemas)
	all.log(t)
	assert.Greater(t, all.invalid, all.objects/4)
	assert.Less(t, all.invalid, all.objects-all.objects/20)
}

// A valueGrower makes schemas, as JSON, and values for them.
type valueGrower struct {
	*rand.Rand
	rarely int // one keyword in so many is there
}

var (
	scalars = []string{`""`, `"a"`, `"ab"`, `"A"`, `"é🌳"`, `"2020-01-01"`, `"1.2.3.4"`, `"a.b"`, `"5m"`, `"YQ=="`, `"1"`,
		`0`, `1`, `2`, `65`, `-1`, `1.0`, `1.5`, `0.1`, `0.3`, `-0.0`, `1e300`, `2147483648`, `9223372036854775807`, `9223372036854775808`, `true`, `false`, `null`}
	numbers     = []string{`0`, `1`, `2`, `-1`, `0.1`, `1.5`, `0.5`, `3000000000`, `1e300`, `-9223372036854775808`}
	patterns    = []string{`^a`, `^[a-z]+$`, `b`, `.{2}`}
	formatNames = []string{`int32`, `int64`, `float`, `double`, `date`, `date-time`, `ipv4`, `byte`, `duration`, `hostname`, `unknown`, `k8s-short-name`, `quantity`}
)

type object = map[string]any

func raw(text string) json.RawMessage { return json.RawMessage(text) }

func (g valueGrower) root() []byte {
	properties := object{}
	for i := range 1 + g.IntN(4) {
		properties[string(rune('a'+i))] = g.node(0)
	}
	s := object{"type": "object", "properties": properties}
	g.validations(s, s, 0)
	return marshal(s)
}

// node returns a schema.
func (g valueGrower) node(depth int) object {
	s := object{}
	kind := g.IntN(10)
	if depth > 2 {
		kind = 4 + g.IntN(6)
	}
	switch kind {
	case 0:
		s["type"], s["properties"] = "object", object{"a": g.node(depth + 1), "b": g.node(depth + 1), "": g.node(depth + 1)}
	case 1:
		s["type"], s["additionalProperties"] = "object", g.node(depth+1)
	case 2:
		s["type"], s["items"] = "array", g.node(depth+1)
	case 3:
		g.list(s, depth)
	case 4:
		s["x-kubernetes-int-or-string"] = true
	case 5:
		s["x-kubernetes-preserve-unknown-fields"] = true
	case 6:
		if depth < 3 {
			s["type"], s["x-kubernetes-embedded-resource"], s["x-kubernetes-preserve-unknown-fields"] = "object", true, true
			break
		}
		fallthrough
	default:
		s["type"] = one(g.Rand, "string", "integer", "number", "boolean")
	}
	if in(g.Rand, 4) {
		s["nullable"] = true
	}
	g.validations(s, s, depth)
	return s
}

// list makes a list type.
func (g valueGrower) list(s object, depth int) {
	s["type"], s["x-kubernetes-list-type"] = "array", "set"
	s["items"] = object{"type": one(g.Rand, "string", "integer", "number")}
	switch g.IntN(3) {
	case 0:
		s["items"] = one(g.Rand, object{"type": "array", "x-kubernetes-list-type": "atomic", "items": g.node(3)},
			object{"type": "object", "x-kubernetes-map-type": "atomic", "properties": object{"a": g.node(3)}})
	case 1:
		keys := one(g.Rand, []string{"a"}, []string{"a", "b"})
		s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"] = "map", keys
		s["items"] = object{"type": "object", "required": keys, "properties": object{
			"a": object{"type": one(g.Rand, "string", "number")}, "b": object{"type": "integer"}, "c": g.node(depth + 1)}}
	}
}

// validations adds value validations to s, which is core or within a junctor of it.
func (g valueGrower) validations(s, core object, depth int) {
	add := func(name string, values ...string) {
		if in(g.Rand, g.rarely) {
			s[name] = raw(values[g.IntN(len(values))])
		}
	}
	add("minimum", numbers...)
	add("maximum", numbers...)
	add("exclusiveMinimum", "true", "false")
	add("exclusiveMaximum", "true", "false")
	add("multipleOf", numbers...)
	for _, name := range []string{"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties"} {
		add(name, "0", "1", "2", "3")
	}
	if in(g.Rand, g.rarely) {
		s["pattern"] = one(g.Rand, patterns...)
	}
	if in(g.Rand, 5) {
		s["format"] = one(g.Rand, formatNames...)
	}
	if in(g.Rand, g.rarely) {
		var list []json.RawMessage
		for range 1 + g.IntN(4) {
			list = append(list, raw(one(g.Rand, scalars...)))
		}
		s["enum"] = list
	}
	if core["type"] == "object" && in(g.Rand, g.rarely) {
		s["required"] = one(g.Rand, []string{"a"}, []string{"b", "c"}, []string{"a", ""})
	}
	if depth > 3 {
		return
	}
	junctor := func() object {
		v := object{}
		if fields, ok := core["properties"].(object); ok && in(g.Rand, 2) {
			within := object{}
			for _, name := range slices.Sorted(maps.Keys(fields)) {
				if in(g.Rand, 2) {
					v := object{}
					g.validations(v, fields[name].(object), depth+2)
					within[name] = v
				}
			}
			v["properties"] = within
		}
		if item, ok := core["items"].(object); ok && in(g.Rand, 2) {
			within := object{}
			g.validations(within, item, depth+2)
			v["items"] = within
		}
		g.validations(v, core, depth+2)
		return v
	}
	for _, name := range []string{"anyOf", "oneOf", "allOf"} {
		if in(g.Rand, g.rarely) {
			var list []object
			for range 1 + g.IntN(3) {
				list = append(list, junctor())
			}
			s[name] = list
		}
	}
	if in(g.Rand, 12) {
		s["not"] = junctor()
	}
}

// value returns a value of the type that a schema has, or of another.
func (g valueGrower) value(s object) any {
	typ, _ := s["type"].(string)
	if typ != "" && in(g.Rand, 12) && s["x-kubernetes-embedded-resource"] == nil {
		typ = ""
	}
	fields, _ := s["properties"].(object)
	switch {
	case typ == "object" || fields != nil:
		x := object{}
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if !in(g.Rand, 4) {
				x[name] = g.value(fields[name].(object))
			}
		}
		if more, ok := s["additionalProperties"].(object); ok {
			for range g.IntN(3) {
				x[one(g.Rand, "k", "l.m", "", "[0]")] = g.value(more)
			}
		}
		if s["x-kubernetes-embedded-resource"] != nil {
			x["apiVersion"] = one[any](g.Rand, "v1", "v1", "a/v1", "a/v1", "a/b/c", "", "/", 1)
			x["kind"] = one[any](g.Rand, "Kind", "Kind", "Kind", "", "K_", "ä", nil)
			x["metadata"] = g.metadata(false)
			if in(g.Rand, 10) {
				x["metadata"] = one[any](g.Rand, "m", []any{}, object{"labels": object{"a": 1}}, object{"name": 1}, object{"creationTimestamp": "x"}, object{"finalizers": "f"})
			}
			delete(x, one(g.Rand, "apiVersion", "kind", "metadata", "", "", ""))
		}
		return x
	case typ == "array":
		var list []any
		for range g.IntN(5) {
			list = append(list, g.value(s["items"].(object)))
		}
		return list
	case typ == "string":
		return raw(scalars[g.IntN(11)])
	case typ == "integer" || typ == "number":
		return raw(scalars[11+g.IntN(14)])
	case in(g.Rand, 8):
		return one[any](g.Rand, object{}, []any{}, object{"a": 1, "b": nil}, []any{1, "a", nil}, []any{object{"a": 1}, object{"a": 1}}, []any{[]any{1}, []any{1}})
	}
	return raw(one(g.Rand, scalars...))
}

// metadata returns metadata that decodes.
func (g valueGrower) metadata(root bool) any {
	names := []string{"n", "a.b", "A", "", ".", "..", "a/b", "a%b", "n-", strings.Repeat("a", 254)}
	m := object{"name": "n"}
	for range max(0, g.IntN(8)-4) {
		switch name := one(g.Rand, "name", "generateName", "namespace", "labels", "annotations", "finalizers", "generation", "ownerReferences", "managedFields"); name {
		case "name", "generateName", "namespace":
			m[name] = one(g.Rand, names...)
		case "labels", "annotations":
			m[name] = object{one(g.Rand, "a", "A/b", "a/b/c", "/a", "a/", "ä", ""): one(g.Rand, "", "v", "v v", strings.Repeat("v", 64)), "b": "ü"}
		case "finalizers":
			m[name] = []string{one(g.Rand, "a/b", "orphan", "_"), one(g.Rand, "foregroundDeletion", "")}
		case "generation":
			m[name] = g.IntN(3) - 1
		case "ownerReferences":
			m[name] = []any{g.owner(), g.owner()}
		case "managedFields":
			m[name] = []any{object{"operation": one(g.Rand, "Apply", "Update", "", "X"), "fieldsType": one(g.Rand, "FieldsV1", "FieldsV1", "", "F"), "apiVersion": one(g.Rand, "v1", "v1", ""), "manager": one(g.Rand, "m", "\u0007", strings.Repeat("m", 129))}}
		}
	}
	if in(g.Rand, 30) {
		return nil
	}
	if root && in(g.Rand, 10) {
		delete(m, "name")
	}
	return m
}

func (g valueGrower) owner() object {
	return object{"apiVersion": one(g.Rand, "v1", "a/v1", "", "a/", "a/b/c", "/v1"), "kind": one(g.Rand, "Event", "K", ""), "name": one(g.Rand, "n", ""), "uid": one(g.Rand, "u", ""), "controller": in(g.Rand, 2)}
}
