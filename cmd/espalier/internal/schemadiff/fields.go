package schemadiff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// This file follows two schemas, and finds what becomes of fields. It knows which fields the server
// keeps: those under properties, all where additionalProperties are, and unknown ones where
// x-kubernetes-preserve-unknown-fields is. Junctors declare no fields.

const (
	// maxSteps bounds the work for two schemas: nodes that are looked at, and segments of paths.
	maxSteps = 500_000
	maxDepth = schema.MaxDepth
)

// A node says what the server does to the values at a place.
type node struct {
	s *schema.Structural // nil if there is none
	// kept means that unknown fields are kept: here, or in the list around this element. Without a
	// schema the whole value is.
	kept       bool
	all        bool // nothing is pruned, neither here nor below
	isResource bool // it has apiVersion, kind and metadata, whatever the schema says
	isField    bool // it is under properties, so that its default is for absent values, too
	at         *steps
}

// steps lead from a definition to a schema.
type steps struct {
	up    *steps
	names []string
}

// list returns all steps, with more at the end.
func (s *steps) list(more ...string) []string {
	var parts [][]string
	for ; s != nil; s = s.up {
		parts = append(parts, s.names)
	}
	slices.Reverse(parts)
	return append(slices.Concat(parts...), more...)
}

// below returns a node within n.
func (n node) below(s *schema.Structural, names ...string) node {
	return node{s: s, all: n.all, isResource: s != nil && s.XEmbeddedResource, at: &steps{n.at, names}}
}

// schema returns the schema, or an empty one.
func (n node) schema() *schema.Structural {
	if n.s == nil {
		return &schema.Structural{}
	}
	return n.s
}

// keeps reports whether unknown fields are kept.
func (n node) keeps() bool {
	return n.kept || n.all || n.schema().XPreserveUnknownFields != nil && *n.s.XPreserveUnknownFields
}

// isWhole reports whether the value is kept as it is, because no schema is about it.
func (n node) isWhole() bool { return n.s == nil && (n.kept || n.all) }

// undeclared returns the node of members that are no fields. It is not ok if they are pruned.
func (n node) undeclared() (below node, ok bool) {
	if more := n.schema().AdditionalProperties; more != nil {
		return n.below(more.Schema, "additionalProperties"), true
	}
	below = n.below(nil, "properties")
	below.kept = true
	return below, n.keeps()
}

// member returns the node of the member with a name. It is not ok if that is pruned.
func (n node) member(name string) (below node, ok bool) {
	declared := n.schema().Properties[name]
	implicit := reserved[name]
	if !n.isResource {
		implicit = nil
	}
	if declared != nil || implicit != nil {
		below = n.below(cmp.Or(declared, implicit), "properties", name)
		below.isField, below.kept = true, implicit != nil && name == "metadata"
		return below, true
	}
	below, ok = n.undeclared()
	below.at = &steps{below.at, []string{name}}
	return below, ok
}

// reserved are the fields that a resource has, whatever its schema says.
var reserved = map[string]*schema.Structural{
	"apiVersion": {Type: "string"}, "kind": {Type: "string"}, "metadata": {Type: "object"},
}

// element returns the node of the elements of a list.
func (n node) element() node {
	below := n.below(nil, "items")
	if items := n.schema().Items; items != nil {
		below.s = items.Schema
	}
	below.kept = n.keeps()
	return below
}

// A place leads to the values that are compared.
type place struct {
	up *place
	Segment
	depth int
}

func (p *place) below(name string, kind SegmentKind) *place {
	next := &place{up: p, Segment: Segment{name, kind}, depth: 1}
	if p != nil {
		next.depth += p.depth
	}
	return next
}

func (p *place) path() Path {
	var path Path
	for ; p != nil; p = p.up {
		path = append(path, p.Segment)
	}
	slices.Reverse(path)
	return path
}

// A comparer compares the schemas of two versions.
type comparer struct {
	old, new      node
	version, from string
	stored        bool // objects are stored in the version, as far as that is known
	served        bool
	left          int  // steps
	stopped       bool // there were too many
	changes       []Change
}

// run returns the changes, in the order of their paths.
func (c *comparer) run() []Change {
	c.compare(c.old, c.new, nil)
	return c.changes
}

// add adds a change at a place, of a keyword of both schemas.
func (c *comparer) add(severity Severity, rule string, at *place, old, updated node, keyword, message string) {
	if c.isExhausted(at, old, updated) {
		return
	}
	var more []string
	if keyword != "" {
		more = []string{keyword}
	}
	c.append(Change{Severity: c.weigh(severity), Rule: rule, Message: message, Old: old.at.list(more...), New: updated.at.list(more...)}, at)
}

