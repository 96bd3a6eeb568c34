package decoder

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// compileValues compiles the schema of a value that is no resource, with its validations.
func compileValues(t testing.TB, yaml string) *schema.Program {
	s, err := schema.Parse([]byte(yaml))
	require.NoError(t, err)
	p, err := schema.Compile(s, validation.Values(), schema.ResourceRoot(false))
	require.NoError(t, err)
	return p
}

func TestValueValidation(t *testing.T) {
	for v, name := range map[ValueValidation]string{
		AcceptValues: "AcceptValues", ValidateCreate: "ValidateCreate", ValidateUpdate: "ValidateUpdate", ValidateStatusUpdate: "ValidateStatusUpdate",
	} {
		assert.Equal(t, name, v.String())
		text, err := v.MarshalText()
		require.NoError(t, err)
		assert.Equal(t, name, string(text))
	}
	assert.Equal(t, "ValueValidation(4)", ValueValidation(4).String())
	_, err := ValueValidation(4).MarshalText()
	require.EqualError(t, err, "decoder: there is no ValueValidation(4)")
}

// TestProgramsWithoutValidations asserts that values are not accepted silently where the program
// cannot validate them.
func TestProgramsWithoutValidations(t *testing.T) {
	s, err := schema.Parse([]byte(`{type: object}`))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	const why = "the program was compiled without validation.Values, and values are to be validated"
	assert.PanicsWithValue(t, "decoder: "+why, func() { New(p, ValidateCreate) })
	assert.PanicsWithValue(t, "decoder: "+why, func() { NewPool(p, ValidateStatusUpdate) })
	assert.PanicsWithValue(t, "decoder: there is no ValueValidation(4)", func() { New(p, ValueValidation(4)) })
	lookup := func(string, string) (*schema.Program, error) { return p, nil }
	list := NewSequence(strings.NewReader(`{"apiVersion":"v1","kind":"K"}`), lookup, ValidateCreate)
	require.NoError(t, list.Next())
	_, err = list.AppendJSON(nil)
	require.EqualError(t, err, `decoder: kind "K" in version "v1": `+why)
}

// A family makes documents of any size.
type family struct {
	schema string
	make   func(n int) string // of about n bytes
}

func repeated(before, each, after string) func(n int) string {
	return func(n int) string {
		times := max(1, n/(len(each)+1))
		return before + strings.Repeat(each+",", times-1) + each + after
	}
}

func numbered(before, each, after string) func(n int) string {
	return func(n int) string {
		var b strings.Builder
		b.WriteString(before)
		for i := 0; b.Len() < n; i++ {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, each, i)
		}
		return b.String() + after
	}
}

// equalButTypes returns arrays that differ only where one has 1 and another one 1.0.
func equalButTypes(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("[" + strings.NewReplacer("0", "1.0,", "1", "1,").Replace(fmt.Sprintf("%016b", i)) + "1]")
	}
	return b.String()
}

