package validate

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// TestKinds runs the cases of testdata/kinds, of which subresources.txtar explains the sections.
// The fuzz module compares them with the server.
func TestKinds(t *testing.T) {
	files, err := filepath.Glob("testdata/kinds/*.txtar")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		ar, err := corpus.ReadArchive(file)
		require.NoError(t, err)
		var k *Kind
		var x map[string]any
		var v Validator
		for _, section := range ar.Sections {
			switch text := string(section.Data); filepath.Ext(section.Name) {
			case ".yaml":
				crds, err := schema.ParseCRD(section.Data)
				require.NoError(t, err)
				k = KindOf(crds[0], &crds[0].Versions[0])
			case ".json":
				x = decode(t, text).(map[string]any)
			case ".create":
				t.Run(section.Name, func(t *testing.T) { assert.Equal(t, text, ruled(v.Create(k, x, new(enough)))) })
			case ".status":
				t.Run(section.Name, func(t *testing.T) { assert.Equal(t, text, ruled(v.StatusUpdate(k, x, new(enough)))) })
			default:
				t.Run(section.Name, func(t *testing.T) { assert.Equal(t, text, lines(v.Warnings(x))) })
			}
		}
	}
}

func ruled(errs []Error) string {
	list := make([]string, len(errs))
	for i := range errs {
		list[i] = errs[i].Path().Pointer() + " " + errs[i].Rule + ": " + errs[i].Error()
	}
	return lines(list)
}

func lines(list []string) string {
	var b strings.Builder
	for _, line := range list {
		b.WriteString(line + "\n")
	}
	return b.String()
}

// TestKindSteps validates an object of a kind in as many steps as it needs, and in fewer.
func TestKindSteps(t *testing.T) {
	k := &Kind{
		APIVersion: "a/v1", Kind: "K", HasStatus: true, Scale: &schema.Scale{SpecReplicasPath: ".spec", StatusReplicasPath: ".status.n"},
		Schema: parse(t, `{type: object, properties: {spec: {type: string, maxLength: 1}, status: {type: object, properties: {s: {type: integer}}},
			l: {type: array, x-kubernetes-list-type: set, items: {type: integer}}}}`),
	}
	x := decode(t, `{"apiVersion": "a/v1", "kind": "K", "metadata": {"name": "_", "managedFields": [{"operation": "X"}]}, "spec": "ab", "status": {"s": "", "n": ""}, "l": [1, 1]}`).(map[string]any)
	other := &Kind{APIVersion: "a/v2", Kind: "L"}
	var v Validator
	for name, validate := range map[string]func(steps *int) []Error{
		"create":       func(steps *int) []Error { return v.Create(k, x, steps) },
		"status":       func(steps *int) []Error { return v.StatusUpdate(k, x, steps) },
		"another type": func(steps *int) []Error { return v.Create(other, x, steps) },
	} {
		assert.GreaterOrEqual(t, len(inFewerSteps(t, name, validate)), 2, name)
	}
}

// inFewerSteps validates in as many steps as are needed, and in fewer. It returns the errors.
func inFewerSteps(t *testing.T, name string, validate func(steps *int) []Error) []Error {
	t.Helper()
	left := enough
	all := validate(&left)
	needed := enough - left
	for steps := range needed + 1 {
		left := steps
		errs := validate(&left)
		assert.Equal(t, steps < needed, left < 0, "%s: in %d steps of %d", name, steps, needed)
		if left >= 0 {
			assert.Equal(t, all, errs, name)
		}
	}
	return all
}

// TestUnchanged holds that an object is as it was before it was validated.
func TestUnchanged(t *testing.T) {
	const text = `{"apiVersion": "a/v1", "kind": "K", "metadata": {"generateName": "a", "namespace": "n"}, "status": {}}`
	x := decode(t, text).(map[string]any)
	var v Validator
	assert.Empty(t, v.Create(&Kind{HasStatus: true}, x, new(enough)), "of any type")
	assert.Empty(t, v.StatusUpdate(&Kind{HasStatus: true}, x, new(enough)))
	assert.Empty(t, v.Create(&Kind{Namespaced: true}, map[string]any{"metadata": map[string]any{"name": "n", "namespace": ""}}, new(enough)))
	assert.Equal(t, decode(t, text), x)
}

// TestJunk has objects that decoding does not make.
func TestJunk(t *testing.T) {
	var v Validator
	x := map[string]any{"metadata": []any{"x"}}
	assert.Equal(t, "metadata: Invalid value: [\"x\"]: json: cannot unmarshal array into Go value of type v1.ObjectMeta\n", texts(v.Create(&Kind{}, x, new(enough))))
	assert.Empty(t, v.Warnings(x))
	assert.Empty(t, v.Warnings(map[string]any{"metadata": map[string]any{"finalizers": []any{"a", 1}}}))
}

// TestGeneratedName has the longest name that is generated.
func TestGeneratedName(t *testing.T) {
	assert.Equal(t, strings.Repeat("a", 58)+"xxxxx", GeneratedName(strings.Repeat("a", 59)))
	assert.Equal(t, "xxxxx", GeneratedName(""))
	assert.True(t, IsName(GeneratedName("a.")))
	assert.False(t, IsName(GeneratedName("_")))
}

// TestPart validates values that are no objects, or have no metadata.
func TestPart(t *testing.T) {
	s := parse(t, `{type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, minProperties: 3}}`)
	assert.Equal(t, ` type: <nil>: Invalid value: "object":  in body must be of type array: "object"`+"\n", ruled(new(Validator).Part(s, map[string]any{}, new(enough))))
	assert.Equal(t, lines([]string{
		`/0 minProperties: [0]: Invalid value: 2: [0] in body should have at least 3 properties`,
		`/1 minProperties: [1]: Invalid value: 2: [1] in body should have at least 3 properties`,
		`/0/kind x-kubernetes-embedded-resource: [0].kind: Invalid value: "": must not be empty`,
		`/1/kind x-kubernetes-embedded-resource: [1].kind: Invalid value: "": must not be empty`,
		`/1 x-kubernetes-list-type: [1]: Duplicate value: {"apiVersion":"v1","kind":""}`,
	}), ruled(new(Validator).Part(s, decode(t, `[{"apiVersion": "v1", "kind": ""}, {"apiVersion": "v1", "kind": ""}]`), new(enough))))
}

// TestTypesAndFormat has types and formats as the server has them.
func TestTypesAndFormat(t *testing.T) {
	for text, want := range map[string][2]string{
		`{}`: {}, `{type: string, format: date}`: {"string", "date"}, `{type: string, format: unknown}`: {"string", ""},
		`{x-kubernetes-int-or-string: true, format: int32}`: {"integer,string", ""}, `{type: integer, format: int32}`: {"integer", "int32"},
		`{type: number, format: int32}`: {"number", ""}, `{format: k8s-short-name}`: {"", "k8s-short-name"},
	} {
		types, format := TypesAndFormat(parse(t, text))
		assert.Equal(t, want, [2]string{types, format}, text)
	}
}
