package schema

// This file renders the defaults of a schema at compile time, so that inserting
// one is an append: pruned by the nodes they pass, and defaulted themselves
// from the top down (KEP-575 example 4).

import (
	"bytes"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/objectmeta"
	"github.com/espalier-dev/espalier/internal/program"
)

// MaxDefaultBytes bounds the size of all defaults of a program together, each
// with the defaults within it.
const MaxDefaultBytes = 16 << 20

// An edgeKey names an edge of a node that is being built: a field by its number,
// or one of the others.
type edgeKey struct {
	node *program.Node
	edge int
}

const (
	edgeUnknown  = -1
	edgeElements = -2
)

// A rawDefault is a default as the schema has it, and once it is rendered.
type rawDefault struct {
	value    jsontext.Value
	path     []pathStep // where the schema has it
	state    renderState
	rendered string // empty: nothing of it is left
}

type renderState uint8

const (
	unrendered renderState = iota
	rendering
	rendered
)

// A pathStep is a keyword on the way to a schema, and the name under it.
type pathStep struct{ keyword, name string }

// defaults collects the defaults of a program.
type defaults struct {
	raw   map[edgeKey]*rawDefault
	order []edgeKey // of raw
	// fieldsOf are, for each node, its fields with a default.
	fieldsOf map[*program.Node][]int
	budget   int
	path     []pathStep // the way to the schema that is being compiled
	// unsorted are the nodes of resources, and those whose fields have defaults.
	unsorted []*program.Node

	objectMeta map[*program.Node]bool // the nodes for whole metadata
}

func newDefaults() defaults {
	return defaults{
		raw:        make(map[edgeKey]*rawDefault),
		fieldsOf:   make(map[*program.Node][]int),
		budget:     MaxDefaultBytes,
		objectMeta: make(map[*program.Node]bool),
	}
}

// note remembers the default of s, if s is not nil, as that of an edge, which
// the last step leads to.
func (d *defaults) note(key edgeKey, s *Structural, last pathStep) {
	if s == nil {
		return
	}
	d.raw[key] = &rawDefault{value: s.Default, path: slices.Concat(d.path, []pathStep{last})}
	d.order = append(d.order, key)
	if key.edge >= 0 {
		d.fieldsOf[key.node] = append(d.fieldsOf[key.node], key.edge)
	}
	key.node.Defaults++ // until they are rendered, all that it has
}

// hasDefault reports whether the edge has the default of s, or none if s is nil.
func (d *defaults) hasDefault(key edgeKey, s *Structural) bool {
	raw := d.raw[key]
	if raw == nil || s == nil {
		return raw == nil && s == nil
	}
	return bytes.Equal(raw.value, s.Default)
}

// renderDefaults renders the defaults of all edges and puts the fields that
// have one first.
func (c *compiler) renderDefaults() error {
	for _, key := range c.order {
		text, err := c.defaultOf(key)
		if err != nil {
			return err
		}
		key.node.Defaults = 0
		if e := key.of(); text != "" {
			e.Default = text
		} else if e.Null == program.DefaultNull {
			// The server forgets such a default before it looks at nulls.
			if e.Null = program.KeepNull; key.edge != edgeElements && !c.preserve {
				e.Null = program.DropNull
			}
		}
	}
	var all []byte
	for _, n := range c.unsorted {
		slices.SortStableFunc(n.Fields, compareFields)
		for i := range n.Fields {
			f := &n.Fields[i]
			if f.Default == "" {
				break
			}
			all = appendMember(all, true, f.Key, f.Default)
			f.MemberEnd = int32(len(all))
			n.Defaults++
		}
		n.AllDefaults, all = string(all), all[:0]
	}
	return nil
}

func compareFields(a, b program.Field) int {
	switch {
	case a.Default != "" && b.Default == "":
		return -1
	case a.Default == "" && b.Default != "":
		return +1
	}
	return strings.Compare(a.Name(), b.Name())
}

func appendMember(dst []byte, comma bool, key, value string) []byte {
	if comma {
		dst = append(dst, ',')
	}
	return append(append(dst, key...), value...)
}

