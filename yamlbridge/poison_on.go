//go:build poison

package yamlbridge

import "math"

// poison overwrites all that is left of the document before in the reader's buffers. Under the
// build tag of its name it is called before each document, so that tests see what would leak
// from one to another.
func (r *Reader) poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	bad := span{number, number}
	fill(r.text, text)
	fill(r.scratch, text)
	fill(r.unescaped, text)
	fill(r.breaks, text)
	fill(r.side, text)
	fill(r.blocks, block{number, number})
	fill(r.stack, frame{column: number, start: number, anchor: number, height: number, state: text, next: text})
	for _, t := range []*trail{&r.main, &r.aside} {
		fill(t.marks, mark{math.MaxUint32, math.MaxUint32})
		fill(t.copies, copied{number, number, number, true})
	}
	fill(r.anchors, anchor{name: bad.packed(), at: bad.packed(), open: true, height: number})
	fill(r.byName.slots, math.MaxUint64)
	fill(r.names.slots, math.MaxUint64)
	fill(r.names.spare, math.MaxUint64)
	fill(r.typed, typedKey{at: number})
	fill(r.merges, merging{at: number, value: number})
	fill(r.sources, source{span: bad, anchor: number, depth: number})
	fill(r.found, source{span: bad, anchor: number, depth: number})
	fill(r.merged, bad)
}

// fill fills a slice to its capacity.
func fill[T any](list []T, with T) {
	list = list[:cap(list)]
	for i := range list {
		list[i] = with
	}
}
