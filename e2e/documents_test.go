package e2e

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	kjson "sigs.k8s.io/json"
	"sigs.k8s.io/yaml"
)

// The members of documents.
var (
	kinds = []string{
		`"kind":"Trellis"`, `"kind":"Trellis"`, `"kind":"Trellis"`, `"kind":"Trellis"`, `"kind":"Trellis"`, `"kind":"Trellis"`,
		``, `"kind":""`, `"kind":null`, `"kind":5`, `"kind":{}`, `"kind":["Trellis"]`, `"kind":true`,
		`"kind":"Other"`, `"kind":"trellis"`, `"kind":"TrellisList"`, `"kind":"List"`,
		`"kind":"DeleteOptions"`, `"kind":"Status"`, `"kind":"Table"`, `"kind":"Scale"`,
		`"kind":5,"kind":"Trellis"`, `"kind":"Trellis","kind":5`, `"kind":"Other","kind":"Trellis"`, `"kind":null,"kind":"Trellis"`,
		`"kind":"Trellis","KIND":5`, `"KIND":{},"kind":"Trellis"`, `"kind":"Trellis","Kind":"Other"`, `"Kind":"Trellis"`, `"kind":"Trellis","kinD":null`,
		`"\u212aind":5,"kind":"Trellis"`, `"\u006bind":"Trellis"`, `"kind":"Trellis","KIND":5,"KIND":"x"`,
	}
	apiVersions = []string{
		`"apiVersion":"garden.example.com/v1"`, `"apiVersion":"garden.example.com/v1"`, `"apiVersion":"garden.example.com/v1"`, `"apiVersion":"garden.example.com/v1"`,
		`"apiVersion":"garden.example.com/v2"`, `"apiVersion":"garden.example.com/v9"`, `"apiVersion":"other.example.com/v1"`, `"apiVersion":"v1"`, `"apiVersion":"meta.k8s.io/v1"`,
		``, `"apiVersion":""`, `"apiVersion":null`, `"apiVersion":5`, `"apiVersion":"a/b/c"`, `"apiVersion":"/"`, `"apiVersion":"garden.example.com/"`,
		`"apiVersion":{},"apiVersion":"garden.example.com/v1"`, `"apiVersion":"v2","apiVersion":"garden.example.com/v1"`,
		`"apiVersion":"garden.example.com/v1","APIVERSION":"a/b/c"`, `"apiversion":"a/b/c","apiVersion":"garden.example.com/v1"`,
		`"apiVersion":"garden.example.com/v1","apiVer\u017fion":7`, `"apiVersion":"garden.example.com/v1","ApiVersion":"v3"`,
	}
	metadatas = []string{
		``, `"metadata":{"name":"a"}`, `"metadata":{"name":"a"}`, `"metadata":{"name":"a","labels":{"a":"b"},"generation":3}`, `"metadata":{}`, `"metadata":null`,
		`"metadata":5`, `"metadata":{"name":5}`, `"metadata":{"labels":{"a":5}}`, `"metadata":{"creationTimestamp":"x"}`, `"metadata":{"name":"a","junk":1,"":2}`,
		`"metadata":{"name":"a","name":"b","annotations":{"x\"y":"1","x\"y":"2"}}`, `"metadata":{"ownerReferences":[{"bad":1}]}`, `"metadata":{"name":"a"},"metadata":{"junk":1}`,
		`"metadata":{"managedFields":[{"fieldsV1":{"f:a":{}},"x":1}],"finalizers":[null]}`,
	}
	specs = []string{
		``, `"spec":{}`, `"spec":{"rows":4}`, `"spec":null`, `"spec":5`, `"spec":[]`, `"spec":{"rows":1.0,"height":2,"any":{"a":[1e3,1.50,-0]}}`,
		`"spec":{"rows":1,"rows":2,"bad":3}`, `"spec":{"":1,"labels":{"":"1","":"2"}}`, `"spec":{"a\"b":1,"c\\d":2,"e\nf":3,"\u0000":4,"é":5,"\u202e":6}`,
		`"spec":{"plants":[{"name":"pear","bad":1},{"water":{"litres":2,"x":1}},null,5]}`, `"spec":{"note":null,"labels":{"a":null}}`,
		`"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a","junk":1,"":2},"x":1}}`, `"spec":{"template":{"apiVersion":5}}`,
		`"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":[]}}}`, `"spec":{"template":{"metadata":{"name":{}}}}`,
		`"spec":{"any":{"kind":5,"KIND":6,"items":[{"kind":"Trellis"}]}}`, `"spec":{"wires":3,"a.b":1,"labels":{"a":"1","a":"2"},"a[0]":1}`,
		`"spec":{` + numbered(`"x%d":1`, 130) + `}`, `"spec":{"labels":{` + numbered(`"x%[1]d":"","x%[1]d":""`, 120) + `},"z":1}`,
	}
	others = []string{
		``, ``, ``, `"status":{"a":1}`, `"":1`, `"bogus":1`, `"bogus":1,"bogus":2`, `"gracePeriodSeconds":5`, `"gracePeriodSeconds":"x"`, `"orphanDependents":true,"orphanDependents":false`,
		`"items":[]`, `"items":[{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":{"name":"a"},"spec":{"bad":1}}]`, `"items":[{"spec":{"bad":1}}]`, `"items":5`,
		`"columnDefinitions":[{"name":"a","bad":1}],"rows":[{"cells":[1],"object":{"kind":"Trellis","apiVersion":"garden.example.com/v1","bad":1}}]`,
		`"code":404,"reason":"NotFound","details":{"x":1}`, `"code":"x"`, `"spec":{"replicas":3,"bad":1}`, `"x":1,"X":2,"kin":3`,
	}
)

