// Package laws has what holds for every document and every program, for tests and
// fuzz targets to assert. Nothing of it knows what a schema says.
//
//   - A document gives the same each time, in any decoder, and what is around it
//     in memory is left alone.
//   - Strict, Warn and Ignore have one result, byte by byte, and one verdict, but for
//     findings; also where the document is written with other white space.
//   - A result is JSON in which no name repeats, so that it is read in one way.
//     Decoding it changes nothing, and nothing is found in it; but a server, and what stands in
//     for one, reads the -0 that it has written as 0.
//   - A result is its document without what was found and but for nulls; all else
//     in it are defaults, which come last.
//   - White space, the order of members and the spelling of strings mean nothing.
//   - Where the build counts steps, a document costs no more of them, and no more memory, than
//     in proportion to what it says and what is said of it.
//   - Duplicates are those that a slow reader finds. Positions and paths are those
//     of what a finding is about, and findings are in the order that is documented.
package laws

import (
	"bytes"
	"slices"
	"testing"

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
	Readings // how many there are
)

// limits leave no finding out, and bound what defaults within defaults cost.
var limits = decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30, DefaultBytes: 1 << 16}

// A Subject is what the laws are asserted of: a schema, and a way of reading.
type Subject struct {
	program  *schema.Program
	reading  Reading
	resource bool // is at the root
	// settles says that the result of a result may differ once, or not be decoded:
	// the server inserts defaults as they are, with what it drops or refuses when it
	// reads it. Validation sees to it that none is so, but for those of maps.
	settles bool
	options []decoder.Option // beyond those of the reading
}

// New returns a subject, or the error of schema.Compile. resource says whether the
// root is one.
func New(s *schema.Structural, dialect schema.Semantics, reading Reading, resource bool, opts ...schema.Option) (*Subject, error) {
	p, err := schema.Compile(s, append(opts, dialect, schema.ResourceRoot(resource))...)
	return &Subject{
		program: p, reading: reading, resource: resource,
		// By the KEP a null stays in metadata of a default, and a server makes it {}.
		settles: hasOddDefault(s, false) || hasOddDefault(s, true) && (validation.Structural(s) != nil || dialect == schema.KEP && reading != Hardened),
	}, err
}

// With makes all decoders with more options, and returns s.
func (s *Subject) With(opts ...decoder.Option) *Subject {
	s.options = append(s.options, opts...)
	return s
}

// hasOddDefault reports whether there is a default with a null, or what is not of
// its type in a resource, that is in a map, or anywhere.
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

// Check asserts the laws for a document. The seed says how it is written again.
func (s *Subject) Check(t testing.TB, seed uint64, src []byte) {
	t.Helper()
	c := checker{TB: t, Subject: s, src: src}
	d := c.decoder(decoder.Strict)
	strict := c.decode(d, src)
	require.Equal(t, strict, c.decode(d, src), "the second time")
	require.Equal(t, strict, c.decode(c.decoder(decoder.Strict), src), "in another decoder")
	warned := c.decode(c.decoder(), src)
	ignored := c.decode(c.decoder(decoder.Ignore), src)

	if strict.isFatal() {
		require.Equal(t, strict, warned, "what Strict refuses, Warn refuses")
		require.Equal(t, strict.err, ignored.err, "what Strict refuses, Ignore refuses")
		require.Empty(t, strict.out+ignored.out, "a fatal error has no result")
		c.checkFatal(strict)
		c.checkSpellings(strict, seed)
		return
	}
	require.NoError(t, warned.err)
	require.Equal(t, strict.findings, warned.findings, "Strict and Warn find the same")
	require.NoError(t, ignored.err)
	require.Empty(t, ignored.findings)
	require.Equal(t, strict.out, warned.out, "Strict and Warn have one result")
	require.Equal(t, strict.out, ignored.out, "Strict and Ignore have one result")
	if len(strict.findings) == 0 {
		require.NoError(t, strict.err, "nothing was found")
	} else {
		var e *errors.StrictError
		require.ErrorAs(t, strict.err, &e)
		require.Equal(t, strict.findings, e.Findings())
	}

	c.checkResult(strict.out)
	nulls := c.decode(c.decoder(decoder.Strict, decoder.ReportDroppedNulls(true)), src)
	require.Equal(t, strict.out, nulls.out, "ReportDroppedNulls")
	require.Equal(t, strict.err, nulls.err, "ReportDroppedNulls")
	require.Equal(t, strict.findings, only(nulls.findings, errors.UnknownField, errors.DuplicateField), "ReportDroppedNulls")
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

// decoder returns a new decoder: the seed of its hashes is its own.
func (c *checker) decoder(opts ...decoder.Option) *decoder.Decoder {
	return decoder.New(c.program, c.with(opts...)...)
}

// with returns the options of all decoders, and more.
func (s *Subject) with(opts ...decoder.Option) []decoder.Option {
	mode := [...]decoder.ServerMode{Hardened: decoder.Standalone, Kubernetes: decoder.ServerRequests, FromStorage: decoder.ServerStorage}
	return slices.Concat([]decoder.Option{limits, mode[s.reading]}, s.options, opts)
}

// An outcome is all that a call leaves.
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
	costs.check(c, len(src)+len(out), d, err, fresh)
	if steps.On {
		room := make([]byte, 0, len(src)+len(out))
		costs = startCosts()
		out, err = d.AppendJSON(append(room, "before"...), text)
		costs.check(c, len(src)+len(out), d, err, used)
	}
	require.Equal(c, src, text, "the document was changed")
	out, ok := bytes.CutPrefix(out, []byte("before"))
	require.True(c, ok, "what was in dst was changed")
	return outcome{string(out), err, slices.Clone(d.Findings()), d.Omitted()}
}

