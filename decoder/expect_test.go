package decoder_test

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// TestExpectType asserts that all entry points refuse an object of another type, and where.
func TestExpectType(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	const want = "backup.example.com/v1"
	for _, c := range []struct {
		name, src, text string
		opts            []decoder.Option
	}{
		{name: "as expected", src: `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan"}`},
		{name: "escaped", src: `{"api\u0056ersion":"backup.example.com\/v1","kind":"Backup\u0050lan"}`},
		{name: "the last one counts", src: `{"kind":"Secret","apiVersion":"backup.example.com/v1","kind":"BackupPlan"}`},
		{name: "the last one counts, too", src: `{"kind":"BackupPlan","apiVersion":"backup.example.com/v1","kind":"Secret"}`, text: `1:66: kind is "Secret", where "BackupPlan" is expected in "kind"`},
		{name: "another kind", src: `{"apiVersion":"backup.example.com/v1",` + "\n" + ` "kind":"Secret","data":{}}`, text: `2:9: kind is "Secret", where "BackupPlan" is expected in "kind"`},
		{name: "another version", src: `{"apiVersion":"v1","kind":"BackupPlan"}`, text: `1:15: apiVersion is "v1", where "backup.example.com/v1" is expected in "apiVersion"`},
		{name: "another case", src: `{"apiVersion":"backup.example.com/v1","Kind":"BackupPlan"}`, text: `1:1: kind is missing, where "BackupPlan" is expected`},
		{name: "none", src: ` {}`, text: `1:2: apiVersion is missing, where "backup.example.com/v1" is expected`},
		{name: "deeper", src: `{"metadata":{"kind":"BackupPlan"},"apiVersion":"backup.example.com/v1"}`, text: `1:1: kind is missing, where "BackupPlan" is expected`},
		{name: "as the server", src: `{"apiVersion":"v1","kind":"BackupPlan"}`, opts: []decoder.Option{decoder.ServerRequests}, text: `1:15: apiVersion is "v1", where "backup.example.com/v1" is expected in "apiVersion"`},
		{name: "as the server, typed", src: `{}`, opts: []decoder.Option{decoder.ServerTypedRequests}},
		{name: "any version", src: `{"kind":"BackupPlan"}`, opts: []decoder.Option{decoder.ExpectType("", "BackupPlan")}},
		{name: "any", src: `{"kind":"Secret"}`, opts: []decoder.Option{decoder.ExpectType("", "")}},
		{name: "any kind", src: `{"apiVersion":"v2"}`, opts: []decoder.Option{decoder.ExpectType("v1", "")}, text: `1:15: apiVersion is "v2", where "v1" is expected in "apiVersion"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := decoder.New(p, append([]decoder.Option{decoder.ExpectType(want, "BackupPlan")},
				c.opts...)...)
			check := func(way string, err error) {
				t.Helper()
				if c.text == "" {
					require.NoError(t, err, way)
					return
				}
				require.EqualError(t, err, c.text, way)
				require.IsType(t, (*errors.ObjectError)(nil), err)
				require.ErrorIs(t, err, errors.ErrUnexpectedType)
			}
			out, err := d.AppendJSON([]byte("before"), []byte(c.src))
			check("bytes", err)
			assert.Equal(t, c.text != "", string(out) == "before", "%s", out)
			_, err = d.AppendYAML(nil, []byte(c.src))
			check("YAML", err)
			var v any
			check("values", d.Unmarshal([]byte(c.src), &v))
			emitted, err := io.ReadAll(d.NewReader(strings.NewReader(c.src)))
			check("stream", err)
			assert.Equal(t, c.text != "", len(emitted) == 0, "%s", emitted)
		})
	}
}

// TestExpectTypeOfNoResource asserts that a root which is not a resource has no type.
func TestExpectTypeOfNoResource(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"}, schema.ResourceRoot(false))
	require.NoError(t, err)
	declared, err := schema.Compile(&schema.Structural{Type: "object",
		Properties: map[string]*schema.Structural{"apiVersion": {Type: "string"},
			"kind": {Type: "string"}}}, schema.ResourceRoot(false))
	require.NoError(t, err)
	for _, p := range []*schema.Program{p, declared} {
		for mode := decoder.Standalone; mode <= decoder.ServerUnconverted; mode++ {
			for _, src := range []string{`{"apiVersion":"v1","kind":"Secret"}`, `{}`} {
				_, err = decoder.New(p, decoder.ExpectType("v1", "Secret"), mode).AppendJSON(nil, []byte(src))
				require.EqualError(t, err, `1:1: apiVersion is missing, where "v1" is expected`, "%s", mode)
			}
		}
	}
}

// TestSetOrigin asserts that positions are those in the text around the document, for all entry
// points.
func TestSetOrigin(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	const review = "{\"request\":\n  {\"object\": {\"kind\":\"K\",\n\"x\":1}}}"
	origin := errors.Position{Offset: 25, Line: 2, Column: 14, ByteColumn: 14}
	require.Equal(t, byte('{'), review[origin.Offset])
	object := review[origin.Offset : len(review)-2]
	want := []errors.Position{{Offset: 38, Line: 3, Column: 1, ByteColumn: 1}}
	d := decoder.New(p)
	found := func() (at []errors.Position) {
		for _, f := range d.Findings() {
			at = append(at, f.Position)
		}
		return at
	}
	d.SetOrigin(origin)
	_, err = d.AppendJSON(nil, []byte(object))
	require.NoError(t, err)
	assert.Equal(t, want, found())
	_, err = d.AppendYAML(nil, []byte(object))
	require.NoError(t, err)
	assert.Equal(t, want, found())
	r := d.NewReader(strings.NewReader(object))
	_, err = io.Copy(io.Discard, r)
	require.NoError(t, err)
	assert.Equal(t, want[0], r.Findings()[0].Position)
	_, err = d.AppendJSON(nil, []byte(`{"a" 1}`))
	require.ErrorContains(t, err, "2:19: ")

	pool := decoder.NewPool(p)
	pooled := pool.Get()
	pooled.SetOrigin(origin)
	pool.Put(pooled)
	_, err = pooled.AppendJSON(nil, []byte(`{"a" 1}`))
	require.ErrorContains(t, err, "1:6: ")
}

// TestPoolGetFor asserts that a pooled decoder has the validation that was asked for, whoever has
// used it before.
func TestPoolGetFor(t *testing.T) {
	p, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	pool := decoder.NewPool(p, decoder.Strict)
	for range 3 {
		for v, finds := range map[decoder.FieldValidation]int{decoder.Warn: 1, decoder.Strict: 1,
			decoder.Ignore: 0} {
			d := pool.GetFor(v)
			_, err := d.AppendJSON(nil, []byte(`{"x":1}`))
			assert.Equal(t, v == decoder.Strict, err != nil)
			assert.Len(t, d.Findings(), finds)
			pool.Put(d)
		}
		d := pool.Get()
		_, err = d.AppendJSON(nil, []byte(`{"x":1}`))
		require.ErrorIs(t, err, err.(*errors.StrictError))
		pool.Put(d)
	}
	assert.Less(t, testing.AllocsPerRun(100, func() { pool.Put(pool.Get()) }), 1.0, "a decoder is used again")
	other, err := schema.Compile(&schema.Structural{Type: "object"})
	require.NoError(t, err)
	assert.PanicsWithValue(t, "decoder: Pool.Put: the decoder is of another program",
		func() { pool.Put(decoder.New(other)) })
	assert.PanicsWithValue(t, "decoder: Pool.GetFor: there is no FieldValidation(3)",
		func() { pool.GetFor(3) })
}
