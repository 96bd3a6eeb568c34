// Package laws has the laws that hold for every document and every program. Tests and fuzz targets
// assert them. The package knows nothing of what a schema says.
//
//   - Decoding a document gives the same each time, in any decoder, and leaves the memory around
//     it alone.
//   - Strict, Warn and Ignore have one result, byte by byte, and one verdict, except for findings.
//     That holds with other white space, too.
//   - A result is JSON in which no name repeats, so that it is read in one way. Decoding it
//     changes nothing and finds nothing. The exception is -0, which a server, and a decoder in a
//     server mode, write and then read as 0.
//   - A result is its document without the findings and the nulls. Everything else in it is a
//     default, and defaults come last.
//   - White space, the order of members and the spelling of strings mean nothing.
//   - Where the build counts steps, the steps and the memory of a call are proportional to the
//     bytes of the document, the result and the findings.
//   - Validating values changes nothing of a result and of other findings. Invalid values are
//     reported where they are or, if they are not in the document, at what is around them.
//   - Duplicates are those that a slow reader finds. The position and path of a finding are those
//     of its name or value, and findings are in the documented order.
package laws

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A Reading is one of the ways in which a decoder reads documents.
type Reading uint8

// The readings.
const (
	Hardened Reading = iota // the default
	Kubernetes
	FromStorage
	Readings // the number of readings
)

// limits omit no finding, and bound the cost of defaults within defaults.
var limits = decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30, DefaultBytes: 1 << 16}

// A Subject has a schema and a reading, and asserts the laws for them.
type Subject struct {
	program  *schema.Program
	reading  Reading
	resource bool // the root is a resource
	// settles says that decoding a result may change it once, or refuse it. A server inserts
	// defaults as they are, with members that it drops or refuses when it reads them. Validation
	// excludes such defaults, except those in maps.
	settles bool
	options []decoder.Option // beyond those of the reading
	judges  bool             // values are validated
}

// New returns a subject, or the error of schema.Compile. resource says whether the root is a
// resource.
func New(
	s *schema.Structural, semantics schema.Semantics, reading Reading, resource bool, opts ...schema.Option,
) (*Subject, error) {
	p, err := schema.Compile(s, append(opts, semantics, schema.ResourceRoot(resource))...)
	return &Subject{
		program: p, reading: reading, resource: resource,
		// By the KEP a null stays in the metadata of a default, and a server makes it {}. A server validates
		// a default without the nulls that it would drop, and inserts it with them.
		settles: hasOddDefault(s, false) || hasOddDefault(s, true) && (validation.Structural(s) != nil || reading != Hardened),
	}, err
}

// With adds options to all decoders, and returns s.
func (s *Subject) With(opts ...decoder.Option) *Subject {
	s.options = append(s.options, opts...)
	return s
}

// hasOddDefault reports whether a default in a map has a null, or has a value of the wrong type in
// a resource. With anywhere, it looks at all defaults.
func hasOddDefault(s *schema.Structural, anywhere bool) bool {
	if s == nil {
		return false
	}
	isOdd := func(of string) bool { return bytes.Contains(s.Default, []byte(of)) }
	found := anywhere && slices.ContainsFunc([]string{"null", "metadata", "kind", "apiVersion"}, isOdd) ||
		s.Items != nil && hasOddDefault(s.Items.Schema, anywhere) ||
		s.AdditionalProperties != nil && hasOddDefault(s.AdditionalProperties.Schema, true)
	for _, p := range s.Properties {
		found = found || hasOddDefault(p, anywhere)
	}
	return found
}

// Check asserts the laws for a document. The seed says how the document is rewritten.
func (s *Subject) Check(t testing.TB, seed uint64, src []byte) {
	t.Helper()
	c := checker{TB: t, Subject: s, src: src}
	d := c.decoder(decoder.Strict)
	strict := c.decode(d, src)
	require.Equal(t, strict, c.decode(d, src), "the second time")
	require.Equal(t, strict, c.decode(c.decoder(decoder.Strict), src), "in another decoder")
	c.checkFieldValidation(strict)
	if strict.isFatal() {
		require.Empty(t, strict.out, "a fatal error has no result")
		c.checkFatal(strict)
		c.checkSpellings(strict, seed)
		return
	}
	c.checkResult(strict.out)
	nulls := c.decode(c.decoder(decoder.Strict, decoder.ReportDroppedNulls(true)), src)
	require.Equal(t, strict.out, nulls.out, "ReportDroppedNulls")
	require.Equal(t, strict.err, nulls.err, "ReportDroppedNulls")
	found := only(nulls.findings, errors.UnknownField, errors.DuplicateField)
	require.Equal(t, strict.findings, found, "ReportDroppedNulls")
	doc := read(t, src)
	c.checkFindings(doc, nulls.findings)
	c.checkRest(doc, nulls.findings, strict.out)
	c.checkOptions(strict)
	c.checkSpellings(strict, seed)
}

