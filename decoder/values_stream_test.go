package decoder_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// trellis is the kind of the documents in these tests.
func trellis(t testing.TB, spec string) *schema.Program {
	s, err := schema.Parse([]byte(`{type: object, properties: {spec: ` + spec + `}}`))
	require.NoError(t, err)
	crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Scope: "Namespaced", Versions: []schema.Version{{Name: "v1", Schema: s}}}
	p, err := crd.Program("v1", validation.Values())
	require.NoError(t, err)
	return p
}

const trellisHead = `{"apiVersion":"example.com/v1","kind":"Trellis","metadata":{"name":"a"},"spec":`

// TestLongStreamsOfValues asserts that a stream holds a part of a document and no more.
func TestLongStreamsOfValues(t *testing.T) {
	p := trellis(t, `{type: object, required: [end], properties: {end: {type: string}, list: {type: array, maxItems: 99999, items: {
		type: object, required: [name], properties: {
			name: {type: string, pattern: "^[a-z]+$"}, kind: {type: string, enum: [Oak, Ash]}, size: {type: integer, minimum: 1}}}}}}`)
	element := `{"kind":"Ash","size":7,"name":"leaf"}` + strings.Repeat(" ", 60)
	list := strings.Repeat(element+",", 99_998)
	d := decoder.New(p, decoder.ValidateCreate, decoder.Limits{HeldBytes: 64 << 10})
	doc := trellisHead + `{"list":[` + list + element + `],"end":"x"}}`
	n, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
	require.NoError(t, err)
	assert.Greater(t, n, int64(5<<20))
	assert.Less(t, d.Cap(), 256<<10)

	doc = trellisHead + `{"list":[` + list + `{"size":0,"kind":"Elm"},` + element + `]}}`
	_, err = io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
	require.IsType(t, (*ferrors.InvalidError)(nil), err)
	at := strings.Index(doc, `{"size":0`)
	assert.Equal(t, strings.Join([]string{
		`1:80: spec.end: Required value`,
		`1:88: spec.list: Too many: 100000: must have at most 99999 items`,
		fmt.Sprintf(`1:%d: spec.list[99998].name: Required value`, at+1),
		fmt.Sprintf(`1:%d: spec.list[99998].size: Invalid value: 0: spec.list[99998].size in body should be greater than or equal to 1`, at+9),
		fmt.Sprintf(`1:%d: spec.list[99998].kind: Unsupported value: "Elm": supported values: "Ash", "Oak"`, at+18),
	}, "\n"), strings.ReplaceAll(details(d.Findings()), `"Oak", "Ash"`, `"Ash", "Oak"`))
}

// TestStreamsHoldWhatIsDoubtful asserts that the limit on what is held is for parts, too.
func TestStreamsHoldWhatIsDoubtful(t *testing.T) {
	p := trellis(t, `{type: object, properties: {
		text: {type: string, maxLength: 99999}, free: {type: string},
		set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}}}`)
	d := decoder.New(p, decoder.ValidateCreate, decoder.Limits{HeldBytes: 1 << 10})
	long := strings.Repeat("x", 1<<12)
	for doc, path := range map[string]string{
		`{"text":"` + long + `"}}`:                      "spec.text",
		`{"set":[` + strings.Repeat("1,", 999) + `1]}}`: "spec.set",
		`{"free":"` + long + `"}}`:                      "",
	} {
		_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(trellisHead+doc)))
		if path == "" {
			require.NoError(t, err)
			continue
		}
		var limit *ferrors.LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, ferrors.LimitHeldBytes, limit.Limit)
		assert.Contains(t, limit.Path.String(), path)
	}
}

// TestStreamsOfWrongType asserts that a wrong type takes back what the server would not look at, also
// of the findings that were not kept.
func TestStreamsOfWrongType(t *testing.T) {
	p := trellis(t, `{type: object, properties: {list: {type: array, items: {type: integer, minimum: 1}},
		set: {type: array, x-kubernetes-list-type: set, items: {type: integer}}}}`)
	const spec = `{"list":[0,0,0,0],"set":[2,2]}`
	for _, doc := range []string{
		`{"kind":"Trellis","spec":` + spec + `}`,
		`{"spec":` + spec + `,"metadata":{"name":"A"},"kind":"Trellises","apiVersion":"example.com/v1"}`,
		trellisHead + spec + `}`,
	} {
		for _, most := range []int{2, 100} {
			d := decoder.New(p, decoder.ValidateCreate, decoder.Limits{Findings: most})
			_, want := d.AppendJSON(nil, []byte(doc))
			found, omitted := details(d.Findings()), d.Omitted()
			_, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
			require.IsType(t, want, err)
			assert.Equal(t, omitted+strings.Count(found, "\n"), d.Omitted()+strings.Count(details(d.Findings()), "\n"))
			if most == 100 {
				assert.Equal(t, found, details(d.Findings()))
				assert.Equal(t, want, err)
			}
		}
	}
}

