package sample

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/schema"
)

func patternOf(t testing.TB, expr string) *pattern {
	t.Helper()
	p, err := newPattern(expr)
	require.NoError(t, err, expr)
	return p
}

// plenty is more work than any search needs.
func plenty() *int {
	work := math.MaxInt
	return &work
}

// text makes a text that matches a pattern.
func (p *pattern) text(c *choices, least, most int) (string, bool) {
	return matchingAll([]*pattern{p}, c, least, most, plenty())
}

// randomChoices returns choices by random bytes.
func randomChoices(seed uint64) *choices {
	r := rand.New(rand.NewPCG(seed, 0))
	data := make([]byte, 200)
	for i := range data {
		data[i] = byte(r.Uint32())
	}
	return &choices{data: data}
}

// Without bytes, a text is the simplest one that is allowed.
func TestSimplestText(t *testing.T) {
	for _, test := range []struct {
		expr        string
		least, most int
		want        string
	}{
		{``, 0, -1, ""},
		{``, 3, -1, "aaa"},
		{`^$`, 0, -1, ""},
		{`x`, 0, -1, "x"},
		{`x`, 3, 3, "xaa"},
		{`x$`, 3, 3, "aax"},
		{`^x$|yy`, 2, -1, "yy"},
		{`long|short|is`, 0, -1, "is"},
		{`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, 0, -1, "a"},
		{`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, 4, -1, "aaaa"},
		{`^\d{3}-\d{2}$`, 0, -1, "000-00"},
		{`^[^a-z]{2}$`, 0, -1, "00"},
		{`^[^a-zA-Z0-9]$`, 0, -1, "!"},
		{`^[\s]$`, 0, -1, " "},
		{`^[Ա-Ֆ]$`, 0, -1, "Ա"},
		{`^(?i)k8s$`, 0, -1, "k8s"},
		{`^(a|bb|ccc){2}$`, 5, 5, "bbccc"},
		{`^(aaa)*$`, 1, -1, "aaa"}, // none of length 1
		{`^(aaa)*$`, 10, 12, "aaaaaaaaaaaa"},
		{`^((a{10}){10}){10}$`, 0, -1, strings.Repeat("a", 1000)},
		{`^[a-z]{0,1000}$`, 999, -1, strings.Repeat("a", 999)},
		{`^(a?){1000}$`, 999, -1, strings.Repeat("a", 999)},
		{`\Aa\z`, 0, -1, "a"},
		{`$^`, 0, -1, ""},
		{`a.$`, 0, -1, "aa"},
		{`(?s)^a.*b$`, 0, -1, "ab"},
		// Assertions that depend on the runes before and after.
		{`(?m)^x$`, 3, 3, "x\na"},
		{`(?m)a$.?`, 2, 2, "a\n"},
		{`(?ms)a$.b`, 0, -1, "a\nb"},
		{`(?m)a\n^b`, 0, -1, "a\nb"},
		{`(?ms)^a.^b`, 0, -1, "a\nb"},
		{`\bfoo\b`, 4, 4, "foo!"},
		{`\bfoo\b`, 5, 5, "foo!a"},
		{`a\Bb`, 0, -1, "ab"},
		{`^.\b.$`, 0, -1, "a!"},
		{`^.\B.$`, 0, -1, "aa"},
		{`^\W\b\w`, 0, -1, "!a"},
		{`^\b$|^\B$`, 0, -1, ""},
		// The only way leads through a rune that is not the first choice.
		{`^.\bx$`, 0, -1, "!x"},
		{`(?s)^.(?m:^)x$`, 0, -1, "\nx"},
	} {
		text, ok := patternOf(t, test.expr).text(&choices{}, test.least, test.most)
		require.True(t, ok, "%s from %d to %d", test.expr, test.least, test.most)
		require.Equal(t, test.want, text, "%s from %d to %d", test.expr, test.least, test.most)
	}
}

