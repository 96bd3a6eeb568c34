// Package walk runs a program, which package schema has compiled, over a JSON text:
// it prunes, inserts defaults, finds unknown and duplicate fields, and writes the
// result.
//
// A Walker is the first machine of the decoder. It hands values that no schema looks
// into to package skip, its second machine, names to package names, and findings to
// package findings. Package decoder drives it: it gives it a document, or the windows
// of a stream, and makes errors of how a walk ended.
package walk

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/steps"
	"github.com/espalier-dev/espalier/internal/syntax"
)

// A state is a label of Walker.machine at which it can go on.
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

// handedOver is the status of a machine that another one goes on for.
const handedOver = skip.Overflow + 1

// The kinds of container that a frame is.
const (
	inRoot   = uint8(syntax.Root)
	inObject = uint8(syntax.Object)
	inArray  = uint8(syntax.Array)
)

// noName is the place of a name where there is none.
const noName names.Place = math.MinInt

// A frame is an open container, suspended while one within it is open.
type frame struct {
	node *program.Node
	// seen has bit i set if and only if field i was seen in this object. Fields
	// from 64 on have theirs in Walker.words from words on. In an array it is what
	// the node awaits: 0 if nothing is to be done where the array ends.
	seen  uint64
	words int
	names int // the index of its first undeclared name in Walker.skip.Names
	// cur is the place of the current member's name, at the opening quote, or the
	// index of the current element. Beside the window it is in Walker.opened. It is
	// noName before the first name.
	cur  names.Place
	cell int32 // in the prediction table, of what was seen last
	kind uint8
}

// Settings are what a caller may change before Start.
type Settings struct {
	DefaultBytes int // that defaults may insert into a document
	MostOut      int // bytes that Out may have
	Streaming    bool
	Report       bool // collect findings
	ReportNulls  bool // and report dropped nulls
	// AsServer observes what the API server's rules need, see [Observed]. FromStorage
	// tolerates what the server does in objects from its storage.
	AsServer, FromStorage bool
	WithoutDefaults       bool
	NoteType              bool // observe where kind and apiVersion are
	// Judge is asked about values on a stream, if it is not nil.
	Judge Judge
}

// A Walker walks one document after the other. It must not be used by several
// goroutines at a time.
type Walker struct {
	Settings
	// Out is the result. A walk appends to it. With TooLarge it is incomplete, as it
	// would have more than MostOut bytes.
	Out          []byte
	TooLarge     bool
	DefaultsLeft int // of DefaultBytes
	Found        findings.Collector
	Observed     Observed

	program   *program.Program
	predicted []*program.Field // by cells, the field that came next when it was last seen
	account   *memory.Account

	b       []byte // the window
	padded  []byte // a copy of a small document, see pad
	frames  []frame
	words   []uint64 // what was seen of fields from 64 on
	scratch []byte   // see unescape
	skip    skip.Skipper
	streamState
	supersession
	lastPath
	values
	parts

	// The state of the machine between windows.

	st        state
	sp        int // open containers; frames[sp] is free for the current one
	pos       int
	flushed   int // what is before it is decided, see walk.go
	member    int // where the current member starts, with the comma before it
	nameEnd   int
	kept      bool // a member of the object was kept
	escaped   bool // the current name or string has escapes
	firstName int  // the index of the first undeclared name of the object in skip.Names
	firstWord int  // where its words of seen fields start
	value     *program.Node
	field     *program.Field
	edge      *program.Edge
}

const firstFrames = 16

// Init makes the zero Walker ready for use. It charges its memory to the account. The
// Walker must not be copied after that.
func (w *Walker) Init(account *memory.Account) {
	w.account = account
	w.frames = make([]frame, firstFrames)
	w.skip.Names = names.Make(account)
	w.skip.Reporter = w
}

// Tune sets the program, and its table of predictions, which has a field for each of
// the program's cells.
func (w *Walker) Tune(p *program.Program, predicted []*program.Field) {
	w.program, w.predicted = p, predicted
}

// SetBounds sets the limits of what is read.
func (w *Walker) SetBounds(b skip.Bounds) { w.skip.Bounds = b }

