//go:build poison

package values

import (
	"math"

	"github.com/espalier-dev/espalier/internal/memory"
)

// Poison overwrites all that is left of the texts before in the buffers, for tests to see what
// would leak from one to another. It is there under the build tag of its name.
func (m *Maker) Poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	memory.Fill(m.chunks.text, text)
	memory.Fill(m.unescaped, text)
	memory.Fill(m.entries, entry{math.MaxUint64, math.MaxUint64})
	memory.Fill(m.open, openContainer{entry: number, cell: number})
	memory.Fill(m.parents, parent{left: number})
}