// defaultOf returns the rendered default of an edge, or "".
func (c *compiler) defaultOf(key edgeKey) (string, error) {
	d := c.raw[key]
	switch {
	case d == nil:
		return "", nil
	case d.state == rendered:
		return d.rendered, nil
	case d.state == rendering:
		return "", schemaError(d, "must not contain itself")
	}
	d.state = rendering
	n := key.of().Node
	value, ok := c.normalise(key, d.value)
	if !ok {
		d.state = rendered
		return "", nil
	}
	out, err := c.render(nil, jsontext.NewDecoder(bytes.NewReader(value)), n)
	switch err {
	case nil:
		d.rendered = string(out)
	case errMismatch:
		if c.dialect == KEP && n.Group == program.Pruned && n != c.text {
			return "", schemaError(d, "must be of type "+n.Types.String())
		}
	default:
		return "", err
	}
	if c.budget -= len(d.rendered); c.budget < 0 {
		return "", schemaError(d, "defaults within defaults must not grow beyond 16 MiB")
	}
	d.state = rendered
	return d.rendered, nil
}

func schemaError(d *rawDefault, msg string) error {
	value := string(d.value)
	if len(value) > 64 {
		value = value[:64] + "..."
	}
	field := "openAPIV3Schema"
	for _, step := range d.path {
		field += "." + step.keyword
		if step.keyword == "properties" {
			field += "[" + step.name + "]"
		}
	}
	if d.value == nil {
		return errors.SchemaErrors{{Kind: errors.Forbidden, Field: field, Msg: msg}}
	}
	return errors.SchemaErrors{{Kind: errors.Invalid, Field: field + ".default", Value: value, Msg: msg}}
}

// of returns the edge that is named.
func (k edgeKey) of() *program.Edge {
	switch k.edge {
	case edgeUnknown:
		return k.node.Unknown
	case edgeElements:
		return &k.node.Elements
	}
	return &k.node.Fields[k.edge].Edge
}

// errMismatch says that a value has a type that its node does not allow.
const errMismatch = mismatch("mismatch")

type mismatch string

func (m mismatch) Error() string { return string(m) }

// render appends the next value of dec as the node n leaves it.
func (c *compiler) render(dst []byte, dec *jsontext.Decoder, n *program.Node) ([]byte, error) {
	if c.budget < len(dst) {
		return dst, schemaError(&rawDefault{}, "defaults within defaults must not grow beyond 16 MiB")
	}
	k := dec.PeekKind()
	if k == '{' && !n.KeepObject && n.Types&program.Object != 0 {
		return c.renderObject(dst, dec, n)
	}
	if k == '[' && !n.KeepArray && n.Types&program.Array != 0 {
		return c.renderArray(dst, dec, n)
	}
	v, err := dec.ReadValue()
	if err != nil {
		return dst, err
	}
	if typeOf(v)&n.Types == 0 && !c.isMetadata(n) {
		return dst, errMismatch
	}
	v = v.Clone()
	if err := v.Compact(); err != nil {
		return dst, err
	}
	return append(dst, v...), nil
}

func typeOf(v jsontext.Value) program.Types {
	switch v.Kind() {
	case 'n':
		return program.Null
	case 't', 'f':
		return program.Boolean
	case '"':
		return program.String
	case '[':
		return program.Array
	case '{':
		return program.Object
	}
	if _, kind, _, _ := jsonwire.ScanNumber(v, 0); jsonwire.IsInt64(v, kind) {
		return program.Integer
	}
	return program.Number
}

func (c *compiler) renderObject(dst []byte, dec *jsontext.Decoder, n *program.Node) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	start := len(dst)
	seen := make(map[string]bool)
	for dec.PeekKind() == '"' {
		token, err := dec.ReadToken()
		if err != nil {
			return dst, err
		}
		name := token.String()
		key, known := edgeNamed(n, name)
		if !known {
			if err := dec.SkipValue(); err != nil {
				return dst, err
			}
			continue
		}
		before := len(dst)
		if before > start {
			dst = append(dst, ',')
		}
		dst = append(jsonwire.AppendQuoted(dst, name), ':')
		dst, err = c.renderMember(dst, dec, key)
		switch {
		case err == errMismatch && c.dropsMismatch(n, key):
			dst = dst[:before]
			continue
		case err != nil:
			return dst, err
		}
		seen[name] = true
	}
	if _, err := dec.ReadToken(); err != nil {
		return dst, err
	}
	for _, i := range c.fieldsOf[n] {
		f := &n.Fields[i]
		if seen[f.Name()] {
			continue
		}
		d, err := c.defaultOf(edgeKey{n, i})
		if err != nil {
			return dst, err
		}
		if d != "" {
			dst = appendMember(dst, len(dst) > start, f.Key, d)
		}
	}
	return append(dst, '}'), nil
}

