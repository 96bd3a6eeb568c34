package walk

import (
	"math/bits"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// NOTE: how a stream validates values. Nobody can look at the result again when the document has
// ended, as most of it is gone. So the document is judged in parts. A part is a scalar with rules, a
// value of a wrong type, or an object or array whose rules need its contents (Checks.Whole). It stays
// in the window until it has ended. If the walk is in doubt then, the Judge gets its text. Other
// objects and arrays are judged when they end, without what is in them.
//
// All of this is in machine. Walker.simple does not walk over such streams.

// A Judge decides about what a walk over a stream is not sure of.
type Judge interface{ Judge(q *Question) }

// A Question is about a part of the document. The path to the part is [Walker.AppendPath] with
// Depth, and with Field if there is one. All of it is valid during the call only.
type Question struct {
	Kind     QuestionKind
	Node     *program.Node
	Text     []byte         // of a value or a default
	Field    *program.Field // whose default it is, or nil
	Depth    int
	At       int             // where the part starts in the window
	Position errors.Position // of the part, if it starts before the window
	Has      uint64          // the fields that an object has in the result
	Nulls    []Null          // of the fields of an object, that were dropped or replaced
	Elements int             // of an array
}

// A QuestionKind says what is to be judged.
type QuestionKind uint8

const (
	OfValue   QuestionKind = iota
	OfDefault              // that is inserted into the part, or replaces it
	OfObject               // its own rules, without those of its members
	OfArray                // its own rules, without those of its elements
)

// parts is what a walk over a stream keeps for its Judge.
type parts struct {
	part   part
	places []place // of the open objects and arrays, by frame
	nulls  []Null  // of the open objects
}

// A part is the value that is judged as a whole. It has no node if there is none.
type part struct {
	node  *program.Node
	sp    int // of the frame that it is in
	start int
}

// A place is that of an open object or array.
type place struct {
	at       int // in the window, or -1
	position errors.Position
	dropped  uint64 // the fields of an object whose null was dropped or replaced
	nulls    int    // where its nulls begin
}

// A Null is one of a declared field that was dropped, or replaced by a default.
type Null struct {
	Field    *program.Field
	At       int             // in the window, or -1
	Position errors.Position // instead of At
}

func (p *parts) start() { p.part.node, p.places, p.nulls = nil, p.places[:0], p.nulls[:0] }

// openPlace notes where the container of the current frame starts.
func (w *Walker) openPlace(at int) {
	if len(w.places) > w.sp { // of a container before this one
		w.nulls = w.nulls[:w.places[w.sp].nulls]
		w.places = w.places[:w.sp]
	}
	for len(w.places) <= w.sp {
		w.places = append(memory.RoomForOne(w.account, w.places), place{at: at, nulls: len(w.nulls)})
	}
}

// closePlaces forgets the places of containers that have ended.
func (w *Walker) closePlaces() {
	if open := w.sp + 1; len(w.places) > open {
		w.nulls = w.nulls[:w.places[open].nulls]
		w.places = w.places[:open]
	}
}

// enterPart looks at the rules for the value at i, whose node is v, and makes it a part if it is one.
func (w *Walker) enterPart(b []byte, i int, v *program.Node) {
	switch c, t := v.Checks, program.FirstTypes[b[i]]; {
	case w.part.node == nil:
		isContainer := t&(program.Object|program.Array) != 0
		if c.Types&t == t && (isContainer && !c.Whole || !isContainer && !c.Scalar) {
			return
		}
		w.part = part{v, w.sp, i}
	case w.part.sp == w.sp: // the window ended in a number or a literal
		w.Doubt = false
	}
	w.checkValue(b, i, v)
}

// leavePart ends the part, whose text ends before end.
func (w *Walker) leavePart(b []byte, end int) {
	n := w.part.node
	w.part.node = nil
	if w.Doubt {
		w.Judge.Judge(&Question{Kind: OfValue, Node: n, Text: b[w.part.start:end], Depth: w.sp, At: w.part.start})
	}
	w.values.start()
}

// isJudged reports whether the current container is in no part, and so judged without its contents.
func (w *Walker) isJudged() bool { return w.Judge != nil && w.part.node == nil }

// judgeObject judges the current object, of node n, which ends after the fields that were seen.
func (w *Walker) judgeObject(n *program.Node, seen uint64) {
	c, p := n.Checks, &w.places[w.sp]
	if !c.Object {
		return
	}
	sent := seen &^ p.dropped
	has, inserted := sent|n.Defaulted, c.Doubtful&^sent
	doubt := c.Required&^has != 0 || junctorsDoubt(c, has)
	if !doubt && inserted == 0 {
		return
	}
	w.closePlaces()
	q := &Question{Kind: OfObject, Node: n, Depth: w.sp - 1, Has: has, Nulls: w.nulls[p.nulls:], At: p.at, Position: p.position}
	if doubt {
		w.Judge.Judge(q)
	}
	q.Kind = OfDefault
	for ; inserted != 0; inserted &= inserted - 1 {
		q.Field = &n.Fields[bits.TrailingZeros64(inserted)]
		q.Node, q.Text = q.Field.Node, []byte(q.Field.Default)
		w.Judge.Judge(q)
	}
}

// judgeArray judges the current array, of node n.
func (w *Walker) judgeArray(n *program.Node, elements int) {
	if p := &w.places[w.sp]; !n.Checks.Rules.Items.Allow(elements) {
		w.Judge.Judge(&Question{
			Kind: OfArray, Node: n, Depth: w.sp - 1, Elements: elements, At: p.at, Position: p.position,
		})
	}
}

// judgeNull looks at the null at i in the current container, which is dropped or replaced by the edge
// e: that of field f, or of other members or elements.
func (w *Walker) judgeNull(i int, f *program.Field, e *program.Edge) {
	switch {
	case f != nil && e == &f.Edge:
		w.places[w.sp].dropped |= f.Bit // its default is judged with the object
		w.closePlaces()
		w.nulls = append(memory.RoomForOne(w.account, w.nulls), Null{Field: f, At: i})
	case e.Null != program.DropNull && e.Node.Checks != nil:
		w.Judge.Judge(&Question{Kind: OfDefault, Node: e.Node, Text: []byte(e.Default), Depth: w.sp, At: i})
	}
}

// AppendPath appends the path of the frames, to a depth. The names are copies.
func (w *Walker) AppendPath(path []errors.Segment, depth int) []errors.Segment {
	for i := range depth {
		name, index := w.frameSegment(i)
		path = append(path, errors.Segment{Name: string(name), Index: index, IsName: name != nil})
	}
	return path
}

// neededForPart returns from where on the window is needed, which is not after from.
func (w *Walker) neededForPart(from int) int {
	if w.part.node != nil {
		return min(from, w.part.start)
	}
	return from
}

// leavePlaces moves all places when the first n bytes leave the window. A container starts before
// those in it, so the loops end at the first one that has left.
func (w *Walker) leavePlaces(n int) {
	w.part.start -= n
	for i := len(w.places) - 1; i >= 0 && w.places[i].at >= 0; i-- {
		w.places[i].at = left(w.places[i].at, n)
	}
	for i := len(w.nulls) - 1; i >= 0 && w.nulls[i].At >= 0; i-- {
		w.nulls[i].At = left(w.nulls[i].At, n)
	}
}

// left returns an index of the window after n bytes have left it.
func left(at, n int) int { return max(at-n, -1) }

// wantPlaces asks for the positions of the places in the first n bytes of the window, before these
// are located and leave.
func (w *Walker) wantPlaces(n int) {
	w.closePlaces()
	for i := len(w.nulls) - 1; i >= 0 && w.nulls[i].At >= 0; i-- {
		if p := &w.nulls[i]; p.At < n {
			w.Found.WantRoom(w.account, 1)
			w.Found.Want(p.At, &p.Position)
		}
	}
	for i := len(w.places) - 1; i >= 0 && w.places[i].at >= 0; i-- {
		if p := &w.places[i]; p.at < n {
			w.Found.WantRoom(w.account, 1)
			w.Found.Want(p.at, &p.position)
		}
	}
}

// placeBytes returns the memory for places, in bytes.
func (w *Walker) placeBytes() int {
	const perPlace = 64
	return perPlace * (len(w.places) + len(w.nulls))
}
