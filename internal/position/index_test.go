package position

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/steps"
)

// randomText returns a text of some blocks.
func randomText(r *rand.Rand, pieces ...string) string {
	var b strings.Builder
	for b.Len() < 3*blockBytes+r.IntN(3) {
		b.WriteString(pieces[r.IntN(len(pieces))])
		b.WriteString(strings.Repeat("x", r.IntN(2)*r.IntN(600)))
	}
	return b.String()
}

// TestIndex compares positions with those that are counted from the start, for offsets that ascend,
// descend, and do neither.
func TestIndex(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var x Index
	for range 30 {
		text := []byte(randomText(r, "\n", "\r", "\r\n", "\r\n", "a", "é", "😀"))
		var want []errors.Position
		for at := range len(text) + 1 {
			if utf8.RuneStart(append(text, 'x')[at]) && (r.IntN(20) == 0 || at%blockBytes < 2 || at == len(text)) {
				want = append(want, countedPosition(text, at))
			}
		}
		x.Start(text, 0)
		for _, p := range want {
			require.Equal(t, p, x.At(int(p.Offset)), "up")
		}
		for i := len(want) - 1; i >= 0; i-- {
			require.Equal(t, want[i], x.At(int(want[i].Offset)), "down")
		}
		x.Start(text, 0)
		r.Shuffle(len(want), func(i, j int) { want[i], want[j] = want[j], want[i] })
		for _, p := range want {
			require.Equal(t, p, x.At(int(p.Offset)), "anywhere")
		}
		assert.Equal(t, len(text), int(x.At(1<<30).Offset))
	}
}

// TestIndexLead asserts that a byte order mark has bytes but no character.
func TestIndexLead(t *testing.T) {
	text := []byte("\uFEFFé" + strings.Repeat("x", 2*blockBytes) + "\nyz")
	var x Index
	x.Start(text, 3)
	for range 2 {
		assert.Equal(t, errors.Position{Offset: 2054, Line: 2, Column: 1, ByteColumn: 1}, x.At(2054))
		assert.Equal(t, errors.Position{Offset: 3, Line: 1, Column: 1, ByteColumn: 4}, x.At(3))
		assert.Equal(t, errors.Position{Offset: 5, Line: 1, Column: 2, ByteColumn: 6}, x.At(5))
		assert.Equal(t, errors.Position{Offset: 1500, Line: 1, Column: 1497, ByteColumn: 1501}, x.At(1500))
	}
	x.Start(text[:3], 3)
	assert.Equal(t, errors.Position{Offset: 3, Line: 1, Column: 1, ByteColumn: 4}, x.At(3))
	x.Forget()
	assert.Equal(t, errors.Position{Line: 1, Column: 1, ByteColumn: 1}, x.At(3))
}

// TestIndexMemory asserts that an Index allocates once for texts up to a size, and little.
func TestIndexMemory(t *testing.T) {
	text := []byte(randomText(rand.New(rand.NewPCG(1, 2)), "\n"))
	var x Index
	x.Start(text, 0)
	x.At(len(text))
	assert.Positive(t, x.Held())
	assert.LessOrEqual(t, x.Held(), 40*(len(text)/blockBytes+1))
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		x.Start(text, 0)
		x.At(len(text))
		x.At(0)
	}))
}

// TestIndexSteps asserts that no answer costs more than a block, once the text has been counted.
func TestIndexSteps(t *testing.T) {
	if !steps.On {
		t.Skip("steps are not counted")
	}
	text := []byte(strings.Repeat("x", 1000*blockBytes))
	var x Index
	x.Start(text, 0)
	count := func(at int) int {
		steps.Take()
		x.At(at)
		return steps.Take()
	}
	assert.Less(t, count(10), 20, "what nobody asks for is not counted")
	assert.Less(t, count(len(text)), len(text)+2000)
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		require.LessOrEqual(t, count(r.IntN(len(text))), blockBytes+1)
	}
}
