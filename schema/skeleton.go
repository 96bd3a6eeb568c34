package schema

// This file derives skeleton schemas (draft KEP "Pruning for Custom Resources",
// section Formal Proposal). The draft defines
//
//	skel(s) := merge(drop(s), skel(s_1), ..., skel(s_n))
//
// over the schemas s_i in allOf, anyOf, oneOf and not of s. Done as written,
// over the schemas s_i in allOf, anyOf, oneOf and not of s. Computed literally, from the bottom
// up, this costs the product of depth and size. Here the schemas for one place are gathered first,
// through all junctors, and merged once. Every schema of the input is visited once.
//
// skeletonParser finds x-kubernetes-no-prune, which Structural does not hold. skeletonBuilder does
// the rest.

import (
	"bytes"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/schemapath"
)

// Skeleton derives a schema for pruning from any OpenAPI v3 validation schema,
// in JSON or YAML. The result has all fields that are specified under
// properties anywhere in the schema, including allOf, anyOf, oneOf and not, and
// nothing else (draft KEP "Pruning for Custom Resources", option 1). For a
// structural schema it is the structural core, with the addition of fields that
// only value validations mention.
//
// The keywords are treated as follows:
//
//   - properties, patternProperties, additionalProperties and additionalItems
//     are merged, name by name. items are merged as well: one schema with
//     another, a list with another position by position, and a list with a
//     schema into one schema.
//   - additionalProperties: true is a schema that specifies nothing, and so is
//     additionalItems: true. false is left out: it specifies nothing, and
//     pruning would treat it as true.
//   - type is that of the schema in the place itself, unless a junctor there
//     has a different one. Where only junctors of an outer schema describe the
//     place, they must all name the type (example 5 of the draft). Types under
//     not are ignored, because they are types that a value need not have.
//   - nullable, default, x-kubernetes-preserve-unknown-fields,
//     x-kubernetes-embedded-resource and x-kubernetes-int-or-string are newer
//     than the draft. They stay where they are outside of junctors, and are
//     dropped inside, where structural schemas cannot have them.
//   - x-kubernetes-no-prune: true, which the draft also spells
//     x-kubernetes-no-pruning and x-no-pruning, becomes
//     x-kubernetes-preserve-unknown-fields: true. It applies to the whole
//     subtree, and therefore nothing below it is specified.
//   - everything else is dropped.
//
// The error is that of [Parse], or [errors.SchemaErrors] where
//
//   - a place has properties and additionalProperties or patternProperties
//     (Restriction 1 on Object Polymorphism),
//   - x-kubernetes-no-prune is false, or is below another one (Nested
//     x-no-pruning),
//   - only a junctor excludes something from pruning: dropping the keyword
//     would prune what should be kept,
//   - there is a $ref, because nothing is known of its target.
//
// The skeleton of a skeleton is the same skeleton. It is as structural as its
// source: package schema/validation refuses places without a type,
// patternProperties, additionalItems and lists of items.
//
// The time is linear in the size of the schema.
func Skeleton(openAPIV3Schema []byte) (*Structural, error) {
	t, err := readText(openAPIV3Schema)
	if err != nil {
		return nil, err
	}
	s, err := t.schema()
	if err != nil {
		return nil, err
	}
	b := skeletonBuilder{noPrune: map[*Structural]bool{}}
	p := skeletonParser{skeletonBuilder: &b, d: jsonv2.NewDecoder(bytes.NewBuffer(t.json))}
	p.schema(s, rootPlace())
	skeleton := b.place([]source{{s: s, at: rootPlace(), core: true}})
	if len(b.faults) > 0 {
		slices.SortStableFunc(b.faults, func(x, y *errors.SchemaError) int {
			return strings.Compare(x.Field, y.Field)
		})
		return nil, b.faults
	}
	return skeleton, nil
}

