package decoder_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestTokens goes through a document, as jsontext.Decoder would through its result.
func TestTokens(t *testing.T) {
	d := decoder.New(compile(t, `{type: object, properties: {list: {type: array, items: {type: integer}}, s: {type: string}}}`))
	const doc, result = `{"list":[1,2],"x":3,"s":"a"}`, `{"list":[1,2],"s":"a"}`
	tokens := d.Tokens(strings.NewReader(`{"another":1}`))
	tokens.Reset(strings.NewReader(doc))

	assert.Equal(t, jsontext.BeginObject.Kind(), tokens.PeekKind())
	for _, want := range []string{"{", "list", "["} {
		token, err := tokens.ReadToken()
		require.NoError(t, err)
		assert.Equal(t, want, token.String())
	}
	assert.Equal(t, 2, tokens.StackDepth())
	kind, length := tokens.StackIndex(1)
	assert.Equal(t, jsontext.BeginObject.Kind(), kind)
	assert.Equal(t, int64(2), length, "a name and a value")
	require.NoError(t, tokens.SkipValue())
	assert.Equal(t, jsontext.Pointer("/list/0"), tokens.StackPointer())
	assert.Equal(t, int64(strings.Index(result, ",2")), tokens.InputOffset())
	value, err := tokens.ReadValue()
	require.NoError(t, err)
	assert.Equal(t, "2", string(value))
	_, err = tokens.ReadToken() // ]
	require.NoError(t, err)
	require.NoError(t, tokens.SkipValue())
	require.NoError(t, tokens.SkipValue())
	_, err = tokens.ReadToken() // }
	require.NoError(t, err)
	_, err = tokens.ReadToken()
	assert.Equal(t, io.EOF, err)
	require.NoError(t, tokens.Err())
	assert.Equal(t, `1:15: unknown field "x"`, details(tokens.Findings()))
	assert.Zero(t, tokens.Omitted())
}

// TestTokensContext holds that the context stays when the reader is reset, and that its cause comes through.
func TestTokensContext(t *testing.T) {
	cause := errors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	tokens := decoder.New(compile(t, `{type: object}`)).Tokens(strings.NewReader(`{}`))
	tokens.SetContext(ctx)
	require.NoError(t, tokens.SkipValue())
	cancel(cause)
	tokens.Reset(strings.NewReader(`{}`))
	assert.ErrorIs(t, tokens.SkipValue(), cause)
	assert.ErrorIs(t, tokens.Err(), cause)
}

// TestOmittedOnStreams holds that readers and writers count what they have not kept.
func TestOmittedOnStreams(t *testing.T) {
	const doc = `{"a":1,"b":2,"c":3}`
	d := decoder.New(compile(t, `{type: object}`), decoder.Limits{Findings: 1})
	r := d.NewReader(strings.NewReader(doc))
	n, err := r.Read(nil)
	require.NoError(t, err)
	assert.Zero(t, n, "nothing was asked for")
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(out))
	assert.Equal(t, `1:2: unknown field "a"`, details(r.Findings()))
	assert.Equal(t, 2, r.Omitted())

	var b strings.Builder
	w := d.NewWriter(&b)
	_, err = io.WriteString(w, doc)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Equal(t, "{}", b.String())
	assert.Equal(t, `1:2: unknown field "a"`, details(w.Findings()))
	assert.Equal(t, 2, w.Omitted())
}

// A miscounter returns counts that no reader or writer may return.
type miscounter int

func (n miscounter) Read([]byte) (int, error)  { return int(n), nil }
func (n miscounter) Write([]byte) (int, error) { return int(n), nil }

func TestInvalidCounts(t *testing.T) {
	d := decoder.New(compile(t, `{type: object}`))
	for _, n := range []miscounter{-1, 1 << 30} {
		_, err := io.ReadAll(d.NewReader(n))
		require.ErrorContains(t, err, "read at offset 0: it returned an invalid count")
		objects := decoder.NewSequence(n, func(string, string) (*schema.Program, error) { return nil, nil })
		require.ErrorContains(t, objects.Next(), "read at offset 0: it returned an invalid count")
		w := d.NewWriter(n)
		_, err = io.WriteString(w, "{}")
		require.NoError(t, err)
		require.ErrorContains(t, w.Close(), "write at offset 0: it returned an invalid count")
		require.Error(t, w.Close(), "the error stays")
	}
}

func TestValidationNames(t *testing.T) {
	for v, name := range map[decoder.FieldValidation]string{decoder.Warn: "Warn", decoder.Strict: "Strict", decoder.Ignore: "Ignore"} {
		assert.Equal(t, name, v.String())
	}
}

