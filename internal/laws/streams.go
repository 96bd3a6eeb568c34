package laws

import (
	"bytes"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/tokens"
)

// Chunks is a reader that returns the text in parts, cut at the offsets in Cuts, which ascend. At
// the end it returns Err, or io.EOF, without any bytes.
type Chunks struct {
	Text []byte
	Cuts []int
	Err  error

	at int
}

func (c *Chunks) Read(p []byte) (int, error) {
	for len(c.Cuts) > 0 && c.Cuts[0] <= c.at {
		c.Cuts = c.Cuts[1:]
	}
	end := len(c.Text)
	if len(c.Cuts) > 0 {
		end = c.Cuts[0]
	}
	n := copy(p, c.Text[c.at:end])
	c.at += n
	if n == 0 && len(p) > 0 {
		if c.Err != nil {
			return 0, c.Err
		}
		return 0, io.EOF
	}
	return n, nil
}

// tight are limits that small documents exceed.
var tight = decoder.Limits{
	Findings: limits.Findings, FindingBytes: limits.FindingBytes, Depth: 3, DefaultBytes: 30, NumberBytes: 4, NameBytes: 12,
}

// CheckStreams asserts that streams report of a document what AppendJSON reports, however the
// document is cut: not at all, everywhere, or at random places.
func (s *Subject) CheckStreams(t testing.TB, seed uint64, src []byte) {
	t.Helper()
	every := make([]int, len(src))
	for i := range every {
		every[i] = i
	}
	f := s.Streams(t, src)
	if seed%4 == 0 {
		f = s.Streams(t, src, tight)
	}
	f.Check(t)
	f.Check(t, every...)
	random := rand.New(rand.NewPCG(seed, 5))
	for range 4 {
		f.Check(t, randomCuts(random, len(src))...)
	}
}

func randomCuts(random *rand.Rand, n int) []int {
	var cuts []int
	most := 1 + random.IntN(100)
	for at := 0; at < n; at += 1 + random.IntN(most) {
		cuts = append(cuts, at)
	}
	return cuts
}

// Streams has the outcomes of AppendJSON for a document, to compare streams with.
type Streams struct {
	subject *Subject
	src     []byte
	warned  errors.List
	modes   []mode
}

// A mode is a field validation.
type mode struct {
	validation       decoder.FieldValidation
	want             outcome
	reading, writing *decoder.Decoder
}

// Streams decodes a document in each mode.
func (s *Subject) Streams(t testing.TB, src []byte, more ...decoder.Option) *Streams {
	c := checker{TB: t, Subject: s, src: src}
	f := &Streams{subject: s, src: src, warned: c.decode(c.decoder(more...), src).findings}
	for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore} {
		opts := append([]decoder.Option{v, decoder.Compact(true)}, more...)
		f.modes = append(f.modes, mode{v, c.decode(c.decoder(opts...), src), c.decoder(opts...), c.decoder(opts...)})
	}
	return f
}

// Check asserts that a Reader and a Writer report of the document what AppendJSON reports, if it
// comes in the parts between the cuts.
func (f *Streams) Check(t testing.TB, cuts ...int) {
	t.Helper()
	c := checker{TB: t, Subject: f.subject, src: f.src}
	for _, m := range f.modes {
		read := c.readAll(m.reading, cuts)
		c.checkMode(m, read, f.warned)
		written := c.writeAll(m.writing, cuts)
		if read.isFatal() {
			require.False(t, jsonv2.Value(written.out).IsValid(), "what is not complete looks whole: %s", written.out)
			read.out, written.out = "", ""
		}
		require.Equal(t, read, written, "a Writer does what a Reader does")
	}
}

func (c *checker) readAll(d *decoder.Decoder, cuts []int) outcome {
	costs := startCosts()
	r := d.NewReader(&Chunks{Text: c.src, Cuts: cuts})
	out, err := io.ReadAll(r)
	costs.check(c, len(c.src)+len(out)+len(cuts), d, err, c.may(fresh))
	_, again := r.Read(make([]byte, 1))
	if err == nil {
		require.Equal(c, io.EOF, again)
	} else {
		require.Equal(c, err, again, "errors stay")
	}
	return outcome{string(out), err, slices.Clone(d.Findings()), d.Omitted()}
}

func (c *checker) writeAll(d *decoder.Decoder, cuts []int) outcome {
	var out bytes.Buffer
	w := d.NewWriter(&out)
	chunks := &Chunks{Text: bytes.Clone(c.src), Cuts: cuts}
	room := make([]byte, len(c.src)+1)
	for {
		n, end := chunks.Read(room)
		if end != nil {
			break
		}
		if _, err := w.Write(room[:n]); err != nil {
			break
		}
		require.NoError(c, w.Flush())
		clear(room[:n])
	}
	err := w.Close()
	require.Equal(c, err, w.Close(), "errors stay")
	return outcome{out.String(), err, slices.Clone(d.Findings()), d.Omitted()}
}

