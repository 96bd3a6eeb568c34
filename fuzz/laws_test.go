package fuzz

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
)

// TestLaws asserts on generated pairs what holds for every pair, under both
// semantics and in all ways of reading.
func TestLaws(t *testing.T) {
	for first := uint64(0); first < uint64(*pairsFlag)/4; first += DocumentsPerSchema {
		s, js := NewSchema(first)
		for _, dialect := range []schema.Dialect{schema.Kubernetes, schema.KEP} {
			reading := laws.Reading(first / DocumentsPerSchema % uint64(laws.Readings))
			subject, err := laws.New(s, reading, true, schema.Semantics(dialect))
			if err != nil {
				require.Equal(t, schema.KEP, dialect, "%s: %v", js, err) // a default of another type
				continue
			}
			for seed := first; seed < first+DocumentsPerSchema; seed++ {
				doc, _ := NewDocument(seed, s)
				if !t.Run(fmt.Sprint(dialect, "/", seed), func(t *testing.T) { subject.Check(t, seed, doc) }) {
					t.Fatalf("schema: %s\ndocument: %q", js, doc)
				}
			}
		}
	}
}
