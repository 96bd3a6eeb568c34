package decoder

import (
	"math/bits"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// NOTE: where there are kernels, members of a large map whose values are strings are walked by
// tokens, as in skip: then no string waits for where the one before ends.

// largeMap is how many undeclared names of an object plain reads between two looks at whether
// the next ones are to be walked by their tokens; a power of 2.
const largeMap = 64

// longRun is how many bytes of a map are copied to the result at a time, while they are in a cache: if the result has room
// for them, as it would grow in many steps, and not on a stream, whose window is small.
var longRun = 128 << 10 // a variable for tests

// stringMembers goes on behind members of the object that is read, from the name at w.pos
// on, as long as all values are strings and all is plain. Then it reports whether there was one.
func (w *walker) stringMembers(b []byte) bool {
	top := &w.frames[w.sp]
	v := top.node.Unknown.Node
	if !kernel.Available || !w.limits.skimmable() || v.Types != program.Any && (w.asServer || v.Types&program.String == 0) {
		return false
	}
	w.makeTokens()
	from := w.pos
	for whole := true; whole; {
		c := &stretch{Tokens: w.tokens, b: b[w.pos:]}
		c.count, c.size, c.slashes = c.Find(c.b, 1)
		to := c.stringMembers()
		names := memory.Room(w.memory, w.names, to/4)
		members := 0
		for _, x := range c.Names(c.b, to, c.slashes) {
			if x == 0 || members == to/4 {
				break
			}
			from, size, tag := x.Split()
			names = names[:len(names)+1]
			n := &names[len(names)-1] // not append: a store of all fields at a time waits for each
			n.at, n.text, n.n, n.tag = w.pos+from-1, w.pos+from, size, tag
			members++
		}
		w.names = names
		if members == 0 {
			break
		}
		top.cur = w.names[len(w.names)-1].at
		w.member, w.kept = w.pos+c.Pos(4*members-1), true
		w.pos = w.member + 1
		if w.member-w.flushed >= longRun && !w.streaming && cap(w.out)-len(w.out) >= len(b)-w.flushed {
			w.flush(b, w.member)
		}
		whole = 4*members == to && c.size == kernel.MaxBytes && c.count-to < 4
	}
	return w.pos > from
}

// stringMembers returns how many of the first tokens are members whose values are strings, with a
// comma behind each.
func (c *stretch) stringMembers() int {
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
