package yamlbridge_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestUnfit: the server refuses infinity and NaN, and keys without a name, only if they are left
// when all is read: sigs.k8s.io/yaml looks at the map that go.yaml.in/yaml/v2 has made.
// TestYAMLAdversarial in fuzz/ compares with it.
func TestUnfit(t *testing.T) {
	const (
		infinity = "infinity and NaN are no JSON values"
		null     = "null is no key"
		big      = "integer beyond int64 as a key"
	)
	for _, c := range []struct{ src, want, fault string }{
		{"a: .inf\na: 1", `{"a":null,"a":1}`, ""},
		{"a: -.inf\na: 1", `{"a":false,"a":1}`, ""},
		{"a: [1.5, .NaN, '.']\na: 0.5", `{"a":[1.5,null,"."],"a":0.5}`, ""},
		{"a: {~: 1}\nb: {c: 1}\na: 1", `{"a":{"null":1},"b":{"c":1},"a":1}`, ""},
		{"a: {~: 1}\nb: 2", "", `1:5: ` + null + ` in "a"`},
		{"1: {~: 1}\n'1': 2", "", `1:5: ` + null + ` in "1"`}, // these are two keys
		{"a: &x .inf\nb: *x\na: 1\nb: 2", `{"a":null,"b":null,"a":1,"b":2}`, ""},
		{"a: &x .inf\n*x : 2\na: 1", `{"a":null,".inf":2,"a":1}`, ""},
		{"&x .inf: 1\nb: *x\nb: 2", `{".inf":1,"b":null,"b":2}`, ""},
		{"a: {~: 1}\na: 1", `{"a":{"null":1},"a":1}`, ""},
		{"a: {?}\na: 1", `{"a":{"null":null},"a":1}`, ""},
		{"{a: {? , b: 1}, a: 2}", `{"a":{"null":null,"b":1},"a":2}`, ""},
		{"{a: {? : 1}, a: 2}", `{"a":{"null":1},"a":2}`, ""},
		{"{a: [? , b], a: 2}", `{"a":[{"null":null},"b"],"a":2}`, ""},
		{"a:\n  ?\n  : b\na: 1", `{"a":{"null":"b"},"a":1}`, ""},
		{"a: {9223372036854775808: 1, 18446744073709551615: 2}\na: 1", `{"a":{"9223372036854775808":1,"18446744073709551615":2},"a":1}`, ""},
		{"-.0: .nan\n.0: 1", `{"0":null,"0":1}`, ""},
		{".inf", "", "1:1: " + infinity},
		{"a: 1\na: .inf", "", `2:4: ` + infinity + ` in "a"`},
		{"a: [x, .inf]", "", `1:8: ` + infinity + ` in "a[1]"`},
		{"a: .inf\nb: 1", "", `1:4: ` + infinity + ` in "a"`},
		{"a: &x .inf\nb: *x\na: 1", "", `2:4: ` + infinity + ` in "b"`},
		{"&x .inf: 1\nb: *x", "", `2:4: ` + infinity + ` in "b"`},
		{"~: 1\n~: 2", "", "1:1: " + null},
		{"? \n: 1", "", "1:2: " + null},
		{"a: {?}", "", `1:6: ` + null + ` in "a"`},
		{"{18446744073709551615: 1}", "", "1:2: " + big},
		{"1: .inf\n'1': a", `{"1":null,"1":"a"}`, ""}, // by chance, there
		{"a: [.inf\na: 1", "", "did not find"},
	} {
		r := yamlbridge.Reader{Dialect: yamlbridge.Server}
		out, err := r.AppendJSON([]byte("{["), []byte(c.src))
		if c.fault != "" {
			assert.Equal(t, "{[", string(out))
			assert.ErrorContains(t, err, c.fault, "%q", c.src)
			continue
		}
		require.NoError(t, err, "%q", c.src)
		assert.Equal(t, "{["+c.want, string(out), "%q", c.src)
		if c.want[2] != '1' && c.want[2] != '0' {
			_, err = convert(c.src)
			assert.Error(t, err, "%q: by default it is refused", c.src)
		}
	}
	r := yamlbridge.Reader{Dialect: yamlbridge.Server}
	out, err := r.AppendJSON(nil, []byte("a: {~: 1, ~: 2, 9223372036854775808: 1, 9223372036854775808: 2}\na: 1"))
	require.NoError(t, err)
	assert.Equal(t, []string{"line 1: key <nil> already set in map", "line 1: key 0x8000000000000000 already set in map", `line 2: key "a" already set in map`}, r.ServerDuplicates(out))
}
