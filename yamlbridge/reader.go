package yamlbridge

import (
	"bytes"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/position"
)

const (
	// MaxDepth is the maximum nesting depth of mappings and sequences,
	// including those that aliases insert.
	MaxDepth = 10_000
	// MaxAliasBytes is how many bytes of JSON aliases and merge keys may
	// add to one document: 10 MiB. Overridden members of a merged mapping
	// count with their names.
	MaxAliasBytes = 10 << 20
	// MaxAliasFactor is how many bytes aliases and merge keys may add for
	// each byte of a document, beyond 64 KiB. It keeps a few hundred bytes
	// from becoming megabytes.
	MaxAliasFactor = 1_000
	// MaxNumberBytes is the maximum length of the text of a number.
	MaxNumberBytes = 1_000
	// MaxKeyChars is the maximum length of a key in characters, including
	// everything before its colon. It does not apply to a key after a "?"
	// (YAML 1.2, section 7.4), or to a key in braces under the dialect
	// Core.
	MaxKeyChars = 1_024
)

// They are variables for tests.
var (
	// maxSourceBytes is how long a document may be, because offsets are kept in 32 bits.
	maxSourceBytes = 1<<31 - 1 - 1<<10
	// maxJSONBytes is how long the JSON of a document may be, because offsets in it are kept in 32
	// bits as well. Escapes make the JSON several times as long as the text.
	maxJSONBytes = 1<<31 - 1
)

// A Dialect says how scalars and keys are read, and by which grammar.
type Dialect uint8

const (
	// Kubernetes reads what the API server reads, which is YAML 1.1 in the
	// dialect of go.yaml.in/yaml/v2, but refuses what the server alters,
	// ignores or decides at random. It is the default.
	Kubernetes Dialect = iota
	// Core is YAML 1.2 with its core schema (section 10.3), without merge
	// keys.
	Core
	// Server decides as the API server does where Kubernetes refuses text
	// or reads it otherwise:
	//
	//   - What follows the first document, or its root node, is ignored,
	//     unless the server's scanner refuses it as far as it looks. The
	//     scanner looks at the token after the root. If that token, or a
	//     root on the same line, could be a key of one line and 1024
	//     characters, it looks at all tokens until it no longer could be.
	//     It also looks at the characters of the 512 bytes in which these
	//     tokens end. [Reader.Trailing] reports that something follows.
	//   - U+0085, U+2028 and U+2029 end lines, too, and within brackets ?
	//     and : are indicators as in libyaml.
	//   - Infinity and NaN, and keys that are null or beyond int64, are
	//     refused if they are left in the result. A value that a later one
	//     of the same name replaces may contain them; the JSON that is
	//     written for them there has no meaning.
	//   - A merge key overwrites the members before it, and is overwritten
	//     by those after it.
	//   - Tags other than the core ones are ignored, and so are all tags on
	//     mappings and sequences.
	//   - Numbers beyond a float64 are strings.
	//   - The bytes that !!binary encodes need not be UTF-8; invalid ones
	//     become U+FFFD.
	//   - UTF-16 with a byte order mark is read. Positions are those in the
	//     text as UTF-8, without the mark.
	//   - %YAML 1.2 is refused, and so are the escapes \/ and those of
	//     surrogates.
	Server
)

