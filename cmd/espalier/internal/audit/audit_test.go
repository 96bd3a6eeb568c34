package audit

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// definition returns a definition with versions, each of which is a member of the list in YAML.
func definition(t *testing.T, spec, versions string) []*schema.CRD {
	t.Helper()
	crds, err := schema.ParseCRD([]byte(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  ` + spec + `
  versions: [` + versions + `]
`))
	require.NoError(t, err)
	return crds
}

// versionOf returns a version whose spec has properties.
func versionOf(name, flags, properties string) string {
	if !strings.Contains(flags, "served:") {
		flags += ", served: true"
	}
	return `{name: ` + name + `, ` + flags + `, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, ` +
		`properties: {` + properties + `}}, status: {type: object, properties: {phase: {type: string}}}}}}}`
}

const (
	stored    = `storage: true`
	notStored = `storage: false`
	unserved  = `storage: false, served: false`
)

// effects returns what a change does to an object, one line for each effect.
func effects(t *testing.T, from, to []*schema.CRD, version, spec string, isStored bool) string {
	t.Helper()
	c := New(from, to, cel.Rules())
	js := `{"apiVersion":"example.com/` + version + `","kind":"Widget","metadata":{"name":"a"},` + spec + `}`
	all, err := NewAuditor().Object(c.Kind("example.com", "Widget"), version, []byte(js), isStored)
	require.NoError(t, err)
	var lines []string
	for _, e := range all {
		line := strings.TrimSpace(fmt.Sprintf("%v %v", e.Kind, e.Path))
		switch {
		case e.Why != nil:
			line += " " + e.Why.Rule
			if !e.MayStay {
				line += " on update"
			}
		case e.Old != nil || e.New != nil:
			line += fmt.Sprintf(" %s to %s", e.Old, e.New)
		}
		if e.Created {
			line += " if created"
		}
		lines = append(lines, line)
	}
	return strings.Join(lines, "\n")
}

// TestEffects has changes that a single version makes.
func TestEffects(t *testing.T) {
	for _, c := range []struct{ name, from, to, object, want string }{
		{"nothing", `a: {type: string}`, `a: {type: string}`, `"spec":{"a":"x"}`, ""},
		{"undeclared before, too", ``, `b: {type: string}`, `"spec":{"a":"x"}`, ""},
		{"lost", `a: {type: string}`, ``, `"spec":{"a":"x"}`, `lost spec.a "x" to `},
		{"the topmost one", `a: {type: object, properties: {b: {type: string}}}`, ``, `"spec":{"a":{"b":"x"}}`, `lost spec.a {"b":"x"} to `},
		{"a null", `a: {type: string, nullable: true}`, `a: {type: string}`, `"spec":{"a":null}`, "lost spec.a null to "},
		{"a default", ``, `a: {type: integer, default: 1}`, `"spec":{}`, "defaulted spec.a  to 1"},
		{"another default", `a: {type: integer, default: 1}`, `a: {type: integer, default: 2}`, `"spec":{}`, "defaulted spec.a 1 to 2 if created"},
		{"no default any more", `a: {type: integer, default: 1}`, `a: {type: integer}`, `"spec":{}`, ""},
		{"refused", `a: {type: integer}`, `a: {type: integer, maximum: 1}`, `"spec":{"a":2}`, "refused spec.a maximum"},
		{"refused before", `a: {type: integer, maximum: 1}`, `a: {type: integer, maximum: 0}`, `"spec":{"a":2}`, ""},
		{"refused for another reason", `a: {type: integer, maximum: 1}`, `a: {type: integer, maximum: 1, multipleOf: 2}`, `"spec":{"a":3}`, "refused spec.a multipleOf"},
		{"another type", `a: {type: integer}`, `a: {type: string}`, `"spec":{"a":2}`, "refused spec.a type"},
		{"another type, and less in it", `a: {type: object, properties: {b: {type: string}}}`, `a: {type: string}`, `"spec":{"a":{"b":"x"}}`, "lost spec.a.b \"x\" to \nrefused spec.a type"},
		{"a rule", `a: {type: integer}`, `a: {type: integer, x-kubernetes-validations: [{rule: self < 2}]}`, `"spec":{"a":2}`, "refused spec.a x-kubernetes-validations"},
		{"a rule that is not evaluated", `a: {type: integer, maximum: 1}, b: {type: string}`, `a: {type: integer, maximum: 1, x-kubernetes-validations: [{rule: self < 2}]}, b: {type: string}`, `"spec":{"a":"2"}`, ""},
		{"what a default makes invalid", ``, `a: {type: integer, default: 5, x-kubernetes-validations: [{rule: self < 2}]}`, `"spec":{}`, "defaulted spec.a  to 5\nrefused spec.a x-kubernetes-validations"},
		{"a status that nobody applies", ``, ``, `"status":{"phase":"x","more":1}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			from := definition(t, "", versionOf("v1", stored, c.from))
			assert.Equal(t, c.want, effects(t, from, definition(t, "", versionOf("v1", stored, c.to)), "v1", c.object, false))
		})
	}
}

