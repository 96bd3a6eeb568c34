package laws

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// RandomDefinition returns a definition with the version v1, which the API server would accept. Its
// schema has rules for values of all kinds, in all places.
func RandomDefinition(r *rand.Rand) *schema.CRD {
	g := grower{r}
	for {
		s := g.root()
		_, err := schema.Compile(s)
		_, errKEP := schema.Compile(s, schema.KEP)
		if validation.Structural(s) != nil || err != nil || errKEP != nil {
			continue
		}
		v := schema.Version{Name: "v1", Schema: s, Served: true, Storage: true, HasStatus: g.in(2)}
		if g.in(2) {
			v.Scale = &schema.Scale{SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas"}
			if g.in(2) {
				selector := ".status.selector"
				v.Scale.LabelSelectorPath = &selector
			}
		}
		return &schema.CRD{
			Group: "example.com", Kind: "Trellis", Plural: "trellises",
			Scope: one(r, "Namespaced", "Cluster"), Versions: []schema.Version{v},
		}
	}
}

// A grower makes schemas and documents.
type grower struct{ *rand.Rand }

// in reports true once in n times.
func (g grower) in(n int) bool { return g.IntN(n) == 0 }

func one[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func pointer[T any](v T) *T { return &v }

var fieldNames = []string{"a", "b", "c", "replicas", "selector", "exactly-16-bytes", "longer-than-sixteen-bytes", "é", `q"t`}

func (g grower) root() *schema.Structural {
	s := &schema.Structural{Type: "object", Properties: make(map[string]*schema.Structural)}
	for _, name := range []string{"spec", "status", "a", "b"} {
		if !g.in(4) {
			s.Properties[name] = g.node(1)
		}
	}
	replicas := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
		"replicas": {Type: one(g.Rand, "integer", "integer", "number")}, "selector": {Type: "string"},
	}}
	for _, name := range []string{"spec", "status"} {
		if g.in(3) {
			s.Properties[name] = replicas
		}
	}
	if g.in(6) {
		meta := &schema.Structural{Type: "object", Properties: make(map[string]*schema.Structural)}
		for _, name := range []string{"name", "generateName"} {
			if g.in(2) {
				meta.Properties[name] = g.text()
			}
		}
		s.Properties["metadata"] = meta
	}
	for _, name := range []string{"apiVersion", "kind"} {
		if g.in(6) {
			s.Properties[name] = g.text()
		}
	}
	s.XEmbeddedResource = g.in(12)
	g.members(s)
	g.junctors(s, 1)
	if g.in(8) {
		s.XPreserveUnknownFields = pointer(true)
	}
	return s
}

// node returns a schema for a field, an element or a value of a map.
func (g grower) node(depth int) *schema.Structural {
	kind := g.IntN(16)
	if depth > 3 {
		kind = 8 + g.IntN(8)
	}
	s := new(schema.Structural)
	switch {
	case kind < 3:
		s.Type, s.Properties = "object", make(map[string]*schema.Structural)
		for range 1 + g.IntN(4) {
			s.Properties[one(g.Rand, fieldNames...)] = g.node(depth + 1)
		}
		if g.in(30) {
			for i := range 70 {
				s.Properties[fmt.Sprint("f", i)] = &schema.Structural{Type: "integer"}
			}
		}
		g.members(s)
	case kind < 4:
		s.Type = "object"
		s.AdditionalProperties = &schema.SchemaOrBool{Allows: !g.in(4)}
		if s.AdditionalProperties.Allows && !g.in(4) {
			s.AdditionalProperties.Schema = g.node(depth + 1)
		}
		g.members(s)
	case kind < 6:
		s.Type, s.Items = "array", &schema.SchemaOrArray{Schema: g.node(depth + 1)}
		g.list(s)
	case kind < 7:
		s.Type, s.XEmbeddedResource = "object", true
		s.Properties = map[string]*schema.Structural{"spec": g.node(depth + 1)}
		if g.in(2) {
			s.Properties["metadata"] = &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"name": g.text()}}
		}
		if g.in(2) {
			s.Properties["apiVersion"], s.Properties["kind"] = g.text(), g.text()
		}
	case kind < 8:
		s.XIntOrString = true
		if g.in(2) {
			s.Pattern = "^[0-9]+%?$"
		}
	case kind < 9:
		s.XPreserveUnknownFields = pointer(true)
		if g.in(3) {
			g.scalar(s)
		}
	case kind < 12:
		s = g.text()
	case kind < 13:
		s.Type = "boolean"
	default:
		s.Type = one(g.Rand, "integer", "integer", "number")
		s.Format = one(g.Rand, "", "", "int32", "int64", "float", "double")
		g.scalar(s)
	}
	s.Nullable = g.in(6)
	g.enum(s)
	g.junctors(s, depth)
	if g.in(6) && depth > 1 {
		s.Default = []byte(g.value(s))
		if validation.Structural(&schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"a": s}}) != nil {
			s.Default = nil
		}
	}
	return s
}

