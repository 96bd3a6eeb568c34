package sample

import (
	"bytes"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

func TestCommented(t *testing.T) {
	m := New(schemaOf(t, `
description: |
  A Trellis
  holds plants.

  This is a second paragraph.
type: object
required: [spec]
properties:
  apiVersion: {type: string, description: everybody knows}
  kind: {type: string, description: everybody knows}
  metadata: {type: object, properties: {name: {type: string, maxLength: 5}}}
  spec:
    description: "What is wanted.\n---\nTODO: write this"
    type: object
    required: [slats]
    allOf: [{required: [color]}, {minProperties: 2}]
    x-kubernetes-validations:
    - {rule: "self.a < self.b", message: "a must be less than b"}
    - {rule: "self.b >\n 1"}
    - 1
    properties:
      slats: {type: integer, format: int32, minimum: 1, maximum: 10, multipleOf: 2, default: 4}
      color: {type: string, enum: [red, 'dark green'], default: red, nullable: true}
      plants:
        description: Plants.
        type: array
        minItems: 1
        x-kubernetes-list-type: map
        x-kubernetes-list-map-keys: [name]
        items:
          description: A plant.
          type: object
          required: [name]
          properties:
            name: {description: Its name., type: string, pattern: '^[a-z ]+$', minLength: 1, maxLength: 63, allOf: [{pattern: '^a'}]}
            label: {type: string}
      sizes:
        type: object
        maxProperties: 3
        additionalProperties: {x-kubernetes-int-or-string: true}
      rows:
        type: array
        x-kubernetes-list-type: set
        items: {type: array, items: {type: number}}
      extra: {type: object, x-kubernetes-preserve-unknown-fields: true, nullable: true}
      any: {x-kubernetes-preserve-unknown-fields: true}
      none: {type: object, nullable: true}
      flag: {type: boolean, default: false}
`), "example.com/v1", "Trellis")
	got, err := m.Commented([]byte(`{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":{
		"slats":4,"color":"red","plants":[{"name":"a","label":"b"},{"label":"c"}],"sizes":{"w":1,"h":2},"rows":[[1,2],[3]],
		"extra":{"x":{"y":1}},"any":[{"z":1}],"none":{},"flag":true,"flag":{"a":1}},"unknown":{"a":[1]}}`))
	require.NoError(t, err)
	assert.Equal(t, `# A Trellis holds plants.
apiVersion: example.com/v1
kind: Trellis
metadata:
  # string; at most 5 characters
  name: a
# What is wanted.
# required; at least 2 members
# rule: a must be less than b
# rule: self.b > 1
spec:
  # required; integer (int32); 1 to 10; a multiple of 2; default 4
  slats: 4
  # required; may be null; one of "red", "dark green"; default "red"
  color: red
  # Plants.
  # at least 1 element; elements differ in name
  plants:
    # A plant.
    - # Its name.
      # required; string; 1 to 63 characters; matching ^[a-z ]+$; matching
      # ^a
      name: a
      label: b
    - label: c
  # map; at most 3 members
  sizes:
    # integer or string
    w: 1
    h: 2
  # elements differ
  rows:
    - # number
      - 1
      - 2
    - # number
      - 3
  # object with any members or null
  extra:
    x:
      "y": 1
  # anything
  any:
    - z: 1
  # may be null
  none: {}
  # boolean; default false
  flag: true
  # boolean; default false
  flag:
    a: 1
unknown:
  a:
    - 1
`, string(got))
	got, err = m.Commented([]byte(`1`))
	require.NoError(t, err)
	assert.Equal(t, "# A Trellis holds plants.\n1\n", string(got))
}

func TestBounds(t *testing.T) {
	for text, want := range map[string]string{
		`{type: string, minLength: 1}`:                                                     "string; at least 1 character",
		`{type: string, maxLength: 1}`:                                                     "string; at most 1 character",
		`{type: string, minLength: 0}`:                                                     "",
		`{type: string, minLength: 0, maxLength: 3}`:                                       "string; at most 3 characters",
		`{type: array, minItems: 2, maxItems: 2}`:                                          "exactly 2 elements",
		`{type: array, uniqueItems: true}`:                                                 "elements differ",
		`{type: array, x-kubernetes-list-type: atomic}`:                                    "",
		`{type: number, minimum: 0.5}`:                                                     "number; at least 0.5",
		`{type: number, maximum: -1000000, exclusiveMaximum: true}`:                        "number; less than -1000000",
		`{type: integer, minimum: 0, exclusiveMinimum: true, maximum: 5}`:                  "integer; more than 0 and at most 5",
		`{type: string, enum: []}`:                                                         "",
		`{enum: [1, "a", null, {"a": [true]}]}`:                                            `one of 1, "a", null, {"a":[true]}`,
		`{enum: ["a", "{{b}}"]}`:                                                           "one of 2 values",
		`{enum: ["` + strings.Repeat("a", 200) + `", "` + strings.Repeat("b", 200) + `"]}`: "one of 2 values",
		`{type: string, default: "a\u202eb"}`:                                              "",
		`{type: string, default: "a\nb"}`:                                                  `string; default "a\nb"`,
		`{type: string, default: null}`:                                                    "",
		`{type: string, pattern: "a\nb"}`:                                                  "string; matching a pattern",
		`{type: string, pattern: "^a{{1}"}`:                                                "string; matching a pattern",
		`{type: string, format: "date-time"}`:                                              "string (date-time)",
		`{type: string, pattern: "` + strings.Repeat("a", 301) + `"}`:                      "string; matching a pattern",
		`{type: integer, format: "` + strings.Repeat("a", 301) + `"}`:                      "",
		`{type: integer, allOf: [` + strings.Repeat(`{maximum: 3},`, 30) + `]}`:            "integer; " + strings.Repeat("at most 3; ", 19) + "...",
		`{format: "x\ny"}`:                                                                 ` (x\ny)`,
	} {
		s := schemaOf(t, text)
		assert.Equal(t, want, strings.Join(restrictions(s, false), " "), text)
	}
}

// TestForeignComments has definitions in which each text tries to be more than a comment.
func TestForeignComments(t *testing.T) {
	for _, foreign := range []string{
		"a\nb: 1", "a\r\nb: 1", "a\rb: 1", "a\u0085b: 1", "a\u2028b: 1", "a\u2029b: 1", "a\vb: 1", "a\fb: 1", "\n\na\n\nb: 1", "a\x00b", "\x1b[31mred", "\u202eabc", "\ufeff", "\u009b1m",
		"{{ .Values.x }}", "{{{{", "{{{%<%>${{#}#}}", "#@ load", "# a", "---\na: 1", "...", "%YAML 1.2", "&a *b !c | > ' \" @ `", `\u000a`, `\`, "", " ",
	} {
		quoted := string(text(foreign).append(nil))
		s := schemaOf(t, `{"type": "object", "description": `+quoted+`, "properties": {"a": {"type": "object", "description": `+quoted+`, "required": [`+quoted+`], "properties": {
			`+quoted+`: {"type": `+quoted+`, "format": `+quoted+`, "pattern": `+quoted+`, "default": `+quoted+`, "enum": [`+quoted+`], "x-kubernetes-list-type": "map",
			"x-kubernetes-list-map-keys": [`+quoted+`], "x-kubernetes-validations": [{"rule": `+quoted+`}, {"message": `+quoted+`}], "items": {"description": `+quoted+`}}}},
			"m": {"additionalProperties": {"description": `+quoted+`}}}}`)
		checkComments(t, s, []byte(`{"a":{`+quoted+`:[1,2],"b":[`+quoted+`]},"m":{`+quoted+`:1,"z":2}}`))
	}
}

var templateSigns = regexp.MustCompile(`\{\{|\}\}|\{%|%\}|\{#|#\}|<%|%>|\$\{`)

// checkComments wants comments to change nothing, and to be visible text without code of templates.
func checkComments(t *testing.T, s *schema.Structural, object []byte) {
	t.Helper()
	plain, err := YAML(object)
	require.NoError(t, err)
	commented, err := New(s, "v1", "Any").Commented(object)
	require.NoError(t, err)
	want, err := yamlbridge.AppendJSON(nil, plain)
	require.NoError(t, err, "%q", plain)
	got, err := yamlbridge.AppendJSON(nil, commented)
	require.NoError(t, err, "%q", commented)
	require.Equal(t, string(want), string(got), "%s", commented)
	wantTree, err := parse(object)
	require.NoError(t, err)
	gotTree, err := parse(got)
	require.NoError(t, err)
	sameTree(t, wantTree, gotTree)
	for line := range strings.Lines(string(commented)) {
		line = strings.TrimSuffix(line, "\n")
		hidden := strings.ContainsFunc(line, func(r rune) bool {
			return r != ' ' && (!unicode.IsGraphic(r) || unicode.IsSpace(r) || unicode.Is(unicode.Cf, r))
		})
		if text := strings.TrimLeft(line, " -"); hidden || strings.HasPrefix(text, "#") && (!strings.HasPrefix(text, "# ") || templateSigns.MatchString(text)) {
			t.Fatalf("the line %q", line)
		}
	}
}

// TestCommentWidth: lines fit, except for words that do not.
func TestCommentWidth(t *testing.T) {
	s := schemaOf(t, `{"type": "object", "properties": {"a": {"description": "`+strings.Repeat("wörd ", 300)+`"}, "b": {"description": "`+strings.Repeat("word", 50)+` and more `+strings.Repeat("word", 50)+`"}}}`)
	got, err := New(s, "v1", "Any").Commented([]byte(`{"a":1,"b":2}`))
	require.NoError(t, err)
	lines := strings.Split(string(got), "\n")
	assert.Len(t, lines, 10)
	for _, line := range lines {
		if !strings.Contains(line, "wordword") {
			assert.LessOrEqual(t, utf8.RuneCountInString(line), 76, line)
		}
	}
	assert.Equal(t, "# wörd wörd wörd wörd wörd wörd ...", lines[4])
	assert.Equal(t, []string{"# " + strings.Repeat("word", 50), "# and more ...", "b: 2", ""}, lines[6:])
	// However deep it is, some words are on a line.
	deep := schemaOf(t, strings.Repeat(`{"properties":{"a":`, 50)+`{"description": "`+strings.Repeat("word ", 20)+`"}`+strings.Repeat("}}", 50))
	got, err = New(deep, "v1", "Any").Commented([]byte(strings.Repeat(`{"a":`, 50) + "1" + strings.Repeat("}", 50)))
	require.NoError(t, err)
	assert.Equal(t, 3, strings.Count(string(got), "#"))
}

// TestCommentRules: there are not more than one can read.
func TestCommentRules(t *testing.T) {
	s := schemaOf(t, `{"type": "object", "x-kubernetes-validations": [`+strings.Repeat(`{"rule": "true"}, `, 99)+`{}]}`)
	got, err := New(s, "v1", "Any").Commented([]byte(`{}`))
	require.NoError(t, err)
	assert.Equal(t, strings.Repeat("# rule: true\n", 20)+"# rule: ...\n{}\n", string(got))
}

// TestCommentedLoop has a schema that contains itself, as schemas of OpenAPI documents do.
func TestCommentedLoop(t *testing.T) {
	s := &schema.Structural{Type: "object", Description: "A node."}
	s.Properties = map[string]*schema.Structural{"next": s}
	s.Items = &schema.SchemaOrArray{Schemas: []*schema.Structural{s}}
	got, err := New(s, "v1", "Node").Commented([]byte(`{"next":{"next":[{}]}}`))
	require.NoError(t, err)
	assert.Equal(t, "# A node.\n# A node.\nnext:\n  # A node.\n  next:\n    - {}\n", string(got))
}

// FuzzCommented asserts that YAML has the value of the JSON, and that comments change nothing.
func FuzzCommented(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add([]byte(`{"type":"object","description":"a","properties":{"a":{"description":"b\nc","enum":["a"],"pattern":"^a"}}}`), []byte(`{"a":1}`))
	f.Add([]byte("description: \"a\\rb\"\nitems: {items: {description: a}, type: integer, minimum: 1}"), []byte(`[[1,"no",{"a":1e5}],[]]`))
	f.Add([]byte(`{"additionalProperties":{"x-kubernetes-validations":[{"rule":"{{a}}"}],"default":"a"}}`), []byte(`{"":{"a":[{"b":null}]},"":2}`))
	f.Fuzz(func(t *testing.T, definition, object []byte) {
		s, err := schema.Parse(definition)
		if err != nil || s == nil || len(definition)+len(object) > 1<<16 {
			return
		}
		if v, err := parseWhole(object); err != nil || !isReadable(v) {
			return
		}
		checkComments(t, s, object)
	})
}

// isReadable reports whether readers of YAML read all numbers.
func isReadable(v *value) bool {
	if v.kind == '0' {
		f, _ := strconv.ParseFloat(v.text, 64)
		return !math.IsInf(f, 0) && len(v.text) < yamlbridge.MaxNumberBytes/2
	}
	for _, m := range v.members {
		if !isReadable(m.value) {
			return false
		}
	}
	return true
}

// TestCommentedCorpus comments full objects of real definitions.
func TestCommentedCorpus(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped: it takes long")
	}
	objects := 0
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		if err != nil {
			continue
		}
		for _, crd := range crds {
			for _, v := range crd.Versions {
				m, err := Of(crd, v.Name)
				require.NoError(t, err)
				object, err := m.Full()
				if err != nil {
					continue
				}
				objects++
				checkComments(t, m.root, object)
				text, _ := m.Commented(object)
				assert.True(t, bytes.HasPrefix(text, []byte("# ")) || bytes.HasPrefix(text, []byte("apiVersion: ")), file.Name)
			}
		}
	}
	assert.Greater(t, objects, 100)
	t.Logf("%d objects", objects)
}
