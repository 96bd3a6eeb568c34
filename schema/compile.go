package schema

// This file lowers a Structural to a program.Program. The nodes of a program
// are pairs of a schema and a mode: within a subtree that preserves unknown
// fields the same schema means something else. What the API server does in
// separate walks (prune, drop nulls, coerce metadata, default) is folded into
// the edges between these nodes.

import (
	"maps"
	"slices"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// A Dialect is what a program does where Kubernetes and the KEPs differ.
type Dialect uint8

const (
	// Kubernetes is what a kube-apiserver does (checked against v0.37 of
	// k8s.io/apiextensions-apiserver). Values of another type than the schema's
	// are kept, as they are left to validation; a null is dropped or defaulted
	// where its field is not nullable; pruning starts again in every specified
	// field of an object that preserves unknown fields.
	Kubernetes Dialect = iota
	// KEP is what KEP-2332 and KEP-575 say: a value of another type is an error
	// (KEP-2332 proposal 3), a null stays (KEP-575 example 3), and below
	// x-kubernetes-preserve-unknown-fields pruning, and with it the checking of
	// types, starts again only at schemas that declare properties themselves
	// (KEP-2332 examples 7 to 9).
	KEP
)

// String returns the name of the constant.
func (d Dialect) String() string {
	if d == KEP {
		return "KEP"
	}
	return "Kubernetes"
}

// An Option changes how [Compile] reads a schema.
type Option func(*options)

type options struct {
	dialect  Dialect
	resource bool
	preserve bool
}

// Semantics chooses the dialect. The default is [Kubernetes].
func Semantics(d Dialect) Option { return func(o *options) { o.dialect = d } }

// ResourceRoot says whether values at the root are resources, in which
// apiVersion, kind and metadata are specified implicitly (KEP-2332 proposal 4).
// The default is true.
func ResourceRoot(is bool) Option { return func(o *options) { o.resource = is } }

// PreserveUnknownFields compiles for a definition with
// spec.preserveUnknownFields set, as there are in apiextensions.k8s.io/v1beta1:
// nothing is pruned and no null dropped, but for metadata. The default is false.
func PreserveUnknownFields(does bool) Option { return func(o *options) { o.preserve = does } }

// Compile lowers a schema to a program. The schema is meant to be structural:
// of one that [Structural.Validate] refuses, what is outside the structural
// core is ignored, as the API server's pruning and defaulting ignore it. Of the
// defaults of a schema, what would be pruned is left out
// (defaulting.PruneDefaults).
//
// Compile fails with errors.SchemaErrors where defaults within defaults grow
// beyond [MaxDefaultBytes], or where, under [KEP], a default is not of the type
// of its schema. The schema is not changed, and nothing of it is kept.
func Compile(s *Structural, opts ...Option) (*Program, error) {
	o := options{resource: true}
	for _, opt := range opts {
		opt(&o)
	}
	c := newCompiler(o)
	p := new(Program)
	p.table.Root = c.root(s)
	if err := c.renderDefaults(); err != nil {
		return nil, err
	}
	for _, n := range c.list {
		p.table.Cells = n.Finish(p.table.Cells)
	}
	p.table.Nodes = c.list
	return p, nil
}

// A mode says whether unknown fields are kept.
type mode uint8

const (
	prune mode = iota // the server's prune
	keep              // the server's skipPrune, and all that is below it in the KEP
)

// A role says what is specified implicitly in an object.
type role uint8

const (
	plain    role = iota
	embedded      // x-kubernetes-embedded-resource
	root          // the resource itself
)

// A nodeKey is what a node is made from.
type nodeKey struct {
	schema *Structural
	mode   mode
	role   role
	typed  bool      // the type is checked
	meta   *metaType // for nodes within metadata, and nil elsewhere
}

type compiler struct {
	options
	nodes  map[nodeKey]*program.Node
	list   []*program.Node
	any    *program.Node // everything within is kept
	none   *program.Node // everything within is pruned
	text   *program.Node // strings only
	path   []string      // the way to the schema that is being compiled
	raw    map[edgeKey]rawDefault
	budget int

	objectMeta map[*program.Node]bool // the nodes for whole metadata
}

func newCompiler(o options) *compiler {
	c := &compiler{
		options: o,
		nodes:   make(map[nodeKey]*program.Node),
		raw:     make(map[edgeKey]rawDefault),
		budget:  MaxDefaultBytes,

		objectMeta: make(map[*program.Node]bool),
	}
	c.any = c.add(&program.Node{Types: program.Any, KeepObject: true, KeepArray: true})
	c.any.Unknown = &program.Edge{Node: c.any}
	c.any.Elements = program.Edge{Node: c.any}
	c.none = c.add(&program.Node{Types: program.Any})
	c.none.Elements = program.Edge{Node: c.none}
	c.text = c.add(&program.Node{Types: program.String, KeepObject: true, KeepArray: true})
	c.text.Unknown = &program.Edge{Node: c.any}
	c.text.Elements = program.Edge{Node: c.any}
	return c
}

// add gives a node its number.
func (c *compiler) add(n *program.Node) *program.Node {
	n.ID = len(c.list)
	c.list = append(c.list, n)
	return n
}

func (c *compiler) root(s *Structural) *program.Node {
	if s == nil {
		s = new(Structural)
	}
	m, r := prune, plain
	if c.preserve {
		m = keep
	}
	if c.resource {
		r = root
	}
	return c.compile(s, m, r)
}

// node returns the node for values of s, which is nil where nothing is
// specified.
func (c *compiler) node(s *Structural, m mode) *program.Node {
	switch {
	case s == nil && m == keep:
		return c.any
	case s == nil:
		return c.none
	case s.XEmbeddedResource:
		return c.compile(s, m, embedded)
	}
	return c.compile(s, m, plain)
}

func (c *compiler) compile(s *Structural, m mode, r role) *program.Node {
	key := nodeKey{schema: s, mode: m, role: r}
	// Within what is preserved the KEP checks no types (example 9 keeps a number
	// where its schema says object); of what starts to preserve it does.
	key.typed = c.dialect == KEP && m == prune && types(s) != program.Any
	if s.preserves() {
		key.mode = keep
	}
	if r == plain && !key.typed && c.isLeaf(s, key.mode) {
		return c.node(nil, key.mode)
	}
	if n := c.nodes[key]; n != nil {
		return n
	}
	n := c.add(&program.Node{Types: program.Any})
	c.nodes[key] = n // before what is below, which may lead back here
	switch {
	case r == root:
		n.Types = program.Object
	case key.typed:
		n.Types = types(s)
	}
	c.fields(n, s, key.mode, r)
	c.unknown(n, s, key.mode)
	c.elements(n, s, key.mode)
	return n
}

// isLeaf reports whether s specifies nothing below itself that a node without
// a schema does not do as well.
func (c *compiler) isLeaf(s *Structural, m mode) bool {
	if len(s.Properties) > 0 || s.AdditionalProperties != nil {
		return false
	}
	items := s.element()
	return items == nil || c.dialect == Kubernetes && !items.XEmbeddedResource &&
		items.preserves() == (m == keep) && !items.hasDefault() && items.element() == nil && c.isLeaf(items, m)
}

// below returns the mode for a schema below one in mode m.
func (c *compiler) below(s *Structural, m mode) mode {
	if c.preserve || c.dialect == KEP && m == keep && (s == nil || len(s.Properties) == 0) {
		return keep
	}
	return prune
}

// fields adds the declared fields of an object.
func (c *compiler) fields(n *program.Node, s *Structural, m mode, r role) {
	if r != plain {
		for _, name := range reserved {
			c.reserved(n, name, s.Properties[name], r)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if child := s.Properties[name]; r == plain || !slices.Contains(reserved, name) {
			c.path = append(c.path, "properties["+name+"]")
			e := program.Edge{Node: c.node(child, c.below(child, m)), Null: c.null(child, program.DropNull)}
			c.field(n, name, e, child)
			c.path = c.path[:len(c.path)-1]
		}
	}
}

// field adds a declared field; s is its schema or nil.
func (c *compiler) field(n *program.Node, name string, e program.Edge, s *Structural) {
	c.note(edgeKey{n, len(n.Fields)}, s)
	n.Fields = append(n.Fields, program.MakeField(name, jsonwire.AppendQuoted(nil, name), e))
}

// unknown sets what undeclared names lead to. Of additionalProperties, true,
// false and a schema are the same to pruning.
func (c *compiler) unknown(n *program.Node, s *Structural, m mode) {
	switch {
	case s.AdditionalProperties != nil:
		value := s.value()
		c.path = append(c.path, "additionalProperties")
		n.Unknown = &program.Edge{Node: c.node(value, c.below(value, m)), Null: c.null(value, program.DropNull)}
		c.note(edgeKey{n, edgeUnknown}, value)
		c.path = c.path[:len(c.path)-1]
	case m == keep:
		n.Unknown = &program.Edge{Node: c.any}
	}
	n.KeepObject = len(n.Fields) == 0 && n.Unknown != nil && n.Unknown.Node == c.any && n.Unknown.Null == program.KeepNull
}

// elements sets what the elements of an array lead to. A null among them is
// never removed.
func (c *compiler) elements(n *program.Node, s *Structural, m mode) {
	items := s.element()
	if c.dialect == KEP {
		m = c.below(items, m)
	}
	c.path = append(c.path, "items")
	n.Elements = program.Edge{Node: c.node(items, m), Null: c.null(items, program.KeepNull)}
	c.note(edgeKey{n, edgeElements}, items)
	c.path = c.path[:len(c.path)-1]
	n.KeepArray = n.Elements.Node == c.any && n.Elements.Null == program.KeepNull
}

// null returns what happens to a null for which the schema s is given: dropped
// says what if it is neither allowed nor defaulted (defaulting.Default and
// PruneNonNullableNullsWithoutDefaults of the server).
func (c *compiler) null(s *Structural, dropped program.NullAction) program.NullAction {
	switch {
	case c.dialect == KEP || s == nil || s.Nullable:
		return program.KeepNull
	case s.hasDefault():
		return program.DefaultNull
	case c.preserve:
		return program.KeepNull
	}
	return dropped
}

// types returns the types that the KEP lets pass. A null always passes: whether
// it is allowed is left to validation.
func types(s *Structural) program.Types {
	if s.XIntOrString {
		return program.Null | program.Integer | program.String
	}
	switch s.Type {
	case "object":
		return program.Null | program.Object
	case "array":
		return program.Null | program.Array
	case "string":
		return program.Null | program.String
	case "boolean":
		return program.Null | program.Boolean
	case "integer":
		return program.Null | program.Integer
	case "number":
		return program.Null | program.Integer | program.Number
	}
	return program.Any
}
