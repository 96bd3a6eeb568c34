package decoder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// TestSupersededMembers asserts what is left of objects with repeated names: the last member of a
// name, in its place, and the white space before the comma that follows a superseded one.
func TestSupersededMembers(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties:
  keep: {x-kubernetes-preserve-unknown-fields: true}
  walk: {type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}
  spec: {type: object}
`), Warn)
	for _, c := range []struct{ in, want string }{
		{`{"a": 1 , "a": 2 }`, `{ "a": 2 }`},
		{`{ "b":0 , "a":1 , "a":2 }`, `{ "b":0  , "a":2 }`},
		{`{"b":0,"a":1,"a":2,"a":3,"c":4}`, `{"b":0,"a":3,"c":4}`},
		{`{"b":1,"a":1,"b":2,"a":2}`, `{"b":2,"a":2}`},
		{`{"a":1,"b":1,"a":2,"c":3,"b":2}`, `{"a":2,"c":3,"b":2}`},
		{`{"a":{"b":1,"b":2},"a":{"b":3,"b":4}}`, `{"a":{"b":4}}`},
		{`{"a":[{"b":1,"b":2} ] ,"a":[{"b":3,"b":4},{"b":5,"b":6}],"c":1,"c":2}`, `{"a":[{"b":4},{"b":6}],"c":2}`},
		{`{"a":"x\"","\u0061":"y","a" : "" }`, `{"a" : "" }`},
		{`{"":0,"":1,"":2}`, `{"":2}`},
		{"{\"b\":0 ,\"a\":1\n,\"a\":2\t, \"a\":3}", "{\"b\":0 \n\t, \"a\":3}"},
	} {
		got, err := d.AppendJSON(nil, []byte(`{"keep":`+c.in+`,"walk":`+c.in+`,"drop":`+c.in+
			`,"spec":{"drop":`+c.in+`}}`))
		require.NoError(t, err, c.in)
		assert.Equal(t, `{"keep":`+c.want+`,"walk":`+c.want+`,"spec":{}}`, string(got), c.in)
	}
}

// TestWhiteSpaceOfModes asserts that the white space before the commas of dropped members stays,
// whether they are unknown or superseded.
func TestWhiteSpaceOfModes(t *testing.T) {
	p := compileYAML(t, "type: object\nproperties: {a: {type: integer}}")
	for in, want := range map[string]string{
		"{\"a\":1 ,\"X\":1\n,\"X\":2\t, \"X\":3\r}":           "{\"a\":1 \n\t\r}",
		"{\"a\":1,\n\"X\":1,\n\"X\":2,\n\"X\":3\n}":           "{\"a\":1\n}",
		"{ \"X\":1\n,\"X\":2\t, \"X\":3 , \"a\":1 }":          "{ \"a\":1 }",
		"{\"a\":1 ,\"X\":1\n,\"Y\":2\t, \"X\":3\r,\"Y\":4\n}": "{\"a\":1 \n\t\r\n}",
	} {
		for _, v := range []FieldValidation{Warn, Strict, Ignore} {
			got, _ := New(p, v).AppendJSON(nil, []byte(in))
			assert.Equal(t, want, string(got), "%s of %q", v, in)
		}
	}
}

// TestFirstDuplicates asserts that the first duplicates in the document are kept if there are too
// many, in whatever order their objects close.
func TestFirstDuplicates(t *testing.T) {
	d := New(compileYAML(t, "type: object"), Strict, Limits{Findings: 2})
	for _, c := range []struct {
		in          string
		first, then string // the texts at the first two repetitions
		omitted     int
	}{
		{`{"a":1,"a":2,"a":3,"b":4,"b":5,"c":6,"c":7}`, `"a":2`, `"b":5`, 1},
		{`{"a":1,"a":2,"b":[{"c":3,"c":4,"d":5,"d":6},{"e":7,"e":8}]}`, `"a":2`, `"c":4`, 2},
		{`{"a":{"b":1,"b":2,"c":3,"c":4},"a":5}`, `"b":2`, `"c":4`, 1},
		{`{"a":[{"b":1,"b":2}],"a":[{"b":3,"b":4}],"c":[{"d":5,"d":6}]}`, `"b":2`, `"a":[{"b":3`, 2},
	} {
		_, err := d.AppendJSON(nil, []byte(`{"x":`+c.in+`}`))
		var strict *errors.StrictError
		require.ErrorAs(t, err, &strict, c.in)
		require.Len(t, d.Findings(), 2, c.in)
		for i, want := range []string{c.first, c.then} {
			f := d.Findings()[i]
			require.Equal(t, errors.DuplicateField, f.Kind, c.in)
			assert.Equal(t, strings.Index(c.in, want)+len(`{"x":`), int(f.Position.Offset), c.in)
		}
		assert.Equal(t, c.omitted+1, d.Omitted(), "%s: and that x is unknown", c.in)
	}
}

// TestLimitAfterRepetitions exceeds a limit only in the walk that leaves out superseded members.
func TestLimitAfterRepetitions(t *testing.T) {
	d := New(compileYAML(t, testSchema), Limits{DefaultBytes: 100})
	_, err := d.AppendJSON(nil, []byte(`{"n":1,"n":2,"list":[`+strings.Repeat("{},", 30)+
		`{}],"x":1,"x":2}`))
	require.ErrorContains(t, err, "size of inserted defaults in bytes exceeds the limit of 100")
}
