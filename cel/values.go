package cel

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"k8s.io/apimachinery/pkg/api/equality"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
)

// This file has the values of CEL that common.UnstructuredToVal makes, with two differences: what
// it looks up in a schema was prepared, and the members of an object have an order, so that an
// expression that goes through them always has the same result.

// valueOf returns the value that expressions see.
func valueOf(x any, s *shape) ref.Val {
	if x == nil {
		if s.nullable {
			return types.NullValue
		}
		return types.NewErr("invalid data, got null for schema with nullable=false")
	}
	switch s.kind {
	case intOrString:
		switch x := x.(type) {
		case string:
			return types.String(x)
		case int64:
			return types.Int(x)
		}
		return types.NewErr("invalid data, expected XIntOrString value to be either a string or integer")
	case object, mapping:
		if m, ok := x.(map[string]any); ok {
			return &mapValue{m, s.declared()}
		}
		return types.NewErr("invalid data, expected a map for the provided schema with type=object")
	case list:
		return listOf(x, s)
	case text, base64, duration, date, dateTime:
		if str, ok := x.(string); ok {
			return textOf(str, s.kind)
		}
		return types.NewErr("invalid data, expected string, got %T", x)
	case number:
		switch x := x.(type) {
		case int64:
			return types.Double(x)
		case float64:
			return types.Double(x)
		}
		return types.NewErr("invalid data, expected float, got %T", x)
	case integer:
		if i, ok := x.(int64); ok {
			return types.Int(i)
		}
		return types.NewErr("invalid data, expected int, got %T", x)
	case boolean:
		if b, ok := x.(bool); ok {
			return types.Bool(b)
		}
		return types.NewErr("invalid data, expected bool, got %T", x)
	case preserved:
		return &unknownValue{x}
	}
	return types.NewErr("invalid type, expected object, array, number, integer, boolean or string, "+
		"or no type with x-kubernetes-int-or-string or x-kubernetes-preserve-unknown-fields is true, got %s", s.typ)
}

func textOf(str string, k kind) ref.Val {
	switch k {
	case duration:
		d, err := strfmt.ParseDuration(str)
		if err != nil {
			return types.NewErr("Invalid duration %s: %v", str, err)
		}
		return types.Duration{Duration: d}
	case date:
		d, err := time.Parse(strfmt.RFC3339FullDate, str)
		if err != nil {
			return types.NewErr("Invalid date formatted string %s: %v", str, err)
		}
		return types.Timestamp{Time: d}
	case dateTime:
		d, err := strfmt.ParseDateTime(str)
		if err != nil {
			return types.NewErr("Invalid date-time formatted string %s: %v", str, err)
		}
		return types.Timestamp{Time: time.Time(d)}
	case base64:
		var b strfmt.Base64
		if err := b.UnmarshalText([]byte(str)); err != nil {
			return types.NewErr("Invalid byte formatted string %s: %v", str, err)
		}
		return types.Bytes(b)
	}
	return types.String(str)
}

func listOf(x any, s *shape) ref.Val {
	l, ok := x.([]any)
	if !ok {
		return types.NewErr("invalid data, expected an array for the provided schema with type=array")
	}
	if s.items == nil {
		return types.NewErr("invalid array type, expected Items with a non-empty Schema")
	}
	v := listValue{l, s.items}
	switch s.listType {
	case "map":
		return &mapListValue{listValue: v, keys: s.escaped}
	case "set":
		return &setValue{listValue: v}
	case "atomic", "":
		return &v
	}
	return types.NewErr("invalid x-kubernetes-list-type, expected 'map', 'set' or 'atomic' but got %s", s.listType)
}

// An unknownValue has no type that expressions could know. It can only be compared.
type unknownValue struct{ x any }

const noConversion = "type conversion to '%s' not supported " +
	"for values preserved by x-kubernetes-preserve-unknown-fields"

func (v *unknownValue) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf(noConversion, t)
}

func (v *unknownValue) ConvertToType(t ref.Type) ref.Val {
	return types.NewErr(noConversion, t.TypeName())
}

func (v *unknownValue) Equal(other ref.Val) ref.Val {
	return types.Bool(equality.Semantic.DeepEqual(v.x, other.Value()))
}

func (v *unknownValue) Type() ref.Type { return types.UnknownType }
func (v *unknownValue) Value() any     { return v.x }

// A listValue is an array, which is atomic unless it is a part of another type.
type listValue struct {
	elements []any
	items    *shape
}

func (v *listValue) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() != reflect.Slice {
		return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), t)
	}
	if v.items.typ != "string" {
		return v.elements, nil
	}
	var result []string
	for _, x := range v.elements {
		s, ok := x.(string)
		if !ok {
			return nil, fmt.Errorf("expected all elements to be of type string, but got %T", x)
		}
		result = append(result, s)
	}
	return result, nil
}

func (v *listValue) ConvertToType(t ref.Type) ref.Val { return converted(v, types.ListType, t) }

// converted returns a value of a type as one of another type: to its own, or to that of types.
func converted(v ref.Val, own *types.Type, t ref.Type) ref.Val {
	switch t {
	case own:
		return v
	case types.TypeType:
		return own
	}
	return types.NewErr("type conversion error from '%s' to '%s'", own, t.TypeName())
}

func (v *listValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	size := types.Int(len(v.elements))
	if size != o.Size() {
		return types.False
	}
	for i := range size {
		if equal := v.Get(i).Equal(o.Get(i)); equal != types.True {
			return equal // false or an error
		}
	}
	return types.True
}

