package decoder

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

const yamlTestSchema = `
type: object
properties:
  a: {}
  b: {}
  true: {type: boolean}
  m: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// TestYAMLDuplicates asserts the API server's messages for duplicates, beside the findings.
func TestYAMLDuplicates(t *testing.T) {
	p := compileYAML(t, yamlTestSchema)
	const src = "kind: A\na: 1\nb: 2\na:\n- c: 1\n  c: 2\nm: {1: a, '1': b}\nz: 1\nz: 2\n"
	d := New(p, ServerRequests, Strict)
	_, err := d.AppendYAML(nil, []byte(src))
	var strict *errors.StrictError
	require.ErrorAs(t, err, &strict)
	want := []string{
		`line 6: key "c" already set in map`,
		`line 5: key "a" already set in map`,
		`line 9: key "z" already set in map`,
	}
	assert.Equal(t, want, d.YAMLDuplicates())
	assert.Equal(t, []string{
		`duplicate field "a"`, `duplicate field "a[0].c"`, `duplicate field "m.1"`, `duplicate field "z"`,
	}, messages(d)[:4], "findings know one more")

	_, err = d.AppendYAML(nil, []byte("kind: A\na: 1"))
	require.NoError(t, err)
	assert.Empty(t, d.YAMLDuplicates(), "of the last call")
	for _, opt := range []Option{ServerRequests, Standalone} {
		d := New(p, opt)
		for _, decode := range []func() error{
			func() error { _, err := d.AppendYAML(nil, []byte("kind: A\n")); return err },
			func() error { _, err := d.AppendJSON(nil, []byte(`{"kind":"A"}`)); return err },
			func() error { var v any; return d.Unmarshal([]byte(`{"kind":"A"}`), &v) },
			func() error { _, err := d.AppendYAML(nil, []byte("kind: A\nkind: [")); return err },
		} {
			_, err = d.AppendYAML(nil, []byte(src))
			require.NoError(t, err)
			require.Len(t, d.YAMLDuplicates(), map[Option]int{ServerRequests: 3}[opt])
			d.duplicates, d.duplicatesBytes = want, 99
			_ = decode()
			assert.Empty(t, d.YAMLDuplicates(), "of the last call")
			assert.Zero(t, d.duplicatesBytes)
		}
	}

	for _, opts := range [][]Option{{}, {ServerRequests, Ignore}} {
		d := New(p, opts...)
		_, err := d.AppendYAML(nil, []byte(src))
		require.NoError(t, err)
		assert.Empty(t, d.YAMLDuplicates())
	}
}

// TestListedByServer has the findings that the API server reports otherwise, or not at all.
func TestListedByServer(t *testing.T) {
	p := compileYAML(t, yamlTestSchema)
	const src = `{"kind":"A","a":1,"a":2,"m":{"1":1,"1":2},"z":1}`
	yaml := strings.Replace(src, `"1":1`, `1: 1`, 1)
	listed := func(d *Decoder) (texts []string) {
		for _, f := range d.Findings() {
			if d.ListedByServer(&f) {
				texts = append(texts, f.Error())
			}
		}
		return texts
	}
	all := []string{`duplicate field "a"`, `duplicate field "m.1"`, `unknown field "z"`}
	for mode, want := range map[ServerMode][]string{
		Standalone: all, ServerRequests: all[2:], ServerTypedRequests: all[2:], ServerStorage: all[2:], ServerConversions: all[2:], ServerUnconverted: all[2:],
	} {
		d := New(p, mode)
		_, err := d.AppendYAML(nil, []byte(yaml))
		require.NoError(t, err)
		assert.Equal(t, all, messages(d), mode)
		assert.Equal(t, want, listed(d), mode)

		_, err = d.AppendJSON(nil, []byte(src))
		require.NoError(t, err)
		assert.Equal(t, all, listed(d), "JSON has no lines: %d", mode)

		_, err = d.AppendYAML(nil, []byte(yaml))
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, d.NewReader(strings.NewReader(`{"kind":"A","z":1,"z":2}`)))
		require.NoError(t, err)
		assert.Equal(t, []string{`duplicate field "z"`, `unknown field "z"`}, listed(d), "%d", mode)

		_, err = io.Copy(io.Discard, d.NewYAMLReader(strings.NewReader(yaml)))
		require.NoError(t, err)
		assert.Equal(t, want, listed(d), "%d", mode)
	}
}

func messages(d *Decoder) (texts []string) {
	list := d.Findings()
	for i := range list {
		texts = append(texts, list[i].Error())
	}
	return texts
}

func TestYAMLAsServer(t *testing.T) {
	p := compileYAML(t, yamlTestSchema)
	const src = "{kind: A, m: {a: 1, <<: {a: 2}, b: !foo x}}\n---\nsecond"
	_, err := New(p).AppendYAML(nil, []byte(src))
	require.Error(t, err)
	out, err := New(p, ServerRequests).AppendYAML(nil, []byte(src))
	require.NoError(t, err)
	assert.Equal(t, `{"kind":"A","m":{"a":2,"b":"x"}}`, string(out))
}

func TestYAMLDialect(t *testing.T) {
	p := compileYAML(t, yamlTestSchema)
	const src = "a: yes\nb: 010\non: 1\n"
	out, err := New(p).AppendYAML(nil, []byte(src))
	require.NoError(t, err)
	assert.Equal(t, `{"a":true,"b":8,"true":1}`, string(out))
	out, err = New(p, YAMLDialect(yamlbridge.Server)).AppendYAML(nil, []byte(src+"---\nsecond\n"))
	require.NoError(t, err)
	assert.Equal(t, `{"a":true,"b":8,"true":1}`, string(out))
	d := New(p, YAMLDialect(yamlbridge.Core))
	for range 3 * maxIdleCalls { // even after the decoder has let go of its buffers
		out, err = d.AppendYAML(nil, []byte(src))
		require.NoError(t, err)
		assert.Equal(t, `{"a":"yes","b":10}`, string(out))
	}
	require.Len(t, d.Findings(), 1)
	assert.Equal(t, `unknown field "on"`, d.Findings()[0].Error())
	assert.Equal(t, 3, d.Findings()[0].Position.Line)

	// The option also replaces the server's dialect.
	d = New(p, ServerRequests, YAMLDialect(yamlbridge.Core))
	_, err = d.AppendYAML(nil, []byte("kind: A\n---\nsecond\n"))
	require.Error(t, err)
	_, err = d.AppendYAML(nil, []byte(`{"kind": "A", "m": "\/"}`))
	require.NoError(t, err)
}

// TestOnlyDuplicates has a document whose only findings are duplicates, and one without duplicates.
func TestOnlyDuplicates(t *testing.T) {
	d := New(compileYAML(t, testSchema), ServerRequests)
	_, err := d.AppendYAML(nil, []byte("kind: K\ns: a\ns: b\n"))
	require.NoError(t, err)
	assert.Equal(t, []string{`line 3: key "s" already set in map`}, d.YAMLDuplicates())
	_, err = d.AppendYAML(nil, []byte("kind: K\nunknown: a\n"))
	require.NoError(t, err)
	assert.Empty(t, d.YAMLDuplicates())
}

// TestYAMLWithoutDuplicates asserts that the server's duplicates are looked for, which takes memory, only where there
// are some.
func TestYAMLWithoutDuplicates(t *testing.T) {
	d := New(compileYAML(t, testSchema), ServerRequests)
	src := []byte("kind: K\nraw: {a: {}, b: {}}\n")
	dst, err := d.AppendYAML(nil, src)
	require.NoError(t, err)
	assert.LessOrEqual(t, testing.AllocsPerRun(10, func() { dst, _ = d.AppendYAML(dst[:0], src) }), 1.0, "the text of kind")
}
