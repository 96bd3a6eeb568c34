package decoder

// NOTE: walker.plain is walker.machine for the plain part of a document: declared
// fields whose values may have any type, in objects and arrays that are not kept whole,
// far from the end of the window. It judges nothing: at whatever is not plain it leaves
// the state as if the window had ended there, and the machine goes on from it; which
// hands over to it again behind a comma.
//
// What it leaves out is what makes it fast. It calls nothing, so that what it knows
// stays in registers, where a function that calls others would store all of it at each
// label: what needs a call is done by walkPlain in between.

import (
	"encoding/binary"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
)

// slack is how many bytes there are in the window from where plain looks at a name or a
// value: two words, and a number with what follows it.
const slack = 24

// A need is what plain ends for.
type need uint8

const (
	needMachine  need = iota // the machine is to go on
	needField                // of the name at w.pos
	needString               // the rest of the string at w.pos
	needNumber               // the number at w.pos
	needKept                 // the value at w.pos, which is kept whole
	needDefaults             // for the object that ends at w.pos
	needMembers              // of a large map, from the name at w.pos on
)

// The places at which plain goes on.
const (
	plainRoot = iota
	plainName
	plainField
	plainElement
	plainAfter
	plainAfterMember
	plainPop
)

// smallDocument is how many bytes a document may have of which a copy is made that has slack
// behind it. In one of 1 kB the machine would else walk a tenth of the time, behind the last 24 bytes.
const smallDocument = 4 << 10

var noText [slack]byte

// withSlack returns a copy of a document for plain, with bytes behind it that are no JSON: plain
// gets as far as in the document itself, but for its end.
func (w *walker) withSlack(b []byte) []byte {
	w.roomy = append(append(w.roomy[:0], b...), noText[:]...)
	return w.roomy
}

// walkPlain goes on at a place, up to what is not plain. Then it returns handedOver, or
// how the walk has ended. The window has slack behind it in roomy, if there was reason to.
func (w *walker) walkPlain(b, roomy []byte, place int) status {
	for {
		steps.Add(1)
		switch w.plain(roomy, place) {
		case needMachine:
			return handedOver
		case needField:
			var st status
			if place, st = w.plainMember(b); st != done {
				return st
			}
		case needString:
			end, escaped, s := jsonwire.ScanString(b, w.pos)
			w.pos, w.escaped = end, escaped
			if s != jsonwire.OK {
				w.st = inString
				return handedOver
			}
			w.pos++
			place = plainAfter
		case needNumber:
			end, st := w.number(b, w.pos)
			if st != done {
				return handedOver // the machine says what is wrong
			}
			w.pos = end
			place = plainAfter
		case needKept:
			w.st = inKept
			if st := w.skipPlain(b, !w.cutting); st != done {
				return st
			}
			if w.sp == 0 {
				w.st = atEnd
				return handedOver
			}
			place = plainAfter
		case needMembers:
			if !w.stringMembers(b) {
				return handedOver
			}
			place = plainName
		case needDefaults:
			top := &w.frames[w.sp]
			w.closeWithDefaults(b, w.pos, top.node, top.seen, w.kept)
			place = plainPop
		}
	}
}

// plainMember finds the field whose name starts at w.pos, and goes to its value, or
// drops the member of a name that is not declared.
func (w *walker) plainMember(b []byte) (place int, st status) {
	top := &w.frames[w.sp]
	start := w.pos
	if b[start] != '"' {
		return 0, handedOver
	}
	end, escaped, s := jsonwire.ScanString(b, start+1)
	if s != jsonwire.OK || escaped || end-start-1 > w.limits.NameBytes || jsonwire.At(b, end+1) != ':' {
		return 0, handedOver
	}
	top.cur, w.pos = start, end+len(`":`)
	if f := top.node.Find(b[start+1 : end]); f != nil {
		w.predicted[top.cell], w.field = f, f
		return plainField, done
	}
	w.dropUnknown(b, top.node, inObject, start, end, w.member, false)
	w.st, w.dropping = inDropped, w.streaming
	if st := w.skipPlain(b, w.report && !w.cutting); st != done {
		return 0, st
	}
	w.dropping, w.flushed = false, w.pos
	return plainAfterMember, done
}

