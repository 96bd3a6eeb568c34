package yamlbridge_test

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// text returns a document with its place, as one string.
func text(d yamlbridge.Document) string {
	return fmt.Sprintf("%v, offset %d: %q", d.Origin, d.Origin.Offset, d.Bytes)
}

func wholeStream(src []byte) (docs []string) {
	for d := range yamlbridge.Documents(src) {
		docs = append(docs, text(d))
	}
	return docs
}

// readStream returns the documents of a reader up to its first error. The error is returned again
// when the reader is asked again.
func readStream(t *testing.T, r io.Reader, limit int) (docs []string, err error) {
	t.Helper()
	d := yamlbridge.NewDocumentReader(r)
	d.Limit = limit
	for {
		doc, err := d.Next()
		if err != nil {
			again, err2 := d.Next()
			if err2 != err || again.Bytes != nil || doc.Bytes != nil {
				t.Fatalf("after %v comes %v", err, err2)
			}
			return docs, err
		}
		docs = append(docs, text(doc))
	}
}

// cutReader returns src in reads that end at the given offsets.
func cutReader(src []byte, cuts ...int) io.Reader {
	var parts []io.Reader
	for from := 0; from < len(src); {
		to := len(src)
		if len(cuts) > 0 {
			to, cuts = min(cuts[0], to), cuts[1:]
		}
		parts = append(parts, bytes.NewReader(src[from:to]))
		from = to
	}
	return io.MultiReader(parts...)
}

var streams = []string{
	"", "\n# c\n", "---\n---\n# c\n...\n", "\uFEFF", "a: 1", "a\n---\nb\n", "---\r\na: 1\r\n---\r\nb: 2\r\n", "a: 1\r---\rb: 2\r\r\n",
	"# c\n---\n# c\n---\nb: 2\n", "a\n---\n---\nb", "--- a\n--- # c\n---\tb\n---", "a\n---b\n----\n--", "a\n...\n# c\n%YAML 1.2\n---\nb\n",
	"a\n...\n\uFEFFb\n\uFEFF---\nc", "...\n...\na", "a\n... junk\nb", "%YAML 1.2\n", "a\n...\n%YAML 1.2\n...\nb", "ä: 'é\r\n\r\n---\r\rß'\n...\r", "\r", "---\r", "-", "a\n..",
}

// TestDocumentReaderReset asserts that nothing of a stream is left except the buffer.
func TestDocumentReaderReset(t *testing.T) {
	d := yamlbridge.NewDocumentReader(iotest.ErrReader(io.ErrUnexpectedEOF))
	_, err := d.Next()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	for _, before := range streams {
		for read := range 4 {
			for _, stream := range streams {
				d.Reset(strings.NewReader(before))
				for range read {
					d.Next()
				}
				d.Reset(strings.NewReader(stream))
				var docs []string
				var err error
				for err == nil {
					var doc yamlbridge.Document
					if doc, err = d.Next(); err == nil {
						docs = append(docs, text(doc))
					}
				}
				require.Equal(t, io.EOF, err)
				require.Equal(t, wholeStream([]byte(stream)), docs, "%q after %d of %q", stream, read, before)
			}
		}
	}

	d.Limit = 10
	d.Reset(strings.NewReader("a: 1\n---\nb: 12345678\n"))
	_, err = d.Next()
	require.NoError(t, err)
	var limit *errors.LimitError
	_, err = d.Next()
	require.ErrorAs(t, err, &limit)
	d.Reset(strings.NewReader("a: 1\n"))
	_, err = d.Next()
	require.NoError(t, err)

	long := "# " + strings.Repeat("x", 1<<20)
	from := new(strings.Reader)
	d.Limit = 0
	require.Zero(t, testing.AllocsPerRun(3, func() {
		from.Reset(long)
		d.Reset(from)
		for {
			if _, err := d.Next(); err != nil {
				break
			}
		}
	}))
}

func TestDocumentReader(t *testing.T) {
	for _, stream := range append(streams, strings.Join(streams, "\n...\n"), strings.Join(streams, "\r\n--- \r\n")) {
		src := []byte(stream)
		want := wholeStream(src)
		check := func(name string, r io.Reader) {
			docs, err := readStream(t, r, 0)
			assert.Equal(t, io.EOF, err, "%q, %s", src, name)
			assert.Equal(t, want, docs, "%q, %s", src, name)
		}
		check("whole", bytes.NewReader(src))
		check("one byte", iotest.OneByteReader(bytes.NewReader(src)))
		check("half", iotest.HalfReader(bytes.NewReader(src)))
		check("data with io.EOF", iotest.DataErrReader(bytes.NewReader(src)))
		for at := range src {
			check(fmt.Sprint("cut at ", at), cutReader(src, at))
		}
	}
}

