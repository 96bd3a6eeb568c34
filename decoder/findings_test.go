package decoder

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// TestErrorsAreTheCallers asserts that a change to a strict error, or to a finding, is seen nowhere
// else: not by a caller who has an earlier error, and not by the next one who decodes the same
// document.
func TestErrorsAreTheCallers(t *testing.T) {
	const text = `strict decoding error: duplicate field "m", unknown field "a", unknown field "b"`
	d := New(compileYAML(t, "{type: object, properties: {m: {type: integer}}}"), Strict,
		ReportDroppedNulls(true))
	pool := sync.Pool{New: func() any { return d }}
	strict := func() error {
		d := pool.Get().(*Decoder)
		defer pool.Put(d)
		_, err := d.AppendJSON(nil, []byte(`{"b":1,"a":2,"m":1,"m":2}`))
		return err
	}
	items := errors.Path{}.Child("items").Element(0)
	first, second := strict(), strict()
	var f *errors.Finding
	require.ErrorAs(t, first, &f)
	*f = f.WithPrefix(items)
	require.EqualError(t, first, text)
	copied := first.(*errors.StrictError).Findings()
	copied.SortByPosition()
	copied[0].Count = 7
	require.EqualError(t, first, text)
	require.EqualError(t, second, text)
	require.EqualError(t, strict(), text)

	list := d.Findings()
	list[0] = list[0].WithPrefix(items)
	list[1].Path = list[0].Path
	require.EqualError(t, strict(), text)

	var all sync.WaitGroup // for the race detector: one goroutine changes an error, the other decodes
	all.Go(func() {
		for range 100 {
			*f = f.WithPrefix(items)
			f.Path = items
		}
	})
	for range 100 {
		require.EqualError(t, strict(), text)
	}
	all.Wait()
}

// TestPrefixOfServerTexts asserts that findings which the server spells in its own way keep the
// spelling after a prefix.
func TestPrefixOfServerTexts(t *testing.T) {
	d := New(compileYAML(t, `
type: object
additionalProperties: {type: object, x-kubernetes-embedded-resource: true}
`), ServerRequests)
	_, err := d.AppendJSON(nil, []byte(`{"apiVersion":"v1","kind":"K",`+
		`"k":{"apiVersion":"v1","kind":"K","metadata":{"x":1}}}`))
	require.NoError(t, err)
	require.Len(t, d.Findings(), 1)
	f := d.Findings()[0]
	assert.EqualError(t, &f, `unknown field "[k].metadata.x"`)
	assert.Equal(t, "k.metadata.x", f.Path.String())
	f = f.WithPrefix(errors.Path{}.Child("items").Element(0))
	assert.EqualError(t, &f, `unknown field "items[0][k].metadata.x"`)
	assert.Equal(t, "items[0].k.metadata.x", f.Path.String())
}

func paths(d *Decoder) []string {
	var paths []string
	for _, f := range d.Findings() {
		paths = append(paths, f.Path.String())
	}
	return paths
}

// TestOrderOfFindings asserts that unknown fields are in the order of their paths, whatever their
// common prefixes are, and that those in metadata of embedded resources follow the others.
func TestOrderOfFindings(t *testing.T) {
	const (
		embedded = "{type: object, x-kubernetes-embedded-resource: true, " +
			"x-kubernetes-preserve-unknown-fields: true}"
		resource = `{"apiVersion":"v1","kind":"K","metadata":{"%s":1}}`
	)
	s := "{type: object, properties: {"
	for _, name := range []string{"", "A", "a", "a1", "ab", "ba"} {
		s += fmt.Sprintf("%q: %s, ", name, embedded)
	}
	d := New(compileYAML(t, s+"}}"))
	resources := func(members ...string) string {
		for i, name := range members {
			members[i] = fmt.Sprintf(`"%s":`+resource, name, strings.Repeat("x", i+1))
		}
		return strings.Join(members, ",")
	}
	for doc, want := range map[string][]string{
		// One path is a prefix of the other, or the only one.
		`"xx":1,"x":1`:                  {"x", "xx"},
		`"x":1,"xx":1,"xxx":1`:          {"x", "xx", "xxx"},
		`"xxxxxxxx":1,"xxxxxxxxx":1`:    {"xxxxxxxx", "xxxxxxxxx"},
		`"x":1`:                         {"x"},
		`"xb01b":1,"xa9":1`:             {"xa9", "xb01b"}, // the first one ends as it starts after the x
		`"common1b":1,"common2a":1`:     {"common1b", "common2a"},
		`"common-start-b":1,"common":1`: {"common", "common-start-b"},
		`"b":1,"x":1,"a0":1`:            {"a0", "b", "x"},
		// The common prefix of ordinary fields is not that of the others.
		`"u1":1,"u0":1,` + resources("ba", "ab"):       {"u0", "u1", "ab.metadata.xx", "ba.metadata.x"},
		`"unknown1":1,"unknown0":1,` + resources("ab"): {"unknown0", "unknown1", "ab.metadata.x"},
		resources("ba") + `,"u1":1,` + resources("ab"): {"u1", "ab.metadata.x", "ba.metadata.x"},
		resources("a1", "a"):                           {"a.metadata.xx", "a1.metadata.x"},                     // a dot sorts before a 1
		resources("a", "A", ""):                        {"A.metadata.xx", `[""].metadata.xxx`, "a.metadata.x"}, // which the server spells [].metadata
	} {
		_, err := d.AppendJSON(nil, []byte("{"+doc+"}"))
		require.NoError(t, err)
		assert.Equal(t, want, paths(d), doc)
	}
}

