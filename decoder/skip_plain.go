package decoder

// NOTE: walker.plainSkip is walker.skip for the plain part of a value, as walker.plain is for
// walker.machine: it judges nothing, and at whatever is not plain it leaves the state as if
// the window had ended there, so that skip goes on from it. It calls nothing, so that its state
// stays in registers.

import (
	"encoding/binary"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
)

// plainDepth is the number of containers whose kinds fit into a word beside one more.
var plainDepth = 63 // a variable for tests

// plainSkippable returns up to how many open containers plainSkip does its work at base, and 0
// if it must not: where limits are such that more has to be looked at, or names.
func (w *walker) plainSkippable(base int) int {
	if !w.limits.skimmable() || w.collecting || len(w.left) > 0 {
		return 0
	}
	return min(plainDepth, w.limits.Depth-base)
}

// plainSkip runs ahead of skip from i, where w.skipAt says, up to a value that ends at until or
// behind it, and returns where it got to. Up to most containers may be open.
//
// NOTE: keep this function free of calls.
func (w *walker) plainSkip(b []byte, i, most, until int, track bool) int {
	var (
		stack = w.stack
		depth = w.depth
		at    = w.skipAt
		from  int
		c     byte
	)
	b = b[:len(b):len(b)]
	if at != atValue {
		goto after
	}

value:
	at = atValue
	if i < 0 || i > len(b)-slack {
		goto leave
	}
	c = b[i]
	for c <= ' ' {
		if !jsonwire.IsBlank(c) {
			goto leave
		}
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if c == '"' {
		i++
		// Three words: most values end there, and no branch predicts where.
		for {
			if i < 0 || i > len(b)-slack {
				at = inString
				goto leave
			}
			m0 := jsonwire.Special(binary.LittleEndian.Uint64(b[i : i+8]))
			m1 := jsonwire.Special(binary.LittleEndian.Uint64(b[i+8 : i+16]))
			m2 := jsonwire.Special(binary.LittleEndian.Uint64(b[i+16 : i+24]))
			if m0|m1|m2 != 0 {
				n := bits.TrailingZeros64(m0) >> 3 // 8 if it is not in the first word
				n += bits.TrailingZeros64(m1) >> 3 & -(n >> 3)
				n += bits.TrailingZeros64(m2) >> 3 & -(n >> 4)
				i += n
				break
			}
			i += 24
		}
		if b[i] != '"' {
			at = inString
			goto leave
		}
		i++
		goto after
	}
	if c == '{' {
		if depth >= most {
			goto leave
		}
		if track {
			n := len(w.levels)
			if n == cap(w.levels) {
				goto leave
			}
			w.levels = w.levels[:n+1]
			w.levels[n] = level{names: len(w.names), index: -1}
		}
		depth++
		stack = stack<<1 | 1
		i++
		c = jsonwire.At(b, i)
		for c <= ' ' && jsonwire.IsBlank(c) {
			i = jsonwire.PastBlank(b, i)
			c = jsonwire.At(b, i)
		}
		if c == '"' {
			goto name
		}
		if c == '}' {
			goto closeObject
		}
		at = atFirstName
		goto leave
	}
	if c == '[' {
		if depth >= most {
			goto leave
		}
		depth++
		stack <<= 1
		i++
		c = jsonwire.At(b, i)
		for c <= ' ' && jsonwire.IsBlank(c) {
			i = jsonwire.PastBlank(b, i)
			c = jsonwire.At(b, i)
		}
		if c == ']' {
			goto pop
		}
		if c != 0 {
			goto value
		}
		at = atFirstElement
		goto leave
	}
	if i < 0 || i > len(b)-slack {
		goto leave
	}
	if c-'0' <= 9 {
		digits := jsonwire.Digits(binary.LittleEndian.Uint64(b[i : i+8]))
		next := b[i+digits]
		if digits > 7 || c == '0' && digits > 1 || next|0x20 == 'e' {
			goto leave
		}
		if next == '.' {
			decimals := jsonwire.Digits(binary.LittleEndian.Uint64(b[i+digits+1 : i+digits+9]))
			next = b[i+digits+1+decimals]
			if decimals-1 > 6 || decimals == 0 || next|0x20 == 'e' {
				goto leave
			}
			digits += 1 + decimals
			w.oddNumber = true
		}
		i += digits
		goto after
	}
	if string(b[i:i+4]) == "true" || string(b[i:i+4]) == "null" {
		i += 4
		goto after
	}
	if string(b[i:i+5]) == "false" {
		i += 5
		goto after
	}
	goto leave

after: // a value has ended
	at = afterElement
	if depth == 0 {
		goto leave
	}
	if stack&1 != 0 {
		at = afterMember
	}
	if i >= until {
		goto leave
	}
	c = jsonwire.At(b, i)
	for c <= ' ' && jsonwire.IsBlank(c) {
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if stack&1 == 0 {
		if c == ',' {
			i++
			goto value
		}
		if c == ']' {
			goto pop
		}
		goto leave
	}
	if c == '}' {
		goto closeObject
	}
	if c != ',' {
		goto leave
	}
	i++
	c = jsonwire.At(b, i)
	for c <= ' ' && jsonwire.IsBlank(c) {
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if c != '"' {
		at = atName
		goto leave
	}

name: // i is at its quote
	at = atName
	from = i + 1
	{
		// One word: names come again, and a branch that is predicted does not wait for where they end.
		end := from
		for {
			if end < 0 || end > len(b)-slack {
				goto leave
			}
			if m := jsonwire.Special(binary.LittleEndian.Uint64(b[end : end+8])); m != 0 {
				end += bits.TrailingZeros64(m) >> 3
				break
			}
			end += 8
		}
		n := end - from
		if b[end] != '"' || b[end+1] != ':' || n >= kernel.MaxBytes {
			goto leave
		}
		if track {
			own := len(w.names)
			if n == 0 || own == cap(w.names) || end < 8 || len(w.levels) == 0 {
				goto leave
			}
			first, last := binary.LittleEndian.Uint64(b[from:from+8]), binary.LittleEndian.Uint64(b[end-8:end])
			first &= ^uint64(0) >> uint(8*max(8-n, 0)&63)
			last &= uint64(int64(7-n) >> 63)
			w.names = w.names[:own+1]
			name := &w.names[own]
			name.at, name.text, name.n, name.tag = i, from, n, tagOfWords(first, last, n)
			w.levels[len(w.levels)-1].tags |= tagBit(name.tag)
		}
		i = end + 2
	}
	goto value

closeObject:
	if track {
		open := len(w.levels) - 1
		if open < 0 || len(w.arena) > 0 {
			at = afterMember
			goto leave
		}
		names := w.levels[open].names
		if names < 0 || names > len(w.names) || bits.OnesCount64(w.levels[open].tags) != len(w.names)-names {
			at = afterMember
			goto leave
		}
		w.names = w.names[:names]
		w.levels = w.levels[:open]
	}

pop:
	i++
	depth--
	stack >>= 1
	goto after

leave:
	w.stack, w.depth, w.skipAt = stack, depth, at
	return i
}