func (g grower) text() *schema.Structural {
	s := &schema.Structural{Type: "string"}
	switch g.IntN(5) {
	case 0:
		s.Format = one(g.Rand, "date-time", "date", "ipv4", "byte", "uuid", "no-format", "password")
	case 1:
		s.Pattern = one(g.Rand, "^[a-z]*$", "b", "^.{2,3}$", `\bxx`)
	case 2:
		s.MinLength = pointer(int64(g.IntN(3)))
		s.MaxLength = pointer(int64(2 + g.IntN(9)))
	}
	return s
}

// scalar adds rules for numbers and strings.
func (g grower) scalar(s *schema.Structural) {
	bounds := []float64{-1, 0, 1, 1.5, 3, 1 << 31, 1 << 53, 1e18, 1e19}
	if g.in(3) {
		s.Minimum, s.ExclusiveMinimum = pointer(one(g.Rand, bounds...)), g.in(2)
	}
	if g.in(3) {
		s.Maximum, s.ExclusiveMaximum = pointer(one(g.Rand, bounds...)), g.in(2)
	}
	if g.in(5) {
		s.MultipleOf = pointer(one(g.Rand, 1.0, 2, 3, 0.5))
	}
	if g.in(5) {
		s.MaxLength = pointer(int64(g.IntN(4)))
	}
}

func (g grower) enum(s *schema.Structural) {
	if !g.in(5) {
		return
	}
	for range 1 + g.IntN(4) {
		s.Enum = append(s.Enum, []byte(one(g.Rand, values...)))
	}
}

// members adds rules for the members of objects.
func (g grower) members(s *schema.Structural) {
	names := slices.Sorted(maps.Keys(s.Properties))
	for _, name := range names {
		if g.in(4) {
			s.Required = append(s.Required, name)
		}
	}
	if g.in(8) {
		s.Required = append(s.Required, one(g.Rand, fieldNames...))
	}
	if g.in(8) {
		s.MinProperties = pointer(int64(g.IntN(3)))
	}
	if g.in(8) {
		s.MaxProperties = pointer(int64(2 + g.IntN(4)))
	}
}

// list adds rules for arrays.
func (g grower) list(s *schema.Structural) {
	if g.in(4) {
		s.MinItems = pointer(int64(g.IntN(3)))
	}
	if g.in(4) {
		s.MaxItems = pointer(int64(1 + g.IntN(3)))
	}
	switch item := s.Items.Schema; g.IntN(4) {
	case 0:
		s.XListType = pointer("set")
	case 1:
		s.XListType = pointer("map")
		for range 1 + g.IntN(2) {
			s.XListMapKeys = append(s.XListMapKeys, one(g.Rand, slices.Concat(slices.Sorted(maps.Keys(item.Properties)), []string{"a"})...))
		}
	}
}

// junctors adds allOf, anyOf, oneOf and not, whose parts have only what the schema declares.
func (g grower) junctors(s *schema.Structural, depth int) {
	if depth > 3 || !g.in(4) {
		return
	}
	several := func() (list []*schema.Structural) {
		for range 1 + g.IntN(3) {
			list = append(list, g.part(s, 0))
		}
		return list
	}
	switch g.IntN(5) {
	case 0:
		s.AllOf = several()
	case 1:
		s.AnyOf = several()
	case 2:
		s.OneOf = several()
	case 3:
		s.Not = g.part(s, 0)
	case 4:
		if s.XIntOrString {
			s.AnyOf = []*schema.Structural{{Type: "integer"}, {Type: "string"}}
		}
	}
}

// part returns a schema below a junctor of s.
func (g grower) part(s *schema.Structural, depth int) *schema.Structural {
	p := new(schema.Structural)
	switch g.IntN(4) {
	case 0:
		p.Required = []string{one(g.Rand, slices.Concat(slices.Sorted(maps.Keys(s.Properties)), []string{"a"})...)}
		return p
	case 1:
		g.members(p)
		p.Items = nil
	case 2:
		g.scalar(p)
		if g.in(2) {
			text := g.text()
			text.Type = ""
			return text
		}
	}
	g.enum(p)
	for name, below := range s.Properties {
		if name != "metadata" && depth < 2 && g.in(2) {
			if p.Properties == nil {
				p.Properties = make(map[string]*schema.Structural)
			}
			p.Properties[name] = g.part(below, depth+1)
		}
	}
	if s.Items != nil && g.in(2) && depth < 2 {
		p.Items = &schema.SchemaOrArray{Schema: g.part(s.Items.Schema, depth+1)}
	}
	if depth < 2 && g.in(5) {
		p.Not = g.part(s, depth+1)
	}
	return p
}

