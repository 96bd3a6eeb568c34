package request_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/request"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// potCRD defines Pot, whose values have rules.
var potCRD = corpus.Testdata("request/pots.yaml")

const potsPath = "/apis/example.com/v1/namespaces/default/pots"

func pots(tb testing.TB, opts ...schema.Option) *schema.Catalog {
	crds, err := schema.ParseCRD([]byte(potCRD))
	require.NoError(tb, err)
	c := schema.NewCatalog(opts...)
	require.NoError(tb, c.Add(crds...))
	return c
}

// validated returns a finder of pots whose values are validated.
func validated(tb testing.TB, opts ...decoder.Option) request.Finder {
	return request.ByPath(pots(tb, validation.Values()), append(opts, decoder.ValidateCreate)...)
}

// pot returns a Pot with a spec.
func pot(spec string) string {
	return `{"apiVersion":"example.com/v1","kind":"Pot","metadata":{"name":"a"},"spec":` + spec + `}`
}

// TestInvalidValues has the answers to objects with invalid values, in the words of the server.
func TestInvalidValues(t *testing.T) {
	many := pot(`{"names":["x","x","y"],"litres":0,"light":"moon"}`)
	for name, c := range map[string]struct {
		query, body string
		message     string
		causes      []request.Cause
		warning     string
	}{
		"one": {"", pot(`{"litres":10}`), `Pot.example.com "a" is invalid: spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9`,
			[]request.Cause{{Reason: "FieldValueInvalid", Message: "Invalid value: 10: spec.litres in body should be less than or equal to 9", Field: "spec.litres"}}, ""},
		"several": {"", many, `Pot.example.com "a" is invalid: [spec.names: Too many: 3: must have at most 2 items, spec.names[1]: Duplicate value: "x", ` +
			`spec.litres: Invalid value: 0: spec.litres in body should be greater than or equal to 1, spec.light: Unsupported value: "moon": supported values: "sun", "shade"]`,
			[]request.Cause{
				{Reason: "FieldValueTooMany", Message: "Too many: 3: must have at most 2 items", Field: "spec.names"},
				{Reason: "FieldValueDuplicate", Message: `Duplicate value: "x"`, Field: "spec.names[1]"},
				{Reason: "FieldValueInvalid", Message: "Invalid value: 0: spec.litres in body should be greater than or equal to 1", Field: "spec.litres"},
				{Reason: "FieldValueNotSupported", Message: `Unsupported value: "moon": supported values: "sun", "shade"`, Field: "spec.light"},
			}, ""},
		"missing": {"", `{"apiVersion":"example.com/v1","kind":"Pot","metadata":{"name":"a"}}`, `Pot.example.com "a" is invalid: spec: Required value`,
			[]request.Cause{{Reason: "FieldValueRequired", Message: "Required value", Field: "spec"}}, ""},
		"too long": {"", pot(`{"plant":"orchid"}`), `Pot.example.com "a" is invalid: spec.plant: Too long: may not be more than 5 bytes`,
			[]request.Cause{{Reason: "FieldValueTooLong", Message: "Too long: may not be more than 5 bytes", Field: "spec.plant"}}, ""},
		"type": {"", pot(`{"plant":7}`), `Pot.example.com "a" is invalid: spec.plant: Invalid value: "integer": spec.plant in body must be of type string: "integer"`,
			[]request.Cause{{Reason: "FieldValueTypeInvalid", Message: `Invalid value: "integer": spec.plant in body must be of type string: "integer"`, Field: "spec.plant"}}, ""},
		"junctor": {"", pot(`{"any":{}}`), `Pot.example.com "a" is invalid: [<nil>: Invalid value: "": "spec.any" must validate at least one schema (anyOf), spec.any.a: Required value]`,
			[]request.Cause{
				{Reason: "FieldValueInvalid", Message: `Invalid value: "": "spec.any" must validate at least one schema (anyOf)`, Field: "<nil>"},
				{Reason: "FieldValueRequired", Message: "Required value", Field: "spec.any.a"},
			}, ""},
		"Ignore": {"?fieldValidation=Ignore", pot(`{"litres":10,"x":1}`), `Pot.example.com "a" is invalid: spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9`, nil, ""},
		"Warn": {"", pot(`{"litres":10,"x":1,"y":1}`), `Pot.example.com "a" is invalid: spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9`, nil,
			`299 - "unknown field \"spec.x\"", 299 - "unknown field \"spec.y\""`},
		"Strict": {"?fieldValidation=Strict", pot(`{"litres":10}`), `Pot.example.com "a" is invalid: spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9`, nil, ""},
		"a generated name": {"", strings.Replace(pot(`{"litres":10}`), `"name":"a"`, `"generateName":"b-"`, 1),
			`Pot.example.com "b-xxxxx" is invalid: spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9`, nil, ""},
		"no name": {"", strings.Replace(pot(`{}`), `"name":"a"`, ``, 1), `Pot.example.com "" is invalid: metadata.name: Required value: name or generateName is required`, nil, ""},
		"another kind": {"", strings.Replace(pot(`{"x":1,"below":{"kind":"a/b","apiVersion":"v1"}}`), `"Pot"`, `"Pan"`, 1),
			`Pan.example.com "a" is invalid: [kind: Invalid value: "Pan": must be Pot, ` +
				`spec.below.kind: Invalid value: "a/b": may have mixed case, but should otherwise match: a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or 'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')]`,
			nil, `299 - "unknown field \"spec.x\""`},
	} {
		j := judge(t, validated(t), request.Options{}, post(t, potsPath+c.query, "", c.body))
		e := refused(t, j, 422)
		assert.Equal(t, c.message, e.Message, name)
		assert.Equal(t, "Invalid", e.Reason, name)
		assert.Equal(t, "example.com", e.Details.Group, name)
		if c.causes != nil {
			assert.Equal(t, &request.Details{Name: "a", Group: "example.com", Kind: "Pot", Causes: c.causes}, e.Details, name)
		}
		assert.Equal(t, c.warning, e.Header["Warning"], name)
		var invalid *ferrors.InvalidError
		require.ErrorAs(t, e, &invalid, name)
		assert.Len(t, invalid.Findings(), len(e.Details.Causes), name)
	}
}