// That there is no text is found out, whatever the choices.
func TestNoText(t *testing.T) {
	for _, test := range []struct {
		expr        string
		least, most int
	}{
		{`^a+$`, 0, 0},
		{`^a{4,5}$`, 6, -1},
		{`^a{4,5}$`, 0, 3},
		{`a`, 5, 4},
		{`a`, maxText + 1, -1},
		{`^(aaa)*$`, 4, 5},
		{`x^`, 0, -1},
		{`$x`, 0, -1},
		{`[^\x00-\x{10FFFF}]`, 0, -1},
		{`^[^\x00-\x{10FFFF}]$|x^`, 0, -1},
		{`[\x{D800}-\x{DFFF}]`, 0, -1}, // surrogates alone
		{`a\bb`, 0, -1},
		{`a\bb`, 1000, -1},
		{`!\B\Ba`, 0, -1},
		{`(?m)a$^b`, 0, -1},
		{`(a\b){1000}b`, 0, -1},
	} {
		p := patternOf(t, test.expr)
		for seed := range uint64(5) {
			c := randomChoices(seed)
			if seed == 0 {
				c = &choices{}
			}
			text, ok := p.text(c, test.least, test.most)
			require.False(t, ok, "%s from %d to %d: %q", test.expr, test.least, test.most, text)
		}
	}
}

// Patterns whose programs are large, or have many states, cost little.
func TestCostlyPatterns(t *testing.T) {
	for _, expr := range []string{
		`^(a?){1000}$`,
		`^(a?){1000}a{1000}$`,
		`^((a?){30}){30}$`,
		`^(a|b|c|d|e|f|g|h){0,1000}$`,
		`^(.{0,100}\bx){10}$`,
		`^(\b|x)*$`,
		`^((\b|x)*\B){100}$`,
		`^(\pL?){1000}$`,
		strings.Repeat(`(a|b?)`, 5000),
		`^` + strings.Repeat(`a{0,100}`, 100) + `$`,
		`^(` + strings.Repeat(`a{97}|`, 100) + `b{89})*$`,
		`^(a{997}|b{991})*$`,
	} {
		p := patternOf(t, expr)
		found := 0
		for seed := range uint64(2) {
			if _, ok := p.text(randomChoices(seed), 0, -1); ok {
				found++
			}
		}
		require.NotZero(t, found, "%.40s", expr)
	}
	// What cannot be matched is given up when enough was spent: here each state has half a million
	// options, those of the two patterns together.
	left, right := patternOf(t, `^(a?){1000}x\by`), patternOf(t, `(a?){1000}$`)
	for _, least := range []int{0, 100} {
		_, ok := matchingAll([]*pattern{left, right}, randomChoices(1), least, 2000, plenty())
		require.False(t, ok)
	}
}

func TestPatternErrors(t *testing.T) {
	for expr, want := range map[string]string{
		`(`:                                     "missing closing )",
		`a{2000}`:                               "invalid repeat count",
		`(?=a)`:                                 "invalid or unsupported Perl syntax",
		`\xff` + "\xff":                         "invalid UTF-8",
		strings.Repeat(`(abcdefghij){1000}`, 7): "the pattern has 84002 instructions, and may have 65536",
	} {
		_, err := newPattern(expr)
		require.ErrorContains(t, err, want)
	}
}

// A randomExpression is one over a few letters, with all that expressions can have.
func randomExpression(c *choices, depth int) string {
	n := 14
	if depth == 0 {
		n = 10
	}
	sub := func() string { return randomExpression(c, depth-1) }
	switch c.below(n) {
	case 0:
		return "a"
	case 1:
		return "!"
	case 2:
		return `\n`
	case 3:
		return "."
	case 4:
		return one(c, `[^a]`, `[^!]`, `[a\n]`, `(?i:A)`, `\W`, `(?s:.)`)
	case 5:
		return one(c, `^`, `\A`, `(?m:^)`)
	case 6:
		return one(c, `$`, `\z`, `(?m:$)`)
	case 7:
		return `\b`
	case 8:
		return `\B`
	case 9:
		return ""
	case 10:
		return sub() + sub()
	case 11:
		return "(?:" + sub() + "|" + sub() + ")"
	case 12:
		return "(" + sub() + ")" + one(c, "*", "+", "?", "*?", "{2}", "{0,2}", "{2,}")
	}
	return sub() + sub() + sub()
}

