package fuzz

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A kepReader does what the texts of KEP-2332 and KEP-575 say, sentence by
// sentence, to values that are decoded already. It leaves metadata alone, which
// the texts say little about.
type kepReader struct {
	unknown  []string
	conflict bool
}

func kindOf(x any) string {
	switch x := x.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "array"
	case string:
		return "string"
	case bool:
		return "boolean"
	case int64:
		return "integer"
	case float64:
		if x == math.Trunc(x) && math.Abs(x) < 1<<63 {
			return "integer" // as JSON Schema has it: 1.0 is one
		}
		return "number"
	}
	return "null"
}

// conflicts is KEP-2332, proposal 3: "return a deserialization error if the
// JSON value and the type in the structural schema do not match". Null is for
// validation to judge, by nullable.
func conflicts(x any, s *schema.Structural) bool {
	kind := kindOf(x)
	switch {
	case kind == "null":
		return false
	case s.XIntOrString:
		return kind != "integer" && kind != "string"
	case s.Type == "" || s.Type == kind:
		return false
	}
	return !(s.Type == "number" && kind == "integer")
}

// prune is KEP-2332, proposal 2: what is not specified is removed. excluded says
// that x is below x-kubernetes-preserve-unknown-fields, and that pruning has not
// started again.
func (k *kepReader) prune(x any, s *schema.Structural, path string, excluded, resource bool) {
	if s == nil && excluded {
		return
	}
	if s == nil {
		s = &schema.Structural{}
	}
	if !excluded && conflicts(x, s) {
		k.conflict = true
	}
	excluded = excluded || preserves(s)
	resource = resource || s.XEmbeddedResource
	// "Pruning starts again at Y in the subtree of children of X if Y is specified
	// by properties", that is, has some: compare examples 7 and 8.
	below := func(child *schema.Structural) bool {
		return excluded && (child == nil || len(child.Properties) == 0)
	}
	switch x := x.(type) {
	case map[string]any:
		for _, name := range slices.Collect(maps.Keys(x)) {
			at := path + "." + name
			property, specified := s.Properties[name]
			switch {
			case resource && (name == "apiVersion" || name == "kind" || name == "metadata"):
				// "Implicitly specified", proposal 4: as strings, which are not nullable.
				if _, isString := x[name].(string); name != "metadata" && !isString {
					k.conflict = true
				}
			case specified:
				k.prune(x[name], property, at, below(property), false)
			case s.AdditionalProperties != nil:
				// "Skip field removal in that recursion step (not for children)".
				k.prune(x[name], s.AdditionalProperties.Schema, at, below(s.AdditionalProperties.Schema), false)
			case excluded:
			default:
				k.unknown = append(k.unknown, at[1:])
				delete(x, name)
			}
		}
	case []any:
		var items *schema.Structural
		if s.Items != nil {
			items = s.Items.Schema
		}
		for i := range x {
			k.prune(x[i], items, fmt.Sprintf("%s[%d]", path, i), below(items), false)
		}
	}
}

// fill is KEP-575: "recursively follow the given instance and the structural
// schema, applying specified defaults where an object field is undefined", from
// the top down, the new fields included.
func fill(x any, s *schema.Structural) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for name, p := range s.Properties {
			if _, ok := x[name]; !ok && len(p.Default) > 0 && string(p.Default) != "null" {
				var v any
				if err := kjson.UnmarshalCaseSensitivePreserveInts(p.Default, &v); err != nil {
					panic(err)
				}
				x[name] = v
			}
		}
		for name := range x {
			if p, ok := s.Properties[name]; ok {
				fill(x[name], p)
			} else if s.AdditionalProperties != nil {
				fill(x[name], s.AdditionalProperties.Schema)
			}
		}
	case []any:
		for i := range x {
			if s.Items != nil {
				fill(x[i], s.Items.Schema)
			}
		}
	}
}

