package decoder

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// testSchema has one of each thing that the walker treats in its own way.
const testSchema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  "n": {type: integer}
  s: {type: string, default: dflt}
  longer-than-sixteen-bytes: {type: string}
  "é\"\\": {type: string}
  nul: {type: string, nullable: true}
  drop: {type: string}
  obj:
    type: object
    default: {b: 2}
    properties:
      a: {type: string, default: abc}
      b: {type: integer}
      deep: {type: object, properties: {x: {type: object, properties: {y: {type: integer}}}}}
  list:
    type: array
    items:
      type: object
      properties:
        name: {type: string}
        d: {type: boolean, default: true}
  nulls: {type: array, items: {type: string, default: Z}}
  map: {type: object, additionalProperties: {type: string}}
  objs: {type: object, additionalProperties: {type: object, properties: {x: {type: integer, default: 1}}}}
  raw: {type: object, x-kubernetes-preserve-unknown-fields: true}
  half:
    type: object
    x-kubernetes-preserve-unknown-fields: true
    properties: {known: {type: object, properties: {k: {type: string}}}}
  emb: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
`

func compileYAML(t testing.TB, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return p
}

func details(l ferrors.List) []string {
	var texts []string
	for i := range l {
		texts = append(texts, l[i].Detail())
	}
	return texts
}

func testSmoke(t *testing.T) {
	p := compileYAML(t, testSchema)
	d := New(p)
	for _, in := range []string{
		`{}`, `{"n":1}`, `{ "x" : 1 , "n" : 2 , "y":[1,{"a":2}] }`, `{"x":1}`, `{"n":1,"n":2,"x":{"a":1,"a":2,"a":3}}`,
		`{"obj":null,"drop":null,"nul":null,"nulls":[null,"a"],"map":{"a":null,"b":"c"},"objs":{"a":{},"b":null}}`,
		`{"raw":{"a":[{"b":1,"b":{"c":1}}]},"half":{"u":{"v":1},"known":{"k":"","l":1}}}`,
		`{"metadata":{"name":"x","evil":1,"labels":{"a":"b"}},"emb":{"kind":"K","metadata":{"evil":2,"name":"n"},"z":1}}`,
		"{\n \"list\": [\n  {\"name\": \"a\", \"u\": 1},\r\n  {\"d\": false}\n ], \"s\": \"\\u0041\"\n}",
		`{"kind":5}`, `{"n":tru}`, `[1]`, `{"n":1} x`, `{"zz":[{]}}`, "{\"zz\":\"\xff\"}", `{"zz":1e400}`,
	} {
		out, err := d.AppendJSON(nil, []byte(in))
		fmt.Printf("%s\n  %s\n  %v\n  %v\n", in, out, err, details(d.Findings()))
	}
	_ = bytes.Equal
	_ = errors.Is
	_ = strings.Repeat
	_ = assert.Equal
}
