package cel

import (
	"encoding/json"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

func parse(t testing.TB, yaml string) *schema.Structural {
	t.Helper()
	s, err := schema.Parse([]byte(yaml))
	require.NoError(t, err)
	return s
}

// TestSelections holds which parts of objects rules ask for.
func TestSelections(t *testing.T) {
	const object = "type: object, properties: {a: {type: string}, o: {type: object, properties: {b: {type: string}, c: {type: integer}}}, " +
		"l: {type: array, items: {type: object, properties: {c: {type: string}, v: {type: string}}}}, s: {type: array, items: {type: string}}, " +
		"m: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}, r: {type: object, properties: {if: {type: string}, d.e: {type: string}}}}"
	const listOfObjects = "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, properties: {k: {type: string}, v: {type: string}, w: {type: string}}, x-kubernetes-validations: [{rule: self.v == oldSelf.v}]}"
	for _, c := range []struct{ schema, rule, self, old string }{
		{object, "true", "{}", ""},
		{object, "self.a == 'x'", "{a: {}}", ""},
		{object, "has(self.a)", "{a: {}}", ""},
		{object, "has(self.o.b) && self.o.c > 1", "{o: {b: {}, c: {}}}", ""},
		{object, "self.o == self.o", "{o: ALL}", ""},
		{object, "self == oldSelf", "ALL", "ALL"},
		{object, "self.a == oldSelf.a", "{a: {}}", "{a: {}}"},
		{object, "self.l.size() > 0", "{l: [{}]}", ""},
		{object, "self.l.all(x, x.c != '')", "{l: [{c: {}}]}", ""},
		{object, "self.l.all(self, self.c != '' && .self.a != '')", "{a: {}, l: [{c: {}}]}", ""},
		{object, "self.l.all(i, x, i > 0 || x.c != '')", "{l: [{c: {}}]}", ""},
		{object, "self.l.exists(x, self.l.exists_one(y, x.c == y.v))", "{l: [{c: {}, v: {}}]}", ""},
		{object, "self.l.map(x, x.c).size() > 0", "{l: [{c: {}}]}", ""},
		{object, "self.l.filter(x, x.c == '').size() > 0", "{l: [ALL]}", ""},
		{object, "self.l[0].c == 'x'", "{l: [{c: {}}]}", ""},
		{object, "'x' in self.s", "{s: [{}]}", ""},
		{object, "self.s.all(x, x == '')", "{s: [{}]}", ""},
		{object, "self.m.size() > 0", "{m: {'*': {}}}", ""},
		{object, "'x' in self.m", "{m: {'*': {}}}", ""},
		{object, "self.m['x'].x == ''", "{m: {x: {x: {}}}}", ""},
		{object, "self.m.x.x == ''", "{m: {x: {x: {}}}}", ""},
		{object, "self.m.all(k, self.m[k].x == '' || has(self.m.z))", "{m: {'*': {x: {}}, z: {x: {}}}}", ""},
		{object, "self.m.all(k, v, v.x == '')", "{m: {'*': {x: {}}}}", ""},
		{object, "self.?o.?b.orValue('') == ''", "{o: ALL}", ""},
		{object, "self.m[?'x'].hasValue()", "{m: {x: ALL}}", ""},
		{object, "(has(self.o) ? self.o : self.o) == self.o", "{o: ALL}", ""},
		{object, "[self.o].size() > 0 && {'x': self.o}.size() > 0", "{o: ALL}", ""},
		{object, "self.r.if == self.r.d__dot__e", "{r: {d.e: {}, if: {}}}", ""},
		{listOfObjects, "true", "[{k: {}, v: {}}]", "[{k: {}, v: {}}]"},
		{"type: integer", "self > 1", "ALL", ""},
	} {
		self, old := Rules().CompileRules(parse(t, "{"+c.schema+`, x-kubernetes-validations: [{rule: "`+c.rule+`"}]}`), false).Selections()
		assert.Equal(t, c.self, written(self), c.rule)
		assert.Equal(t, c.old, written(old), c.rule)
	}
	self, old := Rules().CompileRules(parse(t, "{"+object+`, x-kubernetes-validations: [{rule: "!oldSelf.hasValue() || oldSelf.value().a == self.a", optionalOldSelf: true, messageExpression: "self.o.b"}]}`), false).Selections()
	assert.Equal(t, "{a: {}, o: {b: {}}}", written(self))
	assert.Equal(t, "{a: {}}", written(old))
}

// written is a selection as text.
func written(s *validation.Selection) string {
	switch {
	case s == nil:
		return ""
	case s.All:
		return "ALL"
	case s.Elements != nil:
		return "[" + written(s.Elements) + "]"
	}
	text := "{"
	add := func(name string, m *validation.Selection) {
		if len(text) > 1 {
			text += ", "
		}
		text += name + ": " + written(m)
	}
	if s.Others != nil {
		add("'*'", s.Others)
	}
	for _, name := range []string{"a", "b", "c", "d.e", "if", "k", "l", "m", "n", "o", "r", "s", "v", "x", "z"} {
		if m := s.Members[name]; m != nil {
			add(name, m)
		}
	}
	return text + "}"
}

// TestSharing holds that equal expressions on equal schemas are compiled once, and that what nobody
// uses is dropped.
func TestSharing(t *testing.T) {
	c := Rules()
	schemaOf := func(description, rule string) *schema.Structural {
		return parse(t, fmt.Sprintf("type: object\nproperties: {a: {type: string, description: %s}}\nx-kubernetes-validations: [{rule: %s}]", description, rule))
	}
	one := c.CompileRules(schemaOf("one", "self.a != 'b'"), false).(*rules)
	two := c.CompileRules(schemaOf("two", "self.a != 'b'"), false).(*rules)
	other := c.CompileRules(schemaOf("two", "self.a != 'c'"), false).(*rules)
	assert.Same(t, one.root.rules[0].program, two.root.rules[0].program)
	assert.Same(t, one.root.shape, other.root.shape)
	assert.NotSame(t, one.root.rules[0].program, other.root.rules[0].program)
	assert.Len(t, c.programs.values, 2)
	runtime.KeepAlive(one)
	runtime.KeepAlive(other)
	assert.Eventually(t, func() bool {
		runtime.GC()
		c.programs.mu.Lock()
		defer c.programs.mu.Unlock()
		return len(c.programs.values) == 0
	}, 10*time.Second, time.Millisecond)
}

// TestConcurrency compiles and evaluates from many goroutines.
func TestConcurrency(t *testing.T) {
	c := Rules()
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i := range 20 {
				r := c.CompileRules(parse(t, fmt.Sprintf("type: string\nx-kubernetes-validations: [{rule: self != '%d'}, {rule: self != 'a'}]", i)), false)
				assert.Len(t, r.Evaluate(&validation.RuleRequest{Object: "a"}), 1)
				assert.Len(t, r.Evaluate(&validation.RuleRequest{Object: fmt.Sprint(i)}), 1)
			}
		})
	}
	wg.Wait()
}

