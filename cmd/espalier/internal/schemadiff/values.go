package schemadiff

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// This file compares which values two schemas allow. What is tightened refuses values that were
// accepted. Where that cannot be known, as for patterns and oneOf, the keyword has changed.

// types are the JSON types that a schema allows, as bits.
type types uint8

const (
	strings_ types = 1 << iota
	integers
	fractions // numbers that are no integers
	booleans
	objects
	arrays
	anything = strings_ | integers | fractions | booleans | objects | arrays
)

var typeBits = map[string]types{
	"string": strings_, "integer": integers, "number": integers | fractions, "boolean": booleans,
	"object": objects, "array": arrays, "integer,string": integers | strings_, "": anything,
}

func typesOf(s *schema.Structural) types {
	names, _ := validate.TypesAndFormat(s)
	return typeBits[names]
}

func typesText(s *schema.Structural) string {
	names, _ := validate.TypesAndFormat(s)
	switch names {
	case "":
		return "any"
	case "integer,string":
		return "integer or string"
	}
	return names
}

// types compares the types at a place, and reports whether a value can have both.
func (c *comparer) types(old, updated node, at *place) bool {
	s, t := old.schema(), updated.schema()
	was, is := typesOf(s), typesOf(t)
	keyword := "type"
	if s.XIntOrString || t.XIntOrString {
		keyword = ""
	}
	message := fmt.Sprintf("the type was %s and is %s", typesText(s), typesText(t))
	switch gone := was &^ is; {
	case gone&(objects|arrays) != 0:
		c.add(Data, RuleType, at, old, updated, keyword, message+": other values are refused, and stored ones lose what is in them")
	case gone != 0:
		c.add(Data, RuleType, at, old, updated, keyword, message+": other values are refused, and stored ones stay as they are")
	case was != is:
		c.add(Harmless, RuleTypeWidened, at, old, updated, keyword, message)
	}
	c.nullable(old, updated, at)
	return was&is != 0
}

// nullable compares whether nulls stay. Without a type they are valid, too.
func (c *comparer) nullable(old, updated node, at *place) {
	s, t := old.schema(), updated.schema()
	switch {
	case at == nil || s.Nullable == t.Nullable:
	case t.Nullable:
		c.add(Harmless, RuleNullableAdded, at, old, updated, "nullable", "null is allowed now")
	case hasDefault(t):
		c.add(Caution, RuleNullableRemoved, at, old, updated, "nullable", "null is no longer allowed, and becomes the default "+shown(t.Default))
	case at.Kind == Element:
		c.add(Client, RuleNullableRemoved, at, old, updated, "nullable", "null is no longer allowed: lists that have one are refused")
	default:
		c.add(Caution, RuleNullableRemoved, at, old, updated, "nullable", "null is no longer allowed: objects lose the field where it is null")
	}
}

// values compares the keywords that say which values are valid.
func (c *comparer) values(old, updated node, at *place) {
	s, t := old.schema(), updated.schema()
	r := valueReport{c, old, updated, at}
	r.bound("maximum", upper(s), upper(t), -1)
	r.bound("minimum", lower(s), lower(t), 1)
	for _, k := range []struct {
		name     string
		old, new *int64
		sign     float64
	}{
		{"maxLength", s.MaxLength, t.MaxLength, -1}, {"minLength", s.MinLength, t.MinLength, 1},
		{"maxItems", s.MaxItems, t.MaxItems, -1}, {"minItems", s.MinItems, t.MinItems, 1},
		{"maxProperties", s.MaxProperties, t.MaxProperties, -1}, {"minProperties", s.MinProperties, t.MinProperties, 1},
	} {
		r.bound(k.name, limit{value: float(k.old)}, limit{value: float(k.new)}, k.sign)
	}
	r.multiple(s.MultipleOf, t.MultipleOf)
	_, format := validate.TypesAndFormat(s)
	_, newFormat := validate.TypesAndFormat(t)
	r.text("format", format, newFormat)
	r.text("pattern", s.Pattern, t.Pattern)
	r.enum(s.Enum, t.Enum)
	r.lists(s, t)
	r.rules(s.XValidations, t.XValidations)
	r.junctors(s, t)
	r.flag("uniqueItems", s.UniqueItems, t.UniqueItems, "elements must differ")
	r.embedded(s, t)
	r.flag("additionalProperties", isClosed(s), isClosed(t), "members that are not under properties are refused")
}

