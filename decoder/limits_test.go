package decoder

import (
	"fmt"
	"io"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/values"
)

// TestLimits has documents that reach each limit exactly, and documents that exceed it by one.
func TestLimits(t *testing.T) {
	nested := func(open, close string, n int) string {
		return strings.Repeat(open, n) + strings.Repeat(close, n)
	}
	for _, c := range []struct {
		name  string
		src   func(n int) string // returns a document that needs a limit of n
		set   func(n int) Limits
		max   int
		limit ferrors.Limit
	}{
		{"depth skipped", func(n int) string { return `{"zz":` + nested("[", "]", n-1) + `}` },
			nil, DefaultDepth, ferrors.LimitDepth},
		{"depth skipped objects", func(n int) string { return strings.Repeat(`{"zz":`, n) + `1` + strings.Repeat("}", n) },
			nil, DefaultDepth, ferrors.LimitDepth},
		{"depth preserved", func(n int) string { return `{"raw":` + nested("[", "]", n-1) + `}` },
			nil, DefaultDepth, ferrors.LimitDepth},
		{"depth walked", func(n int) string { return `{"s":` + nested("[", "]", n-1) + `}` },
			nil, DefaultDepth, ferrors.LimitDepth},
		{"depth walked and skipped", func(n int) string {
			return `{"s":` + strings.Repeat("[", n/2) + `{"x":` + nested("[", "]", n-n/2-2) + `}` +
				strings.Repeat("]", n/2) + `}`
		}, nil, DefaultDepth, ferrors.LimitDepth},
		{"depth 70", func(n int) string { return `{"raw":` + nested("[", "]", n-1) + `}` },
			func(n int) Limits { return Limits{Depth: n} }, 70, ferrors.LimitDepth},
		{"number", func(n int) string { return `{"n":0.` + strings.Repeat("1", n-2) + `}` },
			nil, DefaultNumberBytes, ferrors.LimitNumberBytes},
		{"number skipped", func(n int) string { return `{"zz":0.` + strings.Repeat("1", n-2) + `}` },
			nil, DefaultNumberBytes, ferrors.LimitNumberBytes},
		{"name", func(n int) string { return `{"` + strings.Repeat("x", n) + `":1}` },
			nil, DefaultNameBytes, ferrors.LimitNameBytes},
		{"name skipped", func(n int) string { return `{"zz":{"` + strings.Repeat("x", n) + `":1}}` },
			nil, DefaultNameBytes, ferrors.LimitNameBytes},
		{"name preserved", func(n int) string { return `{"raw":{"` + strings.Repeat("x", n) + `":1}}` },
			nil, DefaultNameBytes, ferrors.LimitNameBytes},
		{"name with an escape", func(n int) string { return `{"\u0078` + strings.Repeat("x", n-len(`\u0078`)) + `":1}` },
			nil, DefaultNameBytes, ferrors.LimitNameBytes},
		{"short number", func(n int) string { return `{"n":` + strings.Repeat("1", n) + `}` },
			func(n int) Limits { return Limits{NumberBytes: n} }, 5, ferrors.LimitNumberBytes},
		{"short integer skipped", func(n int) string { return `{"zz":` + strings.Repeat("1", n) + `}` },
			func(n int) Limits { return Limits{NumberBytes: n} }, 5, ferrors.LimitNumberBytes},
		{"short integer in an array", func(n int) string { return `{"zz":[` + strings.Repeat("1", n) + `]}` },
			func(n int) Limits { return Limits{NumberBytes: n} }, 5, ferrors.LimitNumberBytes},
		{"short integer in an object", func(n int) string { return `{"raw":{"a":` + strings.Repeat("1", n) + `}}` },
			func(n int) Limits { return Limits{NumberBytes: n} }, 5, ferrors.LimitNumberBytes},
		{"short number skipped", func(n int) string { return `{"zz":-` + strings.Repeat("1", n-1) + `}` },
			func(n int) Limits { return Limits{NumberBytes: n} }, 5, ferrors.LimitNumberBytes},
		// Each element gets `"d":true`; the document has the fields that have other defaults.
		{"defaults", func(n int) string {
			return `{"s":"","obj":{"a":""},"list":[` + strings.Repeat("{},", n/len(`"d":true`)-1) + `{}]}`
		}, func(n int) Limits { return Limits{DefaultBytes: n} }, 800, ferrors.LimitDefaultBytes},
		{"output", func(n int) string { return `{"s":"` + strings.Repeat("x", n-len(`{"s":"","obj":{}}`)) + `","obj":{}}` },
			func(n int) Limits { return Limits{OutputBytes: n + len(`"a":"abc"`)} },
			500, ferrors.LimitOutputBytes},
	} {
		t.Run(c.name, func(t *testing.T) {
			var limits Limits
			if c.set != nil {
				limits = c.set(c.max)
			}
			for _, v := range []FieldValidation{Ignore, Strict} {
				d := New(compileYAML(t, testSchema), limits, v)
				_, err := d.AppendJSON(nil, []byte(c.src(c.max)))
				var strict *ferrors.StrictError
				if err != nil {
					require.ErrorAs(t, err, &strict)
				}
				past := c.max + 1
				if c.name == "defaults" {
					past = c.max + len(`"d":true`)
				}
				out, err := d.AppendJSON(nil, []byte(c.src(past)))
				var limit *ferrors.LimitError
				require.ErrorAs(t, err, &limit)
				assert.Equal(t, c.limit, limit.Limit)
				assert.True(t, limit.Position.IsValid())
				assert.Nil(t, out)
				assert.Less(t, len(err.Error()), 2000)
			}
		})
	}
}

