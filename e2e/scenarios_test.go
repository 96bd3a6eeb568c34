package e2e

import (
	"fmt"
	"net/http"
	"strings"
)

const (
	jsonType       = "application/json"
	yamlType       = "application/yaml"
	mergePatchType = "application/merge-patch+json"
	jsonPatchType  = "application/json-patch+json"
	applyType      = "application/apply-patch+yaml"
)

// In bodies, NAME is replaced by the name of the object, and VERSION by its resourceVersion.
const head = `"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"NAME","resourceVersion":"VERSION"}`

// A body is sent to create or update an object.
type body struct{ name, contentType, text string }

// clean is the object that exists before an update or a patch.
const clean = `{` + head + `,"spec":{"rows":4,"note":"n","plants":[{"name":"pear"}]}}`

// objects are bodies of POST and PUT.
var objects = []body{
	{"clean", jsonType, clean},
	{"everything", jsonType, `{"apiVersion":"garden.example.com/v1","kind":"Trellis","kind":"Trellis",
		"metadata":{"name":"NAME","resourceVersion":"VERSION","z":1,"labels":{"a":null},"finalizers":[]},"zz":1,"zz":2,
		"spec":{"rows":1,"rows":3,"height":null,"note":null,"x.y":{"q":1},"plants":[{"name":"fig","b":1,"a":{"c":1}}],"labels":{"k":"v"},
		"any":{"x":1,"x":2,"n":null},"template":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","junk":1},"spec":{"s":1,"s":2}}}}`},
	{"numbers", jsonType, `{` + head + `,"spec":{"rows":1e1,"height":1.0,"any":[1.0,1e3,-0,-0.0,12345678901234567890,1.50]}}`},
	{"text", jsonType, `{` + head + `,"spec":{"note":"\ud83c\udf33 \u0041 é \/ <&>","any":"\ud800"}}`},
	{"invalid UTF-8", jsonType, `{` + head + `,"spec":{"note":"` + "a\xffb" + `"}}`},
	{"a value of the wrong type", jsonType, `{` + head + `,"spec":{"plants":{"x":1}}}`},
	{"a value that is required", jsonType, `{` + head + `,"spec":{"plants":[{"water":{}}]}}`},
	{"metadata of the wrong type", jsonType, `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"NAME","labels":{"a":5}}}`},
	{"no metadata", jsonType, `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":5}`},
	{"no time", jsonType, `{"apiVersion":"garden.example.com/v1","kind":"Trellis","metadata":{"name":"NAME","creationTimestamp":"now"}}`},
	{"embedded metadata", jsonType, `{` + head + `,"spec":{"template":{"apiVersion":"v1","kind":"Pod","metadata":{"labels":7}}}}`},
	{"no kind", jsonType, `{"apiVersion":"garden.example.com/v1","metadata":{"name":"NAME"}}`},
	{"another kind", jsonType, `{"apiVersion":"garden.example.com/v1","kind":"Gate","metadata":{"name":"NAME"}}`},
	{"another version", jsonType, `{"apiVersion":"garden.example.com/v2","kind":"Trellis","metadata":{"name":"NAME"},"spec":{"a":1}}`},
	{"no version", jsonType, `{"kind":"Trellis","metadata":{"name":"NAME"}}`},
	{"apiVersion with three parts", jsonType, `{"apiVersion":"a/b/c","kind":"Trellis","metadata":{"name":"NAME"}}`},
	{"an array", jsonType, `[` + clean + `]`},
	{"nothing", jsonType, ``},
	{"null", jsonType, `null`},
	{"malformed", jsonType, `{` + head + `,}`},
	{"two documents", jsonType, clean + clean},
	{"a number out of range", jsonType, `{` + head + `,"spec":{"height":1e999}}`},
	{"too deep", jsonType, `{` + head + `,"spec":{"any":` + strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000) + `}}`},
	{"many findings", jsonType, `{` + head + `,"spec":{` + many(70, `"unknown%02d":1`) + `}}`},
	{"YAML", yamlType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata:\n  name: NAME\n  resourceVersion: \"VERSION\"\nspec:\n  rows: 0x10\n  note: \"yes\"\n  any: [yes, 0777, 1_000, 1.0, ~, 2001-01-01]\n"},
	{"YAML with findings", yamlType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata:\n  name: NAME\n  resourceVersion: \"VERSION\"\n  junk: 1\nspec:\n  rows: 1\n  rows: 3\n  q: 1\n  any: {a: 1, a: 2}\n"},
	{"YAML with anchors", yamlType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME, resourceVersion: \"VERSION\"}\nspec:\n  any:\n    base: &b {x: 1, y: 2}\n    more:\n      <<: *b\n      y: 3\n"},
	{"JSON as YAML", yamlType, clean},
	{"two YAML documents", yamlType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME, resourceVersion: \"VERSION\"}\n---\na: 1\n"},
	{"malformed YAML", yamlType, "apiVersion: garden.example.com/v1\nkind: [\n"},
	{"YAML without a kind", yamlType, "apiVersion: garden.example.com/v1\n"},
}

