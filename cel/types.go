package cel

import (
	"github.com/google/cel-go/common/types"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// selfType is the name of the type of self. The server makes names with a random number, which no
// expression can know; none can name this one, as it is no identifier.
const selfType = "selfType@"

// A provider tells CEL the types of shapes. Each object has a type of its own, named by the path to
// it, and is found when an expression leads to it.
type provider struct {
	types.Provider
	keywords bool // self.namespace is self.__namespace__
	objects  map[string]*shape
}

// typeOf returns the type of the values of a shape, as common.SchemaDeclType has it. It is nil if
// expressions cannot see them.
func (p *provider) typeOf(s *shape, name string) *types.Type {
	s = s.declared()
	switch {
	case s == nil || !s.hasType():
		return nil
	case s.intOrString:
		return types.DynType
	case s.typ == "array":
		return types.NewListType(p.typeOf(s.items, name+".@idx"))
	case s.typ == "object" && s.additional != nil:
		return types.NewMapType(types.StringType, p.typeOf(s.additional, name+".@elem"))
	case s.typ == "object":
		p.objects[name] = s
		return types.NewObjectType(name)
	}
	return scalars[s.kind]
}

var scalars = map[kind]*types.Type{
	text: types.StringType, base64: types.BytesType,
	duration: types.DurationType, date: types.TimestampType, dateTime: types.TimestampType,
	boolean: types.BoolType, number: types.DoubleType, integer: types.IntType,
}

// hasType reports whether expressions can see values of a shape.
func (s *shape) hasType() bool {
	for s != nil {
		switch {
		case s.intOrString:
			return true
		case s.typ == "array":
			s = s.items.declared()
		case s.typ == "object" && s.additional != nil:
			s = s.additional.declared()
		default:
			return s.typ == "object" || scalars[s.kind] != nil
		}
	}
	return false
}

// element returns the shape of the elements or members that the type of a shape has.
func (s *shape) element() *shape {
	switch {
	case !s.hasType() || s.intOrString:
	case s.typ == "array":
		return s.items.declared()
	case s.typ == "object":
		return s.additional.declared()
	}
	return nil
}

// hasFields reports whether the type of the values is that of an object, and not of a map.
func (s *shape) hasFields() bool {
	return !s.intOrString && s.typ == "object" && s.additional == nil
}

// field returns the field that an expression names.
func (s *shape) field(name string, keywords bool) *field {
	if !s.hasFields() {
		return nil
	}
	f := s.fields[name]
	if f == nil || f.escaped != name {
		escaped, _ := apiservercel.Escape(name)
		if !keywords || escaped != "__"+name+"__" {
			return nil
		}
		f = s.fields[escaped]
	}
	if f == nil || !f.shape.declared().hasType() {
		return nil
	}
	return f
}

func (p *provider) FindStructType(name string) (*types.Type, bool) {
	if p.objects[name] != nil {
		return types.NewTypeTypeWithParam(types.NewObjectType(name)), true
	}
	return p.Provider.FindStructType(name)
}

func (p *provider) FindStructFieldNames(string) ([]string, bool) { return nil, false }

func (p *provider) FindStructFieldType(of, name string) (*types.FieldType, bool) {
	s := p.objects[of]
	if s == nil {
		return p.Provider.FindStructFieldType(of, name)
	}
	f := s.field(name, p.keywords)
	if f == nil {
		return nil, false
	}
	return &types.FieldType{Type: p.typeOf(f.shape, of+"."+f.escaped)}, true
}