// For random expressions, and pairs of them, a text of a length is found if and only if there is
// one, which is known from trying all texts over six letters. These suffice: for each kind there
// are those that expressions have, and another one.
func TestPatternsAgainstAllTexts(t *testing.T) {
	const longest = 3
	texts := [longest + 1][]string{{""}}
	for n := 1; n <= longest; n++ {
		for _, s := range texts[n-1] {
			texts[n] = append(texts[n], s+"a", s+"A", s+"b", s+"!", s+"?", s+"\n")
		}
	}
	count := 3000
	if testing.Short() {
		count = 600
	}
	found := 0
	for seed := range uint64(count) {
		exprs := randomChoices(seed)
		var patterns []*pattern
		var matchers []*regexp.Regexp
		for range 1 + seed%2 {
			expr := randomExpression(exprs, 3)
			patterns = append(patterns, patternOf(t, expr))
			matchers = append(matchers, regexp.MustCompile(expr))
		}
		for n, all := range texts {
			want := slices.ContainsFunc(all, func(s string) bool {
				return !slices.ContainsFunc(matchers, func(m *regexp.Regexp) bool {
					return !m.MatchString(s)
				})
			})
			for _, c := range []*choices{{}, randomChoices(seed + 1)} {
				text, ok := matchingAll(patterns, c, n, n, plenty())
				require.Equal(t, want, ok, "%q length %d: %q", matchers, n, text)
				require.True(t, !ok || utf8.RuneCountInString(text) == n, "%q: %q", matchers, text)
				if ok {
					found++
				}
			}
		}
	}
	require.Greater(t, found, count, "of %d", 2*(longest+1)*count)
}

func TestMatchingAll(t *testing.T) {
	for _, test := range []struct {
		exprs []string
		want  string
		ok    bool
	}{
		{[]string{`^[a-z]+$`, `^.{3}$`}, "aaa", true},
		{[]string{`^[a-m]+$`, `^[k-z]+$`}, "k", true},
		{[]string{`[0-9]`, `[A-Z]`, `^[^a]`, `!$`}, "A0!", true},
		{[]string{`^a*$`, `^b*$`}, "", true},
		{[]string{`^a+$`, `^b+$`}, "", false},
		{[]string{`^(aa)+$`, `^(aaa)+$`, `^(aaaaa)+$`}, strings.Repeat("a", 30), true},
		{[]string{`foo`, `bar`}, "abarfoo", true},
	} {
		var patterns []*pattern
		for _, expr := range test.exprs {
			patterns = append(patterns, patternOf(t, expr))
		}
		text, ok := matchingAll(patterns, &choices{}, 0, -1, plenty())
		require.Equal(t, test.ok, ok, test.exprs)
		require.Equal(t, test.want, text, test.exprs)
		for seed := range uint64(20) {
			text, ok := matchingAll(patterns, randomChoices(seed), 0, 100, plenty())
			require.Equal(t, test.ok, ok, test.exprs)
			for _, p := range patterns {
				require.True(t, !ok || p.matcher.MatchString(text), "%s: %q", test.exprs, text)
			}
		}
	}
}

// Random texts are of all lengths, those at the bounds among them, and of plain and odd runes.
func TestTextVariety(t *testing.T) {
	lengths, runes := map[int]int{}, map[rune]int{}
	p := patternOf(t, `^[^/]*$`)
	for seed := range uint64(400) {
		text, ok := p.text(randomChoices(seed), 3, 100)
		require.True(t, ok)
		lengths[utf8.RuneCountInString(text)]++
		for _, r := range text {
			runes[r]++
		}
	}
	require.Greater(t, lengths[3], 50)
	require.Greater(t, lengths[100], 25)
	require.Greater(t, len(lengths), 40)
	for _, r := range []rune{'a', 'Z', ' ', 0, '.', '0', unicode.MaxRune, 0xd7ff} {
		require.Contains(t, runes, r)
	}
	require.NotContains(t, runes, '/')
}

// A constraint on texts is that of a schema.
type constraint struct {
	expr        string
	least, most int
}

