package fuzz

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/install"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresourcedefinition"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/decoder"
	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

var definitionUpdatesFlag = flag.Int("definition-updates", 1000, "how many `pairs` of definitions TestDefinitionUpdates compares")

// TestDefinitionUpdates compares with the server's strategy which definitions are refused when they
// are created, and when they replace another.
func TestDefinitionUpdates(t *testing.T) {
	pairs := *definitionUpdatesFlag
	if testing.Short() {
		pairs = 300
	}
	server := newDefinitionServer()
	bases := smallDefinitions(t)
	counts := map[string]int{}
	for n := *fromFlag; n < *fromFlag+uint64(pairs); n++ {
		g := definitionGrower{rand.New(rand.NewPCG(n, 21))}
		var oldTree, newTree object
		if in(g.Rand, 3) {
			require.NoError(t, json.Unmarshal(one(g.Rand, bases...), &oldTree))
		} else {
			oldTree = g.definition()
		}
		for range g.IntN(4) {
			g.mutate(oldTree)
		}
		oldJS := marshal(oldTree)
		require.NoError(t, json.Unmarshal(oldJS, &newTree))
		for range g.IntN(4) {
			g.mutate(newTree)
		}
		newJS := marshal(newTree)
		older, newer, created := server.read(t, oldJS), server.read(t, newJS), server.read(t, newJS)
		if older == nil || newer == nil {
			continue // decoding refuses it
		}
		counts["pairs"]++
		ours, theirs := readDefinition(t, newJS), readDefinition(t, oldJS)

		want := inScope(server.create(created))
		compareRefusals(t, n, "create", want, validation.CRD(ours), oldJS, newJS)
		if len(want) == 0 {
			counts["accepted when created"]++
		}
		created = server.read(t, newJS)
		want = inScope(server.update(created, older))
		compareRefusals(t, n, "update", want, validation.Update(ours, theirs), oldJS, newJS)
		if len(want) == 0 {
			counts["accepted when updated"]++
		}
		for _, err := range want {
			counts[indices.ReplaceAllString(definitionMessage(err), "[]")]++
		}
		if t.Failed() {
			return
		}
	}
	logCounts(t, counts)
	assert.Greater(t, counts["accepted when updated"], counts["pairs"]/20)
}

var (
	indices  = regexp.MustCompile(`\[[^]]*\]`)
	ruleText = regexp.MustCompile(`\.x-kubernetes-validations(\[\d+\](\.\w+)?)?$`)
)

func definitionMessage(e *field.Error) string {
	steps := strings.Split(e.Field, ".")
	msg := e.Detail
	if len(msg) > 70 {
		msg = msg[:70]
	}
	return steps[len(steps)-1] + ": " + string(e.Type) + ": " + msg
}

// A definitionServer does to definitions what the server does.
type definitionServer struct {
	*runtime.Scheme
	strategy interface {
		PrepareForCreate(context.Context, runtime.Object)
		PrepareForUpdate(_ context.Context, obj, old runtime.Object)
		Validate(context.Context, runtime.Object) field.ErrorList
		ValidateUpdate(_ context.Context, obj, old runtime.Object) field.ErrorList
	}
}

func newDefinitionServer() definitionServer {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return definitionServer{scheme, customresourcedefinition.NewStrategy(scheme)}
}

// read returns a definition with the server's defaults, or nil if decoding refuses it.
func (s definitionServer) read(t *testing.T, js []byte) *apiextensions.CustomResourceDefinition {
	v1 := new(apiextensionsv1.CustomResourceDefinition)
	if err := kjson.UnmarshalCaseSensitivePreserveInts(js, v1); err != nil {
		return nil
	}
	for i := range v1.Spec.Versions {
		v1.Spec.Versions[i].SelectableFields = nil // for which ValidFieldPath panics if there is no structural schema
	}
	s.Default(v1)
	crd := new(apiextensions.CustomResourceDefinition)
	require.NoError(t, s.Convert(v1, crd, nil))
	return crd
}

func (s definitionServer) create(crd *apiextensions.CustomResourceDefinition) field.ErrorList {
	s.strategy.PrepareForCreate(context.Background(), crd)
	return s.strategy.Validate(context.Background(), crd)
}

