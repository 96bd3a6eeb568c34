package findings

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// An index is a Locator whose positions have a line for each index.
type index struct{}

func (index) Position(at int) errors.Position {
	return errors.Position{Offset: int64(at), Line: at + 1, Column: 1, ByteColumn: 1}
}

// path returns the segments of a path of names.
func path(names ...string) (depth int, segment func(i int) ([]byte, int)) {
	return len(names), func(i int) ([]byte, int) { return []byte(names[i]), 0 }
}

func add(c *Collector, r Record, names ...string) {
	depth, segment := path(names...)
	c.Add(r, depth, segment)
}

// paths returns the paths of the list, in its order.
func paths(c *Collector) (texts []string) {
	for i := range c.List {
		texts = append(texts, c.List[i].Path.String())
	}
	return texts
}

// list makes the list of all records.
func list(c *Collector) {
	c.Locate(index{})
	c.Finish(&program.Node{}, false)
}

// TestOrder has a finding of each group: the server reports duplicates in the order of the
// document, then unknown fields of the root's metadata, then those that were pruned,
// sorted by path. What it does not report is last.
func TestOrder(t *testing.T) {
	c := Collector{Most: 10, MostBytes: 1000}
	add(&c, Record{Kind: errors.DroppedNull, At: 1}, "null")
	pruned := Unknown(program.Pruned)
	pruned.At = 2
	add(&c, pruned, "z")
	pruned.At = 3
	add(&c, pruned, "a")
	meta := Unknown(program.RootMetadata)
	meta.At = 4
	add(&c, meta, "metadata", "x")
	add(&c, Record{Kind: errors.DuplicateField, At: 9, First: 0, Count: 1}, "y")
	add(&c, Record{Kind: errors.DuplicateField, At: 8, First: 5, Count: 1}, "w")
	list(&c)
	assert.Equal(t, []string{"w", "y", "metadata.x", "a", "z", "null"}, paths(&c))
	assert.Equal(t, 9, c.List[0].Position.Line)
	assert.Equal(t, 6, c.List[0].First.Line)
	assert.Equal(t, 5, c.Strict)
}

// TestSpelled holds that a record is sorted by the text of its path, whatever the record before it was:
// in the same container, above it, below it, or in one whose name starts alike.
func TestSpelled(t *testing.T) {
	names := []string{"a", "ab", "", "a.b", "\x01n"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		c := Collector{Most: 20, MostBytes: 10_000}
		var want []string
		for range 20 {
			var segments []int
			text := ""
			for i := range 1 + r.IntN(4) {
				segments = append(segments, r.IntN(len(names)+2))
				switch n := segments[i]; {
				case n >= len(names):
					text += fmt.Sprintf("[%d]", n)
				case i > 0:
					text += "." + names[n]
				default:
					text = names[n]
				}
			}
			want = append(want, text)
			c.Add(Unknown(program.Pruned), len(segments), func(i int) ([]byte, int) {
				if n := segments[i]; n < len(names) {
					return []byte(names[n]), 0
				}
				return nil, segments[i]
			})
		}
		list(&c)
		var got []string
		for _, record := range c.records {
			got = append(got, string(c.spelled[record.sort:record.sortEnd]))
		}
		require.Equal(t, want, got)
	}
}

// TestLimits holds that findings beyond a limit are counted, and no others.
func TestLimits(t *testing.T) {
	c := Collector{Most: 2, MostBytes: 1000}
	for _, name := range []string{"a", "b", "c"} {
		add(&c, Unknown(program.Pruned), name)
	}
	list(&c)
	assert.Equal(t, []string{"a", "b"}, paths(&c))
	assert.Equal(t, []int{1, 3}, []int{c.Omitted, c.Strict})

	c = Collector{Most: 10, MostBytes: len(".long")}
	add(&c, Unknown(program.Pruned), "long")
	add(&c, Unknown(program.Pruned), "next")
	list(&c)
	assert.Equal(t, []string{"long"}, paths(&c))
	assert.Equal(t, 1, c.Omitted)

	c = Collector{}
	c.ResetForError()
	add(&c, Record{Kind: errors.DuplicateField, At: 7, First: 3, Count: 1}, "first")
	add(&c, Record{Kind: errors.DuplicateField, At: 9, First: 3, Count: 1}, "second")
	e := c.DuplicateError(index{})
	assert.Equal(t, "first", e.Path.String(), "a single record is kept whatever the limits are")
	assert.Equal(t, []int{4, 8}, []int{e.First.Line, e.Position.Line})
}

// TestSameDuplicates holds that duplicates with one path are one finding.
func TestSameDuplicates(t *testing.T) {
	for _, n := range []int{2, manyDuplicates + 1} {
		c := Collector{Most: 1000, MostBytes: 10_000}
		for i := range n {
			add(&c, Record{Kind: errors.DuplicateField, At: 10 + i, First: 1, Count: 1}, "a")
		}
		add(&c, Record{Kind: errors.DuplicateField, At: 5, First: 1, Count: 3}, "b")
		list(&c)
		require.Equal(t, []string{"b", "a"}, paths(&c))
		assert.Equal(t, n, c.List[1].Count)
	}
}

