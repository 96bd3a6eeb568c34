package cel

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A rulesCase has rules of the field x, which is a property of spec, and values of spec.
type rulesCase struct {
	name   string
	schema string // of x, in flow style
	rules  []string
	of     []string // the values: the new one and, after an arrow, the old one
	errs   int      // of all values
}

// TestRules compares the errors in values of all types with those of the server.
func TestRules(t *testing.T) {
	const (
		str     = "type: string"
		texts   = "type: array, items: {type: string}"
		labels  = "type: object, additionalProperties: {type: string}"
		mapList = "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, value: {type: integer}}}"
		set     = "type: array, x-kubernetes-list-type: set, items: {type: string}"
		mixed   = "x-kubernetes-int-or-string: true"
	)
	for _, c := range []rulesCase{
		{"text", str, []string{`rule: self.size() < 3`, `rule: "self != 'ab'", message: "  not ab "`}, []string{"x: a", "x: ab", "x: abc", "{}", "x: null"}, 2},
		{"numbers", "type: object, properties: {i: {type: integer}, n: {type: number}, b: {type: boolean}}",
			[]string{`rule: self.i > 1`, `rule: self.n > 1.5`, `rule: self.b`, `rule: self.i / self.i == 1`, `rule: self.n < 1`},
			[]string{"x: {i: 0, n: 1, b: false}", "x: {i: 2, n: 2.5, b: true}", "x: {}", "x: {i: 9223372036854775807}"}, 15},
		{"printed", "type: integer", []string{`rule: self > 5`, `rule: self > 4, reason: FieldValueDuplicate`}, []string{"x: 3"}, 2},
		{"reasons", str, []string{`rule: "false", reason: FieldValueForbidden`, `rule: "false", reason: FieldValueRequired`,
			`rule: "false", reason: FieldValueInvalid`, `rule: "false", reason: FieldValueDuplicate`}, []string{"x: a"}, 4},
		{"field path", "type: object, properties: {a: {type: object, additionalProperties: {type: string}}, b.c: {type: string}, open: {type: object, x-kubernetes-preserve-unknown-fields: true, additionalProperties: true}}",
			[]string{`rule: "false", fieldPath: .a`, `rule: "false", fieldPath: .a.key`, `rule: "false", fieldPath: ".a['it\\'s']"`, `rule: "false", fieldPath: "['b.c']"`,
				`rule: "false", fieldPath: .open.any`, `rule: "false", fieldPath: .none`, `rule: "false", fieldPath: a`, `rule: "false", fieldPath: ".a["`, `rule: "false", fieldPath: ".a['x'"`,
				`rule: "false", fieldPath: ".a['\\x']"`, `rule: "false", fieldPath: ".a[x]"`, `rule: "false", fieldPath: ".a['"`, `rule: "false", fieldPath: ".a['x'x"`, `rule: "false", fieldPath: "."`, `rule: "false", fieldPath: ".b.c"`, `rule: "false", fieldPath: ".a.b.c"`},
			[]string{"x: {a: {key: v}}"}, 16},
		{"messages", "type: object, properties: {a: {type: string}}",
			[]string{`rule: "false", messageExpression: "'a is ' + self.a"`, `rule: "false", messageExpression: "'  '", message: given`, `rule: "false", messageExpression: "'a\\nb'"`,
				`rule: "false", messageExpression: "self.a.substring(0, 20)"`, `rule: "false", messageExpression: "1"`, `rule: "false", messageExpression: "nothing"`,
				`rule: "false", messageExpression: "' trimmed '"`, `rule: "false", messageExpression: "oldSelf.a"`, `rule: "false", messageExpression: "self.a.matches('[') ? 'a' : 'b'"`},
			[]string{"x: {a: b}", "x: {}", "x: {a: b} -> x: {a: c}"}, 27},
		{"malformed", str, []string{`rule: self.`, `rule: self.none`, `rule: "1"`, `rule: "self.matches('[')"`, `rule: "self == 1"`, `rule: ""`, `rule: " "`, `rule: "duration('x') == duration('1s')"`, `rule: "[1, 'a'].size() == 2"`}, []string{"x: a"}, 7},
		{"transitions", str, []string{`rule: self == oldSelf`, `rule: self.startsWith(oldSelf)`, `rule: self != 'bad'`},
			[]string{"x: a", "x: a -> x: a", "x: b -> x: a", "x: a -> {}", "x: bad -> x: bad", "x: bad -> x: b"}, 4},
		{"optional old value", "type: object, properties: {a: {type: string}}", []string{`rule: "!oldSelf.hasValue() || self.a == oldSelf.value().a", optionalOldSelf: true`,
			`rule: "oldSelf.orValue({}) == self", optionalOldSelf: true`, `rule: "self.a == oldSelf.?a.orValue('b')", optionalOldSelf: true`, `rule: self.a == oldSelf.a`,
			`rule: "oldSelf.optMap(o, o.a != self.a).orValue(true)", optionalOldSelf: true`},
			[]string{"x: {a: a}", "x: {a: a} -> x: {a: a}", "x: {a: b} -> x: {a: a}", "x: {} -> x: {a: b}", "x: {a: c} -> {}"}, 15},
		{"messages with an optional old value", "type: object, properties: {a: {type: string}}", []string{`rule: "oldSelf.hasValue() && false", optionalOldSelf: true, messageExpression: "oldSelf.hasValue() ? 'was ' + oldSelf.value().a : 'new'"`,
			`rule: "false", optionalOldSelf: true, messageExpression: "oldSelf.?a.orValue('new')"`, `rule: "false", optionalOldSelf: true, messageExpression: "'is ' + self.a"`},
			[]string{"x: {a: b} -> x: {a: c}", "x: {a: b}", "x: {a: b} -> {}"}, 9},
		{"messages and paths", "type: object, properties: {a: {type: string}}", []string{`rule: "false", fieldPath: .a, messageExpression: "self."`, `rule: "false", fieldPath: .a, messageExpression: "1"`,
			`rule: "false", fieldPath: .a, messageExpression: "'a'"`, `rule: "false", fieldPath: .a, messageExpression: "self.a"`}, []string{"x: {}"}, 4},
		{"int or string", mixed, []string{`rule: "type(self) == int ? self < 5 : self.endsWith('%')"`, `rule: self < 5`, `rule: "self + 1 == 2"`}, []string{"x: 3", "x: 7", "x: 10%", "x: ten", "x: 1"}, 9},
		{"lists", texts, []string{`rule: "self.all(v, v.size() > 1)"`, `rule: "'ab' in self"`, `rule: self.size() < 3`, `rule: "self[1] != 'cd'"`, `rule: "self + ['z'] == ['ab', 'z']"`, `rule: "self == ['ab']"`,
			`rule: "self.exists_one(v, v == 'ab')"`, `rule: "self.map(v, v + 'x').join(',') != ''"`, `rule: "self.isSorted()"`, `rule: "self.indexOf('ab') == 0"`, `rule: "self.filter(v, v != 'ab').size() == 0"`, `rule: "self.all(i, v, i == 0 || v != 'ab')"`},
			[]string{"x: [ab]", "x: [ab, cd]", "x: [a, b, ab]", "x: []", "x: [ab] -> x: [ab]"}, 21},
		{"elements", "type: array, items: {type: object, properties: {a: {type: integer}, b: {type: string}, s: {type: array, items: {type: integer}}}}",
			[]string{`rule: "self.all(v, has(v.a) && v.a > 1)"`, `rule: "self.all(v, self.exists(w, v.b == w.b))"`, `rule: "self.map(v, v.a).sum() < 5"`, `rule: "self.filter(v, has(v.s)).all(v, v.s.all(i, i > 0))"`, `rule: "self[0].s[0] == 1"`, `rule: "self == self"`},
			[]string{"x: [{a: 2, b: x, s: [1]}]", "x: [{a: 1}, {b: y, s: [0]}]", "x: []", "x: [{a: 3, s: [2]}, {a: 3, b: z}]"}, 10},
		{"maps", labels, []string{`rule: "self.all(k, k.startsWith('a'))"`, `rule: "self.all(k, self[k] != 'bad')"`, `rule: "'a' in self"`, `rule: "self['a'] == 'b'"`, `rule: self.a == 'b'`, `rule: self.size() < 2`, `rule: has(self.a)`,
			`rule: "self == {'a': 'b'}"`, `rule: "self.all(k, v, v != 'bad')"`, `rule: "self[?'a'].orValue('b') == 'b'"`, `rule: "self.exists(k, self[k] + k == 'ba')"`, `rule: "self.map(k, k).join('') == 'a'"`},
			[]string{"x: {a: b}", "x: {a: bad, ab: c}", "x: {c: b}", "x: {}"}, 24},
		{"map lists", mapList, []string{`rule: "self.all(v, v.value > 0)"`, `rule: "self == oldSelf"`, `rule: "self + oldSelf == oldSelf + self"`, `rule: "(self + oldSelf) + self == self + oldSelf"`, `rule: "self.exists(v, v.name == 'a')"`, `rule: "oldSelf + self == self"`},
			[]string{"x: [{name: a, value: 1}]", "x: [{name: a, value: 1}, {name: b, value: 2}] -> x: [{name: b, value: 2}, {name: a, value: 1}]", "x: [{name: a, value: 0}] -> x: [{name: b, value: 2}]", "x: [] -> x: [{name: b, value: 2}]", "x: [{name: b, value: 3}] -> x: [{name: b, value: 2}]"}, 10},
		{"map lists of several keys", "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b, c, d], items: {type: object, properties: {a: {type: string}, b: {type: integer}, c: {type: boolean}, d: {type: number}, v: {type: string}}, x-kubernetes-validations: [{rule: self.v == oldSelf.v}]}",
			[]string{`rule: self == oldSelf`, `rule: self + oldSelf == self`}, []string{"x: [{a: a, b: 1, c: true, d: 1.5, v: x}] -> x: [{a: a, b: 2, c: true, d: 1.5, v: x}, {a: a, b: 1, c: true, d: 1.5, v: y}]", "x: [{a: a, v: x}] -> x: [{a: a, v: y}]"}, 5},
		{"two keys", "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b], items: {type: object, properties: {a: {type: string}, b: {type: integer}}}",
			[]string{`rule: self == oldSelf`, `rule: self + oldSelf == self`}, []string{"x: [{a: a, b: 1}] -> x: [{a: a, b: 1}]", "x: [{a: a, b: 1}] -> x: [{a: b, b: 1}]"}, 2},
		{"three keys", "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [a, b, c], items: {type: object, properties: {a: {type: string}, b: {type: integer}, c: {type: string}}}",
			[]string{`rule: self == oldSelf`, `rule: self + oldSelf == self`}, []string{"x: [{a: a, b: 1, c: c}] -> x: [{a: a, b: 1, c: c}]", "x: [{a: a, b: 1, c: c}] -> x: [{a: b, b: 1}]"}, 2},
		{"sets", set, []string{`rule: self == oldSelf`, `rule: "self + oldSelf == self"`, `rule: "(self + oldSelf) + ['z'] == oldSelf + self + ['z']"`, `rule: "sets.contains(self, ['a'])"`, `rule: "self.all(v, v in oldSelf)"`, `rule: "(self + oldSelf) == ['a', 'b']"`},
			[]string{"x: [a, b] -> x: [b, a]", "x: [c] -> x: [a]", "x: [a]", "x: [] -> x: [a, b]"}, 8},
		{"set of objects", "type: array, x-kubernetes-list-type: set, items: {type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string}}}", []string{`rule: self == oldSelf`, `rule: "self + oldSelf == self"`}, []string{"x: [{a: b}] -> x: [{a: c}]"}, 2},
		{"formats", "type: object, properties: {d: {type: string, format: duration}, t: {type: string, format: date-time}, y: {type: string, format: date}, b: {type: string, format: byte}}",
			[]string{`rule: "self.d > duration('1s')"`, `rule: "self.t > timestamp('2000-01-01T00:00:00Z')"`, `rule: "self.y.getFullYear() > 2000"`, `rule: "self.b == b'ab'"`},
			[]string{"x: {d: 2s, t: '2020-01-01T00:00:00Z', y: '2020-01-01', b: YWI=}", "x: {d: 1ms, t: '1990-01-01T00:00:00Z', y: '1990-01-01', b: ''}", "x: {d: x, t: x, y: x, b: '*'}", "x: {}"}, 13},
		{"nullable", "type: object, properties: {a: {type: string, nullable: true}, l: {type: array, items: {type: string, nullable: true}}, m: {type: object, additionalProperties: {type: string, nullable: true}}, n: {type: array, items: {type: string}}}",
			[]string{`rule: "!has(self.a)"`, `rule: "self.a == null"`, `rule: "self.l.all(v, v != null)"`, `rule: "self.m.all(k, self.m[k] != null)"`, `rule: "'x' in self.m"`, `rule: "self.n.all(v, v == 'a')"`},
			[]string{"x: {a: null, l: [null], m: {x: null}, n: [null]}", "x: {a: b, l: [a], m: {x: y}, n: [a]}", "x: {}"}, 15},
		{"names", "type: object, properties: {namespace: {type: string}, a.b: {type: string}, a-b: {type: string}, a__b: {type: string}, 'a/b': {type: string}, '0': {type: string, x-kubernetes-validations: [{rule: self != 'bad'}]}, 'ä': {type: object, properties: {b: {type: string, x-kubernetes-validations: [{rule: self != 'bad'}]}}}}",
			[]string{`rule: self.namespace != 'bad'`, `rule: self.__namespace__ != 'bad'`, `rule: self.a__dot__b != 'bad'`, `rule: self.a__dash__b != 'bad'`, `rule: self.a__underscores__b != 'bad'`, `rule: self.a__slash__b != 'bad'`, `rule: "self.if != 'x'"`, `rule: self == oldSelf`},
			[]string{"x: {namespace: bad, a.b: bad, a-b: bad, a__b: bad, a/b: bad, '0': bad, 'ä': {b: bad}}", "x: {namespace: a, a.b: b, a-b: c, a__b: d, a/b: e} -> x: {namespace: a, a.b: b, a-b: c, a__b: d, a/b: f}"}, 11},
		{"unknown fields", "type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}, u: {x-kubernetes-preserve-unknown-fields: true}}", []string{`rule: self == oldSelf`, `rule: has(self.a)`, `rule: has(self.u)`},
			[]string{"x: {a: b, c: d} -> x: {a: b, c: e}", "x: {a: b, c: d} -> x: {a: b, c: d}", "x: {u: 1} -> x: {u: 2}", "x: {c: 1}"}, 8},
		{"no schema", "x-kubernetes-preserve-unknown-fields: true", []string{`rule: "true"`}, []string{"x: 1", "x: {a: b}"}, 0},
		{"array without items", "type: array", []string{`rule: "true"`}, []string{"x: [1]"}, 0},
		{"empty object", "type: object", []string{`rule: "self == oldSelf"`, `rule: has(self.a)`}, []string{"x: {} -> x: {a: b}", "x: {a: b} -> x: {a: c}"}, 4},
		{"resource", "type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, properties: {a: {type: string}}}}",
			[]string{`rule: self.kind == 'Foo'`, `rule: self.apiVersion == 'v1'`, `rule: self.metadata.name.startsWith('a')`, `rule: "!has(self.metadata.generateName)"`, `rule: has(self.spec.a)`, `rule: has(self.metadata.labels)`, `rule: self == oldSelf`},
			[]string{"x: {kind: Foo, apiVersion: v1, metadata: {name: ab}, spec: {a: b}}", "x: {kind: Bar, apiVersion: v2, metadata: {name: b, generateName: b, labels: {a: b}}}", "x: {kind: Foo, apiVersion: v1, metadata: {name: a}} -> x: {kind: Foo, apiVersion: v1, metadata: {name: a, labels: {}}}"}, 10},
		{"list of resources", "type: array, items: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: self.metadata.name != 'bad'}]}",
			[]string{`rule: "self.all(r, r.kind == 'Foo')"`}, []string{"x: [{kind: Foo, metadata: {name: bad}}, {kind: Bar, metadata: {name: good}}]"}, 2},
		{"atomic map", "type: object, x-kubernetes-map-type: atomic, properties: {a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}]}}", nil, []string{"x: {a: b} -> x: {a: c}"}, 1},
		{"unknown map type", "type: object, x-kubernetes-map-type: other, properties: {a: {type: string, x-kubernetes-validations: [{rule: self == oldSelf}, {rule: self != 'b'}]}}", nil, []string{"x: {a: b} -> x: {a: c}"}, 1},
		{"unknown list type", "type: object, properties: {l: {type: array, x-kubernetes-list-type: other, items: {type: string}}}", []string{`rule: self.l.size() > 0`}, []string{"x: {l: [a]}"}, 1},
		{"ratcheting", "type: object, additionalProperties: {type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: self != 'bad'}]}, l: {type: array, items: {type: string, x-kubernetes-validations: [{rule: self != 'bad'}]}}}}", []string{`rule: self.size() < 2`},
			[]string{"x: {k: {a: bad, l: [bad]}} -> x: {k: {a: bad, l: [bad]}}", "x: {k: {a: bad, l: [bad, a]}} -> x: {k: {a: bad, l: [bad]}}", "x: {k: {a: bad, l: [bad]}, m: {}} -> x: {k: {a: bad, l: [bad]}}", "x: {j: {a: bad, l: [bad]}} -> x: {k: {a: bad, l: [bad]}}"}, 4},
		{"ratcheting of map lists", mapList, []string{`rule: "self.all(v, v.value > 0)"`}, []string{"x: [{name: a, value: 0}, {name: b, value: 1}] -> x: [{name: a, value: 0}]", "x: [{name: a, value: 0}] -> x: [{name: a, value: 0}]"}, 1},
		{"allOf", "type: object, allOf: [{x-kubernetes-validations: [{rule: self.a != 'bad'}], properties: {a: {x-kubernetes-validations: [{rule: self != 'bad'}]}, none: {x-kubernetes-validations: [{rule: 'false'}]}}}, {allOf: [{x-kubernetes-validations: [{rule: self.a != 'bad'}]}]}], properties: {a: {type: string}}", []string{`rule: self.a != 'worse'`},
			[]string{"x: {a: bad}", "x: {a: bad} -> x: {a: bad}", "x: {a: worse} -> x: {a: worse}", "x: {a: bad}, y: 1 -> x: {a: bad}"}, 6},
		{"allOf of lists and maps", "type: array, items: {type: object, additionalProperties: {type: string}}, allOf: [{items: {additionalProperties: {x-kubernetes-validations: [{rule: self != 'bad'}]}}}]", []string{`rule: self.size() < 9`}, []string{"x: [{a: bad}]"}, 1},
		{"libraries", str, []string{`rule: "isURL(self) && url(self).getHost() == 'a.b'"`, `rule: "self.find('[a-z]+') == 'http'"`, `rule: "isQuantity(self)"`, `rule: "isIP(self)"`, `rule: "format.named('dns1123Label').hasValue()"`, `rule: "isSemver(self)"`, `rule: "self.lowerAscii() == self"`},
			[]string{"x: 'http://a.b'", "x: 1.2.3.4", "x: 10Mi", "x: 1.2.3"}, 16},
		{"no such attribute", str, []string{`rule: "dyn(self).a == 1"`, `rule: "dyn([1])[2] == 1"`, `rule: "dyn(self) in {'a': 1}"`, `rule: "int(self) == 1"`}, []string{"x: a", "x: '1'"}, 6},
		{"conversions", "type: object, properties: {l: {type: array, items: {type: string}}, m: {type: object, additionalProperties: {type: string}}, i: {type: array, items: {type: integer}}}",
			[]string{`rule: "type(self.l) == list && type(self.m) == map"`, `rule: "self.l.join() == 'a'"`, `rule: "'%s %s %s'.format([self.l, self.m, self.i]) == ''"`, `rule: "self.l.contains('a')"`, `rule: "dyn(self.m)[1] == ''"`, `rule: "dyn(self.l)['a'] == ''"`, `rule: "dyn(self.l) == 1"`, `rule: "dyn(self.m) == 1"`, `rule: "self.i.join() == ''"`, `rule: "string(dyn(self.m)) == ''"`, `rule: "string(dyn(self.l)) == ''"`, `rule: "dyn(self.l) + [1] == [1]"`, `rule: "dyn(self.i) == [1.0]"`, `rule: "1 in dyn(self.l)"`},
			[]string{"x: {l: [a], m: {a: b}, i: [1]}"}, 11},
		{"struct", str, []string{`rule: "Foo{a: 1} == 1"`, `rule: "selfType{a: 1} == 1"`, `rule: "google.protobuf.Int64Value{value: 1} == 1"`}, []string{"x: a"}, 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := schemaPair(t, c.yaml())
			if p.ours == nil {
				return
			}
			errs := 0
			for _, of := range c.of {
				x, old := c.values(t, of)
				errs += p.compare(t, x, old)
			}
			assert.Equal(t, c.errs, errs)
		})
	}
}

func (c *rulesCase) yaml() string {
	x := c.schema
	if c.rules != nil {
		x += ", x-kubernetes-validations: [{" + strings.Join(c.rules, "}, {") + "}]"
	}
	return fmt.Sprintf("type: object\nproperties:\n  spec:\n    type: object\n    properties:\n      y: {type: integer}\n      x: {%s}\n", x)
}

func (c *rulesCase) values(t *testing.T, of string) (x, old any) {
	spec := func(s string) any {
		if s != "{}" {
			s = "{" + s + "}"
		}
		return yamlValue(t, "{spec: "+s+"}")
	}
	now, before, isUpdate := strings.Cut(of, " -> ")
	x = spec(now)
	if isUpdate {
		old = spec(before)
	}
	require.NotNil(t, x)
	return x, old
}