// TestValidValues has what passes although values are validated, with the warnings.
func TestValidValues(t *testing.T) {
	invalid := pot(`{"litres":10}`)
	finalizers := strings.Replace(pot(`{}`), `"name":"a"`, `"name":"a","finalizers":["example.com","orphan","b","a.example.com/x"]`, 1)
	owner := `{"apiVersion":"v1","kind":"Pod","name":"b","uid":"c"}`
	owners := strings.Replace(pot(`{}`), `"name":"a"`, `"name":"a","ownerReferences":[`+owner+`,`+owner+`]`, 1)
	const repeated = `299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: c"`
	const noConflicts = ` to avoid accidental conflicts with other finalizer writers"`
	warned := []string{
		`299 - "metadata.finalizers: \"b\": prefer a domain-qualified finalizer name` + noConflicts,
		`299 - "metadata.finalizers: \"example.com\": prefer a domain-qualified finalizer name including a path (/)` + noConflicts,
	}
	unknown := strings.Replace(finalizers, `"spec":{}`, `"spec":{"x":1}`, 1)
	for name, c := range map[string]struct {
		request  request.Request
		warnings []string
	}{
		"valid":  {post(t, potsPath, "", pot(`{"litres":9}`)), nil},
		"status": {post(t, potsPath, "", strings.Replace(pot(`{}`), `"spec"`, `"status":{"litres":0},"spec"`, 1)), nil},
		"escape": {post(t, potsPath, "", pot(`{"plant":"\u00e4"}`)), nil},
		// What the server says of these depends on the stored object.
		"PUT":             {send(t, "PUT", potsPath+"/a", invalid), nil},
		"PUT of a status": {send(t, "PUT", potsPath+"/a/status", strings.Replace(invalid, `"spec"`, `"status":{"litres":0},"spec"`, 1)), nil},
		"merge patch":     {send(t, "PATCH", potsPath+"/a", `{"spec":{"litres":10}}`, "Content-Type", merge), nil},
		"apply patch":     {send(t, "PATCH", potsPath+"/a", invalid, "Content-Type", apply), nil},
		// Only a creation has these warnings.
		"finalizers":                {post(t, potsPath, "", finalizers), warned},
		"finalizers under Ignore":   {post(t, potsPath+"?fieldValidation=Ignore", "", unknown), warned},
		"finalizers, unknown":       {post(t, potsPath, "", unknown), append([]string{`299 - "unknown field \"spec.x\""`}, warned...)},
		"finalizers with escapes":   {post(t, potsPath, "", strings.Replace(finalizers, `"finalizers"`, `"f\u0069nalizers"`, 1)), warned},
		"finalizers of an update":   {send(t, "PUT", potsPath+"/a", finalizers), nil},
		"owners":                    {post(t, potsPath, "", owners), []string{repeated}},
		"finalizers below the spec": {post(t, potsPath, "", pot(`{"any":{"a":{"finalizers":["b"]}}}`)), nil},
	} {
		j := judge(t, validated(t), request.Options{}, c.request)
		require.Nil(t, j.refused, "%s: %v", name, j.refused)
		assert.Equal(t, c.warnings, j.Warnings, name)
	}
	j := judge(t, request.ByPath(pots(t)), request.Options{}, post(t, potsPath, "", finalizers))
	assert.Empty(t, j.Warnings, "values are not validated")

	// The server has not looked at finalizers when it refuses an object.
	both := strings.Replace(owners, `"spec":{}`, `"spec":{"litres":10}`, 1)
	both = strings.Replace(both, `"name":"a"`, `"name":"a","finalizers":["b"]`, 1)
	j = judge(t, validated(t), request.Options{}, post(t, potsPath+"?fieldValidation=Strict", "", both))
	assert.Equal(t, map[string]string{"Warning": repeated}, refused(t, j, 422).Header)
}