// hostile are documents and schemas that could be costly to validate.
func hostile() map[string]family {
	list := func(n int, each string) string { return numbered("", each, "")(n * len(each)) }
	words := list(10_000, `"w%d"`)
	nested := strings.Repeat(`{type: object, properties: {a: `, 60) + `{type: integer}` + strings.Repeat("}}", 60)
	return map[string]family{
		"enum":              {`{type: array, items: {type: string, enum: [` + words + `]}}`, repeated("[", `"w7"`, "]")},
		"enum of numbers":   {`{type: array, items: {type: integer, enum: [` + list(10_000, "%d") + `]}}`, repeated("[", "7777", "]")},
		"keys":              {`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}}}`, numbered("[", `{"k":"%d"}`, "]")},
		"equal keys":        {`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}}}}`, repeated("[", `{"k":""}`, "]")},
		"many keys":         {`{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [` + words + `], items: {type: object, additionalProperties: {type: integer}}}`, repeated("[", "{}", "]")},
		"long format":       {`{type: array, items: {type: string, maxLength: 0, format: "` + strings.Repeat("a-", 20_000) + `"}}`, repeated("[", `"a"`, "]")},
		"set":               {`{type: array, x-kubernetes-list-type: set, items: {type: integer}}`, numbered("[", `%d`, "]")},
		"set of one":        {`{type: array, x-kubernetes-list-type: set, items: {type: integer}}`, repeated("[", `1`, "]")},
		"set of objects":    {`{type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}`, numbered("[", `{"a":%d}`, "]")},
		"enum of arrays":    {`{type: array, items: {type: array, items: {type: number}, enum: [` + equalButTypes(40_000) + `]}}`, repeated("[", "["+strings.Repeat("1.0,", 13)+"1]", "]")},
		"unique items":      {`{type: array, uniqueItems: true, items: {type: array, items: {type: number}}}`, func(n int) string { return "[" + equalButTypes(n) + "]" }},
		"pattern":           {`{type: array, items: {type: string, pattern: "(a|b)*a(a|b){30}$"}}`, repeated(`["`, strings.Repeat("ab", 40)+`","`+strings.Repeat("ab", 40), `"]`)},
		"long text":         {`{type: string, pattern: "^(a|aa)*$", anyOf: [{pattern: b}, {pattern: c}, {minLength: 1}]}`, func(n int) string { return `"` + strings.Repeat("a", n) + `"` }},
		"wrong types":       {`{type: array, items: {type: string, maxLength: 1}}`, repeated("[", `"ab"`, "]")},
		"missing":           {`{type: array, items: {type: object, required: [a, b, c], properties: {a: {}, b: {}, c: {}}}}`, repeated("[", "{}", "]")},
		"required, no bits": {`{type: object, additionalProperties: true, not: {required: [` + list(2_000, `w%d`) + `]}}`, numbered("{", `"w%d":1`, "}")},
		"many required":     {`{type: array, items: {type: object, additionalProperties: {type: integer}, required: [` + list(200, `w%d`) + `]}}`, repeated("[", numbered("{", `"w%d":1`, "}")(2_000), "]")},
		"alternatives":      {`{type: array, items: {type: object, properties: {a: {type: integer}}, oneOf: [` + strings.Repeat(`{required: [a]}, `, 999) + `{required: [a]}]}}`, repeated("[", `{"a":1}`, "]")},
		"nested junctors":   {`{type: array, items: {type: integer, ` + strings.Repeat("anyOf: [{minimum: 5}, {", 14) + "minimum: 1" + strings.Repeat("}]", 14) + `}}`, repeated("[", "1", "]")},
		"deep":              {nested, func(int) string { return strings.Repeat(`{"a":`, 60) + "true" + strings.Repeat("}", 60) }},
		"deep and wide": {strings.Repeat(`{type: object, properties: {a: `, 60) + `{type: array, items: {type: integer, minimum: 2}}` + strings.Repeat("}}", 60), func(n int) string {
			return strings.Repeat(`{"a":`, 60) + repeated("[", "1", "]")(n) + strings.Repeat("}", 60)
		}},
		"unsure below a long name": {`{type: object, additionalProperties: {type: array, items: {type: number, minimum: 0.5}}}`, func(n int) string {
			return repeated(`{"`+strings.Repeat("n", min(n/2, DefaultNameBytes))+`":[`, "0.6", "]}")(n / 2)
		}},
		"maps":           {`{type: object, additionalProperties: {type: object, additionalProperties: {type: string, minLength: 2}}}`, numbered("{", `"%d":{"a":"b"}`, "}")},
		"repeated names": {`{type: object, properties: {a: {type: array, items: {type: integer, minimum: 3}}}}`, repeated("{", `"a":[1,2]`, "}")},
		"labels":         {`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, numbered(`{"apiVersion":"v1","kind":"K","metadata":{"labels":{`, `"-%d":"-"`, `}}}`)},
		"annotations":    {`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, numbered(`{"apiVersion":"v1","kind":"K","metadata":{"annotations":{`, `"a%d":"-"`, `}}}`)},
		"owners":         {`{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}`, repeated(`{"apiVersion":"v1","kind":"K","metadata":{"ownerReferences":[`, `{}`, `]}}`)},
		"defaults":       {`{type: array, items: {type: object, properties: {a: {type: string, default: abc, maxLength: 1}}}}`, repeated("[", "{}", "]")},
	}
}

