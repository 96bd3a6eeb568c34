package judge_test

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/playground/judge"
	"github.com/espalier-dev/espalier/schema"
)

// TestREADME holds that the page says what the command says. TestREADME of cmd/espalier runs the command.
func TestREADME(t *testing.T) {
	readme := read(t, "../../README.md")
	_, block, ok := strings.Cut(readme, "testdata/readme/plan.yaml\n")
	require.True(t, ok)
	block, _, _ = strings.Cut(block, "```\n")
	var findings []string
	for rest := block; ; {
		line, after, _ := strings.Cut(rest, "\n")
		text, ok := strings.CutPrefix(line, "testdata/readme/plan.yaml:")
		if !ok {
			block = rest
			break
		}
		place, text, _ := strings.Cut(text, ": ")
		findings = append(findings, place+" "+strings.Replace(text, " (BackupPlan)", "", 1))
		rest = after
	}
	require.Len(t, findings, 2)

	a := judge.New(nil).Judge(&judge.Request{
		Definition: read(t, "../../testdata/quickstart/crd.yaml"), Object: read(t, "../../testdata/readme/plan.yaml"),
		Validation: "Warn", YAML: true,
	})
	assert.Equal(t, findings, spelled(a.Findings))
	assert.Equal(t, block, a.Result)
	assert.Equal(t, "BackupPlan of backup.example.com/v1", a.Kind)
	assert.False(t, a.Refused)
	assert.Empty(t, a.Faults)
	assert.Equal(t, []string{
		`4:3 spec.retention.monthly was absent, and becomes 12, because the schema has a default for it (50)`,
		`4:25 spec.retention.dayly is pruned, because the schema does not declare it, did you mean "daily"? (41)`,
		`5:3 spec.suspend is replaced, because its name occurs again (38)`,
	}, explained(a.Changes))
}

// TestCases judges the cases of the library, which the examples of the KEPs are, and holds the answers
// against what a decoder says.
func TestCases(t *testing.T) {
	j := judge.New(nil)
	n := 0
	for _, folder := range []string{"kep-2332", "kep-575", "prune", "default", "metadata", "findings"} {
		for _, c := range corpus.Load(t, folder+"/*") {
			for _, semantics := range []schema.Semantics{schema.Deployed, schema.KEP} {
				checkCase(t, j, c, semantics)
				n++
			}
		}
	}
	require.Greater(t, n, 100)
}

func checkCase(t *testing.T, j *judge.Judge, c corpus.Case, semantics schema.Semantics) {
	s, err := schema.Parse(c.Schema)
	if err != nil {
		return // the case is about the schema
	}
	program, err := schema.Compile(s, semantics)
	if err != nil {
		return
	}
	d := decoder.New(program, decoder.Warn, decoder.Compact(true), decoder.Limits{Findings: 500, FindingBytes: 1 << 20})
	want, err := d.AppendJSON(nil, c.JSON)
	r := judge.Request{Definition: string(c.Schema), Object: string(c.JSON), Validation: "Warn", KEP: semantics == schema.KEP, Difference: true}
	a := j.Judge(&r)
	require.NotEmpty(t, a, c.Name)
	if !strings.HasPrefix(strings.TrimSpace(r.Object), "{") {
		return // the page reads it as YAML
	}
	if err != nil {
		assert.True(t, a.Refused, c.Name)
		assert.Empty(t, a.Result, c.Name)
		return
	}
	assert.JSONEq(t, string(want), a.Result, "%s, %s", c.Name, semantics)
	found := slices.Clone(d.Findings())
	found.SortByPosition()
	require.Len(t, a.Findings, len(found), c.Name)
	for i := range found {
		assert.Equal(t, found[i].Position.String(), place(a.Findings[i]), c.Name)
		assert.Contains(t, a.Findings[i].Message, found[i].Error(), c.Name)
	}
	// Each difference is explained, and nothing else.
	assert.Equal(t, string(compact(t, a.Before)) != string(compact(t, a.Result)), slices.ContainsFunc(a.Changes, func(c judge.Change) bool {
		return !strings.Contains(c.Message, "is replaced")
	}), c.Name)
}

