package schema_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// project returns what a projection leaves of an object.
func project(t *testing.T, object string, of reflect.Type, paths ...string) string {
	t.Helper()
	s, err := schema.Project(of, paths...)
	require.NoError(t, err)
	p, err := schema.Compile(s, schema.ResourceRoot(false))
	require.NoError(t, err)
	out, err := decoder.New(p, decoder.Ignore).AppendJSON(nil, []byte(object))
	require.NoError(t, err)
	return string(out)
}

func TestProjectPaths(t *testing.T) {
	const object = `{"apiVersion":"a/v1","kind":"K","spec":{"a":null,"b":{"c":1,"d":[{"e":1,"f":2},null,3]},"m":{"x":{"y":1,"z":2},"k.l":{"y":3}}},"status":[[{"p":1,"q":2}]]}`
	const head, tail = `{"apiVersion":"a/v1","kind":"K"`, `}`
	for paths, want := range map[string]string{
		"":                             ``,
		"spec.nothing":                 `,"spec":{}`,
		"spec":                         `,"spec":{"a":null,"b":{"c":1,"d":[{"e":1,"f":2},null,3]},"m":{"x":{"y":1,"z":2},"k.l":{"y":3}}}`,
		"spec.a":                       `,"spec":{"a":null}`,
		"spec.a.b":                     `,"spec":{"a":null}`, // a null stays
		"spec.b.c.d":                   `,"spec":{"b":{"c":1}}`,
		"spec.b.d":                     `,"spec":{"b":{"d":[{"e":1,"f":2},null,3]}}`,
		"spec.b.d[].e":                 `,"spec":{"b":{"d":[{"e":1},null,3]}}`,
		"spec.b.d.e":                   `,"spec":{"b":{"d":[{},null,3]}}`,
		"spec.b[].e":                   `,"spec":{"b":{}}`,
		"spec.m.*.y":                   `,"spec":{"m":{"x":{"y":1},"k.l":{"y":3}}}`,
		`spec.m["k.l"]`:                `,"spec":{"m":{"k.l":{"y":3}}}`,
		`spec.m["k\.l"]`:               `,"spec":{"m":{"k.l":{"y":3}}}`,
		"spec.m.x.z spec.m.*.y":        `,"spec":{"m":{"x":{"y":1,"z":2},"k.l":{"y":3}}}`,
		"spec.m.*.y spec.m.x.z":        `,"spec":{"m":{"x":{"y":1,"z":2},"k.l":{"y":3}}}`,
		"spec.m.x spec.m.x.y":          `,"spec":{"m":{"x":{"y":1,"z":2}}}`,
		"spec.m.x.y spec.m.x":          `,"spec":{"m":{"x":{"y":1,"z":2}}}`,
		"spec.a spec.b.c":              `,"spec":{"a":null,"b":{"c":1}}`,
		"status[][].q":                 `,"status":[[{"q":2}]]`,
		"status[]":                     `,"status":[[{"p":1,"q":2}]]`,
		"*.b.c":                        `,"spec":{"b":{"c":1}},"status":[[{}]]`,
		"*":                            `,"spec":{"a":null,"b":{"c":1,"d":[{"e":1,"f":2},null,3]},"m":{"x":{"y":1,"z":2},"k.l":{"y":3}}},"status":[[{"p":1,"q":2}]]`,
		"* spec.a":                     `,"spec":{"a":null,"b":{"c":1,"d":[{"e":1,"f":2},null,3]},"m":{"x":{"y":1,"z":2},"k.l":{"y":3}}},"status":[[{"p":1,"q":2}]]`,
		`spec.m[""] apiVersion.x kind`: `,"spec":{"m":{}}`,
	} {
		assert.Equal(t, head+want+tail, project(t, object, nil, strings.Fields(paths)...), paths)
	}
}