// TestStored has objects that a server has returned: old defaults are in them.
func TestStored(t *testing.T) {
	from := definition(t, "", versionOf("v1", stored, `a: {type: integer, default: 1}`))
	to := definition(t, "", versionOf("v1", stored, `a: {type: integer, default: 2}`))
	assert.Equal(t, "", effects(t, from, to, "v1", `"spec":{"a":1}`, true))
	withStatus := definition(t, "", versionOf("v1", stored+`, subresources: {status: {}}`, ""))
	without := definition(t, "", strings.ReplaceAll(versionOf("v1", stored+`, subresources: {status: {}}`, ""), "phase", "stage"))
	assert.Equal(t, `lost status.phase "x" to `, effects(t, withStatus, without, "v1", `"status":{"phase":"x"}`, true))
	assert.Equal(t, "", effects(t, withStatus, without, "v1", `"status":{"phase":"x"}`, false))
}

// TestVersions has changes of versions: an object is stored in the storage version.
func TestVersions(t *testing.T) {
	const ab, a = `a: {type: string}, b: {type: string}`, `a: {type: string}`
	object := `"spec":{"a":"x","b":"y"}`
	both := func(first, firstFlags, second, secondFlags string) []*schema.CRD {
		return definition(t, "", versionOf("v1", firstFlags, first)+", "+versionOf("v2", secondFlags, second))
	}
	from := both(ab, stored, ab, notStored)
	for _, c := range []struct {
		name, version, want string
		to                  []*schema.CRD
	}{
		{"the storage version loses a field", "v2", `lost spec.b "y" to `, both(a, stored, ab, notStored)},
		{"the other version loses a field", "v2", `lost spec.b "y" to `, both(ab, stored, a, notStored)},
		{"of which the first one hears nothing", "v1", "", both(ab, stored, a, notStored)},
		{"another storage version", "v1", "", both(ab, notStored, ab, stored)},
		{"a version is not served", "v2", "not served", both(ab, stored, ab, unserved)},
		{"a version is gone", "v2", "not served", definition(t, "", versionOf("v1", stored, ab))},
		{"with a field", "v2", "not served\nlost spec.b \"y\" to ", definition(t, "", versionOf("v1", stored, a))},
		{"the storage version is gone", "v2", "unreadable", definition(t, "", versionOf("v2", stored, ab))},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, effects(t, from, c.to, c.version, object, true))
			assert.Equal(t, c.want, effects(t, from, c.to, c.version, object, false))
		})
	}
	t.Run("a webhook converts", func(t *testing.T) {
		const webhook = `conversion: {strategy: Webhook, webhook: {clientConfig: {url: "https://example.com"}, conversionReviewVersions: [v1]}}`
		to := definition(t, webhook, versionOf("v1", stored, a)+", "+versionOf("v2", notStored, ab))
		assert.Equal(t, "", effects(t, from, to, "v2", object, true), "what it makes of v1 is not known")
		c := New(from, to, cel.Rules())
		assert.True(t, c.Kind("example.com", "Widget").Webhook)
	})
}

// TestConversion has objects that are stored in v1 and returned in v2: the server decodes them once by each
// schema, the second time without defaults.
func TestConversion(t *testing.T) {
	const any = `type: object, x-kubernetes-preserve-unknown-fields: true`
	both := func(first, second string) []*schema.CRD {
		return definition(t, "", versionOf("v1", stored, first)+", "+versionOf("v2", notStored, second))
	}
	for _, c := range []struct {
		name, object, want string
		from, to           []*schema.CRD
	}{
		{
			"a null that a default would replace", `"spec":{"a":null}`, "",
			both(`a: {type: string, nullable: true}`, `a: {type: string, nullable: true}`),
			both(`a: {type: string, nullable: true}`, `a: {type: string, default: x}`),
		},
		{
			"no default of the other version", `"spec":{}`, "",
			both(`a: {type: string}`, `a: {type: string}`), both(`a: {type: string}`, `a: {type: string, default: x}`),
		},
		{
			"metadata that one version has", `"spec":{"a":{"apiVersion":"v1","kind":"A","metadata":{"deletionTimestamp":"0001-01-01T00:00:00Z"}}}`,
			`defaulted spec.a.metadata.deletionTimestamp "0001-01-01T00:00:00Z" to null`,
			both(`a: {`+any+`}`, `a: {`+any+`}`), both(`a: {`+any+`, x-kubernetes-embedded-resource: true}`, `a: {`+any+`}`),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Equal(t, c.want, effects(t, c.from, c.to, "v2", c.object, false))
		})
	}
}