// withoutMetadata removes the metadata of resources.
func withoutMetadata(x any, s *schema.Structural, resource bool) {
	if s == nil {
		return
	}
	switch x := x.(type) {
	case map[string]any:
		if resource || s.XEmbeddedResource {
			delete(x, "metadata")
		}
		for name := range x {
			if p, ok := s.Properties[name]; ok {
				withoutMetadata(x[name], p, false)
			} else if s.AdditionalProperties != nil {
				withoutMetadata(x[name], s.AdditionalProperties.Schema, false)
			}
		}
	case []any:
		for i := range x {
			if s.Items != nil {
				withoutMetadata(x[i], s.Items.Schema, false)
			}
		}
	}
}

// isKEP reports whether all defaults of the schema are as KEP-575 demands: of the
// types of the schema, and pruned.
func isKEP(s *schema.Structural) bool {
	if s == nil {
		return true
	}
	if len(s.Default) > 0 {
		var v any
		if err := kjson.UnmarshalCaseSensitivePreserveInts(s.Default, &v); err != nil {
			panic(err)
		}
		var k kepReader
		k.prune(v, s, "", false, false)
		if k.conflict || k.unknown != nil {
			return false
		}
	}
	for _, p := range s.Properties {
		if !isKEP(p) {
			return false
		}
	}
	return (s.Items == nil || isKEP(s.Items.Schema)) && (s.AdditionalProperties == nil || isKEP(s.AdditionalProperties.Schema))
}

// TestKEP compares the semantics of the texts with a reader that is written from
// them. Documents that the server refuses are left out.
func TestKEP(t *testing.T) {
	pairs := uint64(*pairsFlag)
	if testing.Short() {
		pairs = 2000
	}
	compared, refused, skipped := 0, 0, 0
	for first := uint64(0); first < pairs; first += DocumentsPerSchema {
		s, js := NewSchema(first)
		server, err := NewServer(js, testVersion, testKind)
		assert.NoError(t, err)
		server.AnyType = true
		program, err := schema.Compile(s, schema.Semantics(schema.KEP))
		if err != nil || !isKEP(s) {
			skipped++
			continue
		}
		d := decoder.New(program, decoder.WithLimits(decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30}))
		for seed := first; seed < first+DocumentsPerSchema; seed++ {
			doc, _ := NewDocument(seed, s)
			if _, err := server.Decode(doc); err != nil || !jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) {
				continue
			}
			verdict := compareKEP(t, d, s, doc)
			if t.Failed() {
				t.Fatalf("seed %d\nschema:   %s\ndocument: %s", seed, js, doc)
			}
			compared++
			if !verdict {
				refused++
			}
		}
	}
	t.Logf("%d pairs compared, %d of them refused; %d schemas skipped", compared, refused, skipped)
	assert.Greater(t, refused, compared/20)
	assert.Less(t, refused, compared)
}

// compareKEP reports whether the document is accepted.
func compareKEP(t *testing.T, d *decoder.Decoder, s *schema.Structural, doc []byte) bool {
	var want, got map[string]any
	_, err := kjson.UnmarshalStrict(doc, &want)
	assert.NoError(t, err)
	var k kepReader
	k.prune(want, s, "", false, true)
	fill(want, s)

	out, err := d.AppendJSON(nil, doc)
	var mismatch *decoder.TypeError
	if err != nil {
		assert.True(t, errors.As(err, &mismatch), "%v", err)
	}
	if !assert.Equal(t, k.conflict, mismatch != nil, "%v", err) || k.conflict {
		return false
	}
	_, err = kjson.UnmarshalStrict(out, &got)
	assert.NoError(t, err)
	withoutMetadata(want, s, true)
	withoutMetadata(got, s, true)
	if !reflect.DeepEqual(want, got) {
		assert.Equal(t, show(want), show(got))
	}
	var unknown []string
	for _, f := range d.Findings() {
		if path := spell(f.Path, s); f.Kind == ferrors.UnknownField && path.group == 2 {
			unknown = append(unknown, path.dots)
		}
	}
	assert.Equal(t, slices.Sorted(slices.Values(k.unknown)), slices.Sorted(slices.Values(unknown)))
	return true
}
