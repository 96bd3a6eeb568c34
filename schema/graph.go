package schema

// This file assembles the nodes of a program. Definitions repeat themselves in many places: a
// container in each kind of step, an object reference in each field. So a node with the same
// contents as an earlier one is not made again. The programs of real definitions become a fraction
// of their trees.

import (
	"hash/maphash"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// A graph holds the nodes that were made, and memory for the next ones.
type graph struct {
	list []*program.Node
	seed maphash.Seed
	*common

	room []program.Node  // for nodes
	keys strings.Builder // the text of names; names that were taken from it stay valid
}

// A proto is a node that is being made. Its edges are the last ones: the fields, then the one for
// undeclared names if there is one, then the one for elements.
type proto struct {
	types   program.Types
	group   program.Group
	first   int // index of its first edge
	fields  int
	unknown bool
	nulls   bool // of undeclared names are dropped, see program.Node.DropsNulls
	rules   *program.Rules
	// resource says that the first fields are those of a resource. The others are sorted by name.
	resource bool
}

// A protoEdge is an edge that is being made.
type protoEdge struct {
	name   string
	to     *program.Node
	null   program.NullAction
	schema *Structural // the schema with the default, or nil
	// implicit says that the field is not declared.
	implicit bool
}

// A common holds the nodes that are the same in all programs: those without a schema, and those for
// metadata of which the schema says nothing.
type common struct {
	program.Program
	any  *program.Node // everything within it is kept
	pass *program.Edge // to any
	none *program.Node // everything within it is pruned
	text *program.Node // strings only

	unknownField *program.Node // of a declared field that ObjectMeta does not have

	meta       map[metaKey]*program.Node
	objectMeta map[*program.Node]bool
}

var (
	base      = makeCommon(nil)
	ruledBase *common // with the rules for metadata; see baseFor
	makeRuled sync.Once
)

// baseFor returns the nodes that the programs have which are compiled with rules of a maker, or
// without. Makers have the same rules for metadata of which the schema says nothing.
func baseFor(maker ruleMaker) *common {
	if maker == nil {
		return base
	}
	makeRuled.Do(func() { ruledBase = makeCommon(maker) })
	return ruledBase
}

func makeCommon(maker ruleMaker) *common {
	c := &compiler{
		options:  options{values: values{maker: maker}},
		graph:    newGraph(new(common)),
		defaults: newDefaults(),
		scratch:  newScratch(),
		meta:     make(map[metaKey]*program.Node),
	}
	defer c.release()
	c.any = c.add(program.Any)
	c.pass = &program.Edge{Node: c.any}
	c.keepAll(c.any)
	c.none = c.add(program.Any)
	c.none.Elements.Node = c.none
	c.text = c.add(program.String)
	c.keepAll(c.text)
	c.unknownField = c.add(0)
	c.keepAll(c.unknownField)
	c.metadata(objectMeta, nil, program.RootMetadata, "")
	c.metadata(objectMeta, nil, program.EmbeddedMetadata, "")
	c.common.meta, c.common.objectMeta = c.meta, c.defaults.objectMeta
	c.Program = program.Finish(c.any, c.list, nil)
	return c.common
}

func newGraph(base *common) graph {
	return graph{
		common: base,
		list:   append(make([]*program.Node, 0, 64), base.Nodes...),
		seed:   maphash.MakeSeed(),
	}
}

// add returns a new node.
func (g *graph) add(types program.Types) *program.Node {
	if len(g.room) == 0 {
		g.room = make([]program.Node, min(max(2, len(g.list)-len(g.common.Nodes)), 32))
	}
	n := &g.room[0]
	g.room = g.room[1:]
	n.ID, n.Types = int32(len(g.list)), types
	g.list = append(g.list, n)
	return n
}

// keepAll makes a node keep everything.
func (g *graph) keepAll(n *program.Node) {
	n.KeepObject, n.KeepArray = true, true
	n.Unknown, n.Elements = g.pass, *g.pass
}

// edge adds an edge to the node that is being made. schema is the one whose default it has, or nil.
func (c *compiler) edge(name string, to *program.Node, null program.NullAction, schema *Structural) {
	if schema != nil && !schema.hasDefault() || c.nested > 0 {
		schema = nil
	}
	c.edges = append(c.edges, protoEdge{name: name, to: to, null: null, schema: schema})
}

// finish returns the node for p. It makes a new one if there is none with the same contents. If a
// node was promised, finish fills that.
func (c *compiler) finish(p proto, promised *program.Node) *program.Node {
	edges := c.edges[p.first:]
	c.edges = c.edges[:p.first]
	n := promised
	if n == nil {
		hash := c.hash(p, edges)
		at, probe, ok := c.bySame.next(hash, 0)
		for ; ok; at, probe, ok = c.bySame.next(hash, probe) {
			if c.says(c.list[at], p, edges) {
				return c.list[at]
			}
		}
		n = c.add(p.types)
		c.bySame.add(hash, n.ID)
	}
	n.Types, n.Group, n.DropsNulls = p.types, p.group, p.nulls
	if p.rules != nil {
		n.Checks = &program.Checks{Rules: p.rules}
	}
	unsorted := p.resource
	if p.fields > 0 {
		n.Fields = make([]program.Field, p.fields)
		for i := range n.Fields {
			e := &edges[i]
			unsorted = unsorted || e.schema != nil
			c.note(edgeKey{n, i}, e.schema)
			f := &n.Fields[i]
			f.Node, f.Null, f.Implicit = e.to, e.null, e.implicit
			f.SetKey(c.key(e.name))
		}
	}
	if unsorted {
		c.unsorted = append(c.unsorted, n)
	}
	if p.unknown {
		e := &edges[p.fields]
		if n.Unknown = c.pass; e.to != c.any || e.null != program.KeepNull {
			n.Unknown = &program.Edge{Node: e.to, Null: e.null}
			c.note(edgeKey{n, edgeUnknown}, e.schema)
		}
	}
	e := &edges[len(edges)-1]
	n.Elements = program.Edge{Node: e.to, Null: e.null}
	c.note(edgeKey{n, edgeElements}, e.schema)
	n.KeepObject = p.fields == 0 && n.Unknown == c.pass
	n.KeepArray = n.Elements == *c.pass
	return n
}

// hash returns a hash of the contents of a node.
func (g *graph) hash(p proto, edges []protoEdge) uint64 {
	const prime = 0x9fb21c651e98df25
	h := uint64(p.types)<<16 | uint64(p.group)<<8 | uint64(p.fields)<<32
	for i := range edges {
		e := &edges[i]
		h = (h ^ maphash.String(g.seed, e.name)) * prime
		h = (h ^ uint64(e.to.ID)<<8 ^ uint64(e.null)) * prime
		h ^= h >> 29
	}
	return h
}

// says reports whether the node n has the contents of p.
func (c *compiler) says(n *program.Node, p proto, edges []protoEdge) bool {
	if (n.Checks == nil) != (p.rules == nil) || n.Checks != nil && n.Checks.Rules != p.rules {
		return false
	}
	if n.Types != p.types || n.Group != p.group || len(n.Fields) != p.fields ||
		(n.Unknown != nil) != p.unknown || n.DropsNulls != p.nulls {
		return false
	}
	for i := range edges {
		at := edgeKey{n, i}
		switch {
		case i == len(edges)-1:
			at.edge = edgeElements
		case i >= p.fields:
			at.edge = edgeUnknown
		case n.Fields[i].Name() != edges[i].name || n.Fields[i].Implicit != edges[i].implicit:
			return false
		}
		is, e := at.of(), &edges[i]
		if is.Node != e.to || is.Null != e.null ||
			(n.Defaults > 0 || e.schema != nil) && !c.hasDefault(at, e.schema) {
			return false
		}
	}
	return true
}

// key returns a name as the key of a member, in memory that it shares with other names.
func (g *graph) key(name string) string {
	var room [64]byte
	quoted := append(jsonwire.AppendQuoted(room[:0], name), ':')
	if g.keys.Cap()-g.keys.Len() < len(quoted) {
		g.keys = strings.Builder{}
		g.keys.Grow(max(1024, len(quoted)))
	}
	from := g.keys.Len()
	g.keys.Write(quoted)
	return g.keys.String()[from:]
}
