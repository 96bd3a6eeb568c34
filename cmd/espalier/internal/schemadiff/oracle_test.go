package schemadiff

import (
	"encoding/json"
	stderrors "errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// This file compares what the package says with what happens to objects. A schema is changed at
// random. Objects that are valid and complete under the old one are read and validated under the new
// one, by package decoder. Whatever happens to one must be in a change at its path or above; and
// what a change says must happen.

// A side is a schema, compiled to read what is stored, and to validate what is sent.
type side struct{ reads, validates *decoder.Decoder }

func newSide(s *schema.Structural) (*side, error) {
	reads, err := schema.Compile(s, schema.ResourceRoot(true))
	if err != nil {
		return nil, err
	}
	validates, err := schema.Compile(s, schema.ResourceRoot(true), validation.Values())
	if err != nil {
		return nil, err
	}
	return &side{
		decoder.New(reads, decoder.Ignore, decoder.Compact(true)),
		decoder.New(validates, decoder.Ignore, decoder.Compact(true), decoder.ValidateCreate),
	}, nil
}

// read returns an object as it is read after it was stored.
func (s *side) read(t *testing.T, object []byte) any { return valueOf(t, s.text(t, object)) }

func (s *side) text(t *testing.T, object []byte) []byte {
	t.Helper()
	out, err := s.reads.AppendJSON(nil, object)
	require.NoError(t, err, "%s", object)
	return out
}

// refusals returns why an object is refused, by the paths of its values.
func (s *side) refusals(t *testing.T, js []byte) map[string]Path {
	t.Helper()
	_, err := s.validates.AppendJSON(nil, js)
	paths := map[string]Path{}
	for _, f := range s.validates.Findings() {
		if f.Kind == errors.InvalidValue {
			paths[f.Detail()] = pathOf(f.Path)
		}
	}
	require.Equal(t, err == nil, len(paths) == 0, "%v: %s", err, js)
	return paths
}

// unreadable returns the paths of the values because of which a stored object is not even read.
func (s *side) unreadable(t *testing.T, object []byte) (paths []Path) {
	t.Helper()
	_, err := s.reads.AppendJSON(nil, object)
	var mismatch *errors.TypeError
	if stderrors.As(err, &mismatch) {
		for _, f := range mismatch.Findings {
			paths = append(paths, pathOf(f.Path))
		}
		return paths
	}
	require.NoError(t, err, "%s", object)
	return nil
}

func pathOf(p errors.Path) (path Path) {
	for segment := range p.Segments() {
		if segment.IsName {
			path = append(path, Segment{segment.Name, Field})
		} else {
			path = append(path, Segment{Kind: Element})
		}
	}
	return path
}

func valueOf(t *testing.T, js []byte) any {
	t.Helper()
	x, err := validate.Decode(js)
	require.NoError(t, err, "%s", js)
	return x
}

// An effect is what differs between an object before and after the change.
type effect struct {
	path     Path
	isLost   bool // it was there, and is not
	old, new any
}

// effects compares an object before and after.
func effects(path Path, old, updated any) (all []effect) {
	a, isObject := old.(map[string]any)
	b, isStill := updated.(map[string]any)
	if isObject && isStill {
		names := slices.Sorted(maps.Keys(a))
		for name := range b {
			if _, had := a[name]; !had {
				names = append(names, name)
			}
		}
		for _, name := range names {
			below := append(slices.Clip(path), Segment{name, Field})
			before, had := a[name]
			after, has := b[name]
			if had && has {
				all = append(all, effects(below, before, after)...)
			} else {
				all = append(all, effect{below, had, before, after})
			}
		}
		return all
	}
	x, isList := old.([]any)
	y, isStill := updated.([]any)
	if isList && isStill && len(x) == len(y) {
		for i := range x {
			all = append(all, effects(append(slices.Clip(path), Segment{strconv.Itoa(i), Element}), x[i], y[i])...)
		}
		return all
	}
	if !reflect.DeepEqual(old, updated) {
		return []effect{{path, false, old, updated}}
	}
	return nil
}

// leads reports whether a path of a change leads to a path in an object, or to a value above it.
func (p Path) leads(to Path) bool {
	if len(p) > len(to) {
		return false
	}
	for i, s := range p {
		if s.Kind == Element != (to[i].Kind == Element) || s.Kind == Field && s.Name != to[i].Name {
			return false
		}
	}
	return true
}

// find returns whether a change at a path or above has a property.
func find(changes []Change, path Path, is func(*Change) bool) bool {
	return slices.ContainsFunc(changes, func(c Change) bool { return c.Path.leads(path) && is(&c) })
}

// moves are the rules of changes that make objects differ.
var moves = []string{
	RuleFieldRemoved, RuleUnknownPruned, RuleFieldSpecified, RuleType, RuleNullableRemoved, RuleFieldPreserved,
	RuleDefaultAdded, RuleDefaultChanged, RuleDefaultRemoved, RuleFieldAdded, RuleNullableAdded,
	Tightened + "x-kubernetes-embedded-resource", Loosened + "x-kubernetes-embedded-resource",
}

func isMove(c *Change) bool { return slices.Contains(moves, c.Rule) }

// checkComplete compares what happens to an object with the changes.
func checkComplete(t *testing.T, changes []Change, old, updated *side, object []byte) (n int) {
	t.Helper()
	sent := valueOf(t, object)
	if paths := updated.unreadable(t, object); len(paths) > 0 {
		for _, path := range paths {
			ok := find(changes, path, func(c *Change) bool { return c.Severity == Data })
			require.True(t, ok, "%s cannot be read\n%s\n%s", path, object, list(changes))
		}
		return len(paths)
	}
	before, after := old.read(t, object), updated.read(t, object)
	for _, e := range effects(nil, sent, before) {
		if e.isLost && e.old != nil {
			return 0 // it is pruned under the old schema already
		}
	}
	happened := effects(nil, before, after)
	for _, e := range happened {
		n++
		wasSent := has(sent, e.path, e.old)
		ok := find(changes, e.path, func(c *Change) bool {
			if e.isLost && wasSent && e.old != nil {
				return isMove(c) && c.Severity == Data
			}
			return isMove(c) && (c.Severity >= Caution || c.Rule == RuleFieldAdded || c.Rule == RuleNullableAdded)
		})
		require.True(t, ok, "%s: was %v, is %v; lost: %v, sent: %v\n%s\n%s", e.path, e.old, e.new, e.isLost, wasSent, object, list(changes))
	}
	for text, path := range updated.refusals(t, updated.text(t, object)) {
		n++
		ok := find(changes, path, func(c *Change) bool {
			// A new default may be invalid, for which the server refuses the definition.
			return c.Severity >= Client || strings.HasPrefix(c.Rule, "default-")
		}) ||
			// What is lost or defaulted changes the number of members, and which alternative of a
			// junctor applies.
			slices.ContainsFunc(happened, func(e effect) bool {
				return path.leads(e.path) || len(e.path) > 0 && e.path[:len(e.path)-1].leads(path)
			})
		require.True(t, ok, "%s: %s\n%s\n%s", path, text, object, list(changes))
	}
	return n
}

// has reports whether an object has a value at a path.
func has(x any, path Path, want any) bool {
	if len(path) == 0 {
		return reflect.DeepEqual(x, want)
	}
	if path[0].Kind == Element {
		elements, _ := x.([]any)
		i, err := strconv.Atoi(path[0].Name)
		return err == nil && i < len(elements) && has(elements[i], path[1:], want)
	}
	members, _ := x.(map[string]any)
	v, ok := members[path[0].Name]
	return ok && has(v, path[1:], want)
}

func list(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s [%s] %s\n", c.Severity, c.Path, c.Rule, c.Message)
	}
	return b.String()
}