// TestHostileValues asserts that the steps and the memory of validating are in proportion to the
// size of the document, on a stream, too, and that findings are within their limits.
func TestHostileValues(t *testing.T) {
	if !steps.On {
		t.Log("without the build tag steps only findings and memory are compared, and only of whole documents")
	}
	whole := func(d *Decoder, src []byte) error {
		_, err := d.AppendJSON(nil, src)
		return err
	}
	stream := func(d *Decoder, src []byte) error {
		_, err := io.Copy(io.Discard, d.NewReader(bytes.NewReader(src)))
		return err
	}
	for name, f := range hostile() {
		testHostileValues(t, name, f, ValidateCreate, whole)
		if !steps.On {
			continue
		}
		testHostileValues(t, name+" on a stream", f, ValidateCreate, stream)
		changed := family{`{type: object, properties: {c: {type: integer}, v: ` + f.schema + `}}`, func(n int) string { return `{"c":1,"v":` + f.make(n) + `}` }}
		testHostileValues(t, name+" in an update", changed, ValidateUpdate, func(d *Decoder, src []byte) error {
			d.SetOld(bytes.Replace(src, []byte(`"c":1`), []byte(`"c":2`), 1))
			return whole(d, src)
		})
	}
}

func testHostileValues(t *testing.T, name string, f family, as ValueValidation, decode func(d *Decoder, src []byte) error) {
	const size = 10_000
	t.Run(name, func(t *testing.T) {
		p := compileValues(t, f.schema)
		var taken, allocated [2]int
		for i, times := range []int{1, 8} {
			src := []byte(f.make(times * size))
			d := New(p, as)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			steps.Take()
			err := decode(d, src)
			taken[i] = steps.Take()
			runtime.ReadMemStats(&after)
			allocated[i] = int(after.TotalAlloc - before.TotalAlloc)
			var twice *errors.DuplicateError
			if !isComplete(err) && !stderrors.As(err, &twice) {
				var limit *errors.LimitError
				require.ErrorAs(t, err, &limit)
				require.Equal(t, errors.LimitValidationSteps, limit.Limit)
				require.LessOrEqual(t, limit.Max, int64(validationSteps(len(src)+len(d.old))))
			}
			text := 0
			for _, found := range d.Findings() {
				text += len(found.Path.String())
				if found.Invalid != nil {
					text += found.Invalid.Size()
				}
			}
			assert.LessOrEqual(t, len(d.Findings()), DefaultFindings)
			assert.LessOrEqual(t, text, DefaultFindingBytes)
			t.Logf("%d bytes: %d steps, %d allocated, %d findings, %d omitted: %.200v",
				len(src), taken[i], allocated[i], len(d.Findings()), d.Omitted(), err)
		}
		assert.LessOrEqual(t, taken[1], 16*taken[0]+100_000)
		assert.LessOrEqual(t, allocated[1], 16*allocated[0]+1<<20)
	})
}

// TestValidationSteps asserts what is said where validating takes too long, and that the number of
// steps does not overflow.
func TestValidationSteps(t *testing.T) {
	f := hostile()["enum"]
	d := New(compileValues(t, f.schema), ValidateCreate)
	src := []byte(repeated("[", `"no"`, "]")(10_000))
	out, err := d.AppendJSON([]byte("dst"), src)
	require.EqualError(t, err, fmt.Sprintf("1:1: steps of validation exceeds the limit of %d", 1<<20+64*len(src)))
	require.Equal(t, "dst", string(out))
	require.Empty(t, d.Findings())
	require.Positive(t, validationSteps(math.MaxInt))
	require.Equal(t, validationSteps(math.MaxInt/64), validationSteps(math.MaxInt))
}