// TestTokensStrict holds that whoever reads a document to its last token sees that it is refused, whatever it is
// read with; and that the methods of a TokenReader give it whole before they say so.
func TestTokensStrict(t *testing.T) {
	p := compile(t, "{type: object, properties: {a: {}, o: {type: object, properties: {b: {type: integer}}}}}")
	list := compile(t, "{type: array, items: {type: object, properties: {b: {type: integer}}}}", schema.ResourceRoot(false))
	for _, c := range []struct {
		p           *schema.Program
		doc, result string
	}{
		{p, `{"x":1}`, `{}`}, {p, `{"a":12,"x":1}`, `{"a":12}`}, {p, `{"x":1,"a":12}`, `{"a":12}`},
		{p, `{"o":{"b":1,"x":2}}`, `{"o":{"b":1}}`}, {p, `{"a":"` + strings.Repeat("long", 1<<14) + `","x":1}`, `{"a":"` + strings.Repeat("long", 1<<14) + `"}`},
		{list, `[{"b":1,"x":1}]`, `[{"b":1}]`},
	} {
		for _, opts := range [][]decoder.Option{{}, {decoder.Compact(true)}, {decoder.ServerTypedRequests}} {
			d := decoder.New(c.p, append(opts, decoder.Strict)...)
			tokens := d.Tokens(strings.NewReader(`{"`))
			restart := func() *decoder.TokenReader { tokens.Reset(strings.NewReader(c.doc)); return tokens }
			var strict *ferrors.StrictError

			for name, read := range map[string]func(from *jsontext.Decoder) error{
				"json.UnmarshalDecode": func(from *jsontext.Decoder) error { var v any; return json.UnmarshalDecode(from, &v) },
				"a struct": func(from *jsontext.Decoder) error {
					var v struct{ A, O any }
					var all []struct{ B int }
					if from.PeekKind() == '[' {
						return json.UnmarshalDecode(from, &all)
					}
					return json.UnmarshalDecode(from, &v)
				},
				"ReadValue": func(from *jsontext.Decoder) error { _, err := from.ReadValue(); return err },
				"SkipValue": func(from *jsontext.Decoder) error { return from.SkipValue() },
				"ReadToken": func(from *jsontext.Decoder) error {
					for {
						if _, err := from.ReadToken(); err != nil || from.StackDepth() == 0 {
							return err
						}
					}
				},
			} {
				require.ErrorAs(t, read(restart().Decoder()), &strict, "%s of %.30s", name, c.doc)
				require.Equal(t, strict, tokens.Err())
			}

			// The methods of the reader.
			value, err := restart().ReadValue()
			require.NoError(t, err)
			require.Equal(t, c.result, string(value))
			_, err = tokens.ReadToken()
			require.Equal(t, tokens.Err(), err)
			require.ErrorAs(t, err, &strict)
			require.NoError(t, restart().SkipValue())
			require.ErrorAs(t, tokens.SkipValue(), &strict)

			restart()
			for closed := false; ; closed = tokens.StackDepth() == 0 { // without a look at what comes
				if _, err := tokens.ReadToken(); err != nil {
					require.ErrorAs(t, err, &strict)
					require.True(t, closed, "the last token comes before the error")
					break
				}
			}

			var text strings.Builder
			for restart(); ; {
				kind := tokens.PeekKind()
				token, err := tokens.ReadToken()
				if err != nil {
					require.ErrorAs(t, err, &strict)
					require.Equal(t, jsontext.KindInvalid, kind)
					break
				}
				require.Equal(t, token.Kind(), kind)
				text.WriteString(token.String())
				if tokens.StackDepth() == 1 && kind == '{' && c.p == p {
					for tokens.PeekKind() == '"' { // as others go over the members of an object
						name, err := tokens.ReadToken()
						require.NoError(t, err)
						text.WriteString(name.String())
						require.NoError(t, tokens.SkipValue())
					}
					require.Equal(t, jsontext.KindEndObject, tokens.PeekKind())
				}
			}
			require.Contains(t, []string{"{}", "{a}", "{o}", "[{b1}]"}, text.String())
			require.Equal(t, strict, tokens.Err())
		}
	}
}

// TestValidationText holds that a name is read as it is written, and no other is read.
func TestValidationText(t *testing.T) {
	for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore} {
		text, err := v.MarshalText()
		require.NoError(t, err)
		var back decoder.FieldValidation
		require.NoError(t, back.UnmarshalText(text))
		assert.Equal(t, v, back)
	}
	v := decoder.Strict
	for _, name := range []string{"", "strict", "Validation(9)"} {
		require.ErrorContains(t, v.UnmarshalText([]byte(name)), `there is no field validation called "`+name+`": it is Warn, Strict or Ignore`)
	}
	assert.Equal(t, decoder.Strict, v)
	_, err := decoder.FieldValidation(9).MarshalText()
	require.EqualError(t, err, "decoder: there is no FieldValidation(9)")
}
