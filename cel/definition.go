package cel

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	servercel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/api/equality"
	kfield "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// A DefinitionError says why the API server refuses a rule in a definition.
type DefinitionError struct {
	errors.SchemaError

	// Line and Column are where the expression is wrong, from 1, in lines
	// and characters of the expression. They are 0 if the error has no
	// place, or is not about an expression.
	Line, Column int
	// Limits are keywords that would lower a cost that is too high, such as
	// ....properties[hosts].maxItems: limits of the lists, maps and strings
	// that the rule goes over, which have none. Those around the rule come
	// first, from the nearest on, then those within its value. Names in the
	// expression tell which these are, so that some may not matter. There are
	// at most eight.
	Limits []string
}

// Definition returns what the API server says of the rules in a definition,
// beyond what [validation.CRD] does: those that do not compile, whose estimated
// cost is too high, that use oldSelf where values are not correlated, or whose
// fieldPath does not exist; and defaults that break a rule. If the definition
// replaces old, it is beyond what [validation.Update] says: the cost of a rule
// does not matter in versions whose schema is the same, and expressions that
// old has may use what this version of Kubernetes has for stored ones. old is
// nil for a definition that is created.
//
// The texts and paths are the server's. Properties are in the order of their
// names, and the number in the name of the type of self (selfType123) is left
// out, both of which the server decides at random. As for the server, a rule is
// not compiled if the schema that it is in has other errors, nor is any if one
// of x-kubernetes-validations is no rule, which validation.CRD reports. If old
// has such a one, that is an error.
//
// Definition changes neither c nor old. Any number of goroutines can call it.
// What it takes to compile an expression has no limit: see the package's text.
func Definition(c, old *schema.CRD) []DefinitionError {
	if c.OpenAPI || !definesRules(c) {
		return nil
	}
	known := faultsOf(c, old)
	if slices.ContainsFunc(known, isInfinite) {
		return nil
	}
	crd, err := toInternal(c)
	switch {
	case err != nil && len(known) > 0: // as of a rule that is none
		return nil
	case err != nil:
		return cannotRead("the definition", err)
	}
	d := definition{
		known:    known,
		envs:     environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()),
		stored:   preexisting{rules: map[string]bool{}, messages: map[string]bool{}},
		internal: crd,
	}
	if old != nil {
		if d.old, err = toInternal(old); err != nil {
			return cannotRead("the old definition", err)
		}
		d.stored.note(d.old)
	}
	spec := &crd.Spec
	for i, v := range spec.Versions {
		d.validation(v.Schema, v.Name, "spec.versions["+strconv.Itoa(i)+"].schema")
	}
	d.validation(spec.Validation, spec.Version, "spec.validation")
	return d.errs
}

// cannotRead returns the error for a definition that the server's types cannot hold.
func cannotRead(what string, err error) []DefinitionError {
	e := kfield.InternalError(kfield.NewPath("spec", "versions"), fmt.Errorf("%s: %w", what, err))
	return []DefinitionError{newDefinitionError(e)}
}

// definesRules reports whether a schema in the definition has rules.
func definesRules(c *schema.CRD) bool {
	return slices.ContainsFunc(c.Versions, func(v schema.Version) bool {
		return containsRules(v.Schema, 0)
	})
}

// containsRules reports whether there are rules in a schema, also where none is evaluated. A schema
// that is too deep is refused for that.
func containsRules(s *schema.Structural, depth int) bool {
	if s == nil || depth > schema.MaxDepth {
		return false
	}
	if len(s.XValidations) > 0 {
		return true
	}
	below := slices.Concat(s.AllOf, s.AnyOf, s.OneOf, []*schema.Structural{s.Not})
	if s.Items != nil {
		below = append(append(below, s.Items.Schema), s.Items.Schemas...)
	}
	if s.AdditionalProperties != nil {
		below = append(below, s.AdditionalProperties.Schema)
	}
	below = slices.AppendSeq(below, maps.Values(s.Properties))
	return slices.ContainsFunc(below, func(s *schema.Structural) bool {
		return containsRules(s, depth+1)
	})
}

// faultsOf returns what package validation says.
func faultsOf(c, old *schema.CRD) errors.SchemaErrors {
	var err error
	if old == nil {
		err = validation.CRD(c)
	} else {
		err = validation.Update(c, old)
	}
	faults, _ := err.(errors.SchemaErrors)
	return faults
}

