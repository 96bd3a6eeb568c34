package schema

// This file computes an upper bound for what defaults can add to documents.
//
// A document is cut into trees of objects. A tree starts at a place of which a document can have
// any number (an element, an undeclared member, a field that leads back into an object that
// contains it). It consists of declared fields, each once. For a rate of r bytes of defaults for
// each byte of a document, the best tree at a place is the one that gains the most beyond r times
// its length. It is composed from the bottom up, in one pass. The result is the lowest rate at
// which no tree gains more than that. Each pass raises the rate to that of the best tree of the
// pass before, beginning with everything that can be gained (Dinkelbach, "On nonlinear fractional
// programming", 1967). This takes four or five passes.

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
)

// An Expansion bounds how many bytes defaults add to a document: to a document
// of n bytes at most PerDocument + PerByte × n, counted as
// decoder.Limits.DefaultBytes is.
//
// Bytes are those of JSON. A YAML document counts as the JSON that package
// yamlbridge makes of it. There are documents that come arbitrarily close to
// both figures, with two exceptions, in which PerByte is too high; it is never
// too low. First, a map of more than some ninety members needs names of more
// than one byte. Second, in a schema that contains itself, the places that lead
// back to it are counted as if they could occur without the places around them.
type Expansion struct {
	// PerDocument is what defaults add in all places that a document has
	// only once: the root, and what is declared below it through properties
	// alone.
	PerDocument int
	// PerByte is what defaults add in the worst of the other places, for
	// each byte that one more occurrence of the place takes in the
	// document. It is 341 for elements that get 1023 bytes for each {} and
	// its comma.
	PerByte float64
	// Field leads to the schema of the worst of these places, in the
	// spelling of errors.SchemaError. It is empty if PerByte is 0.
	Field string
}

// Expansion returns the most that defaults can add to documents. Each call
// computes it, in time and memory linear in the size of the program.
func (p *Program) Expansion() Expansion {
	return newExpander(&p.table).expansion()
}

// MaxExpansion makes [Compile] fail if defaults can add more than perDocument
// bytes to any document, or more than perByte for each byte of it: see
// [Expansion]. 0 means no bound, which is the default. Decoders have their own
// limit on the bytes that defaults add (decoder.Limits.DefaultBytes), which
// refuses documents instead of schemas.
func MaxExpansion(perDocument int, perByte float64) Option {
	return optionFunc(func(o *options) { o.perDocument, o.perByte = perDocument, perByte })
}

// checkExpansion returns an error if the expansion of a program is too large.
func (o *options) checkExpansion(p *Program) error {
	if o.perDocument == 0 && o.perByte == 0 {
		return nil
	}
	e := p.Expansion()
	switch {
	case o.perDocument > 0 && e.PerDocument > o.perDocument:
		return errors.SchemaErrors{{
			Kind: errors.SchemaInvalid, Field: "openAPIV3Schema", Value: strconv.Itoa(e.PerDocument),
			Msg: fmt.Sprintf("is how many bytes defaults add to a document of any length, "+
				"more than the bound of %d: "+
				"remove or shorten defaults outside of items and additionalProperties", o.perDocument),
		}}
	case o.perByte > 0 && e.PerByte > o.perByte:
		return errors.SchemaErrors{{
			Kind: errors.SchemaInvalid, Field: e.Field, Value: strconv.FormatFloat(e.PerByte, 'f', 1, 64),
			Msg: fmt.Sprintf("is how many bytes defaults add here for each byte of a document, "+
				"more than the bound of %v: remove or shorten defaults here and below", o.perByte),
		}}
	}
	return nil
}

// A growth has the bytes that values take in a document, and the bytes that defaults add to them.
type growth struct{ bytes, added float64 }

func (g growth) plus(h growth) growth { return growth{g.bytes + h.bytes, g.added + h.added} }

func (g growth) net(rate float64) float64 { return g.added - rate*g.bytes }

