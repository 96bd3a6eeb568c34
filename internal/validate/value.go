package validate

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// This file validates a value against a schema as the API server does, with the messages of
// k8s.io/kube-openapi/pkg/validation in the form that pkg/apiserver/validation of
// apiextensions-apiserver gives them. The order of the checks and the counting of matches are part
// of the result: if no alternative of anyOf or oneOf fits, the errors of the best one are shown.

// A result is the outcome of validating one value (validate.Result).
type result struct {
	errs    []Error
	texts   map[string]bool
	matches int // checks that were made, by which alternatives are compared
}

func (v *result) ok() bool { return len(v.errs) == 0 }

func (v *result) add(e Error) {
	if v.texts[e.text] {
		return
	}
	if v.texts == nil {
		v.texts = make(map[string]bool)
	}
	v.texts[e.text] = true
	v.errs = append(v.errs, e)
}

func (v *result) merge(other *result) {
	if other == nil {
		return
	}
	for _, e := range other.errs {
		v.add(e)
	}
	v.matches += other.matches
}

// fail adds a message that begins with the place.
func (v *result) fail(rule string, at *trail, value any, format string, args ...any) {
	text := at.String() + " in body " + fmt.Sprintf(format, args...)
	v.add(Error{
		Kind: errors.SchemaInvalid, Rule: rule, Field: at.field(), Value: Render(value), Msg: text,
		at: at, text: text,
	})
}

// failShort adds a message of another kind, which does not repeat the place.
func (v *result) failShort(
	kind errors.SchemaErrorKind, rule string, at *trail, value, detail, text string,
) {
	v.add(Error{
		Kind: kind, Rule: rule, Field: at.field(), Value: value, Msg: detail,
		at: at, text: at.String() + " " + text,
	})
}

// failWhole adds a message that names the place only in its text.
func (v *result) failWhole(rule string, at *trail, format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	v.add(Error{
		Kind: errors.SchemaInvalid, Rule: rule, Value: `""`, Msg: text, at: at, text: text,
	})
}

// A checker validates against one schema in one place.
type checker struct {
	*schema.Structural
	types  string // the type, or several that are joined by commas
	format string
	at     *trail
	rules  rules
	nested bool  // below allOf, anyOf, oneOf or not
	depth  int   // of calls
	pair   *pair // with the value that is replaced, or nil
	by     *Validator
	steps  *int // that are left
}

// rules say how the server makes the schema of a validator. For defaults it is made of the
// structural schema (ToKubeOpenAPI). There below allOf, anyOf, oneOf and not are value validations,
// without additionalProperties. For objects it is made of the definition
// (NewSchemaValidatorForVersion), with types for x-kubernetes-int-or-string, and without formats
// that the server does not know.
type rules int

const (
	ofDefaults rules = iota
	ofObjects
)

// spend takes n steps, and reports whether so many were left.
func (c checker) spend(n int) bool {
	*c.steps -= n
	return *c.steps >= 0
}

// with returns a checker for another schema at another place.
func (c checker) with(s *schema.Structural, at *trail) checker {
	c.Structural, c.at, c.pair = orEmpty(s), at, nil
	c.depth++
	c.types, c.format = c.Type, c.Format
	if c.rules == ofObjects {
		if c.XIntOrString {
			c.types = "integer,string"
		}
		if !knowsFormat(c.types, c.format) {
			c.format = ""
		}
	}
	return c
}

// knowsFormat reports whether the server validates a format of values of the types
// (StripUnsupportedFormatsPostProcessorForVersion).
func knowsFormat(types, format string) bool {
	switch types {
	case "", "string", "integer,string":
		return formatCheck(format) != nil
	case "integer":
		return format == "int32" || format == "int64"
	case "number":
		return format == "float" || format == "double"
	}
	return false
}

// takes reports whether the type is among those of the schema.
func (c checker) takes(typ string) bool {
	return c.types == typ || c.types == "integer,string" && (typ == "integer" || typ == "string")
}

// maxDepth bounds the stack where a schema contains itself, also in its allOf, anyOf, oneOf or not:
// there no value ends the recursion.
const maxDepth = 1 << 16

// member returns a checker for a member of the object.
func (c checker) member(name string, s *schema.Structural, at *trail) checker {
	sub := c.with(s, at)
	isType := name == "apiVersion" || name == "kind"
	if c.pair != nil && !(isType && c.at.String() == "") {
		sub.pair = c.pair.member(name)
	}
	return sub
}

