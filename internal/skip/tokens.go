package skip

// NOTE: what Skip does where there are kernels. A kernel finds the tokens of a block
// of some 2000 bytes. Then the grammar is checked on words that have a bit for each
// token, 64 of them at a time. RFC 8259 is nearly local. Five tokens in a row show
// which token may follow which, that a name is followed by a colon, and that the
// commas and brackets of an array are not those of an object. Only what follows a
// closing bracket depends on a token further back. So all that is left is to pair the
// brackets, with a stack of bits. A second kernel does that. Where it stops, a loop goes
// on, one bracket after the other.

import (
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/steps"
)

// SmallValue is the length in bytes up to which Skip passes a container faster than
// skipTokens: without track, and with it.
var SmallValue = [2]int{kernel.Small, kernel.SmallNamed} // a variable for tests

// smallValue returns the length of SmallValue for a value whose names are tracked or not.
//
//espalier:inline
func smallValue(track bool) int {
	if track {
		return SmallValue[1]
	}
	return SmallValue[0]
}

// A block is the part of the window whose tokens are found at a time.
type block struct {
	*kernel.Tokens
	b       []byte // the window, from where the block starts
	count   int    // of tokens
	size    int    // in bytes
	slashes bool   // names may have escapes
}

// allowsTokens reports whether the fast helpers may run, which do not count the bytes
// of names and short numbers.
func (l *Bounds) allowsTokens() bool {
	return l.NameBytes >= kernel.MaxBytes && l.NumberBytes >= jsonwire.MaxShortInteger
}

// skipTokens runs ahead of Skip from i on: after a value, or with first after the
// bracket that opens a container. It returns where it stopped: with Done after the
// whole value, with Cut after a value in it, or at i if it got nowhere. Repeated
// means the same as for Skip.
func (s *Skipper) skipTokens(b []byte, i, base int, first, track bool) (int, Status) {
	s.makeTokens()
	for {
		c := &block{Tokens: s.tokens, b: b[i:]}
		c.count, c.size, c.slashes = c.Find(c.b, s.depth)
		steps.Add(c.size)
		end, to, st := s.checkBlock(c, base, first)
		if to < 0 {
			s.later = i + end + c.pause(end)
			return i, Cut
		}
		if track {
			if at, ok := s.trackBlock(c, to, st == Done, b, i); !ok {
				return at, Repeated
			}
		}
		i += c.Pos(to)
		if st == Done {
			return i + 1, Done
		}
		if end < kernel.MaxBytes || end-c.Pos(to) > kernel.MaxBytes/4 {
			s.later = i - c.Pos(to) + end + c.pause(end)
			return i, Cut
		}
		first = false
	}
}

// makeTokens makes the buffers of the kernels when they are first needed.
func (s *Skipper) makeTokens() {
	if s.tokens == nil {
		s.tokens, s.batch = new(kernel.Tokens), new(batch)
	}
}

// pause returns how many bytes after end, where skipTokens stopped, it is not to be
// tried again: the more bytes of the block it has looked at in vain, the more.
func (c *block) pause(end int) int { return 64 + (c.size-end)/8 }

// checkBlock checks the tokens of a block. It returns the last token to at which a
// value ends and before which all is valid, or -1. With Done, that token closes the
// whole value. skipTokens is of no use again before the byte end.
func (s *Skipper) checkBlock(c *block, base int, first bool) (end, to int, st Status) {
	n := c.misplaced(first, s.stack&1 != 0)
	end = c.size
	if n < c.count {
		end = c.Pos(n)
	}
	for {
		to = c.lastEnd(n)
		if to == 0 {
			return end, -1, Cut
		}
		// The stack's word has the containers from depth low on.
		low := (s.depth - 1) &^ 63
		stack, depth, at, wrong := c.brackets(to, s.stack, s.depth, low, min(low+64, s.Depth-base))
		if wrong || at < to && low > 0 {
			n, end = at, c.Pos(at)
			continue
		}
		if scalar := s.scalars(c, at); scalar < at {
			n, end = scalar, c.Pos(scalar)
			continue
		}
		s.stack, s.depth = stack, depth
		if at < to {
			return end, at, Done
		}
		return end, to, Cut
	}
}

// after returns the tokens that come n tokens after those in word, which follows the
// word before.
//
//espalier:inline
func after(word, before uint64, n int) uint64 { return word<<n | before>>(64-n) }