func (c *comparer) append(one Change, at *place) {
	one.Version, one.From, one.Stored, one.Path = c.version, c.from, c.stored, at.path()
	c.left -= 2*len(one.Path) + 1
	c.changes = append(c.changes, one)
}

// isExhausted reports whether there were too many steps. The first time it says so in a change, which
// counts in any version.
func (c *comparer) isExhausted(at *place, old, updated node) bool {
	if c.left < 0 && !c.stopped {
		c.stopped = true
		message := "the schemas are too deep, or differ in too many places: the rest is not compared"
		c.append(Change{Severity: Client, Rule: RuleNotCompared, Message: message, Old: old.at.list(), New: updated.at.list()}, at)
	}
	return c.left < 0
}

// weigh returns how much a change matters in the version. Data is lost where it is stored. Where no
// requests are served, none is refused, but objects may have been stored in earlier times.
func (c *comparer) weigh(s Severity) Severity {
	switch {
	case s == Data && !c.stored:
		s = Client
		if !c.served {
			s = Caution
		}
	case s == Client && !c.served:
		s = Harmless
	}
	return s
}

// compare compares what happens to the values at a place, which are kept before and after.
func (c *comparer) compare(old, updated node, at *place) {
	c.left--
	if at != nil && at.depth > maxDepth {
		c.left = -1
	}
	switch {
	case c.isExhausted(at, old, updated):
		return
	case old.isWhole() && updated.isWhole():
		return
	case updated.isWhole():
		c.preserved(old, updated, at)
		return
	case old.isWhole():
		c.specified(old, updated, at)
		return
	}
	if !c.types(old, updated, at) {
		return // nothing is common to both
	}
	c.values(old, updated, at)
	c.members(old, updated, at)
	if old.schema().Items != nil || updated.schema().Items != nil {
		c.compare(old.element(), updated.element(), at.below("", Element))
	}
}

// preserved is about a value whose schema is gone.
func (c *comparer) preserved(old, updated node, at *place) {
	severity, message := Harmless, "no schema is about the field any more, and it is kept with everything in it"
	if c.hasDefaults(old.s) {
		severity, message = Caution, message+": its defaults are gone"
	}
	c.add(severity, RuleFieldPreserved, at, old, updated, "", message)
}

// specified is about a value that had no schema.
func (c *comparer) specified(old, updated node, at *place) {
	severity, message := Client, "the field has a schema now: values that it does not allow are refused"
	if types := typesOf(updated.schema()); types&(objects|arrays) != 0 && !(updated.all || updated.keeps() && len(updated.s.Properties) == 0) {
		severity, message = Data, "the field has a schema now: objects lose what that does not declare"
	}
	c.add(severity, RuleFieldSpecified, at, old, updated, "", message)
}

// hasDefaults reports whether a schema, or one within it, has a default.
func (c *comparer) hasDefaults(s *schema.Structural) bool {
	if c.left--; s == nil || c.left < 0 {
		return false
	}
	if hasDefault(s) || s.AdditionalProperties != nil && c.hasDefaults(s.AdditionalProperties.Schema) || s.Items != nil && c.hasDefaults(s.Items.Schema) {
		return true
	}
	for _, below := range s.Properties {
		if c.hasDefaults(below) {
			return true
		}
	}
	return false
}

// members compares what happens to the members of objects.
func (c *comparer) members(old, updated node, at *place) {
	names := map[string]bool{}
	for _, n := range []node{old, updated} {
		for name := range n.schema().Properties {
			names[name] = true
		}
		if n.isResource {
			maps.Copy(names, map[string]bool{"apiVersion": true, "kind": true, "metadata": true})
		}
	}
	c.undeclared(old, updated, at)
	required := c.required(old, updated, at)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		before, had := old.member(name)
		after, has := updated.member(name)
		there := at.below(name, Field)
		switch {
		case had && has:
			c.defaults(before, after, there)
			c.compare(before, after, there)
		case had:
			c.removed(before, after, there)
		case has && !required[name]:
			c.added(before, after, there)
		}
	}
}

func (c *comparer) removed(before, after node, there *place) {
	message, it := "the field is gone", "it"
	switch {
	case there.Kind == Member:
		message, it = "only declared fields are kept now", "the others"
	case c.from != "":
		message = "the version does not have the field"
	}
	switch {
	case !c.stored:
		message += ": requests in this version do not return " + it + ", and objects written in it lose " + it
	case c.from != "":
		message += ": objects lose " + it + " when they are next written"
	default:
		message += ": objects lose " + it
	}
	c.add(Data, RuleFieldRemoved, there, before, after, "", message)
}

