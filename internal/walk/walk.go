package walk

// NOTE: how the machines are arranged. Walker.machine is one machine of labels and
// gotos: each label is a position in the grammar of RFC 8259, and says what it expects
// there. Its state is in local variables. It knows nothing of the containers around
// the current one but what their frames tell it, so that no input makes it recurse.
//
// It can stop at any byte. At a byte that a label does not expect, it jumps to stop.
// Within the window that is a syntax error. At the end of the window it is a
// suspension, and the next window goes on in the state that was noted on the way
// (w.st = ...). So the fast path never asks whether the window ends.
//
// Output is cut out of the input: bytes before flushed are decided. Those from flushed
// on are kept, unless a member among them turns out to be dropped. Dropping a member
// writes the kept run up to it, and goes on after it.
//
// The labels, and the tokens that lead from one to the next:
//
//	firstName -- } --> closeObject --> pop <-- ] -- firstElement
//	    |                   ^           |  ^              |
//	    "                   }           |  ]              |
//	    v                   |           v  |              v
//	readName <- name <- afterMember <- after -> afterElement -> element
//	    |          ,    ^      ^        ^  |         ,            |
//	restOfName          |      |        |  +-> end                |
//	    |               |      |        |                         |
//	  colon             |    null ------+                         |
//	    |               |      ^        |                         |
//	    +--> field ------------+----> value <---------------------+
//	    |               |      |        ^               (or null)
//	    +--> unknown ----------+--------+
//	             |      |
//	             +-> droppedTree
//
// A value goes on at firstName, at firstElement, or at after. On the way there, str has
// the rest of a string, and keptTree a container that is kept whole. A member is dropped
// at droppedTree, or with its null. A name that was predicted goes from readName to field
// at once. From all labels the machine may leave: by stop to syntax or suspend, by
// repeatedField to repeat, to tooMuch at a limit, and after a comma to handOver. What a
// call has returned decides at stopped.
//
// Walker.simple has the labels of declared fields, under the same names. Its undeclared
// is the unknown of maps, and what is not here it leaves to machine.

import (
	"encoding/binary"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
)

