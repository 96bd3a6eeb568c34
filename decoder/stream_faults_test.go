package decoder_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

var errBroken = errors.New("broken")

// A faultyReader returns the text up to end, and then err: alone, or together with the last bytes.
// If idle is set, every other call returns nothing.
type faultyReader struct {
	text     string
	end      int
	err      error
	together bool
	idle     bool

	at    int
	slept bool
}

func (r *faultyReader) Read(p []byte) (int, error) {
	if r.idle && !r.slept {
		r.slept = true
		return 0, nil
	}
	r.slept = false
	n := copy(p, r.text[r.at:r.end])
	r.at += n
	if r.at == r.end && (r.together || n == 0) {
		return n, r.err
	}
	return n, nil
}

// A faultyWriter writes n bytes and then fails, or writes fewer bytes than it is given.
type faultyWriter struct {
	n     int
	short bool
	out   bytes.Buffer
}

func (w *faultyWriter) Write(p []byte) (int, error) {
	if w.out.Len()+len(p) <= w.n {
		return w.out.Write(p)
	}
	n, _ := w.out.Write(p[:w.n-w.out.Len()])
	if w.short {
		return n, nil
	}
	return n, errBroken
}

// randomDocuments calls f with documents for the test schema, which a stream can decode, and their
// results.
func randomDocuments(t *testing.T, count int, f func(d *decoder.Decoder, doc, want string)) {
	t.Helper()
	s, err := schema.Parse([]byte(decoder.TestSchema))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	for seed := uint64(0); count > 0; seed++ {
		require.Less(t, seed, uint64(2000))
		doc := decoder.RandomDocument(rand.New(rand.NewPCG(seed, 7)), s)
		d := decoder.New(p, decoder.Compact(true))
		want, err := d.AppendJSON(nil, []byte(doc))
		if err != nil {
			continue
		}
		if out, err := io.ReadAll(d.NewReader(strings.NewReader(doc))); err == nil && len(doc) < 2000 {
			require.Equal(t, string(want), string(out))
			count--
			f(d, doc, string(want))
		}
	}
}

// testReaderFaults lets the source of a stream fail at every byte.
func testReaderFaults(t *testing.T) {
	defer decoder.SetFirstWindow(16)()
	faults := 0
	randomDocuments(t, manyRandom(), func(d *decoder.Decoder, doc, want string) {
		reader := d.NewReader(nil)
		for end := range doc {
			for _, fault := range []faultyReader{
				{err: errBroken}, {err: io.EOF}, {err: errBroken, together: true}, {err: io.EOF, together: true}, {err: errBroken, idle: true},
			} {
				faults++
				fault.text, fault.end = doc, end
				reader.Reset(&fault)
				out, err := io.ReadAll(reader)
				checkFault(t, fault.err, int64(end), doc[:end], string(out), want, err)
			}
		}
		for _, whole := range []io.Reader{
			&faultyReader{text: doc, end: len(doc), err: io.EOF, idle: true},
			&faultyReader{text: doc, end: len(doc), err: io.EOF, together: true},
			iotest.OneByteReader(strings.NewReader(doc)), iotest.DataErrReader(strings.NewReader(doc)),
		} {
			reader.Reset(whole)
			out, err := io.ReadAll(reader)
			require.NoError(t, err)
			require.Equal(t, want, string(out), "after Reset")
		}
	})
	require.Greater(t, faults, 500*manyRandom())
}

// checkFault asserts the error and the output of a document that was read up to an offset.
func checkFault(t *testing.T, cause error, offset int64, read, out, want string, err error) {
	t.Helper()
	if cause == io.EOF {
		var e *ferrors.SyntaxError
		require.ErrorAs(t, err, &e, "%q", read)
		require.ErrorIs(t, err, io.ErrUnexpectedEOF)
		require.Equal(t, offset, e.Position.Offset, "%q", read)
	} else {
		var e *ferrors.IOError
		require.ErrorAs(t, err, &e, "%q", read)
		require.ErrorIs(t, err, cause)
		require.Equal(t, offset, e.Offset)
		require.Equal(t, "read", e.Op)
	}
	require.False(t, jsontext.Value(out).IsValid(), "%s", out)
	require.Less(t, len(out), len(want))
	require.Equal(t, want[:len(out)], out, "what was decided stays")
}

