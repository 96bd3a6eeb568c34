package schema

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/program"
)

// TestScratch holds that what compiling keeps for the next schema is room: nothing of the schema that
// was compiled, which would stay in memory.
func TestScratch(t *testing.T) {
	s := parseText(t, `{type: object, properties: {a: {type: string}, b: {type: array, items: {type: object, properties: {c: {type: integer}}}}}}`)
	c := newCompiler(options{typed: true}, s)
	c.root(s)
	used := c.scratch
	require.NotEmpty(t, used.made)
	require.NotEmpty(t, used.leaves)
	require.NotEmpty(t, used.edges[:cap(used.edges)])
	require.NotEmpty(t, used.props[:cap(used.props)])
	c.release()
	assert.Empty(t, used.leaves)
	assert.Empty(t, used.made)
	assert.Empty(t, used.edges)
	assert.Empty(t, used.props)
	for _, m := range used.made[:cap(used.made)] {
		assert.Zero(t, m)
	}
	for _, e := range used.edges[:cap(used.edges)] {
		assert.Zero(t, e)
	}
	for _, p := range used.props[:cap(used.props)] {
		assert.Zero(t, p)
	}
}

// TestLargestScratch holds that a scratch is kept up to a size in all, and not beyond: what is not kept
// is not emptied either.
func TestLargestScratch(t *testing.T) {
	const part = largestScratch / 4
	for _, more := range []int{0, 1} {
		for place := range 3 {
			sizes := [3]int{part, part, part}
			sizes[place] += largestScratch - 3*part + more
			s := &scratch{
				leaves: map[leafKey]*program.Node{{}: nil},
				edges:  make([]protoEdge, 0, sizes[0]), made: make([]compiled, 0, sizes[1]), props: make([]property, 0, sizes[2]),
			}
			s.release()
			assert.Len(t, s.leaves, more, "%v", sizes)
		}
	}
}

// TestScratchIsUsedAgain holds that compiling takes its memory from what was compiled before. A pool may
// drop what is put into it, so that once suffices.
func TestScratchIsUsedAgain(t *testing.T) {
	s := &Structural{Type: "object", Properties: map[string]*Structural{}}
	for i := range 100 {
		s.Properties[fmt.Sprint(i)] = &Structural{Type: "object", Properties: map[string]*Structural{"a": {}}}
	}
	for range 20 {
		runtime.GC()
		runtime.GC() // the pool is empty
		_, err := Compile(s)
		require.NoError(t, err)
		if found := newScratch(); cap(found.props) >= 100 {
			return
		}
	}
	t.Fatal("Compile gives nothing back")
}

// TestEqualHashes has many nodes that differ in their names only, or in what they lead to, and many schemas:
// few have the same hash. Otherwise compiling would take as long as the square of their number.
func TestEqualHashes(t *testing.T) {
	s := &Structural{Type: "object", Properties: map[string]*Structural{}}
	for i := range 6000 {
		one := &Structural{Type: "object", Properties: map[string]*Structural{fmt.Sprint("n", i): {}}}
		s.Properties[fmt.Sprint("p", i)] = &Structural{Type: "object", Properties: map[string]*Structural{"a": one}}
	}
	p, err := Compile(s)
	require.NoError(t, err)
	assert.Greater(t, len(program.Of(p).Nodes), 12000)
}

// TestMemoryOfNames asserts that the names of a program share memory, of which little is left over.
func TestMemoryOfNames(t *testing.T) {
	const names = 20_000
	c := newCompiler(options{}, nil)
	defer c.release()
	var all []string
	for i := range names {
		all = append(all, fmt.Sprintf("%06d", i))
	}
	length := 0
	bytes := allocated(func() {
		for i, name := range all {
			all[i] = c.key(name)
			length += len(all[i])
		}
	})
	assert.Equal(t, `"000000":`, all[0])
	assert.Equal(t, `"019999":`, all[names-1])
	assert.Less(t, bytes, length+length/5)
	long := strings.Repeat("x", 5000)
	assert.Equal(t, `"`+long+`":`, c.key(long))
}

// TestRoomForNodes asserts that a small program has no room for many nodes, and a larger one has more at a time.
func TestRoomForNodes(t *testing.T) {
	c := newCompiler(options{}, nil)
	defer c.release()
	c.add(program.Any)
	assert.Len(t, c.room, 1)
	for range 200 {
		c.add(program.Any)
		assert.Less(t, len(c.room), 32)
	}
}

// TestPropertiesOnThePath asserts that what is kept of properties while compiling is that of the schemas on
// the path, and not of all.
func TestPropertiesOnThePath(t *testing.T) {
	s := &Structural{Type: "object", Properties: map[string]*Structural{}}
	for i := range 50 {
		one := &Structural{Type: "object", Properties: map[string]*Structural{}}
		for j := range 50 {
			one.Properties[fmt.Sprint(i, j)] = &Structural{Type: "object", Properties: map[string]*Structural{"a": {}}}
		}
		s.Properties[fmt.Sprint(i)] = one
	}
	c := newCompiler(options{}, s)
	c.scratch = &scratch{leaves: make(map[leafKey]*program.Node)} // without room
	c.byKey.reset()
	c.bySame.reset()
	c.root(s)
	assert.Empty(t, c.props)
	assert.Less(t, cap(c.props), 400)
	assert.Empty(t, c.edges)
	assert.Less(t, cap(c.edges), 400)
}
