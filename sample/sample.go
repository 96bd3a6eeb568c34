// Package sample makes objects out of a structural schema, for documentation and for tests of
// whatever reads such objects: controllers, webhooks, conversions, decoders.
//
// A [Maker] makes the smallest object that is valid, and a full one, which has every field. Out of
// bytes, which a fuzzer or a random number generator provides, it makes
//
//   - valid objects ([Maker.Valid]),
//   - nearly valid ones, in which exactly one value violates its schema ([Maker.NearlyValid]),
//   - mutated ones, with unknown, repeated and missing names, nulls and values of wrong types
//     ([Maker.Mutated]),
//   - and, for updates, objects that differ a little from a given one ([Maker.Changed]).
//
// A fuzz test gets its objects so:
//
//	m, err := sample.Of(crd, "v1")
//	...
//	f.Fuzz(func(t *testing.T, data []byte) {
//		object, err := m.Valid(data)
//		...
//	})
//
// The bytes make decisions: which optional fields there are, how long a list is, which value of an
// enum is taken. When they are used up, the simplest decision is made, so fewer bytes make smaller
// objects, and `go test -fuzz` shrinks an object by shrinking its input. The same bytes and the
// same schema make the same object on each machine, though not with each version of this package.
//
// # Validity
//
// An object is valid if the API server accepts it when it is created: defaults are inserted, and
// then types, bounds, lengths, patterns, formats, enums, allOf, anyOf, oneOf, not, list types and
// metadata are checked, by the code with which this module validates. Rules in CEL
// (x-kubernetes-validations) are not evaluated, so a valid object may break one. Values aim at what
// their schema says. Where several rules meet, values are made until one satisfies them all, so a
// schema with a rule that is hard to satisfy may have valid objects of which none is found. Then
// there is an error that says which rule that was. So it is if valid objects are too large, or if
// the search takes longer than some seconds. A field whose value is too large is left out.
//
// Objects are far from random: numbers are often at a bound, texts are often empty or have
// characters that are quoted or have several bytes, and each object reaches one field of the schema
// that the bytes select, however deep it is.
package sample

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sync"

	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// A Maker makes objects of one kind. Several goroutines can use one. The schema must not change
// meanwhile.
type Maker struct {
	apiVersion, kind string
	isNamespaced     bool
	hasStatus        bool               // as a subresource
	root             *schema.Structural // an embedded resource
	routes           []route            // to all schemas of the core
	fieldNames       []string

	validators sync.Pool // of *validate.Validator, which have compiled patterns and enums
	mu         sync.Mutex
	patterns   map[string]*pattern
	enums      map[*schema.Structural]*enum
}

// A route leads to a schema of the core from the one around it.
type route struct {
	schema *schema.Structural
	from   int // index of the route to the schema around it, or -1
}

// New returns a maker of objects with the schema, which should be structural. It may contain
// itself, though not by allOf, anyOf, oneOf and not alone; and no part of it is nil, as in what
// [schema.Parse] returns. apiVersion and kind are those of the objects.
func New(s *schema.Structural, apiVersion, kind string) *Maker {
	root := *s
	root.XEmbeddedResource = true
	m := &Maker{
		apiVersion: apiVersion, kind: kind, root: &root,
		patterns: make(map[string]*pattern), enums: make(map[*schema.Structural]*enum),
	}
	m.validators.New = func() any { return new(validate.Validator) }
	m.survey()
	return m
}

