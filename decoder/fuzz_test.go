package decoder

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

var seedTopics = []string{"kep-2332/*", "kep-575/*", "prune/*", "default/*", "metadata/*", "findings/*", "hostile/*", "regress/*"}

// seed adds the documents of testdata and some of every shape.
func seed(f *testing.F) {
	for _, c := range corpus.Load(f, seedTopics...) {
		if len(c.JSON) < 4096 {
			f.Add(c.JSON)
		}
	}
	f.Add([]byte(docWithAll))
	f.Add([]byte(benchDocument(100, false)))
}

func isStrict(err error) bool {
	var strict *StrictError
	return errors.As(err, &strict)
}

// FuzzAppendJSON asserts the laws that hold for every document.
func FuzzAppendJSON(f *testing.F) {
	seed(f)
	s, err := schema.Parse([]byte(testSchema))
	require.NoError(f, err)
	var programs []*schema.Program
	for _, dialect := range []schema.Dialect{schema.Kubernetes, schema.KEP} {
		p, err := schema.Compile(s, schema.Semantics(dialect))
		require.NoError(f, err)
		programs = append(programs, p)
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 8192 {
			return
		}
		for _, p := range programs {
			d := New(p, FieldValidation(Strict))
			out, err := d.AppendJSON(nil, src)
			findings := details(d.Findings())
			again, errAgain := d.AppendJSON(nil, src)
			require.Equal(t, err, errAgain, "the same document gives the same error")
			require.Equal(t, out, again)
			require.Equal(t, findings, details(d.Findings()))

			ignored, errIgnored := New(p, FieldValidation(Ignore)).AppendJSON(nil, src)
			if err != nil && !isStrict(err) {
				require.Nil(t, out, "a fatal error has no result")
				require.NotContains(t, err.Error(), "\n")
				require.Equal(t, err, errIgnored, "Ignore must refuse what Strict refuses")
				continue
			}
			require.NoError(t, errIgnored)
			require.Equal(t, string(out), string(ignored), "Strict and Ignore have one result")
			require.True(t, jsontext.Value(out).IsValid(), "valid JSON without repeated names: %s", out)

			// What is decoded stays as it is, and nothing is found in it any more.
			twice, err := d.AppendJSON(nil, out)
			require.NoError(t, err, "nothing is found in a result: %s", out)
			require.Equal(t, string(out), string(twice))

			compacted, err := New(p, Compact(true)).AppendJSON(nil, src)
			require.NoError(t, err)
			want := jsontext.Value(bytes.Clone(out))
			require.NoError(t, want.Compact())
			require.Equal(t, string(want), string(compacted))
		}
	})
}

// FuzzValidity holds what is accepted against jsontext, in each place of a
// document.
func FuzzValidity(f *testing.F) {
	seed(f)
	for _, s := range []string{`-0.5e+07`, `"\ud83c\udf33"`, `[1,{"a":null}]`, `"\u00"`, `1e309`, "\"\xc3\xa9\"", `tru`, ` [ ] `} {
		f.Add([]byte(s))
	}
	var decoders []*Decoder
	for _, place := range places {
		decoders = append(decoders, New(compileYAML(f, place.schema, place.opts...)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 8192 {
			return
		}
		for i, place := range places {
			src := []byte(place.before + string(text) + place.after)
			valid := jsontext.Value(src).IsValid(jsontext.AllowDuplicateNames(true))
			_, err := decoders[i].AppendJSON(nil, src)
			if err != nil && strings.Contains(err.Error(), "is beyond the range of float64") || isLimit(err) {
				continue
			}
			var mismatch *TypeError
			if errors.As(err, &mismatch) {
				continue
			}
			require.Equal(t, valid, err == nil, "%s: %q: %v", place.name, src, err)
		}
	})
}

func isLimit(err error) bool {
	var limit *LimitError
	return errors.As(err, &limit)
}

// FuzzCuts stops the walker in two places and lets it go on.
func FuzzCuts(f *testing.F) {
	s, err := schema.Parse([]byte(testSchema))
	require.NoError(f, err)
	p, err := schema.Compile(s)
	require.NoError(f, err)
	for _, c := range corpus.Load(f, seedTopics...) {
		if len(c.JSON) < 4096 {
			f.Add(c.JSON, uint(len(c.JSON)/3), uint(len(c.JSON)/2))
		}
	}
	f.Add([]byte(docWithAll), uint(10), uint(300))
	d := New(p)
	f.Fuzz(func(t *testing.T, src []byte, a, b uint) {
		want, err := d.AppendJSON(nil, src)
		if err != nil || len(d.walker.losers) > 0 { // these stop by themselves
			return
		}
		findings := details(d.Findings())
		first := int(min(a, uint(len(src))))
		second := int(min(max(a, b), uint(len(src))))
		got, list := walkInParts(t, d, src, first, second)
		require.Equal(t, string(want), got)
		require.Equal(t, findings, list)
	})
}

// FuzzPeekType holds what is peeked against what is decoded.
func FuzzPeekType(f *testing.F) {
	seed(f)
	d := New(compileYAML(f, `{type: object}`), Compact(true))
	f.Fuzz(func(t *testing.T, src []byte) {
		apiVersion, kind, err := PeekType(src)
		out, errDecode := d.AppendJSON(nil, src)
		if err != nil {
			require.Error(t, errDecode, "what cannot be peeked cannot be decoded")
			return
		}
		if errDecode != nil {
			require.Contains(t, errDecode.Error(), "metadata", "only metadata is not looked at")
			return
		}
		againVersion, againKind, err := PeekType(out)
		require.NoError(t, err)
		require.Equal(t, []string{apiVersion, kind}, []string{againVersion, againKind})
	})
}

// FuzzAppendYAML asserts that a document read as YAML is read as its JSON form,
// with positions that are in the document.
func FuzzAppendYAML(f *testing.F) {
	for _, c := range corpus.Load(f, seedTopics...) {
		for _, doc := range [][]byte{c.JSON, c.YAML} {
			if doc != nil && len(doc) < 4096 {
				f.Add(doc)
			}
		}
	}
	p := compileYAML(f, testSchema)
	f.Fuzz(func(t *testing.T, src []byte) {
		if len(src) > 4096 {
			return
		}
		d := New(p)
		out, err := d.AppendYAML(nil, src)
		for _, finding := range d.Findings() {
			require.True(t, finding.Position.IsValid())
			require.LessOrEqual(t, finding.Position.Offset, int64(len(src)))
		}
		js, errYAML := yamlbridge.AppendJSON(nil, src)
		if errYAML != nil {
			require.Error(t, err, "what is not YAML has no result")
			return
		}
		fromJSON, errJSON := New(p).AppendJSON(nil, js)
		require.Equal(t, errJSON == nil, err == nil, "%v and %v", err, errJSON)
		require.Equal(t, string(fromJSON), string(out))
	})
}
