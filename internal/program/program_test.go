package program

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

func field(name string) (f Field) {
	f.Node = &Node{Types: Any}
	f.SetKey(string(jsonwire.AppendQuoted(nil, name)) + ":")
	return f
}

func nodeOf(names ...string) *Node {
	n := &Node{Elements: Edge{Node: &Node{Types: Any}}}
	for _, name := range names {
		n.Fields = append(n.Fields, field(name))
	}
	return Finish(n, []*Node{n}, nil).Root
}

func TestFind(t *testing.T) {
	for _, count := range []int{0, 1, 2, 3, 7, 64, 65, 500, 5000} {
		var names []string
		for i := range count {
			names = append(names, fmt.Sprintf("field%d%s", i, strings.Repeat("x", i%30)))
		}
		n := nodeOf(names...)
		for i, name := range names {
			f := n.Find([]byte(name))
			require.NotNil(t, f, name)
			assert.Equal(t, name, f.Name())
			assert.Equal(t, i, n.Index(f))
		}
		for _, absent := range []string{"", "f", "field", "field0x", "Field1x", "a name that is not there"} {
			assert.Nil(t, n.Find([]byte(absent)), absent)
		}
	}
}

// TestFindSameHash has names that agree in all hashed bytes: in their length and their first and
// last eight bytes.
func TestFindSameHash(t *testing.T) {
	var few []string
	for i := range 10 {
		few = append(few, fmt.Sprintf("firstbyt-%05d-lastbyte", i))
	}
	assert.False(t, nodeOf(few...).table.whole)
	for _, name := range few {
		assert.NotNil(t, nodeOf(few...).Find([]byte(name)))
	}
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("firstbyt-%05d-lastbyte", i))
	}
	n := nodeOf(append(names, "other", "")...)
	for _, name := range names {
		f := n.Find([]byte(name))
		require.NotNil(t, f)
		assert.Equal(t, name, f.Name())
	}
	assert.Nil(t, n.Find([]byte("firstbyt-99999-lastbyte")))
	assert.NotNil(t, n.Find([]byte("")))
	assert.True(t, n.table.whole, "a long run is avoided")
}

// TestTableSpreads asserts that tables are at least half empty and not much more, and that fields
// are near the slots of their hashes, whatever their names are.
func TestTableSpreads(t *testing.T) {
	for _, form := range []string{"%d", "field%d", "%d-suffix", "%026d"} {
		for _, count := range []int{1, 4, 5, 8, 9, 63, 64, 65, 1000} {
			var names []string
			for i := range count {
				names = append(names, fmt.Sprintf(form, i))
			}
			n := nodeOf(names...)
			slots := len(n.table.slots)
			if count <= maxLinear {
				assert.Zero(t, slots)
				continue
			}
			assert.True(t, 2*count <= slots && slots < 4*count, "%d slots for %d fields", slots, count)
			displaced := 0
			for at, s := range n.table.slots {
				if s != 0 {
					name := n.Fields[s&(1<<indexBits-1)-1].Name()
					displaced += (at - int(n.table.hash([]byte(name))>>n.table.shift)) & (slots - 1)
				}
			}
			assert.LessOrEqual(t, displaced, 2*count, "%d fields such as "+form, count, 0)
		}
	}
}

// TestFindEscaped has names whose JSON text is another name.
func TestFindEscaped(t *testing.T) {
	for _, more := range []string{"", "1 2 3 4 5 6 7 8"} {
		n := nodeOf(append(strings.Fields(more), `a"b`, `a\"b`, `a\\"b`, "new\nline")...)
		for _, name := range []string{`a"b`, `a\"b`, `a\\"b`, "new\nline"} {
			f := n.Find([]byte(name))
			require.NotNil(t, f, name)
			assert.Equal(t, name, f.Name())
		}
		assert.Nil(t, n.Find([]byte(`new\nline`)))
	}
}

