package fuzz

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/corpus"
)

// suiteDifferences are the tests of yaml-test-suite that a mode reads differently from the server,
// by the class of the difference.
var suiteDifferences = map[yamlMode]map[class][]string{
	hardened: {
		yamlSecond:  {"35KP", "3HFZ", "4H7K", "6ZKB", "7Z25", "9DXL", "9KAX", "BS4K", "DK3J", "EB22", "FP8R", "JHB9", "KS4U", "KSS4", "L383", "M7A3", "RHX7", "RZT7", "U9NS"},
		yamlTag:     {"5TYM", "6CK3", "6WLZ", "7FWL", "9HCY", "9WXW", "C4HZ", "CC74", "CUP7", "J7PZ", "M5C3", "P76L", "QLJ7", "U99R", "UGM3", "Z67P", "Z9M4"},
		yamlBinary:  {"565N"},
		yamlVersion: {"27NA", "DK95/07", "RTP8"},
		yamlEscapes: {"3UYS"},
		yamlLoneEnd: {"HWV9", "QT73"},
		yamlSplit:   {"4ABK", "652Z", "HM87/01"},
	},
	asServer: {},
}

// TestYAMLSuite compares all tests of yaml-test-suite, including those that are not YAML.
func TestYAMLSuite(t *testing.T) {
	for _, m := range kubernetesModes {
		t.Run(m.String(), func(t *testing.T) {
			tests := 0
			got := map[class][]string{}
			for test := range corpus.YAMLTestSuite(t) {
				tests++
				k, what, _ := m.compare(test.YAML, nil)
				switch k {
				case same, bothRefuse:
				case differs:
					t.Errorf("%s (%s): %s\n%s", test.ID, test.Title, what, m.explain(test.YAML, nil))
				default:
					got[k] = append(got[k], test.ID)
				}
			}
			assert.Equal(t, 402, tests)
			assert.Equal(t, suiteDifferences[m], got)
		})
	}
}
