package decoder_test

import (
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
)

// TestStreams asserts that streams agree with AppendJSON on the cases under testdata, with a window
// that hardly holds a token.
func TestStreams(t *testing.T) {
	defer decoder.SetFirstWindow(8)()
	checked := 0
	for _, c := range corpus.Load(t, "*/*") {
		if c.JSON == nil || c.Schema == nil || len(c.JSON) > 4096 {
			continue
		}
		s, err := schema.Parse(c.Schema)
		if err != nil {
			continue
		}
		for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
			for reading := range laws.Readings {
				subject, err := laws.New(s, dialect, reading, false)
				if err != nil {
					continue
				}
				checked++
				t.Run(c.Name, func(t *testing.T) { subject.CheckStreams(t, uint64(checked), c.JSON) })
			}
		}
	}
	require.Greater(t, checked, 100)
}

// manyRandom is how many random documents are cut at every byte: with -short, too, so many that no
// mutant lives.
func manyRandom() int { return max(decoder.Fewer(100), 40) }

// testStreamsOfRandomDocuments asserts the same of random documents, for every cut in two.
func testStreamsOfRandomDocuments(t *testing.T) {
	defer decoder.SetFirstWindow(8)()
	s, err := schema.Parse([]byte(decoder.TestSchema))
	require.NoError(t, err)
	for seed := range uint64(manyRandom()) {
		subject, err := laws.New(s, schema.Semantics(seed/2%2), laws.Hardened, seed%2 == 0)
		require.NoError(t, err)
		src := []byte(decoder.RandomDocument(rand.New(rand.NewPCG(seed, 6)), s))
		streams := subject.Streams(t, src)
		for at := range src {
			streams.Check(t, at)
		}
		subject.CheckStreams(t, seed, src)
	}
}

// TestDroppedNullsOnStreams asserts that streams find the dropped nulls that AppendJSON finds, and
// none of a member that a later one replaces, wherever the window ends.
func TestDroppedNullsOnStreams(t *testing.T) {
	defer decoder.SetFirstWindow(8)()
	const doc = `{"e":{"metadata":{"a":null,"ownerReferences":[{"q" : null,"q":1,"r":null}],` +
		`"a":null,"c":1,"labels":{"b":null},"b":null,"c":null,"b":2,"name":null}}}`
	d := decoder.New(compile(t, `
type: object
properties:
  e:
    type: object
    x-kubernetes-embedded-resource: true
    properties:
      metadata:
        type: object
        additionalProperties:
          type: array
          items: {type: object, additionalProperties: {type: string}}
          additionalProperties: {type: string}
`), decoder.ReportDroppedNulls(true))
	out, err := d.AppendJSON(nil, []byte(doc))
	require.NoError(t, err)
	assert.Equal(t, `{"e":{"metadata":{"ownerReferences":[{}],"labels":{}}}}`, string(out))
	want := details(d.Findings())
	assert.Equal(t, []string{
		`1:59: duplicate field "e.metadata.ownerReferences[0].q", first at 1:48`,
		`1:76: duplicate field "e.metadata.a", first at 1:19`,
		`1:120: duplicate field "e.metadata.c", first at 1:85`,
		`1:129: duplicate field "e.metadata.b", first at 1:111`,
		`1:129: unknown field "e.metadata.b"`,
		`1:59: unknown field "e.metadata.ownerReferences[0].q"`,
		`1:69: dropped null field "e.metadata.ownerReferences[0].r"`,
		`1:80: dropped null field "e.metadata.a"`,
		`1:105: dropped null field "e.metadata.labels.b"`,
		`1:124: dropped null field "e.metadata.c"`,
		`1:142: dropped null field "e.metadata.name"`,
	}, strings.Split(want, "\n"))
	for at := range doc {
		var b strings.Builder
		w := d.NewWriter(&b)
		for _, part := range []string{doc[:at], doc[at:]} {
			_, err := io.WriteString(w, part)
			require.NoError(t, err)
		}
		require.NoError(t, w.Close())
		assert.Equal(t, string(out), b.String())
		assert.Equal(t, want, details(w.Findings()), "cut at %d", at)
	}
	r := d.NewReader(iotest.OneByteReader(strings.NewReader(doc)))
	read, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, string(out), string(read))
	assert.Equal(t, want, details(r.Findings()))
}

// TestOmittedOnStreams asserts that readers and writers count the findings that they do not keep.
func TestOmittedOnStreams(t *testing.T) {
	const doc = `{"a":1,"b":2,"c":3}`
	d := decoder.New(compile(t, `{type: object}`), decoder.Limits{Findings: 1})
	r := d.NewReader(strings.NewReader(doc))
	n, err := r.Read(nil)
	require.NoError(t, err)
	assert.Zero(t, n, "nothing was asked for")
	out, err := io.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, "{}", string(out))
	assert.Equal(t, `1:2: unknown field "a"`, details(r.Findings()))
	assert.Equal(t, 2, r.Omitted())

	var b strings.Builder
	w := d.NewWriter(&b)
	_, err = io.WriteString(w, doc)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Equal(t, "{}", b.String())
	assert.Equal(t, `1:2: unknown field "a"`, details(w.Findings()))
	assert.Equal(t, 2, w.Omitted())
}

// A miscounter returns a count that no reader or writer may return.
type miscounter int

func (n miscounter) Read([]byte) (int, error)  { return int(n), nil }
func (n miscounter) Write([]byte) (int, error) { return int(n), nil }

func TestInvalidCounts(t *testing.T) {
	d := decoder.New(compile(t, `{type: object}`))
	for _, n := range []miscounter{-1, 1 << 30} {
		_, err := io.ReadAll(d.NewReader(n))
		require.ErrorContains(t, err, "read at offset 0: it returned an invalid count")
		lookup := func(string, string) (*schema.Program, error) { return nil, nil }
		objects := decoder.NewSequence(n, lookup)
		require.ErrorContains(t, objects.Next(), "read at offset 0: it returned an invalid count")
		w := d.NewWriter(n)
		_, err = io.WriteString(w, "{}")
		require.NoError(t, err)
		require.ErrorContains(t, w.Close(), "write at offset 0: it returned an invalid count")
		require.Error(t, w.Close(), "the error stays")
	}
}

// TestUseEndsStreams asserts that any other use of a decoder ends its streams.
func TestUseEndsStreams(t *testing.T) {
	d := decoder.New(compile(t, decoder.TestSchema))
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

		for next, call := range map[string]func(w *decoder.Writer) error{
			"Flush": (*decoder.Writer).Flush, "Close": (*decoder.Writer).Close,
			"Write": func(w *decoder.Writer) error { _, err := io.WriteString(w, "}"); return err },
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
