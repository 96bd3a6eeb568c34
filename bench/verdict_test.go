package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestVerdicts asserts that Espalier and the server agree about all resources. Their figures would
// mean little otherwise.
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
				assert.Zero(t, wrong, "%s: %s about those that are %s", job.Name, c.Name, w.Name)
			}
		}
	}
}

// TestMistakes asserts that no contender misses a mistake.
func TestMistakes(t *testing.T) {
	for _, m := range Mistakes {
		assert.Equal(t, 1, strings.Count(flawless, m.Old), m.Name)
	}
	for _, job := range verdictJobs() {
		for i := range job.Contenders {
			c := &job.Contenders[i]
			assert.NoError(t, Compare(c, &Document{Schema: mistakesIn(), Src: []byte(flawless), YAML: []byte(flawless)}), c.Name)
			if c.Output == Valid {
				assert.Empty(t, misses(c), "%s: %s", job.Name, c.Name)
			}
		}
	}
}
