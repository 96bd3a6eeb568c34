package walk

import (
	"github.com/espalier-dev/espalier/internal/program"
)

// NOTE: where there are kernels, members of a large map whose values are strings are
// walked by their tokens, as in package skip. So no string waits for the end of the one
// before.

// largeMap is how many undeclared names of an object simple reads before it lets
// stringMembers try the next ones; a power of 2.
const largeMap = 64

// LongRun is the length from which on a kept run is copied to the result while it is in
// a cache: if the result has room for it, as it would grow in many steps, and not on a
// stream, whose window is small.
var LongRun = 128 << 10 // a variable for tests

// stringMembers goes on after members of the current object, from the name at w.pos on,
// as long as all values are strings and all is simple. It reports whether there was
// such a member.
func (w *Walker) stringMembers(b []byte) bool {
	top := &w.frames[w.sp]
	v := top.node.Unknown.Node
	if !w.skip.HasTokens() || v.Types != program.Any && (w.AsServer || v.Types&program.String == 0 || v.Types&program.Ruled != 0) {
		return false
	}
	from := w.pos
	for whole := true; whole; {
		var members, comma int
		members, comma, whole = w.skip.StringMembers(b, w.pos)
		if members == 0 {
			break
		}
		top.cur = w.skip.Names.Names[len(w.skip.Names.Names)-1].At
		w.member, w.kept = comma, true
		w.pos = comma + 1
		hasRoom := cap(w.Out)-len(w.Out) >= len(b)-w.flushed
		if hasRoom && w.member-w.flushed >= LongRun && !w.Streaming {
			w.flush(b, w.member)
		}
	}
	return w.pos > from
}
