package walk

import (
	"math/bits"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
)

// droppedNull is the edge for nulls of undeclared names where a node drops these.
var droppedNull = &program.Edge{Null: program.DropNull}

// Any governs values of which everything is kept.
var Any = func() *program.Node {
	n := &program.Node{Types: program.Any, KeepObject: true, KeepArray: true}
	n.Unknown = &program.Edge{Node: n}
	n.Elements = program.Edge{Node: n}
	return n
}()

// flush writes the kept run that ends at to.
func (w *Walker) flush(b []byte, to int) {
	if w.hasRoom(to - w.flushed) {
		w.Out = append(w.Out, b[w.flushed:to]...)
	}
	w.flushed = to
}

// hasRoom makes room for n more bytes of the result. Without room the result is too
// large. The walk goes on then, as the rest may be invalid.
//
//espalier:inline
func (w *Walker) hasRoom(n int) bool {
	return n <= min(w.MostOut, cap(w.Out))-len(w.Out) || w.makeRoom(n)
}

//go:noinline
func (w *Walker) makeRoom(n int) bool {
	if n > w.MostOut-len(w.Out) {
		w.TooLarge = true
		return false
	}
	w.Out = memory.RoomOutside(w.account, w.Out, n)
	return true
}

// insert writes a default. It reports whether the budget is spent.
func (w *Walker) insert(text string) bool {
	if w.DefaultsLeft -= len(text); w.DefaultsLeft < 0 {
		w.skip.Overflew = errors.LimitDefaultBytes
		return true
	}
	if w.hasRoom(len(text)) {
		w.Out = append(w.Out, text...)
	}
	return false
}

// closeWithDefaults writes the defaults of the fields that were not seen in the object
// that ends at i, before the white space there. It reports whether the budget is spent.
func (w *Walker) closeWithDefaults(b []byte, i int, n *program.Node, seen uint64, comma bool) bool {
	for i > w.flushed && b[i-1] <= ' ' {
		i--
	}
	if missing := n.Defaulted &^ seen; n.Defaults <= 64 && !w.defers(n) {
		from := bits.TrailingZeros64(missing)
		to := from + bits.TrailingZeros64(^(missing >> from))
		adjacent := missing>>from>>(to-from) == 0
		if adjacent && w.writeBoth(b[w.flushed:i], n.DefaultMembers(from, to), comma) {
			w.flushed = i
			return false
		}
	}
	w.flush(b, i)
	return w.insertMissing(n, seen, comma)
}

// writeBoth writes a kept run and members after it, if there is room for both.
func (w *Walker) writeBoth(run []byte, members string, comma bool) bool {
	if !comma {
		members = members[1:]
	}
	at, middle := len(w.Out), len(w.Out)+len(run)
	end := middle + len(members)
	if end > cap(w.Out) || end > w.MostOut || len(members) > w.DefaultsLeft {
		return false
	}
	w.DefaultsLeft -= len(members)
	w.Out = w.Out[:end]
	copy(w.Out[at:middle], run)
	copy(w.Out[middle:], members)
	return true
}

// insertMissing writes the defaults of the fields that were not seen, before the
// end of their object.
func (w *Walker) insertMissing(n *program.Node, seen uint64, comma bool) bool {
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
func (w *Walker) insertMembers(text string, comma bool) bool {
	if !comma {
		text = text[1:]
	}
	return w.insert(text)
}

// push suspends the current container, for one within it. It reports whether that is
// one too many.
func (w *Walker) push(
	n *program.Node, seen uint64, cur names.Place, cell int32, kind uint8,
) (tooDeep bool) {
	if w.sp >= w.skip.Depth {
		w.skip.Overflew = errors.LimitDepth
		return true
	}
	// One field after the other: a composite literal would be built aside and
	// copied, which was a sixth of the time of a walk.
	f := &w.frames[w.sp]
	f.node, f.seen, f.cur, f.cell, f.kind = n, seen, cur, cell, kind
	f.words, f.names = w.firstWord, w.firstName
	w.sp++
	if w.sp == len(w.frames) {
		w.frames = memory.Room(w.account, w.frames, len(w.frames))[:2*len(w.frames)]
	}
	w.firstName, w.firstWord = len(w.skip.Names.Names), len(w.words)
	return false
}

// openWords makes room for the seen bits of an object's fields from 64 on.
func (w *Walker) openWords(fields int) {
	w.words = memory.Room(w.account, w.words, (fields-1)/64)
	for range (fields - 1) / 64 {
		w.words = append(w.words, 0)
	}
}

// setWord notes that the field with the index, 64 or more, was seen in this
// object. It reports whether it had been before.
//
//espalier:inline
func (w *Walker) setWord(index int) bool {
	word := &w.words[w.firstWord+index/64-1]
	had := *word&(1<<(index%64)) != 0
	*word |= 1 << (index % 64)
	return had
}