// survey finds the routes to all schemas. A schema that contains itself is met once.
func (m *Maker) survey() {
	met := map[*schema.Structural]bool{m.root: true}
	m.routes = []route{{m.root, -1}}
	names := make(map[string]bool)
	for i := 0; i < len(m.routes); i++ {
		s := m.routes[i].schema
		add := func(below *schema.Structural) {
			if below != nil && !met[below] {
				met[below] = true
				m.routes = append(m.routes, route{below, i})
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			names[name] = true
			add(s.Properties[name])
		}
		if s.AdditionalProperties != nil {
			add(s.AdditionalProperties.Schema)
		}
		if s.Items != nil {
			add(s.Items.Schema)
		}
	}
	m.fieldNames = slices.Sorted(maps.Keys(names))
}

func (m *Maker) builder(data []byte) *builder {
	b := &builder{
		Maker: m, choices: choices{data: data}, attempts: maxAttempts, work: maxWork,
		route: make(map[*schema.Structural]bool),
	}
	b.density = one(&b.choices, 2, 4, 16)
	for i := b.below(len(m.routes)); i >= 0; i = m.routes[i].from {
		b.route[m.routes[i].schema] = true
	}
	return b
}

// noise returns n or a few more bytes that look random. The same seed gives the same bytes.
func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the same seed must give the same bytes
	var data []byte
	for len(data) < n {
		data = binary.LittleEndian.AppendUint64(data, r.Uint64())
	}
	return data
}

// build makes a tree that satisfies the schema, or returns why it could not.
func (m *Maker) build(data []byte, full bool) (*value, error) {
	var first error
	work := 2 * maxWork // at most that for the first two, and what they leave for the others
	for try := range 40 {
		switch {
		case try == 1 && !full: // what is simplest
			data = nil
		case try >= 1:
			data = noise(uint64(try), 256)
		}
		b := m.builder(data)
		b.full = full
		v := b.value([]*schema.Structural{m.root})
		err := m.validate(v)
		if err == nil {
			return v, nil
		}
		if first == nil {
			first = err
		}
		if work -= maxWork - b.work; work <= 0 {
			break
		}
	}
	return nil, first
}

// Smallest returns the smallest valid object, as JSON: no optional field, no optional element, and
// the first of each enum. It is what [Maker.Valid] makes of no bytes.
//
// The error says which rule of the schema no value was found for.
func (m *Maker) Smallest() ([]byte, error) { return m.Valid(nil) }

// Full returns a valid object with all fields, as JSON. Values are examples or defaults of the
// schema where it has valid ones. Each list and each map has one element, as a rule. Left out are
// fields that others exclude, by oneOf for example, and fields for which no valid value was found.
// A schema that contains itself is followed twice.
//
// The error is that of [Maker.Smallest].
func (m *Maker) Full() ([]byte, error) { return m.made(nil, true) }

// Valid returns a valid object, as JSON, that the bytes decide about. It uses a few hundred bytes at
// most, as a rule. It does not keep them.
//
// The error is that of [Maker.Smallest], and independent of the bytes as a rule.
func (m *Maker) Valid(data []byte) ([]byte, error) { return m.made(data, false) }

func (m *Maker) made(data []byte, full bool) ([]byte, error) {
	v, err := m.build(data, full)
	if err != nil {
		return nil, fmt.Errorf("sample: no valid object was found for the schema: %w", err)
	}
	return v.append(nil), nil
}

// Mutated returns an object, as JSON, with any number of mistakes, none included: unknown,
// misspelled, repeated and missing names, members in any order, nulls, and values of other types,
// in metadata as well. There is nothing wrong with its syntax. Once in a while it is not an object
// at all.
func (m *Maker) Mutated(data []byte) []byte {
	b := m.builder(data)
	b.loose = true
	return b.value([]*schema.Structural{m.root}).append(nil)
}

// Bytes returns bytes for the methods of a [Maker] that look random, for tests that do not run
// under a fuzzer, and for its seeds. The same seed gives the same bytes.
func Bytes(seed uint64) []byte { return noise(seed, 512) }

func (m *Maker) pattern(expr string) *pattern {
	m.mu.Lock()
	defer m.mu.Unlock()
	p, ok := m.patterns[expr]
	if !ok {
		p, _ = newPattern(expr)
		m.patterns[expr] = p
	}
	return p
}

// canonical returns the JSON of a decoded value, with sorted names.
func canonical(x any) []byte {
	js, _ := json.Marshal(x)
	return js
}