// TestStreamsAgree asserts that streams find what is found in a whole document.
func TestStreamsAgree(t *testing.T) {
	defer decoder.SetFirstWindow(16)()
	selector := ".status.selector"
	compile := func(text string, hasStatus bool, opts ...schema.Option) *schema.Program {
		s, err := schema.Parse([]byte(text))
		require.NoError(t, err)
		crd := &schema.CRD{Group: "example.com", Kind: "Trellis", Scope: "Namespaced", Versions: []schema.Version{{
			Name: "v1", Schema: s, HasStatus: hasStatus, Scale: &schema.Scale{
				SpecReplicasPath: ".spec.replicas", StatusReplicasPath: ".status.replicas", LabelSelectorPath: &selector,
			}}}}
		p, err := crd.Program("v1", append(opts, validation.Values())...)
		require.NoError(t, err)
		return p
	}
	const properties = `{type: object, required: [a], properties: {
		a: {type: integer, minimum: 1}, replicas: {type: integer}, selector: {type: string},
		list: {type: array, maxItems: 2, items: {type: integer, maximum: 3, default: 9}},
		set: {type: array, x-kubernetes-list-type: set, items: {type: string}},
		odd: {type: string, default: ab, maxLength: 2}, map: {type: object, additionalProperties: {type: string, default: "", minLength: 1}},
		e: {type: object, x-kubernetes-embedded-resource: true}}}`
	const text = `{type: object, properties: {spec: ` + properties + `, status: ` + properties + `}}`
	const part = `{"replicas":-1,"selector":7,"list":[1,2,null,4],"set":["a","\u0061"],"odd":null,"map":{"k":null},"e":{"kind":"K"}}`
	head := strings.TrimSuffix(trellisHead, `"spec":`)
	findings := 0
	for _, p := range []*schema.Program{compile(text, true), compile(text, false), mustCompileWith(t, text, validation.Values(), schema.ResourceRoot(false))} {
		for _, as := range requests {
			d := decoder.New(p, as)
			for _, doc := range []string{
				head + `"spec":` + part + `,"status":` + part + `}`,
				head + `"spec":[],"status":"x"}`,
				head + `"spec":{"replicas":"1","list":[null]},"status":{"replicas":{},"a":0}}`,
				`{"status":` + part + `,"kind":"Trellis","apiVersion":"example.com/v1"}`,
				`{"apiVersion":"v1","kind":"Trellis","metadata":{"name":"A"},"spec":{}}`,
				`{}`, `[]`, `7`, `null`,
			} {
				_, want := d.AppendJSON(nil, []byte(doc))
				found := details(d.Findings())
				findings += len(d.Findings())
				_, err := io.ReadAll(d.NewReader(iotest.OneByteReader(strings.NewReader(doc))))
				require.Equal(t, found, details(d.Findings()), doc)
				require.Equal(t, want, err, doc)
			}
		}
	}
	assert.Greater(t, findings, 80)
	free := compile(`{type: object, properties: {spec: {x-kubernetes-preserve-unknown-fields: true}}}`, true)
	d := decoder.New(free, decoder.ValidateCreate)
	_, err := io.ReadAll(d.NewReader(strings.NewReader(head + `"spec":{"replicas":"x"}}`)))
	assert.ErrorContains(t, err, "spec.replicas accessor error: x is of the type string, expected int64")
	// No server takes such a default. What is said in one place of the document may have another order.
	p := mustCompileWith(t, `{type: object, required: [a], properties: {b: {type: string, default: abc, maxLength: 2}}}`,
		validation.Values(), schema.ResourceRoot(false))
	for _, doc := range []string{`{}`, `{"b":null}`} {
		d := decoder.New(p, decoder.ValidateCreate)
		_, err := d.AppendJSON(nil, []byte(doc))
		require.IsType(t, (*ferrors.InvalidError)(nil), err)
		found := strings.Split(details(d.Findings()), "\n")
		require.Len(t, found, 2)
		_, err = io.ReadAll(d.NewReader(strings.NewReader(doc)))
		require.IsType(t, (*ferrors.InvalidError)(nil), err)
		require.ElementsMatch(t, found, strings.Split(details(d.Findings()), "\n"))
	}
	// What is no resource has a member with the name metadata and no metadata.
	p = mustCompileWith(t, `{type: object, properties: {metadata: {type: object, maxProperties: 9,
		properties: {name: {type: string}, x: {type: string, maxLength: 1}}}}}`, validation.Values(), schema.ResourceRoot(false))
	_, err = io.ReadAll(decoder.New(p, decoder.ValidateCreate).NewReader(strings.NewReader(`{"metadata":{"name":"a","x":"bcd"}}`)))
	assert.IsType(t, (*ferrors.InvalidError)(nil), err)
	p = mustCompileWith(t, `{type: object, properties: {kind: {type: string, maxLength: 2}}}`, validation.Values(), schema.ResourceRoot(false))
	_, err = io.ReadAll(decoder.New(p, decoder.ValidateCreate).NewReader(strings.NewReader(`{"kind":"long"}`)))
	assert.EqualError(t, err, `the object is invalid: kind: Too long: may not be more than 2 bytes`)
}

