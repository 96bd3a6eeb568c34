package yamlbridge

import (
	"strings"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// hold gives a slice capacity, and returns how many bytes that takes.
func hold[T any](s *[]T) int {
	*s = make([]T, 0, 1<<10)
	return cap(*s) * int(unsafe.Sizeof(*new(T)))
}

// TestNothingOfEmptyDocuments holds that empty documents before the one that is read leave no marks.
func TestNothingOfEmptyDocuments(t *testing.T) {
	var r Reader
	out, err := r.AppendJSON(nil, []byte(strings.Repeat("%YAML 1.1\n---\n...\n", 100)+"a"))
	require.NoError(t, err)
	assert.Equal(t, `"a"`, string(out))
	assert.Len(t, r.main.marks, 1)
}

// TestCapCounts holds that Cap counts everything that a reader keeps.
func TestCapCounts(t *testing.T) {
	for name, grow := range map[string]func(r *Reader) int{
		"lines": func(r *Reader) int {
			r.lines.Start(make([]byte, 100<<10), 0)
			r.lines.At(0)
			assert.Positive(t, r.lines.Held())
			return r.lines.Held()
		},
		"text":  func(r *Reader) int { return hold(&r.text) },
		"stack": func(r *Reader) int { return hold(&r.stack) }, "marks": func(r *Reader) int { return hold(&r.main.marks) },
		"copies": func(r *Reader) int { return hold(&r.main.copies) }, "scratch": func(r *Reader) int { return hold(&r.scratch) },
		"unescaped": func(r *Reader) int { return hold(&r.unescaped) }, "breaks": func(r *Reader) int { return hold(&r.breaks) },
		"anchors": func(r *Reader) int { return hold(&r.anchors) }, "side": func(r *Reader) int { return hold(&r.side) },
		"marks aside": func(r *Reader) int { return hold(&r.aside.marks) }, "copies aside": func(r *Reader) int { return hold(&r.aside.copies) },
		"typed": func(r *Reader) int { return hold(&r.typed) }, "merges": func(r *Reader) int { return hold(&r.merges) },
		"sources": func(r *Reader) int { return hold(&r.sources) }, "merged": func(r *Reader) int { return hold(&r.merged) },
		"found": func(r *Reader) int { return hold(&r.found) }, "by name": func(r *Reader) int { return hold(&r.byName.slots) },
		"names": func(r *Reader) int { return hold(&r.names.slots) }, "spare": func(r *Reader) int { return hold(&r.names.spare) },
	} {
		var r Reader
		assert.Equal(t, grow(&r), r.Cap(), name)
	}
}