// check validates x, and excuses all errors in it if it has not changed.
func (c checker) check(x any) *result {
	v := c.checkAll(x)
	if len(v.errs) > 0 && c.pair.isEqual() {
		return &result{matches: v.matches}
	}
	return v
}

// checkAll validates x (SchemaValidator.Validate).
func (c checker) checkAll(x any) *result {
	v, work := new(result), 1
	if c.nested {
		work = 8 // many alternatives may be about one byte
	}
	work += len(c.Format) / 16 // the name of a format is looked up for each value, and may be long
	if c.depth > maxDepth {
		*c.steps = -1
	}
	if !c.spend(work) {
		return v
	}
	if x == nil {
		v.merge(c.checkType(x))
		v.merge(c.checkEnum(x))
		return v
	}
	checks := []func(any) *result{}
	if c.types != "" || c.format != "" {
		checks = append(checks, c.checkType)
	}
	checks = append(checks, c.checkJunctors)
	switch x.(type) {
	case string:
		checks = append(checks, c.checkString)
		if formatCheck(c.format) != nil {
			checks = append(checks, c.checkFormat)
		}
	case int64, float64:
		checks = append(checks, c.checkNumber)
	case []any:
		checks = append(checks, c.checkArray)
	}
	checks = append(checks, c.checkEnum)
	if _, ok := x.(map[string]any); ok {
		checks = append(checks, c.checkObject)
	}
	for _, check := range checks {
		v.merge(check(x))
		v.matches++
		if *c.steps < 0 {
			return new(result) // errors that are merged at each level would take longer than the rest
		}
	}
	v.matches++
	for _, e := range v.errs { // they are copied from the values within
		c.spend(len(e.Field) + len(e.Value) + len(e.text))
	}
	return v
}

// checkType compares the type of x with that of the schema, and for values that are not text also
// the format (typeValidator). An integer is a number, and a number without a fraction is an
// integer.
func (c checker) checkType(x any) *result {
	typ, format := typeOfValue(x)
	if x == nil {
		if c.types != "" && c.types != "null" && !c.Nullable {
			return c.mismatch(c.typeRule(), c.types, "null")
		}
		return &result{matches: 1}
	}
	f, _ := x.(float64)
	fits := c.takes(typ) ||
		typ == "number" && c.takes("integer") && isJSONInteger(f) ||
		typ == "integer" && c.takes("number")
	switch typ {
	case "string", "array":
		if c.format != "" && !c.takes("number") && !c.takes("integer") {
			return &result{matches: 1}
		}
	default:
		if c.format != "" && c.format != format && !fits {
			return c.mismatch("format", c.format, format)
		}
	}
	if !fits {
		return c.mismatch(c.typeRule(), c.types, typ)
	}
	return &result{matches: 1}
}

// mismatch is the error about a type or a format, which are one to the server.
func (c checker) mismatch(rule, want, got string) *result {
	v := new(result)
	v.fail(rule, c.at, got, "must be of type %s: %q", want, got)
	v.errs[0].Kind = errors.SchemaTypeInvalid
	return v
}

// typeRule returns the keyword that has the types.
func (c checker) typeRule() string {
	if c.types != c.Type {
		return "x-kubernetes-int-or-string"
	}
	return "type"
}

func typeOfValue(x any) (typ, format string) {
	switch x.(type) {
	case bool:
		return "boolean", ""
	case int64:
		return "integer", "int64"
	case float64:
		return "number", "float64"
	case string:
		return "string", ""
	case []any:
		return "array", ""
	case map[string]any:
		return "object", ""
	}
	return "null", ""
}

// checkEnum looks for x among the allowed values (basicCommonValidator).
func (c checker) checkEnum(x any) *result {
	if len(c.Enum) == 0 || !c.spend(len(c.Enum)) {
		return nil
	}
	p := &c.by.prepare(c.Structural).enum
	if c.rules == ofObjects {
		p = &c.by.prepare(c.Structural).stored
	}
	switch x.(type) {
	case map[string]any, []any:
		if p.compounds[c.identity(x)] {
			return nil
		}
	default:
		if slices.ContainsFunc(p.values, func(allowed any) bool { return enumEqual(x, allowed) }) {
			return nil
		}
	}
	names := make([]string, len(c.Enum))
	for i, allowed := range p.values {
		if s, ok := allowed.(string); ok {
			names[i] = s
		} else {
			js, _ := json.Marshal(allowed)
			names[i] = string(js)
		}
	}
	v := new(result)
	v.failShort(errors.SchemaUnsupported, "enum", c.at,
		Render(x), Supported(names), fmt.Sprint("enum ", names))
	v.errs[0].enum = p.values
	return v
}