// visit calls visit for each value at a path of a change.
func visit(x any, path Path, do func(container any, name string)) {
	if len(path) == 0 {
		return
	}
	switch v := x.(type) {
	case []any:
		if path[0].Kind == Element {
			for i, e := range v {
				if len(path) == 1 {
					do(v, strconv.Itoa(i))
				}
				visit(e, path[1:], do)
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if path[0].Kind == Member || path[0].Kind == Field && path[0].Name == name {
				if len(path) == 1 {
					do(v, name)
				}
				visit(v[name], path[1:], do)
			}
		}
	}
}

// checkSound looks whether what changes say of fields happens to an object.
func checkSound(t *testing.T, changes []Change, old, updated *side, object []byte) (n int) {
	t.Helper()
	if len(updated.unreadable(t, object)) > 0 {
		return 0
	}
	for _, c := range changes {
		last := Segment{}
		if len(c.Path) > 0 {
			last = c.Path[len(c.Path)-1]
		}
		if last.Kind != Field || last.Name == "" {
			continue
		}
		switch c.Rule {
		case RuleFieldRemoved:
			before, after := old.read(t, object), updated.read(t, object)
			var lost []any
			visit(before, c.Path, func(in any, name string) { lost = append(lost, in.(map[string]any)[name]) })
			visit(after, c.Path, func(any, string) { require.Fail(t, "is not lost", "%s\n%s\n%s", c.Path, object, list(changes)) })
			if len(lost) > 0 {
				n++
			}
		case RuleDefaultAdded, RuleDefaultChanged, RuleDefaultRemoved:
			without := valueOf(t, object)
			found := false
			visit(without, c.Path, func(in any, name string) { found = true })
			if !found {
				continue
			}
			visit(without, c.Path, func(in any, name string) { delete(in.(map[string]any), name) })
			js, err := json.Marshal(without)
			require.NoError(t, err)
			happened := effects(nil, old.read(t, js), updated.read(t, js))
			ok := slices.ContainsFunc(happened, func(e effect) bool { return c.Path.leads(e.path) || e.path.leads(c.Path) })
			// Where the object around it is gone, so is the default.
			require.True(t, ok, "%s %s\n%s\n%s", c.Path, c.Message, js, list(changes))
			n++
		}
	}
	return n
}

// definition returns a definition with one version of a schema.
func definition(s *schema.Structural) *schema.CRD {
	return &schema.CRD{
		APIVersion: "apiextensions.k8s.io/v1", Name: "trellises.example.com", Group: "example.com", Kind: "Trellis",
		Plural: "trellises", Singular: "trellis", ListKind: "TrellisList", Scope: "Namespaced",
		Versions: []schema.Version{{Name: "v1", Schema: s, Served: true, Storage: true}},
	}
}

// schemaChanges returns the changes of a schema, without what the server says of the new one.
func schemaChanges(old, updated *schema.Structural) []Change {
	p := pair{old: definition(old), new: definition(updated)}
	p.versions()
	return p.changes
}

// clone returns a copy of a schema, as it is parsed.
func clone(t *testing.T, s *schema.Structural) *schema.Structural {
	js, err := json.Marshal(s)
	require.NoError(t, err)
	c, err := schema.Parse(js)
	require.NoError(t, err)
	return c
}

// schemas returns the schemas that are changed: some of ours, and those of real definitions.
func oracleSchemas(t *testing.T) map[string]*schema.Structural {
	all := map[string]*schema.Structural{}
	for i, text := range []string{
		`{type: object, properties: {spec: {type: object, required: [a], properties: {a: {type: string, maxLength: 5, default: x}, b: {type: integer, minimum: 1, maximum: 9, nullable: true}, c: {x-kubernetes-int-or-string: true}, d: {type: number, format: double}, e: {type: string, enum: [x, y, z]}}}}}`,
		`{type: object, properties: {spec: {type: object, properties: {m: {type: object, additionalProperties: {type: object, properties: {a: {type: string}, b: {type: integer, default: 1}}}}, l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}, v: {type: boolean, default: true}}}}, s: {type: array, x-kubernetes-list-type: set, maxItems: 3, items: {type: string}}}}}}`,
		`{type: object, properties: {raw: {type: object, x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: object, properties: {b: {type: string}}}}}, any: {x-kubernetes-preserve-unknown-fields: true}, list: {type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {a: {type: string}}}}, pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true, properties: {spec: {type: object, properties: {x: {type: string}}}}}}}`,
		`{type: object, properties: {spec: {type: object, default: {a: {b: 1}}, properties: {a: {type: object, default: {}, properties: {b: {type: integer, default: 2}, "n": {type: string, nullable: true, default: q}}}}}, j: {type: object, properties: {a: {type: string}, b: {type: string}}, oneOf: [{required: [a]}, {required: [b]}]}, k: {type: string, allOf: [{minLength: 1}, {pattern: "^a"}], anyOf: [{maxLength: 3}, {pattern: "z$"}], not: {enum: [aa]}}}}`,
		`{type: object, properties: {open: {type: object, additionalProperties: true}, texts: {type: object, maxProperties: 2, additionalProperties: {type: string, nullable: true}}, metadata: {type: object, properties: {name: {type: string, maxLength: 9}}}}, x-kubernetes-preserve-unknown-fields: true}`,
	} {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		all[fmt.Sprintf("ours %d", i)] = s
	}
	if !corpus.IsThere(t) {
		return all
	}
	for f := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(f.Data)
		if err != nil || len(f.Data) > 120_000 {
			continue
		}
		for _, c := range crds {
			for _, v := range c.Versions {
				if v.Schema != nil && !c.PreserveUnknownFields {
					all[f.Name+" "+c.Name+" "+v.Name] = v.Schema
				}
			}
		}
	}
	return all
}