// testWriterFaults lets the target of a stream fail at every byte.
func testWriterFaults(t *testing.T) {
	defer decoder.SetFirstWindow(16)()
	randomDocuments(t, manyRandom(), func(d *decoder.Decoder, doc, want string) {
		reader, writer := d.NewReader(nil), d.NewWriter(nil)
		for n := range want {
			for _, short := range []bool{false, true} {
				cause := errBroken
				if short {
					cause = io.ErrShortWrite
				}
				check := func(to *faultyWriter, err error) {
					t.Helper()
					var e *ferrors.IOError
					require.ErrorAs(t, err, &e)
					require.ErrorIs(t, err, cause)
					require.Equal(t, ferrors.IOError{Op: "write", Offset: int64(n), Err: cause}, *e)
					require.Equal(t, want[:n], to.out.String())
				}
				to := &faultyWriter{n: n, short: short}
				reader.Reset(strings.NewReader(doc))
				written, err := reader.WriteTo(to)
				require.Equal(t, int64(n), written)
				check(to, err)
				_, again := reader.Read(make([]byte, 1))
				require.Equal(t, err, again)

				to = &faultyWriter{n: n, short: short}
				writer.Reset(to)
				for i := 0; i < len(doc); i += 7 {
					taken, err := writer.Write([]byte(doc[i:min(i+7, len(doc))]))
					if err == nil {
						require.Equal(t, min(7, len(doc)-i), taken)
						err = writer.Flush()
					}
					if err != nil {
						check(to, err)
						break
					}
				}
				check(to, writer.Close())
			}
		}
		var out bytes.Buffer
		writer.Reset(&out)
		_, err := io.WriteString(writer, doc)
		require.NoError(t, err)
		require.NoError(t, writer.Close())
		require.Equal(t, want, out.String(), "after Reset")
	})
}

// TestFaultsOfStreams has one fault of each kind. TestAdversarial has them everywhere.
func TestFaultsOfStreams(t *testing.T) {
	d := decoder.New(compile(t, "type: object\nproperties: {a: {type: string}}"))
	const doc = `{"a":"some text"}`
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := d.NewReader(strings.NewReader(doc))
	r.SetContext(ctx)
	_, err := io.ReadAll(r)
	require.ErrorIs(t, err, context.Canceled)
	w := d.NewWriter(io.Discard)
	w.SetContext(ctx)
	_, err = io.WriteString(w, doc)
	require.ErrorIs(t, err, context.Canceled)

	_, err = io.ReadAll(d.NewReader(&faultyReader{idle: true, text: "", err: nil}))
	require.Equal(t, &ferrors.IOError{Op: "read", Err: io.ErrNoProgress}, err)

	for _, n := range []int{0, 3} {
		for cause, short := range map[error]bool{errBroken: false, io.ErrShortWrite: true} {
			want := &ferrors.IOError{Op: "write", Offset: int64(n), Err: cause}
			r = d.NewReader(strings.NewReader(doc))
			written, err := r.WriteTo(&faultyWriter{n: n, short: short})
			require.Equal(t, want, err)
			require.Equal(t, int64(n), written)
			rest, err := io.ReadAll(r)
			require.Equal(t, want, err, "it stays")
			require.Empty(t, rest)

			w = d.NewWriter(&faultyWriter{n: len(`{"a":`) + n, short: short})
			_, err = io.WriteString(w, doc[:len(`{"a":`)])
			require.NoError(t, err)
			require.NoError(t, w.Flush())
			_, err = io.WriteString(w, doc[len(`{"a":`):])
			require.NoError(t, err)
			want.Offset += int64(len(`{"a":`))
			require.Equal(t, want, w.Close())
		}
	}
}

