package fuzz

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/schema"
)

// TestLimitsSuffice takes all limits from real definitions, and then sets those that errors of package
// cel about costs name. After that no rule is too costly.
func TestLimitsSuffice(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the rules of all definitions several times")
	}
	costly := 0
	for file, c := range ruledDefinitions(t) {
		for _, v := range c.Versions {
			for s := range schemasIn(v.Schema) {
				s.MaxItems, s.MaxLength, s.MaxProperties = nil, nil, nil
			}
		}
		const rounds = 4 // as an error names only so many limits
		errs := cel.Definition(c, nil)
		costly += len(errs)
		for range rounds {
			for _, e := range errs {
				for _, limit := range e.Limits {
					setLimit(c, limit)
				}
			}
			if errs = cel.Definition(c, nil); len(errs) == 0 {
				break
			}
		}
		assert.Empty(t, errs, "%s: %s", file, c.Name)
	}
	t.Logf("%d errors", costly)
	assert.Greater(t, costly, 100)
}

// setLimit sets a limit to a small number.
func setLimit(c *schema.CRD, path string) {
	where, rest, _ := strings.Cut(path, "openAPIV3Schema.")
	for i, v := range c.Versions {
		if where == "spec.validation." || strings.HasPrefix(where, "spec.versions["+string(rune('0'+i))+"]") {
			setLimitIn(v.Schema, rest)
		}
	}
}

func setLimitIn(s *schema.Structural, path string) {
	limit := new(int64(5))
	for {
		first, rest, _ := strings.Cut(path, ".")
		switch {
		case strings.HasPrefix(first, "properties["):
			name, rest, _ := strings.Cut(strings.TrimPrefix(path, "properties["), "].")
			s, path = s.Properties[name], rest
			continue
		case first == "items":
			s = s.Items.Schema
		case first == "additionalProperties":
			s = s.AdditionalProperties.Schema
		case first == "maxItems":
			s.MaxItems = limit
			return
		case first == "maxLength":
			s.MaxLength = limit
			return
		default:
			s.MaxProperties = limit
			return
		}
		path = rest
	}
}