// TestInvalidValuesReported holds that an object passes as it was sent where findings are only
// reported, with a warning for each invalid value, whatever fieldValidation says.
func TestInvalidValuesReported(t *testing.T) {
	report := request.Options{Action: request.Report}
	const (
		body    = "apiVersion: example.com/v1\nkind: Pot\nmetadata: {name: a}\nspec: {litres: 10, any: {}}\n"
		unknown = `299 - "unknown field \"spec.x\""`
		litres  = `299 - "spec.litres: Invalid value: 10: spec.litres in body should be less than or equal to 9"`
	)
	values := []string{
		litres,
		`299 - "<nil>: Invalid value: \"\": \"spec.any\" must validate at least one schema (anyOf)"`,
		`299 - "spec.any.a: Required value"`,
	}
	owner := `{"apiVersion":"v1","kind":"Pod","name":"b","uid":"c"}`
	metadata := `"name":"a","finalizers":["b"],"ownerReferences":[` + owner + `,` + owner + `]`
	for name, c := range map[string]struct {
		query, body string
		warnings    []string
	}{
		"YAML":            {"", body, values},
		"Ignore":          {"?fieldValidation=Ignore", body, values},
		"Strict":          {"?fieldValidation=Strict", body, values},
		"unknown":         {"", pot(`{"litres":10,"x":1}`), []string{unknown, litres}},
		"unknown, Ignore": {"?fieldValidation=Ignore", pot(`{"litres":10,"x":1}`), []string{litres}},
		// The server looks at finalizers only if the object is valid.
		"metadata": {"", strings.Replace(pot(`{"litres":10}`), `"name":"a"`, metadata, 1), []string{
			`299 - ".metadata.ownerReferences contains duplicate entries; API server dedups owner references in 1.20+, and may reject such requests as early as 1.24; please fix your requests; duplicate UID(s) observed: c"`,
			litres,
		}},
		"valid": {"", pot(`{"litres":9}`), nil},
	} {
		media := ""
		if c.body == body {
			media = "application/yaml"
		}
		j := judge(t, validated(t), report, post(t, potsPath+c.query, media, c.body))
		require.Nil(t, j.refused, "%s: %v", name, j.refused)
		assert.Equal(t, c.body, j.body, name)
		assert.Equal(t, c.warnings, j.Warnings, name)
	}

	// Fields are refused under Strict, and objects of other kinds always.
	e := refused(t, judge(t, validated(t), report, post(t, potsPath+"?fieldValidation=Strict", "", pot(`{"litres":10,"x":1}`))), 400)
	assert.Contains(t, e.Message, `strict decoding error: unknown field "spec.x"`)
	pan := strings.Replace(pot(`{"below":{"kind":"a/b","apiVersion":"v1"}}`), `"Pot"`, `"Pan"`, 1)
	e = refused(t, judge(t, validated(t), report, post(t, potsPath, "", pan)), 422)
	assert.Len(t, e.Details.Causes, 2)

	j := judge(t, validated(t, decoder.Limits{Findings: 1}), report, post(t, potsPath, "", pot(`{"litres":10,"light":"moon"}`)))
	require.Nil(t, j.refused)
	assert.Len(t, j.Warnings, 1)
	assert.Equal(t, 1, j.Findings.Count(ferrors.InvalidValue))
	assert.Equal(t, 1, j.Omitted)
}