// machine is Run up to where simple can go on. The walker looks at b already.
func (w *Walker) machine(b []byte, eof bool) skip.Status {
	var (
		i       = w.pos
		top     = &w.frames[w.sp]
		n       = top.node
		seen    = top.seen
		cur     = top.cur
		cell    = top.cell
		kind    = top.kind
		kept    = w.kept
		member  = w.member
		v       = w.value
		f       = w.field
		e       = w.edge
		end     = w.nameEnd
		escaped = w.escaped
		s       jsonwire.Status
		t       skip.Status
		c       byte
	)
	switch w.st {
	case atValue:
		goto value
	case inString:
		goto str
	case atFirstElement:
		goto firstElement
	case atElement:
		goto element
	case atFirstName:
		goto firstName
	case atName:
		goto name
	case inName:
		goto restOfName
	case atColon:
		goto colon
	case atField:
		goto field
	case atUnknown:
		goto unknown
	case atNull:
		goto null
	case inKept:
		goto keptTree
	case inDropped:
		goto droppedTree
	case afterMember:
		goto afterMember
	case afterElement:
		goto afterElement
	}
	goto end

value: // a value that node v governs
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	// A node that takes only some types is checked: under the KEP's semantics, and for
	// metadata and the type of a resource. check returns the node that governs the value
	// then, or nil if the member goes. If the name is declared, the field counts as absent.
	// Then a repetition of the name would not be noticed, so that where findings are
	// reported, the walk that collects all repetitions has to find out.
	if v.Types != program.Any && i < len(b) {
		if v = w.check(b, i, v, n, kind, cur); v == nil {
			if f.Node.Hard() != 0 {
				if w.Report && !w.withoutSuperseded {
					goto repeat
				}
				seen &^= 1 << n.Index(f)
			}
			w.flush(b, member)
			goto droppedTree
		}
	}
	switch c {
	case '"':
		i++
		escaped = false
		if i >= 0 && i <= len(b)-17 {
			i += jsonwire.Simple(
				binary.LittleEndian.Uint64(b[i:i+8]), binary.LittleEndian.Uint64(b[i+8:i+16]))
			if b[i] == '"' {
				i++
				goto after
			}
		}
		goto str
	case '{':
		if v.KeepObject && !w.withoutSuperseded {
			goto keptTree
		}
		if w.push(n, seen, cur, cell, kind) {
			goto tooMuch
		}
		if w.Judge != nil {
			w.openPlace(i)
		}
		n, seen, cur, cell, kind, kept = v, 0, noName, v.Cell, inObject, false
		if len(n.Fields) > 64 {
			w.openWords(len(n.Fields))
		}
		i++
		member = i
		goto firstName
	case '[':
		if v.KeepArray && !w.withoutSuperseded {
			goto keptTree
		}
		if w.push(n, seen, cur, cell, kind) {
			goto tooMuch
		}
		if w.Judge != nil {
			w.openPlace(i)
		}
		n, seen, kind, cur = v, v.Awaited, inArray, 0
		i++
		goto firstElement
	case '1', '2', '3', '4', '5', '6', '7', '8', '9':
		// Most numbers are short integers. Nothing about them can be wrong but the limit.
		if end = jsonwire.ShortInteger(b, i); end > 0 && end-i <= w.skip.NumberBytes {
			i = end
			goto after
		}
		fallthrough
	case '-', '0':
		end, t = w.skip.Number(b, i)
		if t == skip.Done {
			if v.Hard()&(program.Integer|program.Number) == program.Integer &&
				!isInt64(b[i:end]) && !w.tolerates(v, n) {
				w.note(i, kind, cur, findings.Mismatch(v.Hard(), program.Number))
			}
			i = end
			goto after
		}
		w.st = atValue
		if t == skip.Bad {
			i = end
		}
		goto stopped
	case 't':
		end, s = jsonwire.ScanLiteral(b, i, "true")
	case 'f':
		end, s = jsonwire.ScanLiteral(b, i, "false")
	case 'n':
		end, s = jsonwire.ScanLiteral(b, i, "null")
	default:
		w.st = atValue
		goto stop
	}
	if s == jsonwire.OK {
		i = end
		goto after
	}
	w.st = atValue
	if s == jsonwire.Cut {
		goto suspend
	}
	i = end
	goto syntax

str: // within a string
	{
		var esc bool
		i, esc, s = jsonwire.ScanString(b, i)
		escaped = escaped || esc
	}
	if s == jsonwire.OK {
		i++
		goto after
	}
	w.st = inString
	if s == jsonwire.Cut {
		goto suspend
	}
	goto syntax

keptTree: // an object or array that is kept whole
	if w.Streaming {
		w.here(kind, cur)
	}
	i, t = w.skip.Skip(b, i, w.sp, !w.withoutSuperseded)
	if t == skip.Done {
		goto after
	}
	w.st = inKept
	goto stopped

after: // a value has ended
	if w.part.node != nil && w.part.sp == w.sp {
		w.here(kind, cur)
		w.leavePart(b, i)
	}
	if kind == inObject {
		kept = true
		goto afterMember
	}
	if kind == inArray {
		goto afterElement
	}
	goto end

afterMember:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ',' {
		member = i
		i++
		if !kept {
			// The kept run starts after the comma.
			w.flushed, member = i, i
		}
		// Here simple can go on: at a name, with enough of the window left.
		if n.SimpleObject && i <= len(b)-skip.Slack {
			w.st, cur = atName, noName
			goto handOver
		}
		goto name
	}
	if c == '}' {
		goto closeObject
	}
	w.st = afterMember
	goto stop

firstName:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == '"' {
		goto readName
	}
	if c == '}' {
		goto closeObject
	}
	w.st = atFirstName
	goto stop // cur is noName

name:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c != '"' {
		w.st, cur = atName, noName
		goto stop
	}

readName:
	// The predicted field is compared first, with quotes and colon: 16 bytes as two words
	// under a mask, and only then the rest of a longer key. If the names differ, the name is
	// scanned, and looked up in the node.
	cur = names.Place(i)
	f = w.predicted[cell]
	if i+16 <= len(b) &&
		(binary.LittleEndian.Uint64(b[i:])^f.Head[0])&f.Mask[0]|
			(binary.LittleEndian.Uint64(b[i+8:])^f.Head[1])&f.Mask[1] == 0 &&
		(len(f.Key) <= 16 || i+len(f.Key) <= len(b) && string(b[i+16:i+len(f.Key)]) == f.Key[16:]) {
		i += len(f.Key)
		goto field
	}
	i++
	escaped = false

restOfName:
	{
		var esc bool
		i, esc, s = jsonwire.ScanString(b, i)
		escaped = escaped || esc
	}
	if i-int(cur)-1 > w.skip.NameBytes {
		w.skip.Overflew = errors.LimitNameBytes
		i, cur = int(cur), noName
		goto tooMuch
	}
	if s != jsonwire.OK {
		w.st = inName
		if s == jsonwire.Cut {
			goto suspend
		}
		goto syntax
	}
	end = i
	i++
	if escaped {
		f = n.Find(w.unescape(b[cur+1 : end]))
	} else {
		f = n.Find(b[cur+1 : end])
	}
	switch {
	case f == nil:
	case !f.Implicit:
		w.predicted[cell] = f
	case w.Streaming:
		f, w.Doubt = nil, true // its rules are not looked at
	}

colon:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c != ':' {
		w.st = atColon
		goto stop
	}
	i++
	if f == nil {
		goto unknown
	}

field: // the value of a declared field
	c = jsonwire.At(b, i)
	if c == ' ' { // one blank, as most who indent have it
		i++
		c = jsonwire.At(b, i)
	}
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		if i >= len(b) {
			w.st = atField
			goto suspend
		}
		c = b[i]
	}
	cell = f.Cell
	if index := n.Index(f); index < 64 {
		if seen&(1<<index) != 0 {
			goto repeatedField
		}
		seen |= 1 << index
	} else if w.setWord(index) {
		goto repeatedField
	}
	// A null that stays is a value like any other. One that goes, or that a default
	// replaces, is decided by the edge, before the node is looked at.
	if c == 'n' && f.Null != program.KeepNull {
		e = &f.Edge
		goto null
	}
	v = f.Node
	goto value