func (v *listValue) Type() ref.Type { return types.ListType }
func (v *listValue) Value() any     { return v.elements }

func (v *listValue) values() []ref.Val {
	values := make([]ref.Val, len(v.elements))
	for i, x := range v.elements {
		values[i] = valueOf(x, v.items)
	}
	return values
}

func (v *listValue) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	elements := v.values()
	for it := o.Iterator(); it.HasNext() == types.True; {
		elements = append(elements, it.Next())
	}
	return types.NewRefValList(types.DefaultTypeAdapter, elements)
}

func (v *listValue) Contains(x ref.Val) ref.Val {
	if types.IsUnknownOrError(x) {
		return x
	}
	var err ref.Val
	for _, e := range v.elements {
		equal := valueOf(e, v.items).Equal(x)
		b, ok := equal.(types.Bool)
		if !ok && err == nil {
			err = types.MaybeNoSuchOverloadErr(equal)
		}
		if b == types.True {
			return types.True
		}
	}
	if err != nil {
		return err
	}
	return types.False
}

func (v *listValue) Get(index ref.Val) ref.Val {
	i, ok := index.(types.Int)
	if !ok {
		return types.ValOrErr(index, "unsupported index: %v", index)
	}
	if i < 0 || int(i) >= len(v.elements) {
		return types.NewErr("index out of bounds: %v", index)
	}
	return valueOf(v.elements[i], v.items)
}

func (v *listValue) Size() ref.Val { return types.Int(len(v.elements)) }

func (v *listValue) Iterator() traits.Iterator { return &listIterator{listValue: v} }

type listIterator struct {
	*listValue
	next int
}

func (it *listIterator) HasNext() ref.Val { return types.Bool(it.next < len(it.elements)) }

func (it *listIterator) Next() ref.Val {
	it.next++
	return valueOf(it.elements[it.next-1], it.items)
}

// A mapValue is an object or a map.
type mapValue struct {
	members map[string]any
	shape   *shape
}

func (v *mapValue) ConvertToNative(t reflect.Type) (any, error) {
	if t.Kind() == reflect.Map {
		return v.members, nil
	}
	return nil, fmt.Errorf("type conversion error from '%s' to '%s'", v.Type(), t)
}

func (v *mapValue) ConvertToType(t ref.Type) ref.Val { return converted(v, types.MapType, t) }

func (v *mapValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Mapper)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	for _, name := range slices.Sorted(maps.Keys(v.members)) {
		if v.shape.member(name) == nil {
			// Of a field that no schema declares, there is no value of CEL.
			o, ok := other.(*mapValue)
			if !ok {
				return types.MaybeNoSuchOverloadErr(other)
			}
			if x, ok := o.members[name]; ok && !equality.Semantic.DeepEqual(v.members[name], x) {
				return types.False
			}
			continue
		}
		x, found := v.Find(types.String(name))
		y, isThere := o.Find(types.String(name))
		if found != isThere {
			return types.False
		}
		if !found {
			continue
		}
		if equal := x.Equal(y); equal != types.True {
			return equal // false or an error
		}
	}
	return types.True
}

func (v *mapValue) Type() ref.Type { return types.MapType }
func (v *mapValue) Value() any     { return v.members }

func (v *mapValue) Contains(key ref.Val) ref.Val {
	x, found := v.Find(key)
	if x != nil && types.IsUnknownOrError(x) {
		return x
	}
	return types.Bool(found)
}

func (v *mapValue) Get(key ref.Val) ref.Val {
	if x, found := v.Find(key); found {
		return x
	}
	return types.ValOrErr(key, "no such key: %v", key)
}

func (v *mapValue) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return types.MaybeNoSuchOverloadErr(key), true
	}
	if v.shape.kind == mapping {
		if x, ok := v.members[string(name)]; ok {
			return valueOf(x, v.shape.additional), true
		}
		return nil, false
	}
	f := v.shape.find(string(name))
	if f == nil {
		return nil, false
	}
	// null is the same as no value.
	x := v.members[f.name]
	if x == nil {
		return nil, false
	}
	return valueOf(x, f.shape), true
}

func (v *mapValue) Size() ref.Val { return types.Int(len(v.members)) }

func (v *mapValue) Iterator() traits.Iterator {
	names := slices.Sorted(maps.Keys(v.members))
	keys := make([]ref.Val, 0, len(names))
	for _, name := range names {
		if v.shape.member(name) == nil {
			continue
		}
		if v.shape.properties != nil {
			name = escapedOr(name, name)
		}
		keys = append(keys, types.String(name))
	}
	// As for the server, there is a key for each member, and those of members that have no value of
	// CEL are nothing.
	return &mapIterator{mapValue: v, keys: keys[:len(names)]}
}

type mapIterator struct {
	*mapValue
	keys []ref.Val
	next int
}

func (it *mapIterator) HasNext() ref.Val { return types.Bool(it.next < len(it.keys)) }

func (it *mapIterator) Next() ref.Val {
	it.next++
	return it.keys[it.next-1]
}

// member returns the shape of the member that a document has by this name.
func (s *shape) member(name string) *shape {
	if s.kind == mapping {
		return s.additional
	}
	return s.properties[name]
}

// find returns the field whose name an expression has, escaped or not.
func (s *shape) find(name string) *field {
	if f := s.fields[name]; f != nil || !strings.Contains(name, "__") {
		return f
	}
	unescaped, ok := apiservercel.Unescape(name)
	if p := s.properties[unescaped]; ok && p != nil {
		return &field{unescaped, escapedOr(unescaped, ""), p}
	}
	return nil
}
