package decoder

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A state is a label of walker.machine at which it can go on.
type state uint8

const (
	atValue state = iota
	inString
	atFirstElement
	atElement
	atFirstName
	atName
	inName
	atColon
	atField
	atUnknown
	atNull
	inKept
	inDropped
	afterMember
	afterElement
	atEnd
)

// A status says how a machine ended.
type status uint8

const (
	done       status = iota // the value is complete
	cut                      // the window ended first
	bad                      // a syntax error at w.pos
	repeated                 // a name was found twice in an object
	overflow                 // a limit was passed at w.pos
	handedOver               // the machine and plain hand over to each other
)

// The kinds of container that a frame stands for.
const (
	inRoot uint8 = iota
	inObject
	inArray
)

// noName stands for the start of a name where there is none.
const noName = -maxInt - 1

// A frame is an open container, suspended while one that it holds is open.
type frame struct {
	node *program.Node
	// seen has bit i set if and only if field i was seen in this object. Fields
	// from 64 on have theirs in walker.words from words on.
	seen  uint64
	words int
	names int // where the undeclared names of this object start in walker.names
	// cur is where the name of the member that is being read starts, the
	// opening quote, or the index of the element. A name that has left the window
	// is in window.opened, at the complement; noName says that none was read yet.
	cur  int
	cell int32 // in the prediction table, of what was seen last
	kind uint8
}

// A walker runs a program over a JSON text.
type walker struct {
	program   *program.Program
	predicted []*program.Field // of the tuning
	limits    Limits

	report  bool // collect findings
	nulls   bool // report dropped nulls, too
	cutting bool // members are being cut out at repeated names: no name repeats

	b      []byte // the window, for reading names out of it
	roomy  []byte // a copy of a small document
	eof    bool
	out    []byte
	budget int // of default bytes
	most   int // bytes that out may have
	// tooLarge says that out is incomplete, as it would have more.
	tooLarge bool

	frames []frame
	words  []uint64
	window
	skipper
	findings
	met

	// The state of the machine between windows.

	st         state
	sp         int // open containers; frames[sp] is free for the current one
	pos        int
	flushed    int
	member     int
	nameEnd    int
	kept       bool
	escaped    bool
	value      *program.Node
	field      *program.Field
	edge       *program.Edge
	overflew   errors.Limit
	outOfRange bool
}

// start prepares for a document whose output is appended to dst.
func (w *walker) start(dst []byte) {
	w.out = dst
	w.budget, w.tooLarge = w.limits.DefaultBytes, false
	w.words = w.words[:0]
	w.st, w.sp, w.pos, w.flushed, w.kept = atValue, 0, 0, 0, false
	w.frames[0] = frame{kind: inRoot}
	w.value = w.program.Root
	w.window.start()
	w.skipper.start()
	w.met.start()
}

// run walks the window b. What it does not hold any more is what window.leave has let
// go of. eof says that nothing comes after it.
func (w *walker) run(b []byte, eof bool) status {
	st := handedOver
	steps.Add(1)
	roomy := b
	if eof && len(b) <= smallDocument {
		roomy = w.withSlack(b)
	}
	if w.st == atValue && w.sp == 0 && len(b) > slack {
		w.b, w.eof = b, eof
		st = w.walkPlain(b, roomy, plainRoot)
	}
	for st == handedOver {
		steps.Add(1)
		if st = w.machine(b, eof); st != handedOver {
			break
		}
		if w.frames[w.sp].kind == inArray {
			st = w.walkPlain(b, roomy, plainElement)
		} else {
			st = w.walkPlain(b, roomy, plainName)
		}
	}
	return st
}

// suspend notes the state of the open container.
func (w *walker) suspend(n *program.Node, seen uint64, cur int, cell int32, kind uint8) {
	f := &w.frames[w.sp]
	f.node, f.seen, f.cur, f.cell, f.kind = n, seen, cur, cell, kind
	f.words, f.names = w.firstWord, w.firstName
}

// dropUnknown notes that the member whose name is from cur to end goes, and writes what
// is before it.
func (w *walker) dropUnknown(b []byte, n *program.Node, kind uint8, cur, end, member int, escaped bool) {
	if w.asServer && w.sp == 1 {
		w.meetName(b[cur+1:end], escaped)
	}
	if w.report {
		w.note(cur, kind, cur, w.unknown(n.Group))
		if !w.cutting {
			w.addName(b, cur+1, end, escaped)
		}
	}
	w.flush(b, member)
}
