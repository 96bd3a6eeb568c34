package cel

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/stretchr/testify/assert"
	server "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
)

// TestValues compares what can be done with values with what the server's do, for values of all types
// under schemas of all types.
func TestValues(t *testing.T) {
	schemas := []string{
		"{type: string}", "{type: string, nullable: true}", "{type: string, format: duration}", "{type: string, format: date}", "{type: string, format: date-time}", "{type: string, format: byte}",
		"{type: integer}", "{type: number}", "{type: boolean}", "{x-kubernetes-int-or-string: true}", "{x-kubernetes-preserve-unknown-fields: true}", "{}",
		"{type: object}", "{type: object, additionalProperties: {type: string}}", "{type: object, additionalProperties: {type: integer, nullable: true}}", "{type: object, additionalProperties: true}",
		"{type: object, properties: {a: {type: string}, b.c: {type: integer}, a__b: {type: integer}, in: {type: array, items: {type: string}}}}",
		"{type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {x-kubernetes-preserve-unknown-fields: true}}}",
		"{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}",
		"{type: object, properties: {a: {type: integer}}, additionalProperties: {type: string}}",
		"{type: array}", "{type: array, items: {type: string}}", "{type: array, items: {type: integer}}", "{type: array, x-kubernetes-list-type: atomic, items: {x-kubernetes-preserve-unknown-fields: true}}",
		"{type: array, x-kubernetes-list-type: set, items: {type: string}}", "{type: array, x-kubernetes-list-type: set, items: {type: string, format: byte}}", "{type: array, x-kubernetes-list-type: other, items: {type: string}}",
		"{type: array, x-kubernetes-list-type: set, items: {type: array, items: {type: string}}}",
		"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string}, v: {type: integer}}}}",
		"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a], items: {type: object, properties: {a: {type: string, format: byte}, v: {type: integer}}}}",
		"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b.c], items: {type: object, properties: {a: {type: string}, b.c: {type: integer}}}}",
		"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b.c, v], items: {type: object, properties: {a: {type: string}, b.c: {type: integer}}}}",
		"{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b.c, v, ä], items: {type: object, properties: {a: {type: string}, b.c: {type: integer}}}}",
	}
	values := []any{
		nil, "", "a", "YWI=", "2s", "2020-01-01", "2020-01-01T00:00:00Z", int64(1), 1.5, true,
		map[string]any{}, map[string]any{"a": "b"}, map[string]any{"a": int64(1), "b.c": int64(2), "a__b": int64(3)}, map[string]any{"a": nil, "z": "y", "in": []any{"x"}},
		map[string]any{"z": "x", "a": "b"}, map[string]any{"kind": "A", "metadata": map[string]any{"name": "b", "labels": map[string]any{}}},
		[]any{}, []any{"a", "b"}, []any{"b", "a"}, []any{"a", "a"}, []any{int64(1), "a"}, []any{nil}, []any{"YWI=", "YWM="}, []any{[]any{"a"}},
		[]any{map[string]any{"a": "a", "v": int64(1)}, map[string]any{"a": "b", "b.c": int64(1)}}, []any{map[string]any{"a": "b", "b.c": int64(1)}, map[string]any{"a": "a", "v": int64(1)}},
		[]any{map[string]any{"a": "b", "v": int64(2)}}, []any{map[string]any{"a": "YWI=", "v": int64(2)}}, []any{map[string]any{}, map[string]any{"a": "YWI="}},
	}
	keys := []ref.Val{types.String("a"), types.String("b.c"), types.String("b__dot__c"), types.String("__in__"), types.String("in"), types.String("a__b"), types.String("a__underscores__b"), types.String("a__x__"),
		types.String("z"), types.String("kind"), types.Int(0), types.Int(1), types.Int(-1), types.NewErr("no key"), types.NullValue}
	compared := 0
	for _, yaml := range schemas {
		s := parse(t, yaml)
		of, theirSchema := compiler().shapes.of(s), structuralOf(t, s)
		for i, x := range values {
			ours := func(x any) ref.Val { return valueOf(x, of) }
			theirs := func(x any) ref.Val { return server.UnstructuredToVal(x, theirSchema) }
			for name, op := range operations(keys, values) {
				got, want := attempt(op, x, ours), attempt(op, x, theirs)
				for try := 0; got != want && try < 100; try++ {
					want = attempt(op, x, theirs) // it may depend on the order of members, which is random
				}
				assert.Equal(t, want, got, "%s: %#v (%d): %s", yaml, x, i, name)
				compared++
			}
		}
	}
	t.Log(compared, "results")
}

