package decoder_test

import (
	"context"
	stderrors "errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/laws"
)

const aList = "{\"kind\": \"List\",\r\n \"m\":{\"é\":[1.5,true]},\"items\":[\n{" + isA +
	",\"x\":\"\\u00e9é\"},\r\n{" + isB + "}],\"z\":null}"

// TestSequenceTruncated asserts that a stream which ends too early never looks complete.
func TestSequenceTruncated(t *testing.T) {
	lookup := catalog(t).Lookup
	first := strings.Index(aList, "\n{") + 1
	ends := []int{first + len(`{`+isA+`,"x":"\u00e9é"}`), len(aList) - len(`],"z":null}`)}
	check := func(r io.Reader, n int) {
		all, err := visit(t, decoder.NewListSequence(r, lookup))
		var syntax *errors.SyntaxError
		require.ErrorAs(t, err, &syntax, "%q", aList[:n])
		require.Equal(t, io.ErrUnexpectedEOF, syntax.Err)
		require.Equal(t, int64(n), syntax.Position.Offset)
		line := 1 + strings.Count(aList[:n], "\n") + boolToInt(strings.HasSuffix(aList[:n], "\r"))
		require.Equal(t, line, syntax.Position.Line)
		require.Len(t, all, boolToInt(n >= ends[0])+boolToInt(n >= ends[1]))
	}
	defer decoder.SetFirstWindow(8)()
	for n := range len(aList) {
		check(strings.NewReader(aList[:n]), n)
		check(iotest.OneByteReader(strings.NewReader(aList[:n])), n)
		check(iotest.DataErrReader(strings.NewReader(aList[:n])), n)
	}
	object := `{"a":[1,"é"]}`
	for n := 1; n < len(object); n++ {
		all, err := visit(t, decoder.NewSequence(strings.NewReader(object+object[:n]), lookup))
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, int64(len(object)+n), err.(*errors.SyntaxError).Position.Offset)
		require.Len(t, all, 1)
	}
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A failing reader returns its error once, together with its last bytes, and then io.EOF.
type failing struct {
	text string
	err  error
}

func (f *failing) Read(p []byte) (int, error) {
	n := copy(p, f.text)
	if f.text = f.text[n:]; f.text != "" {
		return n, nil
	}
	err := f.err
	f.err = io.EOF
	return n, err
}

func TestSequenceOfFailingReader(t *testing.T) {
	lookup := catalog(t).Lookup
	cause := stderrors.New("the line is cut")
	stream := "{" + isA + "}\r\n{" + isB + "} 1"
	yaml := "apiVersion: e.io/v1\nkind: A\n---\nx: 1\n---\n- 1\n"
	for _, window := range []int{1, 16, 512} {
		defer decoder.SetFirstWindow(window)()
		for _, c := range []struct {
			make newSequence
			text string
		}{
			{decoder.NewSequence, stream}, {decoder.NewListSequence, aList},
			{decoder.NewYAMLSequence, yaml},
		} {
			whole, err := visit(t, c.make(strings.NewReader(c.text), lookup))
			require.Equal(t, io.EOF, err)
			for n := range len(c.text) + 1 {
				for _, r := range []io.Reader{
					&failing{c.text[:n], cause},
					&laws.Chunks{Text: []byte(c.text[:n]), Err: cause},
					iotest.OneByteReader(&laws.Chunks{Text: []byte(c.text[:n]), Err: cause}),
				} {
					all, err := visit(t, c.make(r, lookup))
					var failed *errors.IOError
					require.ErrorAs(t, err, &failed)
					require.Equal(t, &errors.IOError{Op: "read", Offset: int64(n), Err: cause}, failed)
					require.ErrorIs(t, err, cause)
					require.LessOrEqual(t, len(all), len(whole))
					for i := range all {
						require.Equal(t, whole[i], all[i])
					}
					if _, is := r.(*laws.Chunks); is && n == len(c.text) && strings.HasSuffix(c.text, "}") {
						require.Equal(t, whole, all)
					}
				}
			}
		}
	}
}

func TestSequenceOfIdleReader(t *testing.T) {
	_, err := visit(t, decoder.NewSequence(iotest.OneByteReader(&idle{}), catalog(t).Lookup))
	assert.Equal(t, &errors.IOError{Op: "read", Offset: 1, Err: io.ErrNoProgress}, err)
}

// An idle reader returns one byte, and then nothing.
type idle struct{ read bool }

func (r *idle) Read(p []byte) (int, error) {
	if r.read {
		return 0, nil
	}
	r.read = true
	p[0] = '{'
	return 1, nil
}