// isInfinite reports whether an error is about a schema whose places cannot all be visited.
func isInfinite(e *errors.SchemaError) bool {
	return e.Kind == errors.SchemaForbidden && (strings.HasPrefix(e.Msg, "must not hold itself") ||
		strings.HasPrefix(e.Msg, "has more than "))
}

// toInternal converts the versions of a definition into the form in which the server validates
// them.
func toInternal(c *schema.CRD) (*apiextensions.CustomResourceDefinition, error) {
	given := &apiextensionsv1.CustomResourceDefinition{}
	given.Spec.PreserveUnknownFields = c.PreserveUnknownFields
	for _, v := range c.Versions {
		version := apiextensionsv1.CustomResourceDefinitionVersion{
			Name: v.Name, Served: v.Served, Storage: v.Storage,
		}
		if v.Schema != nil {
			js, err := v.Schema.MarshalJSON()
			if err != nil {
				return nil, err
			}
			props := &apiextensionsv1.JSONSchemaProps{}
			if err := json.Unmarshal(js, props); err != nil {
				return nil, err
			}
			version.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: props}
		}
		given.Spec.Versions = append(given.Spec.Versions, version)
	}
	crd := &apiextensions.CustomResourceDefinition{}
	convert := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition
	return crd, convert(given, crd, nil)
}

// A definition is being examined.
type definition struct {
	known         errors.SchemaErrors // what package validation says
	internal, old *apiextensions.CustomResourceDefinition
	envs          *environment.EnvSet
	stored        preexisting
	errs          []DefinitionError
}

// preexisting has the expressions of the old definition.
type preexisting struct{ rules, messages map[string]bool }

// RuleEnv is a method of EnvLoader.
func (p preexisting) RuleEnv(envs *environment.EnvSet, rule string) *celgo.Env {
	if p.rules[rule] {
		return envs.StoredExpressionsEnv()
	}
	return envs.NewExpressionsEnv()
}

// MessageExpressionEnv is a method of EnvLoader.
func (p preexisting) MessageExpressionEnv(envs *environment.EnvSet, expression string) *celgo.Env {
	if p.messages[expression] {
		return envs.StoredExpressionsEnv()
	}
	return envs.NewExpressionsEnv()
}

func (p preexisting) note(crd *apiextensions.CustomResourceDefinition) {
	note := func(v *apiextensions.CustomResourceValidation) {
		if v == nil {
			return
		}
		eachSchema(v.OpenAPIV3Schema, func(s *apiextensions.JSONSchemaProps) {
			for _, rule := range s.XValidations {
				p.rules[rule.Rule] = true
				p.messages[rule.MessageExpression] = true
			}
		})
	}
	note(crd.Spec.Validation)
	for _, v := range crd.Spec.Versions {
		note(v.Schema)
	}
}

// isSame reports whether the old definition has the same schema for a version.
func (d *definition) isSame(version string) bool {
	if d.old == nil {
		return false
	}
	s, err := apiextensions.GetSchemaForVersion(d.internal, version)
	before, errBefore := apiextensions.GetSchemaForVersion(d.old, version)
	return err == nil && errBefore == nil && equality.Semantic.DeepEqual(s, before)
}

// validation examines the rules of a version, or of all if they have one schema
// (validateCustomResourceDefinitionValidation).
func (d *definition) validation(v *apiextensions.CustomResourceValidation, version, path string) {
	if v == nil || v.OpenAPIV3Schema == nil {
		return
	}
	root := kfield.NewPath(path).Child("openAPIV3Schema")
	w := ruleWalk{
		faults: d.faultsBelow(root), envs: d.envs, stored: d.stored,
		suppressCost: d.isSame(version),
	}
	defaultErrs, ok := d.defaults(root, v.OpenAPIV3Schema)
	w.visit(newRoot(v.OpenAPIV3Schema, root, ok))
	d.errs = slices.Concat(d.errs, defaultErrs, w.paths, w.rules, w.total(root))
}