func numbered(format string, n int) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, ",")
}

// document composes a document.
func document(r *rand.Rand) []byte {
	var members []string
	for _, list := range [][]string{kinds, apiVersions, metadatas, specs, others} {
		if m := list[r.IntN(len(list))]; m != "" {
			members = append(members, m)
		}
	}
	r.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	doc := []byte("{" + strings.Join(members, ",") + "}")
	switch r.IntN(12) {
	case 0: // cut it
		doc = doc[:r.IntN(len(doc))]
	case 1: // change a byte
		doc[r.IntN(len(doc))] = `{}[]",:0a\x`[r.IntN(11)]
	case 2: // YAML
		if block, err := yaml.JSONToYAML(doc); err == nil {
			doc = block
		}
	}
	return doc
}

// asCBOR returns the object of a document as the server stores it in CBOR, or nil if it is none.
func asCBOR(doc []byte) []byte {
	u := new(unstructured.Unstructured)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(doc, &u.Object); err != nil || u.Object == nil {
		return nil
	}
	data, err := runtime.Encode(cbor.NewSerializer(nil, nil), u)
	if err != nil {
		return nil
	}
	return data
}

// handMade are documents that have each shown a difference.
func handMade() []string {
	const head = `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"}`
	const late = `{"name":"a","deletionTimestamp":"9999-12-31T23:59:59-12:00"}`
	return []string{
		``, ` `, `null`, `5`, `"x"`, `[]`, `{}`, `{`, `{"kind":`, `{"kind":"Trellis"`, head, head + `}x`, head + `,}`, "\xff", "{\"kind\":\"\xff\"}", "\ufeff" + head + `}`,
		head + `,"spec":{"rows":1e999}}`, head + `,"spec":` + strings.Repeat(`[`, 10_001) + strings.Repeat(`]`, 10_001) + `}`,
		`{"kind":"DeleteOptions","apiVersion":"garden.example.com/v1","bogus":1}`, `{"kind":null,"apiVersion":"other.example.com/"}`, `{"kind":"DeleteOptions","apiVersion":"v1","bogus":1,"gracePeriodSeconds":1,"gracePeriodSeconds":2}`,
		`{"kind":"TrellisList","apiVersion":"garden.example.com/v1","metadata":{},"items":[` + head + `,"spec":{"bad":1}}]}`,
		`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a"},"items":[{"kind":"Trellis"}]}`,
		`{"apiVersion":"garden.example.com/v1","kind":"Trellis"}`, `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"labels":{"a":1,"b":2},"name":3}}`,
		"apiVersion: garden.example.com/v1\nkind: Trellis\nspec: {rows: 1, rows: 2, x: 1}\n", "kind: 5\nkind: Trellis\n", "kind: Trellis\nKIND: 5\n",
		"apiVersion: garden.example.com/v1\nkind: Trellis\n---\nkind: Other\n", "kind: &a Trellis\napiVersion: garden.example.com/v1\nspec: {note: *a, <<: {rows: 1}}\n",
		head + "}\x00", head + `} {}`, head + "}\n \t\r\n", head + `}//`, " \n" + head + `}`, "\x00" + head + `}`, head + `,"a":"` + "\x01" + `"}`, head + `,"a":"\ud800"}`, head + `,"\ud800":1,"\udfff":2}`,
		head + `,"spec":{"any":[9223372036854775807,9223372036854775808,-9223372036854775809,-0,-0.0,1E+2,0e0,1e-400,123456789012345678901234567890]}}`, head + `,"spec":{"rows":01}}`, head + `,"spec":{"rows":+1}}`, head + `,"spec":{"rows":.5}}`, head + `,"spec":{"rows":NaN}}`,
		head + `,"spec":{"template":null,"plants":null,"labels":null,"height":null,"rows":null,"note":null,"any":null}}`, head + `,"spec":{"template":{"kind":null,"apiVersion":null,"metadata":null}}}`, head + `,"spec":{"template":[{"metadata":5}],"plants":{"name":"a"},"labels":["a"]}}`,
		head + `,"spec":{"template":{"metadata":{"creationTimestamp":"x"}},"any":{"metadata":5}}}`, head + `,"metadata":{"name":"b"},"metadata":{"namespace":"c"}}`, head + `,"spec":{"rows":1},"spec":{"height":2},"spec":{"rows":3,"rows":4}}`,
		`{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"a","generation":-1,"deletionGracePeriodSeconds":1.5,"resourceVersion":5,"uid":null,"ownerReferences":[null,{"controller":"x"}],"managedFields":[{"time":"x"},{"fieldsV1":5}],"annotations":{"a":null,"":""},"selfLink":"x"}}`,
		`{"apiVersion":"garden.example.com/v2","kind":"Trellis","metadata":{"name":"a"},"spec":{"rows":1,"wires":null,"height":3,"template":{"metadata":{"junk":1}}}}`,
		`{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":{},"spec":{"any":` + strings.Repeat(`{"a":`, 9_990) + `1` + strings.Repeat(`}`, 9_990) + `}}`,
		`{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":{},"spec":{"any":` + strings.Repeat(`[`, 9_998) + strings.Repeat(`]`, 9_998) + `}}`,
		"apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: 012}\nspec: {note: 0x1F, rows: 1_000, height: .inf, any: [yes, NO, ~, 1:30, 0o7, !!binary aGk=, !!str 1, 2020-01-01]}\n",
		"%YAML 1.1\n---\napiVersion: garden.example.com/v1\nkind: Trellis\n", "%YAML 1.2\n---\nkind: Trellis\n", "--- \n--- \nkind: Trellis\n", "\ufeffkind: Trellis\napiVersion: garden.example.com/v1\n", "kind: Trellis\n\tapiVersion: v1\n", "kind: *x\n", "kind: &a [*a]\n",
		"apiVersion: garden.example.com/v1\nkind: Trellis\nspec: &s {rows: 1}\nstatus: {<<: [*s, *s], rows: 2}\nbogus: {<<: *s, <<: *s}\n", "apiVersion: garden.example.com/v1\nkind: Trellis\nspec:\n  labels: {a: \"1\", 'a': \"2\"}\n  labels: {}\n",
		`{"kind":"List","apiVersion":"v1","metadata":{"resourceVersion":"1","continue":"x"},"items":null}`, `{"kind":"TrellisList","apiVersion":"garden.example.com/v1","items":[],"items":[]}`,
		`{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","details":{"causes":[{"bogus":1}]},"code":1,"code":2}`, `{"kind":"Scale","apiVersion":"autoscaling/v1","metadata":{"junk":1},"spec":{"replicas":"x"}}`,
		// A time that is the year 10000 in UTC is written once, and cannot be read again.
		`{"kind":"Trellis","apiVersion":"garden.example.com/v1","metadata":` + late + `}`, `{"apiVersion":"garden.example.com/v1","metadata":` + late + `}`, `{"kind":"Trellis","metadata":` + late + `}`, `{"metadata":` + late + `}`,
		`{"kind":"DeleteOptions","apiVersion":"v1","metadata":` + late + `}`, `{"kind":"Other","apiVersion":"other.example.com/v1","metadata":` + late + `}`, `{"kind":"","apiVersion":"garden.example.com/v1","metadata":` + late + `}`,
		"apiVersion: garden.example.com/v1\nkind: Trellis\nspec: {1: a, true: b, ~: c, 1.5: d}\n", "a: [", "? [a]\n: b\n", "kind: Trellis\nmetadata: {creationTimestamp: 2020-01-01}\n",
	}
}
