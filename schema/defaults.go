package schema

// This file renders the defaults of a schema at compile time, so that inserting one is an append. A
// default is pruned by the nodes that it passes, and defaulted itself from the top down (KEP-575
// example 4).

import (
	"bytes"
	stderrors "errors"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"

	kjson "sigs.k8s.io/json"
)

// MaxDefaultBytes bounds the total size of all defaults of a program, where
// each includes the defaults within it: 16 MiB.
const MaxDefaultBytes = 16 << 20

// An edgeKey names an edge of a node that is being built: a field by its number, or one of the
// other edges.
type edgeKey struct {
	node *program.Node
	edge int
}

const (
	edgeUnknown  = -1
	edgeElements = -2
)

// A rawDefault is a default as it is in the schema, and its rendered form.
type rawDefault struct {
	schema   *Structural // the schema that has it
	state    renderState
	rendered string // empty if nothing of it is left
}

type renderState uint8

const (
	unrendered renderState = iota
	rendering
	rendered
)

// defaults collects the defaults of a program.
type defaults struct {
	raw   map[edgeKey]*rawDefault
	order []edgeKey // of raw
	// fieldsOf has the fields with a default of each node.
	fieldsOf map[*program.Node][]int
	budget   int
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

// note records the default of s, unless s is nil, as that of an edge.
func (d *defaults) note(key edgeKey, s *Structural) {
	if s == nil {
		return
	}
	d.raw[key] = &rawDefault{schema: s}
	d.order = append(d.order, key)
	if key.edge >= 0 {
		d.fieldsOf[key.node] = append(d.fieldsOf[key.node], key.edge)
	}
	key.node.Defaults++ // all that are declared, until they are rendered
}

// hasDefault reports whether the edge has the default of s, or no default if s is nil.
func (d *defaults) hasDefault(key edgeKey, s *Structural) bool {
	raw := d.raw[key]
	if raw == nil || s == nil {
		return raw == nil && s == nil
	}
	return bytes.Equal(raw.schema.Default, s.Default)
}

// renderDefaults renders the defaults of all edges and moves the fields that have one to the front.
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
			// The server drops an empty default before it looks at nulls.
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

// defaultOf returns the rendered default of an edge, or "" if nothing of it is left.
func (c *compiler) defaultOf(key edgeKey) (string, error) {
	d := c.raw[key]
	switch d.state {
	case rendered:
		return d.rendered, nil
	case rendering:
		return "", c.defaultError(d, "must not contain itself")
	}
	d.state = rendering
	if mayOverflow(d.schema.Default) {
		var v any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(d.schema.Default, &v); err != nil {
			return "", c.defaultError(d, "must not hold a number beyond the range of float64")
		}
	}
	n := key.of().Node
	value, ok := c.normalise(key, jsonv2.Value(d.schema.Default))
	if !ok {
		d.state = rendered
		return "", nil
	}
	out, err := c.render(nil, jsonv2.NewDecoder(bytes.NewReader(value)), n)
	var within errors.SchemaErrors
	switch {
	case err == nil:
		d.rendered = string(out)
	case err == errTooLarge:
		return "", c.defaultError(d, "defaults within defaults must not grow beyond 16 MiB")
	case err == errMismatch:
		if c.semantics == KEP && n.Group == program.Pruned && !c.isText(n) {
			return "", c.defaultError(d, "must be of type "+n.Types.String())
		}
	case stderrors.As(err, &within):
		return "", err
	default:
		return "", c.defaultError(d, "must be JSON: "+err.Error())
	}
	d.state = rendered
	return d.rendered, nil
}

// mayOverflow reports whether a value may have a number beyond float64, which the API server does
// not read. It looks for an exponent of three digits, or for 300 digits in a row.
func mayOverflow(value []byte) bool {
	digits, exponent := 0, false
	for i, c := range value {
		switch {
		case '0' <= c && c <= '9':
			if digits++; digits == 300 || exponent && digits == 3 {
				return true
			}
		case c == '+' && exponent && digits == 0:
		default:
			exponent = c|0x20 == 'e' && i > 0 && '0' <= value[i-1] && value[i-1] <= '9'
			digits = 0
		}
	}
	return false
}

// defaultError returns the error for a default that is refused, with its place.
func (c *compiler) defaultError(d *rawDefault, msg string) error {
	value := string(d.schema.Default)
	if len(value) > 64 {
		value = value[:64] + "..."
	}
	return errors.SchemaErrors{{
		Kind: errors.SchemaInvalid, Field: c.source.fieldOf(d.schema) + ".default", Value: value, Msg: msg,
	}}
}

// of returns the edge with the key.
func (k edgeKey) of() *program.Edge {
	switch k.edge {
	case edgeUnknown:
		return k.node.Unknown
	case edgeElements:
		return &k.node.Elements
	}
	return &k.node.Fields[k.edge].Edge
}

var (
	// errMismatch says that a value has a type that its node does not allow.
	errMismatch = stderrors.New("mismatch")
	// errTooLarge says that the budget for all defaults is spent.
	errTooLarge = stderrors.New("too large")
)

// put appends a part of a default and charges it at once, because other defaults may be rendered
// before this one is complete.
func put[T ~string | ~[]byte](c *compiler, dst []byte, part T) ([]byte, error) {
	if c.budget -= len(part); c.budget < 0 {
		return dst, errTooLarge
	}
	return append(dst, part...), nil
}

// render appends the next value of dec as the node n leaves it.
func (c *compiler) render(dst []byte, dec *jsonv2.Decoder, n *program.Node) ([]byte, error) {
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
	_ = v.Compact() // it was read as JSON before
	return put(c, dst, v)
}

func typeOf(v jsonv2.Value) program.Types {
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

func (c *compiler) renderObject(dst []byte, dec *jsonv2.Decoder, n *program.Node) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return dst, err
	}
	dst, err := put(c, dst, "{")
	start := len(dst)
	seen := make(map[string]bool)
	for err == nil && dec.PeekKind() == '"' {
		var token jsonv2.Token
		if token, err = dec.ReadToken(); err != nil {
			break
		}
		name := token.String()
		key, known := edgeNamed(n, name)
		if !known {
			err = dec.SkipValue()
			continue
		}
		before := len(dst)
		dst, err = c.renderNamed(dst, dec, key, name, before > start)
		if err == errMismatch && c.dropsMismatch(n, key) {
			dst, err = dst[:before], nil
			continue
		}
		seen[name] = true
	}
	if err != nil {
		return dst, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return dst, err
	}
	if dst, err = c.renderAbsent(dst, n, seen, len(dst) > start); err != nil {
		return dst, err
	}
	return put(c, dst, "}")
}

