//go:build poison

package decoder

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
)

// poisoned is a node that nothing may be found in.
var poisoned = &program.Node{}

// poison overwrites all that is left of the document before in the decoder's buffers. Under the
// build tag of its name it is called before each document and by Pool.Put, so that tests see what
// would leak from one document to another. Texts that may be what is read next are left to
// poisonTexts.
func (d *Decoder) poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	w := &d.walker
	memory.Fill(d.result, text)
	memory.Fill(d.output, text)
	memory.Fill(d.scratch, text)
	memory.Fill(w.opened, text)
	memory.Fill(w.roomy, text)
	memory.Fill(w.arena, text)
	memory.Fill(w.findings.scratch, text)
	memory.Fill(w.paths, text)
	memory.Fill(w.texts, text)

	memory.Fill(w.frames, frame{node: poisoned, seen: math.MaxUint64, words: number, names: number, cur: number, cell: number, kind: text})
	memory.Fill(w.words, math.MaxUint64)
	memory.Fill(w.outer, math.MaxUint64)
	memory.Fill(w.names, name{at: number, text: number, n: number, tag: number & math.MaxUint32, group: number})
	memory.Fill(w.few, name{at: number, text: number, n: number})
	memory.Fill(w.levels, level{names: number, index: number, tags: math.MaxUint64})
	memory.Fill(w.left, errors.Position{Line: number})
	memory.Fill(w.filter, math.MaxUint64)
	memory.Fill(w.shared, number)
	memory.Fill(w.table, math.MaxUint32)
	memory.Fill(w.losers, loser{number, number})
	memory.Fill(w.seconds, number)
	memory.Fill(w.groups, group{number, number, number, number})
	memory.Fill(w.records, record{kind: text, at: number, path: number, end: number, sort: number, text: number})
	memory.Fill(w.order, ordered{key: math.MaxUint64, at: number, rank: text})
	memory.Fill(w.places, place{at: number})
	memory.Fill(w.list, errors.Finding{Kind: text})
	memory.Fill(w.steps, pathStep{number, number, number})

	memory.Fill(w.metadata, metadataSpan{at: number, source: number})

	d.values.Poison()
}

// poisonTexts does it for texts, of which one may be what is read next.
func (d *Decoder) poisonTexts() {
	memory.Fill(d.stream, 0xdb)
	memory.Fill(d.json, 0xdb)
	memory.Fill(d.repaired.text, 0xdb)
}
