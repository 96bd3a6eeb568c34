package schema

// This file lowers a Structural to a program.Program. The nodes of a program are pairs of a schema
// and a mode, because within a subtree that preserves unknown fields a schema has another meaning.
// The API server prunes, drops nulls, coerces metadata and inserts defaults in separate walks. Here
// the edges between the nodes say all of that.

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// Semantics are the rules by which a schema is compiled: those of the deployed
// API server or those of the KEPs. They are an [Option]: Compile(s, KEP).
type Semantics uint8

const (
	// Deployed is what a kube-apiserver does, and the default (checked
	// against v0.37 of k8s.io/apiextensions-apiserver). Values of another
	// type than the schema's are kept, because the server leaves them to
	// validation. A null is dropped or defaulted where its field is not
	// nullable. Pruning resumes in every specified field of an object that
	// preserves unknown fields.
	Deployed Semantics = iota
	// KEP is what KEP-2332 and KEP-575 say. A value of another type is an
	// error (KEP-2332, proposal 3). A null stays (KEP-575, example 3).
	// Below x-kubernetes-preserve-unknown-fields, pruning and the checking
	// of types resume only at schemas that declare properties themselves
	// (KEP-2332, examples 7 to 9).
	KEP
)

// String returns the name of the constant.
func (s Semantics) String() string {
	switch s {
	case Deployed:
		return "Deployed"
	case KEP:
		return "KEP"
	}
	return "Semantics(" + strconv.Itoa(int(s)) + ")"
}

// MarshalText returns the text of String. It fails where s is not one of the
// constants.
func (s Semantics) MarshalText() ([]byte, error) {
	if s > KEP {
		return nil, fmt.Errorf("schema: there is no %s", s)
	}
	return []byte(s.String()), nil
}

func (s Semantics) apply(o *options) { o.semantics = s }

// An Option changes how [Compile] reads a schema. It is a [Semantics], or the
// result of a function of this package such as [CheckTypes]. The order of
// options does not matter, except that of two options that set the same thing
// the last one counts.
type Option interface{ apply(*options) }

// An optionFunc is an option that is made by a function.
type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

type options struct {
	semantics Semantics
	resource  bool
	preserve  bool
	typed     bool
	values

	perDocument int     // the most that defaults may add
	perByte     float64 // and for each byte of a document
}

// ResourceRoot sets whether values at the root are resources, for which
// apiVersion, kind and metadata are specified implicitly (KEP-2332, proposal
// 4). The default is true.
func ResourceRoot(is bool) Option { return optionFunc(func(o *options) { o.resource = is }) }

// PreserveUnknownFields sets whether the schema is compiled for a definition
// with spec.preserveUnknownFields set, as in apiextensions.k8s.io/v1beta1:
// outside of metadata nothing is pruned and no null is dropped. The default is
// false.
func PreserveUnknownFields(does bool) Option {
	return optionFunc(func(o *options) { o.preserve = does })
}

// CheckTypes sets whether under [Deployed], too, a value of another type than
// its schema's is an error, wherever a schema gives a type. The API server
// refuses such a value in validation, after decoding. Under [KEP], types are
// always checked where the KEP requires it. Defaults of another type are left
// out of the program. The default is false.
func CheckTypes(does bool) Option { return optionFunc(func(o *options) { o.typed = does }) }

// Compile compiles a schema into a program. The schema should be structural.
// For a schema that package schema/validation refuses, Compile ignores what is
// outside the structural core, as the API server's pruning and defaulting do.
// The parts of a default that would be pruned are left out
// (defaulting.PruneDefaults).
//
// Compile fails with [errors.SchemaErrors] where
//
//   - a schema has more than about a million properties in one place,
//   - the schema is deeper than [MaxDepth],
//   - defaults within defaults grow beyond [MaxDefaultBytes],
//   - defaults may add more to documents than [MaxExpansion] allows,
//   - under [KEP], a default is not of the type of its schema.
//
// It fails with another error where an option is nil or has no meaning.
//
// A nil schema is the empty one. Compile does not change the schema and keeps
// nothing of it. Time and memory are linear in the size of the schema and of
// its rendered defaults.
func Compile(s *Structural, opts ...Option) (*Program, error) {
	o, err := optionsOf(opts)
	if err != nil {
		return nil, err
	}
	return o.compile(s)
}