// TestModes holds what field validation, semantics and the validation of values change.
func TestModes(t *testing.T) {
	const definition = "type: object\nproperties:\n  size: {type: integer, maximum: 3, default: 1}\n"
	for _, c := range []struct {
		name     string
		r        judge.Request
		refused  bool
		findings []string
		result   string
	}{
		{"ignore", judge.Request{Object: `{"x":1}`, Validation: "Ignore"}, false, nil, `{"size":1}`},
		{"warn", judge.Request{Object: `{"x":1}`, Validation: "Warn"}, false, []string{`1:2 warning: unknown field "x" [unknown-field]`}, `{"size":1}`},
		{"strict", judge.Request{Object: `{"x":1}`, Validation: "Strict"}, true, []string{`1:2 error: unknown field "x" [unknown-field]`}, `{"size":1}`},
		{"anything else is strict", judge.Request{Object: `{"x":1}`}, true, []string{`1:2 error: unknown field "x" [unknown-field]`}, `{"size":1}`},
		{"a server's null", judge.Request{Object: `{"size":null}`, Validation: "Warn"}, false, nil, `{"size":1}`},
		{"values", judge.Request{Object: `{"metadata":{"name":"a"},"size":4}`, Values: true, Validation: "Warn"}, true, []string{`1:33 error: size: Invalid value: 4: size in body should be less than or equal to 3 [invalid-value]`}, `{"metadata":{"name":"a"},"size":4}`},
		{"no values", judge.Request{Object: `{"size":4}`, Validation: "Warn"}, false, nil, `{"size":4}`},
		{"syntax", judge.Request{Object: "{\n\"size\":}", Validation: "Warn"}, true, []string{"2:8 error: "}, ``},
		{"YAML", judge.Request{Object: "a: [", Validation: "Warn"}, true, []string{"1:5 error: "}, ``},
	} {
		c.r.Definition = definition
		a := judge.New(nil).Judge(&c.r)
		assert.Equal(t, c.refused, a.Refused, c.name)
		assert.Equal(t, c.result, string(compact(t, a.Result)), c.name)
		if assert.Len(t, a.Findings, len(c.findings), c.name) {
			for i, f := range spelled(a.Findings) {
				assert.Contains(t, f, c.findings[i], c.name)
			}
		}
	}
}

// TestUpdates holds what a stored object changes: what was invalid may stay. One that cannot be used is said.
func TestUpdates(t *testing.T) {
	const definition = "type: object\nproperties:\n  size: {type: integer, maximum: 3}\n"
	const object = `{"metadata":{"name":"a","resourceVersion":"1"},"size":4}`
	for _, c := range []struct {
		stored   string
		values   bool
		findings int
		unstored string
	}{
		{"", true, 1, ""},
		{"metadata: {name: a, resourceVersion: '1'}\nsize: 4\nunknown: 1\n", true, 0, ""},
		{strings.Replace(object, "4", "5", 1), true, 1, ""},
		{"a: [", false, 0, ""},
		{"# é\na: [", true, 1, "2:5 error: "},
		{`{"metadata": 7}`, true, 1, "1:14 error: "},
		{"7", true, 1, "error: "},
	} {
		a := judge.New(nil).Judge(&judge.Request{Definition: definition, Object: object, Stored: c.stored, Values: c.values, Validation: "Warn"})
		assert.Len(t, a.Findings, c.findings, c.stored)
		assert.Equal(t, c.values && c.stored != "" && c.unstored == "", a.Replaces, c.stored)
		if c.unstored == "" {
			assert.Empty(t, a.Unstored, c.stored)
		} else if assert.Len(t, a.Unstored, 1, c.stored) {
			assert.Contains(t, spelled(a.Unstored)[0], c.unstored)
		}
		assert.NotEmpty(t, a.Result, c.stored)
	}
	crd, plan := read(t, "../../testdata/quickstart/crd.yaml"), read(t, "../../testdata/readme/plan.yaml")
	a := judge.New(nil).Judge(&judge.Request{Definition: crd, Object: plan, Stored: strings.Replace(plan, "BackupPlan", "Pod", 1), Values: true})
	assert.Equal(t, []string{"1:1 error: the stored object has another apiVersion or kind [old-object]"}, spelled(a.Unstored))
}

