package validation

import (
	"math"
	"strings"
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	recognizers "github.com/espalier-dev/espalier/internal/recognize/compile"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// Values makes schema.Compile compile the validations of a schema into the
// program, for decoders that validate values (decoder.ValueValidation). They
// are those that a server applies to the objects of a definition: the types,
// bounds, patterns and formats of the schema, its enums, anyOf, oneOf, allOf
// and not, the elements of sets and maps, the metadata, and the values of the
// scale subresource. Rules in CEL (x-kubernetes-validations) are evaluated if
// there is a compiler for them, and ignored otherwise. There is at most one.
//
// Compiling takes longer then, and the program is larger. It keeps the schema,
// which must not be changed afterwards.
//
// The type of objects (apiVersion and kind), their scope and subresources are
// known, and validated, if the program is compiled from a definition: see
// schema.CRD.Program and schema.Catalog.
//
// Values panics if it is given two compilers, or one that is nil.
func Values(rules ...RuleCompiler) schema.Option {
	m := new(maker)
	switch {
	case len(rules) > 1:
		panic("validation: Values: there can be one compiler for rules")
	case len(rules) == 1 && rules[0] == nil:
		panic("validation: Values: the compiler for rules is nil")
	case len(rules) == 1:
		m.rules = rules[0]
	}
	return program.WithRules(m).(schema.Option)
}

// A maker makes the rules that package schema compiles into a program. Checkers are kept, so that
// equal ones are the same.
type maker struct {
	rules    RuleCompiler // or nil
	mu       sync.Mutex
	texts    map[textKey]program.Checker
	keys     map[program.Checker]textKey // of texts
	patterns map[string]*pattern
	matchers recognizers.Patterns
	literals map[literalKey]*literalChecker
}

var typesOf = map[string]program.Types{
	"":               program.Any,
	"object":         program.Object,
	"array":          program.Array,
	"string":         program.String,
	"boolean":        program.Boolean,
	"integer":        program.Integer,
	"number":         program.Integer | program.Number,
	"integer,string": program.Integer | program.String,
	"null":           program.Null,
}

// Scalars is a method of schema's ruleMaker.
func (m *maker) Scalars(r *program.Rules, s *schema.Structural) {
	m.mu.Lock()
	defer m.mu.Unlock()
	types, format := validate.TypesAndFormat(s)
	r.Types = typesOf[types] // no value is of a type that there is not
	if s.Nullable {
		r.Types |= program.Null
	}
	if types == "string" && format != "" { // the server lets arrays pass
		r.Types |= program.Array
	}
	if types == "" && format != "" { // the server compares formats of other values with it
		r.Types &= program.String | program.Array | program.Null
	}
	r.Enum = len(s.Enum) > 0
	m.text(r, s, format)
	m.literal(r, s, types, format)
}

// literal sets the rules for numbers, true and false.
func (m *maker) literal(r *program.Rules, s *schema.Structural, types, format string) {
	key := literalKey{least: math.MinInt64, most: math.MaxInt64}
	if types == "integer" && format == "int32" {
		key.least, key.most = math.MinInt32, math.MaxInt32
	}
	for _, limit := range []*float64{s.Minimum, s.Maximum, s.MultipleOf} {
		// Limits that are no integers, or not in the range of the type, have rules of their own.
		const most = 1 << 53
		if limit != nil && (*limit != math.Trunc(*limit) || math.Abs(*limit) > most ||
			*limit < float64(key.least) || *limit > float64(key.most)) {
			key.unsure = true
		}
	}
	if s.Minimum != nil && !key.unsure {
		key.least = max(key.least, int64(*s.Minimum)+one(s.ExclusiveMinimum))
	}
	if s.Maximum != nil && !key.unsure {
		key.most = min(key.most, int64(*s.Maximum)-one(s.ExclusiveMaximum))
	}
	if s.MultipleOf != nil && !key.unsure {
		key.factor = int64(*s.MultipleOf)
		key.unsure = key.factor <= 0
	}
	var enum enumBuilder
	for _, raw := range s.Enum {
		switch x, _ := validate.Decode(raw); x.(type) {
		case int64, bool:
			enum.add(string(raw))
		}
	}
	key.enum, key.hasEnum = enum.String(), len(s.Enum) > 0
	key.isFloat = types == "number" && format == "float"
	if key != (literalKey{least: math.MinInt64, most: math.MaxInt64}) {
		key.hasFractions = types == "number" && !key.isFloat
		r.Literal = keep(&m.literals, key, func() *literalChecker { return newLiteral(key) })
	}
}

// Replicas is a method of schema's ruleMaker.
func (m *maker) Replicas(r *program.Rules) {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := literalKey{least: math.MinInt64, most: math.MaxInt64}
	if r.Literal != nil {
		key = r.Literal.(*literalChecker).literalKey
	}
	key.least, key.most = max(key.least, 0), min(key.most, math.MaxInt32)
	key.hasFractions = false
	r.Literal = keep(&m.literals, key, func() *literalChecker { return newLiteral(key) })
}

func one(is bool) int64 {
	if is {
		return 1
	}
	return 0
}

// keep returns what is kept for a key, and makes it if there is nothing.
func keep[K comparable, V any](of *map[K]*V, key K, make_ func() *V) *V {
	v := (*of)[key]
	if v == nil {
		v = make_()
		if *of == nil {
			*of = make(map[K]*V)
		}
		(*of)[key] = v
	}
	return v
}

// text sets the rules for strings.
func (m *maker) text(r *program.Rules, s *schema.Structural, format string) {
	key := textKey{pattern: s.Pattern, least: 0, most: math.MaxInt, hasEnum: len(s.Enum) > 0}
	if validate.KnownFormat(format) != nil {
		key.format = format
	}
	if s.MinLength != nil {
		key.least = int(min(max(*s.MinLength, 0), math.MaxInt32))
	}
	if s.MaxLength != nil {
		key.most = int(min(*s.MaxLength, math.MaxInt32))
	}
	var enum enumBuilder
	for _, raw := range s.Enum {
		x, _ := validate.Decode(raw)
		if text, ok := x.(string); ok {
			enum.add(text)
		}
	}
	key.enum = enum.String()
	if key != (textKey{most: math.MaxInt}) {
		r.Text = m.keepText(key)
	}
}

func (m *maker) keepText(key textKey) program.Checker {
	c := m.texts[key]
	if c == nil {
		c = m.newText(key)
		if m.texts == nil {
			m.texts, m.keys = make(map[textKey]program.Checker), make(map[program.Checker]textKey)
		}
		m.texts[key], m.keys[c] = c, key
	}
	return c
}

// Validator is a method of schema's ruleMaker.
func (m *maker) Validator(
	s *schema.Structural, c *schema.CRD, v *schema.Version, isResource bool,
) program.Validator {
	k := &validate.Kind{Schema: s}
	if v != nil {
		k = validate.KindOf(c, v)
	}
	made := &validator{kind: k, isResource: isResource}
	// A definition has no schema that contains itself; that of a kind in an OpenAPI document may.
	if m.rules != nil && s != nil && infinite(s) == "" {
		made.compile(s, m.rules)
	}
	return made
}

// A validator validates the objects of a kind exactly.
type validator struct {
	kind       *validate.Kind
	isResource bool
	rules      Rules // or nil
	// The parts that rules read of an object, and of the one that it replaces.
	self, oldSelf *Selection
	mu            sync.Mutex
	free          []*validate.Validator // each serves one goroutine at a time
}

func (v *validator) take() *validate.Validator {
	v.mu.Lock()
	defer v.mu.Unlock()
	if n := len(v.free); n > 0 {
		of := v.free[n-1]
		v.free = v.free[:n-1]
		return of
	}
	return new(validate.Validator)
}

func (v *validator) give(of *validate.Validator) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.free = append(v.free, of)
}

