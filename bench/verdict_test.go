package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestVerdicts asserts that Espalier and the server agree about all resources, and that the peers
// rarely have another verdict. Their figures would mean little otherwise.
func TestVerdicts(t *testing.T) {
	workloads := Verdicts()
	if workloads == nil {
		t.Skip("skipped: no third-party data (real definitions and resources); set ESPALIER_CORPUS to a folder that has it")
	}
	assert.Greater(t, len(workloads[0].Docs), 650)
	assert.Greater(t, len(workloads[2].Docs), 700)
	for _, w := range workloads {
		if w.Name == "mixed" {
			continue // the same resources as those that are valid
		}
		for _, job := range Jobs() {
			for i := range job.Contenders {
				c := &job.Contenders[i]
				if !job.takes(w) || c.Output != Valid {
					continue
				}
				wrong := 0
				for _, d := range w.Docs {
					err := Compare(c, d)
					if err == nil == w.Invalid {
						wrong++
						t.Logf("%s: %v: %s", c.Name, err, d.Src)
					}
				}
				assert.LessOrEqual(t, wrong, elsewhere(c, len(w.Docs)/20), "%s: %s about those that are %s", job.Name, c.Name, w.Name)
			}
		}
	}
}

// elsewhere returns n for a contender of others, and 0 for Espalier and the server.
func elsewhere(c *Contender, n int) int {
	if strings.HasPrefix(c.Name, "Espalier") || strings.HasPrefix(c.Name, "Kubernetes") {
		return 0
	}
	return n
}

// TestMistakes asserts which mistakes each contender misses.
func TestMistakes(t *testing.T) {
	beyondJSONSchema := []string{"list type set", "list type map", "metadata.name", "metadata.labels", "metadata of an embedded resource", "no kind in an embedded resource", "scale subresource"}
	missed := map[string][]string{
		"kubeconform, strict":                   beyondJSONSchema,
		"jsonschema v6, with its UnmarshalJSON": append(slices.Clone(beyondJSONSchema), "duplicate field"),
		"jsonschema v6, of a value":             append(slices.Clone(beyondJSONSchema), "duplicate field"),
	}
	for _, m := range Mistakes {
		assert.Equal(t, 1, strings.Count(flawless, m.Old), m.Name)
	}
	for _, job := range verdictJobs() {
		for i := range job.Contenders {
			c := &job.Contenders[i]
			assert.NoError(t, Compare(c, &Document{Schema: mistakesIn(), Src: []byte(flawless), YAML: []byte(flawless)}), c.Name)
			if c.Output == Valid {
				assert.Equal(t, missed[c.Name], misses(c), "%s: %s", job.Name, c.Name)
			}
		}
	}
}
