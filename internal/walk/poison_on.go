//go:build poison

package walk

import (
	"math"

	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/names"
	"github.com/espalier-dev/espalier/internal/program"
)

var poisoned = &program.Node{}

// Poison overwrites what the document before has left in the buffers, for tests to
// see whether anybody reads it.
func (w *Walker) Poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	memory.Fill(w.opened, text)
	memory.Fill(w.last, text)
	memory.Fill(w.padded, text)
	memory.Fill(w.scratch, text)
	memory.Fill(w.frames, frame{
		node: poisoned, seen: math.MaxUint64, words: number, names: number,
		cur: names.Place(number), cell: number, kind: text,
	})
	memory.Fill(w.words, math.MaxUint64)
	memory.Fill(w.superseded, span{number, number})
	memory.Fill(w.seconds, number)
	memory.Fill(w.segments, pathSegment{number, number, number})
	memory.Fill(w.Observed.Metadata, Metadata{At: number, Source: number})
	w.skip.Poison()
	w.Found.Poison()
}
