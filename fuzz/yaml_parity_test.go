package fuzz

import (
	"bytes"
	"encoding/binary"
	"flag"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/yamlbridge"
)

var (
	yamlDocsFlag = flag.Int("yamldocs", 10_000, "how many generated `documents` TestYAMLParity and TestYAMLPositions read, mutations TestYAMLMutations, and texts TestYAMLSmall")
	yamlFromFlag = flag.Uint64("yamlfrom", 0, "the `seed` that they start with")
)

// kubernetesModes are the modes that are compared with the server.
var kubernetesModes = []yamlMode{hardened, asServer}

// forYAMLSeeds calls f for each seed, from several goroutines.
func forYAMLSeeds(t *testing.T, f func(seed uint64)) {
	n := uint64(*yamlDocsFlag)
	if testing.Short() {
		n = min(n, 2000)
	}
	started := time.Now()
	inTurns(n, func(i uint64) { f(*yamlFromFlag + i) })
	t.Logf("%d texts from seed %d on, in %v", n, *yamlFromFlag, time.Since(started).Round(time.Second))
}

// compareYAML compares a text in all modes.
func compareYAML(y *tally, name string, src []byte, want *YAMLNode) {
	answer, theirs := ReadYAML(src)
	for _, m := range kubernetesModes {
		k, what, _ := m.compareWith(answer, theirs, src, want)
		if k == same || k == bothRefuse {
			y.add(k, "", nil)
			continue
		}
		y.add(k, what, func() string {
			fails := func(src []byte) bool {
				class, w, _ := m.compare(src, nil)
				return class == k && w == what
			}
			if !fails(src) { // it is wrong by construction
				return name + ": " + m.explain(src, want)
			}
			return name + ": " + m.explain(minimiseYAML(src, fails), nil)
		})
	}
}

// minimiseYAML leaves out lines and then characters, while the text still fails.
func minimiseYAML(src []byte, fails func([]byte) bool) []byte {
	deadline := time.Now().Add(5 * time.Second)
	for size := -1; size != len(src) && time.Now().Before(deadline); {
		size = len(src)
		src = leaveOut(bytes.SplitAfter(src, []byte("\n")), fails, deadline)
		src = leaveOut(bytes.Split(src, nil), fails, deadline)
	}
	return src
}

// leaveOut returns the rest of the parts when runs of them are left out.
func leaveOut(parts [][]byte, fails func([]byte) bool, deadline time.Time) []byte {
	for n := len(parts) / 2; n > 0; n /= 2 {
		for i := 0; i+n <= len(parts) && time.Now().Before(deadline); {
			if shorter := slices.Concat(parts[:i], parts[i+n:]); fails(bytes.Join(shorter, nil)) {
				parts = shorter
			} else {
				i++
			}
		}
	}
	return bytes.Join(parts, nil)
}

// TestYAMLParity compares generated documents.
func TestYAMLParity(t *testing.T) {
	y := newTally()
	forYAMLSeeds(t, func(seed uint64) {
		d := NewYAML(seed)
		compareYAML(y, fmt.Sprint("seed ", seed), d.Source, d.Root)
	})
	y.log(t)
	require.Greater(t, y.classes[same], y.classes[bothRefuse]+1)
}

// yamlTexts are the texts that are mutated: files, and tests of yaml-test-suite. Files are cut into
// pieces of a size that can be compared often.
func yamlTexts(tb testing.TB) [][]byte {
	var texts [][]byte
	for file := range corpus.Samples(tb) {
		for doc := range yamlbridge.Documents(file.Data) {
			texts = append(texts, doc.Bytes[:min(len(doc.Bytes), 3000)])
		}
	}
	for file := range corpus.CRDs(tb) {
		r := rand.New(rand.NewPCG(uint64(len(file.Data)), 5))
		for range 4 {
			start := r.IntN(len(file.Data))
			start += 1 + bytes.IndexByte(file.Data[start:], '\n')
			texts = append(texts, file.Data[start:min(len(file.Data), start+2000)])
		}
	}
	for test := range corpus.YAMLTestSuite(tb) {
		for range 4 {
			texts = append(texts, test.YAML)
		}
	}
	return texts
}

// TestYAMLMutations compares texts with mistakes in them: generated documents, files, and texts of
// yaml-test-suite.
func TestYAMLMutations(t *testing.T) {
	texts := yamlTexts(t)
	y := newTally()
	forYAMLSeeds(t, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 6))
		src := NewYAML(r.Uint64N(1 << 40)).Source
		other := one(r, texts...)
		if in(r, 2) {
			src, other = other, src
		}
		src = MutateYAML(src, other, r)
		if in(r, 100) {
			src = utf16Of(string(src), one[binary.AppendByteOrder](r, binary.LittleEndian, binary.BigEndian))
		}
		compareYAML(y, fmt.Sprint("mutation ", seed), src, nil)
	})
	y.log(t)
	require.Greater(t, y.classes[same], 0)
	require.Greater(t, y.classes[bothRefuse], 0)
}

// TestYAMLCorpus compares all files, whole and cut into the pieces that are mutated.
func TestYAMLCorpus(t *testing.T) {
	y, texts := newTally(), yamlTexts(t)
	inTurns(uint64(len(texts)), func(i uint64) { compareYAML(y, fmt.Sprint("text ", i), texts[i], nil) })
	y.log(t)
	require.Greater(t, y.classes[same], len(texts)/2)

	documents := 0
	for _, files := range []func(testing.TB) iter.Seq[corpus.File]{corpus.CRDs, corpus.Samples} {
		for file := range files(t) {
			for doc := range yamlbridge.Documents(file.Data) {
				documents++
				for _, m := range kubernetesModes {
					if k, _, _ := m.compare(doc.Bytes, nil); k != same {
						t.Errorf("%s, line %d: %s", file.Name, doc.Origin.Line, m.explain(doc.Bytes, nil))
					}
				}
			}
		}
	}
	t.Log(documents, "documents")
	require.Greater(t, documents, 1000)
}

// FuzzYAMLParity compares texts of the fuzzer.
func FuzzYAMLParity(f *testing.F) {
	corpus.AddSeeds(f)
	for seed := range uint64(300) {
		f.Add(NewYAML(seed).Source)
	}
	if corpus.IsThere(f) {
		for test := range corpus.YAMLTestSuite(f) {
			f.Add(test.YAML)
		}
	}
	for _, c := range corpus.Load(f, "*/*") {
		if c.YAML != nil && len(c.YAML) < 4096 {
			f.Add(c.YAML)
		}
	}
	for _, s := range yamlInserts {
		f.Add([]byte("a: " + s + "b\n"))
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, m := range kubernetesModes {
			if k, what, detail := m.compare(src, nil); k == differs {
				t.Errorf("%s\n%q\n%s", what, src, detail)
			}
		}
	})
}
