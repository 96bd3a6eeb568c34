package tokens_test

import (
	"bytes"
	"context"
	stderrors "errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/tokens"
)

func compile(t testing.TB, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return p
}

// TestReader reads a document as jsontext.Decoder would read its result.
func TestReader(t *testing.T) {
	d := decoder.New(compile(t, `{type: object, properties: {list: {type: array, items: {type: integer}}, s: {type: string}}}`))
	const doc, result = `{"list":[1,2],"x":3,"s":"a"}`, `{"list":[1,2],"s":"a"}`
	r := tokens.NewReader(d, strings.NewReader(`{"another":1}`))
	r.Reset(strings.NewReader(doc))

	assert.Equal(t, jsontext.BeginObject.Kind(), r.PeekKind())
	for _, want := range []string{"{", "list", "["} {
		token, err := r.ReadToken()
		require.NoError(t, err)
		assert.Equal(t, want, token.String())
	}
	assert.Equal(t, 2, r.StackDepth())
	kind, length := r.StackIndex(1)
	assert.Equal(t, jsontext.BeginObject.Kind(), kind)
	assert.Equal(t, int64(2), length, "a name and a value")
	require.NoError(t, r.SkipValue())
	assert.Equal(t, jsontext.Pointer("/list/0"), r.StackPointer())
	assert.Equal(t, int64(strings.Index(result, ",2")), r.InputOffset())
	value, err := r.ReadValue()
	require.NoError(t, err)
	assert.Equal(t, "2", string(value))
	_, err = r.ReadToken() // ]
	require.NoError(t, err)
	require.NoError(t, r.SkipValue())
	require.NoError(t, r.SkipValue())
	_, err = r.ReadToken() // }
	require.NoError(t, err)
	_, err = r.ReadToken()
	assert.Equal(t, io.EOF, err)
	require.NoError(t, r.Err())
	assert.Equal(t, `1:15: unknown field "x"`, r.Findings()[0].Detail())
	assert.Zero(t, r.Omitted())
}

// TestContext holds that the context stays when the reader is reset, and that its cause is
// returned.
func TestContext(t *testing.T) {
	cause := stderrors.New("enough")
	ctx, cancel := context.WithCancelCause(t.Context())
	r := tokens.NewReader(decoder.New(compile(t, `{type: object}`)), strings.NewReader(`{}`))
	r.SetContext(ctx)
	require.NoError(t, r.SkipValue())
	cancel(cause)
	r.Reset(strings.NewReader(`{}`))
	assert.ErrorIs(t, r.SkipValue(), cause)
	assert.ErrorIs(t, r.Err(), cause)
}

// TestStrict holds that whoever reads a document to its last token sees that it is refused, by
// whichever methods, and that the methods of a Reader return all of it before the error.
func TestStrict(t *testing.T) {
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
			r := tokens.NewReader(d, strings.NewReader(`{"`))
			restart := func() *tokens.Reader { r.Reset(strings.NewReader(c.doc)); return r }
			var strict *errors.StrictError

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
				require.Equal(t, strict, r.Err())
			}

			// The methods of the reader.
			value, err := restart().ReadValue()
			require.NoError(t, err)
			require.Equal(t, c.result, string(value))
			_, err = r.ReadToken()
			require.Equal(t, r.Err(), err)
			require.ErrorAs(t, err, &strict)
			require.NoError(t, restart().SkipValue())
			require.ErrorAs(t, r.SkipValue(), &strict)

			restart()
			// Without a look at the next token.
			for closed := false; ; closed = r.StackDepth() == 0 {
				if _, err := r.ReadToken(); err != nil {
					require.ErrorAs(t, err, &strict)
					require.True(t, closed, "the last token comes before the error")
					break
				}
			}

			var text strings.Builder
			for restart(); ; {
				kind := r.PeekKind()
				token, err := r.ReadToken()
				if err != nil {
					require.ErrorAs(t, err, &strict)
					require.Equal(t, jsontext.KindInvalid, kind)
					break
				}
				require.Equal(t, token.Kind(), kind)
				text.WriteString(token.String())
				if r.StackDepth() == 1 && kind == '{' && c.p == p {
					for r.PeekKind() == '"' { // as others iterate over the members of an object
						name, err := r.ReadToken()
						require.NoError(t, err)
						text.WriteString(name.String())
						require.NoError(t, r.SkipValue())
					}
					require.Equal(t, jsontext.KindEndObject, r.PeekKind())
				}
			}
			require.Contains(t, []string{"{}", "{a}", "{o}", "[{b1}]"}, text.String())
			require.Equal(t, strict, r.Err())
		}
	}
}