// misplaced returns the first token that may not follow the ones before it, or the
// number of tokens. It does not know the container that a closing bracket ends in,
// and takes any scalar for a valid one: brackets and scalars look at these.
//
//espalier:nocalls
func (c *block) misplaced(first, inObject bool) int {
	// The token before the block counts as one of it.
	var before kernel.Word
	var scalarsBefore uint64
	opening := uint64(1) << 63
	if !first {
		scalarsBefore = 1 << 63
		opening = 1 << 62
	}
	switch {
	case !inObject:
		before.OpenArray = opening
	case first:
		before.OpenObject = opening
	default:
		before.Colon = opening
	}
	var endsBefore uint64
	for at := 0; at < c.count; at += 64 {
		t := c.Word(at / 64)
		valid := lowest(c.count - at)
		open, close := t.OpenObject|t.OpenArray, t.CloseObject|t.CloseArray
		scalar := ^(open | close | t.Colon | t.Comma) & valid // strings, too
		other := scalar &^ t.String
		ends := close | other
		separators, separatorsBefore := t.Colon|t.Comma, before.Colon|before.Comma
		// What may come before an element:
		elements, elementsBefore := t.OpenArray|t.Comma, before.OpenArray|before.Comma

		wrong := after(t.OpenObject, before.OpenObject, 1)&^(t.CloseObject|t.String) |
			after(t.OpenArray, before.OpenArray, 1)&^(open|scalar|t.CloseArray) |
			after(separators, separatorsBefore, 1)&^(open|scalar) |
			after(t.String, before.String, 1)&^(separators|close) |
			after(ends, endsBefore|scalarsBefore&^before.String, 1)&^(t.Comma|close)

		// A string before a colon is a name; names come after { or a comma.
		one := after(scalar, scalarsBefore, 1)
		wrong |= t.Colon &^ after(t.OpenObject|t.Comma, before.OpenObject|before.Comma, 2)
		wrong |= after(t.OpenObject, before.OpenObject, 2) & one &^ t.Colon
		// A scalar after a colon is in an object.
		wrong |= after(t.Colon, before.Colon, 2) & one & t.CloseArray
		wrong |= after(elements, elementsBefore, 2) & one & t.CloseObject
		// So is what follows the comma after it.
		next := after(t.Comma, before.Comma, 2) & after(scalar, scalarsBefore, 3)
		wrong |= next & after(t.Colon, before.Colon, 4) &^ t.Colon
		wrong |= next & after(elements, elementsBefore, 4) & t.Colon

		if wrong &= valid; wrong != 0 {
			return at + bits.TrailingZeros64(wrong)
		}
		before, scalarsBefore, endsBefore = *t, scalar, ends
	}
	return c.count
}