// Validate is the method of program.Validator.
func (v *validator) Validate(object []byte, as program.Request, steps int) ([]program.Error, bool) {
	return v.ValidateUpdate(object, nil, as, steps)
}

// ValidateUpdate is the method of program.Validator.
func (v *validator) ValidateUpdate(
	object, old []byte, as program.Request, steps int,
) ([]program.Error, bool) {
	x, err := validate.Decode(object)
	var was any
	if err == nil {
		was, err = validate.Decode(old)
	}
	if err != nil {
		return []program.Error{{ValueError: errors.ValueError{Kind: errors.SchemaInvalid, Msg: err.Error()}}}, true
	}
	by := v.take()
	defer v.give(by)
	return listed(v.errors(by, x, was, as, &steps)), steps >= 0
}

// listed returns errors as the decoder takes them.
func listed(errs []validate.Error) (list []program.Error) {
	for i := range errs {
		e := &errs[i]
		list = append(list, program.Error{
			Path: e.Segments(),
			ValueError: errors.ValueError{
				Kind: e.Kind, Rule: e.Rule, Field: strings.TrimPrefix(e.Field, "."),
				Value: e.Value, Msg: e.Msg, Allowed: e.Allowed(),
			},
			IsOld: e.IsOld, Hinders: e.Hinders(),
		})
	}
	return list
}

