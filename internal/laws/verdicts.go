package laws

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// Verdicts compare a program that has validations with the same one without them, and assert the
// laws about values that are validated.
type Verdicts struct{ plain, ruled, judge *Subject }

// NewVerdicts compiles both programs. Its error is that of compile.
func NewVerdicts(
	compile func(opts ...schema.Option) (*schema.Program, error), reading Reading, as decoder.ValueValidation,
	opts ...schema.Option,
) (*Verdicts, error) {
	plain, err := compile(opts...)
	if err != nil {
		return nil, err
	}
	ruled, err := compile(append(slices.Clip(opts), validation.Values())...)
	if err != nil {
		return nil, err
	}
	return &Verdicts{
		plain: &Subject{program: plain, reading: reading},
		ruled: &Subject{program: ruled, reading: reading},
		judge: &Subject{program: ruled, reading: reading, options: []decoder.Option{as}, judges: true},
	}, nil
}

// Check asserts the laws for a document.
func (v *Verdicts) Check(t testing.TB, src []byte) {
	t.Helper()
	for _, validation := range []decoder.FieldValidation{decoder.Strict, decoder.Warn, decoder.Ignore} {
		c := checker{TB: t, Subject: v.plain, src: src}
		want := c.decode(c.decoder(validation), src)
		c.Subject = v.ruled
		got := c.decode(c.decoder(validation), src)
		require.Equal(t, details(want), details(got), "%s: validations that are not asked for: %s", validation, src)
		require.Equal(t, want, got, "%s: validations that are not asked for", validation)
		c.Subject = v.judge
		d := c.decoder(validation)
		got = c.decode(d, src)
		require.Equal(t, got, c.decode(d, src), "%s: the second time", validation)
		c.checkVerdict(want, got)
		if validation == decoder.Warn && v.judge.reading == Hardened {
			c.checkVerdictOfYAML(got)
		}
		few := limits
		few.Findings = 1
		limited := c.decode(c.decoder(validation, few), src)
		require.Equal(t, got.out, limited.out, "a limit of findings")
		require.IsType(t, got.err, limited.err)
		require.Equal(t, len(got.findings) > 0, len(limited.findings)+limited.omitted > 0)
	}
}

// details returns what the findings say.
func details(o outcome) (texts []string) {
	for i := range o.findings {
		texts = append(texts, o.findings[i].Detail())
	}
	return texts
}

// checkVerdict compares the outcome of a decoder that validates with that of one that does not.
func (c *checker) checkVerdict(want, got outcome) {
	c.Helper()
	if want.isFatal() {
		require.Equal(c, want, got, "what is refused anyway: %q", c.src)
		return
	}
	invalid := only(got.findings, errors.InvalidValue)
	require.Equal(c, want.out, got.out, "the result")
	require.Equal(c, len(want.findings), len(got.findings)-len(invalid))
	require.True(c, slices.Equal(want.findings, got.findings[:len(want.findings)]), "other findings come first")
	require.Zero(c, got.omitted)
	switch err := got.err.(type) {
	case *errors.InvalidError:
		require.NoError(c, want.err)
		require.NotEmpty(c, invalid)
		require.Equal(c, invalid, err.Findings())
		require.Zero(c, err.Omitted())
	default:
		require.Equal(c, want.err, got.err)
		require.True(c, len(invalid) == 0 || want.err != nil, "%v", invalid)
	}
	c.checkPlaces(invalid)
}

// checkPlaces asserts that invalid values are reported where they are in the document, in its order.
// What is not there is reported at the innermost value around it that is.
func (c *checker) checkPlaces(invalid errors.List) {
	c.Helper()
	if len(invalid) == 0 {
		return
	}
	places := map[errors.Path]int{{}: 0}
	doc := read(c, c.src)
	places[errors.Path{}] = doc.at
	doc.walk(func(p path, _ *member, v *value) { places[p.path()] = v.at })
	last := int64(0)
	for i := range invalid {
		f := &invalid[i]
		c.checkPosition(f.Position)
		require.GreaterOrEqual(c, f.Position.Offset, last, "the order of the document")
		last = f.Position.Offset
		require.NotEmpty(c, f.Invalid.Rule, "%s", f.Error())
		at := f.Path
		for {
			if place, ok := places[at]; ok {
				require.Equal(c, place, int(last), "%s: the place of %q in %s", f.Error(), at.Pointer(), c.src)
				break
			}
			var inside bool
			at, inside = parent(at)
			require.True(c, inside)
		}
	}
}

// parent returns the path without its last segment.
func parent(p errors.Path) (up errors.Path, ok bool) {
	segments := slices.Collect(p.Segments())
	if len(segments) == 0 {
		return p, false
	}
	for _, s := range segments[:len(segments)-1] {
		if s.IsName {
			up = up.Child(s.Name)
		} else {
			up = up.Element(s.Index)
		}
	}
	return up, true
}

// checkVerdictOfYAML asserts that a document is judged in the same way if it is read as YAML.
func (c *checker) checkVerdictOfYAML(want outcome) {
	c.Helper()
	d := c.decoder()
	out, err := d.AppendYAML(nil, c.src)
	compacted := jsonv2.Value(want.out)
	if want.isFatal() || compacted.Compact() != nil || !bytes.Equal(compacted, out) {
		return // YAML reads some names and numbers in another way, and is not escaped
	}
	got := outcome{want.out, err, slices.Clone(d.Findings()), d.Omitted()}
	require.Equal(c, want.findings, got.findings)
	require.Equal(c, want.err, got.err)
}

// CheckEntryPoints asserts that streams, sequences, maps and tokens agree with AppendJSON.
func (v *Verdicts) CheckEntryPoints(t testing.TB, seed uint64, src []byte) {
	t.Helper()
	v.judge.CheckStreams(t, seed, src)
	v.judge.CheckValues(t, src)
	v.judge.CheckSequence(t, src, len(src)/2)
	v.judge.CheckYAML(t, src, len(src)/2)
	v.judge.CheckYAMLSequence(t, src, len(src)/2)
	c := checker{TB: t, Subject: v.judge, src: src}
	pool := decoder.NewPool(v.judge.program, v.judge.with()...)
	for _, validation := range []decoder.FieldValidation{decoder.Strict, decoder.Warn} {
		d := pool.GetFor(validation)
		require.Equal(t, c.decode(c.decoder(validation), src), c.decode(d, src))
		pool.Put(d)
	}
}