func (o options) compile(s *Structural) (*Program, error) {
	c := newCompiler(o, s)
	defer c.release()
	root := c.root(s)
	if c.failed != nil {
		return nil, c.failed
	}
	if err := c.renderDefaults(); err != nil {
		return nil, err
	}
	p := &Program{program.Finish(root, c.list, &c.common.Program)}
	if c.maker != nil {
		p.doubtDefaults()
		p.table.Validator = c.maker.Validator(s, c.crd, c.version, c.resource)
	}
	if err := c.checkExpansion(p); err != nil {
		return nil, err
	}
	return p, nil
}

// optionsOf returns the combined effect of the options.
func optionsOf(opts []Option) (options, error) {
	o := options{resource: true}
	for i, opt := range opts {
		if opt == nil {
			return o, fmt.Errorf("schema: option %d of %d is nil", i+1, len(opts))
		}
		opt.apply(&o)
	}
	if o.semantics > KEP {
		return o, fmt.Errorf("schema: there is no %s", o.semantics)
	}
	if o.perDocument < 0 || !(o.perByte >= 0) {
		return o, fmt.Errorf("schema: MaxExpansion: %d and %v are no bounds: they are at least 0",
			o.perDocument, o.perByte)
	}
	return o, nil
}

// MaxDepth is the maximum depth of a schema for [Compile] and [ParseOpenAPI].
// It is the maximum depth of documents. A schema in text reaches at most half
// this depth.
const MaxDepth = 10_000

// A mode says whether unknown fields are kept.
type mode uint8

const (
	prune mode = iota // the server's prune
	keep              // the server's skipPrune, and everything below it in the KEP
)

// A role says which fields of an object are specified implicitly.
type role uint8

const (
	plain    role = iota
	embedded      // x-kubernetes-embedded-resource
	root          // the resource itself
)

// roleOf returns the role of values of s below the root.
func roleOf(s *Structural) role {
	if s.XEmbeddedResource {
		return embedded
	}
	return plain
}

// declared returns what s, whose values have the role r, declares for an
// implicit field, or nil. At the root that does not count.
func (r role) declared(s *Structural, name string) *Structural {
	if r == root {
		return nil
	}
	return s.Properties[name]
}

// A nodeKey identifies a node by the parts that it is made from.
type nodeKey struct {
	schema *Structural
	mode   mode
	role   role
	typed  bool // the type is checked
	judged bool // below a junctor, where values are judged and nothing is inserted
	variant
}

type leafKey struct {
	types program.Types
	mode  mode
	rules *program.Rules
}

type compiler struct {
	options
	graph
	defaults
	*scratch
	source *Structural
	meta   map[metaKey]*program.Node // within metadata
	depth  int                       // of the schema that is being compiled
	nested int                       // junctors that it is in
	rules  map[string]*program.Rules // by their contents
	ruled  map[ruledKey]*program.Node
	texts  map[*program.Node]bool // those that isText
	// failed is set if a schema is nested too deep, or has more fields than a node can have.
	failed error
}

// A scratch is memory for compiling that a program does not keep. It is reused.
type scratch struct {
	made   []compiled
	byKey  hashed // in made
	bySame hashed // in graph.list, by the contents of nodes
	leaves map[leafKey]*program.Node
	edges  []protoEdge // of the nodes that are being made, one node after the other
	props  []property  // of the schemas on the path, sorted for each
}

var scratches = sync.Pool{New: func() any {
	return &scratch{leaves: make(map[leafKey]*program.Node)}
}}

func newScratch() *scratch {
	s := scratches.Get().(*scratch)
	s.byKey.reset()
	s.bySame.reset()
	return s
}

// largestScratch is how many edges a scratch may have to be kept. Emptying it takes as long as the
// largest schema needed.
const largestScratch = 1 << 16

// release empties the scratch.
func (s *scratch) release() {
	if cap(s.edges)+cap(s.made)+cap(s.props) > largestScratch {
		return
	}
	clear(s.leaves)
	clear(s.made)
	clear(s.edges[:cap(s.edges)])
	clear(s.props[:cap(s.props)])
	s.made, s.edges, s.props = s.made[:0], s.edges[:0], s.props[:0]
	scratches.Put(s)
}

