package walk

import (
	"cmp"
	"math/bits"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/steps"
)

// NOTE: what happens where a name repeats in an object. The last value wins.
//
// In a whole document, the walk stops at the first repetition. Then skip goes through
// all of it, to collect the members that are superseded, and the walk starts anew and
// leaves these out.
//
// What a stream has sent cannot be taken back. So a repetition in what is kept is
// fatal there, and one in what is dropped is a finding.

// A span is a superseded member: a later one of its name replaces it. Some that follow
// each other in one object are one span, unless white space is before their commas:
// that stays, whichever way a member goes.
type span struct {
	at   int // where the name starts
	next int // where the name of the member after it starts: there is one
}

// supersession is what the walk knows of names that repeat.
type supersession struct {
	superseded        []span
	seconds           []int // where names are repeated first
	lastSecond        int   // up to where these are reported
	withoutSuperseded bool  // superseded members are being cut out: no name repeats any more
}

// supersede notes that the member is superseded whose name starts at at.
func (w *Walker) supersede(at, next int) {
	if last := len(w.superseded) - 1; last >= 0 && w.superseded[last].next == at {
		if comma := blanksBefore(w.b, at) - 1; w.b[comma-1] > ' ' {
			w.superseded[last].next = next
			return
		}
	}
	w.superseded = append(memory.RoomForOne(w.account, w.superseded), span{at, next})
}

// Repeats is called where a name repeats in an object that is skipped. It is the method
// of skip.Reporter.
func (w *Walker) Repeats(first int) (stop bool) {
	switch {
	case w.Streaming:
		w.collectOnStream(first, !w.dropping)
		return !w.dropping
	case w.skip.Names.Collecting:
		w.collect(first)
		return false
	}
	return true
}

// collect notes the repetitions among the names from first on: as findings, and as
// members that are superseded.
func (w *Walker) collect(first int) {
	n := &w.skip.Names
	n.Collect(w.b, first, w.supersede)
	if !w.Report {
		return
	}
	for i := range n.Groups {
		g := &n.Groups[i]
		second := g.Second.Index()
		w.seconds = append(memory.RoomForOne(w.account, w.seconds), second)
		if second <= w.lastSecond {
			leaf := &n.Names[first+g.First]
			r := findings.Record{
				Kind: errors.DuplicateField, At: second, First: leaf.At.Index(), Count: g.Count,
			}
			w.Found.Add(r, len(n.Levels), n.Segment(w.b, leaf))
		}
	}
}

// collectOnStream makes findings of the repetitions among the names from first on. If
// these names are kept, the first repetition is the record of an error, and nothing
// else is.
func (w *Walker) collectOnStream(first int, kept bool) {
	if kept {
		w.resetFindings()
		w.Found.ResetForError()
	}
	n := &w.skip.Names
	n.Collect(w.b, first, nil)
	for i := range n.Groups {
		g := &n.Groups[i]
		w.addDuplicate(&n.Names[first+g.First], g)
	}
	if !kept && len(n.Levels) == 0 {
		w.retractSuperseded(n.Names[first:])
	}
}

// addDuplicate adds the finding for a group of names on a stream.
func (w *Walker) addDuplicate(first *names.Name, g *names.Group) {
	n := &w.skip.Names
	r := findings.Record{Kind: errors.DuplicateField, Count: g.Count}
	if r.First = first.At.Index(); first.At.IsBeside() {
		r.FirstPosition = n.Left[r.First]
	}
	if r.At = g.Second.Index(); g.Second.IsBeside() {
		r.Position = n.Left[r.At]
		r.At = int(r.Position.Offset)
	}
	levels := len(n.Levels)
	if levels == 0 {
		w.Found.Add(r, w.sp, func(i int) ([]byte, int) {
			if i < w.sp-1 {
				return w.frameSegment(i)
			}
			return n.Text(w.b, first), 0
		})
		return
	}
	segment := n.Segment(w.b, first)
	w.Found.Add(r, w.sp+levels, func(i int) ([]byte, int) {
		if i < w.sp {
			return w.frameSegment(i)
		}
		return segment(i - w.sp)
	})
}

