package cel

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// TestHostileRules holds that rules which are costly, deep or many end in time and memory that are
// bounded, as the server's do.
func TestHostileRules(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it measures time and memory")
	}
	list := make([]any, 3000)
	for i := range list {
		list[i] = fmt.Sprintf("element %d", i)
	}
	long := strings.Repeat("a", 1<<20)
	nested := func(n int, before, core, after string) string {
		return strings.Repeat(before, n) + core + strings.Repeat(after, n)
	}
	const big, ofText = "type: array, items: {type: string}", "type: string"
	for _, c := range []struct {
		name, schema string
		rules        []string
		x            any
		want         string // a part of the first error, or nothing if there is none
	}{
		{"nested comprehensions", big, []string{"self.all(a, self.all(b, self.all(c, a + b + c != 'x')))"}, list, "call cost exceeds limit"},
		{"map of maps", big, []string{"self.map(a, self.map(b, a + b)).size() > 0"}, list, "call cost exceeds limit"},
		{"equal lists", big, []string{"self.filter(a, a in self).size() > 0"}, list, "call cost exceeds limit"},
		{"concatenation", ofText, []string{nested(12, "(", "self", " + self)") + ".size() > 0"}, long, "call cost exceeds limit"},
		{"replacement", ofText, []string{"self.replace('a', self).size() > 0"}, long[:1<<12], ""},
		{"join", big, []string{"self.join(self.join('')).size() > 0"}, list[:1000], ""},
		{"regular expression", ofText, []string{"self.matches('^(a|aa|a*b*){1,90}$')"}, long[:1<<14], ""},
		{"regular expressions of the object", ofText, []string{"self.matches(self)"}, nested(900, "(", "a", "*)"), ""},
		{"many regular expressions", big, []string{"self.all(a, 'x'.matches(a) || true)"}, list, ""},
		{"sort", big, []string{"self.sort().size() > 0 && self.distinct().size() > 0"}, list[:2000], ""},
		{"long chain", ofText, []string{strings.Repeat("self != '' && ", 1000) + "true"}, "a", ""},
		{"long sum", ofText, []string{strings.Repeat("1 + ", 16000) + "1 > 0"}, "a", ""},
		{"deep parentheses", ofText, []string{nested(20_000, "(", "true", ")")}, "a", "compilation failed"},
		{"deep negation", ofText, []string{nested(60_000, "!", "true", "")}, "a", ""},
		{"deep lists", ofText, []string{nested(60, "[", "1", "]") + " != []"}, "a", ""},
		{"deep ternaries", ofText, []string{nested(200, "true ? ", "true", " : false")}, "a", ""},
		{"deep comprehensions", ofText, []string{nested(100, "[1].all(x, ", "x == 1", ")")}, "a", ""},
		{"exponential optional chain", ofText, []string{nested(40, "optional.of(1).optMap(x, ", "x", ").orValue(1)") + " == 1"}, "a", ""},
		{"unclosed", ofText, []string{strings.Repeat("(", 60_000)}, "a", "compilation failed"},
		{"many mistakes", ofText, []string{strings.Repeat("a.b(", 3000)}, "a", "compilation failed"},
		{"many unknown names", ofText, []string{strings.Repeat("x + ", 15000) + "x == 1"}, "a", "compilation failed"},
		{"too long", ofText, []string{strings.Repeat(" ", 100_000) + "true"}, "a", "compilation failed"},
		{"budget", big, []string{"self.all(a, self[0] + a != 'b') && self.all(a, a + self[0] != 'b')"}, list, ""},
		{"format", ofText, []string{"'%.999999999f'.format([1.0]).size() > 0"}, "a", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var rules []string
			for _, r := range c.rules {
				rules = append(rules, fmt.Sprintf("{rule: %q}", r))
			}
			start := time.Now()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p := schemaPair(t, fmt.Sprintf("type: object\nproperties:\n  x: {%s, x-kubernetes-validations: [%s]}\n", c.schema, strings.Join(rules, ", ")))
			x := map[string]any{"x": c.x}
			errs := texts(p.ours.Evaluate(p.request(x, nil)))
			runtime.ReadMemStats(&after)
			took, allocated := time.Since(start), after.TotalAlloc-before.TotalAlloc
			t.Logf("%v, %d MiB, %.300q", took, allocated>>20, errs)
			assert.Less(t, took, 20*time.Second)
			assert.Less(t, allocated, uint64(2<<30))
			assert.Equal(t, p.server(x, nil), errs)
			if c.want != "" && assert.NotEmpty(t, errs) {
				assert.Contains(t, errs[0], c.want)
			}
		})
	}
}

