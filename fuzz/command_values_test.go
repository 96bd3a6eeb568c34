package fuzz

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	k8sschema "k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/validate"
)

// TestCommandRefusesWhatTheServerRefuses checks the resources of the corpus, as they are and with
// mistakes in them. The command must report the errors and the warnings of the server's strategy.
func TestCommandRefusesWhatTheServerRefuses(t *testing.T) {
	servers, strategies := make(map[string]*Server), make(map[string]*Strategy)
	for v := range realVersions(t) {
		typ := v.apiVersion + " " + v.crd.Kind
		server, err := NewServer(v.js, k8sschema.GroupVersion{Group: v.crd.Group, Version: v.version.Name}, v.crd.Kind)
		require.NoError(t, err)
		if v.crd.PreserveUnknownFields {
			server.Preserve()
		}
		servers[typ] = server
		strategies[typ], err = NewRuledStrategy(validate.KindOf(v.crd, &v.version), v.js, v.crd.PreserveUnknownFields)
		require.NoError(t, err)
	}
	var documents [][]byte
	var types []string
	for o := range realObjects(t) {
		typ := o.apiVersion + " " + o.kind
		if servers[typ] == nil {
			continue
		}
		for i := range uint64(3) {
			js := o.js
			if i > 0 {
				js = Mutate(o.js, rand.New(rand.NewPCG(uint64(len(documents)), i)))
			}
			var line bytes.Buffer
			if json.Compact(&line, js) == nil {
				documents, types = append(documents, line.Bytes()), append(types, typ)
			}
		}
	}
	name := filepath.Join(t.TempDir(), "objects.ndjson")
	require.NoError(t, os.WriteFile(name, append(bytes.Join(documents, []byte("\n")), '\n'), 0o666))
	var report struct {
		Findings []struct {
			Document                        int
			Rule, Message, Type, ServerText string
			Definition                      struct{ Line int }
		}
	}
	out := espalier(t, 1, "check", "--config=", "--crd", filepath.Join(corpus.Dir(t), "crds"), "-o", "json", name)
	require.NoError(t, json.Unmarshal(out, &report))
	got, warnings := make([][]string, len(documents)), make([][]string, len(documents))
	isOther := make([]bool, len(documents)) // the server does not come to validate it, or not all is listed
	located := 0
	for _, f := range report.Findings {
		i := f.Document - 1
		switch f.Rule {
		case "type-mismatch", "invalid-format", "syntax", "limit", "missing-schema", "missing-separator", "missing-type", "more-findings":
			isOther[i] = true
		case "server-warning":
			warnings[i] = append(warnings[i], f.Message)
		case "unknown-field", "duplicate-field", "dropped-null":
		default:
			got[i] = append(got[i], f.Type+" "+f.ServerText)
			located += min(f.Definition.Line, 1)
		}
	}
	compared, invalid, warned := 0, 0, 0
	for i, js := range documents {
		answer, err := servers[types[i]].Decode(js)
		if nullInMetadata(js) {
			continue // the command keeps it, and the server drops it before it validates
		}
		if err != nil || isOther[i] {
			assert.True(t, err == nil || isOther[i] || len(got[i]) > 0, "the server refuses it: %v\n%s", err, js)
			continue
		}
		errs, texts := strategies[types[i]].Create(answer.Object)
		var want []string
		for _, err := range errs {
			want = append(want, string(err.Type)+" "+err.Error())
		}
		slices.Sort(want)
		slices.Sort(got[i])
		if bytes.Contains(js, []byte("${")) { // the command does not judge what is still to be replaced
			assert.Subset(t, want, got[i], "%s", js)
			continue
		}
		assert.Equal(t, want, got[i], "%s", js)
		if len(errs) == 0 {
			slices.Sort(texts)
			slices.Sort(warnings[i])
			assert.Equal(t, texts, warnings[i], "%s", js)
			warned += min(len(texts), 1)
		}
		compared++
		invalid += min(len(errs), 1)
	}
	t.Logf("%d documents, %d compared, %d invalid, %d with warnings, %d findings with a place in the definition",
		len(documents), compared, invalid, warned, located)
	assert.Greater(t, compared, 1500)
	assert.Greater(t, invalid, 100)
	assert.Greater(t, warned, 0)
	assert.Greater(t, located, 100)
}

// nullInMetadata reports whether the metadata of an object is null, or has a null that a schema may
// refuse.
func nullInMetadata(js []byte) bool {
	var object struct{ Metadata *map[string]any }
	if json.Unmarshal(js, &object) != nil {
		return false
	}
	if object.Metadata == nil {
		return bytes.Contains(js, []byte(`"metadata":null`))
	}
	name, ok := (*object.Metadata)["name"]
	return ok && name == nil
}
