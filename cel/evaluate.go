package cel

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema/validation"
)

// rules are the rules in a schema.
type rules struct {
	root          *node
	shape         *shape
	timeout       time.Duration
	self, oldSelf *validation.Selection
}

func (r *rules) Selections() (self, oldSelf *validation.Selection) { return r.self, r.oldSelf }

// Evaluate evaluates the rules as the server's Validator does, but in the order of names, so that
// it is not chance which rules are left when the budget is exhausted.
func (r *rules) Evaluate(request *validation.RuleRequest) (errs []validation.RuleError) {
	e := &evaluation{rules: r, request: request, budget: celconfig.RuntimeCELCostBudget}
	if isLarge(request.Object) || isLarge(request.Old) {
		ctx, cancel := context.WithTimeout(context.Background(), r.timeout)
		defer cancel()
		e.ctx = ctx
	}
	defer func() {
		if r := recover(); r != nil {
			e.add(nil, nil, 0, errors.SchemaInternal, "", fmt.Sprint(r))
			errs = e.errs
		}
	}()
	e.node(r.root, nil, request.Object, request.Old)
	return e.errs
}

// isLarge reports whether a value has so many parts that going through them may take long: cel-go,
// when it counts costs, searches a stack that grows with each element of a list.
func isLarge(x any) bool {
	left := 1000
	var count func(any) bool
	count = func(x any) bool {
		switch x := x.(type) {
		case []any:
			left -= len(x)
			return left < 0 || slices.ContainsFunc(x, count)
		case map[string]any:
			left -= len(x)
			if left < 0 {
				return true
			}
			for _, member := range x {
				if count(member) {
					return true
				}
			}
		}
		return false
	}
	return count(x)
}

// An evaluation is that of all rules for one object.
type evaluation struct {
	rules   *rules
	request *validation.RuleRequest
	whole   *common.CorrelatedObject
	ctx     context.Context // which ends when it takes too long, or nil for small objects
	budget  int64
	errs    []validation.RuleError
}

// node evaluates the rules of a node and of those within it. It reports whether there is a budget
// left.
func (e *evaluation) node(n *node, at *step, x, old any) bool {
	if n == nil || x == nil {
		return true
	}
	if !e.values(n, at, x, old) {
		return false
	}
	for _, child := range n.allOf {
		if !e.node(child, &step{parent: at, kind: toAllOf}, x, old) {
			return false
		}
	}
	switch x := x.(type) {
	case []any:
		old, _ := old.([]any)
		return e.elements(n, at, x, old)
	case map[string]any:
		old, _ := old.(map[string]any)
		if !n.shape.correlatesMap {
			old = nil
		}
		return e.members(n, at, x, old)
	}
	return true
}

func (e *evaluation) elements(n *node, at *step, list, old []any) bool {
	if n.items == nil {
		return true
	}
	byKey := common.MakeMapList(schemaOf(n.shape), old)
	for i, x := range list {
		if !e.node(n.items, &step{parent: at, index: i, kind: toElement}, x, byKey.Get(x)) {
			return false
		}
	}
	return true
}

func (e *evaluation) members(n *node, at *step, object, old map[string]any) bool {
	if n.additional != nil {
		for _, name := range slices.Sorted(maps.Keys(object)) {
			to := &step{parent: at, name: name, kind: toOther}
			if !e.node(n.additional, to, object[name], old[name]) {
				return false
			}
		}
	}
	for _, name := range n.names {
		x, ok := object[name]
		to := &step{parent: at, name: name, kind: toMember}
		if ok && !e.node(n.properties[name], to, x, old[name]) {
			return false
		}
	}
	return true
}

const (
	noMoreRules   = "no further validation rules will be run"
	outOfBudget   = "validation failed due to running out of cost budget, " + noMoreRules
	limitExceeded = "operation cancelled: actual cost limit exceeded" // the start of an error of CEL
)