// renderNamed appends a member: its name, and the next value as the edge leaves it.
func (c *compiler) renderNamed(
	dst []byte, dec *jsonv2.Decoder, key edgeKey, name string, comma bool,
) ([]byte, error) {
	var room [64]byte
	text := room[:0]
	if comma {
		text = append(text, ',')
	}
	dst, err := put(c, dst, append(jsonwire.AppendQuoted(text, name), ':'))
	if err != nil {
		return dst, err
	}
	return c.renderMember(dst, dec, key)
}

// renderAbsent appends the defaults of the fields that an object did not have.
func (c *compiler) renderAbsent(
	dst []byte, n *program.Node, seen map[string]bool, comma bool,
) ([]byte, error) {
	for _, i := range c.fieldsOf[n] {
		f := &n.Fields[i]
		if seen[f.Name()] {
			continue
		}
		d, err := c.defaultOf(edgeKey{n, i})
		if err != nil {
			return dst, err
		}
		if d == "" {
			// Each look is charged, because many objects may have many of these fields.
			if c.budget--; c.budget < 0 {
				return dst, errTooLarge
			}
			continue
		}
		before := len(dst)
		dst = appendMember(dst, comma, f.Key, d)
		if c.budget -= len(dst) - before; c.budget < 0 {
			return dst, errTooLarge
		}
		comma = true
	}
	return dst, nil
}

// edgeNamed returns the edge for a name. The hash table of the node is built later. Its fields are
// still sorted by name, except for the first ones of a resource.
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

// dropsMismatch reports whether a member of a wrong type is left out of a default, as the server
// leaves out apiVersion and kind of resources (objectmeta.CoerceOptions.DropInvalidFields).
func (c *compiler) dropsMismatch(n *program.Node, key edgeKey) bool {
	return c.isText(key.of().Node) && n.Group == program.Pruned
}

// isMetadata reports whether n is for the whole metadata of a resource.
func (c *compiler) isMetadata(n *program.Node) bool {
	return c.defaults.objectMeta[n] || c.common.objectMeta[n]
}

// normalise returns a default on an edge, or a part of one, in the form in which the server uses it
// within metadata (defaulting.PruneDefaults): after a round trip through ObjectMeta that drops what
// does not fit. ok reports whether anything is left. Metadata that is not an object stays, and by
// the KEP a null stays as well.
func (c *compiler) normalise(key edgeKey, v jsonv2.Value) (out jsonv2.Value, ok bool) {
	if c.isMetadata(key.of().Node) && (v.Kind() == '{' || v.Kind() == 'n' && c.semantics != KEP) {
		out, err := apiserver.AppendMetadata(nil, v, true, false, nil)
		return out, err == nil
	}
	if !c.isMetadata(key.node) {
		return v, true
	}
	key2 := key.node.Fields[key.edge].Key
	object := append(append(append([]byte{'{'}, key2...), v...), '}')
	whole, err := apiserver.AppendMetadata(nil, object, true, false, nil)
	if err != nil || string(whole) == "{}" {
		return nil, false
	}
	return whole[len("{")+len(key2) : len(whole)-len("}")], true
}

// renderMember appends the next value as the edge leaves it. It reads the whole value even if it
// finds a mismatch.
func (c *compiler) renderMember(dst []byte, dec *jsonv2.Decoder, key edgeKey) ([]byte, error) {
	if dec.PeekKind() == 'n' {
		d, err := c.nullDefault(key)
		if d != "" || err != nil {
			dec.SkipValue()
			if err != nil {
				return dst, err
			}
			return put(c, dst, d)
		}
	}
	n := key.of().Node
	if !c.isMetadata(n) {
		return c.render(dst, dec, n)
	}
	v, err := dec.ReadValue()
	if err != nil {
		return dst, err
	}
	v, _ = c.normalise(key, v)
	return c.render(dst, jsonv2.NewDecoder(bytes.NewReader(v)), n)
}

// nullDefault returns the default that replaces a null, or "".
func (c *compiler) nullDefault(key edgeKey) (string, error) {
	if key.of().Null != program.DefaultNull {
		return "", nil
	}
	return c.defaultOf(key)
}

func (c *compiler) renderArray(dst []byte, dec *jsonv2.Decoder, n *program.Node) ([]byte, error) {
	if _, err := dec.ReadToken(); err != nil {
		return dst, err
	}
	dst, err := put(c, dst, "[")
	for first := true; err == nil && dec.PeekKind() != ']'; first = false {
		if !first {
			if dst, err = put(c, dst, ","); err != nil {
				break
			}
		}
		dst, err = c.renderMember(dst, dec, edgeKey{n, edgeElements})
	}
	if err != nil {
		return dst, err
	}
	dec.ReadToken() // the bracket
	return put(c, dst, "]")
}