// TestDefinitions holds where faults of definitions are found, and what is said of objects that have none.
func TestDefinitions(t *testing.T) {
	crd := read(t, "../../testdata/quickstart/crd.yaml")
	plan := read(t, "../../testdata/readme/plan.yaml")
	for _, c := range []struct{ name, definition, object, fault, finding string }{
		{"no definition", "a: 1\n---\nb: 2\n", plan, "1:1 error: this is neither a CustomResourceDefinition nor a schema", ""},
		{"empty", "", plan, "1:1 error: this is neither", ""},
		{"not YAML", "a: [\nb", plan, " error: ", ""},
		{"not structural", strings.Replace(crd, "                type: boolean\n", "", 1), plan, "38:15 error: spec.validation.openAPIV3Schema.properties[spec].properties[suspend].type", ""},
		{"second document", "# nothing\n---\n" + strings.Replace(crd, "type: boolean", "type: bool", 1), plan, "41:17 error: ", ""},
		{"other kind", crd, "apiVersion: v1\nkind: Pod\n", "", "1:1 error: "},
		{"no kind", crd, "a: 1\n", "", "1:1 error: the object has no apiVersion and kind"},
		{"not an object", crd, "7", "", "error: "},
	} {
		a := judge.New(nil).Judge(&judge.Request{Definition: c.definition, Object: c.object, Validation: "Warn"})
		assert.True(t, a.Refused, c.name)
		if c.fault != "" {
			assert.Contains(t, strings.Join(spelled(a.Faults), "\n"), c.fault, c.name)
		} else {
			assert.Contains(t, strings.Join(spelled(a.Findings), "\n"), c.finding, c.name)
		}
	}
}

// TestSame holds that a definition need not be said again, whatever else is asked for.
func TestSame(t *testing.T) {
	j := judge.New(nil)
	said := judge.Request{Definition: read(t, "../../testdata/quickstart/crd.yaml"), Object: read(t, "../../testdata/readme/plan.yaml"), Validation: "Warn"}
	same := judge.Request{Object: said.Object, Validation: "Warn", Same: true}
	assert.NotEmpty(t, j.Judge(&same).Faults, "there was none")
	for _, values := range []bool{false, true} {
		said.Values, same.Values = values, values
		want := j.Judge(&said)
		assert.Empty(t, want.Faults)
		assert.Equal(t, want, j.Judge(&same))
		same.Values = !values
		assert.NotEqual(t, want, j.Judge(&same))
	}
}

// TestPlaces holds that JavaScript finds the places: it counts units of UTF-16.
func TestPlaces(t *testing.T) {
	for _, object := range []string{
		"a: é\n\"𝒳😀\": 1\nb😀: {x: 1, \"y z\": 2}\nlonger-name: 1", `{"a":"😀","é":1,` + "\r\n" + `"😀😀":2}`, "x: 1",
	} {
		a := judge.New(nil).Judge(&judge.Request{Definition: "type: object\nproperties: {a: {type: string}}", Object: object, Validation: "Warn"})
		require.NotEmpty(t, a.Findings)
		units := utf16.Encode([]rune(object))
		for _, f := range a.Findings {
			name := strings.Trim(string(utf16.Decode(units[f.From:f.To])), `"`)
			assert.Contains(t, f.Message, `"`+name+`"`)
		}
	}
}

