package explain

import (
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/schema"
)

// A decision is what becomes of a value, and why.
type decision struct {
	removed               bool
	unknown               bool // neither the object nor the schema has the value
	what, why, hint, rule string
	more                  []string // further reasons
}

// The rules, with the places where they are written down.
const (
	rulePruned        = "unknown fields are pruned (KEP-2332, Custom Resource Definitions: Field pruning)"
	rulePreserved     = "x-kubernetes-preserve-unknown-fields: true keeps all fields below, and prunes only within those that are specified (KEP-2332)"
	ruleImplicit      = "apiVersion, kind and metadata are specified implicitly, and metadata has the fields of ObjectMeta (KEP-2332, proposal 4)"
	ruleSpecified     = "fields that the schema specifies are kept"
	ruleMap           = "additionalProperties specifies all names"
	ruleElement       = "only fields are pruned, and elements of arrays are none"
	ruleDefault       = "a default is inserted if its field is absent from an object that is there (KEP-575)"
	ruleNullDropped   = "a null is dropped if its field is not nullable and has no default"
	ruleNullDefaulted = "a null is replaced by the default if its field is not nullable"
	ruleUndecodable   = "an object with a value that cannot be decoded is refused as a whole"
	ruleInvalid       = "an object is validated after it was pruned and defaulted, and refused as a whole (Custom Resource Definitions: Validation)"
	ruleMistyped      = "an object with a value of another type than the schema's is refused as a whole"
)

// A question is about the value at a path of an object.
type question struct {
	object *examine.Object
	path   []locate.Step
	trace  []schema.Step // trace[n] is for path[:n], up to the first that is pruned
}

// place returns the step for the first n elements of the path, or the last one
// before that.
func (q *question) place(n int) schema.Step { return q.trace[min(n, len(q.trace)-1)] }

// unspecified returns after how many elements the path leaves the schema, within
// the first n of it: at a field that is not declared, or at an index into what is
// no array. It is 0 if it does not, or leaves what is not specified itself.
func (q *question) unspecified(n int) int {
	for i := 1; i <= n && i < len(q.trace); i++ {
		above := q.trace[i-1]
		switch q.trace[i].Kind {
		case schema.StepPruned:
			if above.Schema == nil && above.Kind != schema.StepImplicit {
				return 0
			}
			return i
		case schema.StepUnspecified:
			if above.Schema != nil && above.Schema.Type != "" && above.Schema.Type != "array" {
				return i
			}
		}
	}
	return 0
}

// decide compares the object with its result.
func (q *question) decide() decision {
	o, path := q.object, locate.FieldPath(q.path)
	before, was := locate.Value(o.Doc.JSON, q.path)
	after, is := locate.Value(o.Result, q.path)
	for i := range o.Mismatches {
		if m := &o.Mismatches[i]; was && m.Path.Compare(path) == 0 {
			return decision{removed: true, what: "is refused", why: m.Error(), rule: ruleMistyped}
		}
	}
	for i := range o.Findings {
		if f := &o.Findings[i]; was && f.Rule == finding.RuleFormat && f.Field.Compare(path) == 0 {
			return decision{removed: true, what: "is refused", why: f.Message, rule: ruleUndecodable}
		}
	}
	if why := q.invalid(path); why != nil {
		d := decision{removed: true, what: "is refused", why: why[0], more: why[1:], rule: ruleInvalid}
		switch {
		case !was && is:
			d.what = "was absent, becomes " + brief(after) + ", and is refused"
		case !is:
			d.what = "is absent, and the object is refused"
		}
		return d
	}
	switch {
	case was && is && before.Kind() == 'n' && after.Kind() != 'n':
		return decision{what: "was null and becomes " + brief(after), why: "the schema has a default for it and does not say nullable", rule: ruleNullDefaulted}
	case was && is:
		return q.kept()
	case is:
		return q.defaulted(brief(after))
	case was:
		return q.removed(len(q.path), before.Kind() == 'n')
	}
	return q.absent()
}

// invalid returns why the API server refuses the value at a path, and where the definition says so.
func (q *question) invalid(path errors.Path) (why []string) {
	for i := range q.object.Findings {
		f := &q.object.Findings[i]
		if f.Invalid == nil || f.Field.Compare(path) != 0 {
			continue
		}
		text := f.Message
		if f.Definition.At.IsValid() {
			text += " (" + f.Definition.String() + ")"
		}
		why = append(why, text)
	}
	return why
}

// kept says why the value is the same as before.
func (q *question) kept() decision {
	d := decision{what: "is kept", rule: ruleSpecified, why: "the schema specifies it"}
	switch q.place(len(q.path)).Kind {
	case schema.StepImplicit:
		d.why, d.rule = "every resource has it", ruleImplicit
		if q.place(len(q.path)-1).Kind == schema.StepImplicit {
			d.why = "metadata has this field"
		}
	case schema.StepPreserved:
		d.why, d.rule = "unknown fields are preserved within "+locate.Spelled(q.path[:q.preserver()]), rulePreserved
	case schema.StepValue:
		d.why, d.rule = "the object that it is in is a map", ruleMap
	case schema.StepUnspecified:
		d.why, d.rule = "the schema does not specify the elements of this array", ruleElement
	}
	return d
}

