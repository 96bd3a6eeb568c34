package fuzz

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Keys that are floats, or whose text is the name of one.
var floatKeys = []string{
	"0.0", "-0.0", "+0.0", "0", "-0", "'0'", "'-0'", "1e-50", "-1e-50", "-1e-400", "!!float 0", "!!float -0", "!!float -0.0",
	"1", "1.0", "1.00", "'1'", "1e39", "-1e39", ".inf", "-.inf", ".nan", ".NaN", "!!float 1",
}

// TestYAMLFloatKeys compares mappings with such keys, and the reports about them.
func TestYAMLFloatKeys(t *testing.T) {
	check := func(text string) {
		for _, m := range kubernetesModes {
			if k, _, _ := m.compare([]byte(text), nil); k == differs {
				assert.Fail(t, m.explain([]byte(text), nil))
			}
		}
	}
	for i, a := range floatKeys {
		check(fmt.Sprintf("? %s\n: x\n", a))
		check(fmt.Sprintf("a: &k %s\nb: {*k : x}\n", a))
		for _, b := range floatKeys {
			check(fmt.Sprintf("? %s\n: {p: 1}\n? %s\n: [q]\n", a, b))
			check(fmt.Sprintf("x: &x {? %s : 1}\nu: {<<: *x, ? %s : 2}\nv: {? %s : 3, <<: *x}\nw: *x\n", a, b, b))
			for _, c := range floatKeys[:min(i, 5)] {
				check(fmt.Sprintf("- &a {? %s : 1, ? %s : {? %s : 2, ? %s : 3}, ? %s : 4}\n- *a\n", a, b, c, a, c))
			}
		}
	}
}

// TestYAMLZeroKeys has the server's names for zeros, and its reports.
func TestYAMLZeroKeys(t *testing.T) {
	for _, c := range []struct {
		text, want string
		duplicates []string
	}{
		{"0.0: a\n-0.0: b", `{"-0":"b"}`, []string{"line 2: key -0 already set in map"}},
		{"-0.0: a\n0.0: b", `{"0":"b"}`, []string{"line 2: key 0 already set in map"}},
		{"0.0: a\n-0.0: b\n+0.0: c", `{"0":"c"}`, []string{"line 2: key -0 already set in map", "line 3: key 0 already set in map"}},
		{"0: a\n0.0: b\n-0.0: c", `{"-0":"c","0":"a"}`, []string{"line 3: key -0 already set in map"}},
		{"0: a\n-0: b", `{"0":"b"}`, []string{"line 2: key 0 already set in map"}},
		{"x: &x {0.0: a}\nu:\n  -0.0: b\n  <<: *x", `{"u":{"0":"a"},"x":{"0":"a"}}`, []string{"line 1: key 0 already set in map"}},
	} {
		answer, err := ReadYAML([]byte(c.text))
		require.NoError(t, err, c.text)
		assert.Equal(t, c.want, show(answer.Value), c.text)
		assert.Equal(t, c.duplicates, answer.Duplicates, c.text)
		k, what, detail := asServer.compare([]byte(c.text), nil)
		assert.Equal(t, same, k, "%s\n%s\n%s", c.text, what, detail)
	}
}