// TestBounds holds that answers stay small and that no text is too much.
func TestBounds(t *testing.T) {
	var b strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&b, "x%d: 1\n", i)
	}
	a := judge.New(nil).Judge(&judge.Request{Definition: "type: object", Object: b.String(), Validation: "Warn"})
	assert.Len(t, a.Findings, 500)
	assert.Equal(t, 19_500, a.Omitted)
	assert.Len(t, a.Changes, 500)
	assert.Equal(t, 19_500, a.More)

	const deep = 9_000
	nested := strings.Repeat(`{"a":`, deep) + `{"b":1}` + strings.Repeat("}", deep)
	definition := "type: object\nx-kubernetes-preserve-unknown-fields: true\n"
	a = judge.New(nil).Judge(&judge.Request{Definition: definition, Object: nested, Validation: "Warn", YAML: true})
	assert.False(t, a.Refused)
	assert.NotEmpty(t, a.Result)
	a = judge.New(nil).Judge(&judge.Request{Definition: definition, Object: nested, Validation: "Warn"})
	assert.JSONEq(t, nested, a.Result)
	assert.Less(t, len(a.Result), 2*len(nested), "what is deep is not indented")

	brief := judge.New(nil).Judge(&judge.Request{Definition: "type: object", Object: "x: 1", Validation: "Warn", Brief: true})
	assert.Len(t, brief.Findings, 1)
	assert.Empty(t, brief.Result)
	assert.Empty(t, brief.Changes)
}

// TestJSON holds the form of what the page sends and reads.
func TestJSON(t *testing.T) {
	j := judge.New(nil)
	var a map[string]any
	require.NoError(t, json.Unmarshal(j.JSON([]byte(`{"definition":"type: object","object":"\"\uffff\": 1","validation":"Warn"}`)), &a))
	assert.Len(t, a["findings"], 1)
	for _, list := range []string{"findings", "faults", "changes"} {
		assert.IsType(t, []any{}, a[list], list)
	}
	require.NoError(t, json.Unmarshal(j.JSON([]byte(`{`)), &a))
	assert.Len(t, a["findings"], 1)
}

// FuzzJudge judges any texts: nothing panics, places are in the text and an object that was judged once has
// nothing more to be pruned or defaulted.
func FuzzJudge(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add("type: object\nproperties: {a: {default: 1}}", "b: 1")
	f.Add("a: 1", "{\"b\": 1}")
	j := judge.New(nil)
	f.Fuzz(func(t *testing.T, definition, object string) {
		r := judge.Request{Definition: strings.ToValidUTF8(definition, ""), Object: strings.ToValidUTF8(object, ""), Validation: "Warn"}
		a := j.Judge(&r)
		units := len(utf16.Encode([]rune(r.Object)))
		for _, x := range a.Findings {
			assert.True(t, 0 <= x.From && x.From <= x.To && x.To <= units, "%+v of %d", x, units)
		}
		if a.Result == "" || len(a.Faults) > 0 {
			return
		}
		r.Object = a.Result
		again := j.Judge(&r)
		assert.Empty(t, again.Findings)
		assert.Empty(t, again.Changes)
		assert.Equal(t, a.Result, again.Result)
	})
}

func place(f judge.Finding) string { return fmt.Sprintf("%d:%d", f.Line, f.Column) }

// spelled returns findings as the command writes them.
func spelled(all []judge.Finding) (lines []string) {
	for _, f := range all {
		line := place(f) + map[bool]string{true: " error: ", false: " warning: "}[f.Error] + f.Message
		if f.Rule != "" {
			line += " [" + f.Rule + "]"
		}
		lines = append(lines, line)
	}
	return lines
}

func explained(all []judge.Change) (lines []string) {
	for _, c := range all {
		lines = append(lines, fmt.Sprintf("%s %s, because %s (%d)", place(c.Finding), c.Message, c.Why, c.SchemaLine))
	}
	return lines
}

func compact(t *testing.T, js string) []byte {
	if js == "" {
		return nil
	}
	var v any
	require.NoError(t, json.Unmarshal([]byte(js), &v))
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return text
}

func read(t *testing.T, name string) string {
	text, err := os.ReadFile(name)
	require.NoError(t, err)
	return string(text)
}
