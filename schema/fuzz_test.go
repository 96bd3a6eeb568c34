package schema_test

import (
	stderrors "errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// maxSeed is the length of the longest text that is a seed, and that is tried.
const maxSeed = 4096

// seedSchemas adds the schemas of testdata and small real ones: all in JSON, and YAML ones also as
// they are.
func seedSchemas(f *testing.F, add func(text []byte)) {
	files, err := filepath.Glob("../testdata/*/*.txtar")
	require.NoError(f, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(f, err)
		for _, s := range corpus.ParseArchive(text).Sections {
			isSchema := strings.HasPrefix(s.Name, "schema.") || filepath.Base(filepath.Dir(file)) == "schema-validate" && strings.HasSuffix(s.Name, ".yaml")
			if !isSchema || len(s.Data) > maxSeed {
				continue
			}
			add(s.Data)
			if js, err := yamlbridge.AppendJSON(nil, s.Data); err == nil {
				add(js)
			}
		}
	}
	for _, manifest := range realManifests(f) {
		crds, err := schema.ParseCRD(manifest)
		require.NoError(f, err)
		for _, v := range crds[0].Versions {
			add(canonicalOrder(f, v.Schema))
		}
	}
}

// realManifests returns small definitions, if there are any.
func realManifests(f *testing.F) [][]byte {
	var manifests [][]byte
	if corpus.IsThere(f) {
		for file := range corpus.CRDs(f) {
			if len(file.Data) <= 2*maxSeed {
				manifests = append(manifests, file.Data)
			}
		}
	}
	return manifests
}

// checkRefusal asserts that an error says where the text is wrong.
func checkRefusal(t *testing.T, text []byte, err error) {
	t.Helper()
	var syntax *errors.SyntaxError
	var limit *errors.LimitError
	var at errors.Position
	switch {
	case stderrors.As(err, &syntax):
		at = syntax.Position
	case stderrors.As(err, &limit):
		at = limit.Position
	default:
		require.Fail(t, "an error of another type", "%T: %v", err, err)
	}
	require.True(t, at.IsValid(), "%v", err)
	require.LessOrEqual(t, at.Offset, int64(len(text)), "%v", err)
	require.NotContains(t, err.Error(), "\n")
}

// otherwise returns a text with the same meaning. It returns nil unless the text is JSON.
func otherwise(t *testing.T, text []byte, seed uint64) []byte {
	if v := jsontext.Value(text); v.Kind() != '{' || !v.IsValid() {
		return nil // only objects are read as JSON: elsewhere a tab is not white space
	}
	return laws.Respell(t, text, seed)
}

// FuzzParse holds that a parsed schema is written and parsed again unchanged, and that its spelling
// does not matter.
func FuzzParse(f *testing.F) {
	corpus.AddSeeds(f)
	for i, s := range []string{
		"type: object\nproperties:\n  a: {type: string, default: \"\"}\n",
		`{"properties": {"a": null, "b": {"additionalProperties": false}}, "items": [{}], "enum": [null, 1.0]}`,
		`{"type": ["string"], "allOf": [{"maximum": 1e400}]}`,
	} {
		f.Add([]byte(s), uint64(i))
	}
	seedSchemas(f, func(text []byte) { f.Add(text, uint64(len(text))) })
	f.Fuzz(func(t *testing.T, text []byte, seed uint64) {
		if len(text) > maxSeed {
			return
		}
		s, err := schema.Parse(text)
		other := otherwise(t, text, seed)
		if err != nil {
			require.Nil(t, s)
			checkRefusal(t, text, err)
			if other != nil {
				_, errOther := schema.Parse(other)
				require.IsType(t, err, errOther, "%s", other)
			}
			return
		}
		js := canonicalOrder(t, s)
		again, err := schema.Parse(js)
		require.NoError(t, err, "%s", js)
		require.Equal(t, s, again)
		if other != nil {
			same, err := schema.Parse(other)
			require.NoError(t, err, "%s", other)
			require.Equal(t, canonical(t, s), canonical(t, same), "%s", other)
		}
	})
}

// FuzzSkeleton asserts the properties of all skeletons.
func FuzzSkeleton(f *testing.F) {
	corpus.AddSeeds(f)
	// Too long a number in YAML, and no YAML with tabs before it.
	f.Add([]byte(strings.Repeat("1", 1001)), uint64(201))
	seedSchemas(f, func(text []byte) { f.Add(text, uint64(len(text))) })
	f.Fuzz(func(t *testing.T, source []byte, seed uint64) {
		if len(source) > maxSeed {
			return
		}
		skeleton, err := schema.Skeleton(source)
		other := otherwise(t, source, seed)
		if err != nil {
			require.Nil(t, skeleton)
			if faults, ok := err.(errors.SchemaErrors); ok {
				require.NotEmpty(t, faults)
			} else {
				checkRefusal(t, source, err)
			}
			if other != nil {
				_, errOther := schema.Skeleton(other)
				require.IsType(t, err, errOther, "%s", other)
			}
			return
		}
		checkSkeletonLaws(t, source, skeleton)
		if other != nil {
			same, err := schema.Skeleton(other)
			require.NoError(t, err, "%s", other)
			require.Equal(t, canonical(t, skeleton), canonical(t, same), "%s", other)
		}
	})
}

// FuzzParseCRD holds that definitions are read alike in YAML and in JSON, and that their schemas
// are those that Parse reads.
func FuzzParseCRD(f *testing.F) {
	corpus.AddSeeds(f)
	for _, file := range files(f, "crd") {
		for _, manifest := range sections(f, file) {
			f.Add(manifest)
		}
	}
	for _, manifest := range realManifests(f) {
		f.Add(manifest)
	}
	f.Fuzz(func(t *testing.T, manifest []byte) {
		if len(manifest) > 2*maxSeed {
			return
		}
		crds, err := schema.ParseCRD(manifest)
		if err != nil {
			require.Nil(t, crds)
			var faults errors.SchemaErrors
			if !stderrors.As(err, &faults) {
				checkRefusal(t, manifest, err)
			}
			return
		}
		catalog := schema.NewCatalog()
		for _, c := range crds {
			require.NotEmpty(t, c.APIVersion)
			require.Positive(t, c.Document)
			require.True(t, c.Position.IsValid())
			require.Less(t, c.Position.Offset, int64(len(manifest)))
			first, again := validation.CRD(c), validation.CRD(c)
			require.Equal(t, first, again)
			added := catalog.Add(c)
			for _, v := range c.Versions {
				if v.Schema == nil {
					continue
				}
				again, err := schema.Parse(canonicalOrder(t, v.Schema))
				require.NoError(t, err)
				require.Equal(t, v.Schema, again)
				if _, err := catalog.Lookup(c.Group+"/"+v.Name, c.Kind); added == nil && v.Served && err != nil && !strings.Contains(c.Group+v.Name, "/") {
					require.IsType(t, errors.SchemaErrors{}, err, "what was added is found, if it compiles")
				}
			}
		}
		if jsontext.Value(manifest).IsValid(jsontext.AllowDuplicateNames(true)) {
			return
		}
		// The manifest is one document.
		if js, err := yamlbridge.AppendJSON(nil, manifest); err == nil {
			same, err := schema.ParseCRD(js)
			require.NoError(t, err, "%s", js)
			require.Equal(t, len(crds), len(same))
			for i := range same {
				same[i].Position = crds[i].Position
			}
			require.Equal(t, crds, same, "%s", js)
		}
	})
}

// FuzzCompile holds that neither validating nor compiling changes a schema or depends on chance,
// that valid schemas compile, and that only the core matters.
func FuzzCompile(f *testing.F) {
	corpus.AddSeeds(f)
	seedSchemas(f, func(text []byte) {
		if jsontext.Value(text).IsValid() {
			f.Add(text)
		}
	})
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > maxSeed || !jsontext.Value(text).IsValid() {
			return
		}
		s, err := schema.Parse(text)
		if err != nil {
			return
		}
		before := canonicalOrder(t, s)
		errValid := validation.Structural(s)
		require.Equal(t, errValid, validation.Structural(s))
		warnings, again := validation.Warnings(s), validation.Warnings(s)
		require.Equal(t, warnings, again)
		if errValid != nil {
			require.IsType(t, errors.SchemaErrors{}, errValid)
		}
		for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
			p, err := schema.Compile(s, dialect)
			if err != nil {
				require.IsType(t, errors.SchemaErrors{}, err)
				require.True(t, errValid != nil || dialect == schema.KEP || strings.Contains(err.Error(), "must not grow"), "%v", err)
				continue
			}
			listing := p.String()
			for _, same := range []*schema.Structural{s, core(s)} {
				p, err := schema.Compile(same, dialect)
				require.NoError(t, err)
				require.Equal(t, listing, p.String())
			}
		}
		require.Equal(t, string(before), string(canonicalOrder(t, s)))
		if errValid == nil {
			skeleton, err := schema.Skeleton(text)
			if err != nil { // the one rule of skeletons that servers do not have
				require.Contains(t, err.Error(), "additionalProperties and properties are mutual exclusive")
				return
			}
			requireCore(t, s, skeleton)
		}
	})
}

// core returns a copy with the parts that pruning and defaulting use.
func core(s *schema.Structural) *schema.Structural {
	if s == nil {
		return nil
	}
	c := &schema.Structural{
		Type: s.Type, Default: s.Default, Nullable: s.Nullable,
		XIntOrString: s.XIntOrString, XEmbeddedResource: s.XEmbeddedResource, XPreserveUnknownFields: s.XPreserveUnknownFields,
	}
	for name, p := range s.Properties {
		if c.Properties == nil {
			c.Properties = make(map[string]*schema.Structural)
		}
		c.Properties[name] = core(p)
	}
	if s.Items != nil && s.Items.Schema != nil {
		c.Items = &schema.SchemaOrArray{Schema: core(s.Items.Schema)}
	}
	if ap := s.AdditionalProperties; ap != nil {
		c.AdditionalProperties = &schema.SchemaOrBool{Allows: ap.Allows, Schema: core(ap.Schema)}
	}
	return c
}

func canonicalOrder(t testing.TB, s *schema.Structural) []byte {
	js, err := json.Marshal(s, json.Deterministic(true))
	require.NoError(t, err)
	return js
}
