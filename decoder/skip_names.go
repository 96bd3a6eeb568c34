package decoder

import (
	"bytes"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/memory"
)

// NOTE: most objects open and close within a stretch, and most names differ by their tags. So what
// is noted of a stretch is noted in a sketch, where a name is one word: a kernel makes it. Only
// names of objects that are open at the end, or have two names with one tag, get to tracked.

// A sketch is what was noted of a stretch and is not in tracked.
type sketch struct {
	// found has the names of the stretch: those from next on are still to come, and before them, up to
	// kept, are those of open objects.
	found      []kernel.Name
	kept, next int
	empties    bool // names of 0 bytes are known
	// objects are those that are open: the one that was so before, and depth more.
	objects [65]object
	depth   int
}

// An object is one of a sketch.
type object struct {
	names int    // where its names start
	tags  uint64 // as in level
}

// trackStretch notes the names before token to, and opens and closes what their objects
// are, for a stretch at i of b. With last, to is the bracket that closes the last object. It
// returns false and the index of the bracket that closes an object with a name that
// repeats.
func (w *walker) trackStretch(c *stretch, to int, last bool, b []byte, i int) (int, bool) {
	if last {
		to++
	}
	s := w.sketch
	s.found, s.next, s.empties = c.Names(c.b, to, c.slashes), 0, false
	if w.collecting || len(w.left) > 0 {
		return w.trackTokens(c, 0, to, b, i)
	}
	for k := 0; ; k++ {
		s.kept, s.depth, s.objects[0] = 0, 0, object{}
		k = s.track(c, k, to)
		if k < to && !s.empties && c.Word(k/64).String>>(k%64)&1 != 0 {
			s.findEmpty(c, k, to)
			k = s.track(c, k, to)
		}
		if k < to && w.closesWhole(c, k) {
			w.levels = w.levels[:len(w.levels)-1]
			continue
		}
		w.takeSketch(i)
		if k == to {
			return 0, true
		}
		if pos, ok := w.trackTokens(c, k, k+1, b, i); !ok {
			return pos, false
		}
	}
}

// closesWhole reports whether token k closes an object all of whose names are in the sketch, and
// are distinct.
func (w *walker) closesWhole(c *stretch, k int) bool {
	s := w.sketch
	return c.Word(k/64).CloseObject>>(k%64)&1 != 0 && s.depth == 0 &&
		w.levels[len(w.levels)-1].names == len(w.names) && distinct(s.found[:s.kept])
}

// track sketches the tokens from k on up to, but without, the one that it returns, which is
// to, or needs more than that: a name of which nothing is known, or the end of an object that was open
// before, or has two names with one tag. It calls nothing.
func (s *sketch) track(c *stretch, k, to int) int {
	var (
		found      = s.found
		kept, next = s.kept, s.next
		depth      = s.depth
		tags       = s.objects[s.depth].tags
		all        uint64
	)
	at := k &^ 63
	for ; at < to; at += 64 {
		t := c.Word(at / 64)
		names, open := c.names(at), t.OpenObject
		for all = (names | open | t.CloseObject) & lowest(to-at) &^ lowest(max(k-at, 0)); all != 0; all &= all - 1 {
			switch one := all & -all; {
			case names&one != 0:
				if next >= len(found) || found[next] == 0 || kept >= len(found) {
					goto leave
				}
				_, _, tag := found[next].Split()
				tags |= tagBit(tag)
				found[kept] = found[next]
				kept++
				next++
			case open&one != 0:
				if depth < 0 || depth >= len(s.objects)-1 {
					goto leave
				}
				s.objects[depth].tags = tags
				depth++
				s.objects[depth].names = kept
				tags = 0
			default:
				if depth <= 0 || depth >= len(s.objects) {
					goto leave
				}
				first := s.objects[depth].names
				if bits.OnesCount64(tags) != kept-first && !distinct(found[first:kept]) {
					goto leave
				}
				kept = first
				depth--
				tags = s.objects[depth].tags
			}
		}
	}
	s.kept, s.next, s.depth = kept, next, depth
	return to

leave:
	s.kept, s.next, s.depth = kept, next, depth
	s.objects[depth].tags = tags
	return at + bits.TrailingZeros64(all)
}