// isClosed reports whether members that are not declared are refused, and not pruned.
func isClosed(s *schema.Structural) bool {
	return s.AdditionalProperties != nil && !s.AdditionalProperties.Allows && s.AdditionalProperties.Schema == nil
}

// A valueReport adds changes of values at a place.
type valueReport struct {
	*comparer
	from, to node
	at       *place
}

func (r *valueReport) tightened(keyword, message string) {
	r.add(Client, Tightened+keyword, r.at, r.from, r.to, keyword, message)
}

func (r *valueReport) loosened(keyword, message string) {
	r.add(Harmless, Loosened+keyword, r.at, r.from, r.to, keyword, message)
}

func (r *valueReport) changed(severity Severity, keyword, message string) {
	r.add(severity, Changed+keyword, r.at, r.from, r.to, keyword, message)
}

// A limit is a bound, if there is a value.
type limit struct {
	value     *float64
	exclusive bool
}

// String returns the bound as text. It is empty if there is none.
func (l limit) String() string {
	if l.value == nil {
		return ""
	}
	text := strconv.FormatFloat(*l.value, 'g', -1, 64)
	if *l.value == math.Trunc(*l.value) && math.Abs(*l.value) < 1<<53 {
		text = strconv.FormatInt(int64(*l.value), 10)
	}
	if l.exclusive {
		text += " (exclusive)"
	}
	return text
}

func upper(s *schema.Structural) limit { return limit{s.Maximum, s.ExclusiveMaximum} }
func lower(s *schema.Structural) limit { return limit{s.Minimum, s.ExclusiveMinimum} }

func float(n *int64) *float64 {
	if n == nil {
		return nil
	}
	return new(float64(*n))
}

// bound compares two bounds. A greater one is stricter if the sign is 1.
func (r *valueReport) bound(keyword string, old, updated limit, sign float64) {
	stricter := func(a, b limit) bool { // a than b
		switch {
		case a.value == nil:
			return false
		case b.value == nil:
			// No text, list or object has less than nothing.
			return !strings.HasPrefix(keyword, "min") || keyword == "minimum" || *a.value > 0
		case *a.value == *b.value:
			return a.exclusive && !b.exclusive
		}
		return sign*(*a.value-*b.value) > 0
	}
	message := between(keyword, old.String(), updated.String())
	switch {
	case stricter(updated, old):
		r.tightened(keyword, message)
	case stricter(old, updated):
		r.loosened(keyword, message)
	}
}

func (r *valueReport) multiple(old, updated *float64) {
	message := between("multipleOf", limit{value: old}.String(), limit{value: updated}.String())
	switch {
	case reflect.DeepEqual(old, updated):
	case updated == nil || old != nil && math.Mod(*old, *updated) == 0:
		r.loosened("multipleOf", message)
	default:
		r.tightened("multipleOf", message)
	}
}

// text compares keywords of which nobody can say which one is stricter.
func (r *valueReport) text(keyword, old, updated string) {
	message := between(keyword, short(old), short(updated))
	switch {
	case old == updated:
	case old == "":
		r.tightened(keyword, message)
	case updated == "":
		r.loosened(keyword, message)
	default:
		r.changed(Client, keyword, message+": it is not known whether that is stricter")
	}
}

// between returns how a keyword has changed. An empty text is for none.
func between(keyword, old, updated string) string {
	switch {
	case old == "":
		return fmt.Sprintf("%s is %s, and there was none", keyword, updated)
	case updated == "":
		return fmt.Sprintf("%s %s is gone", keyword, old)
	}
	return fmt.Sprintf("%s was %s and is %s", keyword, old, updated)
}

func (r *valueReport) flag(keyword string, old, updated bool, message string) {
	switch {
	case updated && !old:
		r.tightened(keyword, "now "+message)
	case old && !updated:
		r.loosened(keyword, "no longer: "+message)
	}
}

// embedded compares whether a value is a resource. Its metadata then has the fields of ObjectMeta.
func (r *valueReport) embedded(s, t *schema.Structural) {
	const keyword = "x-kubernetes-embedded-resource"
	switch _, hadMetadata := r.from.member("metadata"); {
	case s.XEmbeddedResource == t.XEmbeddedResource:
	case s.XEmbeddedResource:
		r.loosened(keyword, "the value need not be a resource any more")
	case hadMetadata:
		r.add(Data, Tightened+keyword, r.at, r.from, r.to, keyword, "the value is a resource now: it needs apiVersion and kind, and loses what ObjectMeta does not have in metadata")
	default:
		r.tightened(keyword, "the value is a resource now: it needs apiVersion and kind")
	}
}

