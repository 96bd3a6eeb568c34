package fuzz

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// A World has all documents, and all values, of up to so many tokens over small alphabets. They are
// numbered. Colons and commas are no tokens, as they follow from the others.
type World struct {
	names, scalars []string // as they are written
	values         []uint64 // how many values there are of each number of tokens
	members        []uint64 // how many sequences of members, without the braces
	elements       []uint64 // how many sequences of elements, without the brackets
}

// WorldNames are a name that schemas declare, the same one escaped, another one that some declare,
// and one that none does. So names are declared, repeated, and neither.
var WorldNames = []string{`"a"`, `"\u0061"`, `"b"`, `"z"`}

// WorldScalars are one of each kind.
var WorldScalars = []string{"null", "true", "1", `"s"`}

// NewWorld returns the world of up to so many tokens.
func NewWorld(tokens int, names, scalars []string) *World {
	w := &World{names: names, scalars: scalars, members: []uint64{1}, elements: []uint64{1}, values: []uint64{0}}
	for n := 1; n <= tokens; n++ {
		value := uint64(0)
		if n == 1 {
			value = uint64(len(scalars))
		} else {
			value = w.members[n-2] + w.elements[n-2]
		}
		w.values = append(w.values, value)
		members, elements := uint64(0), uint64(0)
		for first := 1; first <= n; first++ {
			elements += w.values[first] * w.elements[n-first]
			if first < n {
				members += uint64(len(names)) * w.values[first] * w.members[n-1-first]
			}
		}
		w.members, w.elements = append(w.members, members), append(w.elements, elements)
	}
	return w
}

// Values returns how many values there are.
func (w *World) Values() (n uint64) {
	for _, values := range w.values {
		n += values
	}
	return n
}

// AppendValue appends the value with a number.
func (w *World) AppendValue(b []byte, i uint64) []byte {
	tokens := 1
	for ; i >= w.values[tokens]; tokens++ {
		i -= w.values[tokens]
	}
	return w.value(b, tokens, i)
}

// Documents returns how many documents there are: all objects.
func (w *World) Documents() (n uint64) {
	for tokens := 2; tokens < len(w.values); tokens++ {
		n += w.members[tokens-2]
	}
	return n
}

// AppendDocument appends the document with a number.
func (w *World) AppendDocument(b []byte, i uint64) []byte {
	tokens := 2
	for ; i >= w.members[tokens-2]; tokens++ {
		i -= w.members[tokens-2]
	}
	return w.object(b, tokens, i)
}

func (w *World) object(b []byte, tokens int, i uint64) []byte {
	b = append(b, '{')
	for left := tokens - 2; left > 0; {
		first := 1
		for ; ; first++ { // how many tokens the first of the members that are left has
			n := uint64(len(w.names)) * w.values[first] * w.members[left-1-first]
			if i < n {
				break
			}
			i -= n
		}
		if b[len(b)-1] != '{' {
			b = append(b, ',')
		}
		b = append(b, w.names[i%uint64(len(w.names))]...)
		i /= uint64(len(w.names))
		b = w.value(append(b, ':'), first, i%w.values[first])
		i /= w.values[first]
		left -= 1 + first
	}
	return append(b, '}')
}

func (w *World) value(b []byte, tokens int, i uint64) []byte {
	if tokens == 1 {
		return append(b, w.scalars[i]...)
	}
	if i < w.members[tokens-2] {
		return w.object(b, tokens, i)
	}
	i -= w.members[tokens-2]
	b = append(b, '[')
	for left := tokens - 2; left > 0; {
		first := 1
		for ; i >= w.values[first]*w.elements[left-first]; first++ {
			i -= w.values[first] * w.elements[left-first]
		}
		if b[len(b)-1] != '[' {
			b = append(b, ',')
		}
		b = w.value(b, first, i%w.values[first])
		i /= w.values[first]
		left -= first
	}
	return append(b, ']')
}

