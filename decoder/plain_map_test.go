//go:build amd64 && !purego

package decoder

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/schema"
)

// mapSchemas are of objects with a large map in the field data.
var mapSchemas = []struct {
	schema string
	opts   []schema.Option
}{
	{`{type: object, properties: {data: {type: object, additionalProperties: {type: string}}}}`, nil},
	{`{type: object, properties: {data: {type: object, additionalProperties: {type: string, nullable: true}}}}`, nil},
	{`{type: object, properties: {data: {type: object, additionalProperties: {type: object, properties: {a: {type: string, default: b}}}}}}`, nil},
	{`{type: object, properties: {data: {type: object, additionalProperties: {type: string}}}}`, []schema.Option{schema.KEP}},
	{`{type: object, properties: {data: {type: object, additionalProperties: {type: integer}}}}`, []schema.Option{schema.KEP}},
}

// randomMap writes a map of n members, nearly all of which are strings, with something else at
// a few random places.
func randomMap(r *rand.Rand, n, odd int) string {
	others := []string{`:null`, `: "blank"`, `:"a\n"`, `:"ü"`, `:7`, `:{"a":"b"}`, `:{}`, `:["a"]`, `:"` + strings.Repeat("long ", 600) + `"`,
		`:"` + "\x01" + `"`, `::`, `:"a""b"`, `:`, `"a"`, `:"a"}`, `:"a"]`, `:nul`, `:"a",`, `["a"`, `{"a"`, `7"a"`, `,"a"`}
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		name := fmt.Sprintf("key-%d-%s", i, strings.Repeat("x", r.IntN(30)))
		value := fmt.Sprintf(`:"value %d"`, r.IntN(1e6))
		if r.IntN(n) < odd {
			switch r.IntN(5) {
			case 0:
				name = fmt.Sprintf(`key-0-\u0078%d`, r.IntN(3))
			case 1:
				name = ""
			case 2:
				b.WriteString(`7:"a",`[:6*r.IntN(2)])
				b.WriteString(strings.Repeat(" ", r.IntN(20)) + "\n")
			default:
				value = others[r.IntN(len(others))]
			}
		}
		fmt.Fprintf(&b, `"%s"%s`, name, value)
	}
	return b.String()
}

// TestLargeMaps holds that large maps are the same with kernels, which walk many of their members at a
// time, as without.
func TestLargeMaps(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(9, 1))
	defer func(long int) { longRun = long }(longRun)
	for i, s := range mapSchemas {
		p := compileYAML(t, s.schema, s.opts...)
		for round := range rounds {
			longRun = 1 << (5 + r.IntN(10)) // of maps of up to 20 kB
			src := []byte(`{"data":{` + randomMap(r, 60+r.IntN(400), round%4) + `},"b":1}` + strings.Repeat(" ", r.IntN(40)))
			size := 1 + r.IntN(3000)
			for _, opts := range skimOptions {
				requireSame(t, func() string {
					d := New(p, opts...)
					out, err := d.AppendJSON(nil, src)
					return fmt.Sprintf("%s\n%v\n%q", out, err, details(d.Findings()))
				}, "schema %d: %q", i, src)
				requireSame(t, func() string {
					d := New(p, opts...)
					out, err := io.ReadAll(d.NewReader(&slowReader{src, size}))
					return fmt.Sprintf("%s\n%v\n%q", out, err, details(d.Findings()))
				}, "schema %d, reading %d: %q", i, size, src)
			}
		}
	}
}

// TestStringMembersProgress asserts that the members of a large map are walked by tokens up to its
// end.
func TestStringMembersProgress(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	d := New(compileYAML(t, mapSchemas[0].schema))
	src := []byte(`{` + randomMap(rand.New(rand.NewPCG(1, 1)), 5000, 0) + `}`)
	w := &d.walker
	w.start(nil)
	w.sp = 1
	w.frames[1] = frame{node: w.program.Root.Fields[0].Node, kind: inObject}
	w.pos = 1
	require.True(t, w.stringMembers(src))
	require.Greater(t, len(w.names), 4990)
	require.Equal(t, byte(','), src[w.member])
	require.Equal(t, w.member+1, w.pos)
	for _, n := range w.names {
		text := w.text(src, &n)
		require.Equal(t, `"`+string(text)+`":`, string(src[n.at:n.at+n.n+3]))
		require.Equal(t, tagOf(text), n.tag)
	}
}

// TestStringMembersTypes holds that members are walked by tokens only where there is nothing to be found about strings.
func TestStringMembersTypes(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	const strs, integers = `{type: object, additionalProperties: {type: string}}`, `{type: object, additionalProperties: {type: integer}}`
	checked := []schema.Option{schema.CheckTypes(true)}
	for _, c := range []struct {
		schema string
		opts   []schema.Option
		server bool
		limits Limits
		doc    string
		want   bool
	}{
		{strs, nil, false, Limits{}, `{"a":"b","c":"d",`, true}, {strs, nil, false, Limits{}, `{"a":1,"c":"d",`, false},
		{strs, checked, false, Limits{}, `{"a":"b","c":"d",`, true}, {integers, checked, false, Limits{}, `{"a":"b","c":"d",`, false},
		{strs, checked, true, Limits{}, `{"a":"b","c":"d",`, false}, {strs, nil, false, Limits{NameBytes: 5}, `{"a":"b","c":"d",`, false},
	} {
		d := New(compileYAML(t, c.schema, append(c.opts, schema.ResourceRoot(false))...), c.limits)
		w := &d.walker
		w.start(nil)
		w.sp, w.pos, w.asServer = 1, 1, c.server
		w.frames[1] = frame{node: w.program.Root, kind: inObject}
		require.Equal(t, c.want, w.stringMembers([]byte(c.doc+blanks)), "%+v", c)
	}
}

// TestStringMembers asserts how many tokens are members whose values are strings, whatever stands behind them, and is left of
// another text behind the last.
func TestStringMembers(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	const member = `"k":"v",`
	c := &stretch{Tokens: new(kernel.Tokens)}
	find := func(text string) int {
		c.b = []byte(text)
		c.count, c.size, c.slashes = c.Find(c.b, 1)
		return c.stringMembers()
	}
	for n := range 100 {
		for _, after := range []string{``, `"k"`, `"k":`, `"k":"v"`, `"k":1,`, `"k":"v"}`, `"k","v",`, `"k":"v":`, `1:"v",`, `"k":[],`, `,,,,`, `"k":"v","k":"v"`} {
			require.Equal(t, 4*(n+3), find(strings.Repeat(member, n+3)+strings.Repeat("1,", 80)))
			want := 4 * (n + strings.Count(after, member))
			require.Equal(t, want, find(strings.Repeat(member, n)+after), "%d %s", n, after)
		}
	}
}

// TestLargeMapAtOnce asserts that a result which has to be allocated is so once, as no part of it is written before.
func TestLargeMapAtOnce(t *testing.T) {
	src := []byte(`{"data":{` + randomMap(rand.New(rand.NewPCG(3, 1)), 20_000, 0) + `}}`)
	require.Greater(t, len(src), 4*longRun)
	d := New(compileYAML(t, mapSchemas[0].schema), Ignore)
	require.LessOrEqual(t, testing.AllocsPerRun(5, func() { _, _ = d.AppendJSON(nil, src) }), 1.0)
	dst, err := d.AppendJSON(nil, src)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(5, func() { dst, _ = d.AppendJSON(dst[:0], src) }))
}
