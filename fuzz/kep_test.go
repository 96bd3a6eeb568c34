package fuzz

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A kepReader does what the texts of KEP-2332 and KEP-575 say, sentence by sentence, to values that
// are decoded already. Of metadata they say that its fields are those of metav1.ObjectMeta and that
// it is pruned. Its fields are read from the Go type. That their values must be of the types of
// these fields is proposal 3 again.
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
			return "integer" // as in JSON Schema: 1.0 is an integer
		}
		return "number"
	}
	return "null"
}

// conflicts is KEP-2332, proposal 3: "return a deserialization error if the JSON value and the type
// in the structural schema do not match". Validation judges null, by nullable.
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

// prune is KEP-2332, proposal 2: unspecified members are removed. excluded says that x is below
// x-kubernetes-preserve-unknown-fields, and that pruning has not started again.
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
	// "Pruning starts again at Y in the subtree of children of X if Y is specified by properties",
	// that is, if it has some: compare examples 7 and 8.
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
				_, isString := x[name].(string)
				if name == "metadata" {
					k.pruneMetadata(x[name], reflect.TypeFor[metav1.ObjectMeta](), at)
				} else if !isString {
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

// pruneMetadata is KEP-2332, proposal 4: "metav1.ObjectMeta is always pruned". The value has the Go
// type t, which allows null everywhere.
func (k *kepReader) pruneMetadata(x any, t reflect.Type, path string) {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	want := map[reflect.Kind]string{reflect.String: "string", reflect.Bool: "boolean", reflect.Int64: "integer",
		reflect.Map: "object", reflect.Struct: "object", reflect.Slice: "array"}[t.Kind()]
	switch t {
	case reflect.TypeFor[metav1.FieldsV1]():
		return // any JSON
	case reflect.TypeFor[metav1.Time]():
		want = "string"
	}
	kind := kindOf(x)
	if kind != want {
		k.conflict = k.conflict || kind != "null"
		return
	}
	switch x := x.(type) {
	case map[string]any:
		for name := range maps.Clone(x) {
			at := path + "." + name
			if t.Kind() == reflect.Map {
				k.pruneMetadata(x[name], t.Elem(), at)
			} else if f, known := fieldOf(t, name); known {
				k.pruneMetadata(x[name], f, at)
			} else {
				k.unknown = append(k.unknown, at[1:])
				delete(x, name)
			}
		}
	case []any:
		for i := range x {
			k.pruneMetadata(x[i], t.Elem(), fmt.Sprintf("%s[%d]", path, i))
		}
	}
}

// fieldOf returns the type of the field with a name in JSON.
func fieldOf(t reflect.Type, name string) (_ reflect.Type, known bool) {
	for f := range t.Fields() {
		if tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); tag == name && tag != "" {
			return f.Type, true
		}
	}
	return nil, false
}

// fill is KEP-575: "recursively follow the given instance and the structural schema, applying
// specified defaults where an object field is undefined", from the top down, including the new
// fields.
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

// isKEP reports whether all defaults of the schema are as KEP-575 demands: of the types of the
// schema, and pruned. It rejects schemas with a default {} within metadata: the texts do not say
// whether pruning leaves that out, as encoding an ObjectMeta does.
func isKEP(s *schema.Structural) bool {
	if s == nil {
		return true
	}
	if metadata := s.Properties["metadata"]; s.XEmbeddedResource && metadata != nil {
		for _, p := range metadata.Properties {
			if string(p.Default) == "{}" {
				return false
			}
		}
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

// TestKEP compares the semantics of the texts with a reader of objects that is written from the
// texts.
func TestKEP(t *testing.T) {
	var compared, refused, skipped atomic.Int64
	forSchemas(t, *pairsFlag, func(first uint64) {
		s, js := NewSchema(first)
		program, err := schema.Compile(s, schema.KEP)
		if err != nil || !isKEP(s) {
			skipped.Add(1)
			return
		}
		d := decoder.New(program, decoder.Limits{Findings: 1 << 20, FindingBytes: 1 << 30})
		for seed := first; seed < first+DocumentsPerSchema && !t.Failed(); seed++ {
			doc, _ := NewDocument(seed, s)
			var object map[string]any
			if _, err := kjson.UnmarshalStrict(doc, &object); err != nil || object == nil || !jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) {
				continue
			}
			accepted, difference := compareKEP(d, s, doc, object)
			if difference != "" {
				t.Errorf("seed %d: %s\nschema:   %s\ndocument: %s", seed, difference, js, doc)
			}
			compared.Add(1)
			if !accepted {
				refused.Add(1)
			}
		}
	})
	t.Logf("%d pairs compared, %d of them refused; %d schemas skipped", compared.Load(), refused.Load(), skipped.Load())
	assert.Greater(t, refused.Load(), compared.Load()/20)
	assert.Less(t, refused.Load(), compared.Load())
}

// compareKEP reports whether the document is accepted, and describes differences.
func compareKEP(d *decoder.Decoder, s *schema.Structural, doc []byte, want map[string]any) (accepted bool, difference string) {
	var got map[string]any
	var k kepReader
	k.prune(want, s, "", false, true)
	fill(want, s)
	// "We do pruning of default values", KEP-575: of those for fields that ObjectMeta does not
	// have. All others are pruned already: see isKEP.
	new(kepReader).prune(want, s, "", false, true)

	out, err := d.AppendJSON(nil, doc)
	var mismatch *ferrors.TypeError
	if err != nil && !errors.As(err, &mismatch) || k.conflict != (err != nil) {
		return false, fmt.Sprintf("they: %v\nwe:   %v", k.conflict, err)
	}
	if k.conflict {
		return false, ""
	}
	if _, err = kjson.UnmarshalStrict(out, &got); err != nil || !reflect.DeepEqual(want, got) {
		return true, fmt.Sprintf("they: %s\nwe:   %s %v", show(want), out, err)
	}
	var unknown []string
	for _, f := range d.Findings() {
		if f.Kind == ferrors.UnknownField {
			unknown = append(unknown, spell(f.Path, nil).dots)
		}
	}
	slices.Sort(k.unknown)
	slices.Sort(unknown)
	if !slices.Equal(k.unknown, unknown) {
		difference = fmt.Sprintf("they: %q\nwe:   %q", k.unknown, unknown)
	}
	return true, difference
}