// enumEqual compares x, which is no object or array, with a value of an enum after converting x to
// its type, as Go converts: 1.5 equals 1, and 65 equals "A". null equals nothing.
func enumEqual(x, allowed any) bool {
	switch allowed := allowed.(type) {
	case nil:
		return false
	case int64:
		if f, ok := x.(float64); ok {
			return truncate(f) == allowed
		}
	case float64:
		if i, ok := x.(int64); ok {
			return float64(i) == allowed
		}
	case string:
		if i, ok := x.(int64); ok {
			return string(rune(clampRune(i))) == allowed
		}
	}
	return x != nil && reflect.DeepEqual(x, allowed)
}

func clampRune(i int64) int64 {
	if i < 0 || i > utf8.MaxRune {
		return utf8.RuneError
	}
	return i
}

// checkString stops at the first failure (stringValidator). Lengths are counted in code points.
func (c checker) checkString(x any) *result {
	v, s := new(result), x.(string)
	n := int64(utf8.RuneCountInString(s))
	switch {
	case c.MaxLength != nil && n > *c.MaxLength:
		v.failShort(errors.SchemaTooLong, "maxLength", c.at,
			"", tooLong(*c.MaxLength), fmt.Sprint("maxLength ", *c.MaxLength))
	case c.MinLength != nil && n < *c.MinLength:
		v.fail("minLength", c.at, s, "should be at least %d chars long", *c.MinLength)
	case c.Pattern != "" && c.spend(len(s)):
		if re := c.by.prepare(c.Structural).pattern; re != nil && !re.MatchString(s) {
			v.fail("pattern", c.at, s, "should match '%s'", c.Pattern)
		}
	}
	return v
}

func (c checker) checkFormat(x any) *result {
	if s := x.(string); !formatCheck(c.format)(s) {
		return c.mismatch("format", c.format, s)
	}
	return nil
}

// checkArray validates the elements first, and then the array (schemaSliceValidator).
func (c checker) checkArray(x any) *result {
	v, list := new(result), x.([]any)
	if item := element(c.Structural); item != nil {
		for i, e := range list {
			sub := c.with(item, c.at.element(i))
			sub.pair = c.pair.element(i)
			v.merge(sub.check(e))
		}
	}
	c.checkItems(v, int64(len(list)))
	if c.UniqueItems && c.hasEqual(list) {
		v.fail("uniqueItems", c.at, "", "shouldn't contain duplicates")
	}
	v.matches++
	return v
}

// checkItems validates the number of elements.
func (c checker) checkItems(v *result, n int64) {
	if c.MinItems != nil && n < *c.MinItems {
		v.fail("minItems", c.at, n, "should have at least %d items", *c.MinItems)
	}
	if c.MaxItems != nil && n > *c.MaxItems {
		v.failShort(errors.SchemaTooMany, "maxItems", c.at,
			Render(n), tooMany(*c.MaxItems), fmt.Sprint("maxItems ", *c.MaxItems))
	}
}

// hasEqual reports whether two elements are equal.
func (c checker) hasEqual(list []any) bool {
	seen := make(map[string]bool, len(list))
	for _, e := range list {
		id := c.identity(e)
		if seen[id] {
			return true
		}
		seen[id] = true
	}
	return false
}

// identity returns a text that x has in common with the values that equal it, and no others. A step
// is a byte of it.
func (c checker) identity(x any) string {
	id := appendIdentity(nil, x)
	c.spend(len(id))
	return string(id)
}

// appendIdentity appends a text that equal values have in common. They are equal as in
// reflect.DeepEqual: 1 and 1.0 are not, 0.0 and -0.0 are. To compare values in pairs would take too
// long, even if their JSON was compared first: that of 1 and of 1.0 is the same.
func appendIdentity(b []byte, x any) []byte {
	switch x := x.(type) {
	case float64:
		if x == 0 {
			x = 0 // without a sign
		}
		return strconv.AppendFloat(append(b, 'f'), x, 'g', -1, 64)
	case []any:
		b = append(b, '[')
		for _, e := range x {
			b = append(appendIdentity(b, e), ',')
		}
		return append(b, ']')
	case map[string]any:
		b = append(b, '{')
		for _, name := range sortedKeys(x) {
			b = append(strconv.AppendQuote(b, name), ':')
			b = append(appendIdentity(b, x[name]), ',')
		}
		return append(b, '}')
	}
	return append(b, Render(x)...)
}

