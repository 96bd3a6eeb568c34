package main

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/espalier-dev/espalier/fuzz"
	"github.com/espalier-dev/espalier/internal/corpus"
)

// maxEdits bounds what one input takes. Each edit makes up to four mistakes.
const maxEdits = 16

// FuzzEdits has the targets for go test. Its fuzzer changes bytes only, so each byte of edits chooses one of the
// changes that a mutator makes: what the fuzzer adds, drops and swaps are then changes of a schema, a document,
// a YAML text or a request, and not of their bytes.
func FuzzEdits(f *testing.F) {
	corpus.AddSeeds(f)
	names := slices.Sorted(maps.Keys(targets))
	for i := range names {
		for seed := range uint64(8) {
			f.Add(byte(i), byte(seed), seed, []byte{byte(seed), 0, 255 - byte(i)})
		}
	}
	f.Fuzz(func(t *testing.T, target, how byte, seed uint64, edits []byte) {
		name := names[int(target)%len(names)]
		in := edited(targets[name], how, seed, edits)
		if len(in.schema) > maxSchema || len(in.text) > maxDocument {
			t.Skip("too long")
		}
		targets[name].check(t, in)
		if t.Failed() {
			t.Logf("%s, how %d, schema %s, text %q", name, in.how, in.schema, in.text)
		}
	})
}

// edited returns what edits make of the object with a number.
func edited(g target, how byte, seed uint64, edits []byte) input {
	s, text := fuzz.NewSchema(seed)
	in := input{how: how, schema: text, text: fuzz.NewDocument(seed, s)}
	for i, edit := range edits[:min(len(edits), maxEdits)] {
		in = g.mutateInput(in, rand.New(rand.NewPCG(uint64(edit), uint64(i))))
	}
	return in
}