// A Reader converts YAML documents to JSON, one after the other. The zero value
// is ready for use. A Reader must not be used by several goroutines at the same
// time.
//
// A Reader keeps its memory from document to document, and a reference to the
// last one: see [Reader.Forget].
type Reader struct {
	// Dialect is the dialect of the documents.
	Dialect Dialect
	// Origin is where the document starts in its file, for callers who have
	// cut a stream with [Documents]. The zero Origin is the start of the
	// file.
	Origin errors.Position
	// AliasFactor is how many bytes aliases and merge keys may add for each
	// byte of a document, beyond 64 KiB and up to MaxAliasBytes. If it is 0
	// or larger than MaxAliasFactor, MaxAliasFactor applies. Callers that
	// read many documents at a time can use it to limit the memory of all
	// of them.
	AliasFactor int
	// Budget is charged for the memory that the reader takes while it reads
	// a document, before it takes it, and for the growth of dst. Buffers
	// that grow by one element at a time are charged later, when up to
	// 64 KiB more of JSON are written or the document ends, and so are
	// scalars of less than 4 KiB with a tag or an anchor. If the budget has no
	// room, the error is [errors.ErrBudget]. The reader keeps the buffers
	// that it has grown; they stay charged, and [Reader.Cap] tells their
	// size. If Budget is nil, nothing is charged.
	Budget Budget

	account    memory.Account
	server     bool           // the dialect is Server
	source     []byte         // the document that is read, in which positions count
	lead       int            // bytes of source before the text
	settled    int            // the JSON up to here was charged, and is not too long
	outHeld    int            // bytes of out that were charged
	loose      int            // bytes that were charged for other memory
	text       []byte         // see load
	end        int            // the start of the zeros of text, or of the line feed that load added
	ownBreak   bool           // load added the last line feed
	lines      position.Index // of source
	unreadable string         // the fault in the text after end, or ""
	oldBreak   int            // the next line break of YAML 1.1 only, after the quotes that were read
	line       int            // the start of the line that is read

	out   []byte
	base  int // the start of the JSON in out
	stack []frame
	main  trail // of out

	props     properties // of the next node
	emptyAt   int        // the place of a node that is empty
	scratch   []byte     // the content of a scalar
	unescaped []byte     // the text of that scalar, or of a tag
	breaks    []byte     // line breaks that are being folded
	tags      map[string]string

	anchors []anchor
	byName  anchorTable
	names   nameSet
	side    []byte // JSON that is referred to and is not in out
	aside   trail  // of side
	typed   []typedKey
	merges  []merging
	sources []source
	found   []source // of the merge key that ends
	merged  []span   // mappings in out that have merge keys and are closed, but none within another
	allowed int      // how much aliases may add
	budget  int      // how much of that is left

	zeroKeys bool // there are placeholders for 0.0 and -0.0
	unfit    bool // something in out is not JSON: see unfit.go
	trailing bool // something follows the document that was read
}

// A frame is an open mapping or sequence, or the document.
type frame struct {
	column int32 // of its keys or dashes; flowColumn within brackets, -1 for the document
	start  int32 // offset in out
	anchor int32 // index of the anchor that it is the value of, or -1
	height int32 // how deeply it nests, itself included
	state  state
	next   state // the state after the value that is read
	seq    bool
	// mergeList says that the sequence is the value of a merge key.
	mergeList bool
	// merges says that sources has mappings to merge into this one.
	merges bool
}

// flowColumn is to the right of every column, so that no line ends a collection in brackets.
const flowColumn = 1<<31 - 1

// A state says what comes next in a collection.
type state uint8

const (
	documentValue state = iota
	documentDone

	mapKey         // a key
	mapValue       // after a colon that ended its line
	mapMerged      // a key, after the value of a merge key was merged
	mapExplicitKey // after a question mark that ended its line
	mapColon       // after an explicit key
	seqDash        // a dash
	seqValue       // after a dash that ended its line

	flowKey        // a key, or the end
	flowColon      // after an explicit key
	flowAdjacent   // after a key in quotes
	flowValue      // after a colon
	flowAlone      // after a key that has no value
	flowAfter      // after a member
	flowMerged     // the same, after the value of a merge key was merged
	flowEntry      // an element, or the end
	flowAfterEntry // after an element
)

// AppendJSON appends the JSON form of the single YAML document in src to dst
// and returns the extended buffer. If src has no document or an empty one, it
// appends null.
//
// The JSON is compact and valid UTF-8. Objects may contain a name more than
// once. Numbers are written by their value, as encoding/json does.
//
// The error is an [*errors.SyntaxError], an [*errors.LimitError] or, with a
// Budget, [errors.ErrBudget]. dst is then returned unchanged, and there are no
// positions. The limits are [MaxDepth], [MaxAliasBytes], [MaxAliasFactor],
// [MaxNumberBytes], [MaxKeyChars], and 2 GiB for a document and for its JSON.
// AppendJSON panics if the Dialect is not one of the constants.
//
// The result does not alias src, but the reader keeps a reference to src until
// its next use or [Reader.Forget]. AppendJSON may write to all of dst's free
// capacity, including bytes after the result.
func (r *Reader) AppendJSON(dst, src []byte) ([]byte, error) {
	if r.Budget != nil {
		return r.within(dst, src)
	}
	return r.appendJSON(dst, src)
}

func (r *Reader) appendJSON(dst, src []byte) ([]byte, error) {
	out, err := r.read(dst, src, noBreak)
	if r.oldBreak != noBreak {
		return r.read(dst, src, r.oldBreak)
	}
	return out, err
}

