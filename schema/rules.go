package schema

// This file compiles validations: the rules by which package screen tells which values are surely
// valid. It does so only if an option asks for it (validation.Values), which has the rules that
// need packages net and regexp.

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
)

// NOTE: a node has the rules for its values, and so nodes with other rules are not the same. Rules
// with the same contents are, so that equal nodes are still one. What the rules say of fields is
// turned to bits when the fields of the node have their order (program.Checks).
//
// The walk looks at scalars, at the ends of objects and at the ends of arrays. Some rules are about
// a value in the place where it is: the keys of a list, the names of labels, the values that scaling
// uses. Their nodes are copies of those without such rules, or variants of a schema.

// A ruleMaker makes the rules that need more than this package imports.
type ruleMaker interface {
	// Scalars sets the types of r and its rules for strings, numbers, true and false.
	Scalars(r *program.Rules, s *Structural)
	// Type sets the rules for the apiVersion or the kind of a resource. s is what the schema
	// declares for it, or nil. The value must be want, unless that is empty.
	Type(r *program.Rules, s *Structural, name, want string)
	// Metadata sets the rules for a part of metadata. s is what the schema declares for it, or nil.
	Metadata(r *program.Rules, part program.Metadata, s *Structural)
	// Replicas adds that a number is one of replicas.
	Replicas(r *program.Rules)
	// Validator returns the exact validator for objects of a schema. The version and its definition
	// may be nil.
	Validator(s *Structural, c *CRD, v *Version, isResource bool) program.Validator
}

func init() {
	program.WithRules = func(maker any) any {
		return optionFunc(func(o *options) { o.maker = maker.(ruleMaker) })
	}
}

// values has what is made of validations. It is empty without a maker.
type values struct {
	maker   ruleMaker
	crd     *CRD
	version *Version
}

// intern returns the rules with the contents of r: equal rules are one, so that equal nodes are.
func (c *compiler) intern(r program.Rules) *program.Rules {
	var key strings.Builder
	fmt.Fprintf(&key, "%d %t %t %p %p %t %q %q %q %v %d %t %p %v %d",
		r.Types, r.Unsure, r.Enum, r.Text, r.Literal, r.Embedded, r.Required, r.Keys, r.Skip,
		r.Members, r.Size, r.Closed, r.Names, r.Items, r.List)
	for _, j := range r.Junctors {
		fmt.Fprintf(&key, " %d", j.Kind)
		for _, a := range j.Alternatives {
			fmt.Fprintf(&key, " %q %p", a.Required, a.Node)
		}
	}
	if c.rules == nil {
		c.rules = make(map[string]*program.Rules)
	}
	same := c.rules[key.String()]
	if same == nil {
		same = &r
		c.rules[key.String()] = same
	}
	return same
}

// A variant says what else than a schema makes the rules of a node.
type variant struct {
	keys  string // the quoted names of the fields that tell elements of a list apart, each in a line
	scale scale
}

// isRuledLeaf reports whether the rules for values of s are those of a leaf.
func isRuledLeaf(s *Structural, of variant) bool {
	return s.Items == nil && len(s.Required) == 0 && of == variant{}
}

// field returns the node for a declared field. keys has the numbers of those that of tells.
func (c *compiler) field(
	of variant, keys map[string]int, name string, s *Structural, m mode,
) *program.Node {
	if below := of.scale.below(name); below != "" && s != nil {
		return c.compile(s, m, roleOf(s), variant{scale: below})
	}
	to := c.node(s, m)
	if key := keys[name]; key > 0 {
		to = c.keyed(to, s, key)
	}
	return to
}

// rulesOf returns the rules for values of s, whose role is r, or nil without validations.
func (c *compiler) rulesOf(s *Structural, r role, of variant) *program.Rules {
	if c.maker == nil {
		return nil
	}
	rules := program.Rules{
		Members: limits(s.MinProperties, s.MaxProperties), Items: limits(s.MinItems, s.MaxItems),
		Required: slices.Clone(s.Required), Keys: keyNames(of.keys),
		// A root that is an embedded resource has the rules of both.
		Unsure: s.UniqueItems || s.XEmbeddedResource && r != embedded,
		Closed: s.AdditionalProperties != nil && !s.AdditionalProperties.Allows,
	}
	if r != plain && s.AdditionalProperties != nil {
		rules.Unsure = true // they are for apiVersion, kind and metadata, too
	}
	switch deref(s.XListType) {
	case "set":
		rules.List = program.Set
	case "map":
		rules.List = program.Keyed
	}
	c.maker.Scalars(&rules, s)
	of.scale.restrict(&rules, c.maker, s)
	c.junctors(&rules, s)
	switch {
	case r == embedded:
		rules.Embedded = true
		rules.Required = append(rules.Required, "apiVersion", "kind")
	case r == root:
		if c.version != nil {
			rules.Required = append(rules.Required, "apiVersion", "kind", "metadata")
			if c.version.HasStatus {
				c.skipStatus(&rules)
			}
		} else {
			rules.Required = append(rules.Required, "metadata")
		}
	}
	return c.intern(rules)
}