// faultsBelow returns the sorted paths of the errors in the schema at a path, but for those about
// the root alone, in spite of which the server compiles rules.
func (d *definition) faultsBelow(root *kfield.Path) (paths []string) {
	for _, e := range d.known {
		isOfRoot := e.Msg == "nullable cannot be true at the root" ||
			strings.HasPrefix(e.Msg, "only ") &&
				strings.HasSuffix(e.Msg, "if the status subresource is enabled")
		if isBelow(e.Field, root.String()) && !isOfRoot {
			paths = append(paths, e.Field)
		}
	}
	slices.Sort(paths)
	return paths
}

func isBelow(path, root string) bool {
	rest, ok := strings.CutPrefix(path, root)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[')
}

// defaults returns the errors of defaults that are due to rules. It is ok if the schema is
// structural and all of its defaults are valid, so that its rules are compiled.
func (d *definition) defaults(
	root *kfield.Path, s *apiextensions.JSONSchemaProps,
) (errs []DefinitionError, ok bool) {
	ss, err := structural.NewStructural(s)
	if err != nil || len(structural.ValidateStructural(root, ss)) > 0 {
		return nil, false
	}
	known := map[string]int{}
	ok = true
	for _, e := range d.known {
		known[e.Error()]++
		ok = ok && (e.Msg != "must not have unknown fields" || !isBelow(e.Field, root.String()))
	}
	// Whether defaults are pruned is known.
	found, err := defaulting.ValidateDefaults(context.Background(), root, ss, true, false)
	for _, e := range found {
		if known[e.Error()]--; known[e.Error()] < 0 {
			errs = append(errs, newDefinitionError(e))
		}
	}
	slices.SortStableFunc(errs, func(a, b DefinitionError) int {
		return cmp.Compare(a.Field, b.Field)
	})
	return errs, ok && err == nil && len(found) == 0
}

// A ruleWalk visits the schemas in a schema (ValidateCustomResourceDefinitionOpenAPISchema).
type ruleWalk struct {
	faults       []string // the paths of what package validation has found, sorted
	envs         *environment.EnvSet
	stored       preexisting
	suppressCost bool

	paths []DefinitionError // of fieldPath, which are errors of the schema for the server
	rules []DefinitionError
	costs []ruleCost
	sum   uint64
}

// visit examines a schema after those within it, as the server does.
func (w *ruleWalk) visit(n *ruleNode) {
	s, faults := n.s, len(w.paths)
	enter := func(
		s *apiextensions.JSONSchemaProps, path *kfield.Path, way way, uncorrelated *kfield.Path,
	) {
		if s != nil {
			w.visit(n.child(s, path, way, uncorrelated))
		}
	}
	if s.AdditionalProperties != nil {
		enter(s.AdditionalProperties.Schema, n.path.Child("additionalProperties"), viaValue, nil)
	}
	w.properties(n)
	enter(s.Not, n.path.Child("not"), viaOther, nil)
	for _, junctor := range []struct {
		name string
		list []apiextensions.JSONSchemaProps
	}{{"allOf", s.AllOf}, {"oneOf", s.OneOf}, {"anyOf", s.AnyOf}} {
		for i := range junctor.list {
			enter(&junctor.list[i], n.path.Child(junctor.name).Index(i), viaOther, nil)
		}
	}
	if s.Items != nil {
		var uncorrelated *kfield.Path
		if s.XListType == nil || *s.XListType != "map" {
			uncorrelated = n.path
		}
		enter(s.Items.Schema, n.path.Child("items"), viaElement, uncorrelated)
		for i := range s.Items.JSONSchemas {
			enter(&s.Items.JSONSchemas[i], n.path.Child("items").Index(i), viaOther, nil)
		}
	}
	rules := n.path.Child("x-kubernetes-validations")
	for i, rule := range s.XValidations {
		if rule.FieldPath != "" && !isValidPath(s, rule.FieldPath) {
			at := rules.Index(i).Child("fieldPath")
			e := kfield.Invalid(at, rule.FieldPath, "must be a valid path")
			w.paths = append(w.paths, newDefinitionError(e))
		}
	}
	if len(s.XValidations) > 0 && n.isCompiled && len(w.paths) == faults &&
		!w.isFaulty(n.path.String()) {
		w.compile(s, n, rules)
	}
}

// isFaulty reports whether package validation has found an error at a path or below it.
func (w *ruleWalk) isFaulty(path string) bool {
	for _, first := range []string{path, path + ".", path + "["} {
		i, _ := slices.BinarySearch(w.faults, first)
		if i < len(w.faults) && isBelow(w.faults[i], path) {
			return true
		}
	}
	return false
}

func (w *ruleWalk) properties(n *ruleNode) {
	var uncorrelated *kfield.Path
	if !servercel.MapIsCorrelatable(n.s.XMapType) {
		uncorrelated = n.path
	}
	for _, name := range slices.Sorted(maps.Keys(n.s.Properties)) {
		p := n.s.Properties[name]
		c := n.child(&p, n.path.Child("properties").Key(name), viaProperty, uncorrelated)
		c.property = name
		w.visit(c)
	}
}

func isValidPath(s *apiextensions.JSONSchemaProps, path string) bool {
	ss, err := structural.NewStructural(s)
	if err != nil {
		return true // it has other errors
	}
	_, _, err = servercel.ValidFieldPath(path, ss)
	return err == nil
}

// compile examines the rules of a schema.
func (w *ruleWalk) compile(s *apiextensions.JSONSchemaProps, n *ruleNode, path *kfield.Path) {
	fail := func(e *kfield.Error) { w.rules = append(w.rules, newDefinitionError(e)) }
	failWithin := func(e *kfield.Error) {
		fail(e)
		w.rules[len(w.rules)-1].locate()
	}
	types, err := n.typeInfo()
	if err != nil {
		const text = "internal error: failed to construct type information for x-kubernetes-validations rules: %w"
		fail(kfield.InternalError(path, fmt.Errorf(text, err)))
		return
	}
	results, err := servercel.Compile(
		types.schema, types.decl, celconfig.PerCallLimit, w.envs, w.stored)
	if err != nil {
		fail(kfield.InternalError(path, err))
		return
	}
	for i, result := range results {
		rule := s.XValidations[i]
		at := path.Index(i).Child("rule")
		w.cost(n, rule.Rule, at, "estimated rule cost", n.costOf(result))
		if e := result.Error; e != nil {
			if e.Type == apiservercel.ErrorTypeRequired {
				fail(kfield.Required(at, e.Detail))
			} else {
				failWithin(kfield.Invalid(at, rule, e.Detail))
			}
		}
		message := path.Index(i).Child("messageExpression")
		if e := result.MessageExpressionError; e != nil {
			failWithin(kfield.Invalid(message, rule, e.Detail))
		} else if result.MessageExpression != nil {
			w.cost(n, rule.MessageExpression, message,
				"estimated messageExpression cost", result.MessageExpressionMaxCost)
		}
		switch {
		case result.UsesOldSelf && n.uncorrelated != nil:
			const text = "oldSelf cannot be used on the uncorrelatable portion of the schema within "
			fail(kfield.Invalid(at, rule.Rule, text+n.uncorrelated.String()))
		case !result.UsesOldSelf && rule.OptionalOldSelf != nil:
			optional := path.Index(i).Child("optionalOldSelf")
			const text = "may not be set if oldSelf is not used in rule"
			fail(kfield.Invalid(optional, *rule.OptionalOldSelf, text))
		}
	}
}

// newDefinitionError converts an error of the server.
func newDefinitionError(e *kfield.Error) DefinitionError {
	withoutDetail := *e
	withoutDetail.Detail = ""
	kind := errors.SchemaErrorKind(e.Type.String())
	value := strings.TrimPrefix(strings.TrimPrefix(withoutDetail.ErrorBody(), string(kind)), ": ")
	return DefinitionError{SchemaError: errors.SchemaError{
		Kind: kind, Field: e.Field, Value: value,
		Msg: numberedSelf.ReplaceAllString(e.Detail, "selfType"),
	}}
}

var (
	// numberedSelf is the name that the server gives to the type of self, with a random number.
	numberedSelf = regexp.MustCompile(`\bselfType\d+`)
	// issue is the start of the text of an error in an expression.
	issue = regexp.MustCompile(`ERROR: <input>:(\d+):(\d+): `)
)

// locate reads the place of the first error in an expression.
func (e *DefinitionError) locate() {
	if m := issue.FindStringSubmatch(e.Msg); m != nil {
		e.Line, _ = strconv.Atoi(m[1])
		e.Column, _ = strconv.Atoi(m[2])
	}
}
