package schema

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/program"
)

func TestCompileNothing(t *testing.T) {
	for _, resource := range []bool{true, false} {
		none, err := Compile(nil, ResourceRoot(resource))
		require.NoError(t, err)
		empty, err := Compile(new(Structural), ResourceRoot(resource))
		require.NoError(t, err)
		assert.Equal(t, empty.String(), none.String())
	}
	text, err := KEP.MarshalText()
	require.NoError(t, err)
	assert.Equal(t, "KEP", string(text))
	_, err = Semantics(2).MarshalText()
	require.EqualError(t, err, "schema: there is no Semantics(2)")
	assert.Equal(t, []string{"Deployed", "KEP"}, []string{Deployed.String(), KEP.String()})
}

// textOf returns the JSON text of a string that is n bytes long with its quotes.
func textOf(n int) string { return `"` + strings.Repeat("x", n-2) + `"` }

// TestCompileErrorValues: messages show a default up to a length.
func TestCompileErrorValues(t *testing.T) {
	for n, want := range map[int]string{64: textOf(64), 65: textOf(65)[:64] + "..."} {
		s := &Structural{Type: "object", Properties: map[string]*Structural{"a": {Type: "integer", Default: []byte(textOf(n))}}}
		_, err := Compile(s, KEP)
		assert.EqualError(t, err, "openAPIV3Schema.properties[a].default: Invalid value: "+want+": must be of type integer")
	}
}

// TestDefaultBudget renders defaults with every budget up to the one that they need. Each byte is
// charged, and so is each default of which nothing is left.
func TestDefaultBudget(t *testing.T) {
	s := parseText(t, `
type: object
properties:
  a: {type: object, default: {b: 1, c: [null, {}, null], x: null, unknown: 1}, properties: {
    b: {type: integer}, c: {type: array, items: {type: string, default: de}}, d: {type: string, default: f}, x: {type: string, default: yz}}}
  e: {type: object, x-kubernetes-embedded-resource: true, properties: {
    metadata: {type: object, default: {name: given}, properties: {labels: {type: object, default: 5}, namespace: {type: string, default: ns}}}}}
`)
	render := func(budget int) (left int, err error) {
		c := newCompiler(options{}, s)
		defer c.release()
		c.budget = budget
		c.root(s)
		err = c.renderDefaults()
		return c.budget, err
	}
	needed := 0
	for _, part := range []string{
		`"de"`, `"f"`, `"yz"`, `"ns"`, // once each, to be used where they are needed
		`{"b":1,"c":["de",{},"de"],"x":"yz","d":"f"}`, `{"name":"given","namespace":"ns"}`, `?`,
	} {
		needed += len(part)
	}
	left, err := render(needed)
	require.NoError(t, err)
	assert.Zero(t, left)
	for budget := range needed {
		_, err := render(budget)
		require.ErrorContains(t, err, "defaults within defaults must not grow beyond 16 MiB", "%d bytes", budget)
	}
}

// TestCompileBrokenDefaults has defaults that no parser accepts, in trees that were made by hand.
func TestCompileBrokenDefaults(t *testing.T) {
	var errs errors.SchemaErrors
	for _, broken := range []string{
		`{`, `{"s"`, `{"s":`, `{"s":tru}`, `{"s":"1"`, `{"s":"1","s":"2"}`, `{"x":}`, `{"x":1`, `{"l":[`, `{"l":[1`, `{"l":[1}`, `{"l":[{]}`, `tru`,
		`{"l":[{"e":{"kind":tru}}]}`, `{"l":[{"e":{"metadata":{]}}]}`, `{"l":[{"e":{"metadata":nul`, `{"d":{}}`,
	} {
		s := parseText(t, `
type: object
properties:
  a:
    type: object
    properties:
      s: {type: string}
      d: {type: object, properties: {within: {type: string}}}
      l: {type: array, items: {type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, properties: {s: {type: string}}}}}}
`)
		a := s.Properties["a"]
		a.Default = []byte(broken)
		if broken == `{"d":{}}` {
			a.Properties["d"].Properties["within"].Default = []byte(`[`)
		}
		_, err := Compile(s)
		require.ErrorAs(t, err, &errs, broken)
		assert.Contains(t, err.Error(), ".default: Invalid value: ", broken)
		assert.Contains(t, err.Error(), ": must be JSON: ", broken)
	}
}

// TestCompileDeepDefault has a default that is deeper than JSON may be, in a schema that contains
// itself.
func TestCompileDeepDefault(t *testing.T) {
	array, object := &Structural{Type: "array"}, &Structural{Type: "object"}
	array.Items = &SchemaOrArray{Schema: array}
	object.Properties = map[string]*Structural{"a": object}
	for _, c := range []struct {
		s           *Structural
		open, close string
	}{{array, `[`, `]`}, {object, `{"a":`, `}`}} {
		for depth, fits := range map[int]bool{9_000: true, 10_001: false} {
			field := *c.s
			field.Default = []byte(strings.Repeat(c.open, depth) + "null" + strings.Repeat(c.close, depth))
			_, err := Compile(&Structural{Type: "object", Properties: map[string]*Structural{"f": &field}})
			if fits {
				assert.NoError(t, err)
			} else {
				assert.ErrorContains(t, err, "must be JSON: ")
			}
		}
	}
}