type checker struct {
	testing.TB
	*Subject
	src []byte
}

// checkFieldValidation asserts that Warn and Ignore give the result and error of Strict, but for
// findings.
func (c *checker) checkFieldValidation(strict outcome) {
	c.Helper()
	warned := c.decode(c.decoder(), c.src)
	ignored := c.decode(c.decoder(decoder.Ignore), c.src)
	if strict.isFatal() {
		require.Equal(c, strict, warned, "what Strict refuses, Warn refuses")
		require.Equal(c, strict.err, ignored.err, "what Strict refuses, Ignore refuses")
		require.Empty(c, ignored.out, "a fatal error has no result")
		return
	}
	require.NoError(c, warned.err)
	require.Equal(c, strict.findings, warned.findings, "Strict and Warn find the same")
	require.NoError(c, ignored.err)
	require.Empty(c, ignored.findings)
	require.Equal(c, strict.out, warned.out, "Strict and Warn have one result")
	require.Equal(c, strict.out, ignored.out, "Strict and Ignore have one result")
	if len(strict.findings) == 0 {
		require.NoError(c, strict.err, "nothing was found")
		return
	}
	var e *errors.StrictError
	require.ErrorAs(c, strict.err, &e)
	require.Equal(c, strict.findings, e.Findings())
}

// decoder returns a new decoder, with its own seed for hashes.
func (c *checker) decoder(opts ...decoder.Option) *decoder.Decoder {
	return decoder.New(c.program, c.with(opts...)...)
}

// with returns the options of all decoders, and more.
func (s *Subject) with(opts ...decoder.Option) []decoder.Option {
	mode := [...]decoder.ServerMode{
		Hardened: decoder.Standalone, Kubernetes: decoder.ServerRequests, FromStorage: decoder.ServerStorage,
	}
	return slices.Concat([]decoder.Option{limits, mode[s.reading]}, s.options, opts)
}

// An outcome is everything that a call returns.
type outcome struct {
	out      string
	err      error
	findings errors.List
	omitted  int
}

func (c *checker) decode(d *decoder.Decoder, src []byte) outcome {
	c.Helper()
	text := bytes.Clone(src)
	costs := startCosts()
	out, err := d.AppendJSON([]byte("before"), text)
	costs.check(c, len(src)+len(out), d, err, c.may(fresh))
	if steps.On {
		room := make([]byte, 0, len(src)+len(out))
		costs = startCosts()
		out, err = d.AppendJSON(append(room, "before"...), text)
		costs.check(c, len(src)+len(out), d, err, c.may(used))
	}
	require.Equal(c, src, text, "the document was changed")
	out, ok := bytes.CutPrefix(out, []byte("before"))
	require.True(c, ok, "what was in dst was changed")
	return outcome{string(out), err, slices.Clone(d.Findings()), d.Omitted()}
}

// may returns what may be allocated, where that is so much without the validation of values.
func (s *Subject) may(a allowance) allowance {
	if s.judges {
		return judging
	}
	return a
}

// isFatal reports whether there is no result.
func (o *outcome) isFatal() bool {
	switch o.err.(type) {
	case nil, *errors.StrictError, *errors.InvalidError:
		return false
	}
	return true
}

// only returns the findings of the given kinds.
func only(found errors.List, kinds ...errors.FindingKind) errors.List {
	var some errors.List
	for _, f := range found {
		if slices.Contains(kinds, f.Kind) {
			some = append(some, f)
		}
	}
	return some
}

func (c *checker) checkFatal(o outcome) {
	c.Helper()
	require.NotContains(c, o.err.Error(), "\n")
	switch err := o.err.(type) {
	case *errors.SyntaxError:
		c.checkPosition(err.Position)
	case *errors.LimitError:
		c.checkPosition(err.Position)
	case *errors.ObjectError:
		c.checkPosition(err.Position)
	case *errors.TypeError:
		require.NotEmpty(c, err.Findings)
		require.Equal(c, only(o.findings, errors.TypeMismatch), err.Findings)
		c.checkFindings(read(c, c.src), o.findings)
	default:
		require.Fail(c, "no fatal error", "%T: %v", err, err)
	}
}

