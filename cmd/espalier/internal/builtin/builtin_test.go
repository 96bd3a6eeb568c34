package builtin

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// TestAll compiles the kinds of all releases. Each has what the server's Go type has.
func TestAll(t *testing.T) {
	for _, version := range Versions() {
		r, err := Find(version)
		require.NoError(t, err)
		kinds := map[string]bool{}
		for k := range r.Kinds() {
			kinds[k.APIVersion+" "+k.Kind] = true
		}
		assert.Greater(t, len(kinds), 80, version)
		compiled := 0
		done := map[string]bool{}
		for k := range r.Kinds() {
			if done[k.APIVersion] {
				continue
			}
			done[k.APIVersion] = true
			all, err := r.Definitions(k.APIVersion)
			require.NoError(t, err, k.APIVersion)
			for _, crd := range all {
				assert.True(t, crd.GoType && crd.OpenAPI, crd.Name)
				assert.Equal(t, "Kubernetes "+version, crd.File)
				assert.True(t, kinds[strings.TrimPrefix(crd.Group+"/"+crd.Versions[0].Name, "/")+" "+crd.Kind], crd.Name)
				p, err := crd.Program(crd.Versions[0].Name, schema.CheckTypes(true))
				require.NoError(t, err, crd.Name)
				assert.Zero(t, p.Expansion().PerDocument, "%s has a default", crd.Name)
				compiled++
			}
		}
		assert.Equal(t, len(kinds)-1, compiled, "all but custom resource definitions")
	}
}

func TestFind(t *testing.T) {
	for _, version := range []string{"1.37", "v1.37", "1.37.2", "v1.37.9"} {
		r, err := Find(version)
		require.NoError(t, err)
		assert.Equal(t, "1.37", r.Version)
	}
	assert.Equal(t, Newest().Version, Versions()[len(Versions())-1])
	for _, version := range []string{"", "1", "37", "1.3", "1.370", "latest", "none"} {
		_, err := Find(version)
		assert.ErrorContains(t, err, "only of 1.34, 1.35, 1.36, 1.37", version)
	}
}

func TestElsewhere(t *testing.T) {
	assert.Equal(t, []string{"1.35"}, Newest().Elsewhere("scheduling.k8s.io/v1alpha1", "Workload"))
	assert.Empty(t, Newest().Elsewhere("apps/v1beta1", "Deployment"))
	assert.True(t, Newest().HasGroup("apps"))
	assert.True(t, Newest().HasGroup(""))
	assert.False(t, Newest().HasGroup("extensions"))
	var none *Release
	assert.Empty(t, none.Elsewhere("scheduling.k8s.io/v1alpha1", "Workload"))
	assert.False(t, none.HasGroup("apps"))
	assert.Nil(t, none.Required("apps/v1", "Deployment"))
	for range none.Kinds() {
		t.Error("no release has a kind")
	}
}

// TestRequired holds the fields that are required against the schemas: each is declared, none is
// within a status, and all lines are read.
func TestRequired(t *testing.T) {
	total := 0
	for k := range Newest().Kinds() {
		fields := Newest().Required(k.APIVersion, k.Kind)
		if fields == nil {
			continue
		}
		all, err := Newest().Definitions(k.APIVersion)
		require.NoError(t, err)
		for _, crd := range all {
			if crd.Kind == k.Kind {
				assert.NotContains(t, fields.Below, "status")
				if assert.NotContains(t, fields.Below, "metadata"); fields.NeedsName {
					total++
				}
				total += declared(t, k.Kind, fields, crd.Versions[0].Schema)
			}
		}
	}
	assert.Equal(t, strings.Count(required, "\n"), total)
	older, err := Find("1.36")
	require.NoError(t, err)
	assert.Nil(t, older.Required("apps/v1", "Deployment"))
	deployment := Newest().Required("apps/v1", "Deployment")
	assert.Equal(t, []string{"spec"}, deployment.Required)
	assert.Equal(t, []string{"selector", "template"}, deployment.Below["spec"].Required)
	assert.Contains(t, deployment.Below["spec"].Below["template"].Below["spec"].Below["containers"].Below["[]"].Required, "name")
	assert.Equal(t, []string{"spec"}, Newest().Required("v1", "Pod").Required)
	assert.Equal(t, &Fields{NeedsName: true}, Newest().Required("v1", "ConfigMap"))
	assert.False(t, Newest().Required("v1", "LimitRange").NeedsName, "the server makes one")
	assert.Nil(t, Newest().Required("v1", "Event"))
}

// declared counts required fields, and asserts that a schema declares them.
func declared(t *testing.T, at string, f *Fields, s *schema.Structural) int {
	n := len(f.Required)
	for _, name := range f.Required {
		assert.Contains(t, s.Properties, name, at)
	}
	for name, below := range f.Below {
		child := s.Properties[name]
		if name == "[]" {
			require.NotNil(t, s.Items, at)
			child = s.Items.Schema
		}
		require.NotNil(t, child, "%s.%s", at, name)
		n += declared(t, at+"."+name, below, child)
	}
	return n
}
