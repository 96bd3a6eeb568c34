//go:build poison

package decoder

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
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
	fill(d.result, text)
	fill(d.output, text)
	fill(d.scratch, text)
	fill(w.opened, text)
	fill(w.roomy, text)
	fill(w.arena, text)
	fill(w.findings.scratch, text)
	fill(w.paths, text)
	fill(w.texts, text)

	fill(w.frames, frame{node: poisoned, seen: math.MaxUint64, words: number, names: number, cur: number, cell: number, kind: text})
	fill(w.words, math.MaxUint64)
	fill(w.outer, math.MaxUint64)
	fill(w.names, name{at: number, text: number, n: number, tag: number & math.MaxUint32, group: number})
	fill(w.few, name{at: number, text: number, n: number})
	fill(w.levels, level{names: number, index: number, tags: math.MaxUint64})
	fill(w.left, errors.Position{Line: number})
	fill(w.filter, math.MaxUint64)
	fill(w.shared, number)
	fill(w.table, math.MaxUint32)
	fill(w.losers, loser{number, number})
	fill(w.seconds, number)
	fill(w.groups, group{number, number, number, number})
	fill(w.records, record{kind: text, at: number, path: number, end: number, sort: number, text: number})
	fill(w.order, ordered{key: math.MaxUint64, at: number, rank: text})
	fill(w.places, place{at: number})
	fill(w.list, errors.Finding{Kind: text})
	fill(w.steps, pathStep{number, number, number})

	fill(w.metadata, metadataSpan{at: number, source: number})

	b := &d.builder
	fill(b.text, text)
	fill(b.unescaped, text)
	fill(b.entries, entry{math.MaxUint64, math.MaxUint64})
	fill(b.open, openContainer{entry: number, cell: number})
	fill(b.parents, parent{left: number})
}

// poisonTexts does it for texts, of which one may be what is read next.
func (d *Decoder) poisonTexts() {
	fill(d.stream, 0xdb)
	fill(d.json, 0xdb)
	fill(d.repaired.text, 0xdb)
}

// fill fills a slice to its capacity.
func fill[T any](list []T, with T) {
	list = list[:cap(list)]
	for i := range list {
		list[i] = with
	}
}
