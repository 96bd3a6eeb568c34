package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestYAMLHostile compares documents in which names repeat around what JSON cannot have, and such as end before their
// text does: the server looks at the one in what is left, and at the other as far as its scanner goes.
func TestYAMLHostile(t *testing.T) {
	y := newTally()
	forYAMLSeeds(t, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 8))
		src := hostileYAML(r)
		if in(r, 3) {
			src += hostileTail(r)
		}
		compareYAML(y, fmt.Sprint("seed ", seed), []byte(src), nil)
	})
	y.log(t)
	require.Greater(t, y.classes[same], 100)
	require.Greater(t, y.classes[bothRefuse], 100)
}

// hostileValues are what becomes no JSON, and what does; hostileKeys are two of a kind.
var (
	hostileValues = []string{".inf", "-.inf", ".NaN", "1", "x", "[.inf]", "{~: 1}", "&x .nan", "&y {a: .inf}", "*x", "*y", "~", "!!float .inf", "!!str .inf", "[]", "{18446744073709551615: 1}", "{*x : 1}", "-0.0", "[*x, *y]"}
	hostileKeys   = []string{"a", "b", "'a'", "~", "? ~", "1", "'1'", ".inf", "18446744073709551615", "0.0", "-0.0", "null", "&k a", "*k", "*x", "<<", "!!null ''", "?", "yes", "true"}
)

func hostileYAML(r *rand.Rand) string {
	if in(r, 2) {
		var b strings.Builder
		if in(r, 2) {
			b.WriteString("y: &y {b: 1}\nx: &x " + one(r, ".inf", "1", "{a: .nan}") + "\nk: &k " + one(r, "a", "~", ".inf", "9223372036854775808") + "\n")
		}
		for range 1 + r.IntN(5) {
			b.WriteString(hostileKey(r) + ": " + hostileFlow(r, 3) + "\n")
		}
		return b.String()
	}
	return "{" + hostileMembers(r, 3) + "}"
}

func hostileKey(r *rand.Rand) string {
	key := one(r, hostileKeys...)
	if key[0] == '*' {
		key += " "
	}
	return key
}

func hostileMembers(r *rand.Rand, depth int) string {
	var members []string
	for range r.IntN(5) {
		switch key := hostileKey(r); {
		case key == "?" && in(r, 2):
			members = append(members, "?")
		case key == "?":
			members = append(members, "? : "+hostileFlow(r, depth-1))
		default:
			members = append(members, key+": "+hostileFlow(r, depth-1))
		}
	}
	return strings.Join(members, ", ")
}

func hostileFlow(r *rand.Rand, depth int) string {
	if depth <= 0 || in(r, 2) {
		return one(r, hostileValues...)
	}
	if in(r, 3) {
		return "[" + hostileFlow(r, depth-1) + ", " + hostileFlow(r, depth-1) + "]"
	}
	return "{" + hostileMembers(r, depth) + "}"
}

// hostileTail is what may stand behind the root.
func hostileTail(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(4) {
		b.WriteString(one(r, " ", "\n", "\n ", "}", "]", "{", "[", ",", ":", ": ", "a", "b: ", "@", "`", "%", "%YAML 1.1\n", "\"", "'", "'x'", "#", " #", "&a", "*a", "!x", "!<", "|", ">\n", "- ", "? ",
			"\t", "\x01", "\xff", "\"\xff\"", "\u0085", "\n...", "\n---\n", "\\", strings.Repeat(" ", 600), strings.Repeat("a", 1030), strings.Repeat("é", 300), strings.Repeat("# c\n", 150)))
	}
	return b.String()
}
