package judge_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/playground/judge"
)

// BenchmarkJudge judges an object of a thousand lines at each keystroke: findings alone, and everything.
func BenchmarkJudge(b *testing.B) {
	definition, err := os.ReadFile("../../testdata/quickstart/crd.yaml")
	if err != nil {
		b.Fatal(err)
	}
	var object strings.Builder
	object.WriteString("apiVersion: backup.example.com/v1\nkind: BackupPlan\nmetadata: {name: a}\nspec:\n  schedule: \"0 2 * * *\"\n  sources:\n")
	for i := range 331 {
		fmt.Fprintf(&object, "  - claim: c%d\n    paths: [/a, /b]\n    pahts: [/c]\n", i)
	}
	for _, brief := range []bool{true, false} {
		b.Run(fmt.Sprintf("brief=%t", brief), func(b *testing.B) {
			j := judge.New(nil)
			r := judge.Request{Definition: string(definition), Object: object.String(), Validation: "Warn", YAML: true, Brief: brief}
			for b.Loop() {
				j.Judge(&r)
			}
		})
	}
}