// TestNextStreamsOfValues asserts that nothing of a document is left for the next one of the same decoder: its type, its
// path, its invalid values, its nulls.
func TestNextStreamsOfValues(t *testing.T) {
	p := trellis(t, `{type: object, required: [a, b], properties: {a: {type: string, maxLength: 1}, b: {type: string, default: x}, c: {type: string}}}`)
	docs := []string{
		trellisHead + `{"a":"b"}}`,
		`{"kind":"Trellises","apiVersion":"example.com/v2","spec":{"a":"long"}}`,
		trellisHead + `{"c":"d"}}`,
		`{"spec":{"a":"long"},"metadata":{"name":"A"}}`,
		trellisHead + `{"a":"long","b":null}}`,
		`{"kind":5}`, `[]`,
	}
	for _, first := range docs {
		for _, second := range docs {
			whole := decoder.New(p, decoder.ValidateCreate)
			_, want := whole.AppendJSON(nil, []byte(second))
			d := decoder.New(p, decoder.ValidateCreate)
			_, _ = io.ReadAll(d.NewReader(strings.NewReader(first)))
			_, err := io.ReadAll(d.NewReader(strings.NewReader(second)))
			require.Equal(t, want, err, "%s after %s", second, first)
			require.Equal(t, details(whole.Findings()), details(d.Findings()))
		}
	}
}

// TestDefaultsOnStreams has defaults of the root that no server takes. They are judged by the rules for their fields,
// not by those for the object.
func TestDefaultsOnStreams(t *testing.T) {
	p := mustCompileWith(t, `{type: object, properties: {b: {type: integer}, c: {type: string, default: abc, maxLength: 2},
		a: {type: object, default: {b: 5}, properties: {b: {type: integer, maximum: 3}}}}}`, validation.Values(), schema.ResourceRoot(false))
	for _, doc := range []string{`{}`, `{"a":null,"b":1}`, `{"a":{"b":4},"c":null}`} {
		d := decoder.New(p, decoder.ValidateCreate)
		_, want := d.AppendJSON(nil, []byte(doc))
		found := strings.Split(details(d.Findings()), "\n")
		require.Len(t, found, 2)
		_, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
		require.IsType(t, want, err)
		require.ElementsMatch(t, found, strings.Split(details(d.Findings()), "\n"), doc)
	}
}

