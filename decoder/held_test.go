package decoder

import (
	"io"
	"math"
	"math/bits"
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// hold gives a slice another capacity, and returns by how many bytes it has grown.
func hold[T any](s *[]T) int {
	was := cap(*s)
	*s = make([]T, 0, 1<<12)
	return (cap(*s) - was) * int(unsafe.Sizeof(*new(T)))
}

// TestHeld holds that all that a decoder keeps is counted.
func TestHeld(t *testing.T) {
	if bits.UintSize != 64 {
		t.Skip("the sizes are those of 64 bits")
	}
	p := compileYAML(t, testSchema)
	for name, grow := range map[string]func(d *Decoder) int{
		"json": func(d *Decoder) int { return hold(&d.json) }, "stream": func(d *Decoder) int { return hold(&d.stream) },
		"output": func(d *Decoder) int { return hold(&d.output) }, "result": func(d *Decoder) int { return hold(&d.result) },
		"scratch": func(d *Decoder) int { return hold(&d.scratch) }, "repaired": func(d *Decoder) int { return hold(&d.repaired.Text) },
		"yaml": func(d *Decoder) int { d.yamlHeld = 1234; return 1234 },
		"values": func(d *Decoder) int {
			d.values.Make([]byte(`["text"]`+string(zeros[:])), nil)
			return d.values.Held()
		},
	} {
		d := New(p)
		before := d.heldBytes()
		grown := grow(d)
		assert.Positive(t, grown, name)
		assert.Equal(t, grown, d.heldBytes()-before, name)
	}
}

// TestRelease holds that more than largeBuffer is let go after maxIdleCalls calls in a row that needed less than a quarter of it.
func TestRelease(t *testing.T) {
	p := compileYAML(t, testSchema)
	for _, c := range []struct {
		held, used, calls int
		kept              bool
	}{
		{largeBuffer, 0, 2 * maxIdleCalls, true},
		{largeBuffer + 1, 0, maxIdleCalls - 1, true},
		{largeBuffer + 1, 0, maxIdleCalls, false},
		{largeBuffer + 1, largeBuffer/4 - 1, maxIdleCalls, false},
		{largeBuffer + 1, largeBuffer / 4, 2 * maxIdleCalls, true},
	} {
		d := New(p)
		d.json = make([]byte, 0, c.held-d.heldBytes())
		for range c.calls {
			d.releaseIdle(c.used)
		}
		assert.Equal(t, c.kept, d.json != nil, "%+v", c)
	}
}

// TestUseEndsStreams holds that any other use of a decoder ends the streams that it was on.
func TestUseEndsStreams(t *testing.T) {
	d := New(compileYAML(t, testSchema))
	var v any
	for name, use := range map[string]func(){
		"AppendJSON":    func() { _, _ = d.AppendJSON(nil, []byte("{}")) },
		"AppendYAML":    func() { _, _ = d.AppendYAML(nil, []byte("{}")) },
		"invalid YAML":  func() { _, _ = d.AppendYAML(nil, []byte("}")) },
		"Unmarshal":     func() { _ = d.Unmarshal([]byte("{}"), &v) },
		"UnmarshalYAML": func() { _ = d.UnmarshalYAML([]byte("{}"), &v) },
		"NewReader":     func() { d.NewReader(strings.NewReader("{}")) },
		"NewWriter":     func() { d.NewWriter(io.Discard) },
	} {
		r := d.NewReader(strings.NewReader(`{"s":"a"}`))
		use()
		_, err := io.ReadAll(r)
		require.ErrorContains(t, err, "decoder", name)

		for next, call := range map[string]func(w *Writer) error{
			"Flush": (*Writer).Flush, "Close": (*Writer).Close,
			"Write": func(w *Writer) error { _, err := io.WriteString(w, "}"); return err },
		} {
			w := d.NewWriter(io.Discard)
			_, err = io.WriteString(w, `{"s":"a","n":1`)
			require.NoError(t, err, name)
			use()
			require.ErrorContains(t, call(w), "decoder", "%s after %s", next, name)
			require.Error(t, w.Close(), name)
		}
	}
}

// TestResultBehindOthers holds that what is in dst already does not count as result.
func TestResultBehindOthers(t *testing.T) {
	before := []byte(strings.Repeat("x", 100))
	for _, compact := range []bool{false, true} {
		d := New(compileYAML(t, testSchema), Compact(compact), Limits{OutputBytes: len(`{"s":"","obj":null}`)})
		out, err := d.AppendJSON(before, []byte(`{"s":"","obj":{"a":"","b":1}}`))
		require.Error(t, err)
		require.Equal(t, before, out)
		out, err = d.AppendJSON(before, []byte(`{"s":"","n":1,"u":{}}`))
		require.Error(t, err, "with the default of obj")
		require.Equal(t, before, out)
	}
	d := New(compileYAML(t, `{type: object, properties: {a: {type: integer}}}`), Limits{OutputBytes: len(`{"a":1}`)})
	out, err := d.AppendJSON(before, []byte(`{"a":1}`))
	require.NoError(t, err)
	require.Equal(t, string(before)+`{"a":1}`, string(out))
	_, err = d.AppendJSON(before, []byte(`{"a":10}`))
	require.Error(t, err)
}

// TestOnlyDuplicates has nothing else to be found.
func TestOnlyDuplicates(t *testing.T) {
	d := New(compileYAML(t, testSchema), ServerRequests)
	_, err := d.AppendYAML(nil, []byte("kind: K\ns: a\ns: b\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{`line 3: key "s" already set in map`}, d.YAMLDuplicates())
	_, err = d.AppendYAML(nil, []byte("kind: K\nunknown: a\n"))
	require.NoError(t, err)
	assert.Empty(t, d.YAMLDuplicates())
}

// TestTotalOverflows has read as much as an int can count.
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

// TestStrictLeavesOutDroppedNulls: nulls that are dropped are no fault.
func TestStrictLeavesOutDroppedNulls(t *testing.T) {
	d := New(compileYAML(t, testSchema), Strict, ReportDroppedNulls(true))
	_, err := d.AppendJSON(nil, []byte(`{"drop":null,"u":1,"n":1,"n":2}`))
	var strict *errors.StrictError
	require.ErrorAs(t, err, &strict)
	assert.Equal(t, []string{`1:26: duplicate field "n", first at 1:20`, `1:14: unknown field "u"`}, details(strict.Findings()))
	assert.Len(t, d.Findings(), 3)
	// Duplicates that become one finding count each.
	_, err = d.AppendJSON(nil, []byte(`{"drop":null,"n":1,"n":2,"n":3,"n":4}`))
	require.ErrorAs(t, err, &strict)
	assert.Equal(t, []string{`1:20: duplicate field "n", first at 1:14, repeated 3 times`}, details(strict.Findings()))
	_, err = d.AppendJSON(nil, []byte(`{"raw":[{"drop":1}],"drop":null,"obj":{"a":"","a":""},"obj":{"a":"","a":""},"obj":{"a":"","a":""}}`))
	require.ErrorAs(t, err, &strict)
	assert.Len(t, strict.Findings(), 2)
	_, err = d.AppendJSON(nil, []byte(`{"drop":null}`))
	require.NoError(t, err)
	assert.Equal(t, []string{`1:9: dropped null field "drop"`}, details(d.Findings()))
}

// TestLimitBehindRepetitions reaches a limit only in the walk that leaves out what is repeated.
func TestLimitBehindRepetitions(t *testing.T) {
	d := New(compileYAML(t, testSchema), Limits{DefaultBytes: 100})
	_, err := d.AppendJSON(nil, []byte(`{"n":1,"n":2,"list":[`+strings.Repeat("{},", 30)+`{}],"x":1,"x":2}`))
	require.ErrorContains(t, err, "size of inserted defaults in bytes exceeds the limit of 100")
}
