//go:build poison

package names

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
)

// Poison overwrites what the document before has left in the buffers, for tests
// to see whether anybody reads it.
func (s *Stack) Poison() {
	const text, number = 0xdb, math.MinInt32 + 0xdb
	memory.Fill(s.copies, text)
	memory.Fill(s.moved, text)
	memory.Fill(s.Names, Name{At: number, Text: number, Size: number, Tag: number & math.MaxUint32, Group: number})
	memory.Fill(s.few, Name{At: number, Text: number, Size: number})
	memory.Fill(s.Levels, Level{Names: number, Index: number, Tags: math.MaxUint64})
	memory.Fill(s.Left, errors.Position{Line: number})
	memory.Fill(s.filter, math.MaxUint64)
	memory.Fill(s.shared, number)
	memory.Fill(s.table, math.MaxUint32)
	memory.Fill(s.Groups, Group{number, number, number, number})
}