// TestStreamEnds asserts the output and the errors of streams at their ends, and afterwards.
func TestStreamEnds(t *testing.T) {
	d := decoder.New(compile(t, "type: object\nproperties: {a: {type: integer}}"), decoder.Strict)
	var out bytes.Buffer
	w := d.NewWriter(&out)
	for _, chunk := range []string{`{"a"`, `:1, "`, `b":2`, `} `} {
		n, err := io.WriteString(w, chunk)
		require.NoError(t, err)
		require.Equal(t, len(chunk), n)
		require.NoError(t, w.Flush())
	}
	require.Equal(t, `{"a":1`, out.String(), "the last byte is held back")
	err := w.Close()
	require.EqualError(t, err, `strict decoding error: unknown field "b"`)
	require.Equal(t, `{"a":1}`, out.String(), "a strict error comes with a result that is complete")
	require.Equal(t, err, w.Close())
	_, err = w.Write([]byte("x"))
	require.EqualError(t, err, "decoder: write to a Writer that is closed")
	require.Len(t, w.Findings(), 1)
	w = d.NewWriter(&out)
	err = w.Close()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, err, w.Close())

	for _, c := range []struct{ doc, out, err string }{
		{``, ``, `1:1: unexpected end of input, where a value is expected`},
		{`{"a":1`, `{"a":`, `1:7: unexpected end of input, where ',' or '}' is expected in "a"`},
		{`{"a":1} x`, `{"a":1`, `1:9: something follows the document: "x"`},
		{`{"a":1}{`, `{"a":1`, `1:8: something follows the document: "{"`},
		{`{"a":1,"a":2}`, `{"a":1`, `1:8: duplicate field "a": the first was sent already`},
		{`{"a":12x`, `{"a":12`, `1:8: invalid character 'x', where ',' or '}' is expected in "a"`},
		{`{"b":"é` + "\xe4\xb8", `{`, `1:10: unexpected end of input within a string in "b"`},
		{`{"b":"é` + "\xe4\xb8\"", `{`, `1:8: invalid UTF-8 in a string: "\xe4" in "b"`},
		{`{"b":1,"b":`, `{`, `1:12: unexpected end of input, where a value is expected in "b"`},
	} {
		out, err := io.ReadAll(d.NewReader(iotest.OneByteReader(strings.NewReader(c.doc))))
		require.EqualError(t, err, c.err, c.doc)
		require.Empty(t, d.Findings(), c.doc)
		require.Equal(t, strings.Contains(c.err, "unexpected end"), errors.Is(err, io.ErrUnexpectedEOF), c.doc)
		require.True(t, strings.HasPrefix(c.out, string(out)), "%s of %s", out, c.doc)
	}
}

// TestStreamRootScalars asserts that a stream writes no part of a scalar at the root that looks
// complete, before the input has ended.
func TestStreamRootScalars(t *testing.T) {
	d := decoder.New(compile(t, "x-kubernetes-preserve-unknown-fields: true",
		schema.ResourceRoot(false)))
	for _, doc := range []string{`123`, `-1.5e3`, `19`, `"abc"`, `true`, `null`, `[1]`, `{}`} {
		var out bytes.Buffer
		w := d.NewWriter(&out)
		for i := range doc {
			_, err := w.Write([]byte(doc[i : i+1]))
			require.NoError(t, err)
			require.NoError(t, w.Flush())
			require.False(t, jsontext.Value(out.String()).IsValid(), "%q of %s", out.String(), doc)
		}
		_, err := io.WriteString(w, " \n\t ")
		require.NoError(t, err)
		require.NoError(t, w.Flush())
		require.False(t, jsontext.Value(out.String()).IsValid(), "%q of %s", out.String(), doc)
		require.NoError(t, w.Close())
		require.Equal(t, doc, out.String())
	}
}