func (r *valueReport) enum(old, updated []json.RawMessage) {
	before, after := valueSet(old), valueSet(updated)
	var gone, more []string
	for _, v := range slices.Sorted(maps.Keys(before)) {
		if !after[v] {
			gone = append(gone, short(v))
		}
	}
	for _, v := range slices.Sorted(maps.Keys(after)) {
		if !before[v] {
			more = append(more, short(v))
		}
	}
	switch {
	case len(old) == 0 && len(updated) == 0:
	case len(old) == 0:
		r.tightened("enum", "only these values are allowed now: "+some(more))
	case len(updated) == 0:
		r.loosened("enum", "other values than those of the enum are allowed now")
	case len(gone) > 0 && len(more) > 0:
		r.tightened("enum", "no longer allowed: "+some(gone)+"; allowed now: "+some(more))
	case len(gone) > 0:
		r.tightened("enum", "no longer allowed: "+some(gone))
	case len(more) > 0:
		r.loosened("enum", "allowed now: "+some(more))
	}
}

// valueSet returns values in a spelling that equal ones share.
func valueSet(values []json.RawMessage) map[string]bool {
	set := map[string]bool{}
	for _, v := range values {
		set[canonical(v)] = true
	}
	return set
}

func canonical(v json.RawMessage) string {
	x, err := validate.Decode(v)
	if err != nil {
		return string(v)
	}
	js, err := jsonv2.Marshal(x, jsonv2.Deterministic(true))
	if err != nil {
		return string(v)
	}
	return string(js)
}

func sameValue(a, b json.RawMessage) bool { return canonical(a) == canonical(b) }

// shown returns a value for a message.
func shown(v json.RawMessage) string { return short(canonical(v)) }

// shownBoth returns two values that differ, from where they do on.
func shownBoth(a, b json.RawMessage) (old, updated string) {
	before, after := []rune(canonical(a)), []rune(canonical(b))
	same := 0
	for same < min(len(before), len(after)) && before[same] == after[same] {
		same++
	}
	const lead = 20
	if max(len(before), len(after)) > maxShown && same > 2*lead {
		from := same - lead
		return "..." + short(string(before[from:])), "..." + short(string(after[from:]))
	}
	return short(string(before)), short(string(after))
}

// maxShown bounds how much of a text messages show, and how many values.
const maxShown = 80

func short(text string) string {
	if runes := []rune(text); len(runes) > maxShown {
		return string(runes[:maxShown-3]) + "..."
	}
	return text
}

func some(texts []string) string {
	const most = 10
	if len(texts) > most {
		return fmt.Sprintf("%s and %d more", strings.Join(texts[:most], ", "), len(texts)-most)
	}
	return strings.Join(texts, ", ")
}

// lists compares how elements and members are told apart: by validation, and by server-side apply.
func (r *valueReport) lists(s, t *schema.Structural) {
	const listType, mapType, listKeys = "x-kubernetes-list-type", "x-kubernetes-map-type", "x-kubernetes-list-map-keys"
	was, is := or(s.XListType, "atomic"), or(t.XListType, "atomic")
	message := became("the list", was, is)
	switch {
	case was == is:
	case is == "atomic":
		r.changed(Caution, listType, message+": server-side apply replaces it as a whole, and elements may repeat")
	case was == "atomic":
		r.tightened(listType, message+": elements that repeat are refused, and server-side apply merges it")
	default:
		r.changed(Client, listType, message+": other elements count as repeated, and are refused")
	}
	if was == "map" && is == "map" && !sameNames(s.XListMapKeys, t.XListMapKeys) {
		severity, effect := Caution, ": server-side apply merges other elements"
		if !containsAll(t.XListMapKeys, s.XListMapKeys) {
			severity, effect = Client, ": other elements count as repeated, and are refused"
		}
		r.changed(severity, listKeys, became("the keys", strings.Join(s.XListMapKeys, ","), strings.Join(t.XListMapKeys, ","))+effect)
	}
	if was, is := or(s.XMapType, "granular"), or(t.XMapType, "granular"); was != is {
		r.changed(Caution, mapType, became("the object", was, is)+": server-side apply merges it, or replaces it as a whole")
	}
}

func or(text *string, otherwise string) string {
	if text == nil {
		return otherwise
	}
	return *text
}

func sameNames(a, b []string) bool { return containsAll(a, b) && containsAll(b, a) }

