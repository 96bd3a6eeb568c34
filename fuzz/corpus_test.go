package fuzz

import (
	"encoding/json"
	"fmt"
	"iter"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A manifest has the parts of a definition that the server's side of a comparison reads without the
// help of package schema.
type manifest struct {
	Spec struct {
		Group                 string
		Names                 struct{ Kind string }
		Version               string
		PreserveUnknownFields *bool
		Validation            *struct{ OpenAPIV3Schema json.RawMessage }
		Versions              []struct {
			Name   string
			Schema *struct{ OpenAPIV3Schema json.RawMessage }
		}
	}
}

// A realVersion is a version of a definition in the corpus, read by both sides.
type realVersion struct {
	crd        *schema.CRD
	version    schema.Version
	js         json.RawMessage // its schema, as the server's side has found it
	apiVersion string
}

// realVersions yields all versions that have a schema.
func realVersions(t testing.TB) iter.Seq[realVersion] {
	return func(yield func(realVersion) bool) {
		for file := range corpus.CRDs(t) {
			for doc := range yamlbridge.Documents(file.Data) {
				ours, err := schema.ParseCRD(doc.Bytes)
				require.NoError(t, err, file.Name)
				var theirs manifest
				require.NoError(t, yaml.Unmarshal(doc.Bytes, &theirs), file.Name)
				for _, crd := range ours {
					if crd.Kind != theirs.Spec.Names.Kind {
						t.Logf("%s: skipped: a list of definitions", file.Name)
						continue
					}
					for i, version := range crd.Versions {
						v := realVersion{crd: crd, version: version, js: theirs.schema(i), apiVersion: crd.Group + "/" + version.Name}
						if version.Schema != nil && !yield(v) {
							return
						}
					}
				}
			}
		}
	}
}

// schema returns the schema of a version, which may be that of all versions.
func (m *manifest) schema(version int) (js json.RawMessage) {
	if m.Spec.Validation != nil {
		js = m.Spec.Validation.OpenAPIV3Schema
	}
	if len(m.Spec.Versions) > 0 && m.Spec.Versions[version].Schema != nil {
		js = m.Spec.Versions[version].Schema.OpenAPIV3Schema
	}
	return js
}

// realSchemas are the schemas of the corpus by apiVersion and kind.
func realSchemas(t *testing.T, newComparer maker) map[string]*comparer {
	comparers := make(map[string]*comparer)
	for v := range realVersions(t) {
		c, err := newComparer(v.version.Schema, v.js, schema.PreserveUnknownFields(v.crd.PreserveUnknownFields))
		require.NoError(t, err, "%s %s", v.apiVersion, v.crd.Kind)
		if v.crd.PreserveUnknownFields {
			c.server.Preserve()
		}
		comparers[v.apiVersion+" "+v.crd.Kind] = c
	}
	return comparers
}

// A realObject is a resource of the corpus.
type realObject struct {
	file, apiVersion, kind string
	yaml, js               []byte // as it is, and as JSON
}

// realObjects yields the resources of the corpus.
func realObjects(t testing.TB) iter.Seq[realObject] {
	return func(yield func(realObject) bool) {
		for file := range corpus.Samples(t) {
			for doc := range yamlbridge.Documents(file.Data) {
				js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
				require.NoError(t, err, file.Name)
				apiVersion, kind, err := decoder.PeekType(js)
				require.NoError(t, err, file.Name)
				if !yield(realObject{file.Name, apiVersion, kind, doc.Bytes, js}) {
					return
				}
			}
		}
	}
}

// TestRealResources compares the resources of the corpus, as they are and with mistakes in them.
func TestRealResources(t *testing.T) {
	t.Run("hardened", func(t *testing.T) { testRealResources(t, newComparer) })
	t.Run("exact", func(t *testing.T) { testRealResources(t, newExactComparer) })
	t.Run("storage", func(t *testing.T) { testRealResources(t, newStorageComparer) })
	t.Run("hardened YAML", func(t *testing.T) { testRealResources(t, inYAML(newComparer)) })
	t.Run("exact YAML", func(t *testing.T) { testRealResources(t, inYAML(newExactComparer)) })
}

func testRealResources(t *testing.T, newComparer maker) {
	mutations := uint64(*mutationsFlag)
	if testing.Short() {
		mutations = 0
	}
	comparers := realSchemas(t, newComparer)
	objects, y := 0, newTally()
	plain := newTally()
	started := time.Now()
	for o := range realObjects(t) {
		c := comparers[o.apiVersion+" "+o.kind]
		if c == nil {
			continue
		}
		objects++
		if c.yaml {
			o.js = o.yaml
		}
		compareReal(c, o.file, o.js, plain)
		for n := range mutations {
			seed := uint64(objects)<<32 | n
			compareReal(c, fmt.Sprintf("%s, seed %d", o.file, seed), c.mutate(o.js, seed), y)
		}
	}
	t.Logf("%d schemas, %d resources, %d mutations of each, in %v", len(comparers), objects, mutations, time.Since(started).Round(time.Second))
	for _, c := range comparers {
		for note, n := range c.notes {
			y.notes[note] += n
		}
	}
	plain.log(t)
	y.log(t)
	// None may be left out unnoticed.
	assert.Equal(t, 230, len(comparers))
	assert.Equal(t, 737, objects)
}

// mutate returns a resource with mistakes in it. In YAML, half of the mutants are in block style,
// in which no name repeats. The others are JSON.
func (c *comparer) mutate(doc []byte, seed uint64) []byte {
	mutant := Mutate(c.json(doc), rand.New(rand.NewPCG(seed, 3)))
	if c.yaml && seed%2 == 1 {
		if block, err := yaml.JSONToYAML(mutant); err == nil {
			return block
		}
	}
	return mutant
}

func compareReal(c *comparer, name string, doc []byte, y *tally) {
	k, what, detail := c.compare(doc)
	y.add(k, what, func() string {
		doc := shorten(doc, stillDiffers(c, k, what, time.Now().Add(10*time.Second)))
		_, _, detail = c.compare(doc)
		return fmt.Sprintf("%s: %s\n%s\n%.2000s", name, what, doc, detail)
	})
}
