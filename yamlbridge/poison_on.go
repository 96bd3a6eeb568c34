//go:build poison

package yamlbridge

import (
	"math"

	"github.com/espalier-dev/espalier/internal/memory"
)

// poison overwrites everything that the last document has left in the reader's buffers. With the
// build tag poison it is called before each document, so that tests see what would leak from one
// document to the next.
func (r *Reader) poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	bad := span{number, number}
	memory.Fill(r.text, text)
	memory.Fill(r.scratch, text)
	memory.Fill(r.unescaped, text)
	memory.Fill(r.breaks, text)
	memory.Fill(r.side, text)
	r.lines.Poison()
	memory.Fill(r.stack, frame{
		column: number, start: number, anchor: number, height: number, state: text, next: text,
	})
	for _, t := range []*trail{&r.main, &r.aside} {
		memory.Fill(t.marks, mark{math.MaxUint32, math.MaxUint32})
		memory.Fill(t.copies, copied{number, number, number, true})
	}
	memory.Fill(r.anchors, anchor{name: bad.packed(), at: bad.packed(), open: true, height: number})
	memory.Fill(r.byName.slots, math.MaxUint64)
	memory.Fill(r.names.slots, math.MaxUint64)
	memory.Fill(r.names.spare, math.MaxUint64)
	memory.Fill(r.typed, typedKey{at: number})
	memory.Fill(r.merges, merging{at: number, value: number})
	memory.Fill(r.sources, source{span: bad, anchor: number, depth: number})
	memory.Fill(r.found, source{span: bad, anchor: number, depth: number})
	memory.Fill(r.merged, bad)
}
