package fuzz

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// TestStreams asserts that streams, maps and tokens report what AppendJSON reports of generated
// pairs. The documents are cut at random places and everywhere, and 200 of them in two at each
// byte.
func TestStreams(t *testing.T) {
	defer goleak.VerifyNone(t)
	cutEverywhere, share := 200, 16 // of at most 2 kB; of the pairs of TestParity
	if testing.Short() {
		cutEverywhere, share = 20, 160
	}
	first := *fromFlag / DocumentsPerSchema
	checked, everywhere, cuts := 0, 0, 0
	for n := first; n < first+uint64(*pairsFlag/share)/DocumentsPerSchema; n++ {
		s, js := NewSchema(n * DocumentsPerSchema)
		for _, subject := range subjects(t, s, n) {
			for seed := n * DocumentsPerSchema; seed < (n+1)*DocumentsPerSchema; seed++ {
				doc := NewDocument(seed, s)
				checked++
				ok := t.Run(fmt.Sprint(seed), func(t *testing.T) {
					subject.CheckValues(t, doc)
					subject.CheckStreams(t, seed, doc)
					if everywhere == cutEverywhere || len(doc) > 2000 {
						return
					}
					everywhere++
					fronts := subject.Streams(t, doc)
					for at := range doc {
						cuts++
						fronts.Check(t, at)
					}
				})
				if !ok {
					t.Fatalf("schema: %s\ndocument: %q", js, doc)
				}
			}
		}
	}
	require.Equal(t, cutEverywhere, everywhere)
	t.Logf("%d documents from seed %d on, and %d cuts in two of %d", checked, first*DocumentsPerSchema, cuts, everywhere)
}
