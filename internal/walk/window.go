package walk

import (
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/steps"
)

// NOTE: how a walker keeps its way through a document of which it sees only a window.
//
// All indices of a walker are in the window. Before the first bytes of the window
// leave, Leave copies what is still needed of them: the names of open members, which
// are the path, and the undeclared names of open objects, which must not repeat. It
// finds the positions of what refers to those bytes. Then it moves all indices.
//
// What was copied before stays where it is, as both stacks grow and shrink at their
// ends. So the cost of leaving is that of what was read since the last time.

// A streamState is what a walker keeps, on a stream, of the part of the document that has
// left the window.
type streamState struct {
	dropping bool   // the value that is skipped is dropped
	opened   []byte // the names of open members, as they are written, outermost first
	// ended says that the value has ended. Its last byte, or all of a number at the root,
	// is held back in last until EmitRest, so that no document looks complete that is not.
	ended bool
	last  []byte
}

func (s *streamState) start() {
	s.dropping, s.opened = false, s.opened[:0]
	s.ended, s.last = false, s.last[:0]
}

// decided returns, after Cut, up to where it is known what becomes of the document;
// and from where on the window is needed.
func (w *Walker) decided() (to, from int) {
	switch w.st {
	case atFirstName, atName, inName, atColon, atField, atUnknown, atNull:
		if w.frames[w.sp].kind == inObject {
			return w.member, w.member
		}
	case inKept, inDropped:
		return w.pos, w.skip.Needed(w.pos)
	}
	return w.pos, w.pos
}

// Emit writes what is decided, after Cut, but for the end of the value. It returns from
// where on the window is needed.
func (w *Walker) Emit() (needed int) {
	to, needed := w.decided()
	needed = w.neededForPart(needed)
	switch w.st {
	case atEnd:
		w.holdEnd(to)
		w.flushed = to
	case inDropped:
		w.flushed = to
	default:
		w.flush(w.b, to)
	}
	return needed
}

// holdEnd writes the value, after which there is white space up to to, but for its end.
func (w *Walker) holdEnd(to int) {
	if w.ended {
		return
	}
	end := trimBlanks(w.b, to)
	if w.b[end-1]-'0' > 9 {
		w.flush(w.b, end-1)
	}
	w.last = append(memory.Room(w.account, w.last, end-w.flushed), w.b[w.flushed:end]...)
	w.ended = true
}

// EmitRest writes the rest of the value, after Done, without white space at its end.
func (w *Walker) EmitRest() {
	if w.ended {
		w.Out = append(memory.RoomOutside(w.account, w.Out, len(w.last)), w.last...)
	} else {
		w.flush(w.b, trimBlanks(w.b, w.pos))
	}
}

// trimBlanks returns the index after the last byte before end that is no white space.
func trimBlanks(b []byte, end int) int {
	for end > 0 && b[end-1] <= ' ' {
		end--
	}
	return end
}

// Leave gives up the first n bytes of the window. The next Run must be without them.
func (w *Walker) Leave(n int, l findings.Locator) {
	steps.Add(len(w.b)) // the caller moves the rest
	w.LocateBefore(n, l)
	w.skip.Names.Leave(w.b, n)
	w.leavePlaces(n)
	w.saveOpened(n)
	w.skip.Leave(n)
	w.pos -= n
	w.flushed -= n
	w.member -= n
	w.nameEnd -= n
}

// LocateBefore finds the positions of the findings, and of the names in the first n
// bytes of the window.
func (w *Walker) LocateBefore(n int, l findings.Locator) {
	from, to := w.skip.Names.Leaving(n)
	w.Found.WantRoom(w.account, to-from)
	for i := from; i < to; i++ {
		w.Found.Want(w.skip.Names.Names[i].At.Index(), &w.skip.Names.Left[i])
	}
	w.wantPlaces(n)
	w.Found.LocateLeaving(n, l)
}

// saveOpened copies the names of open members that leave the window.
func (w *Walker) saveOpened(n int) {
	first := w.sp
	for first > 0 && !w.frames[first].isSaved() {
		steps.Add(1)
		first--
	}
	end := 0
	if first > 0 {
		end, _, _ = jsonwire.ScanString(w.opened, w.frames[first].cur.Index()+1)
		end++
	}
	w.opened = w.opened[:end]
	for i := first + 1; i <= w.sp; i++ {
		f := &w.frames[i]
		switch {
		case f.kind != inObject || f.cur == noName:
		case f.cur >= names.Place(n):
			f.cur -= names.Place(n)
		default:
			from := f.cur.Index()
			to, _, _ := jsonwire.ScanString(w.b, from+1)
			at := len(w.opened)
			steps.Add(to - from)
			w.opened = append(memory.Room(w.account, w.opened, to+1-from), w.b[from:to+1]...)
			f.cur = names.Beside(at)
		}
	}
}

// isSaved reports whether the name of the open member has left the window.
func (f *frame) isSaved() bool { return f.kind == inObject && f.cur != noName && f.cur.IsBeside() }

// OpenBytes returns the memory that a stream needs beside its window, in bytes, for
// what is open.
func (w *Walker) OpenBytes() int {
	const perFrame = 64
	return len(w.opened) + perFrame*w.sp + w.placeBytes() + w.skip.Names.OpenBytes()
}