// TestStepsOfUpdates asserts that the stored object has steps, too, and that no findings are left without enough.
func TestStepsOfUpdates(t *testing.T) {
	f := hostile()["enum"]
	d := New(compileValues(t, `{type: object, properties: {v: `+f.schema+`}}`), ValidateUpdate)
	old := `{"v":["w1"` + strings.Repeat(" ", 1000) + `]}`
	src := `{"v":` + repeated("[", `"no"`, "]")(10_000) + `}`
	d.SetOld([]byte(old))
	_, err := d.AppendJSON(nil, []byte(strings.Replace(src, "{", `{"unknown":1,`, 1)))
	require.EqualError(t, err, fmt.Sprintf("1:1: steps of validation exceeds the limit of %d", 1<<20+64*(len(src)+len(old))))
	assert.Empty(t, d.Findings())
}

// TestWholeStreams asserts which values on a stream are validated when all of it is there: those that are compared with
// others.
func TestWholeStreams(t *testing.T) {
	p := compileValues(t, `{type: object}`)
	for as, whole := range map[ValueValidation][2]bool{
		AcceptValues: {false, false}, ValidateCreate: {false, false}, ValidateUpdate: {true, true}, ValidateStatusUpdate: {false, true},
	} {
		d := New(p, as)
		assert.Equal(t, whole[0], d.NewReader(nil).whole, as.String())
		d.SetOld([]byte(`{}`))
		assert.Equal(t, whole[1], d.NewReader(nil).whole, as.String())
	}
}

// TestInvalidValuesOfEmptyNames has a member whose name is empty, as names of maps may be.
func TestInvalidValuesOfEmptyNames(t *testing.T) {
	d := New(compileValues(t, `{type: object, additionalProperties: {type: string, maxLength: 1}}`), ValidateCreate)
	_, err := d.AppendJSON(nil, []byte(`{"":"long"}`))
	require.IsType(t, (*errors.InvalidError)(nil), err)
	require.Len(t, d.Findings(), 1)
	assert.Equal(t, 5, d.Findings()[0].Position.Column)
}

// TestFewStepsFirst asserts that validating is tried with few steps first, and with four times as many each time, up to
// all; that the memory for each attempt is charged only while it is made; and that nothing overflows.
func TestFewStepsFirst(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	b := &limitedBudget{room: math.MaxInt}
	d.SetBudget(b)
	for _, c := range []struct {
		bytes, all, suffice int
		want                []int
		complete            bool
	}{
		{0, 1 << 20, 1, []int{1 << 14}, true},
		{0, 1 << 20, 1 << 17, []int{1 << 14, 1 << 16, 1 << 18}, true},
		{0, 100_000, 1 << 17, []int{1 << 14, 1 << 16, 100_000}, false},
		{0, 100_000, 100_000, []int{1 << 14, 1 << 16, 100_000}, true},
		{0, 100, 1000, []int{100}, false},
		{1000, 1 << 20, 1 << 15, []int{1<<14 + 2000, 4 * (1<<14 + 2000)}, true},
	} {
		var tried []int
		complete := d.withSteps(c.bytes, c.all, func(steps int) bool {
			tried = append(tried, steps)
			assert.Equal(t, 64*c.bytes+16*steps, b.taken)
			return steps >= c.suffice
		})
		assert.Equal(t, c.want, tried)
		assert.Equal(t, c.complete, complete)
		assert.Zero(t, b.taken)
	}
	for _, steps := range []int{fewSteps(math.MaxInt), validationSteps(math.MaxInt), neededFor(math.MaxInt, math.MaxInt), neededFor(0, math.MaxInt)} {
		assert.Greater(t, steps, math.MaxInt/8)
	}
}

