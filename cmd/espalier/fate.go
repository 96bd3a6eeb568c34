package main

import (
	"slices"

	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A fate is what becomes of a value, and why.
type fate struct {
	goes                  bool
	unknown               bool // neither the object nor the schema has it
	what, why, hint, rule string
}

// The rules, with where they are written down.
const (
	rulePrune      = "unknown fields are pruned (KEP-2332, Custom Resource Definitions: Field pruning)"
	rulePreserve   = "what is below x-kubernetes-preserve-unknown-fields: true stays, but fields that are specified there are pruned (KEP-2332)"
	ruleImplicit   = "apiVersion, kind and metadata are specified implicitly, and metadata has the fields of ObjectMeta (KEP-2332, proposal 4)"
	ruleDeclared   = "what the schema specifies stays"
	ruleMap        = "additionalProperties specifies all names"
	ruleDefault    = "a default is inserted where the field is absent from an object that is there (KEP-575)"
	ruleNullGone   = "a null is dropped where the field is not nullable and has no default"
	ruleNullFilled = "a null is replaced by the default where the field is not nullable"
	ruleUndecoded  = "an object with a value that cannot be decoded is refused as a whole"
	ruleTyped      = "an object with a value of another type than the schema gives is refused as a whole"
)

// fateOf compares the object with its result.
func fateOf(o *object, way []waypoint, steps []step) fate {
	before, was := valueAt(o.doc.json, steps)
	after, is := valueAt(o.result, steps)
	last := way[len(way)-1]
	for i := range o.mismatches {
		if m := &o.mismatches[i]; was && m.Path.Compare(pathOf(steps)) == 0 {
			return fate{goes: true, what: "is refused", why: m.Error(), rule: ruleTyped}
		}
	}
	for i := range o.findings {
		if f := &o.findings[i]; was && f.rule == ruleFormat && f.field.Compare(pathOf(steps)) == 0 {
			return fate{goes: true, what: "is refused", why: f.message, rule: ruleUndecoded}
		}
	}
	switch {
	case was && is && before.Kind() == 'n' && after.Kind() != 'n':
		return fate{what: "was null and becomes " + brief(after), why: "the schema has a default for it and does not say nullable", rule: ruleNullFilled}
	case was && is:
		return stays(last, steps)
	case is:
		return defaulted(way, o.doc.json, steps, brief(after))
	case was:
		return goes(o, way, steps, before.Kind() == 'n')
	}
	return absent(o, way, steps)
}

func stays(last waypoint, steps []step) fate {
	f := fate{what: "stays", rule: ruleDeclared, why: "the schema specifies it"}
	switch {
	case last.implicit:
		f.why, f.rule = "every resource has it", ruleImplicit
	case last.depth < len(steps) || last.via == viaPreserve:
		f.why, f.rule = "unknown fields are preserved within "+spelled(steps[:last.preservedAt]), rulePreserve
	case last.via == viaMap:
		f.why, f.rule = "the object that it is in is a map", ruleMap
	}
	return f
}

func goes(o *object, way []waypoint, steps []step, isNull bool) fate {
	for n := 1; n < len(steps); n++ {
		if _, kept := valueAt(o.result, steps[:n]); !kept {
			above := goes(o, way, steps[:n], false)
			above.why = spelled(steps[:n]) + " goes, with all that is in it: " + above.why
			return above
		}
	}
	f := fate{goes: true, what: "goes", rule: rulePrune}
	// The waypoint of the value itself, where several lead further.
	last := way[min(len(way)-1, len(steps))]
	parent := o.program.FieldNames(pathOf(steps[:len(steps)-1]))
	isUndeclared := last.undeclared && last.depth < len(steps)
	switch {
	case isNull && last.inMetadata && slices.Contains(parent, steps[len(steps)-1].name):
		f.why, f.rule = "it is null, and metadata has no nulls", ruleNullGone
	case isNull && last.depth >= len(steps):
		f.why, f.rule = "it is null, and the schema neither says nullable nor has a default", ruleNullGone
	case last.inMetadata:
		f.why, f.rule = "metadata has no such field", ruleImplicit
		isUndeclared = true
	case !isUndeclared:
		f.why = "the schema specifies nothing at this place"
	default:
		f.why = "the schema does not declare it"
	}
	if isUndeclared {
		f.suggest(o, last, steps)
	}
	return f
}

// suggest adds what may have been meant by a path that the schema does not have.
func (f *fate) suggest(o *object, last waypoint, steps []step) {
	path := pathOf(steps)
	at, n := last.node, last.depth
	isIndex := n < len(steps) && steps[n].index >= 0
	switch {
	case at != nil && at.Items != nil && !isIndex:
		f.hint = spelled(steps[:n]) + " is an array: its elements are called " + spelled(steps[:n]) + "[0] and so on"
		return
	case at != nil && isIndex:
		f.hint = spelled(steps[:n]) + " is no array in the schema"
		return
	case at != nil && at.Type != "" && at.Type != "object":
		f.hint = spelled(steps[:n]) + " is " + withArticle(at.Type) + " in the schema, and holds no fields"
		return
	case n+1 < len(steps):
		// What is missing is the first step that leads nowhere.
		path = pathOf(steps[:n+1])
	}
	f.why += advice(o.program, path, suggestion(o.program, path))
	if names := o.program.FieldNames(pathOf(steps[:min(n, len(steps)-1)])); len(names) > 0 {
		f.hint = "declared there: " + listed(names)
	}
}

func withArticle(typ string) string {
	if typ == "integer" || typ == "array" || typ == "object" {
		return "an " + typ
	}
	return "a " + typ
}

func defaulted(way []waypoint, js []byte, steps []step, value string) fate {
	f := fate{what: "was absent and becomes " + value, rule: ruleDefault, why: "a default has it"}
	for n := 1; n <= len(steps); n++ {
		there, was := valueAt(js, steps[:n])
		if was && there.Kind() != 'n' {
			continue
		}
		if w := way[min(n, len(way)-1)]; w.node != nil {
			f.why = "the schema has the default " + brief(w.node.Default) + " for " + spelled(steps[:n])
		}
		if was {
			f.why += ", which is null"
			f.rule = ruleNullFilled
		}
		if n < len(steps) {
			f.why += "; that is itself completed by the defaults within it"
		}
		break
	}
	return f
}

func absent(o *object, way []waypoint, steps []step) fate {
	f := fate{what: "is absent, and stays so", rule: ruleDefault}
	last := way[len(way)-1]
	switch {
	case last.inMetadata && !isInMetadata(o, steps, last.depth):
		f.what, f.why, f.rule, f.unknown = "is not there, and would be pruned", "metadata has no such field", ruleImplicit, true
		f.suggest(o, last, steps)
		return f
	case last.undeclared && last.depth < len(steps):
		f.what, f.why, f.rule, f.unknown = "is not there, and would be pruned", "the schema has no such field", rulePrune, true
		f.suggest(o, last, steps)
		return f
	}
	blocked, byNull := blockedBy(o, steps)
	if byNull {
		f.rule = ruleNullGone
	}
	has, and := "a default", ", but "
	if last.node == nil || len(last.node.Default) == 0 {
		has, and = "no default", ", and "
	}
	f.why = "the schema has " + has + " for it"
	if blocked != "" {
		f.why += and + blocked
	}
	return f
}

// blockedBy says what on the way to a value keeps a default from being inserted, and whether
// that is a null that goes.
func blockedBy(o *object, steps []step) (text string, byNull bool) {
	for n := 1; n < len(steps); n++ {
		there, was := valueAt(o.doc.json, steps[:n])
		_, kept := valueAt(o.result, steps[:n])
		text = spelled(steps[:n]) + ", which it is in, is "
		switch kind := there.Kind(); {
		case !was:
			return text + "absent and has none", false
		case kind == 'n' && !kept:
			return text + "null, and goes", true
		case kind == 'n':
			return text + "null", false
		case kind != '{' && steps[n].index < 0 || kind != '[' && steps[n].index >= 0:
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

// isInMetadata reports whether metadata, to which the first steps lead, may have a value at a
// path.
func isInMetadata(o *object, steps []step, depth int) bool {
	for n := depth; n < len(steps); n++ {
		names := o.program.FieldNames(pathOf(steps[:n]))
		if len(names) > 0 && !slices.Contains(names, steps[n].name) {
			return false
		}
	}
	return true
}