// Start prepares for a document whose result is appended to dst.
func (w *Walker) Start(dst []byte) {
	w.withoutSuperseded, w.superseded = false, w.superseded[:0]
	w.skip.Names.Collecting = w.Streaming
	w.resetFindings()
	w.start(dst)
}

// start is Start for another walk over the document: findings stay.
func (w *Walker) start(dst []byte) {
	w.Out, w.TooLarge, w.DefaultsLeft = dst, false, w.DefaultBytes
	w.words = w.words[:0]
	w.firstName, w.firstWord = 0, 0
	w.st, w.sp, w.pos, w.flushed, w.kept = atValue, 0, 0, 0, false
	w.frames[0] = frame{kind: inRoot}
	w.value = w.program.Root
	w.streamState.start()
	w.values.start()
	w.parts.start()
	w.skip.Start()
	w.Observed.start()
}

// Walk walks the document src, and appends its result to dst, for Out. A document in
// which names repeat is walked three times, see runWithoutSuperseded.
func (w *Walker) Walk(dst, src []byte) skip.Status {
	w.Start(dst)
	st := w.Run(src, true)
	if st == skip.Repeated {
		st = w.runWithoutSuperseded(dst, src)
	}
	return st
}

// Run walks on over the window b, which starts with what the last one had left after
// Leave. eof says that nothing comes after it.
func (w *Walker) Run(b []byte, eof bool) skip.Status {
	st := handedOver
	steps.Add(1)
	padded := b
	if eof && len(b) <= smallDocument {
		padded = w.pad(b)
	}
	w.look(b, eof)
	if w.st == atValue && w.sp == 0 && len(b) > skip.Slack && w.Judge == nil {
		st = w.walkSimple(b, padded, simpleRoot)
	}
	for st == handedOver {
		steps.Add(1)
		if st = w.machine(b, eof); st != handedOver {
			break
		}
		if w.Judge != nil {
			continue
		}
		if w.frames[w.sp].kind == inArray {
			st = w.walkSimple(b, padded, simpleElement)
		} else {
			st = w.walkSimple(b, padded, simpleName)
		}
	}
	return st
}

// look sets the window.
func (w *Walker) look(b []byte, eof bool) { w.b, w.skip.EOF = b, eof }

// Forget lets go of the document and of the result.
func (w *Walker) Forget() { w.b, w.Out = nil, nil }

// suspend notes the state of the open container.
//
//espalier:inline
func (w *Walker) suspend(n *program.Node, seen uint64, cur names.Place, cell int32, kind uint8) {
	f := &w.frames[w.sp]
	f.node, f.seen, f.cur, f.cell, f.kind = n, seen, cur, cell, kind
	f.words, f.names = w.firstWord, w.firstName
}

// dropUnknown drops the member whose name is from cur to end. It writes what is before
// the member.
func (w *Walker) dropUnknown(
	b []byte, n *program.Node, kind uint8, cur, end, member int, escaped bool,
) {
	if w.AsServer && w.sp == 1 {
		w.Observed.name(b[cur+1:end], escaped)
	}
	if w.Report {
		w.note(cur, kind, names.Place(cur), findings.Unknown(n.Group))
		if !w.withoutSuperseded {
			w.skip.Names.Add(b, cur+1, end, escaped)
		}
	}
	w.flush(b, member)
}

// closeNames ends the object of node n. It reports whether one of its undeclared names
// repeats. On a stream that is only a finding if these names are dropped.
func (w *Walker) closeNames(n *program.Node) bool {
	repeats := w.skip.Names.Repeats(w.b, w.skip.Names.Names[w.firstName:])
	if repeats && w.Streaming {
		repeats = n.Unknown != nil
		w.collectOnStream(w.firstName, repeats)
	}
	w.skip.Names.Forget(w.firstName)
	return repeats
}

// Pos returns the index at which the walk has stopped: with Bad and Overflow, that of
// the fault.
func (w *Walker) Pos() int { return w.pos }

// At is Pos in the window, which ends before a fault that is its end.
func (w *Walker) At() int { return min(w.pos, len(w.b)) }

