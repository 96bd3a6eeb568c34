package decoder

// NOTE: what skip does where there are kernels. It never has to: it runs ahead of skip, from
// behind a value or an opening bracket, as long as all is plain, and ends behind a value, so
// that skip goes on from there. It judges nothing: what is wrong, or odd, or not whole, is
// left to skip from the last value before it on.
//
// A kernel finds the tokens of some 2000 bytes. Then the grammar is checked on words that
// have a bit for each token, 64 at a time. RFC 8259 is nearly local: which token may
// follow which, that a name is followed by a colon, and that an array's commas and brackets are
// not those of an object, is seen from the five tokens in a row. Only what comes behind a
// closing bracket depends on one further back; so a loop over the brackets, with
// a stack of bits, is all that is left.

import (
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A skimmer is the state of walker.skim.
type skimmer struct {
	tokens *kernel.Tokens
	later  int  // skim is not of use before this index of the window
	small  bool // the last value that was skipped was small: the next one will be, too

	sketch *sketch
}

// smallValue is up to how many bytes of a value skim is slower than skip.
var smallValue = 64 // a variable for tests

// A stretch is what skim looks at at a time.
type stretch struct {
	*kernel.Tokens
	b     []byte // the window from where the stretch starts
	count int
	size  int // how many bytes were looked at
	// slashes says that names may have escapes.
	slashes bool
}

// skimmable reports whether the limits are such that skim need not count.
func (l *Limits) skimmable() bool {
	return l.NameBytes >= kernel.MaxBytes && l.NumberBytes >= maxShortInteger
}

// skim runs ahead of skip from i, behind a value, or with first behind the bracket that
// opens a container. It returns where it got to: behind the whole value with done, behind a
// value in it with cut, or nowhere, at i. With repeated, it is as in skip.
func (w *walker) skim(b []byte, i, base int, first, track bool) (int, status) {
	w.makeTokens()
	for {
		c := &stretch{Tokens: w.tokens, b: b[i:]}
		c.count, c.size, c.slashes = c.Find(c.b, w.depth)
		steps.Add(c.size)
		end, to, t := w.skimStretch(c, base, first)
		if to < 0 {
			w.later = i + end + c.pause(end)
			return i, cut
		}
		if track {
			if at, ok := w.trackStretch(c, to, t == done, b, i); !ok {
				return at, repeated
			}
		}
		i += c.Pos(to)
		if t == done {
			return i + 1, done
		}
		if end < kernel.MaxBytes || end-c.Pos(to) > kernel.MaxBytes/4 {
			w.later = i - c.Pos(to) + end + c.pause(end)
			return i, cut
		}
		first = false
	}
}

// makeTokens makes what kernels need, where nothing has needed it before.
func (w *skimmer) makeTokens() {
	if w.tokens == nil {
		w.tokens, w.sketch = new(kernel.Tokens), new(sketch)
	}
}

// pause returns for how many bytes from end on, where skim was not of use any more, it is not to be
// tried: the more of them, the more of the stretch was looked at in vain.
func (c *stretch) pause(end int) int { return 64 + (c.size-end)/8 }

// skimStretch checks the tokens of a stretch. It returns the last one, to, before which all is right and a
// value ends; with done it closes the value that is skipped; or -1. Before end, in bytes, skim is not
// of use again.
func (w *walker) skimStretch(c *stretch, base int, first bool) (end, to int, t status) {
	n := c.misplaced(first, w.stack&1 != 0)
	end = c.size
	if n < c.count {
		end = c.Pos(n)
	}
	for {
		to = c.lastEnd(n)
		if to == 0 {
			return end, -1, cut
		}
		// The stack's word has the containers from depth low on.
		low := (w.depth - 1) &^ 63
		stack, depth, at, wrong := c.brackets(to, w.stack, w.depth, low, min(low+64, w.limits.Depth-base))
		if wrong || at < to && low > 0 {
			n, end = at, c.Pos(at)
			continue
		}
		if scalar := c.scalars(w, at); scalar < at {
			n, end = scalar, c.Pos(scalar)
			continue
		}
		w.stack, w.depth = stack, depth
		if at < to {
			return end, at, done
		}
		return end, to, cut
	}
}

// behind returns where the n-th token before one is of those in word, which comes
// behind the word before.
func behind(word, before uint64, n int) uint64 { return word<<n | before>>(64-n) }

// misplaced returns the first token that may not stand where it does, or how many there
// are. But what follows a closing bracket may not be what belongs into its container, and
// scalars may be anything.
func (c *stretch) misplaced(first, inObject bool) int {
	// What is before the stretch is taken for its first tokens.
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
		elements, elementsBefore := t.OpenArray|t.Comma, before.OpenArray|before.Comma // what they are behind

		wrong := behind(t.OpenObject, before.OpenObject, 1)&^(t.CloseObject|t.String) |
			behind(t.OpenArray, before.OpenArray, 1)&^(open|scalar|t.CloseArray) |
			behind(separators, separatorsBefore, 1)&^(open|scalar) |
			behind(t.String, before.String, 1)&^(separators|close) |
			behind(ends, endsBefore|scalarsBefore&^before.String, 1)&^(t.Comma|close)

		// A string is a name if it is followed by a colon; a name is behind { or a comma.
		one := behind(scalar, scalarsBefore, 1)
		wrong |= t.Colon &^ behind(t.OpenObject|t.Comma, before.OpenObject|before.Comma, 2)
		wrong |= behind(t.OpenObject, before.OpenObject, 2) & one &^ t.Colon
		// A scalar is in an object if it is behind a colon.
		wrong |= behind(t.Colon, before.Colon, 2) & one & t.CloseArray
		wrong |= behind(elements, elementsBefore, 2) & one & t.CloseObject
		// So is what follows the comma behind it.
		next := behind(t.Comma, before.Comma, 2) & behind(scalar, scalarsBefore, 3)
		wrong |= next & behind(t.Colon, before.Colon, 4) &^ t.Colon
		wrong |= next & behind(elements, elementsBefore, 4) & t.Colon

		if wrong &= valid; wrong != 0 {
			return at + bits.TrailingZeros64(wrong)
		}
		before, scalarsBefore, endsBefore = *t, scalar, ends
	}
	return c.count
}

