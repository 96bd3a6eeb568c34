package fuzz

// reserved writes the value of kind, apiVersion or metadata of a resource.
func (w *documentWriter) reserved(name string) {
	w.blank()
	defer w.blank()
	if name != "metadata" {
		if !w.wild || !in(w.Rand, 4) {
			w.text(map[string]string{"kind": "Trellis", "apiVersion": "fuzz.example.com/v1"}[name])
			return
		}
		w.b.WriteString(one(w.Rand, `""`, "null", "5", `{"a":1}`, `"a/b/c"`, `["x"]`))
		return
	}
	if in(w.Rand, 25) {
		w.b.WriteString("null")
		return
	}
	if w.wild && in(w.Rand, 8) {
		w.b.WriteString(one(w.Rand, `"m"`, "5", "[]", "true", `[{"name":"n"}]`))
		return
	}
	w.members(w.IntN(5), func() {
		if in(w.Rand, 6) {
			w.text(one(w.Rand, "junk", "Name", "clusterName", "evil", "zz", "apiVersion"))
			w.b.WriteByte(':')
			w.any(6)
			return
		}
		w.metadataField()
	})
}

// members writes an object. Its names may repeat even if other objects' names do not.
func (w *documentWriter) members(n int, member func()) {
	w.b.WriteByte('{')
	w.blank()
	for i := range n {
		if i > 0 {
			w.b.WriteByte(',')
		}
		member()
	}
	w.b.WriteByte('}')
}

// metadataValues are texts for the fields of ObjectMeta: first ordinary ones, which the server
// keeps as they are, then ones that it rewrites, and then ones that it refuses.
var metadataValues = []struct {
	names                      []string
	plain, rewritten, mistyped []string
}{
	{[]string{"name", "generateName", "namespace", "selfLink", "uid", "resourceVersion"},
		[]string{`"n"`, `"a-b.c"`, `"\u00e9"`}, []string{`""`, "null"}, []string{"5", `["n"]`, "{}", "true"}},
	{[]string{"creationTimestamp", "deletionTimestamp"},
		[]string{`"2026-01-02T03:04:05Z"`}, []string{"null", `"2026-01-02T03:04:05+02:00"`, `"2026-01-02T03:04:05.678Z"`}, []string{"5", `["x"]`, `"x"`, `""`}},
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
		[]string{`[{"kind":"A","q":1}]`, `[{"zz":{"a":1},"apiVersion":"v1"}]`, `[{"q":null},{"q":null,"q":2}]`}, nil, nil},
}

func (w *documentWriter) metadataField() {
	of := metadataValues[w.IntN(len(metadataValues))]
	w.text(one(w.Rand, of.names...))
	w.b.WriteByte(':')
	w.blank()
	switch {
	case of.mistyped == nil:
		w.b.WriteString(one(w.Rand, of.plain...))
	case w.wild && in(w.Rand, 10):
		w.b.WriteString(one(w.Rand, of.mistyped...))
	case in(w.Rand, 4):
		w.b.WriteString(one(w.Rand, of.rewritten...))
	default:
		w.b.WriteString(one(w.Rand, of.plain...))
	}
	w.blank()
}
