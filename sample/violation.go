package sample

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// A Violation is what is wrong with an object of [Maker.NearlyValid].
type Violation struct {
	// Pointer leads to the value that does not satisfy its schema (RFC 6901). For what is missing it
	// leads to the object around it.
	Pointer string
	// Keyword is the keyword of the schema, such as "maximum" or "required", or "metadata" for the
	// name of a resource.
	Keyword string
}

// A violator makes a value violate a keyword, next to what would satisfy it, and reports whether it
// could. It changes the value itself and its list of members, not the members.
type violator struct {
	keyword string
	violate func(b *builder, p spot) bool
}

var violators = []violator{
	{"type", violateType},
	{"enum", violateEnum},
	{"minimum", func(b *builder, p spot) bool {
		return violateBound(p, -1, func(s *schema.Structural) bool { return s.Minimum != nil })
	}},
	{"maximum", func(b *builder, p spot) bool {
		return violateBound(p, 1, func(s *schema.Structural) bool { return s.Maximum != nil })
	}},
	{"multipleOf", violateMultipleOf},
	{"minLength", func(b *builder, p spot) bool { return violateMinLength(p) }},
	{"maxLength", func(b *builder, p spot) bool { return violateMaxLength(p) }},
	{"pattern", violatePattern},
	{"format", violateFormat},
	{"minItems", func(b *builder, p spot) bool { return violateMinMembers(p, '[', minItems) }},
	{"maxItems", violateMaxItems},
	{"x-kubernetes-list-type", violateListType},
	{"minProperties", func(b *builder, p spot) bool { return violateMinMembers(p, '{', minProperties) }},
	{"maxProperties", violateMaxProperties},
	{"required", violateRequired},
	{"nullable", func(b *builder, p spot) bool {
		*p.value = *null()
		return p.isElement
	}},
	{"metadata", violateMetadata},
	{"anyOf", violateJunctor(func(s *schema.Structural) bool { return len(s.AnyOf) > 0 })},
	{"oneOf", violateJunctor(func(s *schema.Structural) bool { return len(s.OneOf) > 0 })},
	{"not", violateJunctor(func(s *schema.Structural) bool { return s.Not != nil })},
}

// NearlyValid returns an object, as JSON, in which one value violates its schema, next to what would
// satisfy it: a number one beyond its bound, a text of one character too many, a repeated element of
// a set. Nothing else is wrong with it, though the API server may have several errors for the one
// value. The bytes decide about the violation first, and then about the object as in [Maker.Valid].
//
// The error is that of [Maker.Smallest].
func (m *Maker) NearlyValid(data []byte) ([]byte, Violation, error) {
	n := min(len(data), 4)
	v, err := m.build(data[n:], false)
	if err != nil {
		return nil, Violation{}, err
	}
	b := &builder{Maker: m, choices: choices{data: data[:n]}, work: maxWork}
	all := spots(v, []*schema.Structural{m.root})
	first, turn := b.below(len(all)), b.below(len(violators))
	for i := 0; ; i++ { // it ends with the name of the root, if not earlier
		// 7 has no factor in common with the number of violators, so each has its turn, and none
		// takes those of another that does not apply.
		how := violators[(turn+7*(i/len(all)))%len(violators)]
		p := all[(first+i)%len(all)]
		kept := *p.value
		kept.members = slices.Clone(kept.members)
		if how.violate(b, p) && !m.isValid(v) {
			return v.append(nil), Violation{p.pointer, how.keyword}, nil
		}
		*p.value = kept
	}
}

func violateType(b *builder, p spot) bool {
	g := &goal{all: inForce(p.given)}
	types := g.types()
	if len(types) == 6 || p.pointer == "" {
		return false
	}
	others := map[string]*value{
		"string": text("a"), "integer": number("1"), "boolean": boolean(true), "object": object(), "array": array(), "number": number("1.5"),
	}
	for _, typ := range types {
		delete(others, typ)
	}
	if slices.Contains(types, "number") {
		delete(others, "integer")
	}
	names := slices.Sorted(maps.Keys(others))
	*p.value = *others[names[b.below(len(names))]]
	return true
}

func violateEnum(b *builder, p spot) bool {
	g := &goal{all: inForce(p.given)}
	allowed, ok := b.allowed(g)
	if !ok {
		return false
	}
	switch p.value.kind {
	case '"':
		p.value.text += "x"
	case '0':
		*p.value = *number("-12345")
	case 't', 'f':
		*p.value = *boolean(p.value.kind == 'f')
	}
	key := keyOf(p.value)
	return !slices.ContainsFunc(allowed, func(v enumValue) bool { return v.key == key })
}

// violateBound goes one step beyond the least or the greatest number.
func violateBound(p spot, sign float64, has func(*schema.Structural) bool) bool {
	g := &goal{all: inForce(p.given)}
	if p.value.kind != '0' || !slices.ContainsFunc(g.all, has) {
		return false
	}
	integer := slices.Contains(g.types(), "integer") && !slices.Contains(g.types(), "number")
	lo, hi, step := g.bounds(integer)
	bound := hi
	if sign < 0 {
		bound = lo
	}
	beyond := bound + sign*max(1, step)
	if !integer && step == 0 {
		beyond = math.Nextafter(bound, math.Inf(int(sign)))
	}
	*p.value = *numeral(beyond, integer)
	return true
}

func violateMultipleOf(b *builder, p spot) bool {
	g := &goal{all: inForce(p.given)}
	lo, hi, step := g.bounds(false)
	if step == 0 || p.value.kind != '0' {
		return false
	}
	whole := step == math.Trunc(step)
	off := step / 2
	if whole {
		off = max(1, math.Floor(off))
	}
	*p.value = *numeral(min(max(multiple(0, lo, hi, step)+off, lo), hi), whole)
	return true
}