// TestStreamsOfDroppedNulls has required members that are null, and so dropped, and numbers that are
// cut.
func TestStreamsOfDroppedNulls(t *testing.T) {
	defer decoder.SetFirstWindow(16)()
	p := trellis(t, `{type: object, required: [a], properties: {a: {type: integer, minimum: 10}, b: {type: string}}}`)
	for doc, want := range map[string]string{
		`{"b":"x","a":null}}`: `1:93: spec.a: Required value`,
		`{"b":"x","a":123}}`:  ``,
		`{"b":"x","a":1}}`:    `1:93: spec.a: Invalid value: 1: spec.a in body should be greater than or equal to 10`,
	} {
		d := decoder.New(p, decoder.ValidateCreate)
		_, err := d.AppendJSON(nil, []byte(trellisHead+doc))
		require.Equal(t, want, details(d.Findings()))
		_, onStream := io.ReadAll(d.NewReader(iotest.OneByteReader(strings.NewReader(trellisHead + doc))))
		require.Equal(t, want, details(d.Findings()))
		require.Equal(t, err, onStream)
	}
	d := decoder.New(trellis(t, `{type: object, properties: {a: {type: string}, b: {type: string}}, anyOf: [{required: [a]}, {required: [b]}]}`), decoder.ValidateCreate)
	_, err := d.AppendJSON(nil, []byte(trellisHead+`{"a":null}}`))
	want := details(d.Findings())
	require.NotEmpty(t, want)
	_, onStream := io.ReadAll(d.NewReader(strings.NewReader(trellisHead + `{"a":null}}`)))
	require.Equal(t, want, details(d.Findings()), "it is about the object and not about the null")
	require.Equal(t, err, onStream)
}

// TestMalformedParts asserts that the exact rules refuse what is no JSON.
func TestMalformedParts(t *testing.T) {
	p, steps := trellis(t, `{type: object}`), 100
	errs := program.Of(p).Validator.ValidatePart(&program.Part{Path: []ferrors.Segment{{Name: "spec", IsName: true}}, Value: []byte(`{`)}, program.Create, &steps)
	require.Len(t, errs, 1)
	assert.Equal(t, ferrors.SchemaInvalid, errs[0].Kind)
}

// TestRoomAfterWrongType asserts that findings which are taken back leave their room to others.
func TestRoomAfterWrongType(t *testing.T) {
	p := trellis(t, `{type: array, items: {type: integer, minimum: 1}}`)
	d := decoder.New(p, decoder.ValidateCreate, decoder.Limits{FindingBytes: 200})
	doc := `{"spec":[0,0,0,0,0,0],"metadata":{"name":"a"},"kind":"Trellises","apiVersion":"example.com/v1"}`
	_, want := d.AppendJSON(nil, []byte(doc))
	_, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
	assert.Equal(t, want, err)
	assert.Zero(t, d.Omitted())
}

// TestStreamsOfValuesAllocateNothing asserts that valid documents cost no memory once there is
// enough.
func TestStreamsOfValuesAllocateNothing(t *testing.T) {
	p := trellis(t, `{type: object, required: [name], properties: {name: {type: string, pattern: "^[a-z]+$"}, size: {type: integer, minimum: 1},
		ports: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {
			type: object, required: [k], properties: {k: {type: string}}}}}}`)
	doc := []byte(trellisHead + `{"name":"leaf","size":7,"ports":[{"k":"a"},{"k":"b"}]}}`)
	d := decoder.New(p, decoder.ValidateCreate)
	src := bytes.NewReader(nil)
	r := d.NewReader(src)
	buf := make([]byte, 100)
	assert.Zero(t, testing.AllocsPerRun(10, func() {
		src.Reset(doc)
		r.Reset(src)
		var err error
		for err == nil {
			_, err = r.Read(buf)
		}
		if err != io.EOF {
			t.Error(err)
		}
	}))
}

// TestStepsOfStreams asserts that parts share the steps of a document.
func TestStepsOfStreams(t *testing.T) {
	var enum []string
	for i := range 4000 {
		enum = append(enum, fmt.Sprint(i))
	}
	p := trellis(t, `{type: array, items: {type: integer, enum: [`+strings.Join(enum, ",")+`]}}`)
	for _, window := range []int{16, 1 << 16} {
		restore := decoder.SetFirstWindow(window)
		d := decoder.New(p, decoder.ValidateCreate)
		for n, exceeds := range map[int]bool{10: false, 3000: true} {
			doc := trellisHead + "[" + strings.Repeat("-1,", n) + "1]}"
			out, err := io.ReadAll(d.NewReader(&atOnce{doc}))
			if !exceeds {
				require.IsType(t, (*ferrors.InvalidError)(nil), err)
				continue
			}
			var limit *ferrors.LimitError
			require.ErrorAs(t, err, &limit)
			assert.Equal(t, ferrors.LimitValidationSteps, limit.Limit)
			assert.Greater(t, limit.Max, int64(1<<20))
			assert.LessOrEqual(t, limit.Max, int64(1<<20+64*len(doc)), "64 for each byte that was read")
			assert.Empty(t, d.Findings())
			assert.Less(t, len(out), len(doc), "what is not complete looks whole")
			_, err = io.ReadAll(d.NewReader(&atOnce{trellisHead + "[1]}"}))
			require.NoError(t, err, "the next document has steps of its own")
		}
		restore()
	}
}