// update takes the older definition for established, and its storage version for stored.
func (s definitionServer) update(crd, older *apiextensions.CustomResourceDefinition) field.ErrorList {
	older.Status.Conditions = []apiextensions.CustomResourceDefinitionCondition{
		{Type: apiextensions.Established, Status: apiextensions.ConditionTrue},
	}
	for _, v := range older.Spec.Versions {
		if v.Storage {
			if !apiextensions.IsStoredVersion(older, v.Name) {
				older.Status.StoredVersions = append(older.Status.StoredVersions, v.Name)
			}
			break
		}
	}
	older.ResourceVersion, crd.ResourceVersion = "1", "1"
	s.strategy.PrepareForUpdate(context.Background(), crd, older)
	return s.strategy.ValidateUpdate(context.Background(), crd, older)
}

// inScope leaves out what package validation does not check: metadata, names but for their presence
// and change, conversion, subresources, columns and selectable fields, warnings of versions; what
// the server says of spec.version, which no manifest has; and of rules whatever takes compiling
// them.
func inScope(errs field.ErrorList) field.ErrorList {
	return slices.DeleteFunc(errs, func(e *field.Error) bool {
		isName := strings.HasPrefix(e.Field, "spec.names.") || e.Field == "spec.group" || e.Field == "spec.scope"
		isRequired := e.Type == field.ErrorTypeRequired && (e.Field == "spec.names.kind" || e.Field == "spec.group")
		parts := strings.SplitN(e.Field, ".", 4)
		last := parts[min(2, len(parts)-1)]
		switch {
		case ruleText.MatchString(e.Field):
			return !slices.Contains(rulesWithoutCompiling, e.Detail) && e.Type != field.ErrorTypeNotSupported
		case strings.HasPrefix(e.Detail, "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema"):
			return true
		case isName:
			return e.Detail != "field is immutable" && !isRequired
		case parts[0] == "metadata", strings.HasPrefix(e.Field, "status.acceptedNames"):
			return true
		case strings.HasPrefix(e.Field, "spec.conversion"), e.Field == "spec.version":
			return true
		case strings.HasPrefix(e.Field, "spec.versions["):
			return last != "name" && last != "schema"
		}
		return strings.HasPrefix(e.Field, "spec.subresources") || strings.HasPrefix(e.Field, "spec.additionalPrinterColumns") ||
			strings.HasPrefix(e.Field, "spec.selectableFields")
	})
}

// rulesWithoutCompiling are the messages about the fields of rules.
var rulesWithoutCompiling = []string{
	"rule is not specified", "must be non-empty if specified", "must not contain line breaks",
	"message must be specified if rule contains line breaks", "messageExpression must be non-empty if specified",
}

const rootRule = "only [Description Type "

// compareRefusals compares errors in any order, because the server goes through maps.
func compareRefusals(t *testing.T, n uint64, what string, want field.ErrorList, got error, older, newer []byte) {
	var theirs, ours []string
	for _, e := range want {
		if e.Field == "spec.versions" {
			e.BadValue = "" // package validation shows only the names
		}
		if strings.HasPrefix(e.Detail, rootRule) {
			e.BadValue = "" // the schema, in which validation has changed the defaults meanwhile
		}
		theirs = append(theirs, e.Error())
	}
	if got != nil {
		for _, e := range got.(ferrors.SchemaErrors) {
			if e.Field == "spec.versions" || strings.HasPrefix(e.Msg, rootRule) {
				e.Value = `""`
			}
			ours = append(ours, e.Error())
		}
	}
	slices.Sort(theirs)
	slices.Sort(ours)
	assert.Equal(t, theirs, ours, "%s, seed %d\n%.4000s\n%.4000s", what, n, older, newer)
}

func readDefinition(t *testing.T, js []byte) *schema.CRD {
	crds, err := schema.ParseCRD(js)
	require.NoError(t, err, "%s", js)
	require.Len(t, crds, 1)
	return crds[0]
}

// smallDefinitions returns the definitions of the corpus that are not large, without their rules in
// CEL: a default that breaks a rule is not for package validation. TestDefinitionRules has rules.
func smallDefinitions(t *testing.T) (all [][]byte) {
	for file := range corpus.CRDs(t) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			require.NoError(t, err, file.Name)
			apiVersion, kind, err := decoder.PeekType(js)
			if err == nil && apiVersion == "apiextensions.k8s.io/v1" && kind == "CustomResourceDefinition" && len(js) < 12_000 {
				var tree object
				require.NoError(t, json.Unmarshal(js, &tree))
				dropRules(tree)
				all = append(all, marshal(tree))
			}
		}
	}
	require.NotEmpty(t, all)
	return all
}

