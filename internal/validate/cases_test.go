package validate

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/schemapath"
	"github.com/espalier-dev/espalier/schema"
)

const enough = 1 << 20

// TestCases runs the cases of testdata, whose files explain their sections. The fuzz module
// compares them with the server.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		ar, err := corpus.ReadArchive(file)
		require.NoError(t, err)
		var s *schema.Structural
		var x map[string]any
		for _, section := range ar.Sections {
			switch text := string(section.Data); filepath.Ext(section.Name) {
			case ".yaml":
				s = parse(t, text)
			case ".json":
				x = decode(t, text).(map[string]any)
				if _, ok := x["metadata"]; !ok {
					x["metadata"] = map[string]any{"name": "n"}
				}
			default:
				t.Run(section.Name, func(t *testing.T) { assert.Equal(t, text, texts(new(Validator).Object(s, x, new(enough)))) })
			}
		}
	}
}

func texts(errs []Error) string {
	var b strings.Builder
	for i := range errs {
		b.WriteString(errs[i].Error() + "\n")
	}
	return b.String()
}

// TestPath has the places of errors, and how the server spells them.
func TestPath(t *testing.T) {
	s := parse(t, `{type: object, properties: {"": {type: object, properties: {a: {type: string}}}, b.c: {type: array, items: {type: object, properties: {d: {type: integer, not: {}}}, required: [e]}},
		map: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, properties: {"": {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}}}`)
	s.AdditionalProperties = &schema.SchemaOrBool{Allows: true, Schema: &schema.Structural{Type: "string"}}
	x := decode(t, `{"metadata": {"name": "n", "labels": {"a": "_"}, "annotations": {"/": ""}, "finalizers": ["a", "_"], "managedFields": [{}]}, "": {"a": 1}, "b.c": [{"d": 1}],
		"map": {"k.l": {"apiVersion": "v1", "kind": "K", "": {"apiVersion": "v1", "kind": ""}}}, "more": 1}`).(map[string]any)
	errs := new(Validator).Object(s, x, new(enough))
	var got []string
	for i := range errs {
		got = append(got, errs[i].Path().Pointer()+" "+errs[i].Field)
	}
	assert.Equal(t, []string{
		"/metadata/labels/a .metadata.labels", "/metadata/annotations/~1 .metadata.annotations",
		"/metadata/annotations/~1 .metadata.annotations", "/metadata/annotations/~1 .metadata.annotations",
		"/metadata/finalizers/1 .metadata.finalizers", "/metadata/managedFields/0/operation .metadata.managedFields[0].operation",
		"/metadata .metadata", "/more .more", "//a .a", "/b.c/0/d ", "/b.c/0/e .b.c[0].e",
		"/map/k.l//kind .map[k.l][].kind",
	}, got)
	at := schemapath.Root("spec").Child("default")
	for i, want := range map[int]string{9: "spec.default: Invalid value: \"\": \"b.c[0].d\" must not validate the schema (not)", 10: "spec.default.b.c[0].e: Required value"} {
		assert.EqualError(t, errs[i].Below(at), want)
	}
	assert.EqualError(t, &errs[8], `a: Invalid value: "integer": a in body must be of type string: "integer"`)
	assert.EqualError(t, errs[10].Below(nil), "b.c[0].e: Required value")
	assert.EqualError(t, &errs[9], `<nil>: Invalid value: "": "b.c[0].d" must not validate the schema (not)`)

	s = &schema.Structural{Required: []string{"", "."}} // the server takes the first for the whole
	errs = new(Validator).Value(s, map[string]any{}, new(enough))
	assert.Equal(t, "<nil>: Required value\n.: Required value\n", texts(errs))
	assert.EqualError(t, errs[0].Below(at), "spec.default: Required value")
}

// TestPreparedOnce holds that patterns and enums are compiled once.
func TestPreparedOnce(t *testing.T) {
	var v Validator
	s := &schema.Structural{Pattern: "a"}
	first := v.prepare(s)
	assert.Same(t, first, v.prepare(s))
}

// TestHandmade has schemas that no definition can have.
func TestHandmade(t *testing.T) {
	closed := &schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{}}
	list := "x"
	s := &schema.Structural{
		Properties: map[string]*schema.Structural{"a": nil, "b": {AllOf: []*schema.Structural{nil, closed}}, "c": {Pattern: "("}, "d": {Items: &schema.SchemaOrArray{}, XListType: &list}},
	}
	x := map[string]any{"a": []any{true}, "b": map[string]any{"k": nil}, "c": "", "d": []any{[]any{}}}
	var v Validator
	assert.Equal(t, `b: Invalid value: "k": b.k in body is a forbidden property
<nil>: Invalid value: "": "b" must validate all the schemas (allOf)
`, texts(v.Value(s, x, new(enough))))
	assert.Empty(t, v.Default(s, x, new(enough)), "below allOf of a structural schema there are no additionalProperties")
	x["metadata"] = map[string]any{"name": "n"}
	assert.Len(t, v.Object(s, x, new(enough)), 2)
}

