package cel

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	servercel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	kfield "k8s.io/apimachinery/pkg/util/validation/field"
)

// This file has what the rules in a definition cost, as the server estimates it.

// A ruleCost is the cost of an expression that is a large part of what all may cost.
type ruleCost struct {
	path   *kfield.Path
	cost   uint64
	limits []string // that the expression lacks
}

// cost notes the cost of an expression, which may be too high.
func (w *ruleWalk) cost(
	n *ruleNode, expression string, path *kfield.Path, what string, cost uint64,
) {
	var limits []string
	if cost >= maxTotalCost/100 {
		limits = missingLimits(n, expression)
		w.costs = append(w.costs, ruleCost{path, cost, limits})
	}
	if w.sum += cost; w.sum < cost {
		w.sum = math.MaxUint64
	}
	if cost > maxCost && !w.suppressCost {
		e := newDefinitionError(kfield.Forbidden(path, costMessage(what, cost, maxCost)))
		e.Limits = limits
		w.rules = append(w.rules, e)
	}
}

// total returns the errors if the rules are too costly together. Up to four of them are named.
func (w *ruleWalk) total(root *kfield.Path) (errs []DefinitionError) {
	if w.sum <= maxTotalCost {
		return nil
	}
	slices.SortStableFunc(w.costs, func(a, b ruleCost) int { return cmp.Compare(b.cost, a.cost) })
	for _, c := range w.costs[:min(4, len(w.costs))] {
		const text = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
		e := newDefinitionError(kfield.Forbidden(c.path, text))
		e.Limits = c.limits
		errs = append(errs, e)
	}
	const what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"
	e := kfield.Forbidden(root, costMessage(what, w.sum, maxTotalCost))
	return append(errs, newDefinitionError(e))
}

// costOf returns the cost of a rule for all values that it is evaluated for (getExpressionCost).
func (n *ruleNode) costOf(result servercel.CompilationResult) uint64 {
	if n.isLimited {
		return multiply(result.MaxCost, n.most)
	}
	return multiply(result.MaxCost, result.MaxCardinality)
}

// multiply returns a product, or the largest number if that is less.
func multiply(a, b uint64) uint64 {
	if a > 0 && math.MaxUint64/a < b {
		return math.MaxUint64
	}
	return a * b
}

// The highest estimated costs of an expression, and of all rules of a schema
// (StaticEstimatedCostLimit, StaticEstimatedCRDCostLimit).
const (
	maxCost      = 10_000_000
	maxTotalCost = 100_000_000
)

// costMessage is the server's (getCostErrorMessage).
func costMessage(what string, cost, limit uint64) string {
	times := float64(cost) / float64(limit)
	factor := strconv.FormatFloat(times, 'f', 1, 64) + "x"
	switch {
	case times > 100:
		factor = "more than 100x"
	case times < 1.5: // 1.0 would say nothing
		factor = strconv.FormatFloat(times, 'f', 6, 64) + "x"
	}
	return what + " exceeds budget by factor of " + factor +
		" (try simplifying the rule, or adding maxItems, maxProperties, and maxLength " +
		"where arrays, maps, and strings are declared)"
}