func TestProjectMetadata(t *testing.T) {
	const object = `{"metadata":{"name":"n","generateName":"g","namespace":"s","uid":"u","resourceVersion":"1","generation":2,` +
		`"creationTimestamp":null,"deletionTimestamp":"t","deletionGracePeriodSeconds":0,"finalizers":["f"],"ownerReferences":[{"x":[]}],` +
		`"labels":{"l":"v"},"annotations":{"a":"v"},"selfLink":"s","managedFields":[{"manager":"m"}],"other":1}}`
	const rest = `,"selfLink":"s","managedFields":[{"manager":"m"}],"other":1`
	assert.Equal(t, strings.Replace(object, rest, "", 1), project(t, object, nil))
	assert.Equal(t, strings.Replace(object, rest, "", 1), project(t, object, nil, "*"))
	assert.Equal(t, strings.Replace(object, rest, "", 1), project(t, object, reflect.TypeFor[map[string]any]()))
	assert.Equal(t, strings.Replace(object, rest, `,"managedFields":[{"manager":"m"}]`, 1), project(t, object, nil, "metadata.managedFields"))
	assert.Equal(t, object, project(t, object, nil, "metadata"))
	assert.JSONEq(t, `{"metadata":null}`, project(t, `{"metadata":null}`, nil))
}

// TestProjectBytes keeps bytes whole, which are a string in JSON: no part of it can be kept.
func TestProjectBytes(t *testing.T) {
	type text []byte
	s, err := schema.Project(reflect.TypeFor[struct {
		A []byte
		B map[string]text
	}]())
	require.NoError(t, err)
	assert.True(t, *s.Properties["A"].XPreserveUnknownFields)
	assert.Equal(t, `{"B":{"k":"AA=="}}`, project(t, `{"B":{"k":"AA=="}}`, reflect.TypeFor[struct{ B map[string]text }]()))
}