// TestDocumentReaderBuffers reads more than fits into a buffer, with documents that are longer than
// the buffer as well.
func TestDocumentReaderBuffers(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	var src []byte
	for len(src) < 1<<20 {
		stream := streams[rnd.IntN(len(streams))]
		src = append(append(src, strings.Repeat(stream, 1+rnd.IntN(10))...), "\r\n---\r\n"...)
		if rnd.IntN(100) == 0 {
			src = append(src, strings.Repeat("ab\r\n", rnd.IntN(1<<16))...)
		}
	}
	want := wholeStream(src)
	for _, most := range []int{1, 7, 1000, 1 << 17} {
		var cuts []int
		for at := 0; at < len(src); at += 1 + rnd.IntN(most) {
			cuts = append(cuts, at)
		}
		docs, err := readStream(t, cutReader(src, cuts...), 0)
		assert.Equal(t, io.EOF, err)
		assert.True(t, slices.Equal(want, docs), "reads of %d bytes", most)
	}
}

// TestDocumentReaderErrors: documents that were complete before an error are returned, and others
// are not.
func TestDocumentReaderErrors(t *testing.T) {
	broken := stderrors.New("broken")
	for _, stream := range streams {
		src := []byte(stream)
		want := wholeStream(src)
		for at := range len(src) + 1 {
			for _, read := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.DataErrReader} {
				docs, err := readStream(t, read(io.MultiReader(bytes.NewReader(src[:at]), iotest.ErrReader(broken))), 0)
				assert.ErrorIs(t, err, broken)
				require.LessOrEqual(t, len(docs), len(want))
				assert.True(t, slices.Equal(want[:len(docs)], docs), "%q, broken at %d: %q", src, at, docs)
			}
		}
	}

	docs, err := readStream(t, iotest.TimeoutReader(iotest.OneByteReader(strings.NewReader("a"))), 0)
	assert.ErrorIs(t, err, iotest.ErrTimeout)
	assert.Empty(t, docs)

	docs, err = readStream(t, io.MultiReader(strings.NewReader("a\n---\nb\nc"), iotest.ErrReader(broken)), 0)
	assert.EqualError(t, err, "reading line 4: broken")
	assert.Equal(t, []string{text(yamlbridge.Document{Bytes: []byte("a\n"), Origin: errors.Position{Line: 1, Column: 1, ByteColumn: 1}})}, docs)

	_, err = readStream(t, iotest.ErrReader(fmt.Errorf("layer below: %w", io.EOF)), 0)
	assert.NotErrorIs(t, err, io.EOF, "an error is no end")
	assert.ErrorIs(t, err, io.ErrUnexpectedEOF)
}

// An idleReader returns nothing for some calls before each byte.
type idleReader struct {
	text       string
	idle, left int
}

func (r *idleReader) Read(p []byte) (int, error) {
	if r.left > 0 {
		r.left--
		return 0, nil
	}
	if r.text == "" {
		return 0, io.EOF
	}
	r.left = r.idle
	n := copy(p[:1], r.text)
	r.text = r.text[n:]
	return n, nil
}

func TestDocumentReaderProgress(t *testing.T) {
	docs, err := readStream(t, &idleReader{text: "a\n---\nb", idle: 99}, 0)
	assert.Equal(t, io.EOF, err)
	assert.Len(t, docs, 2)
	_, err = readStream(t, &idleReader{text: "a\n---\nb", idle: 100}, 0)
	assert.ErrorIs(t, err, io.ErrNoProgress)
}