// read is AppendJSON for a text in which line breaks of YAML 1.1 may be anywhere. cut is the index
// of the one that ends the text, or noBreak.
func (r *Reader) read(dst, src []byte, cut int) ([]byte, error) {
	r.reset(dst)
	if len(src) > maxSourceBytes {
		r.source, r.lead = src, 0
		r.lines.Start(src, 0)
		return dst, r.limit(errors.LimitDocumentBytes, int64(maxSourceBytes), 0)
	}
	r.allowed = r.mostAliased(len(src))
	r.budget = r.allowed
	r.load(src, cut)
	err := r.document()
	if err == nil && r.unfit {
		err = r.checkUnfit()
	}
	if err == nil && r.zeroKeys {
		r.nameZeros()
	}
	if err == nil && r.isTooLong() {
		err = r.tooLong(r.end)
	}
	out := r.out
	r.out = nil
	if err != nil {
		r.main.reset()
		return dst, err
	}
	return out, nil
}

// AppendJSON is [Reader.AppendJSON] of a new Reader. It can be called
// concurrently with different dst.
func AppendJSON(dst, src []byte) ([]byte, error) {
	var r Reader
	return r.AppendJSON(dst, src)
}

func (r *Reader) reset(dst []byte) {
	r.poison()
	if r.Dialect > Server {
		panic("yamlbridge: there is no Dialect(" + strconv.Itoa(int(r.Dialect)) + ")")
	}
	r.server = r.Dialect == Server
	r.out, r.base = dst, len(dst)
	r.stack = append(r.stack[:0], frame{column: -1, next: documentDone})
	r.main.reset()
	r.aside.reset()
	r.props = properties{}
	r.tags = nil
	r.anchors, r.side = r.anchors[:0], r.side[:0]
	r.merges, r.sources = r.merges[:0], r.sources[:0]
	r.merged = r.merged[:0]
	r.typed = r.typed[:0]
	r.byName.count = 0
	r.line, r.zeroKeys, r.trailing, r.unfit = 0, false, false, false
	r.oldBreak = noBreak
	r.settled = 0
}

// Trailing reports whether the last document, or its root node, was followed by
// something that was not read. Only under the dialect [Server] is this not an
// error.
func (r *Reader) Trailing() bool { return r.trailing }

// Forget drops the last document and the reference to it. The memory that the
// reader has grown stays for the next document.
func (r *Reader) Forget() {
	r.source = nil
	r.lines.Forget()
	r.main.reset()
	r.tags = nil
}

// Cap returns how many bytes of memory the reader holds for reuse. It does not
// count the names of tags, which the reader holds until its next use or
// [Reader.Forget].
func (r *Reader) Cap() int {
	return r.lines.Held() + memory.Held(r.text) + memory.Held(r.stack) +
		memory.Held(r.main.marks) + memory.Held(r.main.copies) +
		memory.Held(r.scratch) + memory.Held(r.unescaped) + memory.Held(r.breaks) +
		memory.Held(r.anchors) + memory.Held(r.byName.slots) +
		memory.Held(r.names.slots) + memory.Held(r.names.spare) +
		memory.Held(r.side) + memory.Held(r.aside.marks) + memory.Held(r.aside.copies) +
		memory.Held(r.typed) + memory.Held(r.merges) + memory.Held(r.sources) +
		memory.Held(r.found) + memory.Held(r.merged)
}

// push opens a collection: a mapping if bracket is {, and otherwise a sequence. at is its start in
// the text.
func (r *Reader) push(bracket byte, column, at int) error {
	if len(r.stack) > MaxDepth {
		return r.limit(errors.LimitDepth, MaxDepth, at)
	}
	if r.isTooLong() {
		return r.tooLong(at)
	}
	parent := &r.stack[len(r.stack)-1]
	f := frame{column: int32(column), anchor: -1, height: 1}
	switch {
	case bracket == '{' && column == flowColumn:
		f.state, f.next = flowKey, flowAfter
	case bracket == '{':
		f.state, f.next = mapKey, mapKey
	case column == flowColumn:
		f.state, f.next, f.seq = flowEntry, flowAfterEntry, true
	default:
		f.state, f.next, f.seq = seqDash, seqDash, true
	}
	if f.seq && (parent.next == mapMerged || parent.next == flowMerged) {
		f.mergeList = true
	}
	parent.state = parent.next
	r.comma()
	if r.props.set {
		at = r.props.at
	}
	r.mark(at)
	f.start = int32(len(r.out) - r.base)
	if r.props.set {
		var err error
		if f.anchor, err = r.openAnchor(f.seq); err != nil {
			return err
		}
	}
	r.stack = append(r.stack, f)
	r.out = append(r.out, bracket)
	return nil
}