// checkObject validates the number of members, then undeclared members, then declared ones, and
// that none is missing (objectValidator).
func (c checker) checkObject(x any) *result {
	v, object := new(result), x.(map[string]any)
	n := int64(len(object))
	if c.MinProperties != nil && n < *c.MinProperties {
		v.fail("minProperties", c.at, n, "should have at least %d properties", *c.MinProperties)
	}
	if c.MaxProperties != nil && n > *c.MaxProperties {
		v.failShort(errors.SchemaTooMany, "maxProperties", c.at,
			Render(n), tooMany(*c.MaxProperties), fmt.Sprint("maxProperties ", *c.MaxProperties))
	}
	names := sortedKeys(object)
	if ap := c.AdditionalProperties; ap != nil && (!c.nested || c.rules == ofObjects) {
		for _, name := range names {
			if _, ok := c.Properties[name]; ok {
				continue
			}
			switch {
			case ap.Schema != nil:
				v.merge(c.member(name, ap.Schema, c.at.member(name)).check(object[name]))
			case !ap.Allows:
				text := c.at.String() + "." + name + " in body is a forbidden property"
				v.add(Error{
					Kind: errors.SchemaInvalid, Rule: "additionalProperties",
					Field: c.at.field(), Value: Render(name), Msg: text, at: c.at, text: text,
				})
			}
		}
	}
	if !c.spend(len(c.Properties) + len(c.Required)) {
		return v
	}
	for _, name := range names {
		if s, ok := c.Properties[name]; ok {
			v.merge(c.member(name, s, c.at.property(name)).check(object[name]))
		}
	}
	for _, name := range c.Required {
		if _, ok := object[name]; !ok {
			v.failShort(errors.SchemaRequired, "required", c.at.member(name), "", "", "is required")
		}
	}
	return v
}

// checkJunctors validates anyOf, oneOf, allOf and not (schemaPropsValidator).
func (c checker) checkJunctors(x any) *result {
	v := new(result)
	under := func(s *schema.Structural) *result {
		sub := c.with(s, c.at)
		sub.nested = true
		return sub.check(x)
	}
	if len(c.AnyOf) > 0 {
		best := c.firstFit(under)
		if !best.ok() {
			v.failWhole("anyOf", c.at, "%q must validate at least one schema (anyOf)", c.at)
		}
		v.merge(best)
	}
	if len(c.OneOf) > 0 {
		v.merge(c.oneFit(under))
	}
	fits := 0
	for _, s := range c.AllOf {
		one := under(s)
		if one.ok() {
			fits++
		}
		v.merge(one)
	}
	switch {
	case fits == len(c.AllOf):
	case fits == 0:
		v.failWhole("allOf", c.at, "%q must validate all the schemas (allOf). None validated", c.at)
	default:
		v.failWhole("allOf", c.at, "%q must validate all the schemas (allOf)", c.at)
	}
	if c.Not != nil && under(c.Not).ok() {
		v.failWhole("not", c.at, "%q must not validate the schema (not)", c.at)
	}
	v.matches++
	return v
}

// firstFit returns the result of the first alternative of anyOf that fits, or the one with the most
// matches if none fits.
func (c checker) firstFit(under func(*schema.Structural) *result) (best *result) {
	for _, s := range c.AnyOf {
		one := under(s)
		if one.ok() {
			return one
		}
		if best == nil || one.matches > best.matches {
			best = one
		}
	}
	return best
}

// oneFit demands that exactly one alternative of oneOf fits.
func (c checker) oneFit(under func(*schema.Structural) *result) *result {
	var best, fit *result
	fits := 0
	for _, s := range c.OneOf {
		switch one := under(s); {
		case one.ok():
			if fits++; fit == nil {
				fit = one
			}
		case best == nil || one.matches > best.matches:
			best = one
		}
	}
	v := new(result)
	switch fits {
	case 1:
		return fit
	case 0:
		v.failWhole("oneOf", c.at, "%q must validate one and only one schema (oneOf). Found none valid", c.at)
		v.merge(best)
	default:
		v.failWhole("oneOf", c.at, "%q must validate one and only one schema (oneOf). Found %d valid alternatives",
			c.at, fits)
	}
	return v
}