// TestNameLimitAfterDefaults asserts that the limit of names applies to a name in a document, even
// if a default has brought the name into a result before.
func TestNameLimitAfterDefaults(t *testing.T) {
	d := New(compileYAML(t, `{type: object, properties: {long: {type: string, default: x}}}`),
		Limits{NameBytes: 3})
	for range 2 {
		var limit *ferrors.LimitError
		_, err := d.AppendJSON(nil, []byte(`{"long":"y"}`+blanks))
		require.ErrorAs(t, err, &limit)
		var v map[string]any
		require.NoError(t, d.Unmarshal([]byte(`{}`), &v))
		require.Equal(t, map[string]any{"long": "x"}, v)
	}
}

// TestNoLimits asserts that math.MaxInt means no limit, and does not overflow.
func TestNoLimits(t *testing.T) {
	var none Limits
	for _, limit := range none.fields() {
		*limit = math.MaxInt
	}
	const doc = `{"a":"b","u":1}`
	d := New(compileYAML(t, `
type: object
properties: {a: {type: string}, d: {type: string, default: x}}
`), none)
	for _, decode := range []func([]byte, []byte) ([]byte, error){d.AppendJSON, d.AppendYAML} {
		out, err := decode([]byte("dst"), []byte(doc))
		require.NoError(t, err)
		assert.Equal(t, `dst{"a":"b","d":"x"}`, string(out))
	}
	out, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
	require.NoError(t, err)
	assert.Equal(t, `{"a":"b","d":"x"}`, string(out))
}

// TestOutputLimit asserts that the limit is on the result, which does not grow beyond it, and
// that a document that is not JSON is refused for that reason first.
func TestOutputLimit(t *testing.T) {
	p := compileYAML(t, `{type: object, properties: {spec: {type: string}}}`)
	src := []byte(`{"spec":"","u":1` + strings.Repeat(" ", 1000) + `}`)
	_, err := New(p, Limits{OutputBytes: 11}, Compact(true)).AppendJSON(nil, src)
	assert.NoError(t, err, "only the compact form counts")
	d := New(p, Limits{OutputBytes: 100})
	_, err = d.AppendJSON(nil, src)
	assert.EqualError(t, err, "1:1018: size of the result in bytes exceeds the limit of 100")
	assert.Empty(t, d.Findings())
	_, err = d.AppendJSON(nil, []byte(`{"spec":"`+strings.Repeat("x", 1000)+`",}`))
	var syntax *ferrors.SyntaxError
	assert.ErrorAs(t, err, &syntax)

	// The limit also applies to defaults.
	defaults := compileYAML(t, `
type: object
properties:
  a: {type: array, items: {type: object, properties: {d: {type: string, default: `+
		strings.Repeat("x", 100)+`}}}}
`)
	_, err = New(defaults, Limits{OutputBytes: 1000}).AppendJSON(nil,
		[]byte(`{"a":[`+strings.Repeat("{},", 20)+`{}]}`))
	var limit *ferrors.LimitError
	require.ErrorAs(t, err, &limit)
	assert.Equal(t, ferrors.LimitOutputBytes, limit.Limit)
}

