package release

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// TestWorkflow asserts that each step of .ci/run is a job of the workflow, and that there are no
// other jobs.
func TestWorkflow(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skipf("skipped: %v", err)
	}
	text, err := os.ReadFile("../.github/workflows/ci.yml")
	require.NoError(t, err)
	var workflow struct {
		Jobs map[string]struct {
			Strategy struct {
				Matrix struct{ Step []string }
			}
			Steps []struct{ Run string }
		}
	}
	require.NoError(t, yaml.Unmarshal(text, &workflow))
	var ran []string
	for _, job := range workflow.Jobs {
		for _, step := range job.Steps {
			name, ok := strings.CutPrefix(step.Run, ".ci/run ")
			switch {
			case !ok:
			case name == "${{ matrix.step }}":
				ran = append(ran, job.Strategy.Matrix.Step...)
			default:
				ran = append(ran, name)
			}
		}
	}
	out, err := exec.Command("bash", "../.ci/run", "-l").Output()
	require.NoError(t, err)
	steps := strings.Fields(string(out))
	assert.Greater(t, len(steps), 10)
	slices.Sort(steps)
	slices.Sort(ran)
	assert.Equal(t, steps, ran)

	out, err = exec.Command("bash", "../.ci/run", "tidy", "no-such-step").CombinedOutput()
	assert.Error(t, err)
	assert.Equal(t, "there is no step no-such-step: see .ci/run -l\n", string(out), "nothing has run")
}