// Errors are bounded, because paths are as long as a schema is deep.
const (
	maxSkeletonErrors     = 100
	maxSkeletonErrorBytes = 1 << 20
)

// A skeletonBuilder makes a skeleton, or collects the reasons why there is none.
type skeletonBuilder struct {
	faults  errors.SchemaErrors
	bytes   int                  // of the text of faults
	noPrune map[*Structural]bool // x-kubernetes-no-prune: true
}

// rootPlace is the path of a schema on its own, as in package schema/validation.
func rootPlace() *schemapath.Path { return schemapath.Root("openAPIV3Schema") }

// hasRoom reports whether another error is kept.
func (b *skeletonBuilder) hasRoom() bool {
	return len(b.faults) < maxSkeletonErrors && b.bytes < maxSkeletonErrorBytes
}

func (b *skeletonBuilder) forbid(p *schemapath.Path, msg string) {
	if b.hasRoom() {
		field := p.String()
		b.bytes += len(field) + len(msg)
		b.faults = append(b.faults, &errors.SchemaError{
			Kind: errors.SchemaForbidden, Field: field, Msg: msg,
		})
	}
}

// A source is a schema that says something about a place.
type source struct {
	s  *Structural
	at *schemapath.Path // the path to s
	// core says that no junctor is above s. Of the sources of one place, at most the first is in
	// the core.
	core bool
	// negated says that a not is above s.
	negated bool
}

// below returns the source for s, which is within src.
func (src source) below(s *Structural, at *schemapath.Path) source {
	src.s, src.at = s, at
	return src
}

// A gathering has the sources for the places below one place, from the sources of that and from the
// schemas in their junctors.
type gathering struct {
	properties        sourceMap
	patternProperties sourceMap
	additional        sourceList
	additionalItems   sourceList
	items             sourceList
	itemLists         [][]source // of items that are lists, by index
}

// A sourceMap has the sources for the places below, by their names.
type sourceMap struct {
	names map[string][]source
	at    *schemapath.Path // the path where the first of them is
}

func (m *sourceMap) add(src source, keyword string, schemas map[string]*Structural) {
	if len(schemas) == 0 {
		return
	}
	at := src.at.Child(keyword)
	if m.names == nil {
		m.names, m.at = make(map[string][]source, len(schemas)), at
	}
	for name, s := range schemas {
		m.names[name] = append(m.names[name], src.below(s, at.Key(name)))
	}
}

// A sourceList has the sources for a place below.
type sourceList struct {
	sources []source
	// specifies says that one of them is more than true.
	specifies bool
}

func (l *sourceList) add(src source, keyword string, s *SchemaOrBool) {
	switch {
	case s == nil:
	case s.Schema != nil:
		l.specifies = true
		l.sources = append(l.sources, src.below(s.Schema, src.at.Child(keyword)))
	case s.Allows:
		l.sources = append(l.sources, src.below(new(Structural), src.at.Child(keyword)))
	}
}

// place returns the skeleton for the place of some sources.
func (b *skeletonBuilder) place(sources []source) *Structural {
	out := new(Structural)
	var g gathering
	typed := false
	for _, src := range sources {
		switch t := b.gather(&g, src); {
		case src.negated:
		case !typed:
			out.Type, typed = t, true
		case t == "" && sources[0].core:
			// A missing type contradicts nothing.
		case t != out.Type:
			out.Type = ""
		}
	}
	if core := sources[0]; core.core {
		b.keepExtensions(out, core.s)
		if b.noPrune[core.s] {
			return out
		}
	}
	b.restrict(&g)
	out.Properties = b.places(g.properties.names)
	out.PatternProperties = b.places(g.patternProperties.names)
	out.AdditionalProperties = b.schemaOrBool(g.additional)
	out.AdditionalItems = b.schemaOrBool(g.additionalItems)
	out.Items = b.schemaOrArray(&g)
	return out
}

