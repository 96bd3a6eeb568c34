package explain

import (
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// A explanation is what becomes of a value, and why.
type explanation struct {
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

// explain compares the object with its result.
func explain(o *examine.Object, way []waypoint, steps []locate.Step) explanation {
	before, was := locate.Value(o.Doc.JSON, steps)
	after, is := locate.Value(o.Result, steps)
	last := way[len(way)-1]
	for i := range o.Mismatches {
		if m := &o.Mismatches[i]; was && m.Path.Compare(locate.FieldPath(steps)) == 0 {
			return explanation{goes: true, what: "is refused", why: m.Error(), rule: ruleTyped}
		}
	}
	for i := range o.Findings {
		if f := &o.Findings[i]; was && f.Rule == finding.RuleFormat && f.Field.Compare(locate.FieldPath(steps)) == 0 {
			return explanation{goes: true, what: "is refused", why: f.Message, rule: ruleUndecoded}
		}
	}
	switch {
	case was && is && before.Kind() == 'n' && after.Kind() != 'n':
		return explanation{what: "was null and becomes " + brief(after), why: "the schema has a default for it and does not say nullable", rule: ruleNullFilled}
	case was && is:
		return stays(last, steps)
	case is:
		return defaulted(way, o.Doc.JSON, steps, brief(after))
	case was:
		return goes(o, way, steps, before.Kind() == 'n')
	}
	return absent(o, way, steps)
}

func stays(last waypoint, steps []locate.Step) explanation {
	f := explanation{what: "stays", rule: ruleDeclared, why: "the schema specifies it"}
	switch {
	case last.implicit:
		f.why, f.rule = "every resource has it", ruleImplicit
	case last.depth < len(steps) || last.via == viaPreserve:
		f.why, f.rule = "unknown fields are preserved within "+locate.Spelled(steps[:last.preservedAt]), rulePreserve
	case last.via == viaMap:
		f.why, f.rule = "the object that it is in is a map", ruleMap
	}
	return f
}

func goes(o *examine.Object, way []waypoint, steps []locate.Step, isNull bool) explanation {
	for n := 1; n < len(steps); n++ {
		if _, kept := locate.Value(o.Result, steps[:n]); !kept {
			above := goes(o, way, steps[:n], false)
			above.why = locate.Spelled(steps[:n]) + " goes, with all that is in it: " + above.why
			return above
		}
	}
	f := explanation{goes: true, what: "goes", rule: rulePrune}
	// The waypoint of the value itself, where several lead further.
	last := way[min(len(way)-1, len(steps))]
	parent := o.Program.FieldNames(locate.FieldPath(steps[:len(steps)-1]))
	isUndeclared := last.undeclared && last.depth < len(steps)
	switch {
	case isNull && last.inMetadata && slices.Contains(parent, steps[len(steps)-1].Name):
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
func (f *explanation) suggest(o *examine.Object, last waypoint, steps []locate.Step) {
	path := locate.FieldPath(steps)
	at, n := last.node, last.depth
	isIndex := n < len(steps) && steps[n].Index >= 0
	switch {
	case at != nil && at.Items != nil && !isIndex:
		f.hint = locate.Spelled(steps[:n]) + " is an array: its elements are called " + locate.Spelled(steps[:n]) + "[0] and so on"
		return
	case at != nil && isIndex:
		f.hint = locate.Spelled(steps[:n]) + " is no array in the schema"
		return
	case at != nil && at.Type != "" && at.Type != "object":
		f.hint = locate.Spelled(steps[:n]) + " is " + withArticle(at.Type) + " in the schema, and holds no fields"
		return
	case n+1 < len(steps):
		// What is missing is the first step that leads nowhere.
		path = locate.FieldPath(steps[:n+1])
	}
	f.why += suggest.Advice(o.Program, path, suggest.Field(o.Program, path))
	if names := o.Program.FieldNames(locate.FieldPath(steps[:min(n, len(steps)-1)])); len(names) > 0 {
		f.hint = "declared there: " + listed(names)
	}
}

func withArticle(typ string) string {
	if typ == "integer" || typ == "array" || typ == "object" {
		return "an " + typ
	}
	return "a " + typ
}

func defaulted(way []waypoint, js []byte, steps []locate.Step, value string) explanation {
	f := explanation{what: "was absent and becomes " + value, rule: ruleDefault, why: "a default has it"}
	for n := 1; n <= len(steps); n++ {
		there, was := locate.Value(js, steps[:n])
		if was && there.Kind() != 'n' {
			continue
		}
		if w := way[min(n, len(way)-1)]; w.node != nil {
			f.why = "the schema has the default " + brief(w.node.Default) + " for " + locate.Spelled(steps[:n])
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

func absent(o *examine.Object, way []waypoint, steps []locate.Step) explanation {
	f := explanation{what: "is absent, and stays so", rule: ruleDefault}
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
func blockedBy(o *examine.Object, steps []locate.Step) (text string, byNull bool) {
	for n := 1; n < len(steps); n++ {
		there, was := locate.Value(o.Doc.JSON, steps[:n])
		_, kept := locate.Value(o.Result, steps[:n])
		text = locate.Spelled(steps[:n]) + ", which it is in, is "
		switch kind := there.Kind(); {
		case !was:
			return text + "absent and has none", false
		case kind == 'n' && !kept:
			return text + "null, and goes", true
		case kind == 'n':
			return text + "null", false
		case kind != '{' && steps[n].Index < 0 || kind != '[' && steps[n].Index >= 0:
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
func isInMetadata(o *examine.Object, steps []locate.Step, depth int) bool {
	for n := depth; n < len(steps); n++ {
		names := o.Program.FieldNames(locate.FieldPath(steps[:n]))
		if len(names) > 0 && !slices.Contains(names, steps[n].Name) {
			return false
		}
	}
	return true
}
