package fuzz

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
)

// subjects returns the subjects of the laws for a schema: for both semantics, in one of the
// readings.
func subjects(t *testing.T, s *schema.Structural, n uint64) []*laws.Subject {
	var all []*laws.Subject
	for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
		subject, err := laws.New(s, dialect, laws.Reading(n%uint64(laws.Readings)), true)
		if err == nil {
			all = append(all, subject)
		} else {
			require.Equal(t, schema.KEP, dialect, "%v", err) // a default of another type
		}
	}
	return all
}

// TestLaws asserts the laws on generated pairs.
func TestLaws(t *testing.T) {
	first := *fromFlag / DocumentsPerSchema
	checked := 0
	for n := first; n < first+uint64(*pairsFlag)/8/DocumentsPerSchema; n++ {
		s, js := NewSchema(n * DocumentsPerSchema)
		for _, subject := range subjects(t, s, n) {
			for seed := n * DocumentsPerSchema; seed < (n+1)*DocumentsPerSchema; seed++ {
				doc := NewDocument(seed, s)
				checked++
				if !t.Run(fmt.Sprint(seed), func(t *testing.T) { subject.Check(t, seed, doc) }) {
					t.Fatalf("schema: %s\ndocument: %q", js, doc)
				}
			}
		}
	}
	t.Logf("%d documents from seed %d on", checked, first*DocumentsPerSchema)
}

// TestLawsOfRealResources asserts the laws on the resources of the corpus, as they are and with a
// mistake in them.
func TestLawsOfRealResources(t *testing.T) {
	comparers := realSchemas(t, newComparer)
	made := make(map[*comparer][]*laws.Subject)
	objects := uint64(0)
	for o := range realObjects(t) {
		c := comparers[o.apiVersion+" "+o.kind]
		if c == nil || len(o.js) > 64<<10 {
			continue
		}
		objects++
		if made[c] == nil {
			made[c] = subjects(t, c.schema, uint64(len(made)))
		}
		wrong := Mutate(o.js, rand.New(rand.NewPCG(objects, 4)))
		for _, subject := range made[c] {
			subject.Check(t, objects, o.js)
			subject.Check(t, objects, wrong)
		}
	}
	require.Greater(t, objects, uint64(700))
}