unknown: // the value of an undeclared name
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		if i >= len(b) {
			w.st = atUnknown
			goto suspend
		}
		c = b[i]
	}
	e = n.Unknown
	if e == nil {
		// A null that the schema drops is no unknown field, but its name must not repeat.
		if n.DropsNulls && c == 'n' {
			e = droppedNull
			if w.Report && !w.withoutSuperseded {
				w.skip.Names.Add(b, int(cur)+1, end, escaped)
			}
			goto null
		}
		w.dropUnknown(b, n, kind, int(cur), end, member, escaped)
		goto droppedTree
	}
	if w.AsServer && w.sp == 1 {
		w.Observed.name(b[cur+1:end], escaped)
	}
	if n.Checks != nil && n.Checks.Rules.Closed {
		w.Doubt = true
	}
	if !w.withoutSuperseded {
		w.skip.Names.Add(b, int(cur)+1, end, escaped)
	}
	if c == 'n' && e.Null != program.KeepNull {
		goto null
	}
	v = e.Node
	goto value

droppedTree: // the value of a member that is dropped
	if w.Streaming {
		w.here(kind, cur)
		w.dropping = true
	}
	i, t = w.skip.Skip(b, i, w.sp, w.Report && !w.withoutSuperseded)
	w.st = inDropped
	if t == skip.Done {
		w.dropping = false
		w.flushed = i
		goto afterMember
	}
	goto stopped