// Window returns the window that the last Run had.
func (w *Walker) Window() (b []byte, eof bool) { return w.b, w.skip.EOF }

// Depth returns how many containers are open.
func (w *Walker) Depth() int { return w.sp + w.skip.OpenContainers() }

// Overflew returns the limit that was passed, after Overflow.
func (w *Walker) Overflew() errors.Limit { return w.skip.Overflew }

// OutOfRange reports, after Bad, whether the fault is a number beyond float64.
func (w *Walker) OutOfRange() bool { return w.skip.OutOfRange }

// HasOddNumber reports whether there is a number that the API server may write
// otherwise.
func (w *Walker) HasOddNumber() bool { return w.skip.OddNumber }

// HasRepeats reports whether the document has a name twice in an object.
func (w *Walker) HasRepeats() bool { return w.withoutSuperseded }

// Expects returns what the grammar expects where the walk has stopped, and in which
// container.
func (w *Walker) Expects() (in syntax.Container, expect syntax.Expectation) {
	top := &w.frames[w.sp]
	in, expect = syntax.Container(top.kind), expectations[w.st]
	if w.st == inKept || w.st == inDropped {
		within, e := w.skip.Expects()
		if expect = e; within != syntax.Root {
			return within, e
		}
	}
	if expect == syntax.Value && top.kind == inArray && top.cur == 0 {
		expect = syntax.FirstElement
	}
	return in, expect
}

// expectations are what the grammar expects in each state. In a value that is skipped,
// package skip knows it.
var expectations = [...]syntax.Expectation{
	atValue:        syntax.Value,
	inString:       syntax.InString,
	atFirstElement: syntax.FirstElement,
	atElement:      syntax.Value,
	atFirstName:    syntax.FirstName,
	atName:         syntax.Name,
	inName:         syntax.InString,
	atColon:        syntax.Colon,
	atField:        syntax.Value,
	atUnknown:      syntax.Value,
	atNull:         syntax.Value,
	inKept:         syntax.Value,
	inDropped:      syntax.Value,
	afterMember:    syntax.Comma,
	afterElement:   syntax.Comma,
	atEnd:          syntax.Comma,
}

// OpenPath returns the path to where the walk has stopped. In a value that is skipped
// without its names, the path ends at that value.
func (w *Walker) OpenPath() errors.Path {
	depth := w.sp
	if w.frames[depth].kind == inObject && w.frames[depth].cur == noName {
		depth--
	}
	within := 0 // more segments, below the frames
	var segment func(i int) ([]byte, int)
	if w.st == inKept || w.st == inDropped {
		within, segment = w.skip.Path(w.b, w.pos)
	}
	return errors.PathOf(fieldpath.Encode(depth+within, func(i int) ([]byte, int) {
		if i < depth {
			return w.frameSegment(i)
		}
		return segment(i - depth)
	}))
}

// Held returns the memory that the walker keeps and that grows with documents, in
// bytes.
func (w *Walker) Held() int {
	return memory.Held(w.padded) + memory.Held(w.frames) + memory.Held(w.words) + memory.Held(w.scratch) +
		memory.Held(w.opened) + memory.Held(w.last) + memory.Held(w.superseded) + memory.Held(w.seconds) +
		memory.Held(w.Observed.Metadata) + memory.Held(w.lists) + memory.Held(w.tags) + memory.Held(w.places) + memory.Held(w.nulls) + w.skip.Names.Held() + w.Found.Held()
}

// Cap returns the memory that the walker keeps, in bytes.
func (w *Walker) Cap() int {
	return w.Held() + memory.Held(w.predicted) + memory.Held(w.segments) + w.skip.TokenBytes() + w.Found.Cap()
}

// Drop lets go of what Held counts.
func (w *Walker) Drop() {
	w.frames = make([]frame, firstFrames)
	w.padded, w.words, w.scratch, w.opened, w.last = nil, nil, nil, nil, nil
	w.superseded, w.seconds, w.Observed.Metadata = nil, nil, nil
	w.lists, w.tags, w.places, w.nulls = nil, nil, nil, nil
	w.skip.Names.Drop()
	w.Found.Drop()
}
