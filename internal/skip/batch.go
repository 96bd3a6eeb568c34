package skip

import (
	"bytes"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/names"
)

// NOTE: most objects open and close within a block, and most names differ in their
// tags. So the names of a block are noted in a batch first, where a name is one word,
// which a kernel makes. Only names of objects that are still open at the end of the
// block, or have two names with one tag, get into s.Names.

// A batch has the names and objects of a block that are not in s.Names.
type batch struct {
	// found has the names of the block. Those before kept are of open objects; those
	// from next on are still to be noted.
	found      []kernel.Name
	kept, next int
	empties    bool // found has the names of 0 bytes, which the kernel leaves out
	// objects are the open ones: that which was open before, and depth more.
	objects [65]object
	depth   int
}

// An object of a batch.
type object struct {
	names int    // the index of its first name
	tags  uint64 // see names.Level
}

// trackBlock notes the names before token to, and which objects open and close, of
// a block at index i of b. With last, to is the bracket that closes the whole value.
// Where an object closes in which a name repeats, it returns the index of the
// bracket, and false.
func (s *Skipper) trackBlock(c *block, to int, last bool, b []byte, i int) (int, bool) {
	if last {
		to++
	}
	t := s.batch
	t.found, t.next, t.empties = c.Names(c.b, to, c.slashes), 0, false
	if s.Names.Collecting || len(s.Names.Left) > 0 {
		return s.trackTokens(c, 0, to, b, i)
	}
	for k := 0; ; k++ {
		t.kept, t.depth, t.objects[0] = 0, 0, object{}
		k = t.track(c, k, to)
		if k < to && !t.empties && c.Word(k/64).String>>(k%64)&1 != 0 {
			t.findEmpty(c, k, to)
			k = t.track(c, k, to)
		}
		if k < to && s.closesWhole(c, k) {
			s.Names.Levels = s.Names.Levels[:len(s.Names.Levels)-1]
			continue
		}
		s.takeBatch(i)
		if k == to {
			return 0, true
		}
		if pos, ok := s.trackTokens(c, k, k+1, b, i); !ok {
			return pos, false
		}
	}
}

// closesWhole reports whether token k closes an object all of whose names are in the
// batch, and have different tags.
func (s *Skipper) closesWhole(c *block, k int) bool {
	t, n := s.batch, &s.Names
	return c.Word(k/64).CloseObject>>(k%64)&1 != 0 && t.depth == 0 &&
		n.Levels[len(n.Levels)-1].Names == len(n.Names) && distinct(t.found[:t.kept])
}

// track notes the tokens from k on, up to the token that it returns: to, or one that
// needs more. That is a name which the kernel left out, or the end of an object that
// was open before the block or has two names with one tag. It calls nothing.
//
//espalier:nocalls
func (t *batch) track(c *block, k, to int) int {
	var (
		found      = t.found
		kept, next = t.kept, t.next
		depth      = t.depth
		tags       = t.objects[t.depth].tags
		all        uint64
	)
	at := k &^ 63
	for ; at < to; at += 64 {
		w := c.Word(at / 64)
		member, open := c.names(at), w.OpenObject
		all = (member | open | w.CloseObject) & lowest(to-at) &^ lowest(max(k-at, 0))
		for ; all != 0; all &= all - 1 {
			switch one := all & -all; {
			case member&one != 0:
				if next >= len(found) || found[next] == 0 || kept >= len(found) {
					goto leave
				}
				_, _, tag := found[next].Split()
				tags |= names.TagBit(tag)
				found[kept] = found[next]
				kept++
				next++
			case open&one != 0:
				if depth < 0 || depth >= len(t.objects)-1 {
					goto leave
				}
				t.objects[depth].tags = tags
				depth++
				t.objects[depth].names = kept
				tags = 0
			default:
				if depth <= 0 || depth >= len(t.objects) {
					goto leave
				}
				first := t.objects[depth].names
				if bits.OnesCount64(tags) != kept-first && !distinct(found[first:kept]) {
					goto leave
				}
				kept = first
				depth--
				tags = t.objects[depth].tags
			}
		}
	}
	t.kept, t.next, t.depth = kept, next, depth
	return to

leave:
	t.kept, t.next, t.depth = kept, next, depth
	t.objects[depth].tags = tags
	return at + bits.TrailingZeros64(all)
}

