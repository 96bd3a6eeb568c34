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

// TestFindSameHash has names that agree in all that is hashed: their length and
// their first and last eight bytes.
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

// TestHead compares keys as the decoder does it: the first 16 bytes as words.
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
		String: "string", Null | Object: "object", Null | Array: "array", Boolean: "boolean",
	} {
		assert.Equal(t, want, types.String())
	}
}
