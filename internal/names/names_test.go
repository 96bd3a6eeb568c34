package names

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/memory"
)

// TestShare asserts that nothing more is done about names that have different bits in the filter,
// which has 16 to 32 bits for each name.
func TestShare(t *testing.T) {
	for count := MaxPairwise + 1; count < 500; count++ {
		list := make([]Name, count)
		for i := range list {
			list[i].Tag = uint32(i)
		}
		s := Make(new(memory.Account))
		s.share(list)
		assert.Empty(t, s.shared)
		bits := uint32(64 * len(s.filter))
		assert.Greater(t, bits, uint32(16*count))
		assert.LessOrEqual(t, bits, uint32(32*count))

		list[count-2].Tag = bits + 7 // the same bit as for 7
		s.share(list)
		assert.Equal(t, []int32{7, int32(count - 2)}, s.shared)
	}
}

// TestForget asserts that names are forgotten together with their copied texts.
func TestForget(t *testing.T) {
	b := []byte(`{"plain":1,"\u0061b":2,"next":3,"\u0063":4}`)
	for first, arena := range []string{"", "", "ab", "ab", "abc"} {
		s := Make(new(memory.Account))
		s.Start()
		for _, text := range []string{"plain", `\u0061b`, "next", `\u0063`} {
			at := strings.Index(string(b), text)
			s.Add(b, at, at+len(text), text[0] == '\\')
		}
		require.Equal(t, "abc", string(s.copies))
		s.Forget(first)
		assert.Len(t, s.Names, first)
		assert.Equal(t, arena, string(s.copies))
	}
}

// TestHeld asserts that everything that a stack keeps is counted.
func TestHeld(t *testing.T) {
	for name, grow := range map[string]func(s *Stack) int{
		"Names": func(s *Stack) int { return hold(&s.Names) }, "Levels": func(s *Stack) int { return hold(&s.Levels) },
		"Left": func(s *Stack) int { return hold(&s.Left) }, "Groups": func(s *Stack) int { return hold(&s.Groups) },
		"copies": func(s *Stack) int { return hold(&s.copies) }, "moved": func(s *Stack) int { return hold(&s.moved) },
		"filter": func(s *Stack) int { return hold(&s.filter) }, "shared": func(s *Stack) int { return hold(&s.shared) },
		"few": func(s *Stack) int { return hold(&s.few) }, "table": func(s *Stack) int { return hold(&s.table) },
	} {
		s := Make(new(memory.Account))
		before := s.Held()
		grown := grow(&s)
		assert.Positive(t, grown, name)
		assert.Equal(t, grown, s.Held()-before, name)
		s.Drop()
		assert.Zero(t, s.Held(), name)
	}
}

// hold replaces a list by one of another capacity, and returns by how many bytes it has grown.
func hold[T any](list *[]T) int {
	was := cap(*list)
	*list = make([]T, 0, 1<<12)
	return (cap(*list) - was) * int(unsafe.Sizeof(*new(T)))
}