func (g growth) orBetter(h growth, rate float64) growth {
	if h.net(rate) > g.net(rate) {
		return h
	}
	return g
}

// largestTree is how many bytes a tree may have. A graph of references can describe a larger one in
// a few lines. An edge to a larger tree counts as one that leads back.
const largestTree = 1 << 40

// An expander finds the expansion of a program.
type expander struct {
	root    *program.Node
	order   []*program.Node // that can be reached, each after the nodes below it
	nodes   []expanding     // by ID
	repeats []repeat
}

// An expanding is the state of a node.
type expanding struct {
	rank int     // in order, from 1
	open bool    // the nodes below it are being visited
	from edgeKey // the edge by which it was reached
	size float64 // bytes of its largest tree
	best growth  // its best tree
}

// A repeat is an edge to a value of which a document can have any number.
type repeat struct {
	edge edgeKey
	own  growth // the bytes and the gain of each of them, besides the value
}

func newExpander(p *program.Program) *expander {
	x := &expander{root: p.Root, nodes: make([]expanding, len(p.Nodes))}
	x.visit(p.Root)
	// Elements start trees of their own: their node is not below the node of the array.
	for i := 0; i < len(x.order); i++ {
		if n := x.order[i]; !n.KeepArray && n.Hard()&program.Array != 0 {
			x.repeats = append(x.repeats, repeat{edgeKey{n, edgeElements}, growth{bytes: float64(len(","))}})
			if to := n.Elements.Node; x.nodes[to.ID].rank == 0 {
				x.nodes[to.ID].from = edgeKey{n, edgeElements}
				x.visit(to)
			}
		}
	}
	return x
}

// visit puts a node and the nodes of its members into order.
func (x *expander) visit(n *program.Node) {
	type visiting struct {
		node *program.Node
		next int
	}
	stack := []visiting{{n, 0}}
	x.nodes[n.ID].open = true
	for len(stack) > 0 {
		top := &stack[len(stack)-1]
		if top.next == members(top.node) {
			x.close(top.node)
			stack = stack[:len(stack)-1]
			continue
		}
		key := member(top.node, top.next)
		top.next++
		to := key.of().Node
		if at := &x.nodes[to.ID]; !at.open && at.rank == 0 {
			at.open, at.from = true, key
			stack = append(stack, visiting{to, 0})
		}
	}
}

// members returns how many edges lead from the objects of a node to their members.
func members(n *program.Node) int {
	switch {
	case n.KeepObject || n.Hard()&program.Object == 0:
		return 0
	case n.Unknown != nil:
		return len(n.Fields) + 1
	}
	return len(n.Fields)
}

func member(n *program.Node, i int) edgeKey {
	if i == len(n.Fields) {
		return edgeKey{n, edgeUnknown}
	}
	return edgeKey{n, i}
}

// close puts a node into order, after the nodes below it.
func (x *expander) close(n *program.Node) {
	x.order = append(x.order, n)
	at := &x.nodes[n.ID]
	at.open, at.rank, at.size = false, len(x.order), float64(len("{}"))
	for i := range members(n) {
		key := member(n, i)
		name := nameBytes(key)
		tree := x.isTree(key)
		if tree {
			at.size += name + x.nodes[key.of().Node.ID].size
		}
		switch {
		case !tree:
			// The member may be alone in an object that is within another of its kind. It then has
			// no comma of its own, but the first default has one.
			x.repeats = append(x.repeats, repeat{key, growth{name, float64(len(",") * min(int(n.Defaults), 1))}})
		case key.edge == edgeUnknown:
			// One of these members may have the empty name. It is part of the tree.
			x.repeats = append(x.repeats, repeat{key, growth{bytes: name + float64(len("x,"))}})
		}
	}
}

// isTree reports whether the value of an edge is part of the tree that the edge is in.
func (x *expander) isTree(key edgeKey) bool {
	to := &x.nodes[key.of().Node.ID]
	return to.rank != 0 && to.rank < x.nodes[key.node.ID].rank && to.size <= largestTree
}

