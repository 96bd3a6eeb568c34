package sample

import (
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// A builder makes one object. A value is made for its goal: bounds, patterns and formats are aimed
// at. Where junctors, or several rules for one text, make it uncertain whether the value satisfies
// all, it is validated, and made again with other alternatives and decisions.
type builder struct {
	*Maker
	choices
	full  bool // with all fields
	loose bool // with mistakes

	density  int                         // an optional field is present once in so many times
	route    map[*schema.Structural]bool // schemas that lead to one that the object should reach
	size     int                         // values so far
	open     []*schema.Structural        // the schemas of the containers around the value
	attempts int                         // that are left
	work     int                         // that may still be done, see maxWork
	faults   int                         // values that do not satisfy their schemas, as nothing did
}

const (
	maxSize     = 300    // beyond this, optional fields and elements are left out
	maxFullSize = 50_000 // the same for objects with all fields
	maxAttempts = 400    // of values that did not satisfy their schemas, for an object
	perValue    = 24     // of these, for one value

	// maxWork is for an object, and takes some seconds. A value costs valueWork, a byte of a text
	// 1, a step of validation and of a search for a text 1. The rest is null, and a fault.
	maxWork   = 1 << 23
	valueWork = 64
	// maxOptionalWork is for a value that can be left out, so that others remain possible.
	maxOptionalWork = maxWork / 8

	maxElements      = 10_000 // of an array or a map, whatever its schema demands
	maxDepth         = 100    // of what is optional; far below the depth that decoders allow
	maxRequiredDepth = 500    // of what is required

	maxRecursion = 1 // how often a schema occurs within itself, if all fields are wanted
)

// value makes a value for schemas, of which the first is its own.
func (b *builder) value(given []*schema.Structural) *value {
	b.size++
	if b.loose && (len(b.open) > 0 && b.in(14) || b.in(600)) {
		return b.odd(given[0])
	}
	if b.work -= valueWork; b.work < 0 || len(b.open) > maxRequiredDepth {
		b.faults++
		return null()
	}
	size, faults := b.size, b.faults
	for attempt := 0; ; attempt++ {
		g, again := b.resolve(given, attempt)
		v := b.attempt(g, attempt, again)
		switch {
		case b.loose || g.isCertain():
			return v // with the faults in it, about which other alternatives change nothing
		case b.fits(given, v):
			b.faults = faults
			return v
		case attempt == perValue || b.attempts == 0 || b.work < 0:
			b.faults = faults + 1
			return v
		}
		b.attempts--
		b.size, b.faults = size, faults
	}
}

// attempt makes a value. If all alternatives have been tried, other decisions are made than the
// bytes say.
func (b *builder) attempt(g *goal, attempt int, again bool) *value {
	if again {
		kept := b.data
		defer func() { b.data = kept }()
		b.data = noise(uint64(b.attempts)<<8|uint64(attempt), 64)
	}
	return b.aim(g)
}

// optional makes a value that can be left out. It returns nil where nothing satisfies the schemas.
func (b *builder) optional(given []*schema.Structural) *value {
	faults, rest := b.faults, max(b.work-maxOptionalWork, 0)
	b.work -= rest
	v := b.value(given)
	b.work = max(b.work, 0) + rest
	if b.faults > faults {
		b.faults = faults
		return nil
	}
	return v
}

// isCertain reports whether a value that is made for the goal satisfies it, unless there are faults:
// there is but one schema, which has no rules that could be at odds.
func (g *goal) isCertain() bool {
	s := g.core()
	if len(g.all) > 1 || len(g.not) > 0 || s.MultipleOf != nil || s.MaxProperties != nil {
		return false
	}
	isText := s.Pattern != "" || s.MinLength != nil || s.MaxLength != nil
	isNumber := s.Minimum != nil || s.Maximum != nil
	return (s.Format == "" || !isText) && (len(s.Enum) == 0 || !isText && !isNumber && s.Format == "" && !s.Nullable)
}

// aim makes a value that satisfies the goal as far as one can tell beforehand.
func (b *builder) aim(g *goal) *value {
	s := g.core()
	if s.Nullable && b.in(10) {
		return null()
	}
	if v := b.given(s); v != nil {
		return v
	}
	if allowed, ok := b.allowed(g); ok {
		if len(allowed) == 0 {
			b.faults++
			return null()
		}
		return allowed[b.below(len(allowed))].clone()
	}
	types := g.types()
	if len(types) == 0 {
		b.faults++
		return null()
	}
	kind := types[0]
	if s.Type == "" && !s.XEmbeddedResource && len(s.Properties) == 0 {
		kind = types[b.below(len(types))]
	}
	switch kind {
	case "object":
		return b.object(g)
	case "array":
		return b.array(g)
	case "string":
		return b.string(g)
	case "boolean":
		return boolean(b.in(2))
	}
	return b.number(g, kind == "integer")
}

// given returns a value that the schema itself has: its example or its default. Full objects prefer
// these, because they mean something to their readers, unless there are fields to show within.
func (b *builder) given(s *schema.Structural) *value {
	if b.full && hasFields(s) || !b.full && !b.in(6) {
		return nil
	}
	for _, js := range [][]byte{s.Example, s.Default} {
		if v, err := parse(js); err == nil && v.kind != 'n' && b.fits([]*schema.Structural{s}, v) {
			return v
		}
	}
	return nil
}

// hasFields reports whether there are schemas of fields, of members of a map, or of lists within
// those of a list.
func hasFields(s *schema.Structural) bool {
	if s.Items != nil && s.Items.Schema != nil {
		item := s.Items.Schema
		return item.Items != nil || hasFields(item)
	}
	return len(s.Properties) > 0 || s.AdditionalProperties != nil
}

// wants decides about an optional field or element.
func (b *builder) wants(s *schema.Structural) bool {
	switch {
	case b.full && b.hasStatus && len(b.open) == 1 && s == b.root.Properties["status"]:
		return false
	case b.full:
		within := 0
		for _, o := range b.open {
			if o == s {
				within++
			}
		}
		return within <= maxRecursion && b.size < maxFullSize && len(b.open) < maxDepth
	case b.route[s]:
		return true
	}
	return b.size < maxSize && len(b.open) < maxDepth && b.in(b.density)
}

// object makes an object.
func (b *builder) object(g *goal) *value {
	s := g.core()
	b.open = append(b.open, s)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	v := object()
	if s.XEmbeddedResource {
		b.resource(v, g)
	}
	required := g.required()
	forbidden := g.forbidden(required)
	most := g.atMost(maxProperties)
	var left []string // which are neither required nor chosen
	for _, name := range g.names() {
		given := g.member(name)
		switch {
		case s.XEmbeddedResource && isReserved(name), forbidden[name]:
			continue
		case required[name] && !(b.loose && b.in(20)):
			v.members = append(v.members, member{name, b.value(given)})
		case b.wants(given[0]) && len(v.members)+len(required) < most:
			if m := b.optional(given); m != nil {
				v.members = append(v.members, member{name, m})
			}
		default:
			left = append(left, name)
		}
	}
	least := g.atLeast(minProperties)
	if least > maxElements {
		b.faults++
		return v
	}
	for len(v.members) < least && len(left) > 0 {
		v.members = append(v.members, member{left[0], b.value(g.member(left[0]))})
		left = left[1:]
	}
	b.additional(v, g, least, most)
	if len(v.members) < least {
		b.faults++
	}
	if b.loose {
		b.disorder(v, g)
	}
	return v
}

// fills decides whether a list or a map has as many members as it may, which is rare if they are
// many.
func (b *builder) fills(most int) bool {
	if b.full || most > 256 || b.size > maxSize {
		return false
	}
	return b.in(8) && (most <= 16 || b.in(8))
}

// additional adds members that are not declared by name: those of maps, and those that an object
// preserves.
func (b *builder) additional(v *value, g *goal, least, most int) {
	s := g.core()
	ap := s.AdditionalProperties
	if ap == nil && !preserves(s) || ap != nil && !ap.Allows {
		return
	}
	given := g.member("") // of a name that is not declared
	n := least - len(v.members)
	if n < most-len(v.members) && b.fills(most) {
		n = most - len(v.members)
	}
	for n < most-len(v.members) && n < 4 && (b.full && n <= 0 && ap != nil || !b.full && b.wants(given[0])) {
		n++
		if b.route[given[0]] && n > 0 {
			break
		}
	}
	taken := make(map[string]bool)
	for _, m := range v.members {
		taken[m.name] = true
	}
	for i := range max(n, 0) {
		name := b.mapKey(i)
		for taken[name] || s.Properties[name] != nil {
			name += "x"
		}
		taken[name] = true
		if len(given) == 1 && given[0] == anything && !b.full && b.in(8) {
			v.members = append(v.members, member{name, null()}) // where nothing is specified, it stays
			continue
		}
		v.members = append(v.members, member{name, b.value(given)})
	}
}

// array makes an array.
func (b *builder) array(g *goal) *value {
	s := g.core()
	b.open = append(b.open, s)
	defer func() { b.open = b.open[:len(b.open)-1] }()
	given := g.element()
	least, most := g.atLeast(minItems), g.atMost(maxItems)
	if least > maxElements {
		b.faults++
		return array()
	}
	n := least
	switch {
	case n >= most:
	case b.full && b.wants(given[0]):
		n = max(n, 1)
	case b.full:
	case b.fills(most):
		n = most
	default:
		for n < most && n < least+4 && b.wants(given[0]) {
			n++
			if b.route[given[0]] {
				break
			}
		}
	}
	v := array()
	distinct := b.distinct(g)
	for i := range n {
		e := b.element(given, distinct, i)
		if distinct.has(e) {
			if i < least {
				b.faults++
			}
			break
		}
		distinct.add(e)
		v.members = append(v.members, member{value: e})
	}
	return v
}

// element makes element i of an array. It differs from the others, where it must and that is
// possible.
func (b *builder) element(given []*schema.Structural, others *distinct, i int) *value {
	e := b.value(given)
	kept := b.data
	for try := 0; try < perValue && others.has(e); try++ {
		b.data = noise(uint64(i)<<8|uint64(try), 64)
		e = b.value(given)
	}
	b.data = kept
	return e
}

func isReserved(name string) bool {
	return slices.Contains([]string{"apiVersion", "kind", "metadata"}, name)
}