// lowest returns a word with the lowest n bits set.
//
//espalier:inline
func lowest(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// lastEnd returns the last of the first n tokens that is a comma or a closing bracket
// after a value, or 0.
//
//espalier:nocalls
func (c *block) lastEnd(n int) int {
	for at := (n - 1) &^ 63; at >= 0; at -= 64 {
		t := c.Word(at / 64)
		opens := (t.OpenObject | t.OpenArray) << 1
		if at > 0 {
			before := c.Word(at/64 - 1)
			opens |= (before.OpenObject | before.OpenArray) >> 63
		}
		if ends := (t.Comma | (t.CloseObject|t.CloseArray)&^opens) & lowest(n-at); ends != 0 {
			return at + bits.Len64(ends) - 1
		}
	}
	return 0
}

// brackets pairs the brackets before token to, and returns the stack and the depth
// there. It stops at the bracket that makes the depth low. It also stops, as wrong, at
// a bracket that does not close the open container, that is followed by what does
// not belong into the one around, or that would make the depth more than high.
func (c *block) brackets(
	to int, stack uint64, depth, low, high int,
) (_ uint64, _, at int, wrong bool) {
	at, stack, depth, ended := c.Brackets(to, stack, depth, low, high)
	if ended || at == to {
		return stack, depth, at, false
	}
	return c.bracketsFrom(at, to, stack, depth, low, high)
}

// bracketsFrom does the same in Go, one bracket after the other, from the token from on,
// a multiple of 64.
//
//espalier:nocalls
func (c *block) bracketsFrom(
	from, to int, stack uint64, depth, low, high int,
) (_ uint64, _, at int, wrong bool) {
	for at := from; at < to; at += 64 {
		t, next := c.Word(at/64), c.Word(at/64+1)
		opens, closes := t.OpenObject|t.OpenArray, t.CloseObject|t.CloseArray
		objects := t.OpenObject | t.CloseObject
		commas := closes & (t.Comma>>1 | next.Comma<<63) & lowest(to-1-at)
		names := commas & (t.Colon>>3 | next.Colon<<61)
		for all := (opens | closes) & lowest(to-at); all != 0; all &= all - 1 {
			one := all & -all
			var object uint64
			if objects&one != 0 {
				object = 1
			}
			if opens&one != 0 {
				if depth == high {
					return stack, depth, at + bits.TrailingZeros64(one), true
				}
				stack = stack<<1 | object
				depth++
				continue
			}
			if stack&1 != object {
				return stack, depth, at + bits.TrailingZeros64(one), true
			}
			stack >>= 1
			depth--
			if depth == low {
				return stack, depth, at + bits.TrailingZeros64(one), false
			}
			if commas&one != 0 && (names&one != 0) != (stack&1 != 0) {
				return stack, depth, at + bits.TrailingZeros64(one), true
			}
		}
	}
	return stack, depth, to, false
}

// scalars validates the numbers and literals before token to, and returns the first
// that is not known to be valid.
func (s *Skipper) scalars(c *block, to int) int {
	// An odd number after to may count, too: that does no harm.
	if simple, odd := c.Scalars(); simple {
		s.OddNumber = s.OddNumber || odd
		return to
	}
	b := c.b
	for at := 0; at < to; at += 64 {
		t := c.Word(at / 64)
		brackets := t.OpenObject | t.CloseObject | t.OpenArray | t.CloseArray
		all := ^(brackets | t.Colon | t.Comma | t.String) & lowest(to-at)
		for ; all != 0; all &= all - 1 {
			k := at + bits.TrailingZeros64(all)
			i := c.Pos(k)
			if !s.scalar(b, i, c.Pos(k+1)) {
				return k
			}
		}
	}
	return to
}

// scalar reports whether the scalar at i is valid. The next token is at next.
func (s *Skipper) scalar(b []byte, i, next int) bool {
	end := 0
	switch b[i] {
	case 't', 'n', 'f':
		for end = i; b[end]-'a' < 26; end++ {
		}
		if lit := b[i:end]; string(lit) != "true" && string(lit) != "null" && string(lit) != "false" {
			return false
		}
	default:
		if end = jsonwire.ShortInteger(b, i); end > 0 && b[i]-'1' < 9 {
			break
		}
		odd, overflew, outOfRange := s.OddNumber, s.Overflew, s.OutOfRange
		var st Status
		if end, st = s.Number(b, i); st != Done {
			s.OddNumber, s.Overflew, s.OutOfRange = odd, overflew, outOfRange
			return false
		}
	}
	// Only blanks may follow up to the next token.
	return end == next || jsonwire.Blanks(b, end) == next
}

// StringMembers adds the names of members of the innermost object of the walk whose
// values are all strings: those from the name at i on, as far as they are simple and
// a comma follows. It returns how many there are and the index of the comma after
// the last one. With whole, more of them are likely to follow. b has no more than a
// kernel needs; there must be kernels, see [Skipper.HasTokens].
func (s *Skipper) StringMembers(b []byte, i int) (members, comma int, whole bool) {
	s.makeTokens()
	c := &block{Tokens: s.tokens, b: b[i:]}
	c.count, c.size, c.slashes = c.Find(c.b, 1)
	to := c.stringMembers()
	list := s.Names.Reserve(to / 4)
	for _, x := range c.Names(c.b, to, c.slashes) {
		if x == 0 || members == to/4 {
			break
		}
		from, size, tag := x.Split()
		list = list[:len(list)+1]
		n := &list[len(list)-1] // one field after the other: a store of all waits for each of them
		n.At, n.Text, n.Size, n.Tag = names.Place(i+from-1), names.Place(i+from), size, tag
		members++
	}
	s.Names.Names = list
	if members == 0 {
		return 0, 0, false
	}
	whole = 4*members == to && c.size == kernel.MaxBytes && c.count-to < 4
	return members, i + c.Pos(4*members-1), whole
}

// HasTokens reports whether there are kernels, and limits that allow their use.
func (s *Skipper) HasTokens() bool { return kernel.Available && s.allowsTokens() }

// stringMembers returns how many of the first tokens are members whose values are
// strings, with a comma after each.
//
//espalier:nocalls
func (c *block) stringMembers() int {
	const nameOfFour = 0x1111111111111111
	for at := 0; at < c.count; at += 64 {
		t := c.Word(at / 64)
		wrong := (t.String ^ nameOfFour*5) | (t.Colon ^ nameOfFour*2) | (t.Comma ^ nameOfFour*8)
		if wrong &= lowest(c.count - at); wrong != 0 {
			return at + bits.TrailingZeros64(wrong)&^3
		}
	}
	return c.count &^ 3
}