// skipPlain skips the value at w.pos.
func (w *walker) skipPlain(b []byte, track bool) (st status) {
	w.pos, st = w.skip(b, w.pos, w.sp, track)
	if st == cut && w.eof {
		return bad
	}
	return st
}

// plain goes on at a place, up to what it needs somebody else for.
//
// NOTE: keep this function free of calls.
func (w *walker) plain(b []byte, place int) need {
	var (
		top  = &w.frames[w.sp]
		seen = top.seen
		cell = top.cell
		i    = w.pos
		n, v *program.Node
		f    *program.Field
		c    byte
	)
	b = b[:len(b):len(b)]
	switch place {
	case plainRoot:
		v = w.value
		if jsonwire.At(b, i) != '{' {
			return needMachine
		}
		goto value
	case plainField:
		f = w.field
		goto field
	case plainElement:
		goto element
	case plainAfter:
		goto after
	case plainAfterMember:
		goto afterMember
	case plainPop:
		goto pop
	}

name: // behind a comma
	if i < 0 || i > len(b)-slack {
		goto leaveName
	}
	c = b[i]
	for c <= ' ' {
		if !jsonwire.IsBlank(c) {
			goto leaveName
		}
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if i < 0 || i > len(b)-slack {
		goto leaveName
	}
	n = top.node
	if n.Unknown != nil {
		goto undeclared
	}
	f = w.predicted[cell]
	if (binary.LittleEndian.Uint64(b[i:i+8])^f.Head[0])&f.Mask[0]|
		(binary.LittleEndian.Uint64(b[i+8:i+16])^f.Head[1])&f.Mask[1] != 0 {
		goto find
	}
	top.cur = i
	i += len(f.Key)
	if len(f.Key) > 16 {
		if len(f.Key) > 32 || i < 16 || i > len(b) ||
			binary.LittleEndian.Uint64(b[i-16:i-8]) != f.Last[0] || binary.LittleEndian.Uint64(b[i-8:i]) != f.Last[1] {
			i = top.cur
			goto find
		}
	}

field: // the value of a declared field
	if seen&f.Bit != 0 || f.Bit == 0 {
		w.st, w.field = atField, f
		goto leave
	}
	seen |= f.Bit
	cell = f.Cell
	v = f.Node

value: // a value that node v governs
	if i < 0 || i > len(b)-slack {
		goto leaveValue
	}
	c = b[i]
	for c <= ' ' {
		if !jsonwire.IsBlank(c) {
			goto leaveValue
		}
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if v.Types != program.Any && (v.Types&firstTypes[c] == 0 || w.notesType) {
		goto leaveValue
	}
	if c == '"' {
		// As jsonwire.Simple, but that the branch is taken before the place is known.
		i++
		for {
			if i < 0 || i > len(b)-16 {
				w.st, w.escaped = inString, false
				goto leave
			}
			m := jsonwire.Special(binary.LittleEndian.Uint64(b[i : i+8]))
			next := jsonwire.Special(binary.LittleEndian.Uint64(b[i+8 : i+16]))
			if m|next != 0 {
				at := bits.TrailingZeros64(m) >> 3 // 8 if it is not in the first word
				at += bits.TrailingZeros64(next) >> 3 & -(at >> 3)
				i += at
				break
			}
			i += 16
		}
		if b[i] != '"' {
			w.leavePlain(top, seen, cell, i)
			return needString
		}
		i++
		goto after
	}
	if c == '{' {
		if v.KeepObject && !w.cutting {
			w.st = inKept
			w.leavePlain(top, seen, cell, i)
			return needKept
		}
		if !v.PlainObject || w.sp+1 >= len(w.frames) || w.sp >= w.limits.Depth {
			goto leaveValue
		}
		top.seen, top.cell = seen, cell
		w.sp++
		top = &w.frames[w.sp]
		seen, cell = 0, v.Cell
		top.node, top.kind, top.names, top.words, top.cur = v, inObject, len(w.names), len(w.words), noName
		i++
		w.member, w.kept = i, false
		c = jsonwire.At(b, i)
		for c <= ' ' && jsonwire.IsBlank(c) {
			i = jsonwire.PastBlank(b, i)
			c = jsonwire.At(b, i)
		}
		if c == '"' {
			goto name
		}
		if c == '}' {
			goto closeObject
		}
		w.st = atFirstName
		goto leave
	}
	if c == '[' {
		if v.KeepArray && !w.cutting {
			w.st = inKept
			w.leavePlain(top, seen, cell, i)
			return needKept
		}
		if !v.PlainArray || w.sp+1 >= len(w.frames) || w.sp >= w.limits.Depth {
			goto leaveValue
		}
		top.seen, top.cell = seen, cell
		w.sp++
		top = &w.frames[w.sp]
		top.node, top.kind, top.names, top.words, top.cur = v, inArray, len(w.names), len(w.words), 0
		i++
		c = jsonwire.At(b, i)
		for c <= ' ' && jsonwire.IsBlank(c) {
			i = jsonwire.PastBlank(b, i)
			c = jsonwire.At(b, i)
		}
		if c == ']' {
			goto pop
		}
		if c != 0 {
			goto element
		}
		w.st = atFirstElement
		goto leave
	}
	if i < 0 || i > len(b)-slack {
		goto leaveValue
	}
	if c-'0' <= 9 {
		digits := jsonwire.Digits(binary.LittleEndian.Uint64(b[i : i+8]))
		next := b[i+digits]
		if digits > 7 || digits > w.limits.NumberBytes || c == '0' && digits > 1 || next == '.' || next|0x20 == 'e' {
			goto number
		}
		i += digits
		goto after
	}
	if string(b[i:i+4]) == "true" {
		i += 4
		goto after
	}
	if string(b[i:i+5]) == "false" {
		i += 5
		goto after
	}
	if c != '-' {
		goto leaveValue
	}

number:
	if v.Types != program.Any {
		goto leaveValue
	}
	if top.kind == inArray {
		w.st = atElement
	} else {
		w.st, w.value, w.field = atValue, v, f
	}
	w.leavePlain(top, seen, cell, i)
	return needNumber

after: // a value has ended
	if top.kind == inArray {
		goto afterElement
	}
	w.kept = true

afterMember:
	c = jsonwire.At(b, i)
	for c <= ' ' && jsonwire.IsBlank(c) {
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ',' {
		w.member = i
		i++
		if !w.kept {
			w.flushed, w.member = i, i
		}
		goto name
	}
	if c != '}' {
		w.st = afterMember
		goto leave
	}

closeObject:
	n = top.node
	if names := len(w.names); names > top.names {
		// A few names differ if their tags do. All else is for the machine.
		if names-top.names > 8 || top.names < 0 || names > cap(w.names) || len(w.arena) > 0 || len(w.left) > 0 {
			w.st = afterMember
			goto leave
		}
		own := w.names[top.names:names]
		for x := 1; x < len(own); x++ {
			for y := range x {
				if own[x].tag == own[y].tag {
					w.st = afterMember
					goto leave
				}
			}
		}
		w.names = w.names[:top.names]
	}
	if n.Defaulted&^seen != 0 {
		w.st = afterMember
		w.leavePlain(top, seen, cell, i)
		if w.budget < len(n.AllDefaults) {
			return needMachine
		}
		return needDefaults
	}
	goto pop

element:
	n = top.node
	if n.Elements.Null != program.KeepNull {
		if c := jsonwire.At(b, i); c <= ' ' || c == 'n' {
			w.st = atElement
			goto leave
		}
	}
	v = n.Elements.Node
	goto value

afterElement:
	c = jsonwire.At(b, i)
	for c <= ' ' && jsonwire.IsBlank(c) {
		i = jsonwire.PastBlank(b, i)
		c = jsonwire.At(b, i)
	}
	if c == ',' {
		i++
		top.cur++
		goto element
	}
	if c != ']' {
		w.st = afterElement
		goto leave
	}

pop: // behind the last byte of a container
	i++
	w.sp--
	top = &w.frames[w.sp]
	seen, cell = top.seen, top.cell
	n = top.node
	switch top.kind {
	case inObject:
		w.kept = true
		if n.PlainObject {
			goto afterMember
		}
		w.st = afterMember
	case inArray:
		if n.PlainArray {
			goto afterElement
		}
		w.st = afterElement
	default:
		w.st = atEnd
	}
	goto leave

undeclared: // a name in an object that keeps what it does not declare
	{
		if len(n.Fields) > 0 || b[i] != '"' || len(w.names) == cap(w.names) {
			goto leaveName
		}
		from := i + 1
		end := from
		for {
			if end < 0 || end > len(b)-16 {
				goto leaveName
			}
			m := jsonwire.Special(binary.LittleEndian.Uint64(b[end : end+8]))
			next := jsonwire.Special(binary.LittleEndian.Uint64(b[end+8 : end+16]))
			if m|next != 0 {
				at := bits.TrailingZeros64(m) >> 3 // 8 if it is not in the first word
				at += bits.TrailingZeros64(next) >> 3 & -(at >> 3)
				end += at
				break
			}
			end += 16
		}
		if b[end] != '"' || end-from > w.limits.NameBytes || end < 0 || end > len(b)-slack || b[end+1] != ':' {
			goto leaveName
		}
		next := end + 2
		c = b[next]
		if c <= ' ' && jsonwire.IsBlank(c) {
			next = jsonwire.PastBlank(b, next)
			c = jsonwire.At(b, next)
		}
		if c <= ' ' || c == 'n' {
			goto leaveName
		}
		at := len(w.names)
		if at&(largeMap-1) == largeMap-1 && at-top.names >= largeMap {
			w.st = atName
			w.leavePlain(top, seen, cell, i)
			top.cur = noName
			return needMembers
		}
		w.names = w.names[:at+1]
		name := &w.names[at]
		name.at, name.text, name.n = i, from, end-from
		var first, last uint64
		if end-from < 8 {
			first = binary.LittleEndian.Uint64(b[from:from+8]) & (1<<(uint(end-from)*8&63) - 1)
		} else {
			first = binary.LittleEndian.Uint64(b[from : from+8])
			last = binary.LittleEndian.Uint64(b[end-8 : end])
		}
		name.tag = tagOfWords(first, last, end-from)
		top.cur = i
		i = next
		v, f = n.Unknown.Node, nil
		goto value
	}

find: // another name than what was predicted
	w.st = atName
	w.leavePlain(top, seen, cell, i)
	top.cur = noName
	return needField

leaveName:
	w.st = atName
	top.cur = noName
	goto leave

leaveValue:
	switch {
	case top.kind == inArray:
		w.st = atElement
	case f == nil:
		w.st, w.value = atValue, v
	default:
		seen &^= f.Bit // the machine looks at the field again
		w.st, w.field = atField, f
	}

leave:
	w.leavePlain(top, seen, cell, i)
	return needMachine
}

// leavePlain notes the state of plain.
func (w *walker) leavePlain(top *frame, seen uint64, cell int32, i int) {
	w.pos = i
	top.seen, top.cell = seen, cell
	w.firstName, w.firstWord = top.names, top.words
}