// TestPresent has no older definition.
func TestPresent(t *testing.T) {
	to := definition(t, "", versionOf("v1", stored, `a: {type: integer, maximum: 1}, d: {type: integer, default: 5}`)+", "+versionOf("v2", unserved, ""))
	assert.Equal(t, "lost spec.x 1 to \ndefaulted spec.d  to 5\nrefused spec.a maximum", effects(t, nil, to, "v1", `"spec":{"a":2,"x":1}`, true))
	assert.Equal(t, "not served\nlost spec.a 2 to ", effects(t, nil, to, "v2", `"spec":{"a":2}`, true))
	assert.Equal(t, "unreadable", effects(t, nil, to, "v3", `"spec":{}`, true))
}

// TestObjectErrors has objects that cannot be audited.
func TestObjectErrors(t *testing.T) {
	from, to := definition(t, "", versionOf("v1", stored, `a: {type: string}`)), definition(t, "", versionOf("v1", stored, ``))
	c := New(from, to, cel.Rules())
	k := c.Kind("example.com", "Widget")
	_, err := NewAuditor().Object(k, "v2", []byte(`{}`), false)
	require.EqualError(t, err, "the old definition has no version v2")
	for _, js := range []string{`{`, `[]`, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":5}}`} {
		_, err = NewAuditor().Object(k, "v1", []byte(js), false)
		assert.Error(t, err, js)
	}
}

// TestKinds says which definitions change.
func TestKinds(t *testing.T) {
	from := definition(t, "", versionOf("v1", stored, `a: {type: string}`))
	for _, c := range []struct {
		name string
		to   []*schema.CRD
		same bool
	}{
		{"the same", definition(t, "", versionOf("v1", stored, `a: {type: string}`)), true},
		{"a schema", definition(t, "", versionOf("v1", stored, `a: {type: integer}`)), false},
		{"not served", definition(t, "", versionOf("v1", stored+", served: false", `a: {type: string}`)), false},
		{"a status", definition(t, "", versionOf("v1", stored+", subresources: {status: {}}", `a: {type: string}`)), false},
		{"a scale", definition(t, "", versionOf("v1", stored+", subresources: {scale: {specReplicasPath: .spec.a, statusReplicasPath: .status.a}}", `a: {type: string}`)), false},
		{"one version more", definition(t, "", versionOf("v1", stored, `a: {type: string}`)+", "+versionOf("v2", notStored, "")), false},
	} {
		change := New(from, c.to, cel.Rules())
		require.Len(t, change.Kinds(), 1)
		assert.Equal(t, c.same, change.Kinds()[0].Same, c.name)
		assert.False(t, change.Kinds()[0].IsGone())
	}
	change := New(from, nil, cel.Rules())
	assert.True(t, change.Kind("example.com", "Widget").IsGone())
	other := definition(t, "", versionOf("v1", stored, ""))
	other[0].Kind = "Other"
	change = New(from, append(other, from...), cel.Rules())
	assert.False(t, change.Kind("example.com", "Other").Same)
	change = New(nil, other, cel.Rules())
	assert.NotNil(t, change.Kind("example.com", "Other"))
}