func TestProjectRefuses(t *testing.T) {
	for path, why := range map[string]string{
		"": "empty name", ".spec": "empty name", "spec..a": "empty name", "spec.": "empty name", "[].a": "list at the root",
		"spec[0].a": "has an index", "spec[": "has an index", "spec[]a": "without a dot", `spec["a"`: "has an index", `spec["a\`: "has an index", `spec["a`: "has an index",
		"spec[*]": "has an index",
	} {
		_, err := schema.Project(nil, "spec", path)
		assert.ErrorContains(t, err, why, path)
	}
	_, err := schema.Project(nil, strings.Repeat("[]", schema.MaxDepth))
	require.ErrorContains(t, err, "steps")
	for _, of := range []reflect.Type{reflect.TypeFor[int](), reflect.TypeFor[[]string]()} {
		_, err := schema.Project(of)
		require.ErrorContains(t, err, "neither a struct nor a map", of)
	}
}

type inner struct {
	Shared string `json:"shared"`
	Hidden int    `json:"hidden"`
	Both   struct{ A int }
}

type Other struct{ Both struct{ B int } }

type strs []string

// open has members of any names, by the rules of encoding/json/v2.
type open struct {
	strs
	Rest map[string]int `json:",inline"`
	Keep string
}

type node struct {
	inner
	*Other
	Name     string           `json:"name,omitempty"`
	Hidden   map[string]inner `json:"hidden"`
	Children []*node          `json:"children"`
	ByName   map[string]*node `json:"byName"`
	Any      any              `json:"any"`
	Raw      json.RawMessage  `json:"raw"`
	Time     *time.Time       `json:"time"`
	Untagged struct{ X int }
	Skipped  int `json:"-"`
	Dash     int `json:"-,"` //nolint:staticcheck // it is the name -
	private  int
	Array    [2]struct{ Y int }
	Inlined  struct{ Z int }       `json:",inline"`
	Rest     map[string]inner      `json:"rest"`
	Pointers **struct{ P, Q *int } `json:"pointers"`
	Bytes    []byte                `json:"bytes"`
}

var _ = []any{node{}.private, open{}.strs} // decoders do not see them

func TestProjectType(t *testing.T) {
	type resource struct {
		Metadata struct{ Small string } `json:"metadata"`
		Spec     node                   `json:"spec"`
	}
	in := `{"metadata":{"name":"n"},"spec":{"shared":"s","hidden":{"k":{"shared":1,"no":1}},"Both":{"A":1,"B":1,"C":1},"name":"n",` +
		`"children":[{"name":"c","no":1,"children":[{"Dash":1,"-":1}]}],"byName":{"x":{"Skipped":1,"any":{"all":[1]}}},` +
		`"raw":{"all":1},"time":{"all":1},"Untagged":{"X":1,"no":1},"private":1,"Array":[{"Y":1,"no":1}],"Z":1,"Inlined":{"Z":1,"no":1},` +
		`"pointers":{"P":{"all":1},"Q":1,"no":1},"bytes":"AA==","no":{"no":[1]}},"status":{}}`
	want := `{"metadata":{"name":"n"},"spec":{"shared":"s","hidden":{"k":{"shared":1}},"Both":{"A":1,"B":1,"C":1},"name":"n",` +
		`"children":[{"name":"c","children":[{"-":1}]}],"byName":{"x":{"any":{"all":[1]}}},` +
		`"raw":{"all":1},"time":{"all":1},"Untagged":{"X":1},"Array":[{"Y":1}],"Z":1,"Inlined":{"Z":1},` +
		`"pointers":{"P":{"all":1},"Q":1},"bytes":"AA=="}}`
	assert.Equal(t, want, project(t, in, reflect.TypeFor[resource]()))
	assert.Equal(t, want, project(t, in, reflect.TypeFor[*resource]()))
	// A path widens one place of a type, not the others.
	withPath := strings.Replace(want, `"name":"c"`, `"name":"c","no":1`, 1)
	assert.Equal(t, withPath, project(t, in, reflect.TypeFor[resource](), "spec.children[].no", "metadata.name"))
	assert.JSONEq(t, in, project(t, in, reflect.TypeFor[*json.RawMessage](), "spec.shared"))
	assert.Equal(t, `{"metadata":{},"Keep":1,"any":[1]}`, project(t, `{"metadata":{"x":1},"Keep":1,"any":[1]}`, reflect.TypeFor[open]()))
}

// TestProjectWhole has types with all that can be in them, which are kept whole: an update of them
// loses nothing.
func TestProjectWhole(t *testing.T) {
	s, err := schema.Project(reflect.TypeFor[struct {
		Map   map[string][]string
		Lists [][]map[int]any
		Some  map[string]struct{ A int }
		Self  recursive
	}]())
	require.NoError(t, err)
	for name, want := range map[string]bool{"Map": true, "Lists": true, "Some": false, "Self": false} {
		assert.Equal(t, want, s.Properties[name].XPreserveUnknownFields != nil, name)
	}
	assert.Same(t, s.Properties["Self"], s.Properties["Self"].AdditionalProperties.Schema.Items.Schema)
	assert.Equal(t, `{"Self":{"a":[{"b":[]}]}}`, project(t, `{"Self":{"a":[{"b":[]}]}}`, reflect.TypeFor[struct{ Self recursive }]()))
}

type recursive map[string][]recursive

type (
	lists      []lists
	mapsOfMaps map[string]mapsOfMaps
	names      []string
	chain      struct{ *Link }
	Link       struct {
		*Link
		X int
	}
)

// TestProjectLoops has types that contain themselves in each way.
func TestProjectLoops(t *testing.T) {
	assert.Equal(t, `{"Lists":[[],[[]]],"Maps":{"a":{"b":{}}},"X":1}`, project(t, `{"Lists":[[],[[]]],"Maps":{"a":{"b":{}}},"X":1,"Y":2}`, reflect.TypeFor[struct {
		chain
		Lists lists
		Maps  mapsOfMaps
	}]()))
}

// TestProjectEmbedded has what becomes of the names of embedded types: they are those of members, unless
// the fields of a struct take their place.
func TestProjectEmbedded(t *testing.T) {
	type Names names
	s, err := schema.Project(reflect.TypeFor[struct {
		Other
		Names
		Map, Again map[string]string
	}]())
	require.NoError(t, err)
	assert.Equal(t, "object", s.Type)
	assert.Equal(t, []string{"Again", "Both", "Map", "Names", "apiVersion", "kind", "metadata"}, slices.Sorted(maps.Keys(s.Properties)))
	assert.Same(t, s.Properties["Map"], s.Properties["Again"])
	assert.NotNil(t, s.Properties["Again"].XPreserveUnknownFields)
	s, err = schema.Project(nil)
	require.NoError(t, err)
	assert.Equal(t, "object", s.Type)
}

// TestProjectLongPath has a path of as many steps as there may be, and one of one more.
func TestProjectLongPath(t *testing.T) {
	_, err := schema.Project(nil, "a"+strings.Repeat("[]", schema.MaxDepth/2-1))
	require.NoError(t, err)
	_, err = schema.Project(nil, "a"+strings.Repeat("[]", schema.MaxDepth/2))
	require.EqualError(t, err, "schema: Project: a path has more than 5000 steps")
}

func TestCheckProjection(t *testing.T) {
	s, err := schema.Parse([]byte(`{"type":"object","properties":{"spec":{"type":"object","properties":{
		"replicas":{"type":"integer"},
		"list":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"}}}},
		"map":{"type":"object","additionalProperties":{"type":"object","properties":{"v":{"type":"string"}}}},
		"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"pod":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object"}}}}}}}`))
	require.NoError(t, err)
	check := func(paths ...string) error {
		p, err := schema.Project(nil, paths...)
		require.NoError(t, err)
		return schema.CheckProjection(p, s)
	}
	require.NoError(t, check("spec.replicas", "spec.list[].name", "spec.map.*.v", "spec.map.a.v", "spec.free.any[].thing", "metadata.managedFields",
		"spec.pod.metadata.name", "spec.*", "spec.list", "spec.*.name"))
	require.EqualError(t, check("spec.list[].nme", `spec["*"]`), `[spec.list[].nme: Invalid value: is not specified by the schema, spec["*"]: Invalid value: is not specified by the schema]`)
	require.EqualError(t, check("spec.replica", "status", "spec.list.name", "spec.replicas[].x", "spec.map.*.w", `spec["a.b"]`),
		`[spec.list.name: Invalid value: is in a list: write [] before the name, spec.map.*.w: Invalid value: is not specified by the schema, `+
			`spec.replica: Invalid value: is not specified by the schema, spec.replicas[]: Invalid value: is specified as integer, not as a list, `+
			`spec["a.b"]: Invalid value: is not specified by the schema, status: Invalid value: is not specified by the schema]`)
	p, err := schema.Project(reflect.TypeFor[struct {
		Spec struct {
			Replicas int   `json:"replicas"`
			Typo     *node `json:"replcas"`
		} `json:"spec"`
	}]())
	require.NoError(t, err)
	require.EqualError(t, schema.CheckProjection(p, s), "spec.replcas: Invalid value: is not specified by the schema")
	require.NoError(t, schema.CheckProjection(p, nil))

	empty := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{"spec": {Type: "object"}}}
	p, err = schema.Project(nil, "spec.*")
	require.NoError(t, err)
	require.EqualError(t, schema.CheckProjection(p, empty), "spec.*: Invalid value: is not specified by the schema")
}