// attempt does something with a value, and returns how that ends.
func attempt(op func(v ref.Val, make func(any) ref.Val) string, x any, make func(any) ref.Val) (result string) {
	defer func() {
		if r := recover(); r != nil {
			result = "panic"
		}
	}()
	return op(make(x), make)
}

type operation = func(v ref.Val, make func(any) ref.Val) string

func operations(keys []ref.Val, values []any) map[string]operation {
	ops := map[string]operation{
		"show": func(v ref.Val, _ func(any) ref.Val) string { return shownValue(v) },
		"size": func(v ref.Val, _ func(any) ref.Val) string { return shownValue(v.(traits.Sizer).Size()) },
		"iterate": func(v ref.Val, _ func(any) ref.Val) string {
			var all []string
			for it := v.(traits.Iterable).Iterator(); it.HasNext() == types.True; {
				all = append(all, shownValue(it.Next()))
			}
			if _, isMap := v.(traits.Mapper); isMap {
				slices.Sort(all) // the server's are in no order
			}
			return fmt.Sprint(all)
		},
	}
	for _, typ := range []*types.Type{types.ListType, types.MapType, types.TypeType, types.StringType, types.IntType} {
		ops["to "+typ.TypeName()] = func(v ref.Val, _ func(any) ref.Val) string { return shownValue(v.ConvertToType(typ)) }
	}
	for _, native := range []any{"", []string{}, []any{}, map[string]any{}, 1} {
		ops[fmt.Sprintf("to %T", native)] = func(v ref.Val, _ func(any) ref.Val) string {
			x, err := v.ConvertToNative(reflect.TypeOf(native))
			return fmt.Sprint(x, err)
		}
	}
	for _, key := range keys {
		ops["get "+shownValue(key)] = func(v ref.Val, _ func(any) ref.Val) string { return shownValue(v.(traits.Indexer).Get(key)) }
		ops["contains "+shownValue(key)] = func(v ref.Val, _ func(any) ref.Val) string { return shownValue(v.(traits.Container).Contains(key)) }
		ops["find "+shownValue(key)] = func(v ref.Val, _ func(any) ref.Val) string {
			x, found := v.(traits.Mapper).Find(key)
			return shownValue(x) + fmt.Sprint(found)
		}
	}
	for i, other := range values {
		ops[fmt.Sprint("equal ", i)] = func(v ref.Val, make func(any) ref.Val) string { return shownValue(v.Equal(make(other))) }
		ops[fmt.Sprint("equal to a literal ", i)] = func(v ref.Val, _ func(any) ref.Val) string {
			return shownValue(v.Equal(types.DefaultTypeAdapter.NativeToValue(other)))
		}
		ops[fmt.Sprint("add ", i)] = func(v ref.Val, make func(any) ref.Val) string {
			sum := v.(traits.Adder).Add(make(other))
			return shownValue(sum) + shownValue(sum.Equal(v)) + shownValue(v.Equal(sum)) + shownValue(sum.(traits.Adder).Add(v)) + shownValue(sum.(traits.Adder).Add(types.True)) + shownValue(sum.Equal(types.True))
		}
	}
	return ops
}

// shownValue shows a value with its type.
func shownValue(v ref.Val) string {
	if v == nil {
		return "none"
	}
	if l, ok := v.(traits.Lister); ok {
		var all []string
		for it := l.Iterator(); it.HasNext() == types.True; {
			all = append(all, shownValue(it.Next()))
		}
		return "list" + fmt.Sprint(all)
	}
	return fmt.Sprint(v.Type().TypeName(), " ", v.Value())
}