// pop closes the innermost collection.
func (r *Reader) pop() error {
	f := &r.stack[len(r.stack)-1]
	switch f.state {
	case mapColon:
		r.null(r.afterKey(f))
	case mapValue, seqValue:
		if err := r.empty(); err != nil {
			return err
		}
	case mapExplicitKey:
		if err := r.noKey(); err != nil {
			return err
		}
		r.null(r.afterKey(f))
	}
	if f.state == mapMerged || f.state == flowMerged {
		if err := r.merge(); err != nil {
			return err
		}
	}
	if f.merges {
		if err := r.mergeSources(); err != nil {
			return err
		}
	}
	bracket := byte('}')
	if f.seq {
		bracket = ']'
	}
	r.out = append(r.out, bracket)
	if f.anchor >= 0 {
		a := &r.anchors[f.anchor]
		a.at.end, a.open, a.height = uint32(len(r.out)-r.base), false, f.height
	}
	r.stack = r.stack[:len(r.stack)-1]
	r.contain(f.height)
	return nil
}

// afterKey returns the place of the missing value of an explicit key without a colon: the start of
// the next line. libyaml puts it before the end of the text, if that closes the mapping by the
// spaces before it.
func (r *Reader) afterKey(f *frame) int {
	if r.line > r.end && int(f.column) > r.end-1-bytes.LastIndexByte(r.text[:r.end], '\n') {
		return r.end
	}
	return r.line
}

// contain records that the innermost collection contains a node of that height.
func (r *Reader) contain(height int32) {
	if f := &r.stack[len(r.stack)-1]; f.height <= height {
		f.height = height + 1
	}
}

// comma separates the next node from the one before it.
//
//espalier:inline
func (r *Reader) comma() {
	if n := len(r.out); n > r.base {
		if c := r.out[n-1]; c != '{' && c != '[' && c != ':' {
			r.out = append(r.out, ',')
		}
	}
}

// mark records that the next node is at off in the text.
//
//espalier:inline
func (r *Reader) mark(off int) {
	r.main.marks = append(r.main.marks, mark{uint32(len(r.out) - r.base), uint32(off)})
}

// empty writes an absent node, which may have properties.
func (r *Reader) empty() error {
	if !r.props.set {
		r.null(r.emptyAt)
		return nil
	}
	f := &r.stack[len(r.stack)-1]
	f.state = f.next
	return r.emptyWithProperties()
}

// null writes an absent node without properties.
func (r *Reader) null(at int) {
	f := &r.stack[len(r.stack)-1]
	f.state = f.next
	r.comma()
	r.mark(at)
	r.out = append(r.out, "null"...)
}

func (r *Reader) fail(off int, msg string) error {
	return &errors.SyntaxError{Msg: msg, Position: r.at(off), Path: r.path()}
}

func (r *Reader) limit(which errors.Limit, most int64, off int) error {
	return &errors.LimitError{Limit: which, Max: most, Position: r.at(off), Path: r.path()}
}

// isTooLong reports whether the JSON, or the side buffer, is too long. Functions that write either
// check it before the next line, or before the next token in brackets; one or two tokens more do no
// harm. Functions that rely on offsets of 31 bits check it before they use them.
//
// If there is a budget, the growth of the JSON is charged here.
func (r *Reader) isTooLong() bool {
	return max(len(r.out)-r.base, len(r.side)) > r.settled && r.settle()
}

func (r *Reader) tooLong(off int) error {
	return r.limit(errors.LimitJSONBytes, int64(maxJSONBytes), off)
}

// failAtEnd is fail for a part that is missing at the end of the text, unless the text continues
// and could not be read.
func (r *Reader) failAtEnd(off int, msg string) error {
	if r.unreadable != "" {
		off, msg = r.end, r.unreadable
	}
	return r.fail(off, msg)
}

// failAt is fail for a byte that is not allowed in its place.
func (r *Reader) failAt(off int, msg string) error {
	if off >= r.end {
		return r.failAtEnd(r.end, msg)
	}
	return r.fail(off, msg)
}
