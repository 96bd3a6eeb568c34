package torture

import (
	"encoding/json"
	"math/rand/v2"
	"regexp"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// follow returns the place after a text, or false at a byte that is not allowed.
func follow(text string) (p Place, ok bool) {
	for _, c := range []byte(text) {
		if p, ok = p.Next(c); !ok {
			return p, false
		}
	}
	return p, true
}

var surrogate = regexp.MustCompile(`\\u[dD][89a-fA-F]`)

// TestPlace compares the automaton with encoding/json, which is as strict but for surrogates and UTF-8.
func TestPlace(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	accepted := 0
	var text []byte
	for range 50_000 {
		text = JSON(r, text[:0])
		if len(text) > 0 && r.IntN(3) == 0 {
			text[r.IntN(len(text))] = `{}[]:,"\u09.eE-+tfn `[r.IntN(20)]
		}
		p, ok := follow(string(text))
		if ok && p.IsWhole() {
			accepted++
			require.True(t, json.Valid(text), "%s", text)
		} else if utf8.Valid(text) && !surrogate.Match(text) {
			require.False(t, json.Valid(text), "%s", text)
		}
	}
	assert.Greater(t, accepted, 10_000)
}

// TestPlaceStrings has what encoding/json does not tell apart.
func TestPlaceStrings(t *testing.T) {
	for text, want := range map[string]bool{
		`"\ud83d\ude00"`: true, `"\ud83d"`: false, `"\ud83dx"`: false, `"\ude00"`: false, `"\ud83d\u0041"`: false, `"\ud7ff\ue000"`: true,
		`"\uD83D\uDE00"`: true, `"\ud83d\ud83d"`: false, "\"\xc2\x80\"": true, "\"\xc1\x80\"": false, "\"\xe0\xa0\x80\"": true,
		"\"\xe0\x9f\x80\"": false, "\"\xed\x9f\xbf\"": true, "\"\xed\xa0\x80\"": false, "\"\xf0\x90\x80\x80\"": true, "\"\xf0\x8f\x80\x80\"": false,
		"\"\xf4\x8f\xbf\xbf\"": true, "\"\xf4\x90\x80\x80\"": false, "\"\xf5\x80\x80\x80\"": false, "\"\x80\"": false, "\"\xc3\"": false,
	} {
		p, ok := follow(text)
		assert.Equal(t, want, ok && p.IsWhole(), text)
	}
}

// TestRest asserts that texts are completed, from each lexeme.
func TestRest(t *testing.T) {
	lexemes, seen := make(map[Lexeme]bool), map[Place]bool{{}: true}
	for queue := []Place{{}}; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		lexemes[p.At] = true
		if rest, ok := p.Rest(); ok {
			q := p
			for _, c := range []byte(rest) {
				to, allowed := q.Next(c)
				require.True(t, allowed, "%+v %s", p, rest)
				q = to
			}
			require.True(t, q.IsWhole(), "%+v %s", p, rest)
		}
		for c := range 256 {
			if q, ok := p.Next(byte(c)); ok && !seen[q] && len(q.Open) <= 2 {
				seen[q] = true
				queue = append(queue, q)
			}
		}
	}
	assert.Len(t, lexemes, int(Lexemes))
	class, count := Classes()
	t.Log(count, "classes of bytes, and", len(seen), "places with two containers at most")
	assert.Equal(t, class['1'], class['7'])
	assert.NotEqual(t, class['7'], class['8'], "as the second digit of a surrogate")
}
