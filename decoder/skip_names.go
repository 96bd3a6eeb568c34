package decoder

import (
	"bytes"
	"encoding/binary"
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
		names := t.String & (t.Colon>>1 | next.Colon<<63) & lowest(to-at)
		var pos int
		ok := true
		if w.collecting || len(w.left) > 0 {
			elements := t.Comma &^ (t.Colon>>2 | next.Colon<<62)
			all := names | (t.OpenObject|t.CloseObject|t.OpenArray|t.CloseArray|elements)&lowest(to-at)
			pos, ok = w.trackWord(c, at, names, all, b, i)
		} else {
			all := names | (t.OpenObject|t.CloseObject)&lowest(to-at)
			for all != 0 && ok {
				if all = w.trackPlainWord(c, at, names, all, b, i); all != 0 { // what is not plain
					pos, ok = w.trackWord(c, at, names, all&-all, b, i)
					all &= all - 1
				}
			}
		}
		if !ok {
			return pos, false
		}
	}
	return 0, true
}

// trackWord does it for the tokens in all, from token at on. Those in names are names.
func (w *walker) trackWord(c *stretch, at int, names, all uint64, b []byte, i int) (int, bool) {
	for ; all != 0; all &= all - 1 {
		k := at + bits.TrailingZeros64(all)
		pos := i + c.Pos(k)
		if names&-all&all != 0 {
			end := i + c.Pos(k+1) - 1
			for b[end] != '"' { // blanks before the colon
				end--
			}
			escaped := c.slashes && bytes.IndexByte(b[pos:end], '\\') >= 0
			w.addMember(b, pos+1, end, escaped)
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
	return 0, true
}

// trackPlainWord is trackWord where repetitions are not collected and no name has left the
// window. It calls nothing, and returns the tokens from the first on that need that.
func (w *walker) trackPlainWord(c *stretch, at int, names, all uint64, b []byte, i int) uint64 {
	var (
		own    = w.names
		levels = w.levels
		level  level // the last one
	)
	if len(levels) > 0 {
		level = levels[len(levels)-1]
	}
	for ; all != 0; all &= all - 1 {
		k := at + bits.TrailingZeros64(all)
		from := i + c.Pos(k)
		switch one := all & -all; {
		case names&one != 0:
			from++
			end := i + c.Pos(k+1) - 1
			if uint(end) >= uint(len(b)) || b[end] != '"' || from < 0 || from > len(b)-8 || end < 8 || end == from || len(own) == cap(own) {
				goto leave
			}
			n := end - from
			first, last := binary.LittleEndian.Uint64(b[from:from+8]), binary.LittleEndian.Uint64(b[end-8:end])
			first &= ^uint64(0) >> uint(8*max(8-n, 0)&63)
			last &= uint64(int64(7-n) >> 63)
			if c.slashes && (n > 16 || hasSlash(first)|hasSlash(last) != 0) {
				goto leave
			}
			own = own[:len(own)+1]
			name := &own[len(own)-1]
			name.at, name.text, name.n, name.tag = from-1, from, n, tagOfWords(first, last, n)
			bit := tagBit(name.tag)
			level.twice |= level.tags & bit
			level.tags |= bit
		case b[from] == '{':
			if len(levels) == cap(levels) {
				goto leave
			}
			if len(levels) > 0 {
				levels[len(levels)-1] = level
			}
			level.names, level.index, level.tags, level.twice = len(own), -1, 0, 0
			levels = levels[:len(levels)+1]
			levels[len(levels)-1] = level
		default:
			if level.twice != 0 || len(w.arena) > 0 || len(levels) < 2 || level.names < 0 || level.names > len(own) {
				goto leave
			}
			own = own[:level.names]
			levels = levels[:len(levels)-1]
			level = levels[len(levels)-1]
		}
	}

leave:
	if len(levels) > 0 {
		levels[len(levels)-1] = level
	}
	w.names, w.levels = own, levels
	return all
}

// hasSlash returns not 0 if a byte of x is a backslash.
func hasSlash(x uint64) uint64 {
	x ^= 0x5c5c5c5c5c5c5c5c
	return (x - 0x0101010101010101) &^ x & 0x8080808080808080
}
