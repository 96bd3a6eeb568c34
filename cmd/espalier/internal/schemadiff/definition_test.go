package schemadiff

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// crd returns a definition with the lines of a spec.
func crd(t *testing.T, spec string) *schema.CRD {
	t.Helper()
	text := "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: vines.example.com}\nspec:\n  group: example.com\n" + spec
	crds, err := schema.ParseCRD([]byte(text))
	require.NoError(t, err)
	require.Len(t, crds, 1)
	return crds[0]
}

const names = "  scope: Namespaced\n  names: {kind: Vine, plural: vines}\n"

// versions returns a spec with versions, each of them a name, with an asterisk if it is stored and
// an exclamation mark if it is not served, and the schema of spec.
func versions(more string, all ...string) string {
	text := names + more + "  versions:\n"
	for one := range slices.Chunk(all, 2) {
		name := strings.Trim(one[0], "*!")
		text += "  - name: " + name + "\n    served: " + boolean(!strings.Contains(one[0], "!")) + "\n    storage: " + boolean(strings.Contains(one[0], "*")) +
			"\n    schema: {openAPIV3Schema: {type: object, properties: {spec: " + one[1] + "}}}\n"
	}
	return text
}

func boolean(b bool) string {
	return map[bool]string{true: "true", false: "false"}[b]
}

// withVersions returns changes as lines, with their versions.
func withVersions(changes []Change) string {
	lines := strings.Split(linesOf(changes), "\n")
	for i, c := range changes {
		if c.From != "" {
			lines[i] = c.From + "-" + c.Version + " " + lines[i]
		} else if c.Version != "" {
			lines[i] = c.Version + " " + lines[i]
		}
	}
	return strings.Join(lines, "\n")
}

const (
	text    = "{type: object, properties: {a: {type: string}, b: {type: string}}}"
	shorter = "{type: object, properties: {a: {type: string, maxLength: 3}}}"
	webhook = "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.com'}}}\n"
)