// TestCheckProjectionBounds has a type and a schema that contain themselves, and more faults than are said.
func TestCheckProjectionBounds(t *testing.T) {
	type tree struct{ Children []*tree }
	p, err := schema.Project(reflect.TypeFor[tree]())
	require.NoError(t, err)
	s := &schema.Structural{Type: "object"}
	s.Properties = map[string]*schema.Structural{"Children": {Type: "array", Items: &schema.SchemaOrArray{Schema: s}}}
	require.NoError(t, schema.CheckProjection(p, s))

	var paths []string
	wide := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{}}
	for i := range 150 {
		name := fmt.Sprint("f", i)
		wide.Properties[name] = &schema.Structural{Type: "object"}
		paths = append(paths, name+".gone")
	}
	p, err = schema.Project(nil, paths...)
	require.NoError(t, err)
	var errs errors.SchemaErrors
	require.ErrorAs(t, schema.CheckProjection(p, wide), &errs)
	assert.Len(t, errs, 100)
}

func TestDroppedFields(t *testing.T) {
	s, err := schema.Parse([]byte(`{"type":"object","properties":{"metadata":{"type":"object"},"spec":{"type":"object","properties":{
		"a":{"type":"string"},"b":{"type":"object","properties":{"c":{"type":"string"},"d":{"type":"string"}}},
		"list":{"type":"array","items":{"type":"object","properties":{"name":{"type":"string"},"x.y":{"type":"string"}}}},
		"names":{"type":"array","items":{"type":"string"}},
		"map":{"type":"object","additionalProperties":{"type":"object","properties":{"v":{"type":"string"},"w":{"type":"string"}}}},
		"free":{"type":"object","x-kubernetes-preserve-unknown-fields":true},
		"pod":{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"spec":{"type":"object"}}}}},"status":{"type":"object"}}}`))
	require.NoError(t, err)
	dropped := func(of *schema.Structural, paths ...string) []string {
		p, err := schema.Project(nil, paths...)
		require.NoError(t, err)
		return schema.DroppedFields(p, of)
	}
	assert.Empty(t, dropped(s, "*"))
	assert.Empty(t, dropped(nil))
	assert.Equal(t, []string{"spec", "status"}, dropped(s))
	assert.Equal(t, []string{"spec.a", "spec.b.d", `spec.list[]["x.y"]`, "spec.map.*.w", "spec.names[]", "spec.pod.spec", "status"},
		dropped(s, "spec.b.c", "spec.list[].name", "spec.map.*.v", "spec.free", "spec.names.x", "spec.pod.metadata"))
	assert.Equal(t, []string{"spec.a", "spec.b", "spec.free.*", "spec.list", "spec.map", "spec.names", "spec.pod", "status"}, dropped(s, "spec.free.x"))
	unsorted := &schema.Structural{Type: "object", Properties: map[string]*schema.Structural{
		"a": {Type: "object", Properties: map[string]*schema.Structural{"b": {}, "z": {}}}, "a-b": {},
	}}
	assert.Equal(t, []string{"a-b", "a.z"}, dropped(unsorted, "a.b"))
	type part struct{ Kept, Dropped int }
	type parts struct{ A, B, C, D, E, F, G, H part }
	partly := reflect.TypeFor[struct{ A, B, C, D, E, F, G, H struct{ Kept int } }]()
	p, err := schema.Project(partly)
	require.NoError(t, err)
	shared, err := schema.Project(reflect.TypeFor[parts]())
	require.NoError(t, err)
	assert.Equal(t, []string{"A.Dropped"}, schema.DroppedFields(p, shared), "the first of the places of both types")
	larger, err := schema.Project(reflect.TypeFor[struct{ Spec node }]())
	require.NoError(t, err)
	assert.Equal(t, []string{"Spec.byName.*.any", "Spec.children[].children", "Spec.children[].name"}, slices.DeleteFunc(
		dropped(larger, "Spec.*.*.byName", "Spec.children[].byName", "Spec.children[].any"), func(path string) bool {
			return !slices.Contains([]string{"Spec.byName.*.any", "Spec.children[].children", "Spec.children[].name", "Spec.children[].any"}, path)
		}))
}
