package cel

import (
	stdjson "encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	celgo "github.com/google/cel-go/cel"
	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/version"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// Rules returns a compiler of rules, for [validation.Values]. What it has
// compiled for one schema, it does not compile again for another, as long as
// that is in use: one compiler should serve all definitions.
func Rules(options ...Option) *Compiler {
	c := &Compiler{timeout: time.Minute}
	for _, o := range options {
		o(c)
	}
	if c.env == nil {
		// Which version it is does not matter: a server compiles what is stored with all that it
		// has.
		envs := environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
		c.env = envs.StoredExpressionsEnv()
		c.keywords = true
	}
	return c
}

// An Option is an option of [Rules].
type Option func(*Compiler)

// Compatibility has rules compiled as an older version of Kubernetes compiles
// those of new definitions, such as 1.34: only with the libraries that it has.
// A rule that uses another one is an error of each object. A later version than
// that of the linked packages, 1.37, has the libraries of these.
func Compatibility(major, minor uint) Option {
	return func(c *Compiler) {
		v := version.MajorMinor(major, minor)
		c.env = environment.MustBaseEnvSet(v).NewExpressionsEnv()
		c.keywords = v.AtLeast(version.MajorMinor(1, 31))
	}
}

// Timeout bounds the time that all rules together may take for an object, if
// they read more than 1 000 members and elements of that, or of the stored
// object. The default is a minute, which is what a server has for a request:
// costs are counted, but a rule that goes through a list of many thousand
// elements can take long before it has spent what it may cost. Beyond the time
// the object has an error of the kind [errors.SchemaInternal], and the rest of
// the rules is not evaluated. The call of a function is not interrupted. Without
// any time, each object of that size is refused.
func Timeout(d time.Duration) Option { return func(c *Compiler) { c.timeout = d } }

// A Compiler compiles rules. Any number of goroutines can use it.
type Compiler struct {
	env      *celgo.Env
	keywords bool
	timeout  time.Duration
	shapes   shapes
	programs interner[programKey, program]
}

var _ validation.RuleCompiler = (*Compiler)(nil)

// CompileRules compiles the rules in a schema and in the schemas within it, as
// [validation.RuleCompiler] says.
func (c *Compiler) CompileRules(s *schema.Structural, isResource bool) validation.Rules {
	if !hasRules(s) {
		return nil
	}
	of := c.shapes.of(s)
	declared := of.declared()
	if isResource && !of.intOrString {
		declared = c.shapes.ofResource(of)
	}
	root := c.node(s, of, isResource, declared)
	if root == nil {
		return nil
	}
	r := &rules{root: root, shape: of, timeout: c.timeout}
	self, oldSelf := new(access), (*access)(nil)
	if root.readsOld() {
		oldSelf = new(access)
	}
	root.accesses(self, oldSelf)
	r.self, r.oldSelf = self.selection(), oldSelf.selection()
	return r
}

// hasRules reports whether there are rules in a schema. As the server's hasXValidations, it does
// not look into allOf.
func hasRules(s *schema.Structural) bool {
	if s == nil {
		return false
	}
	if len(s.XValidations) > 0 || s.Items != nil && hasRules(s.Items.Schema) ||
		s.AdditionalProperties != nil && hasRules(s.AdditionalProperties.Schema) {
		return true
	}
	for _, p := range s.Properties {
		if hasRules(p) {
			return true
		}
	}
	return false
}

// A node has the rules of a schema, and of the schemas within it.
type node struct {
	shape      *shape // of the values
	visible    *shape // the same, for a resource with all that its rules can read
	err        string // why no rule can be evaluated
	rules      []rule
	usesOld    bool // a rule of this node reads oldSelf
	oldBelow   bool // one within it does
	items      *node
	additional *node
	properties map[string]*node
	names      []string // of the properties, in order
	allOf      []*node
}

// A rule is one of x-kubernetes-validations.
type rule struct {
	text      string // as it is shown: the message or the rule
	failed    string // why a value is refused
	err       string // why the rule cannot be evaluated
	optional  bool   // optionalOldSelf
	program   *program
	message   *program // of messageExpression, or nil
	source    string   // of messageExpression
	kind      errors.SchemaErrorKind
	fieldPath string // as the server shows it
	names     []errors.Segment
}

// node makes the node of a schema, as the server's function validator does. Rules are those of
// given, which is the schema, or one in its allOf. declared is the shape that expressions have as
// the type of self, or nil.
func (c *Compiler) node(
	given *schema.Structural, of *shape, isResource bool, declared *shape,
) *node {
	n := &node{shape: of, visible: of}
	if isResource {
		n.visible = c.shapes.ofResource(of)
	}
	if !declared.hasType() {
		declared = nil
	}
	c.compileRules(n, given.XValidations, declared)

	var element *shape
	if declared != nil {
		element = declared.element()
	}
	if given.Items != nil && given.Items.Schema != nil && of.items != nil {
		n.items = c.node(given.Items.Schema, of.items, of.items.embedded, element)
	}
	for _, name := range slices.Sorted(maps.Keys(given.Properties)) {
		p := of.properties[name]
		if p == nil {
			continue // only allOf has it
		}
		field := p.declared()
		if _, ok := apiservercel.Escape(name); ok {
			// The metadata of a resource has another type.
			if declared == nil || !declared.hasFields() {
				continue
			}
			field = declared.properties[name].declared()
		}
		if !field.hasType() {
			continue // rules are not evaluated for what expressions cannot see
		}
		if child := c.node(given.Properties[name], p, p.embedded, field); child != nil {
			if n.properties == nil {
				n.properties = map[string]*node{}
			}
			n.properties[name] = child
			n.names = append(n.names, name)
		}
	}
	if given.AdditionalProperties != nil && of.additional != nil {
		if s := given.AdditionalProperties.Schema; s != nil {
			n.additional = c.node(s, of.additional, of.additional.embedded, element)
		}
	}
	for _, s := range given.AllOf {
		if child := c.node(s, of, isResource, declared); child != nil {
			n.allOf = append(n.allOf, child)
		}
	}
	for child := range n.children {
		n.oldBelow = n.oldBelow || child.readsOld()
	}
	if n.isEmpty() {
		return nil
	}
	return n
}

// isEmpty reports whether there are rules neither in a node nor within it.
func (n *node) isEmpty() bool {
	return len(n.rules) == 0 && n.err == "" &&
		n.items == nil && n.additional == nil && n.properties == nil && n.allOf == nil
}

// compileRules compiles the rules of a node.
func (c *Compiler) compileRules(n *node, rules []stdjson.RawMessage, declared *shape) {
	if len(rules) == 0 {
		return
	}
	if declared == nil {
		n.err = "failed to convert to declType for CEL validation rules"
		return
	}
	envs := &environments{base: c.env, keywords: c.keywords, of: declared}
	n.rules = make([]rule, len(rules))
	for i, js := range rules {
		var given apiextensions.ValidationRule
		if err := json.UnmarshalCaseSensitivePreserveInts(js, &given); err != nil {
			n.rules[i].err = fmt.Sprintf("malformed: %v", err)
			continue
		}
		n.rules[i] = c.rule(&given, n.shape, envs)
		if p := n.rules[i].program; p != nil && p.usesOldSelf {
			n.usesOld = true
		}
	}
}

// rule compiles a rule of a schema, whose values have the shape of.
func (c *Compiler) rule(
	given *apiextensions.ValidationRule, of *shape, envs *environments,
) (r rule) {
	expression := strings.TrimSpace(given.Rule)
	if expression == "" {
		return r // the server ignores it
	}
	r.text = expression
	r.failed = "failed rule: " + expression
	if given.Message != "" {
		r.text = strings.TrimSpace(given.Message)
		r.failed = r.text
	}
	r.kind = errors.SchemaInvalid
	if given.Reason != nil {
		switch *given.Reason {
		case apiextensions.FieldValueForbidden:
			r.kind = errors.SchemaForbidden
		case apiextensions.FieldValueRequired:
			r.kind = errors.SchemaRequired
		case apiextensions.FieldValueDuplicate:
			r.kind = errors.SchemaDuplicate
		}
	}
	r.optional = given.OptionalOldSelf != nil && *given.OptionalOldSelf
	key := programKey{of: envs.of, optional: r.optional, expression: given.Rule}
	p := c.compile(key, envs)
	if r.err = p.err; r.err != "" {
		return r
	}
	r.program = p
	if given.MessageExpression != "" {
		r.source = given.MessageExpression
		key.message, key.expression = true, given.MessageExpression
		m := c.compile(key, envs)
		if m.err != "" {
			return r // the server does not come to the fieldPath
		}
		r.message = m
	}
	if given.FieldPath != "" {
		if names, shown, ok := fieldPath(given.FieldPath, of); ok {
			r.names, r.fieldPath = names, shown
		}
	}
	return r
}