// TestCompatibility holds that an older version has fewer libraries, and a later one those that
// there are.
func TestCompatibility(t *testing.T) {
	s := parse(t, "type: string\nx-kubernetes-validations: [{rule: isSemver(self)}]")
	for minor, ok := range map[uint]bool{0: false, 32: false, 33: true, 99: true} {
		errs := Rules(Compatibility(1, minor)).CompileRules(s, false).Evaluate(&validation.RuleRequest{Object: "1.2.3"})
		assert.Equal(t, ok, errs == nil, minor)
	}
	s = parse(t, "type: object\nproperties: {namespace: {type: string}}\nx-kubernetes-validations: [{rule: has(self.namespace)}]")
	for minor, ok := range map[uint]bool{30: false, 31: true} {
		errs := Rules(Compatibility(1, minor)).CompileRules(s, false).Evaluate(&validation.RuleRequest{Object: map[string]any{"namespace": "a"}})
		assert.Equal(t, ok, errs == nil, minor)
	}
}

// TestDepth: the path of an error goes on after the value to which the rule belongs.
func TestDepth(t *testing.T) {
	s := parse(t, "{type: object, properties: {a: {type: object, properties: {b: {type: string}}, "+
		"x-kubernetes-validations: [{rule: 'true'}, {rule: 'false', fieldPath: .b}]}}}")
	errs := Rules().CompileRules(s, false).Evaluate(&validation.RuleRequest{Object: map[string]any{"a": map[string]any{"b": "c"}}})
	require.Len(t, errs, 1)
	assert.Len(t, errs[0].Path, 2)
	assert.Equal(t, 1, errs[0].Depth)
	assert.Equal(t, 1, errs[0].Index)
}

// TestMalformedRules holds that what is no rule is an error of each object.
func TestMalformedRules(t *testing.T) {
	s := &schema.Structural{Type: "string", XValidations: []json.RawMessage{json.RawMessage(`{"rule": 5}`)}}
	errs := Rules().CompileRules(s, false).Evaluate(&validation.RuleRequest{Object: "a"})
	require.Len(t, errs, 1)
	assert.Contains(t, errs[0].Msg, "rule compile error: malformed: ")
	assert.Nil(t, Rules().CompileRules(nil, false))
	assert.Nil(t, Rules().CompileRules(&schema.Structural{Type: "string"}, false))
}