func violateMinLength(p spot) bool {
	g := &goal{all: inForce(p.given)}
	least := g.atLeast(minLength)
	if p.value.kind != '"' || least == 0 {
		return false
	}
	p.value.text = string([]rune(p.value.text)[:least-1])
	return true
}

// maxLongText is how long a text becomes to be too long.
const maxLongText = 100_000

func violateMaxLength(p spot) bool {
	g := &goal{all: inForce(p.given)}
	most := g.atMost(maxLength)
	runes := []rune(p.value.text)
	if p.value.kind != '"' || most > maxLongText || len(runes) > most {
		return false
	}
	last := "a"
	if len(runes) > 0 {
		last = string(runes[len(runes)-1])
	}
	p.value.text += strings.Repeat(last, most+1-len(runes))
	return true
}

func violatePattern(b *builder, p spot) bool {
	if p.value.kind != '"' {
		return false
	}
	for _, s := range inForce(p.given) {
		if s.Pattern == "" {
			continue
		}
		kept := p.value.text
		for _, p.value.text = range []string{kept + "!", "!" + kept, kept + "\n", kept + kept, strings.ToUpper(kept), "", "!", "\u00e9"} {
			if !b.fits(p.given, p.value) {
				return true
			}
		}
	}
	return false
}

func violateFormat(b *builder, p spot) bool {
	for _, s := range inForce(p.given) {
		if s.Format == "int32" && p.value.kind == '0' {
			*p.value = *number(one(&b.choices, "2147483648", "-2147483649"))
			return true
		}
		if t, ok := formatMiss(s.Format, &b.choices); ok && p.value.kind == '"' {
			p.value.text = t
			return true
		}
	}
	return false
}

func violateMinMembers(p spot, kind byte, bound func(*schema.Structural) *int64) bool {
	g := &goal{all: inForce(p.given)}
	least := g.atLeast(bound)
	if byte(p.value.kind) != kind || least == 0 || len(p.value.members) < least {
		return false
	}
	p.value.members = p.value.members[:least-1]
	return true
}

func violateMaxItems(b *builder, p spot) bool {
	g := &goal{given: p.given, all: inForce(p.given)}
	most := g.atMost(maxItems)
	if p.value.kind != '[' || most >= maxElements {
		return false
	}
	distinct := b.distinct(g)
	for _, m := range p.value.members {
		distinct.add(m.value)
	}
	for i := len(p.value.members); i <= most; i++ {
		e := b.element(g.element(), distinct, i)
		distinct.add(e)
		p.value.members = append(p.value.members, member{value: e})
	}
	return true
}

// violateListType repeats an element.
func violateListType(b *builder, p spot) bool {
	d := b.distinct(&goal{given: p.given, all: inForce(p.given)})
	if p.value.kind != '[' || len(p.value.members) == 0 || !d.isSet && d.keys == nil {
		return false
	}
	again := p.value.members[b.below(len(p.value.members))].value.clone()
	p.value.members = append(p.value.members, member{value: again})
	return true
}

func violateMaxProperties(b *builder, p spot) bool {
	g := &goal{given: p.given, all: inForce(p.given)}
	most := g.atMost(maxProperties)
	s := p.given[0]
	if p.value.kind != '{' || most >= maxElements {
		return false
	}
	names := g.names()
	if s.AdditionalProperties != nil || preserves(s) {
		for i := range most + 1 {
			names = append(names, "more"+strconv.Itoa(i))
		}
	}
	taken := make(map[string]bool)
	for _, m := range p.value.members {
		taken[m.name] = true
	}
	for _, name := range names {
		if len(p.value.members) <= most && !taken[name] {
			taken[name] = true
			p.value.members = append(p.value.members, member{name, b.value(g.member(name))})
		}
	}
	return len(p.value.members) > most
}

func violateRequired(b *builder, p spot) bool {
	g := &goal{given: p.given, all: inForce(p.given)}
	required := g.required()
	n := len(p.value.members)
	first := b.below(n)
	for i := range n {
		at := (first + i) % n
		name := p.value.members[at].name
		if required[name] && len(g.member(name)[0].Default) == 0 {
			p.value.members = slices.Delete(p.value.members, at, at+1)
			return true
		}
	}
	return false
}

func violateMetadata(b *builder, p spot) bool {
	if !p.given[0].XEmbeddedResource {
		return false
	}
	metadata := p.value.member("metadata")
	if metadata == nil { // the resource is null
		return false
	}
	metadata = metadata.clone()
	metadata.set("name", text(one(&b.choices, "a/b", "..", "%")))
	p.value.set("metadata", metadata)
	return true
}

// violateJunctor looks for a value that satisfies the schema, but not its junctors.
func violateJunctor(has func(*schema.Structural) bool) func(*builder, spot) bool {
	return func(b *builder, p spot) bool {
		if !slices.ContainsFunc(inForce(p.given), has) {
			return false
		}
		for try := range perValue {
			b.data = noise(uint64(try), 64)
			g := &goal{given: p.given[:1], all: p.given[:1]}
			if s := p.given[0]; try%2 == 1 { // more than may be satisfied
				if s.Not != nil {
					g.all = append(slices.Clip(g.all), s.Not)
				} else if len(s.OneOf) > 1 {
					g.all = append(slices.Clip(g.all), s.OneOf[:2]...)
				}
			}
			if v := b.aim(g); !b.fits(p.given, v) {
				*p.value = *v
				return true
			}
		}
		return false
	}
}
