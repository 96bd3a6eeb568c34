//go:build poison

package findings

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
)

// Poison overwrites what the document before has left in the buffers, for tests to
// see whether anybody reads it.
func (c *Collector) Poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	memory.Fill(c.spelled, text)
	memory.Fill(c.paths, text)
	memory.Fill(c.texts, text)
	memory.Fill(c.records, Record{Kind: text, At: number, path: number, end: number, sort: number, text: number})
	memory.Fill(c.order, ordered{key: math.MaxUint64, at: number, rank: text})
	memory.Fill(c.wanted, wantedPosition{at: number})
	memory.Fill(c.List, errors.Finding{Kind: text})
}