// values evaluates the rules of a node for a value. It reports whether there is a budget left.
func (e *evaluation) values(n *node, at *step, x, old any) bool {
	// The type is shown as the value where a rule fails to say whether that is valid.
	typ := strconv.Quote(n.shape.typ)
	switch {
	case n.err != "":
		e.add(at, nil, 0, errors.SchemaInvalid, typ, "rule compiler initialization error: "+n.err)
		return true
	case len(n.rules) == 0:
		return true
	case e.budget <= 0:
		e.add(at, nil, 0, errors.SchemaInvalid, typ, outOfBudget)
		return false
	}
	plain := &activation{self: valueOf(x, n.visible)}
	optional := plain
	if n.usesOld {
		optional = &activation{self: plain.self, hasOld: true, old: types.OptionalNone}
		if old != nil {
			plain.old, plain.hasOld = valueOf(old, n.visible), true
			optional.old = types.OptionalOf(plain.old)
		}
	}
	for i := range n.rules {
		r := &n.rules[i]
		switch {
		case r.err != "":
			e.add(at, nil, i, errors.SchemaInvalid, typ, "rule compile error: "+r.err)
			continue
		case r.program == nil, r.program.usesOldSelf && old == nil && !r.optional:
			continue // without a rule, or without an old value to which the value could be compared
		}
		vars := plain
		if r.optional {
			vars = optional
		}
		if !e.rule(n, r, i, at, x, typ, vars, plain) {
			return false
		}
	}
	return true
}

// rule evaluates a rule of a node. It reports whether others may be evaluated. For the server, oldSelf
// is never an optional value in a messageExpression, although it is compiled as one.
func (e *evaluation) rule(
	n *node, r *rule, index int, at *step, x any, typ string, vars, ofMessage *activation,
) bool {
	fail := func(kind errors.SchemaErrorKind, value, text string) {
		e.add(at, nil, index, kind, value, text)
	}
	result, cost, err := e.run(r.program.run, vars)
	switch {
	case e.ctx != nil && e.ctx.Err() != nil:
		fail(errors.SchemaInternal, "", noMoreRules+" due to the time that they take: "+r.text)
		return false
	case cost == nil:
		fail(errors.SchemaInternal, "", "runtime cost could not be calculated for validation rule: "+r.text+", "+noMoreRules)
		return false
	case !e.pay(*cost):
		fail(errors.SchemaInvalid, typ, outOfBudget)
		return false
	}
	if err != nil {
		switch text := err.Error(); {
		case strings.HasPrefix(text, "no such overload"):
			// The type of int-or-string is known only now.
			fail(errors.SchemaInvalid, typ, "'"+text+"': call arguments did not match a supported operator, "+
				"function or macro signature for rule: "+r.text)
		case strings.HasPrefix(text, limitExceeded):
			fail(errors.SchemaInvalid, typ, "'"+text+"': "+noMoreRules+" due to call cost exceeds limit for rule: "+r.text)
			return false
		default:
			fail(errors.SchemaInvalid, typ, text+" evaluating rule: "+r.text)
		}
		return true
	}
	if result == types.True {
		return true
	}
	failed, more := r.failed, true
	kind, value := r.kind, shown(n.shape, x, r.kind)
	if r.message != nil {
		text, ok, fatal := e.message(r, ofMessage)
		switch {
		case fatal.text != "":
			failed, kind, value, more = fatal.text, fatal.kind, typ, false
			if kind == errors.SchemaInternal {
				value = ""
			}
		case ok:
			failed = text
		}
	}
	if kind == errors.SchemaDuplicate {
		failed = "" // the server has no room for it
	}
	if r.program.usesOldSelf || !e.ratchets(at) {
		e.add(at, r, index, kind, value, failed)
	}
	return more
}

// pay takes a cost out of the budget, if it has that much.
func (e *evaluation) pay(cost uint64) bool {
	if cost > math.MaxInt64 || int64(cost) > e.budget {
		return false
	}
	e.budget -= int64(cost)
	return true
}

