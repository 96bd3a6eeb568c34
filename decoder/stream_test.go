package decoder_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/laws"
	"github.com/espalier-dev/espalier/schema"
)

// TestFronts asserts of the cases under testdata that streams agree with AppendJSON,
// with a window that hardly holds a token.
func TestFronts(t *testing.T) {
	defer decoder.SetFirstWindow(8)()
	checked := 0
	for _, c := range corpus.Load(t, "*/*") {
		if c.JSON == nil || c.Schema == nil || len(c.JSON) > 4096 {
			continue
		}
		s, err := schema.Parse(c.Schema)
		if err != nil {
			continue
		}
		for _, dialect := range []schema.Semantics{schema.Deployed, schema.KEP} {
			for reading := range laws.Readings {
				subject, err := laws.New(s, dialect, reading, false)
				if err != nil {
					continue
				}
				checked++
				t.Run(c.Name, func(t *testing.T) { subject.CheckStreams(t, uint64(checked), c.JSON) })
			}
		}
	}
	require.Greater(t, checked, 100)
}

// testFrontsOfRandomDocuments does so for every cut of random documents in two.
func testFrontsOfRandomDocuments(t *testing.T) {
	defer decoder.SetFirstWindow(8)()
	s, err := schema.Parse([]byte(decoder.TestSchema))
	require.NoError(t, err)
	for seed := range uint64(200) {
		subject, err := laws.New(s, schema.Semantics(seed/2%2), laws.Hardened, seed%2 == 0)
		require.NoError(t, err)
		src := []byte(decoder.RandomDocument(rand.New(rand.NewPCG(seed, 6)), s))
		fronts := subject.Streams(t, src)
		for at := range src {
			fronts.Check(t, at)
		}
		subject.CheckStreams(t, seed, src)
	}
}