// worldLeaves are the schemas of one node, but for nullable and default, with a default for each.
var worldLeaves = []func() schema.Structural{
	func() schema.Structural { return schema.Structural{Type: "object", Default: json.RawMessage(`{}`)} },
	func() schema.Structural {
		return schema.Structural{Type: "object", XPreserveUnknownFields: yes(), Default: json.RawMessage(`{"a":{"z":null}}`)}
	},
	func() schema.Structural {
		return schema.Structural{Type: "object", XPreserveUnknownFields: yes(), XEmbeddedResource: true, Default: json.RawMessage(`{"a":1}`)}
	},
	func() schema.Structural {
		return schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{Allows: true}, Default: json.RawMessage(`{"b":[]}`)}
	},
	func() schema.Structural {
		return schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{}, Default: json.RawMessage(`{}`)}
	},
	func() schema.Structural { return schema.Structural{Type: "string", Default: json.RawMessage(`"d"`)} },
	func() schema.Structural { return schema.Structural{Type: "integer", Default: json.RawMessage(`7`)} },
	func() schema.Structural { return schema.Structural{Type: "boolean", Default: json.RawMessage(`false`)} },
	func() schema.Structural {
		return schema.Structural{XIntOrString: true, Default: json.RawMessage(`"1"`)}
	},
	func() schema.Structural {
		return schema.Structural{XPreserveUnknownFields: yes(), Default: json.RawMessage(`[{"z":null}]`)}
	},
}

// worldRoots is how many of worldLeaves are objects.
const worldRoots = 5

// worldParents are the schemas of a node above one other.
var worldParents = []func(child *schema.Structural) schema.Structural{
	func(c *schema.Structural) schema.Structural { return worldObject(false, false, c, nil) },
	func(c *schema.Structural) schema.Structural { return worldObject(true, false, c, nil) },
	func(c *schema.Structural) schema.Structural { return worldObject(false, true, c, nil) },
	func(c *schema.Structural) schema.Structural { return worldObject(true, true, c, nil) },
	func(c *schema.Structural) schema.Structural {
		return schema.Structural{Type: "object", AdditionalProperties: &schema.SchemaOrBool{Schema: c, Allows: true}, Default: json.RawMessage(`{"z":null}`)}
	},
	func(c *schema.Structural) schema.Structural {
		return schema.Structural{Type: "object", XPreserveUnknownFields: yes(), AdditionalProperties: &schema.SchemaOrBool{Schema: c, Allows: true}, Default: json.RawMessage(`{}`)}
	},
	func(c *schema.Structural) schema.Structural {
		return schema.Structural{Type: "array", Items: &schema.SchemaOrArray{Schema: c}, Default: json.RawMessage(`[]`)}
	},
}

// worldObjects is how many of worldParents are objects.
const worldObjects = 6

// worldObject returns an object with the fields a, and b if there is one.
func worldObject(preserves, embedded bool, a, b *schema.Structural) schema.Structural {
	s := schema.Structural{Type: "object", XEmbeddedResource: embedded, Properties: map[string]*schema.Structural{"a": a}, Default: json.RawMessage(`{}`)}
	if preserves {
		s.XPreserveUnknownFields = yes()
	}
	if b != nil {
		s.Properties["b"] = b
	}
	return s
}

func yes() *bool { t := true; return &t }

// Nodes below a root may be nullable and have a default; 4 is how many ways that makes.
const nodeWays = 4

func worldNode(s schema.Structural, way uint64) *schema.Structural {
	s.Nullable = way&1 != 0
	if way&2 == 0 {
		s.Default = nil
	}
	return &s
}

var (
	smallNodes  = uint64(len(worldLeaves)) * nodeWays                                         // of one node, below a root
	mediumNodes = uint64(len(worldParents)) * nodeWays * smallNodes                           // of two
	worldSizes  = []uint64{worldRoots, worldObjects * smallNodes, worldObjects * mediumNodes, // roots of one, two and
		4 * smallNodes * smallNodes} // three nodes in a row, and with two below the root
)

// WorldSchemas returns how many schemas there are.
func WorldSchemas() (n uint64) {
	for _, size := range worldSizes {
		n += size
	}
	return n
}