// TestHead compares keys as the walker does: the first 16 bytes as words.
func TestHead(t *testing.T) {
	matches := func(f *Field, text string) bool {
		var b [16]byte
		copy(b[:], text)
		return (binary.LittleEndian.Uint64(b[:])^f.Head[0])&f.Mask[0]|
			(binary.LittleEndian.Uint64(b[8:])^f.Head[1])&f.Mask[1] == 0
	}
	for n := range 20 {
		name := strings.Repeat("x", n)
		f := field(name)
		assert.True(t, matches(&f, `"`+name+`":`))
		assert.True(t, matches(&f, `"`+name+`":"value"`))
		assert.Equal(t, n > 14, matches(&f, `"`+name+`x":`), "%d", n)
		assert.Equal(t, n > 13, matches(&f, `"`+name+`" :`), "%d", n)
		assert.False(t, matches(&f, `'`+name+`":`))
		assert.False(t, matches(NoField, `"`+name+`":`))
	}
}

func TestTypesString(t *testing.T) {
	for types, want := range map[Types]string{
		Any: "any", Null: "null", Null | Integer: "integer", Null | Integer | Number: "number", Number: "number", Null | Integer | String: "integer or string",
		0: "unknown", String: "string", Null | Object: "object", Null | Array: "array", Boolean: "boolean",
	} {
		assert.Equal(t, want, types.String())
	}
}

// TestListing has a node of each kind in a program.
func TestListing(t *testing.T) {
	keep := &Node{Types: Any}
	keep.Unknown, keep.Elements = &Edge{Node: keep}, Edge{Node: keep}
	items := &Node{Types: Integer | String | Null, Group: EmbeddedMetadata, Elements: Edge{Node: keep}}
	root := &Node{Types: Object, Group: RootMetadata, Elements: Edge{Node: keep}}
	for _, name := range []string{"a", `b"`} {
		f := field(name)
		f.Edge = Edge{Node: items, Null: DefaultNull, Default: "1"}
		root.Fields = append(root.Fields, f)
	}
	root.Fields[1].Edge = Edge{Node: keep, Null: DropNull}
	p := Finish(root, []*Node{root, items, keep}, nil)
	assert.Equal(t, `0: object, root metadata
	a -> 1, null is defaulted, default 1
	"b\"" -> 2, null is dropped
	* prune
	[] -> 2
1: integer or string, embedded metadata
	* prune
	[] -> 2
2: any
	* -> 2
	[] -> 2
`, p.String())
}

func TestDefaultMembers(t *testing.T) {
	n := nodeOf("a", "b", "c", "d")
	n.AllDefaults = `,"a":1,"b":[],"c":{}`
	for i, end := range []int32{6, 13, 20} {
		n.Fields[i].MemberEnd = end
	}
	for _, c := range []struct {
		from, to int
		want     string
	}{{0, 1, `,"a":1`}, {0, 3, n.AllDefaults}, {1, 2, `,"b":[]`}, {1, 3, `,"b":[],"c":{}`}, {2, 3, `,"c":{}`}} {
		assert.Equal(t, c.want, n.DefaultMembers(c.from, c.to))
	}
}

// TestFinish numbers nodes and fields for predictions, on top of a program that stays as it is.
func TestFinish(t *testing.T) {
	fields := func(n int) (fs []Field) {
		for i := range n {
			fs = append(fs, field(fmt.Sprint(i)))
		}
		return fs
	}
	first := &Node{Fields: fields(64), Defaults: 2, KeepArray: true}
	base := Finish(first, []*Node{first}, nil)
	assert.EqualValues(t, 1+1+64, base.Cells, "one for no node, one for the node, and one for each field")
	assert.EqualValues(t, 1, first.Cell)
	assert.EqualValues(t, 2+63, first.Fields[63].Cell)
	assert.Equal(t, uint64(1)<<63, first.Fields[63].Bit)
	assert.EqualValues(t, 0b11, first.Defaulted)
	assert.Equal(t, []bool{true, false}, []bool{first.SimpleObject, first.SimpleArray})

	second := &Node{Fields: fields(65)}
	third := &Node{KeepObject: true}
	p := Finish(second, []*Node{first, second, third}, &base)
	assert.EqualValues(t, 66+1+65+1, p.Cells)
	assert.Equal(t, []int32{1, 66, 132}, []int32{first.Cell, second.Cell, third.Cell})
	assert.Equal(t, 64, second.Index(&second.Fields[64]))
	assert.Zero(t, second.Fields[64].Bit, "beyond what a word has bits for")
	assert.False(t, second.SimpleObject, "more fields than a word has bits for")
	assert.True(t, second.SimpleArray)
	assert.False(t, third.SimpleObject)
}
