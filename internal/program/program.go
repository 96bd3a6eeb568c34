// Package program is the object format of compiled schemas: the table that package schema writes
// and package walk runs. It knows neither of them.
//
// A program is an automaton over JSON values. Each [Node] says where the names of members lead,
// where elements lead, and what happens to a null there. Policy is expressed as edges and actions,
// so the walker need not ask for a mode.
package program

import (
	"encoding/binary"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// Types is a set of JSON types, as distinguished by the type keyword of a schema.
type Types uint16

const (
	Null Types = 1 << iota
	Boolean
	Integer // a number without fraction that fits int64
	Number  // any other number
	String
	Array
	Object

	Any = Null | Boolean | Integer | Number | String | Array | Object
)

// These are no types. With validations they are in Node.Types, beside types.
const (
	// Ruled says that scalars have rules besides their types.
	Ruled Types = 1 << (7 + iota)
	// Soft says that a value of another type is doubtful: Checks.Hard has the types of which a value
	// must be.
	Soft
)

// A NullAction says what happens to a null.
type NullAction uint8

const (
	KeepNull    NullAction = iota // it stays
	DropNull                      // the member is removed
	DefaultNull                   // the default of the edge takes its place
)

// A Group orders unknown fields in reports as the API server does.
type Group uint8

const (
	Pruned           Group = iota // ordinary pruning
	RootMetadata                  // metadata of the object itself
	EmbeddedMetadata              // metadata of an embedded resource
)

// An Edge says what becomes of a value: which node governs it, what happens if it is null, and its
// default, if there is one.
type Edge struct {
	Node *Node
	// Default is the default as compact JSON, itself pruned and defaulted. It is empty if there is
	// none.
	Default string
	Null    NullAction
}

// MaxFields is how many fields a node may have.
const MaxFields = 1<<indexBits - 2

// A Field is a declared field of a node.
type Field struct {
	// Head has the first 16 bytes of Key as two little-endian words. Mask has the bits that belong
	// to Key.
	Head, Mask [2]uint64
	// Last has the last 16 bytes of Key, if it is longer than that.
	Last [2]uint64
	// Key is the name as it is commonly written in JSON, with its colon:
	// "name":
	Key string
	// Bit has the bit of the field's index set. From index 64 on it is 0.
	Bit  uint64
	Cell int32 // the field's number in the program's prediction table
	// escaped says that Key is not simply the name in quotes.
	escaped bool
	// Implicit says that the schema does not declare the field, but has a rule for it. On streams,
	// where no values are validated, its name is one that is not declared.
	Implicit bool
	// MemberEnd is where the field's default ends in the node's AllDefaults.
	MemberEnd int32
	Edge
}

// Index returns the field's number in its node. Fields with a default come first. Within each part,
// fields are sorted by name.
//
//espalier:inline
func (n *Node) Index(f *Field) int { return int(f.Cell - n.Cell - 1) }

// Name returns the name of the field.
func (f *Field) Name() string {
	if f.escaped {
		return f.unescaped()
	}
	return f.Key[1 : len(f.Key)-2]
}

func (f *Field) unescaped() string {
	return string(jsonwire.AppendUnescaped(nil, []byte(f.Key[1:len(f.Key)-2])))
}

// is reports whether the field has the name.
//
//espalier:inline
func (f *Field) is(name []byte) bool {
	if f.escaped {
		return string(name) == f.Name()
	}
	return string(name) == f.Key[1:len(f.Key)-2]
}

// A Node says what happens to a value and what it holds.
type Node struct {
	// ID is the node's number in its program.
	ID int32
	// Types are the types that a value may have. A value of another type is a mismatch and is kept
	// as it is. If there are no types, the field is unknown, and declared only for the rule about
	// nulls. With validations, see Hard and Soft.
	Types Types
	// KeepObject and KeepArray say that nothing can change within an object or an array, so that it
	// is only validated.
	KeepObject, KeepArray bool
	Group                 Group
	Fields                []Field
	// Unknown is the edge for undeclared names. If it is nil, they are pruned.
	Unknown *Edge
	// Elements is the edge for the elements of an array.
	Elements Edge
	// Defaults is how many fields have a default. They come first.
	Defaults int32
	// Cell is the node's number in the prediction table, which has there the first field of the
	// last object.
	Cell int32
	// Defaulted has the bits of the fields with a default, up to 64 of them.
	Defaulted uint64
	// Awaited has Defaulted. With validations it has all bits of fields that a valid object has, and
	// one more where there are other rules for objects, or rules for arrays: an object that lacks one
	// of them is looked at when it ends, and so is an array if there are any.
	Awaited uint64
	// SimpleObject and SimpleArray say that an object or array of the node only needs its members
	// or its elements followed. An object has at most 64 fields (63 with rules) and keeps no other
	// members, or it has no fields.
	SimpleObject, SimpleArray bool
	// DropsNulls says that undeclared names are pruned, and that a null of one is dropped before
	// that, so that it is no unknown field.
	DropsNulls bool
	// AllDefaults has the members for all fields with a default, with a comma before each.
	AllDefaults string

	table table
	// Checks are the rules for values. They are nil unless the program was compiled with
	// validations, and where there are none.
	Checks *Checks
}

// DefaultMembers returns the members for the fields with a default whose indices are at least from
// and less than to, with a comma before each.
func (n *Node) DefaultMembers(from, to int) string {
	start := int32(0)
	if from > 0 {
		start = n.Fields[from-1].MemberEnd
	}
	return n.AllDefaults[start:n.Fields[to-1].MemberEnd]
}

// A Program is a compiled schema. It is immutable.
type Program struct {
	Root  *Node
	Nodes []*Node
	// Cells is the size of the prediction table. It has a cell for each field and each node, and
	// cell 0 for nodes outside of the program.
	Cells int32
	// Validator is nil unless the program was compiled with validations.
	Validator Validator
}

// SetKey sets the name of the field: a JSON string, followed by a colon.
func (f *Field) SetKey(key string) {
	f.Key = key
	f.escaped = strings.IndexByte(key, '\\') >= 0
	var head [16]byte
	n := copy(head[:], key)
	for w := range f.Head {
		f.Head[w] = binary.LittleEndian.Uint64(head[8*w:])
		f.Mask[w] = ^uint64(0) >> (64 - 8*min(max(n-8*w, 0), 8))
		if len(key) > 16 {
			f.Last[w] = binary.LittleEndian.Uint64([]byte(key[len(key)-16+8*w:]))
		}
	}
}

// Finish makes a program of nodes, whose fields must be in their final order: it numbers them and
// builds their tables. The first nodes may be those of base, which are finished and stay as they
// are.
func Finish(root *Node, nodes []*Node, base *Program) Program {
	p := Program{Root: root, Nodes: nodes, Cells: 1}
	if base != nil {
		p.Cells = base.Cells
		nodes = nodes[len(base.Nodes):]
	}
	var room []uint32
	for _, n := range nodes {
		n.Cell = p.Cells
		p.Cells++
		for i := range n.Fields {
			f := &n.Fields[i]
			f.Cell = p.Cells
			p.Cells++
			f.Bit = 1 << i
		}
		n.Defaulted = 1<<n.Defaults - 1
		n.Awaited = n.Defaulted
		n.SimpleObject = !n.KeepObject && len(n.Fields) <= 64 && (n.Unknown == nil || len(n.Fields) == 0)
		n.SimpleArray = !n.KeepArray
		room = n.table.build(n.Fields, room)
	}
	for _, n := range nodes {
		if n.Checks != nil {
			n.Checks.bind(n)
		}
	}
	return p
}

// NoField is a field that no name matches, so it predicts nothing: names start with a quote, and
// its key with 0.
var NoField = &Field{Mask: [2]uint64{1<<64 - 1, 1<<64 - 1}}

// FirstTypes has, for each byte, the types of the JSON values that start with it. It must not be
// changed.
var FirstTypes = func() (t [256]Types) {
	t['n'], t['t'], t['f'] = Null, Boolean, Boolean
	t['"'], t['['], t['{'] = String, Array, Object
	t['-'] = Integer | Number
	for c := '0'; c <= '9'; c++ {
		t[c] = Integer | Number
	}
	return t
}()
