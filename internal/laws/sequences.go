package laws

import (
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/schema"
)

// CheckYAML asserts that all entry points agree on a YAML document that comes in the parts between
// the cuts.
func (s *Subject) CheckYAML(t testing.TB, src []byte, cuts ...int) {
	t.Helper()
	c := checker{TB: t, Subject: s, src: src}
	d := c.decoder(decoder.Strict)
	out, err := d.AppendYAML(nil, c.src)
	want := outcome{string(out), err, slices.Clone(d.Findings()), d.Omitted()}

	r := d.NewYAMLReader(&Chunks{Text: c.src, Cuts: cuts})
	out, err = io.ReadAll(r)
	if err == nil {
		require.Equal(c, want, outcome{string(out), want.err, slices.Clone(r.Findings()), d.Omitted()})
	}
	require.Equal(c, want.err, err)

	var v, expected any
	require.Equal(c, want.err, d.UnmarshalYAML(c.src, &v))
	if !want.isFatal() {
		require.NoError(c, kjson.UnmarshalCaseSensitivePreserveInts([]byte(want.out), &expected))
	}
	require.Equal(c, expected, v)
}

// CheckSequence asserts that a Sequence reports of the only document in a stream what AppendJSON
// reports. The stream comes in the parts between the cuts. If it is not one document, the Sequence
// must find none or several.
func (s *Subject) CheckSequence(t testing.TB, src []byte, cuts ...int) {
	t.Helper()
	c := checker{TB: t, Subject: s, src: src}
	want := c.decode(c.decoder(decoder.Strict, decoder.Compact(true)), src)
	if _, _, err := decoder.PeekType(src); err != nil && !want.isFatal() && s.reading != Hardened {
		return // only a server's reading accepts it
	}
	c.checkSequence(want, decoder.NewSequence(&Chunks{Text: src, Cuts: cuts}, c.lookup, c.sequenceOptions()...))
}

// CheckYAMLSequence is CheckSequence for a YAML document. It compares nothing in a server's
// reading, which takes the first of several documents for the only one.
func (s *Subject) CheckYAMLSequence(t testing.TB, src []byte, cuts ...int) {
	t.Helper()
	if s.reading != Hardened {
		return
	}
	c := checker{TB: t, Subject: s, src: src}
	d := c.decoder(c.sequenceOptions()...)
	out, err := d.AppendYAML(nil, src)
	want := outcome{string(out), err, slices.Clone(d.Findings()), d.Omitted()}
	c.checkSequence(want, decoder.NewYAMLSequence(&Chunks{Text: src, Cuts: cuts}, c.lookup, c.sequenceOptions()...))
}

func (c *checker) sequenceOptions() []decoder.Option {
	return c.with(decoder.Strict, decoder.Compact(true))
}

func (c *checker) lookup(string, string) (*schema.Program, error) { return c.program, nil }

func (c *checker) checkSequence(want outcome, s *decoder.Sequence) {
	c.Helper()
	var got outcome
	objects := 0
	for ; !got.isFatal(); objects++ {
		if got.err = s.Next(); got.err != nil {
			break
		}
		if _, _, err := s.Type(); err != nil && !c.resource {
			return // it has no type, so there is no program for it
		}
		out, err := s.AppendJSON(nil)
		got = outcome{string(out), err, slices.Clone(s.Findings()), s.Omitted()}
		if !want.isFatal() {
			require.Equal(c, want, got)
			require.Equal(c, 0, objects)
		}
	}
	if want.isFatal() {
		require.True(c, got.err != io.EOF || objects != 1, "one object, which AppendJSON refuses: %v", want.err)
		return
	}
	require.Equal(c, io.EOF, got.err)
}