// values are those of documents and enums.
var values = []string{
	`0`, `1`, `-1`, `2`, `3`, `1.0`, `1.5`, `-0`, `1e2`, `3e38`, `1e39`, `2147483647`, `2147483648`, `9007199254740992`,
	`9007199254740993`, `999999999999999999`, `1000000000000000000`, `9223372036854775807`, `9223372036854775808`,
	`""`, `"a"`, `"b"`, `"ab"`, `"abc"`, `"A"`, `"é"`, `"éé"`, `"\u0061"`, `"a\u0000b"`, `"1"`, `"50%"`, `"xx y"`, `"a.b/c"`,
	`"2026-11-23T10:00:00Z"`, `"2026-11-23"`, `"10.0.0.1"`, `"YWI="`, `"123e4567-e89b-12d3-a456-426614174000"`,
	`true`, `false`, `null`, `[]`, `{}`, `[1,1]`, `{"a":1}`, `[{"a":1},{"a":1}]`,
}

// RandomDocument returns a document that mostly follows the schema of the version v1 of a
// definition.
func RandomDocument(r *rand.Rand, c *schema.CRD) []byte {
	g := grower{r}
	meta := one(r, `{"name":"a"}`, `{"name":"a","namespace":"n"}`, `{"generateName":"a-"}`, `{"generateName":"abc"}`,
		`{"name":"abc","labels":{"a":"b"}}`, `{"name":"a","finalizers":["x/y"],"generation":7}`,
		`{"name":"a","ownerReferences":[{"apiVersion":"v1","kind":"K","name":"n","uid":"u"}]}`)
	if g.in(12) {
		meta = one(r, `{}`, `{"name":"-"}`, `{"name":""}`, `{"name":"","generateName":"a"}`, `{"generateName":"."}`,
			`{"name":"a","namespace":"-"}`, `{"name":"a","labels":{"-":"b"}}`, `{"name":"a","annotations":{"A/b":"x","/":""}}`,
			`{"name":"a","finalizers":["orphan","foregroundDeletion"]}`, `{"name":"a","generation":-1}`,
			`{"name":"a","managedFields":[{}]}`, `{"name":"a","ownerReferences":[{}]}`)
	}
	fields := []string{`"metadata":` + meta}
	for name, value := range map[string]string{"apiVersion": c.Group + "/v1", "kind": c.Kind} {
		if g.in(40) {
			value = one(r, "", "a", "v1", "a/b/c")
		}
		if !g.in(60) {
			fields = append(fields, strconv.Quote(name)+":"+strconv.Quote(value))
		}
	}
	s := c.Versions[0].Schema
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		if name != "metadata" && name != "kind" && name != "apiVersion" && (!g.in(3) || slices.Contains(s.Required, name)) {
			fields = append(fields, quoted(name)+":"+g.value(s.Properties[name]))
		}
	}
	if g.in(10) {
		fields = append(fields, `"undeclared":1`)
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	return []byte("{" + strings.Join(fields, ",") + "}")
}

func quoted(text string) string {
	q, _ := jsonv2.AppendQuote(nil, text)
	return string(q)
}

// value returns a value that mostly follows the schema.
func (g grower) value(s *schema.Structural) string {
	switch {
	case g.in(25):
		return one(g.Rand, values...)
	case len(s.Enum) > 0 && !g.in(10):
		return string(one(g.Rand, s.Enum...))
	case s.Nullable && g.in(4):
		return "null"
	}
	switch s.Type {
	case "object":
		var members []string
		add := func(name string, of *schema.Structural) {
			members = append(members, quoted(name)+":"+g.value(of))
		}
		if s.XEmbeddedResource && !g.in(20) {
			members = append(members, `"apiVersion":"v1"`, `"kind":"K"`)
			if g.in(2) {
				members = append(members, `"metadata":`+one(g.Rand, `{}`, `{"name":"abc"}`, `{"name":"a"}`, `{"name":"%"}`))
			}
		}
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			isType := name == "metadata" || name == "kind" || name == "apiVersion"
			if !(s.XEmbeddedResource && isType) && (g.in(2) || slices.Contains(s.Required, name)) {
				add(name, s.Properties[name])
			}
		}
		if ap := s.AdditionalProperties; ap != nil && ap.Schema != nil {
			for i := range g.IntN(4) {
				add(fmt.Sprint("k", i), ap.Schema)
			}
		}
		return "{" + strings.Join(members, one(g.Rand, ",", ", ")) + "}"
	case "array":
		var elements []string
		for range g.IntN(4) {
			elements = append(elements, g.value(s.Items.Schema))
		}
		return "[" + strings.Join(elements, ",") + "]"
	}
	for range 8 { // until the type fits
		v := one(g.Rand, values...)
		is := map[byte]string{'"': "string", 't': "boolean", 'f': "boolean", 'n': "", '{': "", '[': ""}
		typ, ok := is[v[0]]
		if !ok {
			typ = "integer"
		}
		if typ == s.Type || typ == "integer" && s.Type == "number" || s.Type == "" && typ != "" {
			return v
		}
	}
	return one(g.Rand, values...)
}