// TestBudgetOfValues asserts that validating charges the budget for what it needs, that it ends
// where that has no room, and that all is given back.
func TestBudgetOfValues(t *testing.T) {
	size := Fewer(10_000)
	for name, f := range hostile() {
		t.Run(name, func(t *testing.T) {
			src := []byte(f.make(size))
			p := compileValues(t, f.schema)
			want, wantErr := New(p, ValidateCreate).AppendJSON(nil, src)
			d := New(p, ValidateCreate)
			base := d.Cap()
			all := &limitedBudget{room: math.MaxInt}
			d.SetBudget(all)
			out, err := d.AppendJSON(nil, src)
			require.Equal(t, wantErr, err)
			require.True(t, bytes.Equal(want, out))
			if isComplete(err) {
				assert.InDelta(t, d.Cap()-base+cap(out), all.taken, 8192, "held in the end")
			}
			for room := all.most / 2; room > 1<<14; room /= 8 {
				b := &limitedBudget{room: room}
				d := New(p, ValidateCreate)
				d.SetBudget(b)
				out, err := d.AppendJSON(nil, src)
				require.ErrorIs(t, err, errors.ErrBudget, "%d of %d", room, all.most)
				require.Empty(t, out)
				assert.LessOrEqual(t, b.most, room)
				assert.LessOrEqual(t, d.Cap(), base+96<<10)
				assert.LessOrEqual(t, b.taken, 96<<10, "it was not given back")
				d.SetBudget(nil)
				out, err = d.AppendJSON(nil, src)
				require.Equal(t, wantErr, err)
				require.True(t, bytes.Equal(want, out))
			}
		})
	}
}

// TestBuffersOfValues asserts that a decoder lets go of what validating a large document needed.
func TestBuffersOfValues(t *testing.T) {
	f := hostile()["set"]
	d := New(compileValues(t, f.schema), ValidateCreate)
	_, err := d.AppendJSON(nil, []byte(f.make(4_000_000)))
	require.NoError(t, err)
	require.Greater(t, d.Cap(), largeBuffer)
	for range maxIdleCalls {
		_, err = d.AppendJSON(nil, []byte("[1]"))
		require.NoError(t, err)
	}
	require.Less(t, d.Cap(), largeBuffer/4)
}

// TestMalformedValues asserts that what is malformed is said of values with rules as of others.
func TestMalformedValues(t *testing.T) {
	p := compileValues(t, `{type: object, properties: {t: {type: string, maxLength: 3}, b: {type: boolean, enum: [true]}, n: {type: integer, minimum: 1}}}`)
	plain := compileYAML(t, `{type: object, properties: {t: {type: string}, b: {type: boolean}, n: {type: integer}}}`, schema.ResourceRoot(false))
	for _, value := range []string{`"t":"\q"`, `"t":"a`, `"t":"` + "\xff" + `"`, `"b":tru`, `"b":falsy`, `"n":1x`, `"n":-`, `"n":1e`, `"n":1`, `"n":1e999`} {
		for _, after := range []string{"", "}", strings.Repeat(" ", 100) + "}"} {
			for _, before := range []string{"{", `{"u":{},`} {
				src := []byte(before + value + after)
				_, want := New(plain).AppendJSON(nil, src)
				_, err := New(p, ValidateCreate).AppendJSON(nil, src)
				require.Equal(t, want, err, "%q", src)
			}
		}
	}
}

// TestDefaultKeys asserts that elements are told apart by the defaults of their keys, too.
func TestDefaultKeys(t *testing.T) {
	const list = `{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k, l],
		items: {type: object, properties: {k: {type: string, default: a}, l: {%s}}}}`
	for l, docs := range map[string]map[string]bool{
		"type: integer, default: 1":                                       {`[{}]`: true, `[{},{"k":"b"}]`: true, `[{},{"k":"a","l":1}]`: false, `[{"l":2},{"k":"a"}]`: true},
		"x-kubernetes-preserve-unknown-fields: true, default: {\"a\": 1}": {`[{}]`: true, `[{},{}]`: false, `[{"l":{"a":1}},{}]`: false, `[{"l":2},{}]`: true},
	} {
		d := New(compileValues(t, fmt.Sprintf(list, l)), ValidateCreate)
		for doc, valid := range docs {
			_, err := d.AppendJSON(nil, []byte(doc))
			require.Equal(t, valid, err == nil, "%s: %s: %v", l, doc, err)
		}
	}
}