// testStreamContext asserts that a stream stops soon after its context is done.
func testStreamContext(t *testing.T) {
	d := decoder.New(compile(t, "type: object\nproperties: {a: {type: string}}"))
	ctx, cancel := context.WithCancelCause(t.Context())
	const stopAt = 10 << 20
	for _, dropped := range []string{`"` + strings.Repeat("x", 1<<20),
		`[` + strings.Repeat(`{"k":[1,"v"]},`, 1<<16)} {
		ctx, cancel = context.WithCancelCause(t.Context())
		endless := &endlessReader{text: []byte(`{"x":` + dropped), from: len(`{"x":"`)}
		endless.at = func(read int) {
			if read >= stopAt {
				cancel(errBroken)
			}
		}
		r := d.NewReader(endless)
		r.SetContext(ctx)
		_, err := io.Copy(io.Discard, r)
		require.ErrorIs(t, err, errBroken)
		require.ErrorIs(t, err, context.Canceled)
		var e *ferrors.IOError
		require.ErrorAs(t, err, &e)
		require.Equal(t, errBroken.Error(), e.Err.Error())
		require.GreaterOrEqual(t, e.Offset, int64(stopAt))
		require.LessOrEqual(t, e.Offset, int64(stopAt+64<<10))
		require.LessOrEqual(t, endless.read, stopAt+64<<10)
	}

	w := d.NewWriter(io.Discard)
	w.SetContext(ctx)
	n, err := w.Write([]byte(`{}`))
	require.ErrorIs(t, err, errBroken)
	require.Zero(t, n)
	require.ErrorIs(t, w.Close(), errBroken)

	// A cause that contains the error of the context is returned as it is.
	late, done := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer done()
	w = d.NewWriter(io.Discard)
	w.SetContext(late)
	_, err = w.Write([]byte(`{}`))
	require.Equal(t, &ferrors.IOError{Op: "read", Err: context.DeadlineExceeded}, err)
}

// An endlessReader returns text, and then text[from:] again and again.
type endlessReader struct {
	text []byte
	from int
	next int
	read int
	at   func(read int)
}

func (r *endlessReader) Read(p []byte) (int, error) {
	if r.next == len(r.text) {
		r.next = r.from
	}
	n := copy(p, r.text[r.next:])
	r.next += n
	r.read += n
	r.at(r.read)
	return n, nil
}

// testReaderWithoutProgress asserts that a source which never returns anything does not occupy a
// stream forever, and that invalid counts do no harm.
func testReaderWithoutProgress(t *testing.T) {
	d := decoder.New(compile(t, "type: object"))
	_, err := d.NewReader(&faultyReader{idle: true, text: "", err: nil}).Read(make([]byte, 1))
	require.ErrorIs(t, err, io.ErrNoProgress)
	for _, n := range []int{-1, 1 << 30} {
		liar := readFunc(func(p []byte) (int, error) { return n, nil })
		_, err = d.NewReader(liar).Read(make([]byte, 1))
		require.EqualError(t, err, "read at offset 0: it returned an invalid count")
	}
	w := d.NewWriter(writeFunc(func(p []byte) (int, error) { return len(p) + 1, nil }))
	_, err = io.WriteString(w, "{}")
	require.NoError(t, err)
	require.EqualError(t, w.Close(), "write at offset 0: it returned an invalid count")
}

type readFunc func(p []byte) (int, error)

func (f readFunc) Read(p []byte) (int, error) { return f(p) }

type writeFunc func(p []byte) (int, error)

func (f writeFunc) Write(p []byte) (int, error) { return f(p) }

func compile(t testing.TB, text string, opts ...schema.Option) *schema.Program {
	t.Helper()
	s, err := schema.Parse([]byte(text))
	require.NoError(t, err)
	p, err := schema.Compile(s, opts...)
	require.NoError(t, err)
	return p
}