// TestManyDuplicates asserts that the first duplicates in the document are kept, although objects
// close from the inside out.
func TestManyDuplicates(t *testing.T) {
	var inner strings.Builder
	for i := range 150 {
		fmt.Fprintf(&inner, `"k%03d":1,"k%03d":2,`, i, i)
	}
	d := New(compileYAML(t, testSchema))
	_, err := d.AppendJSON(nil, []byte(`{"raw":{"a":1,"a":2,"b":{`+inner.String()+`"z":1}}}`))
	require.NoError(t, err)
	require.Len(t, d.Findings(), DefaultFindings)
	assert.Equal(t, "raw.a", d.Findings()[0].Path.String())
	assert.Equal(t, "raw.b.k098", d.Findings()[99].Path.String())
	assert.Equal(t, 51, d.Omitted())
}

// TestFatalHasNoFindings asserts that no findings are left after a fatal error.
func TestFatalHasNoFindings(t *testing.T) {
	d := New(compileYAML(t, testSchema), Limits{Findings: 1})
	_, err := d.AppendJSON(nil, []byte(`{"x":1,"y":1,"z":1,`))
	require.Error(t, err)
	assert.Empty(t, d.Findings())
	assert.Zero(t, d.Omitted())
	for _, doc := range []string{`{"x":1,"y":1,"z":1,`, `{"x":1,"y":1,"n":` + strings.Repeat("1", 2000) + `}`, `{"x":1,"y":1,"n":1,"n":2}`} {
		_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
		require.Error(t, err)
		assert.Empty(t, d.Findings(), doc)
		assert.Zero(t, d.Omitted(), doc)
	}
	_, err = d.AppendYAML(nil, []byte("x: 1\ny: 1\n"))
	require.NoError(t, err)
	require.NotEmpty(t, d.Findings())
	_, err = d.AppendYAML(nil, []byte("x: ["))
	require.Error(t, err)
	assert.Empty(t, d.Findings())
	assert.Zero(t, d.Omitted())
}

