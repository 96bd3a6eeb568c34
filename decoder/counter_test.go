package decoder

import (
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// TestCounter compares positions that a counter finds in long steps, from random offset to random
// offset, with those that are counted character by character.
func TestCounter(t *testing.T) {
	pieces := []string{"\n", "\r", "\r\n", "\t", "ü", "日本", "😀", "\u2028", "\x00", "\x7f", "\xc3", "\xff", "a", strings.Repeat("plain ", 7), strings.Repeat("x", 100)}
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		var b strings.Builder
		for range r.IntN(40) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		src := []byte(b.String())
		c := newCounter(src, true, errors.Position{})
		if utf8.Valid(src) {
			c.notUTF8 = r.IntN(2) == 0
		}
		next := 0
		for at := 0; at <= len(src); {
			if at >= next {
				require.Equal(t, countedPosition(src, at), c.position(at), "%q at %d", src, at)
				next = at + r.IntN(60)
			}
			_, n := utf8.DecodeRune(src[at:])
			at += max(n, 1)
		}
	}
}

// countedPosition is the position of an offset by its definition: LF, CRLF and CR end a line, and
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