// TestSupersededStream asserts that a stream whose decoder has begun another document returns an
// error, and nothing of that document.
func TestSupersededStream(t *testing.T) {
	d := decoder.New(compile(t, "type: object\nproperties: {a: {type: string}}"))
	const superseded = "decoder: its Decoder was used for another document before this one had ended"
	doc := `{"a":"` + strings.Repeat("first", 1000) + `"}`
	old := d.NewReader(strings.NewReader(doc))
	_, err := old.Read(make([]byte, 10))
	require.NoError(t, err)
	var to bytes.Buffer
	w := d.NewWriter(&to)
	_, err = io.WriteString(w, doc)
	require.NoError(t, err)

	ended := d.NewReader(strings.NewReader(`{}`))
	out, err := io.ReadAll(ended)
	require.NoError(t, err)
	require.Equal(t, `{}`, string(out))
	_, err = d.AppendJSON(nil, []byte(`{"a":"second"}`))
	require.NoError(t, err)

	rest, err := io.ReadAll(old)
	require.EqualError(t, err, superseded)
	require.Empty(t, rest)
	_, err = old.WriteTo(&to)
	require.EqualError(t, err, superseded)
	_, err = w.Write([]byte("x"))
	require.EqualError(t, err, superseded)
	require.EqualError(t, w.Close(), superseded)
	require.Empty(t, to.String())
	_, err = ended.Read(make([]byte, 1))
	require.Equal(t, io.EOF, err, "it had ended before")
}

// TestStreamLimits asserts that a stream exceeds a limit at the same position as AppendJSON,
// however it is cut.
func TestStreamLimits(t *testing.T) {
	p := compile(t, `
type: object
properties:
  ports: {type: array, items: {type: object, properties: {protocol: {type: string, default: TCP}}}}
  o: {type: object, properties: {a: {type: object}}}
`)
	for _, c := range []struct {
		limits    decoder.Limits
		doc, path string
	}{
		{decoder.Limits{DefaultBytes: 1000}, `{"ports":[` + strings.Repeat("{},", 100) + `{}]}`, "ports[62]"},
		{decoder.Limits{}, `{"ports":[` + strings.Repeat("{},", 1_200_000) + `{}]}`, "ports[1048576]"},
		{decoder.Limits{Depth: 2}, `{"o":{"a":{}}}`, "o.a"},
		{decoder.Limits{Depth: 2}, `{"o":{"x":[{}]}}`, "o.x"},
		{decoder.Limits{Depth: 3}, `{"o":{"x":[0,{}]}}`, "o.x[1]"},
		{decoder.Limits{NameBytes: 3}, `{"o":{"long":1}}`, "o"},
		{decoder.Limits{NameBytes: 3}, `{"o":{"x":[{"a":1,"long":1}]}}`, "o.x[0]"},
		{decoder.Limits{NumberBytes: 3}, `{"o":{"x":[1,1234]}}`, "o.x[1]"},
	} {
		d := decoder.New(p, c.limits)
		_, want := d.AppendJSON(nil, []byte(c.doc))
		var e *ferrors.LimitError
		require.ErrorAs(t, want, &e)
		require.Equal(t, c.path, e.Path.String())
		for at := 0; at <= min(len(c.doc), 40); at++ {
			w := d.NewWriter(io.Discard)
			_, err := io.WriteString(w, c.doc[:at])
			if err == nil {
				_, err = io.WriteString(w, c.doc[at:])
			}
			require.Equal(t, want, err)
		}
	}
}

// TestStreamSupersededByYAML asserts that invalid YAML supersedes a stream, too, because the
// stream's findings are gone.
func TestStreamSupersededByYAML(t *testing.T) {
	d := decoder.New(compile(t, "type: object\nproperties: {a: {type: string}}"), decoder.Strict)
	w := d.NewWriter(io.Discard)
	_, err := io.WriteString(w, `{"x":1,`)
	require.NoError(t, err)
	_, err = d.AppendYAML(nil, []byte("a: [\n"))
	require.Error(t, err)
	_, err = io.WriteString(w, `"a":"b"}`)
	require.Error(t, err)
	require.Error(t, w.Close())

	r := d.NewReader(nil)
	r.Reset(readFunc(func(p []byte) (int, error) {
		if _, err := d.AppendJSON(nil, []byte(`{"a":"within a read"}`)); err != nil {
			return 0, err
		}
		return copy(p, `{"x":{"a":1,"b":2},"y":[{}]}`), nil
	}))
	out, err := io.ReadAll(r)
	require.Error(t, err)
	require.Empty(t, out)
}