func dropRules(x any) {
	switch x := x.(type) {
	case object:
		delete(x, "x-kubernetes-validations")
		for _, v := range x {
			dropRules(v)
		}
	case []any:
		for _, v := range x {
			dropRules(v)
		}
	}
}

// A definitionGrower makes definitions, and mistakes in them.
type definitionGrower struct{ *rand.Rand }

func (g definitionGrower) definition() object {
	var versions []any
	for i := range 1 + g.IntN(3) {
		versions = append(versions, g.version(i))
	}
	return object{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": object{"name": "as.example.com"},
		"spec": object{
			"group": "example.com", "scope": "Namespaced", "versions": versions,
			"names": object{"plural": "as", "singular": "a", "kind": "A", "listKind": "AList"},
		},
	}
}

func (g definitionGrower) version(i int) object {
	v := object{
		"name": fmt.Sprint("v", i+1), "served": true, "storage": i == 0,
		"schema": object{"openAPIV3Schema": object{"type": "object", "properties": object{"spec": g.node(0), "status": g.node(1)}}},
	}
	if in(g.Rand, 3) {
		v["subresources"] = object{"status": object{}}
	}
	return v
}

func (g definitionGrower) node(depth int) object {
	switch kind := g.IntN(8); {
	case kind < 4 && depth < 3:
		s := object{"type": "object", "properties": object{"a": g.node(depth + 1), "b": g.node(depth + 1)}}
		if in(g.Rand, 6) {
			s["x-kubernetes-preserve-unknown-fields"] = true
		}
		if in(g.Rand, 4) {
			s["default"] = object{"a": 1}
		}
		return s
	case kind == 4 && depth < 3:
		return object{"type": "array", "items": g.node(depth + 1)}
	case kind == 5 && depth < 3:
		return object{"type": "object", "additionalProperties": g.node(depth + 1)}
	case kind == 6:
		return object{"type": "object", "x-kubernetes-embedded-resource": true, "x-kubernetes-preserve-unknown-fields": true}
	}
	return object{"type": one(g.Rand, "string", "integer", "boolean")}
}

// mutate changes a definition in one place.
func (g definitionGrower) mutate(crd object) {
	spec, _ := crd["spec"].(object)
	versions, _ := spec["versions"].([]any)
	switch kind := g.IntN(20); {
	case kind == 0:
		spec["preserveUnknownFields"] = one(g.Rand, true, true, false)
	case kind == 1:
		spec["scope"] = one(g.Rand, "Cluster", "Namespaced", "", "x")
	case kind == 2:
		names, _ := spec["names"].(object)
		names[one(g.Rand, "kind", "plural", "listKind", "singular")] = one(g.Rand, "", "B", "bs", "b b")
	case kind == 3:
		spec["group"] = one(g.Rand, "", "example.org", "x")
	case kind == 4:
		crd["status"] = object{"storedVersions": one(g.Rand, []any{}, []any{"v1"}, []any{"v2", "v1"}, []any{"v0", "v9", "v1", "v0"})}
	case kind < 10:
		g.mutateVersions(spec, versions)
	case len(versions) > 0:
		v, _ := one(g.Rand, versions...).(object)
		s, _ := v["schema"].(object)
		root, _ := s["openAPIV3Schema"].(object)
		if root != nil {
			g.mutateSchema(root, 0)
		}
	}
}

func (g definitionGrower) mutateVersions(spec object, versions []any) {
	if len(versions) == 0 {
		spec["versions"] = []any{g.version(0)}
		return
	}
	i := g.IntN(len(versions))
	v, _ := versions[i].(object)
	switch g.IntN(9) {
	case 0:
		spec["versions"] = slices.Delete(versions, i, i+1)
	case 1:
		spec["versions"] = append(versions, g.version(g.IntN(4)))
	case 2:
		v["name"] = one(g.Rand, "v1", "v2", "v9", "", "V1", "v_1", strings.Repeat("v", 64))
	case 3:
		v["storage"] = in(g.Rand, 2)
	case 4: // the storage moves
		for j := range versions {
			versions[j].(object)["storage"] = j == i
		}
	case 5:
		v["served"] = in(g.Rand, 2)
	case 6:
		delete(v, "schema")
		if in(g.Rand, 2) {
			v["schema"] = object{}
		}
	case 7:
		v["subresources"] = one(g.Rand, object{}, object{"status": object{}}, nil)
	case 8: // the schema becomes that of all
		for j := range versions {
			var copied any
			_ = json.Unmarshal(marshal(v["schema"]), &copied)
			versions[j].(object)["schema"] = copied
		}
	}
}

