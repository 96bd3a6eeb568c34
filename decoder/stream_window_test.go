package decoder

import (
	"bytes"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/schema"
)

// TestWindows asserts the sizes of windows. A window grows to a size that is good for reading if
// there is much to read, and beyond it only for a value that does not fit. The window of a Reader
// stays small if its source returns little at a time.
func TestWindows(t *testing.T) {
	p := compileYAML(t, testSchema)
	lookup := func(apiVersion, kind string) (*schema.Program, error) { return p, nil }
	reader := func(src io.Reader) int {
		d := New(p)
		_, err := io.Copy(io.Discard, d.NewReader(src))
		require.NoError(t, err)
		return cap(d.stream)
	}
	sequence := func(src io.Reader) int {
		s := NewListSequence(src, lookup)
		err := s.Next()
		for ; err == nil; err = s.Next() {
		}
		require.Equal(t, io.EOF, err)
		return cap(s.values.buf)
	}
	many := `{"items":[` + strings.Repeat(`{"name":"x"},`, 20_000) + `{}]}`
	long := `{"items":[{"` + strings.Repeat("x", 40_000) + `":1}]}`
	for name, window := range map[string]func(io.Reader) int{"reader": reader, "sequence": sequence} {
		assert.Equal(t, largeWindow, window(strings.NewReader(many)), name)
		assert.Equal(t, 2*largeWindow, window(strings.NewReader(long)), name)
	}
	assert.Equal(t, largeWindow, sequence(strings.NewReader(`{"beside":[`+strings.Repeat(`"x",`, 50_000)+`1],"items":[{}]}`)))
	for _, text := range []string{"0." + strings.Repeat("1", 1<<20), `{"a":"` + strings.Repeat("x", 1<<20), `{"` + strings.Repeat("x", 1<<20), `[` + strings.Repeat(" ", 1<<20)} {
		s := NewSequence(strings.NewReader(text), lookup, Limits{HeldBytes: 1000, NumberBytes: 1 << 30, NameBytes: 1 << 30})
		require.IsType(t, (*ferrors.LimitError)(nil), s.Next())
		assert.LessOrEqual(t, cap(s.values.buf), 4*firstWindow)
	}
	assert.Equal(t, firstWindow, reader(iotest.OneByteReader(strings.NewReader(many))))
}

// TestLineBreakBetweenWindows lets the window end between the two bytes of a line break.
func TestLineBreakBetweenWindows(t *testing.T) {
	defer SetFirstWindow(16)()
	p := compileYAML(t, testSchema)
	for n := range 40 {
		d := New(p) // its window has not grown
		src := `{"n":1` + strings.Repeat(" ", n) + "\r\n,\r\"u\":1}"
		_, err := io.Copy(io.Discard, d.NewReader(iotest.OneByteReader(strings.NewReader(src))))
		require.NoError(t, err)
		require.Equal(t, []string{`3:1: unknown field "u"`}, details(d.Findings()), "%q", src)
	}
}

// TestNullAtEndOfWindow lets the window end within a null that is dropped. The name of the null
// stays in the window when other names leave it, and its position must be known when it comes
// again.
func TestNullAtEndOfWindow(t *testing.T) {
	defer SetFirstWindow(64)()
	p := compileYAML(t, testSchema)
	for blanks := range 100 {
		src := `{"map":{"a":"1",` + strings.Repeat(" ", blanks)
		first := int64(len(src))
		src += `"b":null,"c":"` + strings.Repeat("x", 64) + `",`
		second := int64(len(src))
		src += `"b":"2"}}`
		_, err := io.Copy(io.Discard, New(p).NewReader(iotest.OneByteReader(strings.NewReader(src))))
		var duplicate *ferrors.DuplicateError
		require.ErrorAs(t, err, &duplicate)
		require.Equal(t, first, duplicate.First.Offset, "%d blanks", blanks)
		require.Equal(t, second, duplicate.Position.Offset, "%d blanks", blanks)
	}
}

// TestBuffersAreKeptWithinStream asserts that a decoder lets go of buffers between streams, but not
// within one.
func TestBuffersAreKeptWithinStream(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	d.result = make([]byte, 0, 2*largeBuffer)
	var out bytes.Buffer
	w := d.NewWriter(&out)
	src := `{"list":[` + strings.Repeat(`{"name":"a"},`, maxIdleCalls) + `{"x":1}]}`
	for i := range src {
		_, err := w.Write([]byte(src[i : i+1]))
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	want, err := New(compileYAML(t, testSchema)).AppendJSON(nil, []byte(src))
	require.NoError(t, err)
	require.Equal(t, string(want), out.String())
	require.GreaterOrEqual(t, d.heldBytes(), 2*largeBuffer)
	for range maxIdleCalls {
		_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(`{}`)))
		require.NoError(t, err)
	}
	assert.Less(t, d.heldBytes(), largeBuffer)
}

// TestWriterWritesMuchAtOnce asserts that a Writer writes before Close, in large parts.
func TestWriterWritesMuchAtOnce(t *testing.T) {
	var writes []int
	target := countWrites(func(n int) { writes = append(writes, n) })
	w := New(compileYAML(t, testSchema)).NewWriter(target)
	const items = 20_000
	_, err := io.WriteString(w, `{"raw":[`)
	require.NoError(t, err)
	for range items {
		_, err = io.WriteString(w, `"abcdefg",`)
		require.NoError(t, err)
	}
	require.Len(t, writes, items*len(`"abcdefg",`)/flushAt)
	for _, n := range writes {
		require.Less(t, n, flushAt+100)
	}
}

type countWrites func(n int)

func (f countWrites) Write(p []byte) (int, error) { f(len(p)); return len(p), nil }

// TestDocumentInTwoParts has parts that are large enough for the simple machine, which starts with
// documents only.
func TestDocumentInTwoParts(t *testing.T) {
	for _, c := range []struct{ schema, src string }{
		{testSchema, `{"s":"some text, and more","list":[{"name":"a","d":false},{"d":null}],"zz":null,"obj":{"a":"x"}}`},
		{"x-kubernetes-preserve-unknown-fields: true", `{"s":"some text, and more","list":[{"name":"a"},{"d":null}],"obj":{"a":"x"}}`},
	} {
		d := New(compileYAML(t, c.schema, schema.ResourceRoot(false)))
		blanks := strings.Repeat(" ", skip.Slack)
		src := blanks + c.src + blanks
		want, err := d.AppendJSON(nil, []byte(src))
		require.NoError(t, err)
		found := details(d.Findings())
		for at := range src {
			var out bytes.Buffer
			w := d.NewWriter(&out)
			for _, part := range []string{src[:at], src[at:]} {
				_, err := io.WriteString(w, part)
				require.NoError(t, err, "%d", at)
			}
			require.NoError(t, w.Close(), "%d", at)
			require.Equal(t, strings.TrimSpace(string(want)), strings.TrimSpace(out.String()), "%d", at)
			require.Equal(t, found, details(d.Findings()), "%d", at)
		}
	}
	w := New(compileYAML(t, testSchema)).NewWriter(io.Discard)
	_, err := io.WriteString(w, `{}`)
	require.NoError(t, err)
	_, err = io.WriteString(w, `{"s":"another document"}`)
	require.ErrorContains(t, err, "1:3: something follows the document")
}
