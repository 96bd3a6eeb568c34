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
	"github.com/espalier-dev/espalier/internal/walk"
	"github.com/espalier-dev/espalier/schema"
)

// mapSchemas are schemas of objects with a large map in the field data.
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

// randomMap returns a map of n members. Nearly all are strings; a few random ones are something
// else.
func randomMap(r *rand.Rand, n, odd int) string {
	others := []string{`:null`, `: "blank"`, `:"a\n"`, `:"ü"`, `:7`, `:{"a":"b"}`, `:{}`, `:["a"]`,
		`:"` + strings.Repeat("long ", 600) + `"`,
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

// TestLargeMaps asserts that large maps have the same results with kernels, which walk over many of
// their members at a time, and without.
func TestLargeMaps(t *testing.T) {
	if !kernel.Available {
		t.Skip("no kernels for this machine")
	}
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	r := rand.New(rand.NewPCG(9, 1))
	defer func(long int) { walk.LongRun = long }(walk.LongRun)
	for i, s := range mapSchemas {
		p := compileYAML(t, s.schema, s.opts...)
		for round := range rounds {
			walk.LongRun = 1 << (5 + r.IntN(10)) // maps have up to 20 kB
			src := []byte(`{"data":{` + randomMap(r, 60+r.IntN(400), round%4) + `},"b":1}` +
				strings.Repeat(" ", r.IntN(40)))
			size := 1 + r.IntN(3000)
			for _, opts := range skipOptions {
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

// TestLargeMapAtOnce asserts that a result is allocated once if it has to be, because no part of it
// is written before.
func TestLargeMapAtOnce(t *testing.T) {
	src := []byte(`{"data":{` + randomMap(rand.New(rand.NewPCG(3, 1)), 20_000, 0) + `}}`)
	require.Greater(t, len(src), 4*walk.LongRun)
	d := New(compileYAML(t, mapSchemas[0].schema), Ignore)
	require.LessOrEqual(t, testing.AllocsPerRun(5, func() { _, _ = d.AppendJSON(nil, src) }), 1.0)
	dst, err := d.AppendJSON(nil, src)
	require.NoError(t, err)
	require.Zero(t, testing.AllocsPerRun(5, func() { dst, _ = d.AppendJSON(dst[:0], src) }))
}