// A property is a field that a schema declares.
type property struct {
	prefix uint64 // the start of the name; it sorts as the name does
	name   string
	schema *Structural
}

func prefix(name string) uint64 {
	var b [8]byte
	copy(b[:], name)
	return binary.BigEndian.Uint64(b[:])
}

func newCompiler(o options, source *Structural) *compiler {
	return &compiler{
		options:  o,
		source:   source,
		graph:    newGraph(baseFor(o.maker)),
		defaults: newDefaults(),
		scratch:  newScratch(),
		meta:     make(map[metaKey]*program.Node),
	}
}

// A compiled is a node with its key. The node is nil while the nodes below it are compiled.
type compiled struct {
	key  nodeKey
	node *program.Node
}

// find returns the index in c.made of the node with the key, and whether it was there already.
func (c *compiler) find(key nodeKey) (at int32, ok bool) {
	variant := uint64(key.mode)<<8 | uint64(key.role)<<4
	if key.typed {
		variant |= 1
	}
	if key.judged {
		variant |= 2
	}
	for _, b := range []byte(key.keys + string(key.scale)) {
		variant = variant*31 + uint64(b)<<12
	}
	hash := (uint64(reflect.ValueOf(key.schema).Pointer()) ^ variant<<48) * 0x9fb21c651e98df25
	hash ^= hash >> 29
	for at, probe, ok := c.byKey.next(hash, 0); ok; at, probe, ok = c.byKey.next(hash, probe) {
		if c.made[at].key == key {
			return at, true
		}
	}
	at = int32(len(c.made))
	c.made = append(c.made, compiled{key: key})
	c.byKey.add(hash, at)
	return at, false
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
	return c.compile(s, m, r, c.rootVariant())
}

// node returns the node for values of s. If nothing is specified, s is nil.
func (c *compiler) node(s *Structural, m mode) *program.Node {
	switch {
	case s == nil && m == keep:
		return c.any
	case s == nil:
		return c.none
	}
	return c.compile(s, m, roleOf(s), variant{})
}

func (c *compiler) compile(s *Structural, m mode, r role, of variant) *program.Node {
	key := nodeKey{schema: s, mode: m, role: r, judged: c.nested > 0, variant: of}
	// Where unknown fields are preserved the KEP checks no types (example 9 keeps a number where
	// its schema says object). It checks the type of the value at which preserving starts.
	key.typed = c.checksTypes(m) && types(s) != program.Any
	if s.preserves() {
		key.mode = keep
	}
	if r == plain && c.isLeaf(s, key.mode) && (c.maker == nil || isRuledLeaf(s, of)) {
		if c.maker != nil {
			t := program.Any
			if key.typed {
				t = types(s)
			}
			return c.leaf(t, key.mode, c.rulesOf(s, plain, of))
		}
		if !key.typed {
			return c.node(nil, key.mode)
		}
		return c.leaf(types(s), key.mode, nil)
	}
	at, ok := c.find(key)
	if ok {
		if c.made[at].node == nil {
			// The schema contains itself. Its node is made before its contents.
			c.made[at].node = c.add(program.Any)
		}
		return c.made[at].node
	}
	if c.depth >= MaxDepth {
		c.fail(s, "must not be nested more than 10000 deep")
		return c.none
	}
	c.depth++
	p := proto{types: program.Any, first: len(c.edges), resource: r != plain}
	switch {
	case r == root:
		p.types = program.Object
	case key.typed:
		p.types = types(s)
	}
	c.fields(&p, s, key.mode, r, of)
	c.unknown(&p, s, key.mode)
	c.elements(s, key.mode)
	p.rules = c.rulesOf(s, r, of)
	c.depth--
	c.made[at].node = c.finish(p, c.made[at].node)
	return c.made[at].node
}

// fail records what is wrong with the schema s, unless another error was recorded before.
func (c *compiler) fail(s *Structural, msg string) {
	if c.failed == nil {
		c.failed = errors.SchemaErrors{{
			Kind: errors.SchemaForbidden, Field: c.source.fieldOf(s), Msg: msg,
		}}
	}
}

// checksTypes reports whether types are checked in mode m.
func (c *compiler) checksTypes(m mode) bool {
	if c.semantics == KEP {
		return m == prune
	}
	return c.typed
}