// TestInvalidValuesComeLast holds that an object is refused for what cannot be decoded, and under
// Strict for its fields, before its values matter.
func TestInvalidValuesComeLast(t *testing.T) {
	find := validated(t)
	strict := refused(t, judge(t, find, request.Options{}, post(t, potsPath+"?fieldValidation=Strict", "", pot(`{"litres":10,"x":1}`))), 400)
	assert.Equal(t, `Pot in version "v1" cannot be handled as a Pot: strict decoding error: unknown field "spec.x"`, strict.Message)
	var err *ferrors.StrictError
	require.ErrorAs(t, strict, &err)
	assert.Len(t, err.Findings(), 1)
	version := strings.Replace(pot(`{"litres":10}`), `/v1`, `/v2`, 1)
	assert.Contains(t, refused(t, judge(t, find, request.Options{}, post(t, potsPath, "", version)), 400).Message, "does not match the expected API version")
	refused(t, judge(t, find, request.Options{}, post(t, potsPath, "", `{`)), 400)
}

// TestInvalidValuesHavePlaces holds that problem details say where invalid values are.
func TestInvalidValuesHavePlaces(t *testing.T) {
	body := "apiVersion: example.com/v1\nkind: Pot\nmetadata: {name: a}\nspec:\n  litres: 10\n  any: {}\n"
	gate := request.NewGate(request.Options{ProblemDetails: true})
	x := gate.Begin(post(t, potsPath, "application/yaml", body))
	defer x.Close()
	_, e := x.Judge(validated(t))
	require.NotNil(t, e)
	var problem struct {
		Errors []struct {
			Detail, Pointer string
			Line, Column    int
		}
	}
	require.NoError(t, json.Unmarshal(x.Answer(e).Body, &problem))
	var places []string
	for _, e := range problem.Errors {
		places = append(places, fmt.Sprintf("%d:%d %s", e.Line, e.Column, e.Pointer))
	}
	assert.Equal(t, []string{"5:11 /spec/litres", "6:8 /spec/any", "6:8 /spec/any/a"}, places)
}

// TestInvalidValuesAreLimited holds that the answer counts what is beyond the limit of findings.
func TestInvalidValuesAreLimited(t *testing.T) {
	body := pot(`{"litres":10,"light":"moon","plant":"orchid"}`)
	for _, query := range []string{"", "?fieldValidation=Strict", "?fieldValidation=Ignore"} {
		j := judge(t, validated(t, decoder.Limits{Findings: 1}), request.Options{}, post(t, potsPath+query, "", body))
		assert.Regexp(t, `^Pot.example.com "a" is invalid: spec.\w+: .* and 2 more$`, refused(t, j, 422).Message, query)
	}
}

