package schema

import (
	"maps"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// reserved are the fields of a resource that are specified implicitly.
var reserved = []string{"apiVersion", "kind", "metadata"}

// A metaType describes a part of metav1.ObjectMeta (k8s.io/apimachinery v0.37),
// by which metadata is pruned whatever the schema says about it.
type metaType struct {
	types  program.Types
	fields map[string]*metaType // of a struct
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
	return t
}

// reserved adds one of the implicit fields of a resource; s is what the schema
// declares for it, or nil.
//
// Pruning leaves these fields alone, and so does the dropping of nulls at the
// root. What the schema declares in an embedded resource still says what becomes
// of nulls and what is the default.
func (c *compiler) reserved(n *program.Node, name string, s *Structural, r role) {
	if r == root {
		s = nil
	}
	e := program.Edge{Node: c.text, Null: c.null(s, program.DropNull)}
	c.path = append(c.path, "properties["+name+"]")
	if name == "metadata" {
		group := program.EmbeddedMetadata
		if r == root {
			group = program.RootMetadata
		}
		e.Node = c.metadata(objectMeta, s, group)
	}
	c.field(n, name, e, s)
	c.path = c.path[:len(c.path)-1]
}

// metadata returns the node for a part of metadata, in which s, which may be
// nil, says what becomes of nulls and what the defaults are.
func (c *compiler) metadata(t *metaType, s *Structural, group program.Group) *program.Node {
	key := nodeKey{schema: s, meta: t, role: role(group)}
	if n := c.nodes[key]; n != nil {
		return n
	}
	if t.any {
		return c.any
	}
	n := c.add(&program.Node{Types: t.types | program.Null, Group: group, KeepObject: true, KeepArray: true})
	c.nodes[key] = n
	c.objectMeta[n] = t == objectMeta
	n.Unknown = &program.Edge{Node: c.any}
	n.Elements = program.Edge{Node: c.any}
	if s == nil {
		s = new(Structural)
	}
	switch {
	case t.fields != nil:
		n.KeepObject, n.Unknown = false, nil
		for _, name := range slices.Sorted(maps.Keys(t.fields)) {
			c.metadataField(n, name, t.fields[name], s, group)
		}
	case t.values != nil:
		n.KeepObject = false
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			c.metadataField(n, name, t.values, s, group)
		}
		value := s.value()
		n.Unknown = &program.Edge{Node: c.metadata(t.values, value, group), Null: c.null(value, program.DropNull)}
		c.note(edgeKey{n, edgeUnknown}, value)
	case t.items != nil:
		items := s.element()
		n.KeepArray = false
		n.Elements = program.Edge{Node: c.metadata(t.items, items, group), Null: c.null(items, program.KeepNull)}
		c.note(edgeKey{n, edgeElements}, items)
	}
	return n
}

func (c *compiler) metadataField(n *program.Node, name string, t *metaType, s *Structural, group program.Group) {
	child := s.Properties[name]
	if child == nil {
		child = s.value()
	}
	e := program.Edge{Node: c.metadata(t, child, group), Null: c.null(child, program.DropNull)}
	if s.Properties[name] == nil {
		child = nil // only declared fields are defaulted where they are absent
		if e.Null == program.DefaultNull {
			e.Null = program.KeepNull
		}
	}
	n.Fields = append(n.Fields, program.MakeField(name, jsonwire.AppendQuoted(nil, name), e))
	c.note(edgeKey{n, len(n.Fields) - 1}, child)
}
