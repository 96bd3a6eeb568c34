package decoder

import (
	"bytes"
	"math/bits"
)

// trackStretch notes the names before token to, and opens and closes what their objects
// are, for a stretch at i of b. With last, to is the bracket that closes the last object. It
// returns false and the index of the bracket that closes an object with a name that
// repeats.
func (w *walker) trackStretch(c *stretch, to int, last bool, b []byte, i int) (int, bool) {
	if last {
		to++
	}
	for at := 0; at < to; at += 64 {
		t, next := c.Word(at/64), c.Word(at/64+1)
		names := t.String & (t.Colon>>1 | next.Colon<<63)
		all := names | t.OpenObject | t.CloseObject
		if w.collecting {
			elements := t.Comma &^ (t.Colon>>2 | next.Colon<<62)
			all |= t.OpenArray | t.CloseArray | elements
		}
		for all &= lowest(to - at); all != 0; all &= all - 1 {
			k := at + bits.TrailingZeros64(all)
			pos := i + c.Pos(k)
			if names&-all&all != 0 {
				end := i + c.Pos(k+1) - 1
				for b[end] != '"' { // blanks before the colon
					end--
				}
				escaped := c.slashes && bytes.IndexByte(b[pos:end], '\\') >= 0
				w.addName(b, pos+1, end, escaped)
				continue
			}
			switch b[pos] {
			case '{':
				w.openObject()
			case '}':
				if w.closeObject() {
					return pos, false
				}
			case '[':
				w.openArray()
			case ']':
				w.closeArray()
			case ',':
				w.nextElement()
			}
		}
	}
	return 0, true
}