// WorldSchema returns the schema with a number.
func WorldSchema(i uint64) *schema.Structural {
	shape := 0
	for ; i >= worldSizes[shape]; shape++ {
		i -= worldSizes[shape]
	}
	var s schema.Structural
	switch shape {
	case 0:
		s = worldLeaves[i]()
	case 1:
		s = worldParents[i%worldObjects](smallNode(i / worldObjects))
	case 2:
		below := i / worldObjects
		way, below := below%nodeWays, below/nodeWays
		parent, below := below%uint64(len(worldParents)), below/uint64(len(worldParents))
		s = worldParents[i%worldObjects](worldNode(worldParents[parent](smallNode(below)), way))
	case 3:
		below := i / 4
		s = worldObject(i&1 != 0, i&2 != 0, smallNode(below%smallNodes), smallNode(below/smallNodes))
	}
	s.Default = nil // the server inserts none at the root
	return &s
}

func smallNode(i uint64) *schema.Structural {
	return worldNode(worldLeaves[i/nodeWays](), i%nodeWays)
}

// The forms in which a document of a world is written in YAML.
const (
	BlockForm = iota // members and elements on lines of their own
	TightForm        // the same, with elements as far left as their name, and the first member behind a dash
	FlowForm         // within braces and brackets, and without quotes
)

// AppendYAML appends a document of a world in a form of YAML. What it appends reads as the document.
func AppendYAML(b, doc []byte, form int) []byte {
	y := &yamlForm{text: b, left: doc, form: form}
	y.value(0, true)
	return append(y.text, '\n')
}

// A yamlForm writes the tokens that are left of a document.
type yamlForm struct {
	text, left []byte
	form       int
}

// value writes the next value. The first line of a block starts where the text ends, if fresh, and on a new
// line otherwise.
func (y *yamlForm) value(indent int, fresh bool) {
	open := y.left[0]
	isEmpty := len(y.left) > 1 && (y.left[1] == '}' || y.left[1] == ']')
	switch {
	case open != '{' && open != '[':
		y.scalar()
	case isEmpty:
		y.text = append(y.text, y.left[:2]...)
		y.left = y.left[2:]
	case y.form == FlowForm:
		y.flow(open == '{')
	default:
		y.block(open == '{', indent, fresh)
	}
}

// scalar writes a name or a scalar, without quotes where they can go.
func (y *yamlForm) scalar() {
	end := bytes.IndexAny(y.left, ",:]}")
	if end < 0 {
		end = len(y.left)
	}
	text := y.left[:end]
	y.left = y.left[end:]
	if text[0] == '"' && !bytes.ContainsRune(text, '\\') {
		text = text[1 : len(text)-1]
	}
	y.text = append(y.text, text...)
}

func (y *yamlForm) flow(isObject bool) {
	y.text = append(y.text, y.left[0])
	for y.left[0] != '}' && y.left[0] != ']' {
		y.left = y.left[1:] // the brace, the bracket or the comma before it
		if isObject {
			y.scalar()
			y.left = y.left[1:]
			y.text = append(y.text, ": "...)
		}
		y.value(0, true)
		if y.left[0] == ',' {
			y.text = append(y.text, ", "...)
		}
	}
	y.text = append(y.text, y.left[0])
	y.left = y.left[1:]
}

func (y *yamlForm) block(isObject bool, indent int, fresh bool) {
	for y.left[0] != '}' && y.left[0] != ']' {
		y.left = y.left[1:]
		if !fresh {
			y.text = append(y.text, '\n')
			y.text = append(y.text, strings.Repeat(" ", indent)...)
		}
		fresh = false
		if !isObject {
			y.text = append(y.text, "- "...)
			y.value(indent+2, y.form == TightForm)
			continue
		}
		y.scalar()
		y.left = y.left[1:] // the colon
		y.text = append(y.text, ": "...)
		if y.form == TightForm && y.left[0] == '[' {
			y.value(indent, false)
		} else {
			y.value(indent+2, false)
		}
	}
	y.left = y.left[1:]
}