// TestSequenceLimit has objects that are as long as HeldBytes allows, and one byte longer.
func TestSequenceLimit(t *testing.T) {
	limits := decoder.Limits{HeldBytes: 41}
	fits := `{` + isA + `,"x":1}` // of 41 bytes
	large := `{` + isA + `,"x":"` + `"}`
	lookup := catalog(t).Lookup

	for _, c := range []struct {
		make                   newSequence
		before, between, after string
	}{
		{decoder.NewSequence, "\n", "\n", ""},
		// The members beside the items may be of any length.
		{decoder.NewListSequence, `{"a":"` + strings.Repeat("a", 1000) + `","items":[` + "\n", ",\n", "]}"},
	} {
		text := c.before + fits + c.between + fits + c.after
		all, err := visit(t, c.make(strings.NewReader(text), lookup, limits))
		require.Equal(t, io.EOF, err)
		require.Len(t, all, 2)
		require.NoError(t, all[1].err)
		checkCuts(t, text, c.make, limits)

		text = c.before + fits + c.between + large + c.after
		all, err = visit(t, c.make(strings.NewReader(text), lookup, limits))
		require.Len(t, all, 1)
		at := strings.LastIndex(text, large) + 41
		require.Equal(t, &errors.LimitError{
			Limit: errors.LimitHeldBytes, Max: 41,
			Position: errors.Position{Offset: int64(at), Line: 3, Column: 42, ByteColumn: 42},
		}, err)
		checkCuts(t, text, c.make, limits)
	}
}

// TestSequenceOtherLimits asserts that the other limits apply to skipped values, too.
func TestSequenceOtherLimits(t *testing.T) {
	for _, c := range []struct {
		limits    decoder.Limits
		make      newSequence
		text, end string
	}{
		{decoder.Limits{NameBytes: 5}, decoder.NewListSequence, `{"abcde":1, "items":[]}`, "EOF"},
		{decoder.Limits{NameBytes: 5}, decoder.NewListSequence, `{"abcde":1, "abcdef":[]}`, `1:13: length of a name in bytes exceeds the limit of 5`},
		{decoder.Limits{NameBytes: 5}, decoder.NewListSequence, `{"a":{"abcdef":1}}`, `1:7: length of a name in bytes exceeds the limit of 5`},
		{decoder.Limits{NumberBytes: 5}, decoder.NewSequence, `[123456]`, `1:2: length of a number in bytes exceeds the limit of 5`},
		{decoder.Limits{}, decoder.NewSequence, `{"a":"é` + "\xe4\xb8", `1:10: unexpected end of input within a string`},
		{decoder.Limits{Depth: 2}, decoder.NewSequence, `[[]] [[[]]]`, `1:8: depth of nesting exceeds the limit of 2`},
		{decoder.Limits{Depth: 2}, decoder.NewListSequence, `{"items":[[[]],[[[]]]]}`, `1:18: depth of nesting exceeds the limit of 2`},
		{decoder.Limits{HeldBytes: 9}, decoder.NewYAMLSequence, "a: 1\n---\na: 12345\n", `3:6: length of a document in bytes exceeds the limit of 9`},
	} {
		_, err := visit(t, c.make(strings.NewReader(c.text), catalog(t).Lookup, c.limits))
		assert.EqualError(t, err, c.end, c.text)
		checkCuts(t, c.text, c.make, c.limits)
	}
	// The length of a dropped name is the same wherever a window ends.
	for n := range 40 {
		blanks := strings.Repeat(" ", n)
		limit := decoder.Limits{NameBytes: 5}
		checkCuts(t, `{"a":{"b":1,`+blanks+`"abcde":2}}`, decoder.NewListSequence, limit)
		text := `{"a":{"b":1,` + blanks + `"abcdef":2}}`
		_, err := visit(t, decoder.NewListSequence(strings.NewReader(text), catalog(t).Lookup, limit))
		require.EqualError(t, err,
			fmt.Sprintf("1:%d: length of a name in bytes exceeds the limit of 5", 13+n))
		checkCuts(t, text, decoder.NewListSequence, limit)
	}
	// Type allows the same depth as the options, which may exceed the default.
	deep := `{` + isA + `,"x":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`
	s := decoder.NewSequence(strings.NewReader(deep), catalog(t).Lookup, decoder.Limits{Depth: 30_000})
	require.NoError(t, s.Next())
	out, err := s.AppendJSON(nil)
	require.NoError(t, err)
	assert.Equal(t, `{`+isA+`}`, string(out))
	_, _, err = decoder.PeekType([]byte(deep))
	assert.IsType(t, (*errors.LimitError)(nil), err, "which PeekType still has")
}

func TestSequenceContext(t *testing.T) {
	cause := stderrors.New("the client is gone")
	for _, c := range []struct {
		make newSequence
		text string
	}{
		{decoder.NewSequence, `{"a":1}`},
		{decoder.NewListSequence, `{"items":[1]}`},
		{decoder.NewYAMLSequence, "a: 1\n---\nb: 1\n"},
	} {
		ctx, cancel := context.WithCancelCause(context.Background())
		then := iotest.ErrReader(stderrors.New("read after all"))
		s := c.make(io.MultiReader(strings.NewReader(c.text), then), catalog(t).Lookup)
		s.SetContext(ctx)
		require.NoError(t, s.Next())
		cancel(cause)
		err := s.Next()
		var failed *errors.IOError
		require.ErrorAs(t, err, &failed)
		assert.EqualError(t, failed, fmt.Sprintf("read at offset %d: the client is gone", len(c.text)))
		assert.Equal(t, "read", failed.Op)
		assert.ErrorIs(t, err, cause)
		assert.ErrorIs(t, err, context.Canceled)
	}
}