// A fatalError is why no more rules are evaluated.
type fatalError struct {
	text string
	kind errors.SchemaErrorKind
}

// message evaluates a messageExpression. If it fails, or makes no text of one line that is short
// enough, the message of the rule is used.
func (e *evaluation) message(r *rule, vars *activation) (text string, ok bool, fatal fatalError) {
	result, cost, err := e.run(r.message.run, vars)
	source := strconv.Quote(r.source)
	switch {
	case cost == nil:
		fatal = fatalError{"runtime cost could not be calculated for messageExpression: " + source, errors.SchemaInternal}
	case !e.pay(*cost):
		fatal = fatalError{
			"messageExpression evaluation failed due to running out of cost budget, " + noMoreRules, errors.SchemaInvalid,
		}
	case err == nil:
		text, _ = result.Value().(string)
		text = strings.TrimSpace(text)
		const most = celconfig.MaxEvaluatedMessageExpressionSizeBytes
		ok = text != "" && len(text) <= most && !strings.Contains(text, "\n")
	case strings.HasPrefix(err.Error(), limitExceeded):
		fatal = fatalError{
			noMoreRules + " due to call cost exceeds limit for messageExpression: " + source, errors.SchemaInvalid,
		}
	}
	return text, ok, fatal
}

// run evaluates a program. Whatever it does, it returns: CEL makes an error of a panic.
func (e *evaluation) run(
	p celgo.Program, vars *activation,
) (result ref.Val, cost *uint64, err error) {
	var details *celgo.EvalDetails
	if e.ctx == nil {
		result, details, err = p.Eval(vars)
	} else {
		result, details, err = p.ContextEval(e.ctx, vars)
	}
	if details == nil {
		return nil, nil, err
	}
	return result, details.ActualCost(), err
}

// shown returns a value as the server shows it in an error of a kind.
func shown(s *shape, x any, kind errors.SchemaErrorKind) string {
	if s.typ == "object" || s.typ == "array" ||
		kind == errors.SchemaRequired || kind == errors.SchemaForbidden {
		return ""
	}
	switch x := x.(type) {
	case string:
		return strconv.Quote(x)
	case int64, float64, bool:
		return fmt.Sprint(x)
	}
	js, _ := json.Marshal(x) // what was decoded can be written
	return string(js)
}

// add adds an error of a value, or of the one that the rule names instead, unless r is nil.
func (e *evaluation) add(
	at *step, r *rule, index int, kind errors.SchemaErrorKind, value, text string,
) {
	path, shown := at.path()
	depth := len(path)
	if r != nil && r.fieldPath != "" {
		path = append(path, r.names...)
		if shown != "" {
			shown += "."
		}
		shown += r.fieldPath
	}
	e.errs = append(e.errs, validation.RuleError{
		Path: path, Depth: depth, Kind: kind, Field: shown, Value: value, Msg: text, Index: index,
	})
}

// path returns the path to a value, and how the server shows it.
func (s *step) path() (path []errors.Segment, shown string) {
	if s == nil {
		return nil, ""
	}
	path, shown = s.parent.path()
	switch s.kind {
	case toMember:
		if s.parent != nil {
			shown += "."
		}
		return append(path, errors.Segment{Name: s.name, IsName: true}), shown + s.name
	case toOther:
		return append(path, errors.Segment{Name: s.name, IsName: true}), shown + "[" + s.name + "]"
	case toElement:
		shown += "[" + strconv.Itoa(s.index) + "]"
		return append(path, errors.Segment{Index: s.index}), shown
	}
	return path, shown
}

// An activation has the values of self and oldSelf.
type activation struct {
	self, old ref.Val
	hasOld    bool
}

func (a *activation) ResolveName(name string) (any, bool) {
	switch name {
	case selfName:
		return a.self, true
	case oldSelfName:
		return a.old, a.hasOld
	}
	return nil, false
}

func (a *activation) Parent() interpreter.Activation { return nil }
