package decoder

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestPeekType(t *testing.T) {
	for _, c := range []struct{ src, apiVersion, kind, err string }{
		{src: `{}`},
		{src: `{"kind":"K"}`, kind: "K"},
		{src: ` { "x":{"kind":"no"}, "kind" : "K" , "apiVersion":"g/v1","y":[1] } `, apiVersion: "g/v1", kind: "K"},
		{src: `{"kind":"Safe","\u006bind":"Evil","Kind":"Other"}`, kind: "Evil"},
		{src: `{"kind":"a\"b\u0041"}`, kind: `a"bA`},
		{src: `{"kind":5}`, err: `1:9: field "kind" must be a string, not a number`},
		{src: `{"kind":null}`, err: `1:9: field "kind" must be a string, not null`},
		{src: `[]`, err: `1:1: the document must be an object, not an array`},
		{src: `{"kind":"K","x":[}`, err: `1:18: invalid character '}', where a value or ']' is expected in "x[0]"`},
		{src: `{"kind":"K"} x`, err: `1:14: something follows the document: "x"`},
	} {
		apiVersion, kind, err := PeekType([]byte(c.src))
		assert.Equal(t, c.apiVersion, apiVersion, c.src)
		assert.Equal(t, c.kind, kind, c.src)
		if c.err == "" {
			assert.NoError(t, err, c.src)
		} else {
			assert.EqualError(t, err, c.err)
		}
	}
}

// TestPeekWithinMismatch asserts that names within a value of the wrong type are not taken for
// those of the object, even if the decoder has seen the same document before.
func TestPeekWithinMismatch(t *testing.T) {
	for range 2 {
		_, _, err := PeekType([]byte(`{"kind":{"kind":1,"other":2},"apiVersion":"a","apiVersion":"b"}`))
		require.EqualError(t, err, `1:9: field "kind" must be a string, not an object`)
		_, _, err = PeekType([]byte(`{"kind":"K","apiVersion":"v1"}` + blanks))
		require.NoError(t, err)
	}
}

// TestPeekAgain asserts that decoders are used again, with and without a budget, and that a budget is asked for one
// document only.
func TestPeekAgain(t *testing.T) {
	src := []byte(`{"kind":"K","apiVersion":"v1"}`)
	b := &limitedBudget{room: 1 << 20}
	some, none := []Option{WithBudget(b)}, []Option{WithBudget(&limitedBudget{})}
	for range 100 { // there may be some, also large ones, of other tests
		peekers.Get()
	}
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { _, _, _ = PeekType(src) }), 2.0, "the two texts")
	assert.Less(t, testing.AllocsPerRun(100, func() { _, _, _ = PeekType(src, some...) }), 6.0, "and the budget")
	assert.Less(t, testing.AllocsPerRun(100, func() { _, _, _ = PeekType(src, none...) }), 3.0, "there is no room")

	_, _, err := PeekType(src, some...)
	require.NoError(t, err)
	assert.Zero(t, b.taken)
	total := b.total
	_, _, err = PeekType([]byte(strings.Repeat(`{"x":`, 5000) + "1" + strings.Repeat("}", 5000)))
	require.NoError(t, err)
	assert.Equal(t, total, b.total)
}