// findEmpty adds the names of 0 bytes among the tokens from k up to to.
func (t *batch) findEmpty(c *block, k, to int) {
	t.empties = true
	next := t.next
	for at := k &^ 63; at < to; at += 64 {
		all := c.names(at) & lowest(to-at) &^ lowest(max(k-at, 0))
		for ; all != 0 && next < len(t.found); all &= all - 1 {
			if t.found[next] == 0 {
				t.found[next] = c.emptyName(at + bits.TrailingZeros64(all))
			}
			next++
		}
	}
}

// nextName returns the next name, which token k is, or 0 if the kernel left it out.
func (t *batch) nextName(c *block, k int) (x kernel.Name) {
	if t.next < len(t.found) {
		x = t.found[t.next]
	}
	t.next++
	if x == 0 {
		x = c.emptyName(k)
	}
	return x
}

// emptyName returns the name that token k is if it has 0 bytes, and 0 otherwise. Its
// tag is 0.
func (c *block) emptyName(k int) kernel.Name {
	if text := c.Pos(k) + 1; c.b[text] == '"' {
		return kernel.Name(text)
	}
	return 0
}

// distinct reports whether all names have different tags. It does not look at many.
//
//espalier:inline
func distinct(list []kernel.Name) bool {
	if len(list) > names.MaxPairwise {
		return false
	}
	for i := range list {
		for j := range i {
			if list[i]>>32 == list[j]>>32 {
				return false
			}
		}
	}
	return true
}

// takeBatch moves the open objects of the batch, and their names, to s.Names. The
// block is at index i.
func (s *Skipper) takeBatch(i int) {
	t := s.batch
	for d := 0; d <= t.depth; d++ {
		end := t.kept
		if d < t.depth {
			end = t.objects[d+1].names
		}
		if d > 0 {
			s.Names.OpenObject()
		}
		found := t.found[t.objects[d].names:end]
		if len(found) == 0 {
			continue
		}
		level, own := s.Names.AddMembers(len(found))
		for k, x := range found {
			from, size, tag := x.Split()
			n := &own[k]
			n.At, n.Text = names.Place(i+from-1), names.Place(i+from)
			n.Size, n.Tag, n.Group = size, tag, 0
			level.Note(tag)
		}
	}
}

// names returns which of the 64 tokens from at on are names.
//
//espalier:inline
func (c *block) names(at int) uint64 {
	w, next := c.Word(at/64), c.Word(at/64+1)
	return w.String & (w.Colon>>1 | next.Colon<<63)
}

// trackTokens notes the tokens from k up to to in s.Names, without the batch. It
// returns what trackBlock does.
func (s *Skipper) trackTokens(c *block, k, to int, b []byte, i int) (int, bool) {
	for at := k &^ 63; at < to; at += 64 {
		w, next := c.Word(at/64), c.Word(at/64+1)
		member := c.names(at)
		all := member | w.OpenObject | w.CloseObject
		if s.Names.Collecting {
			elements := w.Comma &^ (w.Colon>>2 | next.Colon<<62)
			all |= w.OpenArray | w.CloseArray | elements
		}
		all &= lowest(to-at) &^ lowest(max(k-at, 0))
		if pos, ok := s.trackWord(c, at, member, all, b, i); !ok {
			return pos, false
		}
	}
	return 0, true
}

// trackWord is trackTokens for those of the 64 tokens from at on that are in all.
// Those in member are names.
func (s *Skipper) trackWord(c *block, at int, member, all uint64, b []byte, i int) (int, bool) {
	for ; all != 0; all &= all - 1 {
		k := at + bits.TrailingZeros64(all)
		pos := i + c.Pos(k)
		if member&-all&all != 0 {
			s.trackName(c, k, b, i)
			continue
		}
		switch b[pos] {
		case '{':
			s.Names.OpenObject()
		case '}':
			if s.closeObject(b) {
				return pos, false
			}
		case '[':
			s.Names.OpenArray()
		case ']':
			s.Names.CloseArray()
		case ',':
			s.Names.NextElement()
		}
	}
	return 0, true
}

// trackName adds the name that token k is.
func (s *Skipper) trackName(c *block, k int, b []byte, i int) {
	if x := s.batch.nextName(c, k); x != 0 {
		from, size, tag := x.Split()
		s.Names.AddTagged(i+from-1, names.Place(i+from), size, tag)
		s.Names.Levels[len(s.Names.Levels)-1].Note(tag)
		return
	}
	pos, end := i+c.Pos(k), i+c.Pos(k+1)-1
	for b[end] != '"' { // blanks before the colon
		end--
	}
	escaped := c.slashes && bytes.IndexByte(b[pos:end], '\\') >= 0
	s.Names.AddMember(b, pos+1, end, escaped)
}