// TestRetract takes back unknown fields and dropped nulls, from an index on, and keeps the counts
// right. A mismatch stays.
func TestRetract(t *testing.T) {
	c := Collector{Most: 10, MostBytes: 1000}
	for i, name := range []string{"a", "b", "c"} {
		for k, r := range []Record{Unknown(program.Pruned), DroppedNull(1), Mismatch(program.Object, program.Array)} {
			r.At = 3*i + k
			add(&c, r, name)
		}
	}
	c.Retract(3, func(r *Record) bool { return r.At < 6 })
	list(&c)
	assert.Equal(t, []string{"a", "c", "a", "a", "b", "c", "c"}, paths(&c))
	assert.Equal(t, 2, c.Strict)
	assert.Equal(t, 3, c.Mismatches)
}

// TestStrictErrorServesAgain holds that an error which says the same is the same one, and
// that one which says something else is not.
func TestStrictErrorServesAgain(t *testing.T) {
	c := Collector{Most: 10, MostBytes: 1000}
	made := func(names ...string) *errors.StrictError {
		c.Reset()
		for _, name := range names {
			add(&c, Unknown(program.Pruned), name)
		}
		list(&c)
		return c.StrictError()
	}
	first := made("a", "b")
	assert.Same(t, first, made("a", "b"))
	assert.NotSame(t, first, made("a"))
	assert.NotSame(t, first, made("a", "c"))
	assert.NotSame(t, first, made("a", "b", "c"))
}

// hold replaces a list by one of another capacity, and returns by how many bytes it has grown.
func hold[T any](list *[]T) int {
	was := cap(*list)
	*list = make([]T, 0, 1<<12)
	return (cap(*list) - was) * int(unsafe.Sizeof(*new(T)))
}

// TestHeld asserts that everything that a collector keeps is counted, by Held or by Cap.
func TestHeld(t *testing.T) {
	for name, grow := range map[string]func(c *Collector) int{
		"wanted": func(c *Collector) int { return hold(&c.wanted) }, "spelled": func(c *Collector) int { return hold(&c.spelled) },
		"records": func(c *Collector) int { return hold(&c.records) }, "order": func(c *Collector) int { return hold(&c.order) },
		"List":  func(c *Collector) int { return hold((*[]errors.Finding)(&c.List)) },
		"list":  func(c *Collector) int { return hold((*[]errors.Finding)(&c.lastList)) },
		"paths": func(c *Collector) int { return hold(&c.paths) }, "texts": func(c *Collector) int { return hold(&c.texts) },
		"last paths": func(c *Collector) int { c.lastPaths = "path"; return 4 },
		"last texts": func(c *Collector) int { c.lastTexts = "text"; return 4 },
	} {
		c := new(Collector)
		before := c.Held() + c.Cap()
		grown := grow(c)
		assert.Positive(t, grown, name)
		assert.Equal(t, grown, c.Held()+c.Cap()-before, name)
	}
}

// TestLocateLeaving asserts that findings get their positions when their places leave the window, and
// that all other places move.
func TestLocateLeaving(t *testing.T) {
	c := Collector{Most: 10, MostBytes: 1000}
	unknown := Unknown(program.Pruned)
	unknown.At = 5
	add(&c, unknown, "a")
	add(&c, Record{Kind: errors.DuplicateField, At: 20, First: 8, Count: 1}, "b")
	add(&c, Record{Kind: errors.DuplicateField, At: 30, First: 15, Count: 1}, "c")
	c.LocateLeaving(10, index{})
	r := c.Records()
	assert.Equal(t, []int{6, 0, 9, 0, 0}, []int{r[0].Position.Line, r[1].Position.Line, r[1].FirstPosition.Line, r[2].Position.Line, r[2].FirstPosition.Line})
	assert.Equal(t, []int{5, 10, 20, 5}, []int{r[0].At, r[1].At, r[2].At, r[2].First})
	c.LocateLeaving(15, moved(10))
	assert.Equal(t, []int{21, 16}, []int{r[1].Position.Line, r[2].FirstPosition.Line})
	c.LocateLeaving(6, moved(25))
	assert.Equal(t, 31, r[2].Position.Line)
}

// TestRoomForOthers asserts that invalid values leave their room to findings of other kinds.
func TestRoomForOthers(t *testing.T) {
	c := Collector{Most: 2, MostBytes: 1000}
	for i, name := range []string{"a", "b", "c"} {
		add(&c, Invalid(i, &errors.ValueError{Msg: "m"}), name)
	}
	c.LocateLeaving(1, index{})
	for i, name := range []string{"x", "y", "z"} {
		r := Unknown(program.Pruned)
		r.At = 3 + i
		add(&c, r, name)
	}
	list(&c)
	c.FinishInvalid()
	assert.Equal(t, []string{"x", "y"}, paths(&c))
	assert.Equal(t, []int{4, 3, 3}, []int{c.Omitted, c.Invalid, c.Strict})
}

// moved is an index whose window starts later.
type moved int

func (m moved) Position(at int) errors.Position { return index{}.Position(int(m) + at) }