// TestFindingBytes has findings whose paths take exactly the room that there is, and one byte more.
// Each name takes one byte in addition.
func TestFindingBytes(t *testing.T) {
	for _, c := range []struct {
		doc     string
		room    int
		want    []string
		omitted int
	}{
		{`{"a":1,"b":1}`, 4, []string{`1:2: unknown field "a"`, `1:8: unknown field "b"`}, 0},
		{`{"a":1,"b":1}`, 3, []string{`1:2: unknown field "a"`}, 1},
		{`{"long":1,"b":1}`, 4, nil, 2},
		// Both objects are read before it is known that the name repeats.
		{`{"raw":{"a":1,"a":2},"raw":{"a":3,"a":4}}`, len(".raw.a.raw.a"), []string{`1:15: duplicate field "raw.a", first at 1:9, repeated 2 times`}, 1},
	} {
		d := New(compileYAML(t, testSchema), Limits{FindingBytes: c.room})
		_, err := d.AppendJSON(nil, []byte(c.doc))
		require.NoError(t, err)
		assert.Equal(t, c.want, details(d.Findings()), c.doc)
		assert.Equal(t, c.omitted, d.Omitted(), c.doc)
	}
}

// TestPathsShareTheirStart asserts the paths of findings that have a common prefix with the finding
// before.
func TestPathsShareTheirStart(t *testing.T) {
	d := New(compileYAML(t, `
type: object
properties: {a: {type: array, items: {type: object, properties: {b: {type: object}}}}}
`))
	_, err := d.AppendJSON(nil, []byte(`{"a":[{"b":{"u":1,"v":1}},{"w":1,"b":{"x":1}}]}`))
	require.NoError(t, err)
	require.Equal(t, []string{"a[0].b.u", "a[0].b.v", "a[1].b.x", "a[1].w"}, paths(d))
}

// TestStrictLeavesOutDroppedNulls asserts that dropped nulls are not part of a strict error.
func TestStrictLeavesOutDroppedNulls(t *testing.T) {
	d := New(compileYAML(t, testSchema), Strict, ReportDroppedNulls(true))
	_, err := d.AppendJSON(nil, []byte(`{"drop":null,"u":1,"n":1,"n":2}`))
	var strict *errors.StrictError
	require.ErrorAs(t, err, &strict)
	assert.Equal(t, []string{`1:26: duplicate field "n", first at 1:20`, `1:14: unknown field "u"`},
		details(strict.Findings()))
	assert.Len(t, d.Findings(), 3)
	// Each duplicate counts, even if several become one finding.
	_, err = d.AppendJSON(nil, []byte(`{"drop":null,"n":1,"n":2,"n":3,"n":4}`))
	require.ErrorAs(t, err, &strict)
	assert.Equal(t, []string{`1:20: duplicate field "n", first at 1:14, repeated 3 times`},
		details(strict.Findings()))
	_, err = d.AppendJSON(nil, []byte(`{"raw":[{"drop":1}],"drop":null,`+
		`"obj":{"a":"","a":""},"obj":{"a":"","a":""},"obj":{"a":"","a":""}}`))
	require.ErrorAs(t, err, &strict)
	assert.Len(t, strict.Findings(), 2)
	_, err = d.AppendJSON(nil, []byte(`{"drop":null}`))
	require.NoError(t, err)
	assert.Equal(t, []string{`1:9: dropped null field "drop"`}, details(d.Findings()))
}

// TestOrderOfElidedPaths asserts the order of findings in embedded metadata whose paths are elided:
// within a key, within a declared name, or by whole names. They are sorted by as much of the path
// as is kept.
func TestOrderOfElidedPaths(t *testing.T) {
	long := strings.Repeat("x", 1100)
	const embedded = "{type: object, x-kubernetes-embedded-resource: true, " +
		"x-kubernetes-preserve-unknown-fields: true}"
	const object = `{"apiVersion":"v1","kind":"K","metadata":{"b":1,"a":1}}`
	for _, c := range []struct{ schema, doc string }{
		{"{type: object, properties: {m: {type: object, additionalProperties: " + embedded + "}}}", `{"m":{"` + long + `":` + object + `}}`},
		{"{type: object, properties: {? " + long + "\n: " + embedded + "}}", `{"` + long + `":` + object + `}`},
		{strings.Repeat("{type: object, properties: {longer-name: ", 100) + embedded + strings.Repeat("}}", 100),
			strings.Repeat(`{"longer-name":`, 100) + object + strings.Repeat("}", 100)},
	} {
		d := New(compileYAML(t, c.schema))
		_, err := d.AppendJSON(nil, []byte(c.doc))
		require.NoError(t, err)
		found := d.Findings()
		require.Len(t, found, 2)
		require.True(t, strings.HasSuffix(found[0].Path.String(), "metadata.a"), "%s", found[0].Path)
		require.True(t, strings.HasSuffix(found[1].Path.String(), "metadata.b"), "%s", found[1].Path)
	}
}
