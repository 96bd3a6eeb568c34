package locate

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/suggest"
)

const object = `{"metadata": {"name": "a", "labels": {"app.kubernetes.io/name": "x"}}, "spec": {"list": [{"k": 1}, {"k": 2}], "1": {"x": 0}, "$": true}}`

// TestParse reads paths in both spellings. Names of the object decide where a step ends.
func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		path  []Step
		value string
	}{
		"":                                       {nil, object},
		"$":                                      {nil, object},
		"$.spec.list[1].k":                       {[]Step{Field("spec"), Field("list"), Element(1), Field("k")}, "2"},
		".spec.list[0]":                          {[]Step{Field("spec"), Field("list"), Element(0)}, `{"k": 1}`},
		"/spec/list/1/k":                         {[]Step{Field("spec"), Field("list"), Element(1), Field("k")}, "2"},
		"/spec/1/x":                              {Fields("spec", "1", "x"), "0"},
		"spec[1].x":                              {Fields("spec", "1", "x"), "0"},
		"spec.$":                                 {Fields("spec", "$"), "true"},
		"metadata.labels.app.kubernetes.io/name": {Fields("metadata", "labels", "app.kubernetes.io/name"), `"x"`},
		`metadata.labels["app.kubernetes.io/name"]`: {Fields("metadata", "labels", "app.kubernetes.io/name"), `"x"`},
		"metadata.labels.other.name":                {Fields("metadata", "labels", "other", "name"), ""},
	} {
		path, err := Parse(text, []byte(object))
		require.NoError(t, err, text)
		assert.Equal(t, want.path, path, text)
		value, ok := Value([]byte(object), path)
		assert.Equal(t, want.value, string(value), text)
		assert.Equal(t, want.value != "", ok, text)
		at, depth := Offset([]byte(object), Keys(path))
		if ok && len(path) > 0 {
			assert.Equal(t, len(path), depth, text)
			assert.Contains(t, object[at:], want.value, text)
		}
	}
	for _, text := range []string{"spec.list[*].k", "spec.list[1", "spec.list[]", "spec..list", "/spec~2"} {
		_, err := Parse(text, []byte(object))
		assert.Error(t, err, text)
	}
}

// TestRoot reads members as they are written, up to what cannot be read.
func TestRoot(t *testing.T) {
	deep := `{"a": ` + strings.Repeat(`{"b":[`, 100) + strings.Repeat("]}", 100)
	for js, want := range map[string]string{
		`{"a": 1, "b": {"a": [1, 2]} , "a": "x"}`: `1 a=1, 9 b={"a": [1, 2]}, 30 a="x"`,
		"\n{\t\"\\u0061\\n\" :\r[ ] }":            "3 a\n=[ ]",
		`{}`:                                      "",
		`[{"a": 1}]`:                              "",
		``:                                        "",
		`{"a": 1, "b": {"c": 2], `:                `1 a=1, 9 b={"c": 2], ...`,
		`{"a": 1,}`:                               "1 a=1",
		`{"a": 1, "b`:                             "1 a=1",
		`{"a": 1, "b" 2}`:                         "1 a=1",
		`{"a": 1 "b": 2}`:                         "1 a=1",
		`{"a"`:                                    "",
		`{"a":`:                                   "1 a=...",
		`{"a": 1} {"b": 2}`:                       "1 a=1",
		`{"a": tru, "b": 1}`:                      `1 a=tru, "b": 1}...`,
		`1`:                                       "",
		"{\"a\": \"\xff\", \"b\": 1e999, \"c\": 1}": "1 a=\"\xff\", 11 b=1e999, 23 c=1",
		"{\"\xff\": 1, \"b\": 1}":                   "1 \ufffd=1, 9 b=1",
		deep + "}":                                  "1 a=" + deep[len(`{"a": `):],
	} {
		var got []string
		for m := range Root([]byte(js)) {
			text := fmt.Sprintf("%d %s=%s", m.At, m.Name, m.Value)
			if !m.Whole {
				text += "..."
			}
			got = append(got, text)
		}
		assert.Equal(t, want, strings.Join(got, ", "), js)
	}
	for range Root([]byte(`{"a": 1, "b": 2}`)) {
		break
	}
}

func TestObjectName(t *testing.T) {
	for js, want := range map[string][2]string{
		`{"metadata": {"name": "a", "namespace": "b"}}`:                      {"b", "a"},
		`{"metadata": {"name": "a"}, "metadata": {"namespace": "b"}}`:        {"b", ""}, // the last metadata counts
		`{"metadata": {"name": 1}}`:                                          {"", ""},
		`{"metadata": "a"}`:                                                  {"", ""},
		"{\"spec\": \"\xff\", \"metadata\": {\"name\": \"a\"}}":              {"", "a"}, // although the document is refused
		`{"metadata": {"name": "a", "labels": {]`:                            {"", "a"}, // as far as it can be read
		`{"spec": {"metadata": {"name": "x"}}, "metadata": {"name": "a"}, "`: {"", "a"},
		``: {"", ""},
	} {
		namespace, name := ObjectName([]byte(js))
		assert.Equal(t, want, [2]string{namespace, name}, js)
	}
}

func TestPaths(t *testing.T) {
	path := FieldPath([]Step{Field("a"), Element(1), Field("b.c")})
	assert.Equal(t, "a[1].b.c", path.String())
	assert.Equal(t, "a[1].b.c", Spelled([]Step{Field("a"), Element(1), Field("b.c")}))
	assert.Equal(t, "the root", Spelled(nil))
	assert.Equal(t, "b.c", LastName(path))
	parent, name, ok := suggest.CutLast(path)
	assert.True(t, ok)
	assert.Equal(t, "b.c", name)
	assert.Equal(t, errors.Path{}.Child("a").Element(1), parent)
	_, _, ok = suggest.CutLast(parent)
	assert.False(t, ok)
	assert.Empty(t, LastName(parent))
}
