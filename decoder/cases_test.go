package decoder_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

// Every document has to keep these bounds, whatever it contains: see Limits.
const (
	maxFindings     = 100
	maxFindingsText = 64 << 10
	maxErrorText    = 2 << 10
)

// TestCases decodes the documents under testdata, except for those of TestAdversarial.
func TestCases(t *testing.T) {
	for _, c := range corpus.Load(t, "*/*") {
		if !strings.HasPrefix(c.Name, "adversarial/") {
			checkCase(t, &c)
		}
	}
}

// checkCase decodes the document of a case as JSON and as YAML, under all semantics of the case and
// in all modes of field validation.
func checkCase(t *testing.T, c *corpus.Case) {
	for _, semantics := range c.Semantics {
		t.Run(c.Name+"/"+semantics, func(t *testing.T) {
			p := compileCase(t, c, semantics)
			if c.JSON != nil {
				caseRun{c, semantics, "json", c.JSON, (*decoder.Decoder).AppendJSON}.check(t, p)
			}
			if c.YAML != nil {
				caseRun{c, semantics, "yaml", c.YAML, (*decoder.Decoder).AppendYAML}.check(t, p)
			}
			if c.JSON != nil && !c.JSONOnly && c.Failure(semantics) == nil {
				caseRun{c, semantics, "json as yaml", c.JSON, (*decoder.Decoder).AppendYAML}.check(t, p)
			}
		})
	}
}

func compileCase(t *testing.T, c *corpus.Case, semantics string) *schema.Program {
	t.Helper()
	s, err := schema.Parse(c.Schema)
	require.NoError(t, err, "schema.yaml")
	p, err := schema.Compile(s, semanticsOf(semantics), schema.ResourceRoot(!c.ValueRoot))
	require.NoError(t, err)
	return p
}

func semanticsOf(semantics string) schema.Semantics {
	if semantics == corpus.KEP {
		return schema.KEP
	}
	return schema.Deployed
}

// A caseRun is one case under one semantics in one form.
type caseRun struct {
	*corpus.Case
	semantics string
	form      string
	src       []byte
	decode    func(d *decoder.Decoder, dst, src []byte) ([]byte, error)
}

// options returns the options of a decoder for the semantics, and more.
func (r caseRun) options(more ...decoder.Option) []decoder.Option {
	switch {
	case r.semantics == corpus.Server && r.KindOptional:
		return append(more, decoder.ServerTypedRequests)
	case r.semantics == corpus.Server:
		return append(more, decoder.ServerRequests)
	case r.semantics == corpus.Storage:
		return append(more, decoder.ServerStorage)
	}
	return more
}

// isServer reports whether the decoder works in a server mode.
func (r caseRun) isServer() bool {
	return r.semantics == corpus.Server || r.semantics == corpus.Storage
}

func (r caseRun) check(t *testing.T, p *schema.Program) {
	t.Helper()
	for _, mode := range []decoder.FieldValidation{decoder.Warn, decoder.Strict, decoder.Ignore} {
		d := decoder.New(p, r.options(mode)...)
		out, err := r.run(t, d)
		if f := r.Failure(r.semantics); f != nil {
			r.checkFailure(t, f, out, err)
			continue
		}
		findings := slices.Clone(d.Findings())
		var strict *ferrors.StrictError
		switch {
		case mode != decoder.Strict:
			require.NoError(t, err, r.form)
		case len(findings) == 0:
			require.NoError(t, err, "%s: strict, and nothing was found", r.form)
		default:
			require.ErrorAs(t, err, &strict, r.form)
			assert.Equal(t, findings, strict.Findings(), r.form)
			if r.Total >= 0 {
				assert.Equal(t, r.Total, len(strict.Findings())+strict.Omitted(), "%s: findings in all", r.form)
			}
		}
		r.checkResult(t, out)
		if mode == decoder.Ignore {
			assert.Empty(t, findings, "%s: findings, though they are to be ignored", r.form)
		} else {
			r.checkFindings(t, findings)
		}
		r.checkAgain(t, d, p, mode, out)
	}
}

// run appends the result of the document to a text, and asserts that the result shares no memory
// with the document.
func (r caseRun) run(t *testing.T, d *decoder.Decoder) ([]byte, error) {
	t.Helper()
	src := slices.Clone(r.src)
	out, err := r.decode(d, []byte("before "), src)
	require.True(t, bytes.Equal(src, r.src), "%s: the input was changed", r.form)
	out, ok := bytes.CutPrefix(out, []byte("before "))
	require.True(t, ok, "%s: what was in dst was changed", r.form)
	kept := slices.Clone(out)
	for i := range src {
		src[i] = '?'
	}
	require.True(t, bytes.Equal(kept, out), "%s: the result shares memory with the input", r.form)
	return out, err
}