// TestTally counts, and merges counts.
func TestTally(t *testing.T) {
	from := definition(t, "", versionOf("v1", stored, `m: {type: object, additionalProperties: {type: object, properties: {x: {type: string}}}}, l: {type: array, items: {type: object, properties: {"a.b": {type: string}}}}`))
	c := New(from, definition(t, "", versionOf("v1", stored, ``)), cel.Rules())
	k := c.Kind("example.com", "Widget")
	spec := errors.Path{}.Child("spec")
	lost := func(path errors.Path) Effect { return Effect{Kind: Lost, Path: path, Old: []byte(`"x"`)} }
	object := []Effect{
		lost(spec.Child("m").Child("k1").Child("x")), lost(spec.Child("m").Child("k2").Child("x")),
		lost(spec.Child("l").Element(3).Child("a.b")), lost(spec.Child("other").Child("m")),
	}
	place := func(errors.Path) finding.Place { return finding.Place{File: "f"} }
	all := NewTally(k)
	for i := range 5 {
		one := NewTally(k)
		one.Add(finding.Identity{Name: fmt.Sprint(i)}, "v1", object, place)
		one.Add(finding.Identity{Name: "none"}, "v1", nil, place)
		all.Merge(one)
	}
	assert.Equal(t, 10, all.Objects)
	assert.Equal(t, 5, all.Affected[0])
	assert.Equal(t, 5, all.Affected[Lost])
	assert.Zero(t, all.Affected[Refused])
	var paths []string
	for _, f := range all.Fields() {
		paths = append(paths, fmt.Sprintf("%s %d %d %d", f.Path, f.Objects, f.Values, len(f.Examples)))
		assert.Equal(t, "0", f.Examples[0].Name, "the first objects are the examples")
	}
	assert.Equal(t, []string{`spec.l[*].a.b 5 5 3`, "spec.m[*].x 5 10 3", "spec.other.m 5 5 3"}, paths)
}

// TestTallyLimit has an object with many names that no schema declares.
func TestTallyLimit(t *testing.T) {
	c := New(nil, definition(t, "", versionOf("v1", stored, ``)), cel.Rules())
	all, one := NewTally(c.Kind("example.com", "Widget")), NewTally(c.Kind("example.com", "Widget"))
	var object []Effect
	for i := range maxFields + 10 {
		object = append(object, Effect{Kind: Lost, Path: errors.Path{}.Child(fmt.Sprint("x", i)), Old: []byte(strings.Repeat("é", 100))})
	}
	one.Add(finding.Identity{}, "v1", object, func(errors.Path) finding.Place { return finding.Place{} })
	assert.Equal(t, 10, one.Others)
	all.Merge(one)
	one = NewTally(all.Kind)
	one.Add(finding.Identity{}, "v1", []Effect{{Kind: Lost, Path: errors.Path{}.Child("new")}}, func(errors.Path) finding.Place { return finding.Place{} })
	all.Merge(one)
	assert.Equal(t, 11, all.Others)
	assert.Len(t, all.Fields(), maxFields)
	assert.Equal(t, strings.Repeat("é", maxValue/2)+"...", all.Fields()[0].Examples[0].Old)
}

// TestMarkdown escapes what documents say.
func TestMarkdown(t *testing.T) {
	c := New(nil, definition(t, "", versionOf("v1", stored, ``)), cel.Rules())
	tally := NewTally(c.Kind("example.com", "Widget"))
	tally.Add(finding.Identity{Kind: "Widget", Name: "a|b`<img>"}, "v1", []Effect{{Kind: Lost, Path: errors.Path{}.Child("x|`y"), Old: []byte("\"``|\n\"")}},
		func(errors.Path) finding.Place { return finding.Place{} })
	r := Report{Kinds: []*Tally{tally}}
	text := string(r.Markdown())
	assert.Contains(t, text, "| v1 | `` x\\|`y `` | is lost | 1 | a\\|b\\`\\<img\\>: ``` \"``\\|\\n\" ``` |")
	assert.True(t, r.IsBreaking())
}

// TestEditMember replaces and removes members wherever they are.
func TestEditMember(t *testing.T) {
	for js, want := range map[string][2]string{
		`{}`:                          {`{}`, `{}`},
		`{"a":1}`:                     {`{"a":2}`, `{}`},
		`{"a":1,"b":"{,"}`:            {`{"a":2,"b":"{,"}`, `{"b":"{,"}`},
		`{"b":{"a":1},"a":[1],"c":0}`: {`{"b":{"a":1},"a":2,"c":0}`, `{"b":{"a":1},"c":0}`},
		`{"b":1,"a":{}}`:              {`{"b":1,"a":2}`, `{"b":1}`},
	} {
		got, err := editMember([]byte(js), "a", []byte("2"))
		require.NoError(t, err)
		assert.Equal(t, want[0], string(got))
		got, err = editMember([]byte(js), "a", nil)
		require.NoError(t, err)
		assert.Equal(t, want[1], string(got))
	}
	for _, js := range []string{``, `{"a":`, `{"a`} {
		_, err := editMember([]byte(js), "a", nil)
		assert.Error(t, err, js)
	}
}