null: // a null that does not stay
	end, s = jsonwire.ScanLiteral(b, i, "null")
	if s != jsonwire.OK {
		w.st = atNull
		if s == jsonwire.Cut {
			goto suspend
		}
		i = end
		goto syntax
	}
	if n.Checks != nil || w.Judge != nil {
		w.here(kind, cur)
		w.dropRuled(i, n, f, e)
	}
	if e.Null == program.DropNull {
		if w.ReportNulls {
			w.note(i, kind, cur, findings.DroppedNull(i-int(cur)))
		}
		w.flush(b, member)
		i += len("null")
		w.flushed = i
		goto afterMember
	}
	if w.defers(n) {
		i = end
		goto after
	}
	w.flush(b, i)
	if w.insert(e.Default) {
		goto tooMuch
	}
	i += len("null")
	w.flushed = i
	goto after

closeObject:
	if len(w.skip.Names.Names) > w.firstName {
		if w.closeNames(n) {
			goto repeat
		}
	}
	if n.Checks != nil {
		w.closeRuled(n, seen)
	}
	// Fields with defaults come first in a node. The shift leaves those bits of them that
	// were not seen.
	if n.Defaults > 0 && (n.Defaults > 64 || ^seen<<(64-n.Defaults) != 0) {
		if w.closeWithDefaults(b, i, n, seen, kept) {
			goto tooMuch
		}
	}
	goto pop

firstElement:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ']' {
		if n.Checks != nil {
			w.closeArray(n, 0)
		}
		goto pop
	}
	if i >= len(b) {
		w.st = atFirstElement
		goto suspend
	}

element:
	e = &n.Elements
	v = e.Node
	if e.Null == program.KeepNull {
		goto value
	}
	i = jsonwire.Blanks(b, i)
	if i >= len(b) {
		w.st = atElement
		goto suspend
	}
	if b[i] == 'n' {
		goto null
	}
	goto value

afterElement:
	c = jsonwire.At(b, i)
	if c <= ' ' {
		i = jsonwire.Blanks(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ',' {
		i++
		cur++
		if n.SimpleArray && i <= len(b)-skip.Slack {
			w.st = atElement
			goto handOver
		}
		goto element
	}
	if c == ']' {
		if n.Checks != nil {
			w.closeArray(n, int(cur)+1)
		}
		goto pop
	}
	w.st = afterElement
	goto stop

pop: // after the last byte of a container
	i++
	if len(w.words) > w.firstWord {
		w.words = w.words[:w.firstWord]
	}
	w.sp--
	top = &w.frames[w.sp]
	n, seen, cur, cell, kind = top.node, top.seen, top.cur, top.cell, top.kind
	w.firstName, w.firstWord = top.names, top.words
	goto after

end: // after the document
	i = jsonwire.Blanks(b, i)
	w.st = atEnd
	if i < len(b) {
		goto syntax
	}
	w.pos = i
	if !eof {
		return skip.Cut
	}
	if !w.Streaming { // a stream writes its last byte when all is well
		w.flush(b, i)
	}
	return skip.Done

stopped: // as skip.Status t says
	switch t {
	case skip.Cut:
		goto suspend
	case skip.Repeated:
		goto repeat
	case skip.Overflow:
		goto tooMuch
	}
	goto syntax

repeatedField:
	if w.Streaming {
		w.resetFindings()
		w.Found.ResetForError()
		r := findings.Record{Kind: errors.DuplicateField, First: -1, Count: 1}
		w.note(int(cur), kind, cur, r)
	}

repeat:
	w.pos = i
	w.here(kind, cur)
	return skip.Repeated

tooMuch:
	w.pos = i
	w.here(kind, cur)
	return skip.Overflow

stop:
	if i >= len(b) {
		goto suspend
	}

syntax:
	w.pos = i
	w.here(kind, cur)
	return skip.Bad

handOver:
	w.suspend(n, seen, cur, cell, kind)
	w.pos, w.member, w.kept = i, member, kept
	return handedOver

suspend:
	w.suspend(n, seen, cur, cell, kind)
	w.pos, w.member, w.nameEnd, w.kept, w.escaped = i, member, end, kept, escaped
	w.value, w.field, w.edge = v, f, e
	if eof {
		return skip.Bad
	}
	return skip.Cut
}

// isInt64 reports whether the value of a valid number literal fits int64.
func isInt64(lit []byte) bool {
	_, kind, _, _ := jsonwire.ScanNumber(lit, 0)
	return jsonwire.IsInt64(lit, kind)
}
