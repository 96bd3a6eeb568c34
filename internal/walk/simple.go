package walk

// NOTE: Walker.simple is Walker.machine for the simple part of a document: declared
// fields in objects and arrays that are not kept whole, far from the end of the
// window. It judges nothing but how many elements an array has. At whatever is unusual
// or invalid it leaves the state as if the window had ended there. The machine goes on
// from it, and hands over to simple again after a comma.
//
// What simple leaves out is what makes it fast. It calls nothing, so that its variables
// stay in registers; a function that calls others would store all of them at each
// label. What needs a call is done by walkSimple in between.

import (
	"encoding/binary"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A need is the reason why simple ends.
type need uint8

const (
	needMachine  need = iota // the machine is to go on
	needField                // of the name at w.pos
	needString               // the rest of the string at w.pos
	needNumber               // the number at w.pos
	needKept                 // the value at w.pos, which is kept whole
	needDefaults             // for the object that ends at w.pos
	needMembers              // of a large map, from the name at w.pos on
	needRules                // for the scalar of node w.value at w.pos
	needArray                // for the array that ends at w.pos
)

// The labels at which simple goes on.
const (
	simpleRoot = iota
	simpleName
	simpleField
	simpleElement
	simpleAfter
	simpleAfterMember
	simplePop
)

// smallDocument is the length up to which a document is copied, to have skip.Slack bytes
// after it. Otherwise the machine would spend a tenth of the time for 1 kB on the last
// 24 bytes, which simple leaves.
const smallDocument = 4 << 10

var noText [skip.Slack]byte

// pad returns a copy of a document for simple, with bytes after it that are no JSON:
// simple gets as far as in the document itself, and up to its end.
func (w *Walker) pad(b []byte) []byte {
	w.padded = append(append(w.padded[:0], b...), noText[:]...)
	return w.padded
}

// walkSimple goes on at a label, as far as the document is simple. Then it returns
// handedOver, or how the walk has ended. padded is the window, or for a small document
// its copy from pad.
func (w *Walker) walkSimple(b, padded []byte, label int) skip.Status {
	for {
		steps.Add(1)
		switch w.simple(padded, label) {
		case needMachine:
			return handedOver
		case needField:
			var st skip.Status
			if label, st = w.simpleMember(b); st != skip.Done {
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
			label = simpleAfter
		case needNumber:
			end, st := w.skip.Number(b, w.pos)
			if st != skip.Done {
				return handedOver // the machine says what is wrong
			}
			w.pos = end
			label = simpleAfter
		case needKept:
			w.st = inKept
			if st := w.skipValue(b, !w.withoutSuperseded); st != skip.Done {
				return st
			}
			if w.sp == 0 {
				w.st = atEnd
				return handedOver
			}
			label = simpleAfter
		case needMembers:
			if !w.stringMembers(b) {
				return handedOver
			}
			label = simpleName
		case needDefaults:
			top := &w.frames[w.sp]
			if top.node.Checks != nil {
				w.closeRuled(top.node, top.seen)
			}
			if top.node.Defaulted&^top.seen != 0 {
				w.closeWithDefaults(b, w.pos, top.node, top.seen, w.kept)
			}
			label = simplePop
		case needRules:
			if !w.ruledScalar(b) {
				return handedOver
			}
			label = simpleAfter
		case needArray:
			top, elements := &w.frames[w.sp], 0
			if w.st == afterElement {
				elements = int(top.cur) + 1
			}
			if top.node.Checks != nil {
				w.closeArray(top.node, elements)
			}
			label = simplePop
		}
	}
}

// simpleMember finds the field whose name starts at w.pos, and goes to its value. It
// drops the member if its name is not declared.
func (w *Walker) simpleMember(b []byte) (label int, st skip.Status) {
	top := &w.frames[w.sp]
	start := w.pos
	if b[start] != '"' {
		return 0, handedOver
	}
	end, escaped, s := jsonwire.ScanString(b, start+1)
	if s != jsonwire.OK || escaped ||
		end-start-1 > w.skip.NameBytes || jsonwire.At(b, end+1) != ':' {
		return 0, handedOver
	}
	f := top.node.Find(b[start+1 : end])
	if f == nil && top.node.DropsNulls {
		return 0, handedOver
	}
	top.cur, w.pos = names.Place(start), end+len(`":`)
	if f != nil {
		w.predicted[top.cell], w.field = f, f
		return simpleField, skip.Done
	}
	w.dropUnknown(b, top.node, inObject, start, end, w.member, false)
	w.st, w.dropping = inDropped, w.Streaming
	if st := w.skipValue(b, w.Report && !w.withoutSuperseded); st != skip.Done {
		return 0, st
	}
	w.dropping, w.flushed = false, w.pos
	return simpleAfterMember, skip.Done
}

// skipValue skips the value at w.pos.
func (w *Walker) skipValue(b []byte, track bool) (st skip.Status) {
	w.pos, st = w.skip.Skip(b, w.pos, w.sp, track)
	if st == skip.Cut && w.skip.EOF {
		return skip.Bad
	}
	return st
}

// simple goes on at a label, up to where it needs somebody else. It calls nothing.
//
//espalier:nocalls
func (w *Walker) simple(b []byte, label int) need {
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
	switch label {
	case simpleRoot:
		v = w.value
		if jsonwire.At(b, i) != '{' {
			return needMachine
		}
		goto value
	case simpleField:
		f = w.field
		goto field
	case simpleElement:
		goto element
	case simpleAfter:
		goto after
	case simpleAfterMember:
		goto afterMember
	case simplePop:
		goto pop
	}

name: // after a comma
	if i < 0 || i > len(b)-skip.Slack {
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
	if i < 0 || i > len(b)-skip.Slack {
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
	top.cur = names.Place(i)
	i += len(f.Key)
	if len(f.Key) > 16 {
		if len(f.Key) > 32 || i < 16 || i > len(b) ||
			binary.LittleEndian.Uint64(b[i-16:i-8]) != f.Last[0] ||
			binary.LittleEndian.Uint64(b[i-8:i]) != f.Last[1] {
			i = int(top.cur)
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
	if i < 0 || i > len(b)-skip.Slack {
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
	if v.Types != program.Any {
		if v.Types&program.FirstTypes[c] == 0 || w.NoteType && v.Types&program.Soft == 0 {
			goto leaveValue
		}
		if v.Types&program.Ruled != 0 && c != '{' && c != '[' {
			goto ruled
		}
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
			w.leaveSimple(top, seen, cell, i)
			return needString
		}
		i++
		goto after
	}
	if c == '{' {
		if v.KeepObject && !w.withoutSuperseded {
			w.st = inKept
			w.leaveSimple(top, seen, cell, i)
			return needKept
		}
		if !v.SimpleObject || w.sp+1 >= len(w.frames) || w.sp >= w.skip.Depth {
			goto leaveValue
		}
		top.seen, top.cell = seen, cell
		w.sp++
		top = &w.frames[w.sp]
		seen, cell = 0, v.Cell
		top.node, top.kind, top.cur = v, inObject, noName
		top.names, top.words = len(w.skip.Names.Names), len(w.words)
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
		if v.KeepArray && !w.withoutSuperseded {
			w.st = inKept
			w.leaveSimple(top, seen, cell, i)
			return needKept
		}
		if !v.SimpleArray || w.sp+1 >= len(w.frames) || w.sp >= w.skip.Depth {
			goto leaveValue
		}
		top.seen, top.cell = seen, cell
		w.sp++
		top = &w.frames[w.sp]
		top.node, top.kind, top.cur = v, inArray, 0
		top.names, top.words = len(w.skip.Names.Names), len(w.words)
		seen = v.Awaited
		i++
		c = jsonwire.At(b, i)
		for c <= ' ' && jsonwire.IsBlank(c) {
			i = jsonwire.PastBlank(b, i)
			c = jsonwire.At(b, i)
		}
		if c == ']' {
			if seen != 0 {
				w.st = atFirstElement
				goto closeArray
			}
			goto pop
		}
		if c != 0 {
			goto element
		}
		w.st = atFirstElement
		goto leave
	}
	if i < 0 || i > len(b)-skip.Slack {
		goto leaveValue
	}
	if c-'0' <= 9 {
		digits := jsonwire.Digits(binary.LittleEndian.Uint64(b[i : i+8]))
		next := b[i+digits]
		if digits > 7 || digits > w.skip.NumberBytes ||
			c == '0' && digits > 1 || next == '.' || next|0x20 == 'e' {
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
	w.leaveSimple(top, seen, cell, i)
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
	if last := len(w.skip.Names.Names); last > top.names {
		// A few names differ if their tags do. The machine does all else.
		if last-top.names > 8 || top.names < 0 || last > cap(w.skip.Names.Names) ||
			w.skip.Names.HasCopies() || len(w.skip.Names.Left) > 0 {
			w.st = afterMember
			goto leave
		}
		own := w.skip.Names.Names[top.names:last]
		for x := 1; x < len(own); x++ {
			for y := range x {
				if own[x].Tag == own[y].Tag {
					w.st = afterMember
					goto leave
				}
			}
		}
		w.skip.Names.Names = w.skip.Names.Names[:top.names]
	}
	if n.Awaited&^seen != 0 {
		w.st = afterMember
		w.leaveSimple(top, seen, cell, i)
		if w.DefaultsLeft < len(n.AllDefaults) {
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
	if seen != 0 {
		w.st = afterElement
		goto closeArray
	}

pop: // after the last byte of a container
	i++
	w.sp--
	top = &w.frames[w.sp]
	seen, cell = top.seen, top.cell
	n = top.node
	switch top.kind {
	case inObject:
		w.kept = true
		if n.SimpleObject {
			goto afterMember
		}
		w.st = afterMember
	case inArray:
		if n.SimpleArray {
			goto afterElement
		}
		w.st = afterElement
	default:
		w.st = atEnd
	}
	goto leave

undeclared: // a name in an object that keeps what it does not declare
	{
		if b[i] != '"' || len(w.skip.Names.Names) == cap(w.skip.Names.Names) {
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
		if b[end] != '"' || end-from > w.skip.NameBytes ||
			end < 0 || end > len(b)-skip.Slack || b[end+1] != ':' {
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
		at := len(w.skip.Names.Names)
		if at&(largeMap-1) == largeMap-1 && at-top.names >= largeMap {
			w.st = atName
			w.leaveSimple(top, seen, cell, i)
			top.cur = noName
			return needMembers
		}
		w.skip.Names.Names = w.skip.Names.Names[:at+1]
		name := &w.skip.Names.Names[at]
		name.At, name.Text, name.Size = names.Place(i), names.Place(from), end-from
		var first, last uint64
		if end-from < 8 {
			first = binary.LittleEndian.Uint64(b[from:from+8]) & (1<<(uint(end-from)*8&63) - 1)
		} else {
			first = binary.LittleEndian.Uint64(b[from : from+8])
			last = binary.LittleEndian.Uint64(b[end-8 : end])
		}
		name.Tag = names.TagOfWords(first, last, end-from)
		top.cur = names.Place(i)
		i = next
		v, f = n.Unknown.Node, nil
		goto value
	}

closeArray: // of a node that awaits something
	if c := top.node.Checks; c != nil && c.Counted {
		elements := 0
		if w.st == afterElement {
			elements = int(top.cur) + 1
		}
		if c.Rules.Items.Allow(elements) {
			goto pop
		}
	}
	w.leaveSimple(top, seen, cell, i)
	return needArray

ruled: // a scalar with rules
	if c == 'n' {
		goto leaveValue
	}
	if top.kind == inArray {
		w.st = atElement
	} else {
		w.st, w.field = atValue, f
	}
	w.value = v
	w.leaveSimple(top, seen, cell, i)
	return needRules

find: // another name than the predicted one
	w.st = atName
	w.leaveSimple(top, seen, cell, i)
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
	w.leaveSimple(top, seen, cell, i)
	return needMachine
}

// leaveSimple notes the state of simple.
//
//espalier:inline
func (w *Walker) leaveSimple(top *frame, seen uint64, cell int32, i int) {
	w.pos = i
	top.seen, top.cell = seen, cell
	w.firstName, w.firstWord = top.names, top.words
}
