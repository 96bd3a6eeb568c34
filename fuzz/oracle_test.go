package fuzz

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// newServer returns a server for a schema in YAML.
func newServer(t testing.TB, openAPIV3Schema string) *Server {
	t.Helper()
	js, err := yaml.YAMLToJSON([]byte(openAPIV3Schema))
	require.NoError(t, err)
	s, err := NewServer(js, testVersion, testKind)
	require.NoError(t, err)
	return s
}

// decode returns the server's result for a body, and the entries of the strict error. The type of
// the object is left out of both texts.
func decode(t *testing.T, s *Server, members string) (object string, strict []string) {
	t.Helper()
	body := `{"apiVersion":"fuzz.example.com/v1","kind":"Trellis"`
	if members = strings.TrimSpace(members); members != "{}" {
		body += ","
	}
	a, err := s.Decode([]byte(body + members[1:]))
	require.NoError(t, err, members)
	delete(a.Object, "apiVersion")
	delete(a.Object, "kind")
	js, err := json.Marshal(a.Object)
	require.NoError(t, err)
	return string(js), a.Strict()
}

func unknownFields(paths string) []string {
	var list []string
	for _, path := range strings.Fields(paths) {
		list = append(list, `unknown field "`+path+`"`)
	}
	return list
}

// TestOracleTables has the tables of the notes, which were observed on a server.
func TestOracleTables(t *testing.T) {
	const (
		ap  = "{type: object, properties: {foo: {type: object, additionalProperties: {type: object}}}}"
		any = "type: object, x-kubernetes-preserve-unknown-fields: true"
	)
	// at returns a schema for the field a.
	at := func(a string) string { return "{type: object, properties: {a: " + a + "}}" }
	for _, c := range []struct {
		name, schema, in, want, unknown string
	}{
		// Section 0, KEP-2332.
		{"2332/1", "{type: object}", `{"foo":{"abc":1},"json":{"bar":43}}`, `{}`, "foo json"},
		{"2332/2", "{type: object, properties: {foo: {type: object}}}", `{"foo":{"abc":1},"json":{}}`, `{"foo":{}}`, "foo.abc json"},
		{"2332/3", "{type: object, properties: {foo: {type: object, properties: {bar: {type: object}}}}}",
			`{"foo":{"bar":{"abc":1},"def":{}},"json":{}}`, `{"foo":{"bar":{}}}`, "foo.bar.abc foo.def json"},
		{"2332/4", ap, `{"foo":{"abc":{"x":1},"def":{"y":1}},"json":{}}`, `{"foo":{"abc":{},"def":{}}}`, "foo.abc.x foo.def.y json"},
		{"2332/5", "{type: object, properties: {foo: {type: object, additionalProperties: false}}}",
			`{"foo":{"abc":{"x":1},"def":{"y":1}},"json":{}}`, `{"foo":{"abc":{},"def":{}}}`, "foo.abc.x foo.def.y json"},
		{"2332/6", "{type: object, properties: {json: {" + any + "}}}", `{"foo":1,"json":{"bar":43}}`, `{"json":{"bar":43}}`, "foo"},
		{"2332/7", "{type: object, properties: {json: {" + any + ", properties: {bar: {type: object}}}}}",
			`{"foo":1,"json":{"bar":{"abc":43},"def":44}}`, `{"json":{"bar":{},"def":44}}`, "foo json.bar.abc"},
		{"2332/8", "{type: object, properties: {json: {" + any + ", properties: {bar: {type: object, properties: {inner: {type: integer}}}}}}}",
			`{"foo":1,"json":{"bar":{"inner":43,"abc":44},"def":45}}`, `{"json":{"bar":{"inner":43},"def":45}}`, "foo json.bar.abc"},
		{"2332/9", "{type: object, properties: {json: {" + any + ", additionalProperties: {type: object}}}}",
			`{"foo":1,"json":{"bar":{"inner":43,"abc":44},"def":45}}`, `{"json":{"bar":{},"def":45}}`, "foo json.bar.abc json.bar.inner"},
		{"2332/10", "{type: object, properties: {object: {type: object, x-kubernetes-embedded-resource: true, properties: {spec: {type: object}}}}}",
			`{"foo":1,"object":{"metadata":{"name":"n","garbage":1},"spec":{}}}`, `{"object":{"metadata":{"name":"n"},"spec":{}}}`, "foo object.metadata.garbage"},
		{"2332/11", "{type: object}", `{"foo":1,"metadata":{"name":"n","garbage":1}}`, `{"metadata":{"name":"n"}}`, "metadata.garbage foo"},
		// Section 0, KEP-575.
		{"575/1", "{type: object, properties: {foo: {type: string, default: abc}}}", `{}`, `{"foo":"abc"}`, ""},
		{"575/2", "{type: object, properties: {foo: {type: string, default: abc}}}", `{"foo":"def"}`, `{"foo":"def"}`, ""},
		{"575/3a", "{type: object, properties: {foo: {type: array, items: {type: integer}, default: [1]}}}", `{}`, `{"foo":[1]}`, ""},
		{"575/3b", "{type: object, properties: {foo: {type: array, items: {type: integer}, default: [1]}}}", `{"foo":null}`, `{"foo":[1]}`, ""},
		{"575/3b'", "{type: object, properties: {foo: {type: array, nullable: true, items: {type: integer}, default: [1]}}}", `{"foo":null}`, `{"foo":null}`, ""},
		{"575/3b''", "{type: object, properties: {foo: {type: array, items: {type: integer}}}}", `{"foo":null}`, `{}`, ""},
		{"575/3c", "{type: object, properties: {foo: {type: array, items: {type: integer}, default: [1]}}}", `{"foo":[]}`, `{"foo":[]}`, ""},
		{"575/4", `{type: object, properties: {foo: {type: object, default: {b: def}, properties: {a: {type: string, default: abc}, b: {type: string}}}}}`,
			`{}`, `{"foo":{"a":"abc","b":"def"}}`, ""},
		// Section 2.1.
		{"2.1/integer", at("{type: integer}"), `{"a":{"x":1,"y":[{"z":1}]}}`, `{"a":{}}`, "a.x a.y"},
		{"2.1/array for object", at("{type: object, properties: {b: {type: integer}}}"), `{"a":[{"b":1,"c":2},5,[{"d":1}]]}`, `{"a":[{},5,[{}]]}`, "a[0].b a[0].c a[2][0].d"},
		{"2.1/object for array", at("{type: array, items: {type: object, properties: {b: {type: integer}}}}"), `{"a":{"b":1,"c":2}}`, `{"a":{}}`, "a.b a.c"},
		{"2.1/arrays", at("{type: array, items: {type: array, items: {type: object, properties: {b: {type: integer}}}}}"),
			`{"a":[[{"b":1,"c":2}],[],5,{"q":1}]}`, `{"a":[[{"b":1}],[],5,{}]}`, "a[0][0].c a[3].q"},
		{"2.1/no items", at("{type: array}"), `{"a":[{"b":1},1,[{"c":1}],{}]}`, `{"a":[{},1,[{}],{}]}`, "a[0].b a[2][0].c"},
		{"2.1/preserve, no items", at("{type: array, x-kubernetes-preserve-unknown-fields: true}"), `{"a":[{"b":1},1,[{"c":1}],{}]}`, `{"a":[{"b":1},1,[{"c":1}],{}]}`, ""},
		{"2.1/preserve, items", at("{type: array, x-kubernetes-preserve-unknown-fields: true, items: {type: object, properties: {b: {type: object}}}}"),
			`{"a":[{"b":{"x":1},"c":2,"d":{"e":1}}]}`, `{"a":[{"b":{},"c":2,"d":{"e":1}}]}`, "a[0].b.x"},
		{"2.1/additionalProperties true", at("{type: object, additionalProperties: true}"), `{"a":{"k":{"x":1},"n":1,"arr":[{"z":1}]}}`, `{"a":{"arr":[{}],"k":{},"n":1}}`, "a.arr[0].z a.k.x"},
		{"2.1/additionalProperties false", at("{type: object, additionalProperties: false}"), `{"a":{"k":{"x":1},"n":1,"arr":[{"z":1}]}}`, `{"a":{"arr":[{}],"k":{},"n":1}}`, "a.arr[0].z a.k.x"},
		{"2.1/preserve and true", at("{" + any + ", additionalProperties: true}"), `{"a":{"k":{"x":1},"n":1,"arr":[{"z":1}]}}`, `{"a":{"arr":[{}],"k":{},"n":1}}`, "a.arr[0].z a.k.x"},
		{"2.1/values preserve", at("{type: object, additionalProperties: {x-kubernetes-preserve-unknown-fields: true}}"), `{"a":{"k":{"x":1}}}`, `{"a":{"k":{"x":1}}}`, ""},
		{"2.1/both", at("{type: object, properties: {x: {type: object}}, additionalProperties: true}"), `{"a":{"x":{"q":1},"y":{"q":1},"z":1}}`, `{"a":{"x":{},"y":{},"z":1}}`, "a.x.q a.y.q"},
		{"2.1/int or string", at("{x-kubernetes-int-or-string: true}"), `{"a":{"k":{"x":1}}}`, `{"a":{}}`, "a.k"},
		{"2.1/embedded array", at("{" + any + ", x-kubernetes-embedded-resource: true}"), `{"a":[{"metadata":{"junk":1}}]}`, `{"a":[{"metadata":{"junk":1}}]}`, ""},
		// Section 3.3.
		{"3.3/item", at("{type: array, items: {type: string, default: Z}}"), `{"a":[null,"a"]}`, `{"a":["Z","a"]}`, ""},
		{"3.3/nullable item", at("{type: array, items: {type: string, nullable: true, default: Z}}"), `{"a":[null,"a"]}`, `{"a":[null,"a"]}`, ""},
		{"3.3/value", at("{type: object, additionalProperties: {type: string, default: Z}}"), `{"a":{"a":null,"b":"q"}}`, `{"a":{"a":"Z","b":"q"}}`, ""},
		{"3.3/value without", at("{type: object, additionalProperties: {type: string}}"), `{"a":{"k":null,"j":"v"}}`, `{"a":{"j":"v"}}`, ""},
		{"3.3/in values", at("{type: object, additionalProperties: {type: object, properties: {x: {type: integer, default: 1}}}}"), `{"a":{"a":{},"b":null,"c":5}}`, `{"a":{"a":{"x":1},"c":5}}`, ""},
		{"3.3/absent parent", at("{type: object, properties: {x: {type: integer, default: 1}}}"), `{"a":null}`, `{}`, ""},
		{"3.3/empty parent", at("{type: object, default: {}, properties: {x: {type: integer, default: 1}}}"), `{"a":null}`, `{"a":{"x":1}}`, ""},
		{"3.3/nullable parent", at("{type: object, default: {}, nullable: true, properties: {x: {type: integer, default: 1}}}"), `{"a":null}`, `{"a":null}`, ""},
		{"3.3/array", at("{type: array, default: [{}, {x: 2}], items: {type: object, properties: {x: {type: integer, default: 1}}}}"), `{}`, `{"a":[{"x":1},{"x":2}]}`, ""},
		{"3.3/preserve", at("{" + any + ", properties: {x: {type: integer, default: 1}}}"), `{"a":{"z":1}}`, `{"a":{"x":1,"z":1}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			object, strict := decode(t, newServer(t, c.schema), c.in)
			assert.Equal(t, c.want, object)
			assert.Equal(t, unknownFields(c.unknown), strict)
		})
	}
}

// TestOracleOrder is the example of 6.2.
func TestOracleOrder(t *testing.T) {
	const embedded = "{type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}"
	s := newServer(t, "{type: object, properties: {z: "+embedded+", a: "+embedded+", m: {type: object}}}")
	_, strict := decode(t, s, `{"zz":1,"zz":2,
		"metadata":{"z":1,"b":1,"name":"x","name":"y","a":2,"ownerReferences":[{"q":1}]},
		"z":{"metadata":{"u2":1,"u1":1}},"a":{"metadata":{"u2":1}},"m":{"k2":1,"k1":{}},"aa":1}`)
	want := append([]string{`duplicate field "zz"`, `duplicate field "metadata.name"`}, unknownFields(
		"metadata.a metadata.b metadata.ownerReferences[0].q metadata.z aa m.k1 m.k2 zz a.metadata.u2 z.metadata.u1 z.metadata.u2")...)
	assert.Equal(t, want, strict)
}

// TestOracleRefuses has fatal errors, by their stage.
func TestOracleRefuses(t *testing.T) {
	s := newServer(t, "{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}")
	const typed = `{"apiVersion":"fuzz.example.com/v1","kind":"Trellis",`
	for body, stage := range map[string]Stage{
		``:                  Sniff,
		`[]`:                Sniff,
		`{"kind":5}`:        Sniff,
		typed + `"KIND":5}`: Sniff,
		`{"kind":"Trellis","apiVersion":"a/b/c"}`:       Sniff,
		typed + `"a":01}`:                               Sniff,
		typed + `"a":1e400}`:                            Parse,
		`null`:                                          Kind,
		`{"Kind":"Trellis"}`:                            Kind,
		`{"kind":"Trellis","apiVersion":null}`:          TypeMeta,
		typed + `"metadata":"m"}`:                       RootMetadata,
		typed + `"metadata":{"labels":{"a":5}}}`:        RootMetadata,
		typed + `"metadata":{"creationTimestamp":"x"}}`: RootMetadata,
		typed + `"e":{"kind":null}}`:                    EmbeddedMetadata,
		typed + `"e":{"metadata":{"name":1}}}`:          EmbeddedMetadata,
	} {
		_, err := s.Decode([]byte(body))
		var fault *StageError
		if assert.ErrorAs(t, err, &fault, body) {
			assert.Equal(t, stage, fault.Stage, "%s: %v", body, err)
		}
	}
}

// TestOracleFaults has all faults for which a document is refused, and their places.
func TestOracleFaults(t *testing.T) {
	s := newServer(t, "{type: object, properties: {m: {type: object, additionalProperties: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}")
	s.AnyKind = true
	for body, want := range map[string]string{
		``:                                "syntax 0",
		`{"kind":"A"`:                     "syntax 11",
		`nul`:                             "syntax 3",
		`{"kind":"A"}}`:                   "syntax 12",
		strings.Repeat("[", 10_001):       "depth of nesting 10000",
		`{"kind":"A","a":[1e400 ]}`:       "number out of range 22",
		`[]`:                              "no object, no object", // by the first reader, and by the second
		`null`:                            "no kind, no object",
		`{}`:                              "no kind",
		`{"kind":5,"apiVersion":null}`:    "kind or apiVersion is no string kind, no kind, kind or apiVersion is no string kind, kind or apiVersion is no string apiVersion",
		`{"kind":5,"kind":"A"}`:           "kind or apiVersion is no string kind",
		`{"kind":"A","apiVersion":"/a/"}`: "apiVersion is none /a/, apiVersion is none /a/",
		`{"kind":"A","metadata":{"labels":{"a":5},"annotations":5}}`:        "metadata annotations",
		`{"kind":"A","metadata":{"creationTimestamp":"x","annotations":5}}`: "metadata",
		`{"metadata":5,"m":{"k":{"kind":5}}}`:                               "no kind, metadata, embedded resource m[k].kind",
		`{"kind":"A","m":{"k":{"metadata":{"name":5}}}}`:                    "embedded resource m[k].metadata",
	} {
		var got []string
		for _, f := range s.Faults([]byte(body), false) {
			text := string(f.Sort)
			switch f.Sort {
			case SyntaxFault, DepthFault, RangeFault:
				text += fmt.Sprint(" ", f.Offset)
			default:
				text = strings.TrimSpace(text + " " + f.Field)
			}
			got = append(got, text)
		}
		assert.Equal(t, want, strings.Join(got, ", "), body)
		_, err := s.Decode([]byte(body))
		assert.Error(t, err)
	}
	assert.Equal(t, []Fault{{Sort: EmbeddedFault, Field: "m[k].metadata", Text: "json: cannot unmarshal string into Go value of type v1.ObjectMeta"}},
		s.Faults([]byte(`{"kind":"A","metadata":{},"m":{"k":{"metadata":"m"}}}`), true))
}

// TestOracleMetadata has examples of 4.2.
func TestOracleMetadata(t *testing.T) {
	s := newServer(t, "{type: object}")
	object, strict := decode(t, s, `{"metadata":{"labels":{"a":null},"finalizers":[null,"x"],"annotations":{},
		"creationTimestamp":"2020-01-01T00:00:00.5+02:00","generation":1e3}}`)
	assert.Equal(t, `{"metadata":{"creationTimestamp":"2019-12-31T22:00:00Z","finalizers":["","x"],"generation":1000,"labels":{"a":""}}}`, object)
	assert.Empty(t, strict)
	object, _ = decode(t, s, `{"metadata":null}`)
	assert.Equal(t, `{"metadata":{}}`, object)
}

// TestOraclePrunesDefaults is 3.4.
func TestOraclePrunesDefaults(t *testing.T) {
	s := newServer(t, `{type: object, properties: {e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true,
		default: {apiVersion: v1, kind: A, metadata: {name: x, junk: 1, finalizers: 5}}}}}`)
	object, _ := decode(t, s, `{}`)
	assert.Equal(t, `{"e":{"apiVersion":"v1","kind":"A","metadata":{"name":"x"}}}`, object)
}

// TestOracleStorage has examples of 4.2, 4.3 and 10 for stored objects.
func TestOracleStorage(t *testing.T) {
	s := newServer(t, `{type: object, properties: {a: {type: string, default: A}, e: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true},
		m: {type: object, additionalProperties: {type: object, default: {a: null}, properties: {a: {type: string}}}}}}`)
	for _, c := range []struct {
		in, want string // want is the object, or the stage at which it is refused
	}{
		{`"metadata":null`, `{"a":"A","metadata":{"generation":1}}`},
		{`"metadata":{"generation":0,"labels":{"a":5},"finalizers":"bad","name":"n","junk":1},"x":1`, `{"a":"A","metadata":{"generation":1,"name":"n"}}`},
		{`"metadata":{"generation":7},"e":{"kind":1,"apiVersion":null,"metadata":{"labels":[],"name":"n"}}`, `{"a":"A","e":{"metadata":{"name":"n"}},"metadata":{"generation":7}}`},
		{`"metadata":{},"m":{"k":null}`, `{"a":"A","m":{"k":{}},"metadata":{"generation":1}}`},
		{`"metadata":{},"KIND":5`, `{"a":"A","metadata":{"generation":1}}`}, // stored objects are not sniffed
		{`"metadata":"m"`, "root metadata"},
		{`"metadata":{},"e":{"metadata":"m"}`, "embedded metadata"}, // the second pass finds it
		{`"x":1`, "panic"},
		{`"kind":5`, "kind"},
		{`"apiVersion":"a/b/c","metadata":{}`, "kind"},
		{`"apiVersion":5,"metadata":{}`, "type meta"},
		{`"a":01`, "parse"},
	} {
		a, err := s.DecodeStored([]byte(`{"apiVersion":"fuzz.example.com/v1","kind":"Trellis",` + c.in + `}`))
		var fault *StageError
		if errors.As(err, &fault) {
			assert.Equal(t, c.want, fault.Stage.String(), c.in)
			continue
		}
		delete(a.Object, "apiVersion")
		delete(a.Object, "kind")
		js, err := json.Marshal(a.Object)
		require.NoError(t, err)
		assert.Equal(t, c.want, string(js), c.in)
	}
}

// TestOracleOtherTypes shows which type decides about the schema.
func TestOracleOtherTypes(t *testing.T) {
	s := newServer(t, "{type: object, properties: {a: {type: integer, default: 1}}}")
	for body, want := range map[string]string{
		`{"kind":"Other","apiVersion":"fuzz.example.com/v1","x":1}`:   `{"apiVersion":"fuzz.example.com/v1","kind":"Other","x":1}`,
		`{"kind":"Trellis","apiVersion":"fuzz.example.com/v2","x":1}`: `{"apiVersion":"fuzz.example.com/v2","kind":"Trellis"}`,
		`{"kind":"Trellis","x":1}`:                                    `{"kind":"Trellis","x":1}`,
	} {
		a, err := s.Decode([]byte(body))
		require.NoError(t, err)
		js, err := json.Marshal(a.Object)
		require.NoError(t, err)
		assert.Equal(t, want, string(js))
	}
	s.AnyType = true
	a, err := s.Decode([]byte(`{"apiVersion":"a/b/c","x":1}`))
	require.NoError(t, err)
	assert.Equal(t, map[string]any{"apiVersion": "a/b/c", "a": int64(1)}, a.Object)
}

// TestOracleIsBounded asserts that documents which the server would expand without bound are
// refused at once.
func TestOracleIsBounded(t *testing.T) {
	schema := "{type: string, default: " + strings.Repeat("x", 1000) + "}"
	for range 8 {
		schema = "{type: array, default: [{}, {}, {}, {}, {}, {}, {}, {}, {}, {}], items: {type: object, properties: {a: " + schema + "}}}"
	}
	_, err := newServer(t, "{type: object, properties: {a: "+schema+"}}").Decode([]byte(`{"kind":"Trellis","apiVersion":"fuzz.example.com/v1"}`))
	var fault *StageError
	require.ErrorAs(t, err, &fault)
	assert.Equal(t, Capped, fault.Stage)
}
