package decoder

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
)

const simpleSchema = `
type: object
properties:
  s: {type: string}
  a-name-of-twenty-four-by: {type: string}
  "n": {type: integer}
  b: {type: boolean}
  o: {type: object, properties: {s: {type: string}, "n": {type: integer}}}
  list: {type: array, items: {type: object, properties: {s: {type: string}}}}
  strings: {type: array, items: {type: string}}
  defaulted: {type: array, items: {type: string, default: none}}
  map: {type: object, additionalProperties: {type: string}}
  maps: {type: object, additionalProperties: {type: object, additionalProperties: {type: string}}}
  objects: {type: object, additionalProperties: {type: object, properties: {s: {type: string}}}}
  half: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {s: {type: string}}}
  raw: {x-kubernetes-preserve-unknown-fields: true}
  dflt: {type: object, properties: {s: {type: string, default: some}, "n": {type: integer}}}
`

// TestSmallDocuments asserts that a small document has the same result as the document after so
// many blanks that it is not small.
func TestSmallDocuments(t *testing.T) {
	d := New(compileYAML(t, simpleSchema), Limits{NumberBytes: 9})
	const doc = `{"s":"a","dflt":{},"list":[{"s":"\n"},{}],"n":-12,"x":[1],"map":{"a":"b"},` +
		`"b":true,"o":{"n":1234567,"s":"some text"},"b":false}`
	before := strings.Repeat(" ", 4<<10)
	both := func(doc string) {
		out, err := d.AppendJSON(nil, []byte(doc))
		want, wantErr := d.AppendJSON(nil, []byte(before+doc))
		if err == nil || wantErr == nil {
			require.NoError(t, err, "%q", doc)
			require.NoError(t, wantErr, "%q", doc)
			require.Equal(t, strings.TrimLeft(string(want), " "), string(out), "%q", doc)
			return
		}
		require.IsType(t, wantErr, err, "%q", doc)
		var got, same *ferrors.SyntaxError
		if errors.As(err, &got) && errors.As(wantErr, &same) {
			require.Equal(t, same.Msg, got.Msg, "%q", doc)
			require.Equal(t, same.Position.Column-len(before), got.Position.Column, "%q", doc)
		}
	}
	for i := range len(doc) + 1 {
		for _, end := range []string{"", " ", "\x00", "\"", "0", "1234567", "}", "]", ",", ",\"s\":",
			"\\", "e1}", "\xff", "}}", "]}}"} {
			both(doc[:i] + end)
		}
	}
}

// TestBlanksBeforeNull has nulls that are dropped or defaulted, after any number of blanks, near
// the end of the window and far from it.
func TestBlanksBeforeNull(t *testing.T) {
	d := New(compileYAML(t, simpleSchema), Compact(true))
	for n := range 60 {
		for _, after := range []string{"", blanks} {
			for _, blank := range []string{strings.Repeat(" ", n), "\n" + strings.Repeat(" ", n),
				strings.Repeat("\t", n)} {
				out, err := d.AppendJSON(nil, []byte(`{"map":{"a":`+blank+`null,"b":`+blank+
					`null},"defaulted":[`+blank+`null],"s":`+blank+`null}`+after))
				require.NoError(t, err)
				require.Equal(t, `{"map":{},"defaulted":["none"]}`, string(out))
				out, err = d.AppendJSON(nil, []byte(`{"map":{"a":`+blank+`null}}`+after))
				require.NoError(t, err)
				require.Equal(t, `{"map":{}}`, string(out), "%d", n)
			}
		}
	}
}
