package fieldpath

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func text(encoded string) string { return string(AppendText(nil, encoded)) }

// TestKeys spells names in the form of indices.
func TestKeys(t *testing.T) {
	steps := []Segment{{Name: "m", IsName: true}, {Name: "k.x", IsName: true}, {}, {IsName: true}, {Name: "a\nb", IsName: true}}
	var b []byte
	for i, s := range steps {
		b = AppendStep(b, s, i == 0, s.Name != "m")
	}
	assert.Equal(t, `m[k.x][0][""]["a\nb"]`, string(b))
}

// TestAnything asserts that any text can be read as a path, and that reading it ends.
func TestAnything(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	texts := []string{"garbage", "n", "i", "~", "n\xff", "n\x05ab", "i\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "n\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01a", "x\x01"}
	for range 10_000 {
		b := AppendName(AppendIndex(AppendName(nil, "spec"), 1000), "b")
		for range 3 {
			b[r.IntN(len(b))] = byte(r.Uint32())
		}
		texts = append(texts, string(b[:r.IntN(len(b)+1)]))
	}
	for _, encoded := range texts {
		n := 0
		for range Segments(encoded) {
			n++
		}
		assert.LessOrEqual(t, n, len(encoded))
		assert.Zero(t, Compare(encoded, encoded))
		assert.Equal(t, encoded == "", text(encoded) == "", "%q", encoded)
		AppendPointer(nil, encoded)
	}
	assert.Equal(t, "garbage", text("garbage"))
	assert.Equal(t, "[-1]", text(string(AppendIndex(nil, -1))))
}

// TestCompareGaps asserts that of paths with gaps of different sizes the one with the smaller gap
// comes first.
func TestCompareGaps(t *testing.T) {
	path := func(depth int) string {
		encoded, _ := Append(nil, depth, func(i int) ([]byte, int) { return []byte(strings.Repeat("n", 100)), 0 })
		return string(encoded)
	}
	shorter, longer := path(40), path(50)
	assert.Negative(t, Compare(shorter, longer))
	assert.Positive(t, Compare(longer, shorter))
	assert.Zero(t, Compare(longer, path(50)))
}
