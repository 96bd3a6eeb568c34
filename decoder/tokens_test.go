package decoder_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
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
	d := decoder.New(compile(t, `{type: object}`), decoder.WithLimits(decoder.Limits{Findings: 1}))
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
	for v, name := range map[decoder.Validation]string{decoder.Warn: "Warn", decoder.Strict: "Strict", decoder.Ignore: "Ignore"} {
		assert.Equal(t, name, v.String())
	}
}