// retractSuperseded takes back the findings that names of the open object are unknown, or
// have a null that is dropped, if later ones replace them. Findings from before the object
// stay.
func (w *Walker) retractSuperseded(list []names.Name) {
	groups, records := w.skip.Names.Groups, w.Found.Records()
	first := len(records)
	for first > 0 && w.compareToRecord(list[0], &records[first-1]) <= 0 {
		first--
	}
	steps.Add((len(records) - first) * bits.Len(uint(len(list))))
	w.Found.Retract(first, func(r *findings.Record) bool {
		at, found := slices.BinarySearchFunc(list, r, w.compareToRecord)
		return found && list[at].Group != 0 && groups[list[at].Group-1].Last != at
	})
}

// compareToRecord compares where a name is with where the name of a finding is. If only
// one of them has left the window, that one comes first.
func (w *Walker) compareToRecord(n names.Name, r *findings.Record) int {
	switch located := r.Position.IsValid(); {
	case located && n.At.IsBeside():
		return cmp.Compare(w.skip.Names.Left[n.At.Index()].Offset, r.Position.Offset-int64(r.Back))
	case located:
		return 1
	case n.At.IsBeside():
		return -1
	}
	return cmp.Compare(n.At.Index(), r.At-r.Back)
}

// collectRepeats notes where names repeat in src, and which members are superseded.
func (w *Walker) collectRepeats(src []byte) (at int, st skip.Status) {
	w.superseded, w.seconds = w.superseded[:0], w.seconds[:0]
	w.skip.Names.Collecting = true
	at, st = w.skip.Skip(src, 0, 0, true)
	w.skip.Names.Collecting = false
	return at, st
}

// runWithoutSuperseded walks a document in which names repeat. The last walk finds what
// is wrong with the members that stay; repetitions are found before, also in members
// that go.
func (w *Walker) runWithoutSuperseded(dst, src []byte) skip.Status {
	w.look(src, true)
	if at, st := w.collectAll(dst, src); st != skip.Done {
		w.pos = at
		return st
	}
	slices.SortFunc(w.superseded, func(a, b span) int { return cmp.Compare(a.at, b.at) })
	w.start(dst)
	w.withoutSuperseded = true
	for spans := w.superseded; len(spans) > 0; {
		// The window ends before the member that goes. There the machine stops, unless
		// the member is within a value that is dropped anyway.
		if st := w.Run(src[:spans[0].at], false); st != skip.Cut {
			return st
		}
		if w.st == inDropped {
			w.passDropped(src)
		} else {
			w.dropSpan(src, spans[0])
		}
		for len(spans) > 0 && spans[0].at < w.pos {
			spans = spans[1:]
		}
	}
	return w.Run(src, true)
}

// collectAll collects the superseded members, and the findings about repetitions. Of
// these, the ones are kept that come first in the document. But objects close from the
// inside out: so if there are too many, and others were found first, the document is gone
// through once more, now that it is known where the last of the first ones is.
func (w *Walker) collectAll(dst, src []byte) (at int, st skip.Status) {
	w.resetFindings()
	w.start(dst)
	w.lastSecond = len(src)
	if at, st = w.collectRepeats(src); st != skip.Done || len(w.seconds) <= w.Found.Most {
		return at, st
	}
	most := w.Found.Most
	found := slices.Max(w.seconds[:most])
	slices.Sort(w.seconds)
	if w.lastSecond = w.seconds[most-1]; w.lastSecond == found {
		return at, st
	}
	omitted := len(w.seconds) - most
	w.resetFindings()
	w.start(dst)
	at, st = w.collectRepeats(src)
	w.Found.OmitStrict(omitted)
	return at, st
}

// dropSpan drops the members of a span, before which the machine has stopped. They
// were validated.
func (w *Walker) dropSpan(src []byte, s span) {
	w.flush(src, w.member)
	w.passTo(blanksBefore(src, blanksBefore(src, s.next)-len(",")))
}

// blanksBefore returns where the white space starts that ends at i, in valid JSON.
func blanksBefore(src []byte, i int) int {
	for src[i-1] <= ' ' {
		i--
	}
	return i
}

// passDropped goes to the end of the value within which the machine has stopped.
func (w *Walker) passDropped(src []byte) {
	w.look(src, true)
	end, _ := w.skip.Skip(src, w.pos, w.sp, false)
	w.passTo(end)
}

// passTo goes on after a value that is dropped.
func (w *Walker) passTo(end int) { w.pos, w.flushed, w.st = end, end, afterMember }