// TestCompileWidest compiles a schema with as many properties as a schema may have, which takes
// seconds, and one with one more.
func TestCompileWidest(t *testing.T) {
	const most = 1_048_571
	widest := &Structural{Type: "object", Properties: make(map[string]*Structural, most+1)}
	for i := range most {
		widest.Properties[strconv.Itoa(i)] = nil
	}
	s := &Structural{Type: "object", Properties: map[string]*Structural{"a": widest}}
	if !testing.Short() {
		p, err := Compile(s)
		require.NoError(t, err)
		assert.Len(t, p.FieldNames(errors.Path{}.Child("a")), most)
	}
	widest.Properties["one more"] = nil
	_, err := Compile(s)
	assert.EqualError(t, err, "openAPIV3Schema.properties[a]: Forbidden: must not have more than 1048571 properties")
}

// TestFieldNamesElided has a path of which not all is known.
func TestFieldNamesElided(t *testing.T) {
	s := &Structural{Type: "object"}
	s.Properties = map[string]*Structural{"name": s}
	p, err := Compile(s, ResourceRoot(false))
	require.NoError(t, err)
	path := func(depth int) errors.Path {
		return errors.PathOf(fieldpath.Encode(depth, func(int) ([]byte, int) { return []byte("name"), 0 }))
	}
	assert.Equal(t, []string{"name"}, p.FieldNames(path(3)))
	assert.Nil(t, p.FieldNames(path(errors.MaxPathBytes)))
}

// TestHashed has entries with equal hashes, hashes that share a slot, and more entries than the
// table had room for.
func TestHashed(t *testing.T) {
	var table hashed
	find := func(hash uint64) (all []int32) {
		for at, probe, ok := table.next(hash, 0); ok; at, probe, ok = table.next(hash, probe) {
			all = append(all, at)
		}
		return all
	}
	for range 3 {
		table.reset()
		for i := range int32(500) {
			assert.Empty(t, find(uint64(i)<<32|1), "of the last time")
			table.add(uint64(i)<<32|1, i)
			table.add(uint64(i%2)<<63|2, 1000+i)
			assert.LessOrEqual(t, 2*table.used, len(table.slots), "half of the slots are free")
		}
		for i := range int32(500) {
			assert.Equal(t, []int32{i}, find(uint64(i)<<32|1))
		}
		assert.Len(t, find(2), 250)
		assert.Len(t, find(1<<63|2), 250)
		assert.Empty(t, find(3))
		assert.Len(t, table.slots, 2048)
	}
	table.reset()
	for i := range int32(1024) {
		table.add(uint64(i)<<32, i)
	}
	assert.Len(t, table.slots, 2048, "half of the slots suffice")
	table.now = 1<<32 - 1
	table.add(7, 7)
	table.reset()
	assert.Empty(t, find(7), "the count of times begins anew")
	assert.Len(t, table.slots, 64)
}

// TestSays compares a node with others that differ in one thing: equal hashes must not merge two
// nodes. Most of these have other hashes, so that few nodes are compared.
func TestSays(t *testing.T) {
	c := newCompiler(options{}, nil)
	defer c.release()
	edges := func() []protoEdge {
		return []protoEdge{{name: "a", to: c.any, null: program.DropNull}, {to: c.none}, {to: c.none}}
	}
	p := proto{types: program.Object, group: program.Pruned, fields: 1, unknown: true}
	c.scratch.edges = edges()
	n := c.finish(p, nil)
	assert.True(t, c.says(n, p, edges()))
	hash := c.hash(p, edges())
	assert.Equal(t, hash, c.hash(p, edges()))
	for name, change := range map[string]func(p *proto, e []protoEdge){
		"implicit": func(_ *proto, e []protoEdge) { e[0].implicit = true },
		"types":    func(p *proto, _ []protoEdge) { p.types = program.Array },
		"group":    func(p *proto, _ []protoEdge) { p.group = program.RootMetadata },
		"fields":   func(p *proto, _ []protoEdge) { p.fields = 2 },
		"unknown":  func(p *proto, _ []protoEdge) { p.unknown = false },
		"name":     func(_ *proto, e []protoEdge) { e[0].name = "b" },
		"to":       func(_ *proto, e []protoEdge) { e[0].to = c.none },
		"null":     func(_ *proto, e []protoEdge) { e[0].null = program.KeepNull },
		"default":  func(_ *proto, e []protoEdge) { e[0].schema = &Structural{Default: []byte("1")} },
		"others":   func(_ *proto, e []protoEdge) { e[1].to = c.any },
		"elements": func(_ *proto, e []protoEdge) { e[2].to = c.any },
	} {
		p, e := p, edges()
		change(&p, e)
		assert.False(t, c.says(n, p, e), name)
		if !slices.Contains([]string{"implicit", "unknown", "default"}, name) {
			assert.NotEqual(t, hash, c.hash(p, e), name)
		}
	}
}

// TestSkeletonErrorBytes asserts that the text of errors is counted, and has a bound.
func TestSkeletonErrorBytes(t *testing.T) {
	var b skeletonBuilder
	b.forbid(rootPlace(), "why")
	assert.Equal(t, len("openAPIV3Schema")+len("why"), b.bytes)
	b.bytes = maxSkeletonErrorBytes - 1
	b.forbid(rootPlace(), "why")
	assert.Len(t, b.faults, 2)
	b.bytes = maxSkeletonErrorBytes
	b.forbid(rootPlace(), "why")
	assert.Len(t, b.faults, 2)
}
