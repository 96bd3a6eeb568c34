package fuzz

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestYAMLAdversarial compares documents in which names repeat around values that JSON lacks, and
// documents that end before their text does. The server looks for the former in the decoded values,
// and at the latter as far as its scanner goes.
func TestYAMLAdversarial(t *testing.T) {
	y := newTally()
	forYAMLSeeds(t, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 8))
		src := adversarialYAML(r)
		if in(r, 3) {
			src += adversarialTail(r)
		}
		compareYAML(y, fmt.Sprint("seed ", seed), []byte(src), nil)
	})
	y.log(t)
	require.Greater(t, y.classes[same], 100)
	require.Greater(t, y.classes[bothRefuse], 100)
}

// adversarialValues are values that JSON lacks, and others. adversarialKeys are pairs of equal or
// similar keys.
var (
	adversarialValues = []string{".inf", "-.inf", ".NaN", "1", "x", "[.inf]", "{~: 1}", "&x .nan", "&y {a: .inf}", "*x", "*y", "~", "!!float .inf", "!!str .inf", "[]", "{18446744073709551615: 1}", "{*x : 1}", "-0.0", "[*x, *y]"}
	adversarialKeys   = []string{"a", "b", "'a'", "~", "? ~", "1", "'1'", ".inf", "18446744073709551615", "0.0", "-0.0", "null", "&k a", "*k", "*x", "<<", "!!null ''", "?", "yes", "true"}
)

func adversarialYAML(r *rand.Rand) string {
	if in(r, 2) {
		var b strings.Builder
		if in(r, 2) {
			b.WriteString("y: &y {b: 1}\nx: &x " + one(r, ".inf", "1", "{a: .nan}") + "\nk: &k " + one(r, "a", "~", ".inf", "9223372036854775808") + "\n")
		}
		for range 1 + r.IntN(5) {
			b.WriteString(adversarialKey(r) + ": " + adversarialFlow(r, 3) + "\n")
		}
		return b.String()
	}
	return "{" + adversarialMembers(r, 3) + "}"
}

func adversarialKey(r *rand.Rand) string {
	key := one(r, adversarialKeys...)
	if key[0] == '*' {
		key += " "
	}
	return key
}

func adversarialMembers(r *rand.Rand, depth int) string {
	var members []string
	for range r.IntN(5) {
		switch key := adversarialKey(r); {
		case key == "?" && in(r, 2):
			members = append(members, "?")
		case key == "?":
			members = append(members, "? : "+adversarialFlow(r, depth-1))
		default:
			members = append(members, key+": "+adversarialFlow(r, depth-1))
		}
	}
	return strings.Join(members, ", ")
}

func adversarialFlow(r *rand.Rand, depth int) string {
	if depth <= 0 || in(r, 2) {
		return one(r, adversarialValues...)
	}
	if in(r, 3) {
		return "[" + adversarialFlow(r, depth-1) + ", " + adversarialFlow(r, depth-1) + "]"
	}
	return "{" + adversarialMembers(r, depth) + "}"
}

// TestYAMLTail compares the texts after a complete root.
func TestYAMLTail(t *testing.T) {
	y := newTally()
	forYAMLSeeds(t, func(seed uint64) {
		r := rand.New(rand.NewPCG(seed, 9))
		root := one(r, tailRoots...)
		if in(r, 8) {
			root = strings.Replace(root, "a", strings.Repeat("ab", 480+r.IntN(40)), 1)
		}
		src := one(r, "", "", "", "--- ", "---\n", "# c\n", "&q ", "!!map &q\n", " ", "--- &q\n") + root + one(r, "", " ", " ", " ", "\n", " # c\n", "\t") + adversarialTail(r)
		compareYAML(y, fmt.Sprint("seed ", seed), []byte(src), nil)
	})
	y.log(t)
	require.Greater(t, y.classes[same], 100)
	require.Greater(t, y.classes[bothRefuse], 100)
}

var tailRoots = []string{"{}", "[]", "{a: b}", "[a]", "{? a}", "[? a]", "{a: {}}", "[[], a]", "{? [a]}", "{a: b, c: 'd'}", "{a:\n b}", "{'a': b\n}", "\"a\"", "'a'", "'a\n'", "a", "a\n b", "a # c\n", "  k: a\n", "k: a\n", "  k: 'a\n'",
	"   k: {a:\n}", "  - a\n", "  - 'a\n '", "|\n a\n", "~", "é", "{é: \"\u2028\"}", "['\u0085']", "!!str", "!x {a: b}", "1", "[a, \"b\"]", "{a}", "[: a]", "{,a}", "[a, ]", "{a: b,}"}

