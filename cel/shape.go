package cel

import (
	"crypto/sha256"
	"encoding/binary"
	"maps"
	"slices"
	"sync"

	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/espalier-dev/espalier/schema"
)

// A shape is a schema without what rules cannot see: documentation, validation and the rules
// themselves. Equal shapes are one, also across definitions. A shape does not change.
type shape struct {
	typ, format   string
	listType      string
	mapKeys       []string
	nullable      bool
	intOrString   bool
	embedded      bool
	preserves     bool
	correlatesMap bool              // an element of the old map is that with the same name
	properties    map[string]*shape // nil if there are none
	hasAdditional bool
	additional    *shape // of the other members, or nil
	items         *shape

	// What follows is made of what is above.

	hash     [sha256.Size]byte
	kind     kind
	resource *shape            // of an embedded resource, with the fields that its rules can read
	fields   map[string]*field // by their names in expressions, and by those in documents
	escaped  []string          // mapKeys, as expressions name them
	once     sync.Once
	schemas  map[string]common.Schema // properties for a correlation, when there has been one
}

// A field is a property of a shape.
type field struct {
	name, escaped string
	shape         *shape
}

// A kind says how the values of a shape are converted.
type kind uint8

const (
	shapeless kind = iota
	intOrString
	object // with properties, or with neither these nor a shape of other members
	mapping
	list
	text
	base64
	duration
	date
	dateTime
	number
	integer
	boolean
	preserved
)

func (s *shape) kindOf() kind {
	switch {
	case s.intOrString:
		return intOrString
	case s.typ == "object" && !s.embedded && s.properties == nil && s.additional != nil:
		return mapping
	case s.typ == "string":
		switch s.format {
		case "byte":
			return base64
		case "duration":
			return duration
		case "date":
			return date
		case "date-time":
			return dateTime
		}
		return text
	case s.typ == "object":
		return object
	case s.typ == "array":
		return list
	case s.typ == "number":
		return number
	case s.typ == "integer":
		return integer
	case s.typ == "boolean":
		return boolean
	case s.preserves:
		return preserved
	}
	return shapeless
}

// shapes has each shape once.
type shapes struct {
	interner[[sha256.Size]byte, shape]
}

// of returns the shape of a schema.
func (in *shapes) of(s *schema.Structural) *shape {
	if s == nil {
		return nil
	}
	made := &shape{
		typ: s.Type, format: s.Format, nullable: s.Nullable,
		intOrString: s.XIntOrString, embedded: s.XEmbeddedResource,
		preserves:     s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields,
		correlatesMap: s.XMapType == nil || *s.XMapType == "granular" || *s.XMapType == "atomic",
		mapKeys:       s.XListMapKeys,
	}
	if s.XListType != nil {
		made.listType = *s.XListType
	}
	if s.Items != nil {
		made.items = in.of(s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		made.hasAdditional, made.additional = true, in.of(s.AdditionalProperties.Schema)
	}
	if len(s.Properties) > 0 {
		made.properties = make(map[string]*shape, len(s.Properties))
		for name, p := range s.Properties {
			made.properties[name] = in.of(p)
		}
	}
	return in.the(made)
}

// the returns the shape that is equal to one whose parts are shapes of in.
func (in *shapes) the(s *shape) *shape {
	s.hash = s.sum()
	return in.get(s.hash, func() *shape {
		s.kind = s.kindOf()
		s.mapKeys = slices.Clone(s.mapKeys)
		for _, key := range s.mapKeys {
			s.escaped = append(s.escaped, escapedOr(key, key))
		}
		s.fields = make(map[string]*field, len(s.properties))
		for name := range s.properties {
			// Where objects are compared, names are looked up as if they were escaped.
			for _, key := range []string{escapedOr(name, name), name} {
				unescaped, ok := apiservercel.Unescape(key)
				if p := s.properties[unescaped]; ok && p != nil {
					s.fields[key] = &field{unescaped, escapedOr(unescaped, ""), p}
				}
			}
		}
		if s.embedded {
			s.resource = in.ofResource(s)
		}
		return s
	})
}

// ofResource returns the shape of a resource, whose rules can read its type and its name.
func (in *shapes) ofResource(s *shape) *shape {
	if s.isResource() {
		return s
	}
	return in.the(s.withMeta(in))
}

// declared returns the shape that expressions see.
func (s *shape) declared() *shape {
	if s != nil && s.embedded {
		return s.resource
	}
	return s
}

func escapedOr(name, otherwise string) string {
	if escaped, ok := apiservercel.Escape(name); ok {
		return escaped
	}
	return otherwise
}

// isResource reports whether the schema has the fields that rules of resources can read.
func (s *shape) isResource() bool {
	has := func(s *shape, name, typ string) bool {
		p := s.properties[name]
		return p != nil && p.typ == typ
	}
	metadata := s.properties["metadata"]
	return has(s, "kind", "string") && has(s, "apiVersion", "string") &&
		has(s, "metadata", "object") &&
		has(metadata, "name", "string") && has(metadata, "generateName", "string")
}

// withMeta returns the shape with these fields, as model.WithTypeAndObjectMeta does it.
func (s *shape) withMeta(in *shapes) *shape {
	str := in.the(&shape{typ: "string", correlatesMap: true})
	made := &shape{
		typ: s.typ, format: s.format, listType: s.listType, mapKeys: s.mapKeys,
		nullable: s.nullable, intOrString: s.intOrString, embedded: s.embedded, preserves: s.preserves,
		correlatesMap: s.correlatesMap, hasAdditional: s.hasAdditional, additional: s.additional,
		properties: make(map[string]*shape, len(s.properties)+3),
	}
	maps.Copy(made.properties, s.properties)
	made.properties["kind"], made.properties["apiVersion"] = str, str
	made.properties["metadata"] = in.the(&shape{
		typ: "object", correlatesMap: true,
		properties: map[string]*shape{"name": str, "generateName": str},
	})
	return made
}

// sum returns a hash of the schema.
func (s *shape) sum() (sum [sha256.Size]byte) {
	var b []byte
	str := func(s string) { b = append(binary.AppendUvarint(b, uint64(len(s))), s...) }
	flag := func(f bool) {
		if f {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	part := func(p *shape) {
		flag(p != nil)
		if p != nil {
			b = append(b, p.hash[:]...)
		}
	}
	str(s.typ)
	str(s.format)
	str(s.listType)
	b = binary.AppendUvarint(b, uint64(len(s.mapKeys)))
	for _, key := range s.mapKeys {
		str(key)
	}
	for _, f := range []bool{
		s.nullable, s.intOrString, s.embedded, s.preserves, s.correlatesMap, s.hasAdditional,
	} {
		flag(f)
	}
	part(s.additional)
	part(s.items)
	for _, name := range slices.Sorted(maps.Keys(s.properties)) {
		str(name)
		part(s.properties[name])
	}
	return sha256.Sum256(b)
}
