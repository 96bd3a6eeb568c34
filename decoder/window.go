package decoder

// NOTE: how a walker keeps its way about a document of which it sees a window only.
//
// All offsets of a walker are in the window. When the first bytes of the window
// go, window.leave copies what is still needed of them: the names of the members that
// are open, which are the path of what is found below them, and the undeclared names of
// the objects that are open, which must not repeat. Positions are found before the bytes
// go. Then it moves all offsets. What had been copied before stays where it is, as
// both stacks grow and shrink at their end: so the cost of leaving is that of what was
// read since the last time.

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A window is what a walker keeps of the part of the document it has left.
type window struct {
	streaming bool
	dropping  bool   // what is skipped is dropped
	opened    []byte // the names of open members, as in JSON, outermost first
}

func (w *window) start() { w.dropping, w.opened = false, w.opened[:0] }

// decided returns up to where it is known what becomes of the document, after a
// run was cut; and from where on the window is needed.
func (w *walker) decided() (to, from int) {
	to, from = w.pos, w.pos
	switch w.st {
	case atFirstName, atName, inName, atColon, atField, atUnknown, atNull:
		if w.frames[w.sp].kind == inObject {
			return w.member, w.member
		}
	case inKept, inDropped:
		if w.skipAt == inName {
			from = w.nameFrom
		}
	}
	return to, from
}

// leave gives up the first n bytes of the window, which the next run must not
// have any more.
func (d *Decoder) leave(n int) {
	w := &d.walker
	steps.Add(len(w.b)) // the rest moves
	d.locateBefore(n)
	w.saveNames(n)
	w.saveOpened(n)
	d.lines.Leave(n)
	w.pos -= n
	w.flushed -= n
	w.member -= n
	w.nameEnd -= n
	w.nameFrom -= n
}

// locateBefore finds the positions of findings and names that are before n.
func (d *Decoder) locateBefore(n int) {
	w := &d.walker
	d.look()
	w.places = w.places[:0]
	for i := w.located; i < len(w.records); i++ {
		r := &w.records[i]
		if !r.position.IsValid() {
			w.places = append(w.places, place{r.at, &r.position})
		}
		if r.kind == errors.DuplicateField && !r.firstPosition.IsValid() {
			w.places = append(w.places, place{r.first, &r.firstPosition})
		}
	}
	known, last := len(w.left), len(w.left)
	for last < len(w.names) && w.names[last].at < n {
		steps.Add(1)
		last++
	}
	w.left = memory.Room(w.memory, w.left, last-known)[:last]
	w.places = memory.Room(w.memory, w.places, last-known)
	for i := known; i < last; i++ {
		w.places = append(w.places, place{w.names[i].at, &w.left[i]})
	}
	d.locate()
	for ; w.located < len(w.records); w.located++ {
		r := &w.records[w.located]
		r.at = int(r.position.Offset)
	}
}

// saveNames copies the texts of the names that leave the window; left has their
// positions. The arena keeps the order of the names, as they are forgotten from
// the end: names with escapes that came between move on.
func (w *walker) saveNames(n int) {
	first := len(w.names)
	for first > 0 && w.names[first-1].at >= 0 {
		steps.Add(1)
		first--
	}
	names := w.names[first:]
	for i := range names {
		steps.Add(1)
		if text := names[i].text; text < 0 {
			steps.Add(len(w.arena) - ^text)
			w.scratch = append(memory.Room(w.memory, w.scratch[:0], len(w.arena)-^text), w.arena[^text:]...)
			w.arena = w.arena[:^text]
			break
		}
	}
	moved := w.scratch // of no use where no name has escapes
	for i := range names {
		name, leaves := &names[i], first+i < len(w.left)
		switch {
		case name.text < 0:
			w.arena, moved = append(memory.Room(w.memory, w.arena, name.n), moved[:name.n]...), moved[name.n:]
			name.text = ^(len(w.arena) - name.n)
		case leaves:
			w.arena = append(memory.Room(w.memory, w.arena, name.n), w.b[name.text:name.text+name.n]...)
			name.text = ^(len(w.arena) - name.n)
		default:
			name.text -= n
		}
		if leaves {
			name.at = ^(first + i)
		} else {
			name.at -= n
		}
	}
}

// saveOpened copies the names of open members that leave the window.
func (w *walker) saveOpened(n int) {
	first := w.sp
	for first > 0 && !w.frames[first].isSaved() {
		steps.Add(1)
		first--
	}
	end := 0
	if first > 0 {
		at := ^w.frames[first].cur
		end, _, _ = jsonwire.ScanString(w.opened, at+1)
		end++
	}
	w.opened = w.opened[:end]
	for i := first + 1; i <= w.sp; i++ {
		f := &w.frames[i]
		switch {
		case f.kind != inObject || f.cur == noName:
		case f.cur >= n:
			f.cur -= n
		default:
			to, _, _ := jsonwire.ScanString(w.b, f.cur+1)
			at := len(w.opened)
			steps.Add(to - f.cur)
			w.opened = append(memory.Room(w.memory, w.opened, to+1-f.cur), w.b[f.cur:to+1]...)
			f.cur = ^at
		}
	}
}

// isSaved reports whether the name of the open member has left the window.
func (f *frame) isSaved() bool { return f.kind == inObject && f.cur < 0 && f.cur != noName }

// heldBytes is how much is held besides the window.
func (w *walker) heldBytes() int {
	const perName, perFrame, perLevel = 64, 64, 24 // a name has a position
	return len(w.opened) + len(w.arena) + perName*len(w.names) + perFrame*w.sp + perLevel*len(w.levels)
}

// addDuplicate adds a finding about names of an object that is dropped, or are
// dropped themselves.
func (w *walker) addDuplicate(first *name, g *group) {
	depth := w.sp
	var segment func(i int) ([]byte, int)
	if within := len(w.levels); within > 0 {
		level := w.levelSegment(first)
		depth += within
		segment = func(i int) ([]byte, int) {
			if i < w.sp {
				return w.frameSegment(i)
			}
			return level(i - w.sp)
		}
	} else {
		segment = func(i int) ([]byte, int) {
			if i < w.sp-1 {
				return w.frameSegment(i)
			}
			return w.text(w.b, first), 0
		}
	}
	r := record{kind: errors.DuplicateField, at: g.second, first: first.at, count: g.count}
	if r.first < 0 {
		r.firstPosition = w.left[^r.first]
	}
	if r.at < 0 {
		r.position = w.left[^r.at]
		r.at = int(r.position.Offset)
	}
	w.add(r, depth, segment)
}