func TestFindingLimits(t *testing.T) {
	unknown := func(n, length int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"%0*d":1,`, length, i)
		}
		return `{` + b.String() + `"s":""}`
	}
	d := New(compileYAML(t, testSchema))
	_, err := d.AppendJSON(nil, []byte(unknown(DefaultFindings, 8)))
	require.NoError(t, err)
	assert.Len(t, d.Findings(), DefaultFindings)
	assert.Zero(t, d.Omitted())
	_, err = d.AppendJSON(nil, []byte(unknown(DefaultFindings+1, 8)))
	require.NoError(t, err)
	assert.Len(t, d.Findings(), DefaultFindings)
	assert.Equal(t, 1, d.Omitted())

	strict := New(compileYAML(t, testSchema), Strict)
	_, err = strict.AppendJSON(nil, []byte(unknown(DefaultFindings+7, 8)))
	assert.ErrorContains(t, err, `unknown field "00000099" and 7 more`)

	// Paths are shortened to MaxPathBytes each, and limited to FindingBytes in all.
	deep := `{"obj":{"deep":{"x":{"` + strings.Repeat("n", 40_000) + `":1}}}}`
	_, err = d.AppendJSON(nil, []byte(deep))
	require.NoError(t, err)
	require.Len(t, d.Findings(), 1)
	assert.Less(t, len(d.Findings()[0].Path.String()), ferrors.MaxPathBytes)
	assert.Regexp(t, `^obj\.deep\.x\.n+\.\.\.n+$`, d.Findings()[0].Path.String())

	many := New(compileYAML(t, testSchema), Limits{Findings: 1 << 20})
	_, err = many.AppendJSON(nil, []byte(unknown(3000, 250)))
	require.NoError(t, err)
	kept := len(many.Findings())
	assert.InDelta(t, DefaultFindingBytes/250, kept, 10)
	assert.Equal(t, 3000, kept+many.Omitted())
}

// TestAdversarialShapes has inputs that would exceed the time limit of go test if something took
// quadratic time.
func TestAdversarialShapes(t *testing.T) {
	var distinct, same, nestedRepeats strings.Builder
	for i := range 300_000 {
		fmt.Fprintf(&distinct, `"k%d":1,`, i)
		same.WriteString(`"k":1,`)
	}
	for range 5_000 {
		nestedRepeats.WriteString(`{"a":1,"a":`)
	}
	// There is one large object, and many that are just large enough to be treated like it.
	var small strings.Builder
	for i := range 33 {
		fmt.Fprintf(&small, `"s%d":1,`, i)
	}
	manySmall := strings.Repeat(`{`+small.String()+`"x":1},`, 10_000)
	deepNames := strings.Repeat(`{"`+strings.Repeat("n", 300)+`":`, 5_000)
	for _, in := range []string{"zz", "raw", "map"} {
		for name, src := range map[string]string{
			"distinct names":  `{"` + in + `":{` + distinct.String() + `"last":1}}`,
			"all but one":     `{"` + in + `":{` + distinct.String() + `"k0":1}}`,
			"many after one":  `{"` + in + `":{"a":1,"a":2,"big":{` + distinct.String() + `"last":1},"list":[` + manySmall + `{}]}}`,
			"one name":        `{"` + in + `":{` + same.String() + `"last":1}}`,
			"nested repeats":  `{"` + in + `":` + nestedRepeats.String() + `1` + strings.Repeat("}", 5_000) + `}`,
			"deep long names": `{"` + in + `":` + deepNames + `{` + same.String() + `"x":1}` + strings.Repeat("}", 5_000) + `}`,
		} {
			for _, v := range []FieldValidation{Ignore, Warn} {
				d := New(compileYAML(t, testSchema), v)
				out, err := d.AppendJSON(nil, []byte(src))
				require.NoError(t, err, "%s in %s", name, in)
				if in == "raw" && name == "one name" {
					assert.Equal(t, `{"raw":{"k":1,"last":1},"obj":{"b":2,"a":"abc"},"s":"dflt"}`, string(out))
				}
				if v == Warn && name == "one name" {
					require.NotEmpty(t, d.Findings())
					assert.Equal(t, 299_999, d.Findings()[0].Count)
				}
			}
		}
	}
}

// TestManyDuplicatesOnStream asserts that a stream counts the repetitions of a name, and finds the
// first, in dropped objects with many names.
func TestManyDuplicatesOnStream(t *testing.T) {
	for _, distinct := range []int{10, 40} { // names are compared in pairs, or found in a table
		var names strings.Builder
		for i := range distinct {
			fmt.Fprintf(&names, `"k%d":1,`, i)
		}
		for _, src := range []string{
			`{"zz":{"a":1,"a":2,` + names.String() + `"a":3,"a":4},"s":""}`,
			`{"obj":{"u":1,"u":2,` + names.String() + `"u":3,"v":1,"v":2,"v":3}}`,
		} {
			d := New(compileYAML(t, testSchema))
			_, err := d.AppendJSON(nil, []byte(src))
			require.NoError(t, err)
			want := details(d.Findings())
			_, err = io.Copy(io.Discard, d.NewReader(strings.NewReader(src)))
			require.NoError(t, err)
			require.Equal(t, want, details(d.Findings()), src)
			require.Equal(t, ferrors.DuplicateField, d.Findings()[0].Kind)
		}
	}
}

// TestOutputOfRepeated asserts that a result within the limit is not refused because of a member
// that was written first and superseded by a later one.
func TestOutputOfRepeated(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties: {map: {type: object, additionalProperties: {type: string}}}
`), Limits{OutputBytes: 100})
	// A small map is written at the next drop, a large one in parts.
	for _, members := range []int{10, 20_000} {
		var large strings.Builder
		for i := range members {
			fmt.Fprintf(&large, `"key-%d":"some text",`, i)
		}
		dst := make([]byte, 0, 1<<20)
		out, err := d.AppendJSON(dst, []byte(`{"map":{`+large.String()+
			`"a":"b"},"zz":1,"map":{"a":"b"}}`))
		require.NoError(t, err)
		require.Equal(t, `{"map":{"a":"b"}}`, string(out))
		_, err = d.AppendJSON(dst, []byte(`{"map":{`+large.String()+`"a":"b"}}`))
		var limit *ferrors.LimitError
		require.ErrorAs(t, err, &limit)
	}
}

// TestResultAfterOthers asserts that bytes which are in dst before do not count as output.
func TestResultAfterOthers(t *testing.T) {
	before := []byte(strings.Repeat("x", 100))
	for _, compact := range []bool{false, true} {
		d := New(compileYAML(t, testSchema), Compact(compact),
			Limits{OutputBytes: len(`{"s":"","obj":null}`)})
		out, err := d.AppendJSON(before, []byte(`{"s":"","obj":{"a":"","b":1}}`))
		require.Error(t, err)
		require.Equal(t, before, out)
		out, err = d.AppendJSON(before, []byte(`{"s":"","n":1,"u":{}}`))
		require.Error(t, err, "with the default of obj")
		require.Equal(t, before, out)
	}
	d := New(compileYAML(t, `{type: object, properties: {a: {type: integer}}}`),
		Limits{OutputBytes: len(`{"a":1}`)})
	out, err := d.AppendJSON(before, []byte(`{"a":1}`))
	require.NoError(t, err)
	require.Equal(t, string(before)+`{"a":1}`, string(out))
	_, err = d.AppendJSON(before, []byte(`{"a":10}`))
	require.Error(t, err)
}

// TestTotalOverflows reads as many bytes as an int can count, and one more.
func TestTotalOverflows(t *testing.T) {
	r := New(compileYAML(t, testSchema)).NewReader(strings.NewReader(`{"s":"a"}`))
	r.total = int64(math.MaxInt) - 3
	_, err := io.ReadAll(r)
	require.ErrorContains(t, err, "length of a stream in bytes exceeds the limit of ")

	r.Reset(strings.NewReader(`{"s":"a"}`))
	r.total = int64(math.MaxInt - len(`{"s":"a"}`))
	_, err = io.ReadAll(r)
	require.NoError(t, err, "just as much")
}

// TestTakesUpToLimits asserts which documents are taken without a walk: small ones, where no limit is as small as they can
// be large; and that one which cannot be taken leads to some walks.
func TestTakesUpToLimits(t *testing.T) {
	p := compileYAML(t, testSchema)
	for name, at := range map[string]Limits{
		"depth": {Depth: values.MostDepth}, "names": {NameBytes: values.MostTaken}, "numbers": {NumberBytes: values.NumberBytes},
		"defaults": {DefaultBytes: values.MostDefaults}, "output": {OutputBytes: values.MostTaken + values.MostDefaults},
	} {
		assert.True(t, New(p, at).takes(), name)
		for _, limit := range at.fields() {
			*limit = max(*limit-1, 0)
		}
		assert.False(t, New(p, at).takes(), name)
	}
	assert.False(t, New(p, ServerRequests).takes())
	assert.False(t, New(p, ExpectType("v1", "")).takes())

	d := New(p)
	var v any
	var object map[string]any
	text := func(n int) []byte { return []byte(`{"s":"` + strings.Repeat("x", n-len(`{"s":""}`)) + `"}`) }
	assert.True(t, d.take(text(values.MostTaken), &v))
	assert.NotZero(t, cap(d.result), "it is used again")
	assert.True(t, d.take(text(values.MostTaken), &object))
	assert.Equal(t, any(object), v)
	assert.Len(t, object["s"], values.MostTaken-len(`{"s":""}`))
	assert.False(t, d.take(text(values.MostTaken+1), &v))
	assert.False(t, d.take(text(20), new(string)))
	assert.Zero(t, d.walksLeft)
	for range 3 {
		assert.False(t, d.take([]byte(`{"unknown":1}`), &v))
		for left := walksAfterDoubt; left > 0; left-- {
			assert.Equal(t, left, d.walksLeft)
			assert.False(t, d.take(text(20), &v))
		}
	}
	assert.True(t, d.take(text(20), &v))

	_, err := d.AppendYAML(nil, []byte("unknown: 1\n"))
	require.NoError(t, err)
	require.Len(t, d.Findings(), 1)
	d.json = make([]byte, 0, 2*largeBuffer)
	for range maxIdleCalls {
		assert.True(t, d.take(text(20), &v))
		assert.Empty(t, d.Findings())
	}
	assert.Nil(t, d.json, "large buffers go")
}

// TestMakersOfValues asserts that the maker of values has the options of its decoder, and that the types of values are
// looked at once. TestSeparateStrings measures what the option does.
func TestMakersOfValues(t *testing.T) {
	for _, separate := range []bool{true, false} {
		d := New(compileYAML(t, testSchema), SeparateStrings(separate), Limits{NameBytes: 77})
		var v any
		require.NoError(t, d.Unmarshal([]byte(`{}`), &v))
		assert.Equal(t, separate, d.values.Separate)
		assert.Equal(t, 77, d.values.NameBytes)
	}
	d := New(compileYAML(t, testSchema))
	for range 2 {
		require.NoError(t, d.Unmarshal([]byte(`{}`), new(struct{ A any })))
		assert.NotZero(t, cap(d.result), "it is used again")
		assert.NotNil(t, d.interfaces)
		require.NoError(t, d.Unmarshal([]byte(`{}`), new(struct{ A int })))
		assert.Nil(t, d.interfaces)
		assert.Equal(t, reflect.TypeFor[*struct{ A int }](), d.typed)
	}
}
