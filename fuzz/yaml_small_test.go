package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// yamlPieces are the pieces of small texts: one of each sort of token, and separators.
var yamlPieces = []string{"a", " ", "\n", ":", "-", "?", ",", "[", "]", "{", "}", "#", "&a ", "*a", "! ", "|", ">", "'", `"`, "\t", "<<", "\n ", ": ", "- ", "? ", "\n  "}

// TestYAMLSmall compares all texts of up to four pieces, and some of more. Readers that differ do
// so in a few characters.
func TestYAMLSmall(t *testing.T) {
	y := newTally()
	n := uint64(len(yamlPieces))
	all := n + n*n + n*n*n + n*n*n*n
	if testing.Short() {
		all = n + n*n + n*n*n
	}
	inTurns(all, func(i uint64) {
		compareYAML(y, "text", smallYAML(i), nil)
	})
	forYAMLSeeds(t, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 7))
		var b strings.Builder
		for range 5 + r.IntN(8) {
			b.WriteString(one(r, yamlPieces...))
		}
		compareYAML(y, fmt.Sprint("seed ", seed), []byte(b.String()), nil)
	})
	t.Log(all, "small texts")
	y.log(t)
	require.Greater(t, y.classes[same], 1000)
}

// smallYAML returns the text with that number: first those of one piece, then those of two, and so
// on.
func smallYAML(i uint64) []byte {
	n := uint64(len(yamlPieces))
	length, count := 1, n
	for i >= count {
		i -= count
		length++
		count *= n
	}
	var text []byte
	for range length {
		text = append(text, yamlPieces[i%n]...)
		i /= n
	}
	return text
}
