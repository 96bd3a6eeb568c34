package decoder

import (
	"cmp"
	"slices"
)

// A loser is a member that a later one of the same name replaces, or some that follow each other
// in one object with no white space before their commas: that stays, whichever way a member goes.
type loser struct {
	at   int // where the name starts
	next int // where the name of the member behind it does: there is one
}

// lose notes that the member is replaced whose name starts at at.
func (w *walker) lose(at, next int) {
	if last := len(w.losers) - 1; last >= 0 && w.losers[last].next == at {
		if comma := blanksBefore(w.b, at) - 1; w.b[comma-1] > ' ' {
			w.losers[last].next = next
			return
		}
	}
	w.losers = append(roomier(w.memory, w.losers), loser{at, next})
}

// collectRepeats notes where names repeat in src, and which members lose.
func (w *walker) collectRepeats(src []byte) (at int, st status) {
	w.losers, w.seconds = w.losers[:0], w.seconds[:0]
	w.collecting = true
	at, st = w.skip(src, 0, 0, true)
	w.collecting = false
	return at, st
}

// runWithoutLosers walks a document in which names repeat.
func (w *walker) runWithoutLosers(dst, src []byte) status {
	// Findings about the members that stay come from the last walk; those about
	// repetitions are found everywhere, in members that go as well.
	w.findings.reset()
	w.start(dst)
	w.b, w.eof = src, true
	w.lastSecond = len(src)
	at, st := w.collectRepeats(src)
	if st != done {
		w.pos = at
		return st
	}
	if most := w.limits.Findings; len(w.seconds) > most {
		// Objects close from the inside out. Those findings are kept that come
		// first in the document, which are known by now: if these were not found first,
		// they are looked for once more.
		found := slices.Max(w.seconds[:most])
		slices.Sort(w.seconds)
		if w.lastSecond = w.seconds[most-1]; w.lastSecond != found {
			omitted := len(w.seconds) - most
			w.findings.reset()
			w.start(dst)
			w.collectRepeats(src)
			w.omitted += omitted
			w.strict += omitted
		}
	}
	slices.SortFunc(w.losers, func(a, b loser) int { return cmp.Compare(a.at, b.at) })
	w.start(dst)
	w.cutting = true
	for losers := w.losers; len(losers) > 0; {
		// The machine stops where the window ends: before the member that is to go,
		// unless that is within something that is dropped anyway.
		if st := w.run(src[:losers[0].at], false); st != cut {
			return st
		}
		if w.st == inDropped {
			w.passDropped(src)
		} else {
			w.passLoser(src, losers[0])
		}
		for len(losers) > 0 && losers[0].at < w.pos {
			losers = losers[1:]
		}
	}
	return w.run(src, true)
}

// passLoser drops a member, which the machine has stopped before. What is in it was validated.
func (w *walker) passLoser(src []byte, l loser) {
	w.flush(src, w.member)
	w.passTo(blanksBefore(src, blanksBefore(src, l.next)-len(",")))
}

// blanksBefore returns where the white space starts that ends at i, in valid JSON.
func blanksBefore(src []byte, i int) int {
	for src[i-1] <= ' ' {
		i--
	}
	return i
}

// passDropped goes to the end of the value within which the machine has stopped.
func (w *walker) passDropped(src []byte) {
	w.b, w.eof = src, true
	end, _ := w.skip(src, w.pos, w.sp, false)
	w.passTo(end)
}

// passTo goes on behind a value that is dropped.
func (w *walker) passTo(end int) { w.pos, w.flushed, w.st = end, end, afterMember }
