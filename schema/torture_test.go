package schema_test

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime/metrics"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/torture"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A specimen is a JSON text with the places of the values in it.
type specimen struct {
	text   []byte
	values [][2]int
}

// specimens returns schemas and definitions, those of testdata and real ones: small ones whole, and
// of others the schemas in them.
func specimens(t *testing.T) (all []specimen) {
	const most = 3000
	add := func(text []byte) {
		s := specimen{text, valuesOf(text)}
		if len(text) <= most {
			all = append(all, s)
			return
		}
		parts := 0
		for _, v := range s.values {
			if part := text[v[0]:v[1]]; part[0] == '{' && len(part) > most/10 && len(part) <= most && parts < 5 {
				parts++
				all = append(all, specimen{part, valuesOf(part)})
			}
		}
	}
	files, err := filepath.Glob("../testdata/*/*.txtar")
	require.NoError(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		for _, f := range corpus.ParseArchive(text).Sections {
			if js, err := yamlbridge.AppendJSON(nil, f.Data); err == nil && bytes.Contains(js, []byte(`"type":`)) {
				add(js)
			}
		}
	}
	if corpus.IsThere(t) {
		for file := range corpus.CRDs(t) {
			if js, err := yamlbridge.AppendJSON(nil, file.Data); err == nil {
				add(js)
			}
		}
	}
	require.Greater(t, len(all), 100)
	return all
}

// valuesOf returns where the values within a JSON text start and end.
func valuesOf(text []byte) (values [][2]int) {
	var open []int // in values
	d := jsontext.NewDecoder(bytes.NewBuffer(text), jsontext.AllowDuplicateNames(true))
	for {
		kind, n := d.StackIndex(d.StackDepth())
		switch next := d.PeekKind(); {
		case next == 0:
			return values
		case next == '{' || next == '[':
			d.ReadToken()
			open = append(open, len(values))
			values = append(values, [2]int{int(d.InputOffset()) - 1, 0})
		case next == '}' || next == ']':
			d.ReadToken()
			values[open[len(open)-1]][1] = int(d.InputOffset())
			open = open[:len(open)-1]
		case kind == '{' && n%2 == 0: // a name
			d.ReadToken()
		default:
			v, _ := d.ReadValue()
			end := int(d.InputOffset())
			values = append(values, [2]int{end - len(v), end})
		}
	}
}

// keywords are names in schemas; oddValues may replace any of their values.
var (
	keywords = []string{
		"type", "properties", "items", "additionalProperties", "default", "nullable", "enum", "pattern", "format", "required",
		"allOf", "anyOf", "oneOf", "not", "$ref", "id", "$schema", "definitions", "dependencies", "patternProperties", "additionalItems",
		"x-kubernetes-preserve-unknown-fields", "x-kubernetes-embedded-resource", "x-kubernetes-int-or-string", "x-kubernetes-list-type",
		"x-kubernetes-list-map-keys", "x-kubernetes-map-type", "x-kubernetes-validations", "x-kubernetes-no-prune", "maximum", "minLength",
		"maxItems", "uniqueItems", "multipleOf", "example", "externalDocs", "metadata", "apiVersion", "kind", "true", "", "a", "n",
	}
	oddValues = []string{
		"null", "true", "false", "0", "-1", "1.5", "1e400", "9223372036854775808", `""`, `"object"`, `"array"`, `"string"`, `"integer"`, `"number"`,
		`"boolean"`, `"null"`, `"int-or-string"`, `"date-time"`, `"map"`, `"set"`, `"("`, `"[a-z]{1,1000}{1,1000}"`, `"#/definitions/a"`, `"\ud800"`, `"\u0000"`,
		"{}", "[]", `[null]`, `[{}]`, `{"":{}}`, `{"a":null}`, `{"type":"object"}`, `{"type":"array","items":{}}`, `{"default":{}}`,
		`{"type":"object","default":{},"properties":{"a":{"type":"string","default":"x"}}}`, `{"type":"array","default":[null,{}],"items":{"default":{"a":1}}}`,
		`{"metadata":{"name":"a","creationTimestamp":"x"},"kind":"A","apiVersion":"v1"}`, `{"x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true}`,
		`[{"rule":"self == oldSelf"},{}]`, `{"anyOf":[{"type":"integer"},{"type":"string"}]}`, `{"a":{"$ref":"#/components/schemas/a"}}`,
	}
)

// breed appends one of the specimens with some values replaced: by odd ones, by values of others,
// or by themselves within another value.
func breed(all []specimen) torture.Maker {
	one := func(r *rand.Rand) []byte {
		s := all[r.IntN(len(all))]
		if len(s.values) == 0 {
			return s.text
		}
		v := s.values[r.IntN(len(s.values))]
		return s.text[v[0]:v[1]]
	}
	return func(r *rand.Rand, b []byte) []byte {
		s := all[r.IntN(len(all))]
		at := 0
		for _, v := range s.values {
			if v[0] < at || r.IntN(max(2, len(s.values)/2)) > 0 {
				continue
			}
			b = append(b, s.text[at:v[0]]...)
			was := s.text[v[0]:v[1]]
			switch at = v[1]; r.IntN(6) {
			case 0:
				b = append(b, one(r)...)
			case 1:
				b = fmt.Appendf(b, `{%q:%s}`, torture.One(r, keywords), was)
			case 2:
				b = fmt.Appendf(b, `{%q:%s,%q:%s}`, torture.One(r, keywords), was, torture.One(r, keywords), torture.One(r, oddValues))
			case 3:
				b = fmt.Appendf(b, `[%s,%s]`, was, torture.One(r, oddValues))
			default:
				b = append(b, torture.One(r, oddValues)...)
			}
		}
		return append(b, s.text[at:]...)
	}
}