func (c *comparer) added(before, after node, there *place) {
	message := "the field is new"
	if s := after.schema(); hasDefault(s) {
		message += ", and objects get its default " + shown(s.Default)
	}
	c.add(Harmless, RuleFieldAdded, there, before, after, "", message)
}

// undeclared compares what happens to members that have no field.
func (c *comparer) undeclared(old, updated node, at *place) {
	before, had := old.undeclared()
	after, has := updated.undeclared()
	there := at.below("", Member)
	switch {
	case had && has:
		c.defaults(before, after, there)
		c.compare(before, after, there)
	case had && before.isWhole():
		if typesOf(old.schema())&objects == 0 {
			return
		}
		c.add(Data, RuleUnknownPruned, at, old, updated, "x-kubernetes-preserve-unknown-fields", "unknown fields are pruned now: objects lose what the schema does not declare")
	case had:
		c.removed(before, after, there)
	case has && typesOf(old.schema())&objects != 0:
		c.add(Harmless, RuleUnknownKept, at, old, updated, "", "unknown fields are kept now")
	}
}

// required compares which members objects must have. Those with a default are never missing. It
// returns the fields that are reported here.
func (c *comparer) required(old, updated node, at *place) map[string]bool {
	reported := map[string]bool{}
	was, is := map[string]bool{}, map[string]bool{}
	for _, n := range []struct {
		node
		names map[string]bool
	}{{old, was}, {updated, is}} {
		for _, name := range n.schema().Required {
			declared := n.schema().Properties[name]
			if !(n.isResource && reserved[name] != nil) && (declared == nil || !hasDefault(declared)) {
				n.names[name] = true
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if was[name] {
			continue
		}
		before, had := old.member(name)
		after, _ := updated.member(name)
		message := "the field is required now"
		switch {
		case !had:
			message = "the field is new and required"
			reported[name] = true
		case slices.Contains(old.schema().Required, name):
			message = "the field is required, and has no default any more"
		}
		c.addRequired(Client, Tightened+"required", at.below(name, Field), before, after, old, updated, message+": objects without it are refused")
	}
	for _, name := range slices.Sorted(maps.Keys(was)) {
		if is[name] {
			continue
		}
		before, _ := old.member(name)
		after, has := updated.member(name)
		message := "the field is no longer required"
		if slices.Contains(updated.schema().Required, name) {
			message = "the field need not be written any more: it has a default"
		}
		if has {
			c.addRequired(Harmless, Loosened+"required", at.below(name, Field), before, after, old, updated, message)
		}
	}
	return reported
}

// addRequired adds a change whose places are those of the fields where these are declared, and else
// the keyword.
func (c *comparer) addRequired(severity Severity, rule string, there *place, before, after, old, updated node, message string) {
	if old.schema().Properties[there.Name] == nil {
		before = old.below(nil, "required")
	}
	if updated.schema().Properties[there.Name] == nil {
		after = updated.below(nil, "required")
	}
	c.add(severity, rule, there, before, after, "", message)
}

// defaults compares the defaults at a place. There the root has none: the server does not insert it.
func (c *comparer) defaults(old, updated node, there *place) {
	s, t := old.schema(), updated.schema()
	had, has := hasDefault(s), hasDefault(t)
	who := "objects without the field"
	if there.Kind == Field {
		had, has = had && old.isField, has && updated.isField
	} else {
		who = "nulls"
	}
	switch {
	case !had && has:
		c.add(Caution, RuleDefaultAdded, there, old, updated, "default", "there is a default now, "+shown(t.Default)+": "+who+" get it when they are read")
	case had && !has:
		if !updated.isWhole() {
			c.add(Caution, RuleDefaultRemoved, there, old, updated, "default", "the default "+shown(s.Default)+" is gone: "+who+" had it when they were read")
		}
	case had && has && !sameValue(s.Default, t.Default):
		before, after := shownBoth(s.Default, t.Default)
		c.add(Caution, RuleDefaultChanged, there, old, updated, "default", "the default was "+before+" and is "+after+": "+who+" change when they are read")
	}
}

// hasDefault reports whether a schema has a default. As in the server, null is none.
func hasDefault(s *schema.Structural) bool {
	return len(s.Default) > 0 && strings.TrimSpace(string(s.Default)) != "null"
}