// An atOnce returns a text together with io.EOF.
type atOnce struct{ text string }

func (r *atOnce) Read(p []byte) (n int, err error) {
	n = copy(p, r.text)
	if r.text = r.text[n:]; r.text == "" {
		err = io.EOF
	}
	return n, err
}

// TestAlternativesOfArrays asserts that members which an alternative requires are required of objects
// alone: it fits all arrays.
func TestAlternativesOfArrays(t *testing.T) {
	const preserve = `x-kubernetes-preserve-unknown-fields: true, properties: {a: {type: string}, b: {type: string}}, `
	for rule, valid := range map[string]bool{
		`anyOf: [{required: [a]}, {required: [b]}]`: true, `allOf: [{required: [a]}, {required: [b]}]`: true,
		`oneOf: [{required: [a]}, {required: [b]}]`: false, `not: {required: [a]}`: false,
	} {
		d := decoder.New(trellis(t, "{"+preserve+rule+"}"), decoder.ValidateCreate)
		for _, spec := range []string{`[1]`, `[]`} {
			_, want := d.AppendJSON(nil, []byte(trellisHead+spec+"}"))
			require.Equal(t, valid, want == nil, rule)
			_, err := io.ReadAll(d.NewReader(strings.NewReader(trellisHead + spec + "}")))
			require.Equal(t, want, err, rule)
		}
	}
}

// TestNullsOfSiblings asserts that an object's nulls are forgotten at its end: the next object takes
// no memory for them, and a field that is missing around them is not taken for one of them.
func TestNullsOfSiblings(t *testing.T) {
	p := trellis(t, `{type: object, required: [a], properties: {a: {type: string},
		list: {type: array, items: {type: object, properties: {a: {type: string, default: x}}}}}}`)
	d := decoder.New(p, decoder.ValidateCreate, decoder.Limits{HeldBytes: 16 << 10})
	for _, n := range []int{0, 1, 10_000} {
		doc := trellisHead + `{"list":[` + strings.Repeat(`{"a":null},`, n) + `{}]}}`
		_, want := d.AppendJSON(nil, []byte(doc))
		_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
		require.Equal(t, want, err)
		assert.Equal(t, `1:80: spec.a: Required value`, details(d.Findings()))
	}
}

// TestMismatchesOnStreams asserts that invalid values are no findings where a value has a type that
// cannot be decoded.
func TestMismatchesOnStreams(t *testing.T) {
	p := trellis(t, `{type: integer, minimum: 1}`)
	d := decoder.New(p, decoder.ValidateCreate)
	for _, doc := range []string{
		`{"spec":0,"metadata":{"name":"A"},"kind":5}`, `{"kind":5,"spec":0,"metadata":[]}`,
	} {
		_, want := d.AppendJSON(nil, []byte(doc))
		found := details(d.Findings())
		_, err := io.ReadAll(d.NewReader(strings.NewReader(doc)))
		require.IsType(t, (*ferrors.TypeError)(nil), err)
		assert.Equal(t, want, err)
		assert.Equal(t, found, details(d.Findings()))
		assert.Zero(t, d.Omitted())
	}
}

// TestBudgetOfStreams asserts that a stream takes what it needs for values from the budget, and
// returns it.
func TestBudgetOfStreams(t *testing.T) {
	p := trellis(t, `{type: object, properties: {a: {type: string, anyOf: [{pattern: "^a+$"}, {pattern: "^b+$"}]}}}`)
	doc := trellisHead + `{"a":"` + strings.Repeat("a", 1<<16) + `c"}}`
	for room := 1 << 10; ; room += room / 4 {
		budget := &purse{room: room}
		d := decoder.New(p, decoder.ValidateCreate, decoder.WithBudget(budget))
		base := d.Cap()
		_, err := io.Copy(io.Discard, d.NewReader(strings.NewReader(doc)))
		assert.LessOrEqual(t, budget.taken, room)
		assert.InDelta(t, d.Cap()-base, budget.taken, 4096, "held in the end")
		if err != ferrors.ErrBudget {
			require.IsType(t, (*ferrors.InvalidError)(nil), err)
			assert.Greater(t, room, 64*len(doc), "what is decoded for the exact rules is in the budget")
			return
		}
	}
}
