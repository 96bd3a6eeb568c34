package fuzz

import "slices"

// metadataValues are texts for the fields of ObjectMeta: first ordinary ones, which the server
// keeps as they are, then ones that it rewrites, and then ones that it refuses.
var metadataValues = []struct {
	names                      []string
	plain, rewritten, mistyped []string
}{
	{[]string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"},
		[]string{`"n"`, `"a-b.c"`, `"\u00e9"`}, []string{`""`, "null"}, []string{"5", `["n"]`, "{}", "true"}},
	{[]string{"creationTimestamp", "deletionTimestamp"},
		[]string{`"2026-01-02T03:04:05Z"`}, []string{"null", `"2026-01-02T03:04:05+02:00"`, `"2026-01-02T03:04:05.678Z"`, `"0001-01-01T00:00:00Z"`, `"9999-12-31T23:59:59-12:00"`}, []string{"5", `["x"]`, `"x"`, `""`}},
	{[]string{"generation", "deletionGracePeriodSeconds"},
		[]string{"3", "-4"}, []string{"null", "0", "1.0", "1e3"}, []string{`"5"`, "1.5", "[]", "9223372036854775808"}},
	{[]string{"labels", "annotations"},
		[]string{`{"a":"b"}`, `{"a":"b","c":"d"}`, `{"x.y/z":"v"}`}, []string{"null", "{}", `{"a":null}`, `{"a":"","b":null}`}, []string{`{"a":5}`, `"x"`, `[]`, `{"a":{}}`, `{"a":true}`}},
	{[]string{"finalizers"},
		[]string{`["f"]`, `["f","g/h"]`}, []string{"null", "[]", `[null,"x"]`}, []string{`"x"`, `[5]`, `{}`, `[["f"]]`}},
	{[]string{"ownerReferences"},
		[]string{`[{"apiVersion":"v1","kind":"A","name":"n","uid":"u","controller":true}]`},
		[]string{"null", "[]", "[{}]", "[null]", `[{"kind":"A","controller":null,"name":null}]`}, []string{`{}`, `[5]`, `[{"controller":"x"}]`, `[{"name":1}]`}},
	{[]string{"managedFields"},
		[]string{`[{"manager":"m","operation":"Apply","fieldsV1":{"f:a":{}}}]`},
		[]string{"[]", `[{"time":"2026-01-02T03:04:05+02:00"}]`, `[{"fieldsV1":null}]`, `[{"fieldsV1":"x"}]`, `[null]`}, []string{`[{"manager":5}]`, `[{"time":5}]`, `"x"`}},
	{[]string{"ownerReferences", "managedFields"},
		[]string{`[{"kind":"A","q":1}]`, `[{"zz":{"a":1},"apiVersion":"v1"}]`}, nil, nil},
}

// metadata changes metadata: it gets other members, and loses some of its own.
func (p *spoiler) metadata(t *tree) {
	switch {
	case in(p.Rand, 12):
		p.become(t, "null")
	case p.wild && in(p.Rand, 8):
		p.become(t, `"m"`, "5", "[]", "true", `[{"name":"n"}]`)
	case !t.isObject && p.mends():
		*t = tree{isObject: true}
	}
	if !t.isObject {
		return
	}
	t.members = slices.DeleteFunc(t.members, func(m member) bool {
		alone := tree{isObject: true, members: []member{m}}
		js := alone.append(nil)
		fits, _ := asMetadata(js)
		return !fits && p.mends()
	})
	for range p.IntN(5) {
		of := metadataValues[p.IntN(len(metadataValues))]
		values := of.plain
		switch {
		case of.mistyped == nil:
		case in(p.Rand, 8):
			values = []string{"null"}
		case p.wild && in(p.Rand, 10):
			values = of.mistyped
		case in(p.Rand, 4):
			values = of.rewritten
		}
		p.insert(t, one(p.Rand, of.names...), one(p.Rand, values...))
	}
}