func containsAll(all, some []string) bool {
	set := map[string]bool{}
	for _, s := range all {
		set[s] = true
	}
	return !slices.ContainsFunc(some, func(s string) bool { return !set[s] })
}

// A rule is a rule in CEL, as far as it matters.
type rule struct {
	Rule            string `json:"rule"`
	Message         string `json:"message"`
	OptionalOldSelf *bool  `json:"optionalOldSelf"`
}

// rules compares rules in CEL. Rules with the same message are the same rule, which has changed.
func (r *valueReport) rules(old, updated []json.RawMessage) {
	const keyword = "x-kubernetes-validations"
	text := func(one rule) string {
		return fmt.Sprint(strings.TrimSpace(one.Rule), one.OptionalOldSelf != nil && *one.OptionalOldSelf)
	}
	message := func(one rule) string { return one.Message }
	before, after := decodeRules(old), decodeRules(updated)
	gone, more := without(before, after, text), without(after, before, text)
	isNew := map[string]bool{}
	for _, one := range without(more, gone, message) {
		isNew[text(one)] = true
	}
	for _, one := range more {
		if one.Message == "" || isNew[text(one)] {
			r.tightened(keyword, fmt.Sprintf("there is a new rule: %s", one))
		} else {
			r.changed(Client, keyword, fmt.Sprintf("the rule %s has changed: it is not known whether it is stricter", one))
		}
	}
	for _, one := range gone {
		if one.Message == "" || len(without([]rule{one}, more, message)) > 0 {
			r.loosened(keyword, fmt.Sprintf("a rule is gone: %s", one))
		}
	}
}

// String returns the message of the rule, or the rule.
func (r rule) String() string {
	if r.Message != "" {
		return strconv.Quote(short(strings.Join(strings.Fields(r.Message), " ")))
	}
	return short(strings.Join(strings.Fields(r.Rule), " "))
}

func decodeRules(all []json.RawMessage) (rules []rule) {
	for _, text := range all {
		var one rule
		if json.Unmarshal(text, &one) != nil {
			one.Rule = string(text) // the server refuses it
		}
		rules = append(rules, one)
	}
	return rules
}

// without returns the rules of all that have a key that none of others has.
func without(all, others []rule, key func(rule) string) (some []rule) {
	known := map[string]bool{}
	for _, one := range others {
		known[key(one)] = true
	}
	for _, one := range all {
		if !known[key(one)] {
			some = append(some, one)
		}
	}
	return some
}

// junctors compares allOf, anyOf, oneOf and not. Their schemas are compared as values.
func (r *valueReport) junctors(s, t *schema.Structural) {
	for _, j := range []struct {
		keyword  string
		old, new []string
	}{
		{"allOf", texts(s.AllOf...), texts(t.AllOf...)},
		{"anyOf", texts(anyOf(s)...), texts(anyOf(t)...)},
		{"oneOf", texts(s.OneOf...), texts(t.OneOf...)},
		{"not", texts(s.Not), texts(t.Not)},
	} {
		r.left -= len(j.old) + len(j.new)
		switch {
		case sameNames(j.old, j.new) && (j.keyword != "oneOf" || len(j.old) == len(j.new)):
		case len(j.new) == 0 || j.keyword == "allOf" && containsAll(j.old, j.new) || j.keyword == "anyOf" && len(j.old) > 0 && containsAll(j.new, j.old):
			r.loosened(j.keyword, j.keyword+" allows more")
		case len(j.old) == 0 || j.keyword == "allOf" && containsAll(j.new, j.old) || j.keyword == "anyOf" && containsAll(j.old, j.new):
			r.tightened(j.keyword, j.keyword+" allows less")
		default:
			r.changed(Client, j.keyword, j.keyword+" has changed: it is not known whether that is stricter")
		}
	}
}

// anyOf returns the alternatives, but not those that x-kubernetes-int-or-string implies.
func anyOf(s *schema.Structural) []*schema.Structural {
	if s.XIntOrString && slices.Equal(texts(s.AnyOf...), []string{`{"type":"integer"}`, `{"type":"string"}`}) {
		return nil
	}
	return s.AnyOf
}

// texts returns schemas in a spelling that equal ones share.
func texts(all ...*schema.Structural) (list []string) {
	for _, s := range all {
		if s == nil {
			continue
		}
		text, err := jsonv2.Marshal(s, jsonv2.Deterministic(true))
		if err != nil {
			text = fmt.Appendf(nil, "%p", s)
		}
		list = append(list, string(text))
	}
	return list
}
