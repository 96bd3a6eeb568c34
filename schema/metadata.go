package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/internal/program"
)

// reserved are the fields of a resource that are specified implicitly.
var reserved = []string{"apiVersion", "kind", "metadata"}

// A metaType describes a part of metav1.ObjectMeta (k8s.io/apimachinery v0.37). Metadata is pruned
// by it, whatever the schema says.
type metaType struct {
	types  program.Types
	fields map[string]*metaType // of a struct
	names  []string             // of these, sorted
	values *metaType            // of a map
	items  *metaType            // of a list
	any    bool                 // raw JSON
}

var (
	metaString  = &metaType{types: program.String}
	metaInteger = &metaType{types: program.Integer}
	metaBoolean = &metaType{types: program.Boolean}
	metaStrings = &metaType{types: program.Array, items: metaString}
	metaMap     = &metaType{types: program.Object, values: metaString}

	objectMeta = metaStruct(map[*metaType]string{
		metaString: "name generateName namespace selfLink uid resourceVersion " +
			"creationTimestamp deletionTimestamp",
		metaInteger: "generation deletionGracePeriodSeconds",
		metaMap:     "labels annotations",
		metaStrings: "finalizers",
		metaList(metaStruct(map[*metaType]string{
			metaString:  "apiVersion kind name uid",
			metaBoolean: "controller blockOwnerDeletion",
		})): "ownerReferences",
		metaList(metaStruct(map[*metaType]string{
			metaString:                      "manager operation apiVersion time fieldsType subresource",
			{types: program.Any, any: true}: "fieldsV1",
		})): "managedFields",
	})
)

func metaList(items *metaType) *metaType {
	return &metaType{types: program.Array, items: items}
}

func metaStruct(names map[*metaType]string) *metaType {
	t := &metaType{types: program.Object, fields: make(map[string]*metaType)}
	for field, of := range names {
		for _, name := range strings.Fields(of) {
			t.fields[name] = field
		}
	}
	t.names = slices.Sorted(maps.Keys(t.fields))
	return t
}

// A metaKey identifies a node within metadata by the parts that it is made from.
type metaKey struct {
	meta   *metaType
	schema *Structural // or nil
	group  program.Group
	place  string // with validations: see program.Metadata.Place
	judged bool   // as in nodeKey
}

// reserved adds the edge for one of the implicit fields of a resource. s is what counts of
// what the schema declares for it, or nil.
//
// Pruning leaves these fields alone, and so does the dropping of nulls at the root. In an embedded
// resource, the declared schema still decides what becomes of nulls and which default is inserted.
func (c *compiler) reserved(name string, s *Structural, r role) {
	var to *program.Node
	switch {
	case name != "metadata":
		to = c.typeField(c.declaredType(s, name, r), name, r)
	case r == root:
		to = c.metadata(objectMeta, s, program.RootMetadata, "")
	default:
		to = c.metadata(objectMeta, s, program.EmbeddedMetadata, "")
	}
	null := c.null(s, program.DropNull)
	if null == program.DefaultNull {
		// The server checks types, and decodes metadata, before it inserts defaults.
		null = program.KeepNull
	}
	c.edge(name, to, null, s)
}

// metadata returns the node for a part of metadata. s, which may be nil, decides what becomes of
// nulls and which defaults are inserted.
func (c *compiler) metadata(t *metaType, s *Structural, group program.Group, place string) *program.Node {
	if t.any {
		return c.any
	}
	key := metaKey{t, s, group, place, s != nil && c.nested > 0}
	if c.maker == nil {
		key.place = ""
	}
	if n := c.common.meta[key]; n != nil && (c.maker == nil || group == program.EmbeddedMetadata || c.saysNothingOfMetadata()) {
		return n
	}
	if n := c.meta[key]; n != nil {
		return n
	}
	if s == nil {
		s = new(Structural)
	}
	p := proto{
		types: t.types | program.Null, group: group, first: len(c.edges), unknown: t.fields == nil,
		rules: c.metadataRules(key),
	}
	switch {
	case t.fields != nil:
		p.nulls = c.undeclaredNull(s) == program.DropNull
		names := t.names
		for name, declared := range s.Properties {
			null := c.null(declared, program.DropNull)
			if t.fields[name] == nil && (null != program.KeepNull || p.nulls) {
				names = append(slices.Clip(names), name)
			}
		}
		for _, name := range slices.Sorted(slices.Values(names)) {
			c.metadataField(&p, name, t.fields[name], s, place)
		}
	case t.values != nil:
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			c.metadataField(&p, name, t.values, s, place)
		}
		value := s.value()
		to := c.metadata(t.values, value, group, place+".*")
		if p.rules != nil && p.rules.Names != nil {
			to = c.with(to, ruledKey{names: p.rules.Names})
		}
		c.edge("", to, c.null(value, program.DropNull), value)
	default:
		c.edge("", c.any, program.KeepNull, nil)
	}
	if t.items != nil {
		items := s.element()
		c.edge("", c.metadata(t.items, items, group, place+"[]"), c.null(items, program.KeepNull), items)
	} else {
		c.edge("", c.any, program.KeepNull, nil)
	}
	n := c.finish(p, nil)
	c.meta[key] = n
	if t == objectMeta {
		c.defaults.objectMeta[n] = true
	}
	return n
}

func (c *compiler) metadataField(p *proto, name string, t *metaType, s *Structural, place string) {
	declared := s.Properties[name]
	child := s.member(name)
	null := c.null(child, program.DropNull)
	if declared == nil {
		null = c.undeclaredNull(s)
	}
	to := c.unknownField // nulls are dropped before unknown fields are looked for
	if t != nil {
		to = c.metadata(t, child, p.group, strings.TrimPrefix(place+"."+name, "."))
	}
	c.edge(name, to, null, declared)
	p.fields++
}

// undeclaredNull returns what happens to a null of a name that s, the schema of a struct, does not
// declare. A default in additionalProperties counts for nothing there: the server prunes it in the
// place of a field called "*", which the struct does not have (defaulting.PruneDefaults).
func (c *compiler) undeclaredNull(s *Structural) program.NullAction {
	value := s.value()
	if value != nil && value.hasDefault() {
		bare := *value
		bare.Default = nil
		value = &bare
	}
	return c.null(value, program.DropNull)
}