// preserver returns how much of the path leads to the schema by which unknown
// fields are preserved.
func (q *question) preserver() int {
	first := 0
	for q.place(first+1).Kind != schema.StepPreserved {
		first++
	}
	for n := first; n >= 0; n-- {
		if preserves(q.trace[n].Schema) {
			return n
		}
	}
	return first // the whole definition preserves them
}

// removed says why the value at the first n elements of the path, a null or
// not, is not in the result.
func (q *question) removed(n int, isNull bool) decision {
	for i := 1; i < n; i++ {
		if _, isKept := locate.Value(q.object.Result, q.path[:i]); !isKept {
			above := q.removed(i, false)
			above.why = locate.Spelled(q.path[:i]) + " is removed with everything in it: " + above.why
			return above
		}
	}
	d := decision{removed: true, what: "is pruned", rule: rulePruned, why: "the schema specifies nothing at this place"}
	at, left := q.place(n), q.unspecified(n)
	switch {
	case isNull && (at.Kind == schema.StepImplicit || at.Kind == schema.StepPruned && at.Null == schema.NullDropped):
		d.what, d.why, d.rule = "is dropped", "it is null, and metadata has no nulls", ruleNullDropped
	case isNull && at.Kind != schema.StepPruned:
		d.what, d.why, d.rule = "is dropped", "it is null, and the schema neither says nullable nor has a default", ruleNullDropped
	case left > 0 && q.trace[left-1].Kind == schema.StepImplicit:
		d.why, d.rule = "metadata has no such field", ruleImplicit
		q.suggest(&d, left)
	case left > 0:
		d.why = "the schema does not declare it"
		q.suggest(&d, left)
	}
	return d
}

// suggest adds the name that may have been meant by the element of the path
// after which the schema is left.
func (q *question) suggest(d *decision, left int) {
	above, spelled := q.trace[left-1].Schema, locate.Spelled(q.path[:left-1])
	isIndex := q.path[left-1].Index >= 0
	switch {
	case above != nil && above.Items != nil && !isIndex:
		d.hint = spelled + " is an array: its elements are called " + spelled + "[0] and so on"
		return
	case above != nil && isIndex:
		d.hint = spelled + " is no array in the schema"
		return
	case above != nil && above.Type != "" && above.Type != "object":
		d.hint = spelled + " is " + withArticle(above.Type) + " in the schema, and holds no fields"
		return
	}
	path, program := locate.FieldPath(q.path[:left]), q.object.Program
	d.why += suggest.Advice(program, path, suggest.Field(program, path))
	if names := program.FieldNames(locate.FieldPath(q.path[:left-1])); len(names) > 0 {
		d.hint = "declared there: " + listed(names)
	}
}

func withArticle(typ string) string {
	if typ == "integer" || typ == "array" || typ == "object" {
		return "an " + typ
	}
	return "a " + typ
}

// defaulted says which default the value comes from.
func (q *question) defaulted(value string) decision {
	d := decision{what: "was absent and becomes " + value, rule: ruleDefault, why: "it is part of a default"}
	for n := 1; n <= len(q.path); n++ {
		there, was := locate.Value(q.object.Doc.JSON, q.path[:n])
		if was && there.Kind() != 'n' {
			continue
		}
		if s := q.place(n).Schema; s != nil {
			d.why = "the schema has the default " + brief(s.Default) + " for " + locate.Spelled(q.path[:n])
		}
		if was {
			d.why += ", which is null"
			d.rule = ruleNullDefaulted
		}
		if n < len(q.path) {
			d.why += ", and completes it with the defaults within it"
		}
		break
	}
	return d
}

// absent says why no default is inserted.
func (q *question) absent() decision {
	d := decision{what: "is absent, and no default is inserted", rule: ruleDefault}
	if left := q.unspecified(len(q.path)); left > 0 {
		d.what, d.why, d.rule, d.unknown = "is absent, and would be pruned", "the schema has no such field", rulePruned, true
		if q.trace[left-1].Kind == schema.StepImplicit {
			d.why, d.rule = "metadata has no such field", ruleImplicit
		}
		q.suggest(&d, left)
		return d
	}
	obstacle, isNull := q.obstacle()
	if isNull {
		d.rule = ruleNullDropped
	}
	has, and := "a default", ", but "
	if s := q.place(len(q.path)).Schema; s == nil || len(s.Default) == 0 {
		has, and = "no default", ", and "
	}
	d.why = "the schema has " + has + " for it"
	if obstacle != "" {
		d.why += and + obstacle
	}
	return d
}

// obstacle returns what is on the way to the value that keeps a default from
// being inserted, and whether that is a null that is dropped.
func (q *question) obstacle() (text string, isNull bool) {
	for n := 1; n < len(q.path); n++ {
		there, was := locate.Value(q.object.Doc.JSON, q.path[:n])
		_, isKept := locate.Value(q.object.Result, q.path[:n])
		text = locate.Spelled(q.path[:n]) + ", which it is in, is "
		switch kind := there.Kind(); {
		case !was:
			return text + "absent and has none", false
		case kind == 'n' && !isKept:
			return text + "null, and is dropped", true
		case kind == 'n':
			return text + "null", false
		case kind != '{' && q.path[n].Index < 0 || kind != '[' && q.path[n].Index >= 0:
			return text + withArticle(kindName(kind)), false
		}
	}
	return "", false
}

func kindName(kind jsonv2.Kind) string {
	switch kind {
	case '{':
		return "object"
	case '[':
		return "array"
	case '0':
		return "number"
	case '"':
		return "string"
	}
	return "boolean"
}
