package cel

import "k8s.io/apiserver/pkg/cel/common"

// A step leads from a value to one within it, on the way of an evaluation.
type step struct {
	parent *step // nil for the whole
	name   string
	index  int
	kind   stepKind
}

type stepKind uint8

const (
	toMember stepKind = iota // that the schema declares
	toOther                  // one of additionalProperties
	toElement
	toAllOf // the same value, of which allOf says more
)

// A correlation is a value with the part of the stored object that it replaces.
type correlation struct{ current, nearest *common.CorrelatedObject }

// ratchets reports whether a value, or the nearest one around it of which there is an old one, is
// equal to that. Errors of such a value are left out, as the server's ratchetingOptions do it.
func (e *evaluation) ratchets(at *step) bool {
	if e.request.Whole == nil {
		return false
	}
	c := e.correlation(at)
	if c.current != nil {
		return c.current.CachedDeepEqual()
	}
	return c.nearest.CachedDeepEqual()
}

func (e *evaluation) correlation(at *step) correlation {
	if at == nil {
		if e.whole == nil {
			object, old := e.request.Whole()
			e.whole = common.NewCorrelatedObject(object, old, schemaOf(e.rules.shape))
		}
		return correlation{current: e.whole}
	}
	c := e.correlation(at.parent)
	switch {
	case at.kind == toAllOf: // for which the server does not ratchet
		return correlation{nearest: c.nearest}
	case c.current == nil:
		return c
	case at.kind == toElement:
		return correlation{c.current.Index(at.index), c.current}
	case c.nearest == nil && (at.name == "apiVersion" || at.name == "kind"):
		return correlation{}
	}
	return correlation{c.current.Key(at.name), c.current}
}

// A correlatedSchema is a shape for a correlation, which asks for no more than these methods.
type correlatedSchema struct {
	common.Schema
	shape *shape
}

func schemaOf(s *shape) common.Schema {
	if s == nil {
		return nil
	}
	return correlatedSchema{shape: s}
}

func (s correlatedSchema) Type() string           { return s.shape.typ }
func (s correlatedSchema) XListType() string      { return s.shape.listType }
func (s correlatedSchema) XListMapKeys() []string { return s.shape.mapKeys }
func (s correlatedSchema) Items() common.Schema   { return schemaOf(s.shape.items) }

func (s correlatedSchema) Properties() map[string]common.Schema {
	s.shape.once.Do(func() {
		s.shape.schemas = make(map[string]common.Schema, len(s.shape.properties))
		for name, p := range s.shape.properties {
			s.shape.schemas[name] = schemaOf(p)
		}
	})
	return s.shape.schemas
}

func (s correlatedSchema) AdditionalProperties() common.SchemaOrBool {
	if s.shape.additional == nil {
		return nil
	}
	return others{s.shape.additional}
}

type others struct{ shape *shape }

func (o others) Schema() common.Schema { return schemaOf(o.shape) }
func (o others) Allows() bool          { return true }