func (r caseRun) checkFailure(t *testing.T, f *corpus.Failure, out []byte, err error) {
	t.Helper()
	require.Error(t, err, "%s: got the result %.200s", r.form, out)
	assert.Empty(t, out, "%s: a part of a result", r.form)
	kind, at, text := fault(err)
	if f.Kind != "" {
		assert.Equal(t, f.Kind, kind, "%s: kind of the error %T: %.300s", r.form, err, err)
	} else {
		assert.NotEmpty(t, kind, "%s: kind of the error %T: %.300s", r.form, err, err)
	}
	if f.At != "" {
		assert.Equal(t, f.At, at.String(), "%s: place of the error: %.300s", r.form, err)
	}
	assert.LessOrEqual(t, len(err.Error()), maxErrorText)
	for _, part := range f.Contains {
		assert.Contains(t, text, part, r.form)
	}
}

// fault returns the kind, the position and the text of a fatal error.
func fault(err error) (kind string, at ferrors.Position, text string) {
	var syntax *ferrors.SyntaxError
	var limit *ferrors.LimitError
	var mismatch *ferrors.TypeError
	var object *ferrors.ObjectError
	switch {
	case errors.As(err, &syntax):
		return "syntax", syntax.Position, err.Error()
	case errors.As(err, &limit):
		return "limit", limit.Position, err.Error()
	case errors.As(err, &mismatch):
		return "type", mismatch.Findings[0].Position, details(mismatch.Findings)
	case errors.As(err, &object):
		return "object", object.Position, err.Error()
	}
	return "", at, err.Error()
}

func (r caseRun) checkResult(t *testing.T, out []byte) {
	t.Helper()
	want, _ := r.Want(r.semantics)
	require.True(t, jsontext.Value(out).IsValid(),
		"%s: not JSON, or a name repeats: %.500s", r.form, out)
	// YAML writes numbers in its own way. In JSON their text is kept, except in server modes.
	asSent := r.form == "json" && !r.isServer()
	if w, g := normal(t, want, asSent), normal(t, out, asSent); w != g {
		assert.Fail(t, "wrong result", "%s:\nwant %.2000s\ngot  %.2000s", r.form, w, g)
	}
}

func (r caseRun) checkFindings(t *testing.T, found ferrors.List) {
	t.Helper()
	assert.LessOrEqual(t, len(found), maxFindings, r.form)
	text := details(found)
	assert.LessOrEqual(t, len(text), maxFindingsText+64*maxFindings, r.form)
	form := "json"
	if r.form == "yaml" {
		form = "yaml"
	}
	if want, ok := r.Findings(r.semantics, form); ok {
		assert.Equal(t, strings.Join(want, "\n"), text, "%s: findings", r.form)
	}
}

// checkAgain decodes the document a second time with the same decoder. Then it decodes the result,
// in which there must be nothing to find or to change.
func (r caseRun) checkAgain(t *testing.T, d *decoder.Decoder, p *schema.Program,
	mode decoder.FieldValidation, out []byte) {
	t.Helper()
	if len(r.src) > 1<<20 {
		return // so long a document is there for its length
	}
	again, _ := r.decode(d, nil, r.src)
	assert.True(t, bytes.Equal(out, again),
		"%s: the second time the result is\n%.500s\nnot\n%.500s", r.form, again, out)

	if !r.Once {
		r.checkResultAgain(t, d, out)
	}

	compact, _ := r.decode(decoder.New(p, r.options(mode, decoder.Compact(true))...), nil, r.src)
	want := jsontext.Value(slices.Clone(out))
	require.NoError(t, want.Compact())
	assert.True(t, bytes.Equal(want, compact),
		"%s: compact it is\n%.500s\nnot\n%.500s", r.form, compact, want)
}

func (r caseRun) checkResultAgain(t *testing.T, d *decoder.Decoder, out []byte) {
	t.Helper()
	twice, err := d.AppendJSON(nil, out)
	assert.NoError(t, err, "%s: decoding the result", r.form)
	// In a server mode, metadata has an order of its own.
	isSame := bytes.Equal(out, twice) ||
		r.isServer() && normal(t, out, false) == normal(t, twice, false)
	assert.True(t, isSame,
		"%s: decoding the result changes it to\n%.500s\nfrom\n%.500s", r.form, twice, out)
	assert.Empty(t, details(d.Findings()), "%s: in the result", r.form)
}

// details returns the findings with their positions, one a line.
func details(found ferrors.List) string {
	all := make([]string, len(found))
	for i := range found {
		all[i] = found[i].Detail()
	}
	return strings.Join(all, "\n")
}

// normal returns a JSON value with its names sorted and its strings spelled in one way. Its numbers
// are spelled in one way, too, unless numbersAsSent is set.
func normal(t *testing.T, v []byte, numbersAsSent bool) string {
	t.Helper()
	value := jsontext.Value(slices.Clone(v))
	opts := []jsontext.Options{
		jsontext.ReorderRawObjects(true),
		jsontext.CanonicalizeRawInts(!numbersAsSent),
		jsontext.CanonicalizeRawFloats(!numbersAsSent),
		jsontext.EscapeForHTML(false),
	}
	require.NoError(t, value.Format(opts...), "%.500s", v)
	return string(bytes.TrimSpace(value))
}