// edgeNamed returns the edge that the name leads along. The node's table is
// built later; its fields are still sorted by name, but for the first ones of a
// resource.
func edgeNamed(n *program.Node, name string) (key edgeKey, known bool) {
	first := min(len(n.Fields), len(reserved))
	for i := range n.Fields[:first] {
		if n.Fields[i].Name() == name {
			return edgeKey{n, i}, true
		}
	}
	rest := n.Fields[first:]
	i, found := slices.BinarySearchFunc(rest, name, func(f program.Field, name string) int {
		return strings.Compare(f.Name(), name)
	})
	if found {
		return edgeKey{n, first + i}, true
	}
	return edgeKey{n, edgeUnknown}, n.Unknown != nil
}

// dropsMismatch reports whether a member of another type than it must have is
// left out of a default, as the server does with apiVersion and kind of resources
// (objectmeta.CoerceOptions.DropInvalidFields).
func (c *compiler) dropsMismatch(n *program.Node, key edgeKey) bool {
	return key.of().Node == c.text && n.Group == program.Pruned
}

// isMetadata reports whether n is for the whole metadata of a resource.
func (c *compiler) isMetadata(n *program.Node) bool {
	return c.defaults.objectMeta[n] || c.common.objectMeta[n]
}

// normalise returns a default on an edge, or a part of one, after what the server
// does to metadata in defaults before it uses them (defaulting.PruneDefaults): a
// round trip through ObjectMeta without what does not fit there. ok says whether
// anything is left. Metadata that is no object stays.
func (c *compiler) normalise(key edgeKey, v jsontext.Value) (out jsontext.Value, ok bool) {
	if c.isMetadata(key.of().Node) && (v.Kind() == '{' || v.Kind() == 'n') {
		out, err := objectmeta.Append(nil, v, true, false)
		return out, err == nil
	}
	if !c.isMetadata(key.node) {
		return v, true
	}
	key2 := key.node.Fields[key.edge].Key
	whole, err := objectmeta.Append(nil, append(append(append([]byte{'{'}, key2...), v...), '}'), true, false)
	if err != nil || len(whole) <= len(key2)+len("{}") {
		return nil, false
	}
	return whole[len("{")+len(key2) : len(whole)-len("}")], true
}

// renderMember appends the next value as the edge leaves it. Where a mismatch
// is found the whole value has been read all the same.
func (c *compiler) renderMember(dst []byte, dec *jsontext.Decoder, key edgeKey) ([]byte, error) {
	if dec.PeekKind() == 'n' {
		d, err := c.nullDefault(key)
		if d != "" || err != nil {
			dec.SkipValue()
			return append(dst, d...), err
		}
	}
	n := key.of().Node
	if n != c.text && !c.isMetadata(n) {
		return c.render(dst, dec, n)
	}
	v, err := dec.ReadValue()
	if err != nil {
		return dst, err
	}
	if n != c.text {
		v, _ = c.normalise(key, v)
	}
	return c.render(dst, jsontext.NewDecoder(bytes.NewReader(v)), n)
}

// nullDefault returns the default that takes the place of a null, or "".
func (c *compiler) nullDefault(key edgeKey) (string, error) {
	if key.of().Null != program.DefaultNull {
		return "", nil
	}
	return c.defaultOf(key)
}

func (c *compiler) renderArray(dst []byte, dec *jsontext.Decoder, n *program.Node) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return dst, err
	}
	dst = append(dst, '[')
	for first := true; dec.PeekKind() != ']'; first = false {
		if !first {
			dst = append(dst, ',')
		}
		var err error
		if dst, err = c.renderMember(dst, dec, edgeKey{n, edgeElements}); err != nil {
			return dst, err
		}
	}
	_, err := dec.ReadToken()
	return append(dst, ']'), err
}
