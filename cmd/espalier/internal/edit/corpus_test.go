package edit

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestCorpus removes members from real manifests, some here and there.
func TestCorpus(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	check := func(file corpus.File) {
		for doc := range yamlbridge.Documents(file.Data) {
			js, err := yamlbridge.AppendJSON(nil, doc.Bytes)
			if err != nil {
				continue
			}
			var names []int
			for _, at := range allNames(js) {
				if rnd.IntN(100) < 5 {
					names = append(names, at)
				}
			}
			_, _, err = YAML(doc.Bytes, names)
			assert.NoError(t, err, "%s:%d", file.Name, doc.Origin.Line)
		}
	}
	for file := range corpus.Samples(t) {
		check(file)
	}
	for file := range corpus.CRDs(t) {
		check(file)
	}
}