// TestFindingsWithEqualPaths asserts that names whose paths are shortened to the same text have
// findings of their own.
func TestFindingsWithEqualPaths(t *testing.T) {
	d := decoder.New(compile(t, "type: object"))
	long := strings.Repeat("a", 1500)
	doc := `{"` + long + "1" + long + `":1,"` + long + "2" + long + `":1,"` + long +
		"1" + long + `":2}`
	_, err := d.AppendJSON(nil, []byte(doc))
	require.NoError(t, err)
	require.Len(t, d.Findings(), 3)
	_, err = io.ReadAll(d.NewReader(iotest.OneByteReader(strings.NewReader(doc))))
	require.NoError(t, err)
	require.Len(t, d.Findings(), 3)
	require.Equal(t, 2, d.Findings().Count(ferrors.UnknownField))
}

// TestFirstAtTheStartOfTheWindow asserts that the first position of a duplicate is known wherever
// the window starts.
func TestFirstAtTheStartOfTheWindow(t *testing.T) {
	d := decoder.New(compile(t, "type: object\nx-kubernetes-preserve-unknown-fields: true"))
	for blanks := range 600 {
		doc := strings.Repeat(" ", blanks) + `{"x":1,"x":2}`
		w := d.NewWriter(io.Discard)
		_, err := io.WriteString(w, doc[:blanks+1])
		require.NoError(t, err)
		_, err = io.WriteString(w, doc[blanks+1:])
		var e *ferrors.DuplicateError
		require.ErrorAs(t, err, &e)
		require.Equal(t, int64(blanks+1), e.First.Offset)
		require.Equal(t, int64(blanks+7), e.Position.Offset)
	}
}

// TestDuplicateBeyondLimits asserts that the limits of findings do not apply to the error about a
// repeated name. Once a stream panicked without room for a finding.
func TestDuplicateBeyondLimits(t *testing.T) {
	p := compile(t, `
type: object
properties: {declared: {type: string}, open: {x-kubernetes-preserve-unknown-fields: true}}
`)
	d := decoder.New(p, decoder.Limits{Findings: 1, FindingBytes: 1})
	for doc, want := range map[string]string{
		`{"x":1,"x":2,"declared":"a","declared":"b"}`:  `1:29: duplicate field "declared": the first was sent already`,
		`{"x":1,"open":{"ab":1,"cd":2,"cd":3,"ab":4}}`: `1:30: duplicate field "open.cd", first at 1:23: the first was sent already`, // the first name that repeats
	} {
		_, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
		require.EqualError(t, err, want)
		require.Empty(t, d.Findings())
		require.Zero(t, d.Omitted())
	}
}

// TestByteOrderMarkInParts asserts that the error for a byte order mark names it, even if it comes
// byte by byte, and that other texts with the same first bytes have their own errors.
func TestByteOrderMarkInParts(t *testing.T) {
	d := decoder.New(compile(t, openSchema))
	for text, want := range map[string]string{
		"\ufeff{}":    "1:1: byte order mark, which JSON must not start with",
		"\ufeff":      "1:1: byte order mark, which JSON must not start with",
		"\xef\xbb{}":  `1:1: invalid character "\xef", where a value is expected`,
		"\xef\xbb":    `1:1: invalid character "\xef", where a value is expected`,
		" \xef\xbb{}": `1:2: invalid character "\xef", where a value is expected`,
	} {
		_, err := io.ReadAll(d.NewReader(iotest.OneByteReader(strings.NewReader(text))))
		require.EqualError(t, err, want, "%q", text)
		w := d.NewWriter(io.Discard)
		for i := range len(text) {
			if _, err = w.Write([]byte(text[i : i+1])); err != nil {
				break
			}
			require.False(t, i == 2 && strings.HasPrefix(text, "\ufeff"), "it is whole")
		}
		require.EqualError(t, w.Close(), want, "%q", text)
	}
}