// mutateSchema changes one node, at the root or below.
func (g definitionGrower) mutateSchema(s object, depth int) {
	var below []object
	properties, _ := s["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p, ok := properties[name].(object); ok {
			below = append(below, p)
		}
	}
	for _, name := range []string{"items", "additionalProperties"} {
		if p, ok := s[name].(object); ok {
			below = append(below, p, p)
		}
	}
	if len(below) > 0 && !in(g.Rand, 5) && depth < 20 {
		g.mutateSchema(one(g.Rand, below...), depth+1)
		return
	}
	change := one(g.Rand, schemaChanges...)
	var value any
	_ = json.Unmarshal([]byte(change.value), &value)
	if change.name == "" {
		for name, v := range value.(object) {
			s[name] = v
		}
	} else if value == nil {
		delete(s, change.name)
	} else {
		s[change.name] = value
	}
}

// schemaChanges are keywords and their new values. null takes a keyword away, and without a name
// all members are keywords.
var schemaChanges = func() (all []struct{ name, value string }) {
	for name, values := range map[string][]string{
		"": {
			`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string"}}}`,
			`{"type":"array","x-kubernetes-list-type":"set","items":{"type":"string","nullable":true}}`,
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","properties":{"a":{"type":"string"}}}}`,
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a"],"items":{"type":"object","required":["a"],"properties":{"a":{"type":"string","nullable":true}}}}`,
			`{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["a","b","a"],"items":{"type":"object","required":["a"],"properties":{"a":{"type":"object"}}}}`,
			`{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"object","default":{"c":1}}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"properties":{"apiVersion":{"type":"string"},"kind":{"type":"string"},"metadata":{"type":"object","properties":{"labels":{"type":"object","default":{"a":1}}}}},"default":{"apiVersion":"v1","kind":"B","metadata":{"name":"n","odd":1}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":"v1","kind":"B","metadata":{"name":1}}}`,
			`{"type":"object","x-kubernetes-embedded-resource":true,"x-kubernetes-preserve-unknown-fields":true,"default":{"apiVersion":1,"kind":"B","metadata":{"creationTimestamp":null}}}`,
			`{"type":"object","additionalProperties":{"type":"object","default":{"c":1}}}`,
			`{"type":"array","x-kubernetes-preserve-unknown-fields":true,"items":{"type":"object","default":{"c":1}}}`,
		},
		"type":     {`"object"`, `"string"`, `"array"`, `"Object"`, `"any"`, `"null"`, `null`, `null`},
		"default":  {`{"a":"x"}`, `{"z":{}}`, `{"a":{"z":1}}`, `[{"z":1}]`, `"x"`, `1`, `null`, `{}`},
		"nullable": {`true`, `null`}, "uniqueItems": {`true`, `null`}, "id": {`"x"`, `null`}, "$schema": {`"x"`, `null`},
		"items": {`{"type":"string"}`, `{}`, `null`, `[{"type":"string"}]`},
		"allOf": {`[{"type":"string"}]`, `[{"properties":{"z":{"minLength":1}}}]`, `null`, `[{"description":"d"}]`},
		"not":   {`{"type":"bogus"}`, `null`}, "pattern": {`"("`, `null`},
		"additionalProperties":                 {`true`, `false`, `null`, `{"type":"string"}`},
		"patternProperties":                    {`{"a":{"type":"any"}}`, `null`},
		"definitions":                          {`{"a":{"type":"any"}}`, `null`},
		"x-kubernetes-preserve-unknown-fields": {`true`, `false`, `null`, `null`},
		"x-kubernetes-embedded-resource":       {`true`, `null`},
		"x-kubernetes-int-or-string":           {`true`, `null`},
		"x-kubernetes-list-type":               {`"set"`, `"map"`, `"atomic"`, `"x"`, `null`},
		"x-kubernetes-list-map-keys":           {`["a"]`, `["a","b"]`, `null`},
		"x-kubernetes-map-type":                {`"atomic"`, `"granular"`, `"x"`, `null`},
		"x-kubernetes-validations":             {`[{"rule":""}]`, `[{"rule":"true","message":" "}]`, `[{"rule":"true","reason":"x"}]`, `[{"rule":"true"}]`, `null`},
	} {
		for _, value := range values {
			all = append(all, struct{ name, value string }{name, value})
		}
	}
	slices.SortFunc(all, func(a, b struct{ name, value string }) int { return strings.Compare(a.name+a.value, b.name+b.value) })
	return all
}()