// checkMode compares the outcome of a stream with that of AppendJSON. found has the findings under
// Warn.
func (c *checker) checkMode(m mode, got outcome, found errors.List) {
	c.Helper()
	want := m.want
	if !got.isFatal() {
		require.Equal(c, want, got)
		return
	}
	require.False(c, jsonv2.Value(got.out).IsValid(), "what is not complete looks whole: %s", got.out)
	if twice, ok := got.err.(*errors.DuplicateError); ok {
		c.checkTwice(want, twice, found)
		return
	}
	require.True(c, want.isFatal(), "%v", got.err)
	require.IsType(c, want.err, got.err)
	switch want := want.err.(type) {
	case *errors.SyntaxError:
		got := got.err.(*errors.SyntaxError)
		require.Equal(c, want.Position, got.Position)
		require.Equal(c, want.Err, got.Err)
		m.checkPath(c, want.Path, got.Path)
	case *errors.LimitError:
		got := got.err.(*errors.LimitError)
		require.Equal(c, want.Limit, got.Limit)
		require.Equal(c, want.Position, got.Position)
		m.checkPath(c, want.Path, got.Path)
	default:
		require.Equal(c, want, got.err)
	}
}

// checkPath asserts that two paths are equal. Under Ignore, the path of a stream may end at a
// member that is dropped.
func (m *mode) checkPath(t testing.TB, want, got errors.Path) {
	t.Helper()
	if m.validation != decoder.Ignore || !want.IsWithin(got) {
		require.Equal(t, want.String(), got.String())
	}
}

// checkTwice asserts that the error of a stream is about a duplicate.
func (c *checker) checkTwice(want outcome, twice *errors.DuplicateError, found errors.List) {
	c.Helper()
	c.checkPosition(twice.Position)
	if want.isFatal() {
		return // AppendJSON reports a later fault, or another one
	}
	require.True(c, slices.ContainsFunc(found, func(f errors.Finding) bool {
		return f.Kind == errors.DuplicateField && f.Path == twice.Path && (f.Position == twice.Position || f.Count > 1) &&
			(!twice.First.IsValid() || f.First == twice.First || f.Count > 1)
	}), "%v of %v", twice, found)
}

// CheckValues asserts that Unmarshal and tokens give the values of AppendJSON's result.
func (s *Subject) CheckValues(t testing.TB, src []byte) {
	t.Helper()
	c := checker{TB: t, Subject: s, src: src}
	want := c.decode(c.decoder(decoder.Compact(true)), src)
	c.checkTokens(want)
	for _, separate := range []bool{false, true} {
		d := c.decoder(decoder.SeparateStrings(separate))
		var first, second any
		text := bytes.Clone(src)
		err := d.Unmarshal(text, &first)
		require.Equal(t, want.err, err)
		if want.isFatal() {
			require.Nil(t, first)
			continue
		}
		require.Equal(t, want.findings, slices.Clone(d.Findings()))
		clear(text)
		require.Equal(t, want.err, d.Unmarshal(src, &second))
		var expected any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(want.out), &expected))
		require.Equal(t, expected, first)
		require.Equal(t, expected, second)
		spoil(second)
		require.Equal(t, expected, first, "results share nothing")
		var third any
		require.Equal(t, want.err, d.Unmarshal(src, &third))
		require.Equal(t, expected, third, "results share nothing with what comes later")
		c.checkMap(d, expected, want.err)
	}
}

// checkMap asserts that Unmarshal stores an object into a map as into an interface value, and
// stores nothing else there.
func (c *checker) checkMap(d *decoder.Decoder, expected any, want error) {
	c.Helper()
	before := map[string]any{"before": true}
	object := before
	err := d.Unmarshal(c.src, &object)
	switch expected := expected.(type) {
	case map[string]any:
		require.Equal(c, want, err)
		require.Equal(c, expected, object)
	case nil:
		require.Equal(c, want, err)
		require.Nil(c, object)
	default:
		var mismatch *errors.TypeError
		require.ErrorAs(c, err, &mismatch)
		require.Equal(c, before, object)
	}
}

// spoil changes everything that can be changed in a value.
func spoil(v any) {
	switch v := v.(type) {
	case map[string]any:
		for name, value := range v {
			spoil(value)
			v[name] = "spoilt"
		}
	case []any:
		for i, value := range v {
			spoil(value)
			v[i] = "spoilt"
		}
	}
}

// checkTokens asserts that the tokens of the document are the tokens of the result.
func (c *checker) checkTokens(want outcome) {
	c.Helper()
	r := tokens.NewReader(c.decoder(), bytes.NewReader(c.src))
	var out bytes.Buffer
	to := jsonv2.NewEncoder(&out, jsonv2.PreserveRawStrings(true), jsonv2.AllowDuplicateNames(true))
	for {
		token, err := r.ReadToken()
		if err == io.EOF || err != nil && !(&outcome{err: err}).isFatal() {
			break
		}
		if err != nil {
			if _, twice := err.(*errors.DuplicateError); !twice {
				require.Truef(c, want.isFatal(), "%v", err)
				require.IsType(c, want.err, err)
			}
			require.Equal(c, err, r.Err())
			return
		}
		require.NoError(c, to.WriteToken(token))
	}
	require.Equal(c, want.err, r.Err())
	require.Equal(c, want.out, string(bytes.TrimSpace(out.Bytes())))
	require.Equal(c, want.findings, slices.Clone(r.Findings()))
}
