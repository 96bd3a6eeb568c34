package laws

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"
)

const text = ` {"a/b" : [1.50, -0, 1e3, "\ud83c\udf33 🌳 \u0000\t\"\\\u002f", {}], "b":{"x":1,"x":[ ],"y":null},
	"c" :{"p":true,"q":false,"r":"é","s":{"":""}}} `

// TestRead compares read with another reader.
func TestRead(t *testing.T) {
	v := read(t, []byte(text))
	var first any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(strings.Replace(text, `"x":[ ],`, ``, 1)), &first))
	assert.Equal(t, first, firstOf(t, v))

	var paths []string
	v.walkAll(func(p path, m *member, v *value) {
		paths = append(paths, p.path().Pointer())
		if m != nil {
			assert.Equal(t, m.name, unquote([]byte(text[m.nameAt:m.nameAt+len(m.quoted)])))
		}
		if v.text != nil {
			assert.Equal(t, string(v.text), text[v.at:v.at+len(v.text)])
		} else {
			assert.Contains(t, "{[", text[v.at:v.at+1])
		}
	})
	assert.Equal(t, strings.Fields("/a~1b /a~1b/0 /a~1b/1 /a~1b/2 /a~1b/3 /a~1b/4 /b /b/x /b/x /b/y /c /c/p /c/q /c/r /c/s /c/s/"), paths)
	last := 0
	v.walk(func(path, *member, *value) { last++ })
	assert.Equal(t, len(paths)-1, last, "the first of two names loses")

	for other, want := range map[string]bool{
		text: true, strings.Replace(text, `"r"`, `"\u0072"`, 1): true, strings.Replace(text, `"x":1,`, ``, 1): true,
		strings.Replace(text, "1.50", "1.5", 1): false, strings.Replace(text, "é", "e", 1): false,
		strings.Replace(text, `"y":null`, `"z":null`, 1): false, strings.Replace(text, "true", "false", 1): false,
	} {
		assert.Equal(t, want, equal(v, read(t, []byte(other))), other)
	}
}

// TestRespell rewrites a text many times, and asserts that each spelling means the same.
func TestRespell(t *testing.T) {
	v := read(t, []byte(text))
	var last any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &last))
	kinds := map[string]*regexp.Regexp{
		"a surrogate pair":     regexp.MustCompile(`\\u[dD]83[cC]\\u[dD][fF]33`),
		"a character as it is": regexp.MustCompile(`🌳`),
		"a slash":              regexp.MustCompile(`a\\/b`),
		"a short escape":       regexp.MustCompile(`\\t`),
		"a long escape":        regexp.MustCompile(`\\u0009`),
		"no white space":       regexp.MustCompile(`^\{[^ \n\t\r]*[^ ]$`),
		"white space":          regexp.MustCompile(`^[ \n\t\r]*\{[ \n\t\r]+"`),
		"another order":        regexp.MustCompile(`"c".*"b"`),
		"another order below":  regexp.MustCompile(`"s".*"p"`),
		"{}":                   regexp.MustCompile(`\{\}`),
	}
	met := map[string]int{}
	for seed := range uint64(2000) {
		again := respelled(v, seed)
		require.Equal(t, string(again), string(respelled(v, seed)), "the seed says how")
		require.True(t, equal(v, read(t, again)), "%s", again)
		var got any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(again, &got))
		require.Equal(t, last, got, "%s", again)
		require.Regexp(t, `(?s)\[[ \n\t\r]*1\.50[ \n\t\r]*,[ \n\t\r]*-0[ \n\t\r]*,[ \n\t\r]*1e3`, string(again), "numbers stay as they are")
		for kind, pattern := range kinds {
			if pattern.Match(again) {
				met[kind]++
			}
		}
	}
	for kind := range kinds {
		assert.Greater(t, met[kind], 10, kind)
	}
}