// TestNoSource holds that a reader without a source says so, and can be given one.
func TestNoSource(t *testing.T) {
	r := tokens.NewReader(decoder.New(compile(t, `{type: object}`)), nil)
	for range 2 {
		_, err := r.ReadToken()
		require.EqualError(t, err, "decoder: a Reader has nothing to read from before Reset")
		require.Equal(t, err, r.Err())
		r.Reset(nil)
	}
	r.Reset(strings.NewReader(`{"a":1}`))
	value, err := r.ReadValue()
	require.NoError(t, err)
	require.Equal(t, "{}", string(value))
}

// TestSource holds that nothing of a document is lost whether its end is seen early or late, and
// that a fault within it is returned.
func TestSource(t *testing.T) {
	p := compile(t, "{type: object, properties: {list: {type: array, items: {type: string}}}}")
	for _, n := range []int{0, 1, 2, 30, 1000, 100_000} {
		if n > 1000 && testing.Short() {
			continue // the race detector looks at all of a buffer with each byte that arrives
		}
		result := `{"list":[` + strings.TrimSuffix(strings.Repeat(`"some text",`, n), ",") + `]}`
		doc := strings.TrimSuffix(result, "}") + `,"x":1}`
		for name, wrap := range map[string]func(io.Reader) io.Reader{
			"as it is": func(r io.Reader) io.Reader { return r }, "half": iotest.HalfReader,
			"the end with the last bytes": iotest.DataErrReader, "byte by byte": iotest.OneByteReader,
		} {
			for _, validation := range []decoder.FieldValidation{decoder.Warn, decoder.Strict} {
				r := tokens.NewReader(decoder.New(p, validation), wrap(strings.NewReader(doc)))
				value, err := r.ReadValue()
				require.NoError(t, err, name)
				require.Equal(t, result, string(value), name)
				_, err = r.ReadToken()
				if validation == decoder.Strict {
					require.IsType(t, (*errors.StrictError)(nil), err, name)
				} else {
					require.Equal(t, io.EOF, err, name)
				}
				require.Len(t, r.Findings(), 1)

				r.Reset(wrap(io.MultiReader(strings.NewReader(doc[:len(doc)-1]), iotest.ErrReader(io.ErrClosedPipe))))
				_, err = r.ReadValue()
				require.ErrorIs(t, err, io.ErrClosedPipe, name)
				require.ErrorIs(t, r.Err(), io.ErrClosedPipe, name)
				r.Reset(wrap(strings.NewReader(doc[:len(doc)-1])))
				require.ErrorIs(t, r.SkipValue(), io.ErrUnexpectedEOF, name)
			}
		}
	}
}

// TestWaitsForNothing holds that tokens are returned as soon as they are decided. A reader that
// looked ahead before the document has ended would wait for the sender.
func TestWaitsForNothing(t *testing.T) {
	from, to := io.Pipe()
	r := tokens.NewReader(decoder.New(compile(t, "{type: object, properties: {list: {type: array, items: {type: integer}}}}")), from)
	sent := make(chan struct{})
	go func() {
		_, _ = io.WriteString(to, `{"list":[10,20,30,`)
		<-sent
		_, _ = io.WriteString(to, `40]}`)
		_ = to.Close()
	}()
	for _, want := range []string{"{", "list", "[", "10", "20"} {
		token, err := r.ReadToken()
		require.NoError(t, err)
		require.Equal(t, want, token.String())
	}
	close(sent)
	for _, want := range []string{"30", "40", "]", "}"} {
		token, err := r.ReadToken()
		require.NoError(t, err)
		require.Equal(t, want, token.String())
	}
	_, err := r.ReadToken()
	require.Equal(t, io.EOF, err)
}

// BenchmarkReader reads the tokens of a document of a megabyte.
func BenchmarkReader(b *testing.B) {
	p := compile(b, "{type: object, properties: {list: {type: array, items: {type: object, properties: {name: {type: string}, n: {type: integer}}}}}}")
	doc := []byte(`{"list":[` + strings.Repeat(`{"name":"some text","n":12,"unknown":[1,2,3]},`, 20_000) + `{}]}`)
	from := bytes.NewReader(doc)
	r := tokens.NewReader(decoder.New(p, decoder.Ignore), from)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		from.Reset(doc)
		r.Reset(from)
		for {
			if _, err := r.ReadToken(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}
