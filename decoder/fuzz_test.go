package decoder

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/spec"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

var seedTopics = []string{"kep-2332/*", "kep-575/*", "prune/*", "default/*", "metadata/*",
	"findings/*", "adversarial/*", "regress/*"}

// seed adds the JSON documents of testdata and two generated ones.
func seed(f *testing.F) {
	for _, c := range corpus.Load(f, seedTopics...) {
		if len(c.JSON) < 4096 {
			f.Add(c.JSON)
		}
	}
	f.Add([]byte(docWithAll))
	f.Add([]byte(benchDocument(100, false)))
}

// FuzzValidity compares which texts are accepted, in each place of a document, with three readers
// of JSON. jsontext is as strict as the hardened default. encoding/json and sigs.k8s.io/json accept
// invalid UTF-8, as ServerRequests does, and only the latter refuses numbers that are out of range.
func FuzzValidity(f *testing.F) {
	corpus.AddSeeds(f)
	seed(f)
	for _, s := range []string{`-0.5e+07`, `"\ud83c\udf33"`, `[1,{"a":null}]`, `"\u00"`, `1e309`,
		"\"\xc3\xa9\"", `tru`, ` [ ] `,
		`"\ud800\ud800"`, "\"\xed\xa0\x80\"", "\ufeff1", `1 2`, `{"a":1,"a":2}`, `1],"b":[2`, `1},"unknown":{"c":2`} {
		f.Add([]byte(s))
	}
	if corpus.IsThere(f) {
		for text := range corpus.JSONTestSuite(f) {
			f.Add(text.Data)
		}
	}
	type pair struct{ hardened, exact *Decoder }
	decoders := make([]pair, len(places))
	for i, place := range places {
		p := compileYAML(f, place.schema, place.opts...)
		decoders[i] = pair{New(p, Limits{NumberBytes: 1 << 20}), New(p, ServerRequests)}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 8192 {
			return // longer texts could exceed a depth limit of the readers
		}
		for i, place := range places {
			src := []byte(place.before + string(text) + place.after)
			isStrict := jsontext.Value(src).IsValid(jsontext.AllowDuplicateNames(true))
			isLenient := json.Valid(src)
			var v any
			isInRange := kjson.UnmarshalCaseSensitivePreserveInts(src, &v) == nil
			require.True(t, isLenient || !isStrict && !isInRange, "%q: the readers differ", src)

			_, err := decoders[i].hardened.AppendJSON(nil, src)
			require.Equal(t, isStrict && isInRange, isJSON(err), "%s: %q: %v", place.name, src, err)
			_, err = decoders[i].exact.AppendJSON(nil, src)
			require.Equal(t, isInRange, isJSON(err), "%s, exactly: %q: %v", place.name, src, err)
		}
	})
}

// isJSON reports whether a document was valid JSON, by the error of decoding it.
func isJSON(err error) bool {
	var mismatch *ferrors.TypeError
	var object *ferrors.ObjectError
	return err == nil || errors.As(err, &mismatch) || errors.As(err, &object)
}

// FuzzCuts cuts a document at two places and lets the walker go on.
func FuzzCuts(f *testing.F) {
	corpus.AddSeeds(f)
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
		if err != nil || d.walker.HasRepeats() { // these walks stop by themselves
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

// FuzzAgainstSpec compares the outcome with the specification, under any schema that would be
// accepted in a definition.
func FuzzAgainstSpec(f *testing.F) {
	corpus.AddSeeds(f)
	for _, c := range corpus.Load(f, seedTopics...) {
		s, err := yamlbridge.AppendJSON(nil, c.Schema)
		require.NoError(f, err)
		if c.JSON != nil && len(c.JSON) < 4096 {
			f.Add(s, c.JSON, false)
			f.Add(s, c.JSON, true)
		}
	}
	f.Fuzz(func(t *testing.T, schemaText, src []byte, kep bool) {
		if len(schemaText) > 4096 || len(src) > 4096 || !jsontext.Value(schemaText).IsValid() {
			return
		}
		s, err := schema.Parse(schemaText)
		if err != nil || validation.Structural(s) != nil {
			return
		}
		semantics := schema.Deployed
		if kep {
			semantics = schema.KEP
		}
		p, err := schema.Compile(s, semantics)
		require.NoError(t, err, "what is valid compiles")
		d := New(p, unlimited)
		out, err := d.AppendJSON(nil, src)
		found := d.Findings()
		var mismatch *ferrors.TypeError
		if errors.As(err, &mismatch) {
			found = mismatch.Findings
		} else if err != nil {
			return // not JSON, or beyond a limit
		}
		// The specification does not cut paths.
		isCut := func(f ferrors.Finding) bool { return strings.Contains(f.Path.String(), "...") }
		if !slices.ContainsFunc(found, isCut) {
			difference := spec.NewRules(s, semantics, true).Difference(src, out, found, err)
			require.Empty(t, difference, "%s\n%s", schemaText, src)
		}
	})
}