// leaf returns the node for values of the types whose contents are not specified.
func (c *compiler) leaf(types program.Types, m mode, rules *program.Rules) *program.Node {
	key := leafKey{types, m, rules}
	n := c.leaves[key]
	if n == nil {
		n = c.add(types)
		n.Elements.Node = c.none
		if m == keep {
			c.keepAll(n)
		}
		if rules != nil {
			n.Checks = &program.Checks{Rules: rules}
		}
		c.leaves[key] = n
	}
	return n
}

// isLeaf reports whether a node without a schema does the same as s does below itself.
func (c *compiler) isLeaf(s *Structural, m mode) bool {
	if len(s.Properties) > 0 || s.AdditionalProperties != nil {
		return false
	}
	items := s.element()
	return items == nil || items.element() == nil && c.isLeaf(items, m) &&
		!items.XEmbeddedResource && !items.hasDefault() &&
		(m == keep || c.semantics == Deployed && !items.preserves()) &&
		(c.semantics == KEP || !c.typed || types(items) == program.Any)
}

// below returns the mode for the schemas below one in mode m.
func (c *compiler) below(s *Structural, m mode) mode {
	if c.preserve || c.semantics == KEP && m == keep && (s == nil || len(s.Properties) == 0) {
		return keep
	}
	return prune
}

// maxProperties leaves room for the fields of a resource.
const maxProperties = program.MaxFields - 3

// fields adds the edges for the declared fields of an object.
func (c *compiler) fields(p *proto, s *Structural, m mode, r role, of variant) {
	if r != plain {
		for _, name := range reserved {
			c.reserved(name, r.declared(s, name), r)
			p.fields++
		}
	}
	if len(s.Properties) > maxProperties {
		c.fail(s, fmt.Sprintf("must not have more than %d properties", maxProperties))
		return
	}
	first, keys := len(c.props), of.keyNumbers()
	for name, child := range s.Properties {
		if r == plain || !slices.Contains(reserved, name) {
			c.props = append(c.props, property{prefix(name), name, child})
		}
	}
	last := len(c.props)
	slices.SortFunc(c.props[first:], func(a, b property) int {
		if a.prefix != b.prefix {
			return cmp.Compare(a.prefix, b.prefix)
		}
		return strings.Compare(a.name, b.name)
	})
	for i := first; i < last; i++ {
		prop := c.props[i]
		to := c.field(of, keys, prop.name, prop.schema, c.below(prop.schema, m))
		c.edge(prop.name, to, c.null(prop.schema, program.DropNull), prop.schema)
		p.fields++
	}
	c.props = c.props[:first]
	if before := p.fields; len(s.Required) > 0 || of.scale != "" {
		c.undeclared(p, s, m, of, func(name string) bool {
			_, declared := s.Properties[name]
			return declared || r != plain && slices.Contains(reserved, name)
		})
		p.resource = p.resource || p.fields > before // the names are not sorted
	}
}

// unknown adds the edge for undeclared names. For pruning, additionalProperties of true, of false
// and of a schema are the same.
func (c *compiler) unknown(p *proto, s *Structural, m mode) {
	switch {
	case s.AdditionalProperties != nil:
		value := s.value()
		to := c.node(value, c.below(value, m))
		c.edge("", to, c.null(value, program.DropNull), value)
		p.unknown = true
	case m == keep:
		c.edge("", c.any, program.KeepNull, nil)
		p.unknown = true
	}
}

// elements adds the edge for the elements of an array. A null among them is never removed.
func (c *compiler) elements(s *Structural, m mode) {
	items := s.element()
	if c.semantics == KEP {
		m = c.below(items, m)
	}
	to := c.element(s, items, m)
	c.edge("", to, c.null(items, program.KeepNull), items)
}

// null returns what happens to a null in the place of the schema s. dropped is the action if the
// null is neither allowed nor defaulted (defaulting.Default and
// PruneNonNullableNullsWithoutDefaults of the server).
func (c *compiler) null(s *Structural, dropped program.NullAction) program.NullAction {
	switch {
	case c.semantics == KEP || s == nil || s.Nullable:
		return program.KeepNull
	case s.hasDefault():
		return program.DefaultNull
	case c.preserve:
		return program.KeepNull
	}
	return dropped
}

// types returns the types that the KEP lets pass. A null always passes: validation decides whether
// it is allowed.
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
