package respell

import (
	"math/rand/v2"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"
)

// TestAppend respells a text many times.
func TestAppend(t *testing.T) {
	const text = ` {"a/b" : [1.50, -0, 1e3, "\ud83c\udf33 🌳 \u0000\t\"\\\u002f", {}],"a/b":null,"é":[]} `
	var want any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts([]byte(text), &want))
	kinds := map[string]*regexp.Regexp{
		"a surrogate pair":     regexp.MustCompile(`\\u[dD]83[cC]\\u[dD][fF]33`),
		"a character as it is": regexp.MustCompile(`🌳`),
		"a slash":              regexp.MustCompile(`a\\/b`),
		"a short escape":       regexp.MustCompile(`\\t`),
		"a long escape":        regexp.MustCompile(`\\u0009`),
		"no white space":       regexp.MustCompile(`^\{[^ \n\t\r]*[^ ]\}$`),
		"white space":          regexp.MustCompile(`^[ \n\t\r]*\{[ \n\t\r]+"`),
		"{}":                   regexp.MustCompile(`\{\}`),
	}
	met := map[string]int{}
	for seed := range uint64(2000) {
		r := rand.New(rand.NewPCG(seed, 0))
		again := RandomStyle(r).Append([]byte("before"), []byte(text), r)[len("before"):]
		var got any
		require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(again, &got), "%s", again)
		require.Equal(t, want, got, "%s", again)
		for kind, pattern := range kinds {
			if pattern.Match(again) {
				met[kind]++
			}
		}
	}
	for kind := range kinds {
		assert.Greater(t, met[kind], 20, kind)
	}
}

func TestInvalidUTF8(t *testing.T) {
	const text = "{\"\xff\":\"\xed\xa0\x80\\ud800\"}"
	r := rand.New(rand.NewPCG(0, 0))
	assert.Equal(t, text, string(Style{0, 8}.Append(nil, []byte(text), r)))
	assert.Equal(t, `"\/"`, string(Style{0, 8}.Append(nil, []byte(`"/"`), rand.New(rand.NewPCG(1, 0)))))
}