// checkResult asserts that a result is read in only one way, and decodes to itself.
func (c *checker) checkResult(out string) {
	c.Helper()
	require.True(c, jsonv2.Value(out).IsValid(), "valid JSON without repeated names: %s", out)
	result := read(c, []byte(out))
	var last any
	repeats, err := kjson.UnmarshalStrict([]byte(out), &last)
	require.NoError(c, err, "%s", out)
	require.Empty(c, repeats, "%s", out)
	require.Equal(c, last, firstOf(c, result), "a reader for whom the first of equal names wins: %s", out)

	settles := c.settles || c.reading != Hardened && hasOddTime(read(c, c.src))
	again := c.decode(c.decoder(decoder.Strict), []byte(out))
	if settles && again.isFatal() {
		return
	}
	require.NoError(c, again.err, "nothing is found in a result: %s", out)
	if settles {
		out = again.out
		again = c.decode(c.decoder(), []byte(out))
	}
	if c.reading == Hardened {
		require.Equal(c, out, again.out, "decoding a result changes nothing")
		return
	}
	// Defaults follow the members of metadata, whose order changes once. The float -0.0 is written
	// as -0, which is read as the integer 0, as by the server (TestNumbersTwice in fuzz/). After
	// that nothing changes.
	want, got := read(c, []byte(out)), read(c, []byte(again.out))
	want.walk(func(_ path, _ *member, v *value) {
		if string(v.text) == "-0" {
			v.text = []byte("0")
		}
	})
	require.True(c, equal(want, got), "decoding a result changes nothing:\n%s\n%s", out, again.out)
	third := c.decode(c.decoder(), []byte(again.out))
	require.NoError(c, third.err, again.out)
	require.Equal(c, again.out, third.out, "decoding the result of a result changes nothing")
}

// hasOddTime reports whether a document has a time that a server writes as null, which is the zero time, or
// with a year that it cannot read again.
func hasOddTime(doc *value) (found bool) {
	doc.walk(func(_ path, _ *member, v *value) {
		if v.kind != '"' {
			return
		}
		t, err := time.Parse(time.RFC3339, unquote(v.text))
		if year := t.UTC().Year(); err == nil && (t.IsZero() || year < 0 || year > 9999) {
			found = true
		}
	})
	return found
}

// checkOptions asserts that a limit of findings changes nothing else, and that Compact changes only
// white space.
func (c *checker) checkOptions(strict outcome) {
	c.Helper()
	compacted := c.decode(c.decoder(decoder.Compact(true)), c.src)
	require.NoError(c, compacted.err)
	want := jsonv2.Value(strict.out)
	require.NoError(c, want.Compact())
	require.Equal(c, string(want), compacted.out, "Compact")
	require.Equal(c, strict.findings, compacted.findings)

	few := limits
	few.Findings = 2
	limited := c.decode(c.decoder(decoder.Strict, few), c.src)
	require.Equal(c, strict.out, limited.out, "a limit of findings")
	require.LessOrEqual(c, len(limited.findings), 2)
	require.Equal(c, strict.err == nil, limited.err == nil)
	require.GreaterOrEqual(c, len(limited.findings)+limited.omitted, len(strict.findings))
}

// checkSpellings asserts that a rewritten document means the same.
func (c *checker) checkSpellings(strict outcome, seed uint64) {
	c.Helper()
	if !jsonv2.Value(c.src).IsValid(jsonv2.AllowDuplicateNames(true)) {
		return // text that is not UTF-8 cannot be escaped
	}
	src := respelled(read(c, c.src), seed)
	other := c.decode(c.decoder(decoder.Strict), src)
	require.IsType(c, strict.err, other.err, "%s", src)
	require.Equal(c, withoutPositions(strict.findings), withoutPositions(other.findings), "%s", src)
	if strict.isFatal() {
		return
	}
	// Ignore takes other steps around repeated names than Strict.
	for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Ignore} {
		require.Equal(c, other.out, c.decode(c.decoder(v), src).out,
			"Strict and %s have one result, byte by byte: %q", v, src)
	}
	require.True(c, equal(read(c, []byte(strict.out)), read(c, []byte(other.out))),
		"%s\nis %s,\nand %s", src, other.out, strict.out)
}