// TestTorture applies all operations to schemas, definitions and OpenAPI documents that are changed
// at random. Nothing panics, all errors are of the documented types, and no text takes more memory
// than its size and its defaults allow.
func TestTorture(t *testing.T) {
	all := specimens(t)
	torture.Run(t, breed(all), func(t *testing.T, r *rand.Rand, text []byte) bool {
		if len(text) > 1<<16 {
			return true
		}
		before := allocatedSoFar()
		defer func() {
			if t.Failed() {
				t.Logf("%s", text)
			}
			used := allocatedSoFar() - before
			require.Less(t, used, uint64(8<<20+2000*len(text)), "%s", text)
		}()
		switch r.IntN(8) {
		case 0:
			tortureDefinitions(t, text)
		case 1:
			tortureDefinitions(t, fmt.Appendf(nil, `{"apiVersion":"apiextensions.k8s.io/%s","kind":"CustomResourceDefinition","spec":{"group":"g","names":{"kind":"K"},`+
				`"versions":[{"name":"v1","served":true,"schema":{"openAPIV3Schema":%s}},{"name":"v2","served":true}]}}`, torture.One(r, []string{"v1", "v1beta1"}), text))
		case 2:
			tortureOpenAPI(t, fmt.Appendf(nil, `{"components":{"schemas":{"a":%s,"io.k8s.b":{"x-kubernetes-group-version-kind":[{"kind":"K"}],"properties":{"metadata":{},"a":{"$ref":"#/components/schemas/a"},`+
				`"b":{"allOf":[{"$ref":"#/components/schemas/a"}]}}},"c":{"x-kubernetes-group-version-kind":[{"kind":"L"}],"properties":{"metadata":{},"b":{"$ref":"#/components/schemas/io.k8s.b"}}}}}}`, text))
		}
		return tortureSchema(t, text)
	})
}

func allocatedSoFar() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/allocs:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func tortureSchema(t *testing.T, text []byte) (accepted bool) {
	skeleton, errSkeleton := schema.Skeleton(text)
	s, err := schema.Parse(text)
	if err != nil {
		checkRefusal(t, text, err)
		require.Nil(t, s)
		require.Error(t, errSkeleton)
		return false
	}
	if errSkeleton == nil {
		tortureCompile(t, skeleton)
	} else {
		require.IsType(t, errors.SchemaErrors{}, errSkeleton)
	}
	errValid := validation.Structural(s)
	if errValid != nil {
		require.IsType(t, errors.SchemaErrors{}, errValid)
		_ = errValid.Error()
	}
	_ = validation.Warnings(s)
	if err := tortureCompile(t, s); err != nil && errValid == nil {
		// Defaults below additionalProperties are not validated.
		require.Regexp(t, "must not grow|must not hold a number beyond", err.Error(), "what is valid compiles")
	}
	return true
}

func tortureCompile(t *testing.T, s *schema.Structural) error {
	p, err := schema.Compile(s)
	if err != nil {
		require.IsType(t, errors.SchemaErrors{}, err, "%v", err)
	} else {
		e := p.Expansion()
		require.GreaterOrEqual(t, e.PerByte, 0.0)
		require.Equal(t, e.PerByte > 0, e.Field != "")
		_ = p.String()
	}
	if _, err := schema.Compile(s, schema.KEP, schema.ResourceRoot(false)); err != nil {
		require.IsType(t, errors.SchemaErrors{}, err, "%v", err)
	}
	if _, err := schema.Compile(s, schema.CheckTypes(true), schema.PreserveUnknownFields(true)); err != nil {
		require.IsType(t, errors.SchemaErrors{}, err, "%v", err)
	}
	return err
}

func tortureDefinitions(t *testing.T, text []byte) {
	crds, err := schema.ParseCRD(text)
	if err != nil {
		require.Nil(t, crds)
		var faults errors.SchemaErrors
		if !stderrors.As(err, &faults) {
			checkRefusal(t, text, err)
		}
		return
	}
	catalog := schema.NewCatalog()
	for _, c := range crds {
		if err := validation.CRD(c); err != nil {
			require.IsType(t, errors.SchemaErrors{}, err, "%v", err)
		}
		_ = catalog.Add(c)
	}
	for e := range catalog.All() {
		_, _ = e.Program()
	}
}

func tortureOpenAPI(t *testing.T, text []byte) {
	kinds, err := schema.ParseOpenAPI(text)
	if err != nil {
		require.Nil(t, kinds)
		return
	}
	for _, kind := range kinds {
		_ = tortureCompile(t, kind.Versions[0].Schema)
	}
}