// skipStatus makes rules for the root leave out the status: the server drops it from objects that
// are created.
func (c *compiler) skipStatus(r *program.Rules) {
	if slices.Contains(r.Required, "status") || r.Members != program.Unbounded || len(r.Junctors) > 0 {
		r.Unsure = true
	}
	r.Skip = "status"
}

func deref(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

func limits(least, most *int64) program.Bounds {
	b := program.Unbounded
	if least != nil {
		b.Least = int(min(max(*least, 0), math.MaxInt32))
	}
	if most != nil {
		b.Most = int(min(*most, math.MaxInt32))
	}
	return b
}

// maxNested is how deep junctors may be nested within each other to be compiled.
const maxNested = 16

func (c *compiler) junctors(r *program.Rules, s *Structural) {
	if len(s.AllOf)+len(s.AnyOf)+len(s.OneOf) == 0 && s.Not == nil {
		return
	}
	if c.nested++; c.nested > maxNested {
		r.Unsure = true
	} else {
		c.junctor(r, program.AllOf, s.AllOf)
		c.junctor(r, program.AnyOf, s.AnyOf)
		c.junctor(r, program.OneOf, s.OneOf)
		if s.Not != nil {
			c.junctor(r, program.Not, []*Structural{s.Not})
		}
	}
	c.nested--
}

// junctor adds a junctor, unless the types of the value say that it holds.
func (c *compiler) junctor(r *program.Rules, kind program.JunctorKind, of []*Structural) {
	if len(of) == 0 {
		return
	}
	j := program.Junctor{Kind: kind}
	types := program.Null // of which junctors say nothing
	for _, s := range of {
		if s == nil {
			s = new(Structural)
		}
		if requiresAlone(s) {
			j.Alternatives = append(j.Alternatives, program.Alternative{Required: s.Required})
			continue
		}
		n := c.node(s, prune)
		if restrictsTypesAlone(s) && n.Checks != nil {
			types |= n.Checks.Rules.Types
		}
		j.Alternatives = append(j.Alternatives, program.Alternative{Node: n})
	}
	if kind == program.AnyOf && r.Types&^types == 0 {
		return
	}
	r.Junctors = append(r.Junctors, j)
}

// requiresAlone reports whether a schema requires members and says nothing else.
func requiresAlone(s *Structural) bool {
	rest := *s
	rest.Required, rest.Description, rest.Title = nil, "", ""
	return len(s.Required) > 0 && reflect.ValueOf(rest).IsZero()
}

func restrictsTypesAlone(s *Structural) bool {
	rest := *s
	rest.Type, rest.Description, rest.Title = "", "", ""
	return reflect.ValueOf(rest).IsZero()
}

// typeField returns the node for the apiVersion or the kind of a resource. s is what the schema
// declares for it.
func (c *compiler) typeField(s *Structural, name string, r role) *program.Node {
	if c.maker == nil {
		return c.text
	}
	rules, want := program.Rules{Members: program.Unbounded, Items: program.Unbounded}, ""
	if r == root && c.version != nil {
		if want = c.crd.Kind; name == "apiVersion" {
			want = c.crd.apiVersion(c.version.Name)
		}
	}
	c.maker.Type(&rules, s, name, want)
	if s != nil {
		c.junctors(&rules, s)
	}
	return c.with(c.text, ruledKey{rules: c.intern(rules)})
}

// isText reports whether n is the node for the apiVersion or the kind of a resource, with checks or
// without.
func (c *compiler) isText(n *program.Node) bool { return n == c.text || c.texts[n] }

// with returns a node that is like n, and has the checks.
func (c *compiler) with(n *program.Node, checks ruledKey) *program.Node {
	if checks.rules == nil {
		checks.rules = c.rulesFor(n)
	}
	checks.like = n
	ruled := c.ruled[checks]
	if ruled == nil {
		ruled = c.add(n.Types)
		id := ruled.ID
		*ruled = *n
		if n.Checks != nil && n.Checks.Hard != 0 {
			ruled.Types = n.Checks.Hard // n is finished: it is one of the common nodes
		}
		ruled.ID = id
		ruled.Checks = &program.Checks{Rules: checks.rules, Key: checks.key, Names: checks.names}
		if c.ruled == nil {
			c.ruled, c.texts = make(map[ruledKey]*program.Node), make(map[*program.Node]bool)
		}
		c.ruled[checks] = ruled
		c.texts[ruled] = c.isText(n)
	}
	return ruled
}

// rulesFor returns the rules of a node, or rules that allow everything.
func (c *compiler) rulesFor(n *program.Node) *program.Rules {
	if n.Checks != nil {
		return n.Checks.Rules
	}
	return c.intern(program.Rules{Types: program.Any, Members: program.Unbounded, Items: program.Unbounded})
}

// keyed returns a node that is like n, the node for values of s, and whose scalars tell the elements
// of a list apart, as the key of a number. Other values do not: that there are two is doubtful. A
// node with contents is not copied, as it has defaults, or may contain itself and not be complete.
func (c *compiler) keyed(n *program.Node, s *Structural, number int) *program.Node {
	if s == nil || !s.XIntOrString && !slices.Contains(scalarTypes, s.Type) || n.Checks == nil ||
		len(s.Properties) > 0 || s.AdditionalProperties != nil || s.Items != nil || s.XEmbeddedResource {
		return n
	}
	return c.with(n, ruledKey{key: number})
}

var scalarTypes = []string{"string", "integer", "number", "boolean"}

// A ruledKey identifies a node without fields that is like another one, and has checks of its own.
type ruledKey struct {
	like  *program.Node
	rules *program.Rules // or nil for those of the other one
	key   int
	names program.Checker
}

// metadataRules returns the rules for a part of metadata, or nil without validations.
func (c *compiler) metadataRules(key metaKey) *program.Rules {
	if c.maker == nil {
		return nil
	}
	r := program.Rules{Members: program.Unbounded, Items: program.Unbounded, Types: key.meta.types}
	part := program.Metadata{
		Place: key.place, Embedded: key.group == program.EmbeddedMetadata,
	}
	s := key.schema
	if !part.Embedded {
		s = c.declaredMetadata(key.place)
	}
	c.maker.Metadata(&r, part, s)
	if s != nil {
		c.junctors(&r, s)
	}
	return c.intern(r)
}

// saysNothingOfMetadata reports whether the schema of the root has no rules for metadata.
func (c *compiler) saysNothingOfMetadata() bool {
	s := c.declaredMetadata("")
	return s == nil || restrictsTypesAlone(s) && s.Type == "object"
}

// declaredMetadata returns what the schema of the root declares for the whole metadata, or for a
// member of it.
func (c *compiler) declaredMetadata(place string) *Structural {
	if c.source == nil || c.source.Properties["metadata"] == nil {
		return nil
	}
	s := c.source.Properties["metadata"]
	if place == "" {
		return s
	}
	return s.Properties[place]
}

// declaredType returns what a schema declares for the apiVersion or the kind of a resource. At the
// root that counts for validation alone.
func (c *compiler) declaredType(s *Structural, name string, r role) *Structural {
	if r == root && c.source != nil {
		return c.source.Properties[name]
	}
	return s
}

// undeclared adds edges for members that s requires and does not declare, so that they have bits, and
// for those that scaling uses.
func (c *compiler) undeclared(p *proto, s *Structural, m mode, of variant, has func(name string) bool) {
	value := s.value()
	if c.maker == nil || value == nil && m != keep || c.null(value, program.DropNull) == program.DefaultNull {
		return
	}
	to, null := c.any, program.KeepNull
	if s.AdditionalProperties != nil {
		to, null = c.node(value, c.below(value, m)), c.null(value, program.DropNull)
	}
	names := slices.Clone(s.Required)
	of.scale.each(func(_, name, rest string, more bool) {
		if more && rest == "" && value == nil {
			names = append(names, name)
		}
	})
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if has(name) || p.fields == program.MaxFields {
			continue // too many have no bits
		}
		child := to
		if below := of.scale.below(name); below != "" && value == nil {
			child = c.with(to, ruledKey{rules: c.rulesOf(new(Structural), plain, variant{scale: below})})
		}
		c.edge(name, child, null, nil)
		c.edges[len(c.edges)-1].implicit = true
		p.fields++
	}
}

