package skip

import (
	"encoding/binary"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/names"
)

// Slack is how many bytes of the window must follow where a simple loop looks at a
// token: it loads two words, or a number and the byte after it.
const Slack = 24

// MaxSimpleDepth is the number of open containers whose kinds fit into a word
// beside one more.
var MaxSimpleDepth = 63 // a variable for tests

// simpleDepth returns how many open containers skipSimple may have, with base of
// them around the value. It returns 0 if skipSimple must not be called: it does not
// count bytes, and does not collect names.
func (s *Skipper) simpleDepth(base int) int {
	if !s.allowsTokens() || s.Names.Collecting || len(s.Names.Left) > 0 {
		return 0
	}
	return min(MaxSimpleDepth, s.Depth-base)
}

// skipSimple runs ahead of Skip from i on, in the state s.at. It stops after a value
// that ends at until or later, and returns where it stopped. At most most
// containers may be open.
//
// It is Skip for what most values are made of: strings without escapes, short
// numbers, literals, and objects that need no look at the texts of their names. It
// calls nothing, so that its variables stay in registers.
//
//espalier:nocalls
func (s *Skipper) skipSimple(b []byte, i, most, until int, track bool) int {
	var (
		stack = s.stack
		depth = s.depth
		at    = s.at
		from  int
		c     byte
	)
	b = b[:len(b):len(b)]
	if at != atValue {
		goto after
	}

value:
	at = atValue
	if i < 0 || i > len(b)-Slack {
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
			if i < 0 || i > len(b)-Slack {
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
			n := len(s.Names.Levels)
			if n == cap(s.Names.Levels) {
				goto leave
			}
			s.Names.Levels = s.Names.Levels[:n+1]
			s.Names.Levels[n] = names.Level{Names: len(s.Names.Names), Index: -1}
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
	if i < 0 || i > len(b)-Slack {
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
			s.OddNumber = true
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
	at = afterValue
	if depth == 0 || i >= until {
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
		// One word: names come again, and a predicted branch does not wait for their end.
		end := from
		for {
			if end < 0 || end > len(b)-Slack {
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
			own := len(s.Names.Names)
			if n == 0 || own == cap(s.Names.Names) || end < 8 || len(s.Names.Levels) == 0 {
				goto leave
			}
			first := binary.LittleEndian.Uint64(b[from : from+8])
			last := binary.LittleEndian.Uint64(b[end-8 : end])
			first &= ^uint64(0) >> uint(8*max(8-n, 0)&63)
			last &= uint64(int64(7-n) >> 63)
			s.Names.Names = s.Names.Names[:own+1]
			name := &s.Names.Names[own]
			name.At, name.Text = names.Place(i), names.Place(from)
			name.Size, name.Tag = n, names.TagOfWords(first, last, n)
			s.Names.Levels[len(s.Names.Levels)-1].Tags |= names.TagBit(name.Tag)
		}
		i = end + 2
	}
	goto value

closeObject:
	if track {
		open := len(s.Names.Levels) - 1
		if open < 0 || s.Names.HasCopies() {
			at = afterValue
			goto leave
		}
		first := s.Names.Levels[open].Names
		if first < 0 || first > len(s.Names.Names) ||
			bits.OnesCount64(s.Names.Levels[open].Tags) != len(s.Names.Names)-first {
			at = afterValue
			goto leave
		}
		s.Names.Names = s.Names.Names[:first]
		s.Names.Levels = s.Names.Levels[:open]
	}

pop:
	i++
	depth--
	stack >>= 1
	goto after

leave:
	s.stack, s.depth, s.at = stack, depth, at
	return i
}