// TestBudget holds that rules stop where the server's do when the budget is exhausted.
func TestBudget(t *testing.T) {
	list := func(n int, x any) (l []any) {
		for range n {
			l = append(l, x)
		}
		return l
	}
	long := strings.Repeat("a", 80_000)
	for _, c := range []struct {
		name, schema string
		x            any
		want         string
	}{
		{"of all elements", `type: array, items: {type: string, x-kubernetes-validations: [{rule: "self.matches('^a*b?c?d?e?f?g?h?i?j?k?l?m?n?$')"}]}`,
			list(2000, long), "x[156]: Invalid value: \"string\": " + outOfBudget},
		{"exactly", `type: array, items: {type: string, x-kubernetes-validations: [{rule: "true"}]}`, list(3000, "a"), ""},
		{"of a message", `type: string, x-kubernetes-validations: [{rule: self == '', messageExpression: "self + self + self + self + self + self + self + self + self + self + self + self"}, {rule: 'false'}]`,
			strings.Repeat("a", 1<<18), "call cost exceeds limit for messageExpression"},
		{"of all messages", `type: array, items: {type: string, x-kubernetes-validations: [{rule: self == '', messageExpression: "self.matches('^a*b?c?d?e?f?g?h?i?j?k?l?m?n?$') ? 'a' : 'b'"}]}`,
			list(2000, long), "messageExpression evaluation failed due to running out of cost budget"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := schemaPair(t, "type: object\nproperties:\n  x: {"+c.schema+"}\n")
			x := map[string]any{"x": c.x}
			errs := p.ours.Evaluate(p.request(x, nil))
			got := texts(errs)
			if c.want != "" {
				assert.Contains(t, got[len(got)-1], c.want)
			} else {
				assert.Empty(t, got)
			}
			slices.Sort(got)
			assert.Equal(t, p.server(x, nil), got)
		})
	}
}

// TestTimeout holds that rules end after some time, whatever their costs are.
func TestTimeout(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it measures time")
	}
	s, err := schema.Parse([]byte("type: array\nitems: {type: string}\n" +
		`x-kubernetes-validations: [{rule: "self.all(a, self.all(b, a + b != 'x'))"}, {rule: "false"}]`))
	require.NoError(t, err)
	var list []any
	for i := range 100_000 {
		list = append(list, fmt.Sprint(i))
	}
	start := time.Now()
	errs := Rules(Timeout(100*time.Millisecond)).CompileRules(s, false).Evaluate(&validation.RuleRequest{Object: list})
	assert.Less(t, time.Since(start), 5*time.Second)
	require.Len(t, errs, 1)
	assert.Contains(t, errs[0].Msg, "the time that they take")
	assert.True(t, isLarge(map[string]any{"a": map[string]any{"b": list}}))
	many := map[string]any{}
	for i := range 1001 {
		many[fmt.Sprint(i)] = i
	}
	assert.True(t, isLarge(many))
	assert.False(t, isLarge(map[string]any{"a": map[string]any{"b": list[:900]}}))
}

// TestManyRules holds that the time and the memory that rules take are in proportion to their number.
func TestManyRules(t *testing.T) {
	if testing.Short() {
		t.Skip("skipped with -short: it measures time")
	}
	compile := func(n int) time.Duration {
		var rules []string
		for i := range n {
			rules = append(rules, fmt.Sprintf("{rule: 'self != %q'}", fmt.Sprint(i)))
		}
		s, err := schema.Parse([]byte("type: string\nx-kubernetes-validations: [" + strings.Join(rules, ", ") + "]"))
		require.NoError(t, err)
		start := time.Now()
		compiled := Rules().CompileRules(s, false)
		took := time.Since(start)
		assert.Len(t, compiled.Evaluate(&validation.RuleRequest{Object: "1"}), 1)
		return took
	}
	few := compile(500)
	assert.Less(t, compile(5000), 40*few+time.Second)
}

// TestPanic holds that what goes wrong is an error of the object.
func TestPanic(t *testing.T) {
	s, err := schema.Parse([]byte("type: string\nx-kubernetes-validations: [{rule: 'self == \"\"'}]"))
	require.NoError(t, err)
	broken := Rules().CompileRules(s, false)
	broken.(*rules).root.visible = nil
	assert.Equal(t, []string{"Internal error <nil>: Internal error: runtime error: invalid memory address or nil pointer dereference"},
		texts(broken.Evaluate(&validation.RuleRequest{Object: "a"})))
	p := Rules().compile(programKey{of: nil, expression: "true"}, nil)
	assert.Contains(t, p.err, "internal error")
}