// nameBytes returns how many bytes the name of a member takes at least, with quotes and colon.
func nameBytes(key edgeKey) float64 {
	if key.edge == edgeUnknown {
		return float64(len(`"":`))
	}
	k := key.node.Fields[key.edge].Key
	n := len(k)
	// A default may spell a name longer than necessary, and a byte that is not UTF-8 may become
	// longer under decoder.ServerRequests.
	n -= strings.Count(k, `\u0008`) * len(`0008`)
	n -= strings.Count(k, `\u000c`) * len(`000c`)
	n -= strings.Count(k, "\uFFFD") * (len("\uFFFD") - 1)
	return float64(n)
}

// expansion raises the rate until no tree gains more.
func (x *expander) expansion() Expansion {
	x.pass(0)
	var e Expansion
	if members(x.root) > 0 {
		// No decoder adds more.
		e.PerDocument = int(min(x.nodes[x.root.ID].best.added, math.MaxInt32))
	}
	for {
		rate, at := x.worst(e.PerByte)
		if rate <= e.PerByte {
			return e
		}
		e.PerByte, e.Field = rate, x.field(at)
		x.pass(rate)
	}
}

// pass finds the best trees for a rate.
func (x *expander) pass(rate float64) {
	for _, n := range x.order {
		x.nodes[n.ID].best = x.object(n, rate)
	}
}

// worst returns the highest rate of the best trees for a rate, and its edge.
func (x *expander) worst(rate float64) (highest float64, at edgeKey) {
	for _, r := range x.repeats {
		all := x.value(r.edge, rate).plus(r.own)
		if is := all.added / all.bytes; is > highest {
			highest, at = is, r.edge
		}
	}
	return highest, at
}

// value returns the best value that an edge can lead to.
func (x *expander) value(key edgeKey, rate float64) growth {
	e := key.of()
	best := growth{bytes: 1} // a digit
	if e.Null == program.DefaultNull {
		best = best.orBetter(growth{float64(len("null")), float64(len(e.Default))}, rate)
	}
	if members(e.Node) > 0 {
		best = best.orBetter(x.nodes[e.Node.ID].best, rate)
	}
	return best
}

// object returns the best object for a node: without members, or with all members that pay, or with
// the one that costs the least, because the first member needs no comma.
func (x *expander) object(n *program.Node, rate float64) growth {
	defaults := float64(len(n.AllDefaults))
	none := growth{float64(len("{}")), max(defaults-float64(len(",")), 0)}
	some := growth{float64(len("{}") - len(",")), defaults}
	var single growth
	paying := 0
	for i := range members(n) {
		key := member(n, i)
		if !x.isTree(key) {
			continue
		}
		g := x.value(key, rate)
		g.bytes += nameBytes(key) + float64(len(","))
		if i < int(n.Defaults) {
			g.added -= float64(len(n.DefaultMembers(i, i+1)))
		}
		if g.net(rate) > 0 {
			paying++
			some = some.plus(g)
		} else if single.bytes == 0 || g.net(rate) > single.net(rate) {
			single = g
		}
	}
	switch {
	case paying > 0:
		return none.orBetter(some, rate)
	case single.bytes > 0:
		return none.orBetter(some.plus(single), rate)
	}
	return none
}

// field returns the path by which the schema at an edge was reached.
func (x *expander) field(key edgeKey) string {
	var segments []string
	for {
		switch key.edge {
		case edgeElements:
			segments = append(segments, elementSegment)
		case edgeUnknown:
			segments = append(segments, valueSegment)
		default:
			segments = append(segments, propertySegment(key.node.Fields[key.edge].Name()))
		}
		if key.node == x.root {
			break
		}
		key = x.nodes[key.node.ID].from
	}
	segments = append(segments, "openAPIV3Schema")
	slices.Reverse(segments)
	return strings.Join(segments, "")
}
