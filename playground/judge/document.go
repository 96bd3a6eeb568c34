package judge

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A document is a text as JSON, with the way back to the text.
type document struct {
	json []byte
	at   func(offset int) errors.Position // of an offset in json, in the text
	tree *node                            // made when it is asked for
}

// read reads a text that starts at origin in what the page shows. As by NewYAMLOrJSONDecoder of
// k8s.io/apimachinery, what starts with a brace is read as JSON.
func read(text []byte, origin errors.Position) (*document, error) {
	if bytes.HasPrefix(bytes.TrimLeft(text, " \t\r\n"), []byte("{")) {
		x := new(position.Index)
		x.Start(text, 0)
		return &document{json: text, at: func(offset int) errors.Position {
			return position.Within(x.At(offset), origin)
		}}, nil
	}
	y := &yamlbridge.Reader{Origin: origin}
	js, err := y.AppendJSON(nil, text)
	return &document{json: js, at: y.Position}, err
}

// A node is a value of a JSON text.
type node struct {
	kind    jsonv2.Kind
	text    []byte // of a scalar
	members []member
}

// A member is a member of an object, or an element of an array, which has no name.
type member struct {
	name     string
	at       int // where it starts
	value    *node
	replaced bool // the name occurs again
}

// root returns the values of the document, or as many of them as can be read.
func (d *document) root() *node {
	if d.tree == nil {
		d.tree = parse(d.json)
	}
	return d.tree
}

func parse(js []byte) *node {
	dec := jsonv2.NewDecoder(bytes.NewReader(js), jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	return parseValue(dec, js)
}

// parseValue reads the next value. Nesting is bounded by the decoder.
func parseValue(dec *jsonv2.Decoder, js []byte) *node {
	t, err := dec.ReadToken()
	if err != nil {
		return &node{kind: 'n', text: []byte("null")}
	}
	n := &node{kind: t.Kind()}
	switch n.kind {
	case '{', '[':
	case '"':
		n.text, _ = jsonv2.AppendQuote(nil, t.String())
		return n
	default:
		n.text = []byte(t.String())
		return n
	}
	seen := make(map[string]int)
	for k := dec.PeekKind(); k != '}' && k != ']' && k != jsonv2.KindInvalid; k = dec.PeekKind() {
		m := member{at: start(js, int(dec.InputOffset()))}
		if n.kind == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				break
			}
			m.name = name.String()
			if before, again := seen[m.name]; again {
				n.members[before].replaced = true
			}
			seen[m.name] = len(n.members)
		}
		m.value = parseValue(dec, js)
		n.members = append(n.members, m)
	}
	_, _ = dec.ReadToken()
	return n
}

// start returns where the token begins that follows an offset.
func start(js []byte, offset int) int {
	for offset < len(js) && strings.IndexByte(" \t\r\n,", js[offset]) >= 0 {
		offset++
	}
	return offset
}

// member returns the member of an object with a name, the last one of several, or nil.
func (n *node) member(name string) *member {
	for i := range n.members {
		if m := &n.members[i]; n.kind == '{' && m.name == name && !m.replaced {
			return m
		}
	}
	return nil
}

// named returns the member of an object with a name, or the element of an array with an index, or nil.
func (n *node) named(name string) *member {
	if n.kind == '{' {
		return n.member(name)
	}
	if i, err := strconv.Atoi(name); err == nil && n.kind == '[' && 0 <= i && i < len(n.members) {
		return &n.members[i]
	}
	return nil
}

// appendJSON appends the value without members that are replaced by others of their names.
func (n *node) appendJSON(b []byte) []byte {
	if n.kind != '{' && n.kind != '[' {
		return append(b, n.text...)
	}
	b = append(b, byte(n.kind))
	first := true
	for i := range n.members {
		m := &n.members[i]
		if m.replaced {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		if n.kind == '{' {
			b, _ = jsonv2.AppendQuote(b, m.name)
			b = append(b, ':')
		}
		b = m.value.appendJSON(b)
	}
	return append(b, byte(n.kind)+2) // } follows { by two, and ] follows [
}

// depth returns how deep containers are nested in the value, itself included.
func (n *node) depth() (most int) {
	for i := range n.members {
		most = max(most, n.members[i].value.depth())
	}
	if n.kind == '{' || n.kind == '[' {
		most++
	}
	return most
}

// follow returns where the member starts that a path of the server leads to, such as
// spec.versions[0].schema.openAPIV3Schema.properties[a.b], or the last on the way that exists.
func (n *node) follow(path string) (at int) {
	for path != "" && n != nil {
		next, rest := n.step(path)
		if next == nil {
			break
		}
		n, at, path = next.value, next.at, rest
	}
	return at
}

// step returns the member with which a path starts, and the rest of the path. Names may contain dots and
// brackets, so that the longest one counts.
func (n *node) step(path string) (found *member, rest string) {
	for i := range n.members {
		m := &n.members[i]
		key := m.name
		if n.kind == '[' {
			key = strconv.Itoa(i)
		}
		for _, spelled := range [2]string{key, "[" + key + "]"} {
			after, ok := strings.CutPrefix(path, spelled)
			if !ok || m.replaced || after != "" && after[0] != '.' && after[0] != '[' {
				continue
			}
			if found == nil || len(after) < len(rest) {
				found, rest = m, after
			}
		}
	}
	return found, strings.TrimPrefix(rest, ".")
}
