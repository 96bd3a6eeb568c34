package program

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func field(name string) (f Field) {
	f.SetName(name, `"`+name+`":`)
	return f
}

func nodeOf(names ...string) *Node {
	n := &Node{}
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
			assert.Equal(t, name, f.Name)
			assert.EqualValues(t, i, f.Index)
		}
		for _, absent := range []string{"", "f", "field", "field0x", "Field1x", "a name that is not there"} {
			assert.Nil(t, n.Find([]byte(absent)), absent)
		}
	}
}

// TestFindSameHash has names that agree in all that is hashed: their length and
// their first and last eight bytes.
func TestFindSameHash(t *testing.T) {
	var names []string
	for i := range 50 {
		names = append(names, fmt.Sprintf("firstbyt-%05d-lastbyte", i))
	}
	n := nodeOf(append(names, "other", "")...)
	for _, name := range names {
		f := n.Find([]byte(name))
		require.NotNil(t, f)
		assert.Equal(t, name, f.Name)
	}
	assert.Nil(t, n.Find([]byte("firstbyt-99999-lastbyte")))
	assert.NotNil(t, n.Find([]byte("")))
}

func TestHeadAndMask(t *testing.T) {
	f := field("abc")
	assert.Equal(t, `"abc":`, f.Key)
	assert.Equal(t, [2]uint64{0xffffffffffff, 0}, f.Mask)
	f = field("abcdefghij")
	assert.Equal(t, [2]uint64{^uint64(0), 0xffffffffff}, f.Mask)
	f = field("abcdefghijklmnopq")
	assert.Equal(t, [2]uint64{^uint64(0), ^uint64(0)}, f.Mask)
}

func TestTypesString(t *testing.T) {
	for types, want := range map[Types]string{
		Any: "any", Null: "null", Null | Integer: "integer", Null | Integer | Number: "number", Number: "", Null | Integer | String: "integer or string",
		String: "string", Null | Object: "object", Null | Array: "array", Boolean: "boolean",
	} {
		if want != "" {
			assert.Equal(t, want, types.String())
		}
	}
}
