package cel

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestOddSchemas compares rules of schemas that are not as they should be, and those of resources.
func TestOddSchemas(t *testing.T) {
	for _, c := range []struct {
		schema string
		x, old string
		errs   int
	}{
		{"{x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: 'true'}]}", "{a: b}", "", 1},
		{"{type: array, x-kubernetes-validations: [{rule: 'true'}]}", "[a]", "", 1},
		{"{type: array, items: {x-kubernetes-preserve-unknown-fields: true}, x-kubernetes-validations: [{rule: 'true'}]}", "[a]", "", 1},
		{"{type: array, items: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: 'true'}]}}", "[a]", "", 1},
		{"{type: object, items: {type: string, x-kubernetes-validations: [{rule: 'true'}]}}", "[a]", "", 1},
		{"{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true, x-kubernetes-validations: [{rule: 'true'}]}}", "{a: 1}", "", 1},
		{"{type: object, additionalProperties: {x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: 'false'}]}}", "{a: 1, b: c, c: {d: e}, d: 1.5, e: true}", "", 5},
		{"{type: object, properties: {a: {type: string, x-kubernetes-validations: [{rule: 'false'}]}}, additionalProperties: {type: string, x-kubernetes-validations: [{rule: 'false'}]}}", "{a: b, c: d}", "", 2},
		{"{type: object, properties: {o: {type: object, properties: {a: {type: string}}, additionalProperties: {type: string}, x-kubernetes-validations: [{rule: self.a == 'x'}, {rule: \"self['a'] == 'x'\"}, {rule: \"'a' in self\"}, {rule: self.size() == 1}, {rule: \"self.all(k, v, k == v)\"}]}}}", "{o: {a: b, c: d}}", "", 4},
		{"{type: object, properties: {l: {type: array, items: {type: object, properties: {a: {type: string}}}}}, x-kubernetes-validations: [{rule: '!(self.l[0] in self.l)'}]}", "{l: [{a: b}]}", "", 1},
		{"{x-kubernetes-int-or-string: true, x-kubernetes-validations: [{rule: 'false'}]}", "{a: b}", "", 1},
		{"{type: object, properties: {kind: {type: string, x-kubernetes-validations: [{rule: 'false'}]}, apiVersion: {type: string, x-kubernetes-validations: [{rule: 'false'}]}, spec: {type: string, x-kubernetes-validations: [{rule: 'false'}]}}}", "{kind: A, apiVersion: b, spec: c}", "{kind: A, apiVersion: b, spec: c}", 2},
		{"{type: object, properties: {spec: {type: object, properties: {kind: {type: string, x-kubernetes-validations: [{rule: 'false'}]}}}}}", "{spec: {kind: A}}", "{spec: {kind: A}, a: b}", 0},
		{"{type: object, properties: {metadata: {type: object, properties: {labels: {type: object, additionalProperties: {type: string}}}, x-kubernetes-validations: [{rule: self.name == 'a'}, {rule: has(self.labels)}]}}, x-kubernetes-validations: [{rule: self.metadata.name == 'b'}, {rule: self.kind == 'A'}, {rule: has(self.metadata.generateName)}]}", "{kind: A, metadata: {name: a}}", "", 4},
		{"{type: object, properties: {metadata: {type: object, properties: {name: {type: string, maxLength: 3}}, x-kubernetes-validations: [{rule: self.name == 'b'}]}}}", "{kind: A, metadata: {name: a}}", "", 1},
		{"{type: object, properties: {kind: {type: string}, apiVersion: {type: string}, metadata: {type: object, properties: {name: {type: string}, generateName: {type: string}, labels: {type: object, additionalProperties: {type: string}}}}}, x-kubernetes-validations: [{rule: \"'a' in self.metadata.labels\"}]}", "{kind: A, metadata: {name: a, labels: {b: c}}}", "", 1},
		{"{type: object, properties: {a: {type: object, properties: {b__x__c: {type: string}, '1': {type: string}}, x-kubernetes-validations: [{rule: self == self}]}}}", "{a: {b__x__c: d, b__dot__c: e, '1': f}}", "", 0},
		{"{type: object, properties: {o: {type: object, x-kubernetes-validations: [{rule: 'false', fieldPath: .a.b}], properties: {a: {type: object, additionalProperties: {type: string}}}}}}", "{o: {}}", "", 1},
	} {
		p := schemaPair(t, c.schema)
		if p.ours == nil {
			assert.Zero(t, c.errs, c.schema)
			continue
		}
		assert.Equal(t, c.errs, p.compare(t, yamlValue(t, c.x), yamlValue(t, c.old)), c.schema)
	}
}

// TestBudgetIsUsedUp holds that a rule is not evaluated if the others have cost all that they may.
func TestBudgetIsUsedUp(t *testing.T) {
	// Each costs 1000: one for self, and 37 times 27 for the text and the expression.
	rule := "{rule: \"self.matches('" + strings.Repeat("a?", 53) + "a*')\"}"
	list := func(n int) (l []any) {
		for range n {
			l = append(l, strings.Repeat("a", 369))
		}
		return l
	}
	for _, s := range []string{
		"{type: array, items: {type: string, x-kubernetes-validations: [" + rule + "]}}",
		"{type: object, additionalProperties: {type: array, items: {type: string, x-kubernetes-validations: [" + rule + "]}}}",
		"{type: array, items: {type: string, allOf: [{x-kubernetes-validations: [" + rule + "]}], x-kubernetes-validations: [{rule: 'true'}]}}",
	} {
		p := schemaPair(t, "{type: object, properties: {x: "+s+"}}")
		for n, errs := range map[int]int{10_000: 0, 10_001: 1} {
			x := any(list(n))
			if strings.HasPrefix(s, "{type: object") {
				x = map[string]any{"b": x, "a": []any{}}
			}
			x = map[string]any{"x": x}
			got := texts(p.ours.Evaluate(p.request(x, nil)))
			slices.Sort(got)
			assert.Len(t, got, errs)
			assert.Equal(t, p.server(x, nil), got)
		}
	}
}
