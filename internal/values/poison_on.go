//go:build poison

package values

import (
	"math"

	"github.com/espalier-dev/espalier/internal/memory"
)

// Poison overwrites the rests of earlier texts in the buffers, so that tests see whether anything
// leaks from one text to another. It exists under the build tag poison.
func (m *Maker) Poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	memory.Fill(m.chunks.text, text)
	memory.Fill(m.unescaped, text)
	memory.Fill(m.defaulted, text)
	memory.Fill(m.entries, entry{math.MaxUint64, math.MaxUint64})
	memory.Fill(m.open, openContainer{entry: number, cell: number})
	memory.Fill(m.parents, parent{left: number})
}