// findEmpty makes the names of 0 bytes known that are among the tokens from k on up to to.
func (s *sketch) findEmpty(c *stretch, k, to int) {
	s.empties = true
	next := s.next
	for at := k &^ 63; at < to; at += 64 {
		for all := c.names(at) & lowest(to-at) &^ lowest(max(k-at, 0)); all != 0 && next < len(s.found); all &= all - 1 {
			if s.found[next] == 0 {
				s.found[next] = c.emptyName(at + bits.TrailingZeros64(all))
			}
			next++
		}
	}
}

// nextName returns the name that token k is, which is the next one, or 0 if nothing is known of it.
func (s *sketch) nextName(c *stretch, k int) (x kernel.Name) {
	if s.next < len(s.found) {
		x = s.found[s.next]
	}
	s.next++
	if x == 0 {
		x = c.emptyName(k)
	}
	return x
}

// emptyName returns the name that token k is if it has 0 bytes, or else 0. Its tag is 0.
func (c *stretch) emptyName(k int) kernel.Name {
	if text := c.Pos(k) + 1; c.b[text] == '"' {
		return kernel.Name(text)
	}
	return 0
}

// distinct reports whether no two of the names have one tag. If they are many, it does not look.
func distinct(names []kernel.Name) bool {
	if len(names) > maxPairwise {
		return false
	}
	for i := range names {
		for j := range i {
			if names[i]>>32 == names[j]>>32 {
				return false
			}
		}
	}
	return true
}

// takeSketch moves what is in the sketch of a stretch at i to tracked.
func (w *walker) takeSketch(i int) {
	s := w.sketch
	for d := 0; d <= s.depth; d++ {
		end := s.kept
		if d < s.depth {
			end = s.objects[d+1].names
		}
		if d > 0 {
			w.openObject()
		}
		found, own := s.found[s.objects[d].names:end], len(w.names)
		if len(found) == 0 {
			continue
		}
		w.names = memory.Room(w.memory, w.names, len(found))[:own+len(found)]
		l := &w.levels[len(w.levels)-1]
		for k, x := range found {
			from, size, tag := x.Split()
			n := &w.names[own+k]
			n.at, n.text, n.n, n.tag, n.group = i+from-1, i+from, size, tag, 0
			l.note(tag)
		}
	}
}

// takeName is addMember for a name of a stretch at i.
func (w *walker) takeName(i int, x kernel.Name) {
	from, n, tag := x.Split()
	w.addTagged(i+from-1, i+from, n, tag)
	w.levels[len(w.levels)-1].note(tag)
}

// names returns which of the 64 tokens from at on are names.
func (c *stretch) names(at int) uint64 {
	t, next := c.Word(at/64), c.Word(at/64+1)
	return t.String & (t.Colon>>1 | next.Colon<<63)
}

// trackTokens is trackStretch for the tokens from k to to, whatever they are, without a sketch.
func (w *walker) trackTokens(c *stretch, k, to int, b []byte, i int) (int, bool) {
	for at := k &^ 63; at < to; at += 64 {
		t, next := c.Word(at/64), c.Word(at/64+1)
		names := c.names(at)
		all := names | t.OpenObject | t.CloseObject
		if w.collecting {
			elements := t.Comma &^ (t.Colon>>2 | next.Colon<<62)
			all |= t.OpenArray | t.CloseArray | elements
		}
		if pos, ok := w.trackWord(c, at, names, all&lowest(to-at)&^lowest(max(k-at, 0)), b, i); !ok {
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
			if x := w.sketch.nextName(c, k); x != 0 {
				w.takeName(i, x)
				continue
			}
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