// lowest returns a word with the lowest n bits set.
func lowest(n int) uint64 {
	if n >= 64 {
		return ^uint64(0)
	}
	return 1<<n - 1
}

// lastEnd returns the last of the first n tokens that is a comma or closing bracket behind a
// value, or 0.
func (c *stretch) lastEnd(n int) int {
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

// brackets pairs the brackets before token to, and returns the stack and depth there. It
// stops at the bracket that makes the depth low; and, or well before, where it is wrong, at a
// bracket that does not close what is open, or is followed by what does not belong there, or
// would make the depth more than high.
func (c *stretch) brackets(to int, stack uint64, depth, low, high int) (_ uint64, _, at int, wrong bool) {
	for at := 0; at < to; at += 64 {
		t, next := c.Word(at/64), c.Word(at/64+1)
		opens, closes, objects := t.OpenObject|t.OpenArray, t.CloseObject|t.CloseArray, t.OpenObject|t.CloseObject
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

// scalars validates what is neither a bracket nor a separator nor a string before token to, and
// returns the first that it does not know to be right.
func (c *stretch) scalars(w *walker, to int) int {
	// What is odd behind to, too, does no harm.
	if plain, odd := c.Scalars(); plain {
		w.oddNumber = w.oddNumber || odd
		return to
	}
	b := c.b
	for at := 0; at < to; at += 64 {
		t := c.Word(at / 64)
		all := ^(t.OpenObject | t.CloseObject | t.OpenArray | t.CloseArray | t.Colon | t.Comma | t.String) & lowest(to-at)
		for ; all != 0; all &= all - 1 {
			k := at + bits.TrailingZeros64(all)
			i := c.Pos(k)
			if !w.scalar(b, i, c.Pos(k+1)) {
				return k
			}
		}
	}
	return to
}

// scalar reports whether the scalar at i is right. The next token is at next.
func (w *walker) scalar(b []byte, i, next int) bool {
	end := 0
	switch b[i] {
	case 't', 'n', 'f':
		for end = i; b[end]-'a' < 26; end++ {
		}
		if lit := b[i:end]; string(lit) != "true" && string(lit) != "null" && string(lit) != "false" {
			return false
		}
	default:
		if end = shortInteger(b, i); end > 0 && b[i]-'1' < 9 {
			break
		}
		odd, overflew, outOfRange := w.oddNumber, w.overflew, w.outOfRange
		var t status
		if end, t = w.number(b, i); t != done {
			w.oddNumber, w.overflew, w.outOfRange = odd, overflew, outOfRange
			return false
		}
	}
	// Only blanks are between what is no token of its own and the next one.
	return end == next || jsonwire.Blanks(b, end) == next
}