// patches are applied to the clean object.
var patches = []body{
	{"merge", mergePatchType, `{"spec":{"rows":null,"note":"m","plants":[{"name":"fig"}]}}`},
	{"merge with findings", mergePatchType, `{"metadata":{"junk":1},"spec":{"rows":5,"rows":6,"q":{"a":1},"gone":null,"plants":[{"name":"fig","z":1}]}}`},
	{"merge with a wrong type", mergePatchType, `{"spec":{"rows":"x"}}`},
	{"merge with wrong metadata", mergePatchType, `{"metadata":{"labels":{"a":{}}}}`},
	{"merge malformed", mergePatchType, `{"spec":`},
	{"merge of null", mergePatchType, `null`},
	{"merge of an array", mergePatchType, `[1]`},
	{"JSON patch", jsonPatchType, `[{"op":"replace","path":"/spec/rows","value":9},{"op":"remove","path":"/spec/note"}]`},
	{"JSON patch with findings", jsonPatchType, `[{"op":"add","op":"replace","path":"/spec/rows","value":9,"bogus":1},{"op":"add","path":"/spec/q","value":{"a":1,"a":2}}]`},
	{"JSON patch that fails", jsonPatchType, `[{"op":"test","path":"/spec/rows","value":1}]`},
	{"JSON patch of a wrong type", jsonPatchType, `[{"op":5}]`},
	{"JSON patch malformed", jsonPatchType, `{}`},
	{"apply", applyType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME}\nspec:\n  rows: 6\n"},
	{"apply with an unknown field", applyType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME}\nspec:\n  q: 6\n"},
	{"apply with a duplicate", applyType, "apiVersion: garden.example.com/v1\nkind: Trellis\nmetadata: {name: NAME}\nspec:\n  rows: 6\n  rows: 7\n"},
	{"strategic merge", "application/strategic-merge-patch+json", `{}`},
}

var modes = []string{"", "Ignore", "Warn", "Strict"}

func many(n int, format string) string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(list, ",")
}

// A scenario is a request, and says whether the clean object exists before it.
type scenario struct {
	name  string
	of    string // the name of the body
	clean bool
	request
}

// scenarios returns all scenarios, each with an object of its own.
func scenarios() []scenario {
	var list []scenario
	add := func(s scenario, mode string) {
		if mode != "" {
			s.query = "fieldValidation=" + mode
		}
		if s.contentType == applyType {
			s.query += "&fieldManager=e2e&force=true"
		}
		_, s.of, _ = strings.Cut(s.name, ": ")
		s.name += ", " + mode
		list = append(list, s)
	}
	for _, mode := range modes {
		for _, o := range objects {
			add(scenario{"create: " + o.name, "", false, request{method: http.MethodPost, contentType: o.contentType, body: o.text}}, mode)
			if mode != "" { // the same as Warn
				add(scenario{"update: " + o.name, "", true, request{method: http.MethodPut, contentType: o.contentType, body: o.text, name: "NAME"}}, mode)
			}
		}
		for _, p := range patches {
			add(scenario{"patch: " + p.name, "", true, request{method: http.MethodPatch, contentType: p.contentType, body: p.text, name: "NAME"}}, mode)
		}
	}
	add(scenario{"create: an unknown mode", "", false, request{method: http.MethodPost, contentType: jsonType, body: clean}}, "strict")
	add(scenario{"update: an unknown mode", "", true, request{method: http.MethodPut, contentType: jsonType, body: clean, name: "NAME"}}, "x")
	add(scenario{"patch: an unknown mode", "", true, request{method: http.MethodPatch, contentType: mergePatchType, body: `{}`, name: "NAME"}}, "x")
	add(scenario{"create: another media type", "", false, request{method: http.MethodPost, contentType: "text/plain", body: clean}}, "")
	add(scenario{"create: parameters of the media type", "", false, request{method: http.MethodPost, contentType: "application/json; charset=utf-8", body: clean}}, "")
	add(scenario{"create: as long as may be", "", false, request{method: http.MethodPost, contentType: jsonType, body: padded(3 << 20)}}, "Ignore")
	add(scenario{"create: too long", "", false, request{method: http.MethodPost, contentType: jsonType, body: padded(3<<20 + 1)}}, "Ignore")
	add(scenario{"delete", "", true, request{method: http.MethodDelete, contentType: jsonType, name: "NAME"}}, "")
	for i := range list {
		name := fmt.Sprintf("t%03d", i)
		list[i].body = strings.ReplaceAll(list[i].body, "NAME", name)
		list[i].request.name = strings.ReplaceAll(list[i].request.name, "NAME", name)
	}
	return list
}

// padded returns a body of n bytes that has all defaults, so that a proxy which inserts them does
// not make it longer.
func padded(n int) string {
	const whole = `{` + head + `,"spec":{"rows":4,"height":2.5}}`
	rest := n - len(whole) + len("VERSION") // creation removes this
	return whole + strings.Repeat(" ", rest)
}