// element returns the node for the elements of arrays of s.
func (c *compiler) element(s, items *Structural, m mode) *program.Node {
	if c.maker != nil && deref(s.XListType) == "set" {
		return c.keyed(c.node(items, m), items, program.SetKey)
	}
	if c.maker == nil || deref(s.XListType) != "map" {
		return c.node(items, m)
	}
	if items == nil {
		items = new(Structural)
	}
	var keys strings.Builder
	for _, name := range s.XListMapKeys {
		keys.WriteString(strconv.Quote(name) + "\n")
	}
	return c.compile(items, m, roleOf(items), variant{keys: keys.String()})
}

// keyNumbers returns the numbers of keys by their names, from 1 on.
func (v variant) keyNumbers() map[string]int {
	if v.keys == "" {
		return nil
	}
	numbers := make(map[string]int)
	for i, name := range keyNames(v.keys) {
		numbers[name] = i + 1
	}
	return numbers
}

// keyNames returns the names of keys, which are quoted, each in a line.
func keyNames(keys string) (names []string) {
	for line := range strings.Lines(keys) {
		name, _ := strconv.Unquote(strings.TrimSuffix(line, "\n"))
		names = append(names, name)
	}
	return names
}

// doubtDefaults notes which defaults are not surely valid.
func (p *Program) doubtDefaults() {
	var m screen.Machine
	for _, n := range p.table.Nodes {
		if n.Checks == nil {
			continue
		}
		for i := range n.Fields[:n.Defaults] {
			if f := &n.Fields[i]; !m.Passes(f.Node, []byte(f.Default)) {
				n.Checks.Doubt(f)
			}
		}
	}
}
