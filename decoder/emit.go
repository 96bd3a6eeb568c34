package decoder

import (
	"math/bits"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// anyNode governs values of which everything is kept.
var anyNode = func() *program.Node {
	n := &program.Node{Types: program.Any, KeepObject: true, KeepArray: true}
	n.Unknown = &program.Edge{Node: n}
	n.Elements = program.Edge{Node: n}
	return n
}()

// firstTypes are the types of the values that start with a byte.
var firstTypes = func() (t [256]program.Types) {
	t['n'], t['t'], t['f'] = program.Null, program.Boolean, program.Boolean
	t['"'], t['['], t['{'] = program.String, program.Array, program.Object
	t['-'] = program.Integer | program.Number
	for c := '0'; c <= '9'; c++ {
		t[c] = program.Integer | program.Number
	}
	return t
}()

// flush writes the kept run that ends at to.
func (w *walker) flush(b []byte, to int) {
	if w.hasRoom(to - w.flushed) {
		w.out = append(w.out, b[w.flushed:to]...)
	}
	w.flushed = to
}

// hasRoom makes room for n more bytes of the result. Without it the result is too large, and the walk
// goes on, as the rest may be no JSON.
func (w *walker) hasRoom(n int) bool {
	return n <= min(w.most, cap(w.out))-len(w.out) || w.makeRoom(n)
}

//go:noinline
func (w *walker) makeRoom(n int) bool {
	if n > w.most-len(w.out) {
		w.tooLarge = true
		return false
	}
	w.out = memory.RoomOutside(w.memory, w.out, n)
	return true
}

// insert writes a default. It reports whether the budget is spent.
func (w *walker) insert(text string) bool {
	if w.budget -= len(text); w.budget < 0 {
		w.overflew = errors.LimitDefaultBytes
		return true
	}
	if w.hasRoom(len(text)) {
		w.out = append(w.out, text...)
	}
	return false
}

// closeWithDefaults writes the defaults of the fields that were not seen in the object
// that ends at i, before the white space there. It reports whether they are too many.
func (w *walker) closeWithDefaults(b []byte, i int, n *program.Node, seen uint64, comma bool) bool {
	for i > w.flushed && b[i-1] <= ' ' {
		i--
	}
	if missing := n.Defaulted &^ seen; n.Defaults <= 64 && !w.defers(n) {
		from := bits.TrailingZeros64(missing)
		to := from + bits.TrailingZeros64(^(missing >> from))
		if missing>>from>>(to-from) == 0 && w.writeBoth(b[w.flushed:i], n.DefaultMembers(from, to), comma) {
			w.flushed = i
			return false
		}
	}
	w.flush(b, i)
	return w.insertMissing(n, seen, comma)
}

// writeBoth writes a kept run and the members behind it, if there is room for both.
func (w *walker) writeBoth(run []byte, members string, comma bool) bool {
	if !comma {
		members = members[1:]
	}
	at, middle := len(w.out), len(w.out)+len(run)
	end := middle + len(members)
	if end > cap(w.out) || end > w.most || len(members) > w.budget {
		return false
	}
	w.budget -= len(members)
	w.out = w.out[:end]
	copy(w.out[at:middle], run)
	copy(w.out[middle:], members)
	return true
}

// insertMissing writes the defaults of the fields that were not seen, before the
// end of their object.
func (w *walker) insertMissing(n *program.Node, seen uint64, comma bool) bool {
	if w.defers(n) {
		return false
	}
	for missing := n.Defaulted &^ seen; missing != 0; {
		from := bits.TrailingZeros64(missing)
		to := from + bits.TrailingZeros64(^(missing >> from))
		if w.insertMembers(n.DefaultMembers(from, to), comma) {
			return true
		}
		missing &= ^uint64(0) << to
		comma = true
	}
	for i := 64; i < int(n.Defaults); i++ {
		if w.words[w.firstWord+i/64-1]&(1<<(i%64)) == 0 {
			if w.insertMembers(n.DefaultMembers(i, i+1), comma) {
				return true
			}
			comma = true
		}
	}
	return false
}

// insertMembers writes members, and the comma before them, or without it.
func (w *walker) insertMembers(text string, comma bool) bool {
	if !comma {
		text = text[1:]
	}
	return w.insert(text)
}

// push suspends the container that is open at i. It reports whether that is one
// too many.
func (w *walker) push(n *program.Node, seen uint64, cur int, cell int32, kind uint8, i int) bool {
	if w.sp >= w.limits.Depth {
		w.overflew = errors.LimitDepth
		return true
	}
	// One field after the other: a composite literal would be built aside and
	// copied, which was a sixth of the time of a walk.
	f := &w.frames[w.sp]
	f.node, f.seen, f.cur, f.cell, f.kind = n, seen, cur, cell, kind
	f.words, f.names = w.firstWord, w.firstName
	w.sp++
	if w.sp == len(w.frames) {
		w.frames = memory.Room(w.memory, w.frames, len(w.frames))[:2*len(w.frames)]
	}
	w.firstName, w.firstWord = len(w.names), len(w.words)
	return false
}

// openWords makes room for the seen bits of an object's fields from 64 on.
func (w *walker) openWords(fields int) {
	w.words = memory.Room(w.memory, w.words, (fields-1)/64)
	for range (fields - 1) / 64 {
		w.words = append(w.words, 0)
	}
}

// setWord notes that the field with the index, 64 or more, was seen in this
// object. It reports whether it had been before.
func (w *walker) setWord(index int) bool {
	word := &w.words[w.firstWord+index/64-1]
	had := *word&(1<<(index%64)) != 0
	*word |= 1 << (index % 64)
	return had
}