// ValidatePart is the method of program.Validator.
func (v *validator) ValidatePart(p *program.Part, as program.Request, steps *int) []program.Error {
	scope := v.scope(as)
	by := v.take()
	defer v.give(by)
	*steps -= stepsOf(p.Path)
	switch {
	case p.IsArray:
		return listed(by.Elements(v.kind, scope, p.Path, p.Elements, steps))
	case p.Value == nil:
		return listed(by.Members(v.kind, scope, p.Path, p.Names, steps))
	}
	x, err := validate.Decode(p.Value)
	if err != nil {
		return []program.Error{{ValueError: errors.ValueError{Kind: errors.SchemaInvalid, Msg: err.Error()}}}
	}
	if len(p.Path) == 0 {
		return listed(v.errors(by, x, nil, as, steps))
	}
	if as&program.AsSent != 0 {
		x = validate.Settle(v.kind, scope, p.Path, x)
	}
	return listed(by.At(v.kind, scope, p.Path, x, steps))
}

// stepsOf returns how many steps it takes to go to the end of a path. Its names are copied.
func stepsOf(path []errors.Segment) (steps int) {
	for i := range path {
		steps += 4 + len(path[i].Name)/4
	}
	return steps
}

// scope returns what objects are validated for.
func (v *validator) scope(as program.Request) validate.Scope {
	switch {
	case !v.isResource:
		return validate.OfAnything
	case as&^program.AsSent == program.StatusUpdate:
		return validate.OfStatusUpdate
	case as&^program.AsSent == program.Update:
		return validate.OfUpdate
	}
	return validate.OfCreate
}

// ValidateType is the method of program.Validator.
func (v *validator) ValidateType(apiVersion, kind []byte) []program.Error {
	if !v.isResource {
		return nil
	}
	var texts [2]any
	for i, of := range []struct {
		text []byte
		want string
	}{{apiVersion, v.kind.APIVersion}, {kind, v.kind.Kind}} {
		if texts[i] = of.want; len(of.text) > 0 {
			texts[i], _ = validate.Decode(of.text) // what is decoded is well-formed
		}
	}
	steps := math.MaxInt
	by := v.take()
	defer v.give(by)
	return listed(by.Type(v.kind, texts[0], texts[1], &steps))
}

// Warnings is the method of program.Validator.
func (v *validator) Warnings(owners, finalizers []byte) []string {
	metadata := make(map[string]any)
	for name, text := range map[string][]byte{"ownerReferences": owners, "finalizers": finalizers} {
		metadata[name], _ = validate.Decode(text) // what is decoded is well-formed
	}
	by := v.take()
	defer v.give(by)
	return by.Warnings(map[string]any{"metadata": metadata})
}

func (v *validator) errors(
	by *validate.Validator, x, old any, as program.Request, steps *int,
) []validate.Error {
	scope := v.scope(as)
	if as&program.AsSent != 0 {
		x = validate.Settle(v.kind, scope, nil, x)
		if old != nil {
			old = validate.Settle(v.kind, scope, nil, old)
		}
	}
	object, isObject := x.(map[string]any)
	was, isUpdate := old.(map[string]any)
	switch {
	case scope == validate.OfAnything || !isObject:
		if isUpdate {
			return by.PartUpdate(v.kind, x, old, steps)
		}
		return by.Part(v.kind.Schema, x, steps)
	case scope == validate.OfUpdate && isUpdate:
		return by.Update(v.kind, object, was, steps)
	case scope == validate.OfStatusUpdate && isUpdate:
		return by.StatusUpdateOf(v.kind, object, was, steps)
	case scope == validate.OfStatusUpdate:
		return by.StatusUpdate(v.kind, object, steps)
	}
	return by.Create(v.kind, object, steps)
}