// keepExtensions copies the parts that a skeleton has from the core alone.
func (b *skeletonBuilder) keepExtensions(out, s *Structural) {
	out.Nullable = s.Nullable
	out.Default = s.Default
	out.XEmbeddedResource = s.XEmbeddedResource
	out.XIntOrString = s.XIntOrString
	if s.preserves() || b.noPrune[s] {
		out.XPreserveUnknownFields = new(true)
	}
}

// restrict reports violations of Restriction 1 on Object Polymorphism.
func (b *skeletonBuilder) restrict(g *gathering) {
	other := g.patternProperties.at
	if len(g.additional.sources) > 0 {
		other = g.additional.sources[0].at
	}
	if g.properties.at != nil && other != nil && b.hasRoom() {
		b.forbid(other, other.Name()+" and properties are mutual exclusive; "+
			"for the same object, there is "+g.properties.at.String())
	}
}

func (b *skeletonBuilder) places(names map[string][]source) map[string]*Structural {
	if len(names) == 0 {
		return nil
	}
	places := make(map[string]*Structural, len(names))
	for name, sources := range names {
		places[name] = b.place(sources)
	}
	return places
}

func (b *skeletonBuilder) schemaOrBool(l sourceList) *SchemaOrBool {
	switch {
	case len(l.sources) == 0:
		return nil
	case !l.specifies:
		return &SchemaOrBool{Allows: true}
	}
	return &SchemaOrBool{Allows: true, Schema: b.place(l.sources)}
}

func (b *skeletonBuilder) schemaOrArray(g *gathering) *SchemaOrArray {
	if len(g.items.sources) > 0 {
		// A schema for all elements makes indices irrelevant. Sources from lists are then not in
		// the core: only the first source may be.
		for _, sources := range g.itemLists {
			for _, src := range sources {
				src.core = false
				g.items.sources = append(g.items.sources, src)
			}
		}
		return &SchemaOrArray{Schema: b.place(g.items.sources)}
	}
	if len(g.itemLists) == 0 {
		return nil
	}
	list := make([]*Structural, len(g.itemLists))
	for i, sources := range g.itemLists {
		list[i] = b.place(sources)
	}
	return &SchemaOrArray{Schemas: list}
}

// gather adds the sources for the places below that a source has. It returns the type that the
// source demands: its own, unless one of its junctors has another.
func (b *skeletonBuilder) gather(g *gathering, src source) string {
	s := src.s
	if s.Ref != nil {
		b.forbid(src.at.Child("$ref"), "$ref is not supported")
	}
	switch {
	case src.core:
	case b.noPrune[s]:
		b.forbid(src.at.Child("x-kubernetes-no-prune"),
			"must not be used in allOf, anyOf, oneOf or not")
	case s.preserves():
		b.forbid(src.at.Child("x-kubernetes-preserve-unknown-fields"),
			"must not be used in allOf, anyOf, oneOf or not")
	}
	g.properties.add(src, "properties", s.Properties)
	g.patternProperties.add(src, "patternProperties", s.PatternProperties)
	g.additional.add(src, "additionalProperties", s.AdditionalProperties)
	g.additionalItems.add(src, "additionalItems", s.AdditionalItems)
	g.gatherItems(src)
	t := s.Type
	src.core = false
	for _, junctor := range []struct {
		keyword  string
		branches []*Structural
	}{{"allOf", s.AllOf}, {"anyOf", s.AnyOf}, {"oneOf", s.OneOf}} {
		for i, branch := range junctor.branches {
			u := b.gather(g, src.below(branch, src.at.Child(junctor.keyword).Index(i)))
			if u != "" && u != s.Type {
				t = ""
			}
		}
	}
	if s.Not != nil {
		src.negated = true
		b.gather(g, src.below(s.Not, src.at.Child("not")))
	}
	return t
}