// adversarialTail returns a text that may follow the root.
func adversarialTail(r *rand.Rand) string {
	var b strings.Builder
	for range 1 + r.IntN(5) {
		if in(r, 2) {
			b.WriteString(adversarialToken(r))
		} else {
			b.WriteString(one(r, " ", "\n", "\n ", "}", "]", "{", "[", ",", ":", ": ", "a", "b: ", "@", "`", "%", "%YAML 1.1\n", "\"", "'", "'x'", "#", " #", "&a", "*a", "!x", "!<", "|", ">\n", "- ", "? ", "?", "-",
				"\t", "\x01", "\xff", "\"\xff\"", "\u0085", "\u2028", "\r", "\r\n", "\n...", "\n---\n", "\\", strings.Repeat(" ", 600), strings.Repeat("a", 1000+r.IntN(40)), strings.Repeat("é", 300), strings.Repeat("# c\n", 150)))
		}
		b.WriteString(one(r, "", "", " ", " ", "\n", "\n", "\n  "))
	}
	if in(r, 4) {
		b.WriteString(strings.Repeat(one(r, "a", " ", "# c\n", "é", "日", "🌳", "\u0085", "\u2028", "\r\n"), r.IntN(300)))
		b.WriteString(one(r, "", "\xff", "\x01", "\xc3", "\xe6\x97", "@"))
	}
	return b.String()
}

// adversarialToken returns a token, or nearly one: a text for which the scanner has a rule.
func adversarialToken(r *rand.Rand) string {
	some := func(from string, most int) string {
		var b strings.Builder
		for range r.IntN(most) {
			runes := []rune(from)
			b.WriteRune(runes[r.IntN(len(runes))])
		}
		return b.String()
	}
	switch r.IntN(10) {
	case 0:
		return one(r, "&", "*") + some("ab-_1?:,]}%@`{[.é\u0085", 4)
	case 1:
		return one(r, "!", "!!", "!a!", "!<", "!a", "!-", "!_!") + some("ab;/?:@&=+$,.!~*'()[]-_", 4) + one(r, "", "", "%41", "%4", "%C3%A9", "%C3", "%FF", "%80", "%F0%80%80%80", "%E0%80x", "%C3%41") + some("ab]}{>#\"é\u2028", 2)
	case 2:
		return `"` + some("ab \t\n'\\\u0085\u2028é", 6) + one(r, "", "\n---", "\n... ", "\n---\n", "\n...x", "\n  ", "\\\n", "\\\u0085", "\\\r\n ") + one(r, "", "\\x41", "\\x4", "\\u00e9", "\\ud800", "\\U0010FFFF", "\\U00110000", "\\/", "\\ ", "\\\t", "\\'", "\\P", "\\U0010") + one(r, `"`, `"`, `"`, "")
	case 3:
		return "'" + some("ab \t\n\"\\\u0085\u2029é", 6) + one(r, "", "''", "\n---", "\n...\n", "\n\n") + one(r, "'", "'", "'", "")
	case 4:
		return one(r, "|", ">") + some("+-01239", 4) + one(r, "", " ", "\t", "#", " #c") + one(r, "", "x", "\n", "\n", "\r\n", "\u0085", "\u2028") + some(" \n\tx", 8) + one(r, "", "\n x\n\t", "\n   \n x\n", "\n  x\n \ty", "\n---\n@")
	case 5:
		return one(r, "\n%", "%", "\n %") + one(r, "", "YAML", "TAG", "X", "YAML-", "TAG!") + one(r, "", " ", "\t ") + one(r, "1.1", "1.2", "1.", ".1", "111.1", "1.111", "11.11", "! x", "!! x", "!a! x", "!a x", "a x", "! ", "!\tx%41", "!a! %4", "! x#", "!a!x", "! \u0085") + one(r, "", " ", "#", " #", "x", "\u0085", "\r\n")
	case 6:
		return one(r, "[", "{") + some("ab,:?-# \t\n[]{}'\"&*!|>@%`", 8) + one(r, "", "]", "}")
	case 7:
		return some("ab:?-#,[]{}@%|>&*!", 4) + one(r, "", "\n", "\n ", "\n\t", " ") + some("ab:?-# ", 4)
	case 8:
		return one(r, "-", "?", ":") + one(r, " ", "\n", "\t", "x", "\u0085", "")
	}
	return one(r, "x", "'x'", "{x: y}", "[x]", "*x", "&x ", "!!str ", "[]", "{}", "-x", "?x", ":x") + one(r, " ", "", ": ", ":", " :", "\n", ":\n")
}
