package cel

import (
	"fmt"
	"reflect"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// A mapListValue is an array of x-kubernetes-list-type: map.
type mapListValue struct {
	listValue
	keys []string
}

// keyOf returns what identifies an element, in a form that can be a key.
func (v *mapListValue) keyOf(x any) any {
	m, ok := x.(map[string]any)
	if !ok {
		const text = "unexpected data format for element of array with x-kubernetes-list-type=map: %T"
		return types.NewErr(text, x)
	}
	return keyOf(v.keys, func(name string) any { return m[name] })
}

// keyOf returns the values of keys as one that is comparable.
func keyOf(keys []string, value func(string) any) any {
	switch len(keys) {
	case 1:
		return value(keys[0])
	case 2:
		return [2]any{value(keys[0]), value(keys[1])}
	case 3:
		return [3]any{value(keys[0]), value(keys[1]), value(keys[2])}
	}
	all := make([]any, len(keys))
	for i, name := range keys {
		all[i] = value(name)
	}
	return fmt.Sprintf("%#v", all)
}

// Equal ignores the order.
func (v *mapListValue) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	elements := make(map[any]any, len(v.elements))
	for _, x := range v.elements {
		elements[v.keyOf(x)] = x
	}
	return equalByKey(elements, o,
		func(x ref.Val) any { return v.keyOf(x.Value()) },
		func(x any) ref.Val { return valueOf(x, v.items) })
}

// equalByKey reports whether a list has equal elements with the same keys, whatever their order is.
func equalByKey[T any](
	elements map[any]T, other traits.Lister, keyOf func(ref.Val) any, value func(T) ref.Val,
) ref.Val {
	seen := make(map[any]struct{}, len(elements))
	for it := other.Iterator(); it.HasNext() == types.True; {
		x := it.Next()
		key := keyOf(x)
		element, ok := elements[key]
		if !ok {
			return types.False
		}
		if equal := value(element).Equal(x); equal != types.True {
			return equal // false or an error
		}
		seen[key] = struct{}{}
	}
	return types.Bool(len(seen) == len(elements))
}

// Add replaces the elements whose keys are in the other list, and appends the rest of that.
func (v *mapListValue) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return mapListSum{keys: v.keys}.add(v.values(), o)
}

// A mapListSum is a sum of lists of x-kubernetes-list-type: map.
type mapListSum struct {
	traits.Lister
	keys []string
}

func (v mapListSum) add(elements []ref.Val, other traits.Lister) ref.Val {
	at := make(map[any]int, len(elements))
	for i, x := range elements {
		at[v.keyOf(x)] = i
	}
	for it := other.Iterator(); it.HasNext() == types.True; {
		x := it.Next()
		if i, ok := at[v.keyOf(x)]; ok {
			elements[i] = x
		} else {
			elements = append(elements, x)
		}
	}
	return &mapListSum{types.NewRefValList(types.DefaultTypeAdapter, elements), v.keys}
}

func (v mapListSum) keyOf(element ref.Val) any {
	return keyOf(v.keys, func(name string) any {
		m, ok := element.(traits.Mapper)
		if !ok {
			return nil
		}
		x, found := m.Find(types.String(name))
		if !found || x == nil || types.IsUnknownOrError(x) {
			return nil
		}
		return comparableOf(x)
	})
}

// comparableOf returns a value in a form that can be compared.
func comparableOf(v ref.Val) any {
	x := v.Value()
	if x != nil && !reflect.TypeOf(x).Comparable() {
		return fmt.Sprintf("%#v", x)
	}
	return x
}

func (v *mapListSum) Add(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	return v.add(elementsOf(v), o)
}

func (v *mapListSum) Equal(other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if v.Size() != o.Size() {
		return types.False
	}
	all := elementsOf(v)
	elements := make(map[any]ref.Val, len(all))
	for _, x := range all {
		elements[v.keyOf(x)] = x
	}
	return equalByKey(elements, o, v.keyOf, func(x ref.Val) ref.Val { return x })
}

func elementsOf(l traits.Lister) []ref.Val {
	n, _ := l.Size().(types.Int)
	elements := make([]ref.Val, n)
	for i := range n {
		elements[i] = l.Get(i)
	}
	return elements
}

// A setValue is an array of x-kubernetes-list-type: set.
type setValue struct{ listValue }

func (v *setValue) Equal(other ref.Val) ref.Val { return setEqual(v.values(), other) }
func (v *setValue) Add(other ref.Val) ref.Val   { return setAdd(v.values(), other) }

// A setSum is a sum of such arrays.
type setSum struct{ traits.Lister }

func (v *setSum) Equal(other ref.Val) ref.Val { return setEqual(elementsOf(v), other) }
func (v *setSum) Add(other ref.Val) ref.Val   { return setAdd(elementsOf(v), other) }

// setEqual ignores the order.
func setEqual(elements []ref.Val, other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	if types.Int(len(elements)) != o.Size() {
		return types.False
	}
	set, err := setOf(elements)
	if err != nil {
		return err
	}
	seen := make(map[any]struct{}, len(set))
	for it := o.Iterator(); it.HasNext() == types.True; {
		key, err := setKey(it.Next())
		if err != nil {
			return err
		}
		if _, ok := set[key]; !ok {
			return types.False
		}
		seen[key] = struct{}{}
	}
	return types.Bool(len(seen) == len(set))
}

// setAdd appends those elements of the other list that are not there.
func setAdd(elements []ref.Val, other ref.Val) ref.Val {
	o, ok := other.(traits.Lister)
	if !ok {
		return types.MaybeNoSuchOverloadErr(other)
	}
	set, err := setOf(elements)
	if err != nil {
		return err
	}
	for it := o.Iterator(); it.HasNext() == types.True; {
		x := it.Next()
		key, err := setKey(x)
		if err != nil {
			return err
		}
		if _, ok := set[key]; !ok {
			set[key] = struct{}{}
			elements = append(elements, x)
		}
	}
	return &setSum{types.NewRefValList(types.DefaultTypeAdapter, elements)}
}

func setOf(elements []ref.Val) (map[any]struct{}, ref.Val) {
	set := make(map[any]struct{}, len(elements))
	for _, x := range elements {
		key, err := setKey(x)
		if err != nil {
			return nil, err
		}
		set[key] = struct{}{}
	}
	return set, nil
}

func setKey(x ref.Val) (any, ref.Val) {
	switch x.(type) {
	case traits.Lister, traits.Mapper:
		return nil, types.NewErr("listSet operations are only supported on lists of scalar values")
	}
	return comparableOf(x), nil
}
