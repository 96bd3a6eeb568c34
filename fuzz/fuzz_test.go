package fuzz

import (
	"testing"

	"github.com/espalier-dev/espalier/internal/corpus"
)

// FuzzKube compares the decoders of package kube with the server's, with the texts of errors.
func FuzzKube(f *testing.F) {
	corpus.AddSeeds(f)
	for seed := uint64(0); seed < 100*DocumentsPerSchema; seed += DocumentsPerSchema + 1 {
		s, _ := NewSchema(seed)
		doc := NewDocument(seed, s)
		if len(doc) < 4096 {
			f.Add(seed/DocumentsPerSchema, doc)
		}
	}
	f.Add(uint64(54), []byte(`{"kind":"A"}"`)) // the server reads the rest, as YAML
	pairs := make(map[uint64]*adapterPair)
	f.Fuzz(func(t *testing.T, n uint64, doc []byte) {
		p := pairs[n]
		if p == nil {
			_, js := NewSchema(n * DocumentsPerSchema)
			var err error
			if p, err = newAdapterPair(js, testVersion.WithKind(testKind)); err != nil {
				t.Fatalf("%v\n%s", err, js)
			}
			if len(pairs) < 3000 {
				pairs[n] = p
			}
		}
		for name, entry := range p.entryPoints() {
			if what, detail := p.compare(doc, entry.ours, entry.theirs); what != "" {
				t.Errorf("%s: %s\n%s", name, what, detail)
			}
		}
	})
}

// FuzzParity compares documents that the fuzzer changes, under schemas that it selects by their
// seed: by default, as the server reads requests, and as it reads its storage.
func FuzzParity(f *testing.F) {
	corpus.AddSeeds(f)
	for seed := uint64(0); seed < 200*DocumentsPerSchema; seed += DocumentsPerSchema + 1 {
		s, _ := NewSchema(seed)
		doc := NewDocument(seed, s)
		if len(doc) < 4096 {
			f.Add(seed/DocumentsPerSchema, doc)
		}
	}
	// The comparers of a schema are made once.
	comparers := make(map[uint64][]*comparer)
	f.Fuzz(func(t *testing.T, n uint64, doc []byte) {
		all := comparers[n]
		if all == nil {
			s, js := NewSchema(n * DocumentsPerSchema)
			for _, newComparer := range []maker{newComparer, newExactComparer, newStorageComparer} {
				c, err := newComparer(s, js)
				if err != nil {
					t.Fatalf("%v\n%s", err, js)
				}
				all = append(all, c)
			}
			if len(comparers) < 3000 {
				comparers[n] = all
			}
		}
		for _, c := range all {
			if k, what, detail := c.compare(doc); k == differs {
				t.Errorf("%s\n%s\nschema: %s", what, detail, marshal(c.schema))
			}
		}
	})
}