func (g *gathering) gatherItems(src source) {
	items := src.s.Items
	if items == nil {
		return
	}
	at := src.at.Child("items")
	if items.Schema != nil {
		g.items.sources = append(g.items.sources, src.below(items.Schema, at))
		return
	}
	for i, s := range items.Schemas {
		if i == len(g.itemLists) {
			g.itemLists = append(g.itemLists, nil)
		}
		g.itemLists[i] = append(g.itemLists[i], src.below(s, at.Index(i)))
	}
}

// A skeletonParser reads the text of a schema along with the tree that was made of it, and finds
// the members that the tree does not have. The text is well-formed, so that the decoder returns no
// errors.
type skeletonParser struct {
	*skeletonBuilder
	d *jsonv2.Decoder
}

// schema reads the value that s was made of. It returns the path of the first x-kubernetes-no-prune
// in it, or nil.
func (p *skeletonParser) schema(s *Structural, at *schemapath.Path) (first *schemapath.Path) {
	if p.d.PeekKind() != '{' {
		p.d.SkipValue()
		return nil
	}
	var own, below *schemapath.Path
	note := func(found *schemapath.Path) {
		if below == nil {
			below = found
		}
	}
	p.d.ReadToken()
	for p.d.PeekKind() == '"' {
		token, _ := p.d.ReadToken()
		name := token.String()
		switch name {
		case "x-kubernetes-no-prune", "x-kubernetes-no-pruning", "x-no-pruning":
			own = at.Child(name)
			if p.d.PeekKind() == 't' {
				p.noPrune[s] = true
			} else {
				p.forbid(own, "must be true or undefined")
			}
			p.d.SkipValue()
		case "properties":
			note(p.schemas(s.Properties, at.Child(name)))
		case "patternProperties":
			note(p.schemas(s.PatternProperties, at.Child(name)))
		case "additionalProperties":
			note(p.schemaOrNot(s.value(), at.Child(name)))
		case "additionalItems":
			note(p.schemaOrNot(s.AdditionalItems.schema(), at.Child(name)))
		case "not":
			note(p.schemaOrNot(s.Not, at.Child(name)))
		case "items":
			if list := s.Items; list != nil && list.Schema == nil {
				note(p.list(list.Schemas, at.Child(name)))
			} else {
				note(p.schemaOrNot(s.element(), at.Child(name)))
			}
		case "allOf":
			note(p.list(s.AllOf, at.Child(name)))
		case "anyOf":
			note(p.list(s.AnyOf, at.Child(name)))
		case "oneOf":
			note(p.list(s.OneOf, at.Child(name)))
		default:
			p.d.SkipValue()
		}
	}
	p.d.ReadToken()
	if own == nil {
		return below
	}
	if below != nil && p.noPrune[s] {
		p.forbid(below, "must not be nested")
	}
	return own
}

// schemaOrNot reads a value that s was made of, or any value if s is nil.
func (p *skeletonParser) schemaOrNot(s *Structural, at *schemapath.Path) *schemapath.Path {
	if s == nil {
		p.d.SkipValue()
		return nil
	}
	return p.schema(s, at)
}

func (p *skeletonParser) schemas(
	m map[string]*Structural, at *schemapath.Path,
) (first *schemapath.Path) {
	if p.d.PeekKind() != '{' {
		p.d.SkipValue()
		return nil
	}
	p.d.ReadToken()
	for p.d.PeekKind() == '"' {
		name, _ := p.d.ReadToken()
		key := name.String()
		if found := p.schema(m[key], at.Key(key)); first == nil {
			first = found
		}
	}
	p.d.ReadToken()
	return first
}

func (p *skeletonParser) list(l []*Structural, at *schemapath.Path) (first *schemapath.Path) {
	if p.d.PeekKind() != '[' {
		p.d.SkipValue()
		return nil
	}
	p.d.ReadToken()
	for i := 0; p.d.PeekKind() != ']'; i++ {
		if found := p.schema(l[i], at.Index(i)); first == nil {
			first = found
		}
	}
	p.d.ReadToken()
	return first
}