// TestMetadata has the metadata of defaults, which is brought into its canonical form.
func TestMetadata(t *testing.T) {
	s := parse(t, `{type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}`)
	for text, want := range map[string]string{
		`[{"apiVersion": "v1", "kind": 1}]`:                                                `[0].kind: Invalid value: 1: must be a string` + "\n",
		`[{"apiVersion": null, "kind": "_"}, {"kind": 1}]`:                                 `[0].apiVersion: Invalid value: null: must be a string` + "\n",
		`[{"metadata": {"labels": {"a": 1}}}]`:                                             `[0].metadata: Invalid value: {"labels":{"a":1}}: json: cannot unmarshal number into Go struct field ObjectMeta.labels of type string` + "\n",
		`[{"apiVersion": "v1", "kind": "K", "metadata": {"name": "..", "x": 1}}, [1], {}]`: "[0].metadata.name: Invalid value: \"..\": may not be '..'\n[2].apiVersion: Required value\n[2].kind: Required value\n",
	} {
		assert.Equal(t, want, texts(Metadata(s, decode(t, text), new(enough))), text)
	}
	x := decode(t, `[{"apiVersion": "v1", "kind": "K", "metadata": {"name": "n", "unknown": 1, "labels": {}}}]`)
	assert.Empty(t, Metadata(s, x, new(enough)))
	assert.Equal(t, decode(t, `[{"apiVersion": "v1", "kind": "K", "metadata": {"name": "n"}}]`), x)

	nested := parse(t, `{type: object, properties: {a: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}`)
	assert.Equal(t, "a[k].kind: Invalid value: 1: must be a string\n", texts(Metadata(nested, decode(t, `{"a": {"k": {"kind": 1}}}`), new(enough))))
}

// TestObjectSteps validates an object in as many steps as it needs, and in fewer.
func TestObjectSteps(t *testing.T) {
	s := parse(t, `{type: object, properties: {s: {type: string, pattern: ^a}, l: {type: array, x-kubernetes-list-type: set, items: {type: array, x-kubernetes-list-type: atomic, items: {type: integer}}},
		e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}`)
	x := decode(t, `{"metadata": {"name": "_", "finalizers": ["_", "_"]}, "s": "b", "l": [[1], [1], [2], [2]], "e": {"kind": "_"}}`).(map[string]any)
	left := enough
	var v Validator
	all := v.Object(s, x, &left)
	require.Len(t, all, 7)
	needed := enough - left
	for steps := range needed + 1 {
		left := steps
		errs := v.Object(s, x, &left)
		assert.Equal(t, steps < needed, left < 0, "in %d steps of %d", steps, needed)
		if left >= 0 {
			assert.Equal(t, all, errs)
		}
	}
}

// TestSetSteps counts the bytes of what is compared in sets.
func TestSetSteps(t *testing.T) {
	set := "set"
	s := &schema.Structural{Properties: map[string]*schema.Structural{"l": {XListType: &set}}}
	x := decode(t, `{"metadata": {"name": "n"}, "l": [["`+strings.Repeat("a", 1000)+`"], [1]]}`).(map[string]any)
	left := 1000
	assert.Empty(t, new(Validator).Object(s, x, &left))
	assert.Negative(t, left)
}

// TestKeySteps counts the keys of each element, of which a schema may have many.
func TestKeySteps(t *testing.T) {
	list := "map"
	s := &schema.Structural{Properties: map[string]*schema.Structural{"l": {XListType: &list, XListMapKeys: make([]string, 1000)}}}
	x := decode(t, `{"metadata": {"name": "n"}, "l": [{}, {}]}`).(map[string]any)
	left := 1500
	assert.Empty(t, new(Validator).Object(s, x, &left))
	assert.Negative(t, left)
}

// TestFormatSteps counts what looking up a format takes, whose name may be long.
func TestFormatSteps(t *testing.T) {
	date := strings.Repeat("-", 16_000) + "da-te"
	for format, want := range map[string]bool{date: true, date + date: false, strings.Repeat("x", 17): false, "date": true, "-": false, "": false} {
		assert.Equal(t, want, KnownFormat(format) != nil, "%d bytes", len(format))
	}
	left := 1000
	assert.Empty(t, new(Validator).Value(&schema.Structural{Type: "string", Format: date}, "no date", &left))
	assert.Negative(t, left)
}

func TestDecode(t *testing.T) {
	for text, want := range map[string]any{"": nil, "null": nil, "1": int64(1), "1.0": 1.0, "1e2": 100.0, "9223372036854775808": 9223372036854775808.0, `[true,"a"]`: []any{true, "a"}, `{"a":{}}`: map[string]any{"a": map[string]any{}}} {
		x, err := Decode([]byte(text))
		require.NoError(t, err)
		assert.Equal(t, want, x)
	}
	_, err := Decode([]byte("{"))
	require.Error(t, err)
}

func TestRender(t *testing.T) {
	for want, x := range map[string]any{`"a\n"`: "a\n", "1": int64(1), "1.5": 1.5, "1e+21": 1e21, "true": true, "null": nil, `{"a":1}`: map[string]any{"a": 1}, "{ }": json.RawMessage("{ }")} {
		assert.Equal(t, want, Render(x))
	}
	assert.Equal(t, `supported values: "a", "\""`, Supported([]string{"a", `"`}))
}