// constraints returns those of a schema with a pattern, and of the schemas within.
func constraints(s *schema.Structural, found map[constraint]bool) {
	if s == nil {
		return
	}
	if s.Pattern != "" {
		c := constraint{s.Pattern, 0, -1}
		if s.MinLength != nil {
			c.least = int(*s.MinLength)
		}
		if s.MaxLength != nil {
			c.most = int(*s.MaxLength)
		}
		found[c] = true
	}
	for _, p := range s.Properties {
		constraints(p, found)
	}
	if s.AdditionalProperties != nil {
		constraints(s.AdditionalProperties.Schema, found)
	}
	if s.Items != nil {
		constraints(s.Items.Schema, found)
	}
	constraints(s.Not, found)
	for _, schemas := range [][]*schema.Structural{s.AllOf, s.AnyOf, s.OneOf} {
		for _, s := range schemas {
			constraints(s, found)
		}
	}
}

// A text is found for each pattern of the third-party definitions, with each of the bounds beside
// it. Of 20 random ones for each, nine in ten are distinct.
func TestCorpusPatterns(t *testing.T) {
	found := map[constraint]bool{}
	for file := range corpus.CRDs(t) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(t, err)
		for _, c := range crds {
			for _, v := range c.Versions {
				constraints(v.Schema, found)
			}
		}
	}
	exprs := map[string]bool{}
	distinct := 0
	const random20 = 20
	for c := range found {
		exprs[c.expr] = true
		p := patternOf(t, c.expr)
		different := map[string]bool{}
		for seed := range uint64(random20 + 1) {
			by := randomChoices(seed)
			if seed == random20 {
				by = &choices{}
			}
			text, ok := p.text(by, c.least, c.most)
			require.True(t, ok, "%+v", c)
			requireText(t, text, p, c.least, c.most)
			if seed < random20 {
				different[text] = true
			}
		}
		distinct += len(different)
	}
	require.Len(t, exprs, 65)
	require.Len(t, found, 75)
	require.Equal(t, 1335, distinct, "of %d", random20*len(found))
}

// requireText asserts that a text matches a pattern, and that its length is within bounds.
func requireText(t *testing.T, text string, p *pattern, least, most int) {
	t.Helper()
	require.True(t, p.matcher.MatchString(text), "%s: %q", p.matcher, text)
	require.True(t, utf8.ValidString(text), "%s: %q", p.matcher, text)
	length := utf8.RuneCountInString(text)
	require.GreaterOrEqual(t, length, least, "%s: %q", p.matcher, text)
	if most >= 0 {
		require.LessOrEqual(t, length, most, "%s: %q", p.matcher, text)
	}
}

// FuzzPattern holds that texts match and have their length, and that the same choices make the same
// text.
func FuzzPattern(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`, `^.{3}$`, []byte("12345"), byte(0), byte(63))
	f.Add(`\b(a?){5}\B`, ``, []byte{3, 255, 4}, byte(3), byte(200))
	f.Add(`(?ims)^k$.\pL`, `[^k]`, []byte{7, 0, 3, 2, 255, 254}, byte(4), byte(4))
	f.Fuzz(func(t *testing.T, left, right string, data []byte, least, most byte) {
		var patterns []*pattern
		for _, expr := range []string{left, right} {
			if len(expr) > 100 {
				return
			}
			p, err := newPattern(expr)
			_, want := regexp.Compile(expr)
			if err != nil {
				require.True(t, want != nil || strings.Contains(err.Error(), "instructions"), "%v", err)
				return
			}
			require.NoError(t, want)
			patterns = append(patterns, p)
		}
		upTo := int(most)
		if most == 255 {
			upTo = -1
		}
		text, ok := matchingAll(patterns, &choices{data: data}, int(least), upTo, plenty())
		again, okAgain := matchingAll(patterns, &choices{data: data}, int(least), upTo, plenty())
		require.Equal(t, ok, okAgain)
		require.Equal(t, text, again)
		for _, p := range patterns {
			if ok {
				requireText(t, text, p, int(least), upTo)
			}
		}
	})
}