// pairs returns how many changed schemas the oracle looks at.
func pairs() int {
	if n, err := strconv.Atoi(os.Getenv("ESPALIER_PAIRS")); err == nil {
		return n
	}
	if testing.Short() {
		return 200
	}
	return 600
}

// TestOracle: nothing happens to an object that no change says, and what changes say of fields and
// defaults happens.
func TestOracle(t *testing.T) {
	all := oracleSchemas(t)
	names := slices.Sorted(maps.Keys(all))
	seed := uint64(1)
	if s, err := strconv.ParseUint(os.Getenv("ESPALIER_SEED"), 10, 64); err == nil {
		seed = s
	}
	r := rand.New(rand.NewPCG(seed, 1))
	var changed, objects, happened, said int
	rules := map[string]int{}
	for i := range pairs() {
		name := names[r.IntN(len(names))]
		if i%3 == 0 {
			name = names[len(names)-1-r.IntN(5)] // ours
		}
		old := clone(t, all[name])
		updated := clone(t, old)
		var how []string
		for range 1 + r.IntN(3) {
			how = append(how, mutate(r, updated))
		}
		changes := schemaChanges(old, clone(t, updated))
		before, err := newSide(old)
		require.NoError(t, err)
		after, err := newSide(updated)
		if err != nil {
			continue
		}
		for _, c := range changes {
			rules[c.Rule]++
		}
		changed++
		ok := t.Run(fmt.Sprintf("%d", i), func(t *testing.T) {
			maker := sample.New(old, "example.com/v1", "Trellis")
			full, err := maker.Full()
			made := [][]byte{full}
			if err != nil {
				made = nil
			}
			for j := range 6 {
				if object, err := maker.Valid(sample.Bytes(uint64(i*6 + j))); err == nil {
					made = append(made, object)
				}
			}
			for _, object := range made {
				objects++
				happened += checkComplete(t, changes, before, after, object)
				said += checkSound(t, changes, before, after, object)
			}
		})
		if !ok {
			text, _ := json.Marshal(updated)
			t.Fatalf("%s: %v: %.3000s", name, how, text)
		}
	}
	t.Logf("%d changed schemas, %d objects: %d effects, all in changes; %d changes of fields and defaults, all seen", changed, objects, happened, said)
	assert.Greater(t, happened, changed/4, "the schemas are hardly changed")
	assert.Greater(t, said, changed/10)
	if pairs() < 600 {
		return
	}
	for _, rule := range []string{
		RuleFieldRemoved, RuleFieldAdded, RuleUnknownPruned, RuleUnknownKept, RuleFieldSpecified, RuleFieldPreserved, RuleType, RuleTypeWidened,
		RuleNullableAdded, RuleNullableRemoved, RuleDefaultAdded, RuleDefaultChanged, RuleDefaultRemoved, Tightened + "required", Tightened + "enum",
		Tightened + "maximum", Loosened + "enum", Tightened + "pattern", Tightened + "oneOf", Tightened + "x-kubernetes-list-type",
	} {
		assert.NotZero(t, rules[rule], rule)
	}
}