// isFatal reports whether there is no result.
func (o *outcome) isFatal() bool {
	_, isStrict := o.err.(*errors.StrictError)
	return o.err != nil && !isStrict
}

// only returns the findings of some kinds.
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

// checkResult asserts that a result is read in one way, and decodes to itself.
func (c *checker) checkResult(out string) {
	c.Helper()
	require.True(c, jsonv2.Value(out).IsValid(), "valid JSON without repeated names: %s", out)
	result := read(c, []byte(out))
	var last any
	repeats, err := kjson.UnmarshalStrict([]byte(out), &last)
	require.NoError(c, err, "%s", out)
	require.Empty(c, repeats, "%s", out)
	require.Equal(c, last, firstOf(c, result), "a reader for whom the first of equal names wins: %s", out)

	again := c.decode(c.decoder(decoder.Strict), []byte(out))
	if c.settles && again.isFatal() {
		return
	}
	require.NoError(c, again.err, "nothing is found in a result: %s", out)
	if c.settles {
		out = again.out
		again = c.decode(c.decoder(), []byte(out))
	}
	if c.reading == Hardened {
		require.Equal(c, out, again.out, "decoding a result changes nothing")
		return
	}
	// Defaults come behind what is in metadata, which has an order of its own
	// the next time. The float -0.0 is written as -0, which is read as the integer 0,
	// as by the server (TestNumbersTwice in fuzz/). After that nothing changes.
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

// checkOptions asserts that a limit of findings changes nothing else, and Compact
// nothing but white space.
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

// checkSpellings asserts that a document which is written otherwise is the same.
func (c *checker) checkSpellings(strict outcome, seed uint64) {
	c.Helper()
	if !jsonv2.Value(c.src).IsValid(jsonv2.AllowDuplicateNames(true)) {
		return // what is no UTF-8 cannot be escaped
	}
	src := respell(read(c, c.src), seed)
	other := c.decode(c.decoder(decoder.Strict), src)
	require.IsType(c, strict.err, other.err, "%s", src)
	require.Equal(c, withoutPositions(strict.findings), withoutPositions(other.findings), "%s", src)
	if strict.isFatal() {
		return
	}
	// What is around names that repeat is dropped with other steps where nothing is found.
	for _, v := range []decoder.FieldValidation{decoder.Warn, decoder.Ignore} {
		require.Equal(c, other.out, c.decode(c.decoder(v), src).out, "Strict and %s have one result, byte by byte: %q", v, src)
	}
	require.True(c, equal(read(c, []byte(strict.out)), read(c, []byte(other.out))), "%s\nis %s,\nand %s", src, other.out, strict.out)
}
