// Package torture makes a great many short random texts, for tests that compare readers. Such a
// torture test complements fuzzing: go test -fuzz is guided by coverage and costs some 50 µs a
// text, while a text of this package costs less than 1 µs and is the same in each run.
//
//	go test ./decoder -run TestTorture -v -args -executions 10000000 -seed 7
package torture

import (
	"flag"
	"math/rand/v2"
	"testing"
	"time"
)

var (
	executions = flag.Int("executions", 20_000, "how many texts each test of the name TestTorture makes")
	seed       = flag.Uint64("seed", 1, "which texts")
)

// A Maker appends a text to b.
type Maker func(r *rand.Rand, b []byte) []byte

// Run makes as many texts as the flag -executions says, changes some bytes of every other one, and
// calls check with each. check must not keep the text. It returns whether the text was accepted.
// The test fails if hardly any text is accepted, or nearly all are, as such texts test nothing.
func Run(t *testing.T, make Maker, check func(t *testing.T, r *rand.Rand, text []byte) bool) {
	t.Helper()
	r := rand.New(rand.NewPCG(*seed, 0))
	var text []byte
	accepted, started := 0, time.Now()
	for i := range *executions {
		text = make(r, text[:0])
		if i%2 == 1 {
			text = change(r, text)
		}
		if check(t, r, text) {
			accepted++
		}
	}
	share := 100 * accepted / max(1, *executions)
	perSecond := int(float64(*executions) / time.Since(started).Seconds())
	t.Logf("%d executions, %d %% accepted, %d/s", *executions, share, perSecond)
	if share < 10 || share > 95 {
		t.Errorf("%d %% of the texts are accepted", share)
	}
}

// odd has bytes that mean something in JSON, YAML or UTF-8.
const odd = "{}[]:,\"\\/u0159abdeftrn.-+E#&*!|>'%@`?~<=" + " \n\t\r\x00\x1f\x7f\x80\x85\xbf\xc2\xc3\xe2\xed\xf0\xf4\xff"

// change changes a text in one to three places. It inserts, replaces or removes a byte, or repeats
// or removes a piece of up to 30 bytes.
func change(r *rand.Rand, text []byte) []byte {
	for range 1 + r.IntN(3) {
		if len(text) == 0 {
			return append(text, odd[r.IntN(len(odd))])
		}
		at := r.IntN(len(text))
		end := min(len(text), at+1+r.IntN(30))
		switch c := odd[r.IntN(len(odd))]; r.IntN(5) {
		case 0:
			text = append(text, 0)
			copy(text[at+1:], text[at:])
			text[at] = c
		case 1:
			text[at] = c
		case 2:
			text = append(text[:at], text[at+1:]...)
		case 3:
			n := end - at
			text = append(text, text[len(text)-n:]...)
			copy(text[end:], text[at:len(text)-n])
		default:
			text = append(text[:at], text[end:]...)
		}
	}
	return text
}

// One returns one of the texts.
func One(r *rand.Rand, texts []string) string { return texts[r.IntN(len(texts))] }