// TestDocumentReaderLimit has documents of 8 bytes, which is the limit, and of 9.
func TestDocumentReaderLimit(t *testing.T) {
	for _, test := range []struct {
		src  string
		docs int
		at   string // of the first character beyond the limit
	}{
		{"a: 45678", 1, ""}, {"a: 456789", 0, "1:9"},
		{"a: 4567\n", 1, ""}, {"a: 45678\n", 0, "1:9"},
		{"a: 456\r\n", 1, ""}, {"a: 4567\r\n", 0, "1:9"},
		{"a: 4567\n---\nb\n#", 2, ""}, {"a: 45678\n---\nb", 0, "1:9"}, {"a: 4567\n---", 1, ""}, {"a: 4567\n--", 0, "2:1"}, {"a: 4567\n---b", 0, "2:1"},
		{"a\n---\nb: 1", 2, ""}, {"a\n---\nb: 12", 1, "3:5"},
		{"a\n---\nb: 1\n...\nc", 1, "3:5"}, {"abc\n...\nc", 2, ""}, {"abcd\n...\nc", 0, "2:4"},
		{"# 4567\na", 1, ""}, {"# 4567\na: 1\n", 0, "2:2"}, {"# 45678\ra", 0, "2:1"}, {"#\n#\n#\n#\n#", 0, "5:1"},
		{"---\n# 6\n---\nb", 1, ""}, {"---\n# 67\n---\nb", 0, "2:5"}, {"---\n---\n...\n---\n# a\n...\n", 0, "6:1"}, {"---\n---\n...\n---\n...\n--- b\n", 1, ""},
		{"\uFEFFa: 78", 1, ""}, {"\uFEFFa: 789", 0, "1:6"}, {"äöü: 9", 0, "1:6"}, {"äöüä", 1, ""}, {"aäöüä", 0, "1:5"},
	} {
		for at := range test.src {
			docs, err := readStream(t, cutReader([]byte(test.src), at), 8)
			assert.Len(t, docs, test.docs, "%q, cut at %d", test.src, at)
			if test.at == "" {
				assert.Equal(t, io.EOF, err, "%q, cut at %d", test.src, at)
				continue
			}
			if tooLong := new(*errors.LimitError); assert.ErrorAs(t, err, tooLong, "%q, cut at %d", test.src, at) {
				assert.Equal(t, int64(8), (*tooLong).Max)
				assert.Equal(t, test.at, (*tooLong).Position.String(), "%q, cut at %d", test.src, at)
				checkPosition(t, []byte(test.src), (*tooLong).Position)
			}
		}
	}
}

// A repeater returns a text again and again.
type repeater struct {
	text string
	at   int
	left int
}

func (r *repeater) Read(p []byte) (n int, err error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	p = p[:min(len(p), r.left)]
	for n < len(p) {
		k := copy(p[n:], r.text[r.at:])
		n, r.at = n+k, (r.at+k)%len(r.text)
	}
	r.left -= n
	return n, nil
}

// TestDocumentReaderCosts: memory is that of one document, and a long line that arrives byte by
// byte is scanned once.
func TestDocumentReaderCosts(t *testing.T) {
	const size = 64 << 20
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	d := yamlbridge.NewDocumentReader(&repeater{text: "---\n" + strings.Repeat("a: b\n", 20_000), left: size})
	docs := 0
	for {
		if _, err := d.Next(); err != nil {
			assert.Equal(t, io.EOF, err)
			break
		}
		docs++
	}
	runtime.ReadMemStats(&after)
	assert.Equal(t, (size+100_003)/100_004, docs)
	assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(1<<20))

	long := strings.Repeat("# ", 1<<20)
	one, err := readStream(t, iotest.OneByteReader(strings.NewReader("a\n"+long)), 0)
	assert.Equal(t, io.EOF, err)
	assert.Len(t, one, 1)
}

// FuzzDocumentReader holds that neither the sizes of reads nor a limit that is not exceeded make a
// difference, and that a limit which is exceeded only ends the stream.
func FuzzDocumentReader(f *testing.F) {
	corpus.AddSeeds(f)
	for _, s := range streams {
		f.Add([]byte(s), []byte{1, 2, 3}, 8)
	}
	f.Fuzz(func(t *testing.T, src, sizes []byte, limit int) {
		var cuts []int
		at := 0
		for _, n := range sizes {
			at += int(n)
			cuts = append(cuts, at)
		}
		want := wholeStream(src)
		docs, err := readStream(t, cutReader(src, cuts...), 0)
		if err != io.EOF || !slices.Equal(docs, want) {
			t.Fatalf("%q, then %v; the whole stream has %q", docs, err, want)
		}
		docs, err = readStream(t, cutReader(src, cuts...), max(limit, 1))
		once, errOnce := readStream(t, bytes.NewReader(src), max(limit, 1))
		if !slices.Equal(docs, once) || fmt.Sprint(err) != fmt.Sprint(errOnce) || !slices.Equal(docs, want[:len(docs)]) {
			t.Fatalf("%q, then %v; at once %q, then %v", docs, err, once, errOnce)
		}
		if tooLong := new(errors.LimitError); stderrors.As(err, &tooLong) {
			checkPosition(t, src, tooLong.Position)
		} else if err != io.EOF || len(docs) < len(want) {
			t.Fatalf("%d of %d documents, then %v", len(docs), len(want), err)
		}
	})
}

// TestDocumentReaderLimitInvalid holds that the error for a document that is too long is in the
// right line, also if the limit is within a character.
func TestDocumentReaderLimitInvalid(t *testing.T) {
	_, err := readStream(t, strings.NewReader("a\n\x80bcdef"), 2)
	var limit *errors.LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, errors.Position{Offset: 2, Line: 2, Column: 1, ByteColumn: 1}, limit.Position)
}
