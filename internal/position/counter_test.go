package position

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/kernel"
)

// TestCounter compares positions that a Counter finds in long steps, between random offsets, with
// positions that are counted character by character, with and without a kernel.
func TestCounter(t *testing.T) {
	t.Run("with what this machine has", testCounter)
	kernel.Without(func() { t.Run("without kernels", testCounter) })
}

func testCounter(t *testing.T) {
	pieces := []string{"\n", "\r", "\r\n", "\t", "ü", "日本", "😀", "\u2028", "\x00", "\x7f", "\xc3", "\xff", "a", strings.Repeat("plain ", 7), strings.Repeat("x", 100)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		src := []byte(b.String())
		c := From(src, errors.Position{})
		c.NotUTF8 = !utf8.Valid(src) || r.IntN(2) == 0
		next := 0
		for at := 0; at <= len(src); {
			if at >= next || at == len(src) {
				require.Equal(t, countedPosition(src, at), c.At(at), "%q at %d", src, at)
				next = at + r.IntN([]int{60, 1000}[r.IntN(2)])
			}
			_, n := utf8.DecodeRune(src[at:])
			at += max(n, 1)
		}
	}
}

// TestCounterInParts gives texts up in random parts, as a stream does. The rest of a text starts at
// an origin.
func TestCounterInParts(t *testing.T) {
	origin := errors.Position{Offset: 1000, Line: 10, Column: 5, ByteColumn: 7}
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		var b strings.Builder
		for range r.IntN(20) {
			b.WriteString([]string{"\n", "\r\n", "a", "ü", strings.Repeat("x", 90)}[r.IntN(5)])
		}
		src := []byte(b.String())
		c, left := From(src, origin), 0
		for at := 0; at <= len(src); at += 1 + r.IntN(40) {
			for at < len(src) && !utf8.RuneStart(src[at]) {
				at++
			}
			require.True(t, c.Reaches(at-left))
			want := Within(countedPosition(src, at), origin)
			if r.IntN(4) > 0 {
				require.Equal(t, want, c.At(at-left), "%q at %d", src, at)
				require.Equal(t, at == left, c.Reaches(0))
			}
			if r.IntN(2) == 0 && !(at > 0 && src[at-1] == '\r') {
				c.Leave(at - left)
				c.Text, left = src[at:], at
				require.Equal(t, want, c.At(0))
			}
		}
	}
}

// TestFrom has texts that start within other texts, or have no origin.
func TestFrom(t *testing.T) {
	start := errors.Position{Line: 1, Column: 1, ByteColumn: 1}
	for _, origin := range []errors.Position{{}, start, {Offset: 7}} {
		c := From([]byte("a\nb"), origin)
		require.Equal(t, start, c.At(0))
		require.Equal(t, errors.Position{Offset: 3, Line: 2, Column: 2, ByteColumn: 2}, c.At(3))
	}
	at := errors.Position{Offset: 3, Line: 1, Column: 3, ByteColumn: 4}
	require.Equal(t, at, Within(at, errors.Position{}))
	require.Equal(t, at, Within(at, start))
	require.Equal(t, errors.Position{Offset: 13, Line: 2, Column: 10, ByteColumn: 12}, Within(at, errors.Position{Offset: 10, Line: 2, Column: 8, ByteColumn: 9}))
	at.Line = 2
	require.Equal(t, errors.Position{Offset: 13, Line: 3, Column: 3, ByteColumn: 4}, Within(at, errors.Position{Offset: 10, Line: 2, Column: 8, ByteColumn: 9}))
}

// countedPosition returns the position of an offset by definition: LF, CRLF and CR end a line, and
// a byte that is not UTF-8 is a character.
func countedPosition(src []byte, at int) errors.Position {
	p := errors.Position{Offset: int64(at), Line: 1, Column: 1, ByteColumn: 1}
	for i := 0; i < at; {
		_, n := utf8.DecodeRune(src[i:at])
		switch {
		case src[i] == '\n' || src[i] == '\r' && (i+1 == len(src) || src[i+1] != '\n'):
			p.Line++
			p.Column, p.ByteColumn = 1, 1
		default:
			p.Column++
			p.ByteColumn += n
		}
		i += n
	}
	return p
}
