package yamlbridge_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// To the API server 0.0 and -0.0 are one key, with the name of the last.
func TestZeroKeys(t *testing.T) {
	for _, c := range []struct{ src, want, server string }{
		{"0.0: a", `{"0":"a"}`, ""},
		{"-0.0: a", `{"-0":"a"}`, ""},
		{"0.0: a\n-0.0: b", `{"-0":"a","-0":"b"}`, ""},
		{"-0.0: a\n+0.0: b", `{"0":"a","0":"b"}`, ""},
		{"0.0: a\n-0.0: b\n0.0: c", `{"0":"a","0":"b","0":"c"}`, ""},
		// The integer and strings are other keys.
		{"0: a\n0.0: b\n-0.0: c", `{"0":"a","-0":"b","-0":"c"}`, ""},
		{"-0.0: a\n'-0': b\n-0: c\n0.0: d", `{"0":"a","-0":"b","0":"c","0":"d"}`, ""},
		{`{"\xFF": 1, "\u0001": 2, 0.0: 3}`, `{"ÿ":1,"\u0001":2,"0":3}`, ""},
		// Each mapping by itself.
		{"0.0: {-0.0: {0.0: a}}\nx: [-0.0: {-0.0: b}, 0.0: c]\n-0.0: {0.0: d}",
			`{"-0":{"-0":{"0":"a"}},"x":[{"-0":{"-0":"b"}},{"0":"c"}],"-0":{"0":"d"}}`, ""},
		// Brackets in strings do not count.
		{`{0.0: "}]\"", -0.0: {0.0: "{[", '{"': 1}}`, `{"-0":"}]\"","-0":{"0":"{[","{\"":1}}`, ""},
		// Copies.
		{"a: &x {0.0: 1, -0.0: 2}\nb: *x\nc: {0.0: *x}", `{"a":{"-0":1,"-0":2},"b":{"-0":1,"-0":2},"c":{"0":{"-0":1,"-0":2}}}`, ""},
		{"&k -0.0: a\nb: {*k : 1, 0.0: 2}\nc: {*k : *k}", `{"-0":"a","b":{"0":1,"0":2},"c":{"-0":0}}`, ""},
		{"a: &k -0.0\nb: {*k : 1}", `{"a":0,"b":{"-0":1}}`, ""},
		{"[{0.0: a, <<: {b: 1}}, {<<: {0.0: c}}]", `[{"0":"a","b":1},{"0":"c"}]`, ""},
		// Merge keys: an explicit key wins by default, and the later key on the server.
		{"{-0.0: b, <<: {0.0: a}}", `{"-0":"b"}`, `{"0":"b","0":"a"}`},
		{"{<<: {0.0: a}, -0.0: b}", `{"-0":"b"}`, `{"-0":"a","-0":"b"}`},
		{"{-0.0: b, <<: {0: a}}", `{"-0":"b","0":"a"}`, ""},
		{"{0.0: b, <<: {0: a}}", `{"0":"b"}`, `{"0":"b","0":"a"}`},
		{"{<<: [{0.0: a}, {-0.0: b, '0': c}]}", `{"0":"a"}`, `{"0":"b","0":"c","0":"a"}`},
	} {
		if c.server == "" {
			c.server = c.want
		}
		requireJSON(t, c.src, c.want)
		got, err := asServer(c.src)
		require.NoError(t, err, c.src)
		assert.Equal(t, c.server, got, c.src)
	}
	got, err := core("{0.0: a, -0.0: b}")
	require.NoError(t, err)
	assert.Equal(t, `{"0":"a","0":"b"}`, got)
}

// TestZeroKeyPositions holds that longer names move no other positions.
func TestZeroKeyPositions(t *testing.T) {
	const src = "x: &x {0.0: p, a: q, -0.0: r}\ny: [*x, {0.0: s, -0.0: t, b: *x}]\nz: {<<: *x, c: u}\nv: {<<: {0.0: {0.0: v, -0.0: w}, -0.0: &y x}}\nw: [*y, end]"
	for _, dialect := range []yamlbridge.Dialect{yamlbridge.Kubernetes, yamlbridge.Server} {
		r := yamlbridge.Reader{Dialect: dialect}
		out, err := r.AppendJSON([]byte("before"), []byte(src))
		require.NoError(t, err)
		json := string(out[len("before"):])
		for _, c := range "pqrstuvwx" {
			// Each is a value of one character, and a string of its own there.
			value := `"` + string(c) + `"`
			for off := 0; ; off++ {
				i := strings.Index(json[off:], value)
				if i < 0 {
					break
				}
				off += i
				if json[off+len(value)] == ':' {
					continue // a name
				}
				at := r.Definition(off).Offset
				assert.Equal(t, ": "+string(c), strings.ReplaceAll(src[at-2:at+1], "&", string(c)), "%s at %d", json, off)
			}
		}
		assert.Equal(t, len(src)-len("end]"), int(r.Position(strings.Index(json, `"end"`)).Offset))
	}
}