// TestDefinitions: what is said of versions, names and the rest.
func TestDefinitions(t *testing.T) {
	version := func(more string) string {
		return names + "  versions:\n  - name: v1\n    served: true\n    storage: true\n    schema: {openAPIV3Schema: {type: object, properties: {status: {type: object, properties: {n: {type: integer}}}}}}\n" + more
	}
	for _, c := range []struct{ about, old, new, want string }{
		{"nothing", versions("", "v1*", text), versions("", "v1*", text), ""},
		{
			"how much a change matters in a version", versions("", "v1*", text, "v2", text, "v3!", text), versions("", "v1*", shorter, "v2", shorter, "v3!", shorter),
			"v1 client spec.a tightened/maxLength\nv1 data spec.b field-removed\n" +
				"v2 client spec.a tightened/maxLength\nv2 client spec.b field-removed\n" +
				"v3 harmless spec.a tightened/maxLength\nv3 caution spec.b field-removed",
		},
		{"a version goes", versions("", "v1*", text, "v2", text), versions("", "v1*", text), "v2 client version-removed"},
		{"a version is unserved", versions("", "v1*", text, "v2", text), versions("", "v1*", text, "v2!", text), "v2 client version-unserved"},
		{"a version is served", versions("", "v1*", text, "v2!", text), versions("", "v1*", text, "v2", text), "v2 harmless version-served"},
		{"the stored version goes", versions("", "v1*", text, "v2", text), versions("", "v2*", text), "v1 client version-removed\nv2 caution storage-changed"},
		{
			"another version is stored", versions("", "v1*", text, "v2", shorter), versions("", "v1", text, "v2*", shorter),
			"v2 caution storage-changed\nv1-v2 client spec.a tightened/maxLength\nv1-v2 data spec.b field-removed",
		},
		{
			"another version is stored, and what both lose is said once", versions("", "v1*", text, "v2", shorter), versions("", "v1", shorter, "v2*", shorter),
			"v1 client spec.a tightened/maxLength\nv1 data spec.b field-removed\nv2 caution storage-changed",
		},
		{
			"another version is stored, by a webhook", versions(webhook, "v1*", text, "v2", shorter), versions(webhook, "v1", text, "v2*", shorter),
			"v2 caution storage-changed",
		},
		{
			"a new version lacks what is stored", versions("", "v1*", text), versions("", "v1*", text, "v2", shorter),
			"v2 harmless version-added\nv1-v2 client spec.b field-removed",
		},
		{"a new version that nobody reads", versions("", "v1*", text), versions("", "v1*", text, "v2!", shorter), "v2 harmless version-added"},
		{"a new version by a webhook", versions(webhook, "v1*", text), versions(webhook, "v1*", text, "v2", shorter), "v2 harmless version-added"},
		{"a webhook comes", versions("", "v1*", text), versions(webhook, "v1*", text), "caution conversion-changed"},
		{"a webhook goes", versions(webhook, "v1*", text), versions("", "v1*", text), "client conversion-changed"},
		{"the scope", strings.Replace(versions("", "v1*", text), "Namespaced", "Cluster", 1), versions("", "v1*", text), "client scope-changed"},
		{
			"names", versions("", "v1*", text), strings.Replace(versions("", "v1*", text), "kind: Vine,", "kind: Wine, listKind: VineList, singular: vine,", 1),
			"client names-changed",
		},
		{
			"names that may change", versions("", "v1*", text), strings.Replace(versions("", "v1*", text), "kind: Vine,", "kind: Vine, listKind: Vines, singular: wine,", 1),
			"client names-changed\nclient names-changed",
		},
		{"a version is deprecated", version(""), version("    deprecated: true\n"), "v1 caution version-deprecated"},
		{"a status comes", version(""), version("    subresources: {status: {}}\n"), "v1 client status-added"},
		{"a status goes", version("    subresources: {status: {}}\n"), version(""), "v1 client status-removed"},
		{"a status comes where none was", versions("", "v1*", text), versions("", "v1*", text) + "    subresources: {status: {}}\n", ""},
		{"a scale comes", version(""), version("    subresources: {scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}\n"), "v1 harmless scale-added"},
		{"a scale goes", version("    subresources: {scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}\n"), version(""), "v1 client scale-removed"},
		{
			"a scale changes", version("    subresources: {scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}\n"), version("    subresources: {scale: {specReplicasPath: .spec.m, statusReplicasPath: .status.n}}\n"),
			"v1 caution scale-changed",
		},
		{
			"the server refuses a schema", versions("", "v1*", text), versions("", "v1*", "{type: object, properties: {a: {type: string}, b: {type: strnig}}}"),
			"client update-refused\nv1 data spec.b type-changed",
		},
		{
			"the server refuses a rule", versions("", "v1*", text), versions("", "v1*", "{type: object, properties: {a: {type: string}, b: {type: string, x-kubernetes-validations: [{rule: 'self ='}]}}}"),
			"client update-refused\nv1 client spec.b tightened/x-kubernetes-validations",
		},
		{
			"pruning begins", versions("  preserveUnknownFields: true\n", "v1*", shorter), versions("", "v1*", shorter),
			"data unknown-fields-pruned",
		},
		{
			"without pruning no field is lost", versions("  preserveUnknownFields: true\n", "v1*", text), versions("  preserveUnknownFields: true\n", "v1*", shorter),
			"v1 client spec.a tightened/maxLength\nv1 harmless spec.b field-preserved",
		},
		{
			"versions in which objects were stored", versions("", "v1*", text, "v2", text) + "status: {storedVersions: [v1, v2]}\n", versions("", "v1*", text, "v2", shorter),
			"v2 client spec.a tightened/maxLength\nv2 data spec.b field-removed",
		},
	} {
		t.Run(c.about, func(t *testing.T) {
			all := Compare([]*schema.CRD{crd(t, c.old)}, []*schema.CRD{crd(t, c.new)})
			require.Len(t, all, 1)
			assert.Equal(t, "vines.example.com", all[0].Name)
			assert.Equal(t, c.want, withVersions(all[0].Changes))
			for _, text := range []string{c.old, c.new} {
				same := Compare([]*schema.CRD{crd(t, text)}, []*schema.CRD{crd(t, text)})
				assert.Empty(t, same[0].Changes)
			}
		})
	}
}

// TestCompare: definitions are compared by their names.
func TestCompare(t *testing.T) {
	a, b := crd(t, versions("", "v1*", text)), crd(t, versions("", "v1*", shorter))
	b.Name = "a.example.com"
	all := Compare([]*schema.CRD{a}, []*schema.CRD{b})
	require.Len(t, all, 2)
	assert.Equal(t, "a.example.com", all[0].Name)
	assert.Equal(t, "harmless definition-added", linesOf(all[0].Changes))
	assert.Equal(t, Harmless, all[0].Worst())
	assert.Equal(t, "data definition-removed", linesOf(all[1].Changes))
	assert.Equal(t, Data, all[1].Worst())
	assert.Zero(t, new(Definition).Worst())
	assert.Empty(t, Compare(nil, nil))
}

// TestShared: versions of v1beta1 share a schema, and each is compared.
func TestShared(t *testing.T) {
	of := func(s string) *schema.CRD {
		c := crd(t, versions("", "v1*", s, "v2", s))
		c.Versions[1].Schema = c.Versions[0].Schema
		return c
	}
	changes := Compare([]*schema.CRD{of(text)}, []*schema.CRD{of(shorter)})[0].Changes
	assert.Equal(t, "v1 client spec.a tightened/maxLength\nv1 data spec.b field-removed\nv2 client spec.a tightened/maxLength\nv2 client spec.b field-removed", withVersions(changes))
}