// TestValuesAreNotStreamed holds that an object is not passed on before its values are known.
func TestValuesAreNotStreamed(t *testing.T) {
	gate := request.NewGate(request.Options{})
	for method, want := range map[string]bool{"POST": false, "PUT": true} {
		x := gate.Begin(send(t, method, potsPath, pot(`{}`)))
		_, e := x.Find(validated(t))
		require.Nil(t, e)
		assert.Equal(t, want, x.CanStream(), method)
		x.Close()
	}
}

// TestValuesByKind holds that values are validated in whatever way a resource is found.
func TestValuesByKind(t *testing.T) {
	c := pots(t, validation.Values())
	invalid := pot(`{"litres":10}`)
	refused(t, judge(t, request.ByKind(c, decoder.ValidateCreate), request.Options{}, post(t, "/", "", invalid)), 422)
	for e := range c.All() {
		res, err := request.FromEntry(e, decoder.ValidateCreate)
		require.NoError(t, err)
		refused(t, judge(t, request.Always(res), request.Options{}, post(t, "/", "", invalid)), 422)

		// Only the last option counts.
		res, err = request.FromEntry(e, decoder.ValidateCreate, decoder.AcceptValues)
		require.NoError(t, err)
		assert.Nil(t, judge(t, request.Always(res), request.Options{}, post(t, "/", "", invalid)).refused)
	}
}

// TestValuesNeedPrograms holds that nothing passes unseen because a program cannot validate values.
func TestValuesNeedPrograms(t *testing.T) {
	const noValues = "request: values are to be validated, and the programs were compiled without validation.Values: " +
		"give it to schema.NewCatalog or schema.Compile"
	without := pots(t)
	assert.PanicsWithValue(t, noValues, func() { request.ByPath(without, decoder.ValidateCreate) })
	assert.PanicsWithValue(t, noValues, func() { request.ByKind(without, decoder.ValidateCreate) })
	for e := range without.All() {
		_, err := request.FromEntry(e, decoder.ValidateCreate)
		require.EqualError(t, err, noValues)
		p, err := e.Program()
		require.NoError(t, err)
		assert.Panics(t, func() {
			request.Always(&request.Resource{Program: p, Decoder: []decoder.Option{decoder.ValidateCreate}})
		})
	}
	// An empty catalog does not show it.
	later := schema.NewCatalog()
	byPath, byKind := request.ByPath(later, decoder.ValidateCreate), request.ByKind(later, decoder.ValidateCreate)
	crds, err := schema.ParseCRD([]byte(potCRD))
	require.NoError(t, err)
	require.NoError(t, later.Add(crds...))
	for _, find := range []request.Finder{byPath, byKind} {
		e := refused(t, judge(t, find, request.Options{}, post(t, potsPath, "", pot(`{}`))), 500)
		assert.EqualError(t, e.Err, noValues)
	}
	assert.Panics(t, func() { request.ByPath(without, decoder.ValidateStatusUpdate) })
	assert.Panics(t, func() { request.ByPath(without, decoder.ValidateUpdate) })
	assert.Panics(t, func() { request.ByPath(without, decoder.ValueValidation(7)) })
}

// TestValuesWithinBudget holds that neither invalid values nor warnings are told without room.
func TestValuesWithinBudget(t *testing.T) {
	finalizers := `"name":"a","finalizers":["` + strings.Repeat(`a","`, 2000) + `a"]`
	long := pot(`{"litres":10,"light":"` + strings.Repeat("moon", 15000) + `"}`)
	for name, c := range map[string]struct {
		body   string
		action request.Action
	}{
		"invalid":    {long, request.Rewrite},
		"reported":   {long, request.Report},
		"finalizers": {strings.Replace(pot(`{}`), `"name":"a"`, finalizers, 1), request.Rewrite},
	} {
		codes := map[int]int{}
		for limit := int64(16 << 10); limit <= 64<<20; limit += limit / 8 {
			opts := request.Options{MaxHeldBytes: limit, Action: c.action}
			j := judge(t, validated(t), opts, post(t, potsPath, "", c.body))
			if j.refused == nil {
				codes[0]++
			} else {
				codes[j.refused.Code]++
			}
		}
		assert.Len(t, codes, 2, "%s: %v", name, codes)
		assert.Positive(t, codes[503], name)
	}
}
