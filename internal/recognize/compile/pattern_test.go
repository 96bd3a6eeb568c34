package compile

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/recognize"
	"github.com/espalier-dev/espalier/sample"
	"github.com/espalier-dev/espalier/schema"
)

// requireSame holds that a matcher is sure only if the text matches, and that it is if the text is
// ASCII and matches.
func requireSame(t *testing.T, m *recognize.Matcher, re *regexp.Regexp, text []byte) {
	t.Helper()
	got, want := m.Match(text), re.Match(text)
	if got && !want || want && !got && isASCII(text) {
		t.Fatalf("%s: %v for %q, want %v", re, got, text, want)
	}
}

func isASCII(text []byte) bool {
	for _, c := range text {
		if c >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// TestPattern compares with regexp, on all short texts of characters that assertions and classes
// tell apart.
func TestPattern(t *testing.T) {
	var texts [][]byte
	for last, n := [][]byte{nil}, 0; n < 5; n++ {
		texts = append(texts, last...)
		var next [][]byte
		for _, text := range last {
			for _, c := range []string{"a", "b", "K", "-", "\n", "é"} {
				next = append(next, append(text[:len(text):len(text)], c...))
			}
		}
		last = next
	}
	texts = append(texts, []byte("a\xff"), []byte("\x80"), []byte("\u212a"))
	for _, expr := range []string{
		``, `a`, `^a`, `a$`, `^a$`, `^$`, `$`, `$a`, `^`, `^^a`, `a^`, `(a|^b)`, `(^a)*b`, `(^a|b$)`,
		`ab|ba`, `^(ab|ba)+$`, `^[^a]`, `^[^a]$`, `[^a]$`, `^.*$`, `^.+a$`, `(?s)^.*$`, `(?s)^.{2}$`,
		`(?m)^a`, `(?m)a$`, `(?m)^$`, `(?m)^a$`, `(?m)$^`, `(?m)a$\n^b`, `(?m)^b|-$`, `(?m)(^|-)a`,
		`\ba`, `a\b`, `\bab\b`, `\Ba`, `a\B`, `^\b`, `^\B$`, `\b`, `\B`, `\b$`, `a\b-\bb`, `(\b|a)*b`, `\bé`, `é\b`,
		`(?m)\b$`, `(?m)^\B`, `\Aa\z`, `\z`, `(?i)k`, `(?i)^[j-l]+$`, `(?i)^ab$`, `\w`, `^\W$`, `\s$`, `[[:punct:]]a`,
		`^a{2}$`, `^(a|b){2,3}$`, `^a{0,2}b?$`, `(a*)*$`, `(a*)+`, `(|a)+$`, `^a??b$`, `a*?b`, `(?U)a*b`,
		`a|é`, `^(é|a)$`, `^(a|\x{80})$`, `^é*$`, `\x{e9}?a`, `^\pL+$`, `^\PL+$`, `[^\pL]`,
	} {
		t.Run(expr, func(t *testing.T) {
			m, re := Pattern(expr), regexp.MustCompile(expr)
			for _, text := range texts {
				if m != nil {
					requireSame(t, m, re, text)
				} else if isASCII(text) {
					require.False(t, re.Match(text), "%q", text)
				}
			}
		})
	}
}

// TestRandomPatterns compares with regexp, on random texts.
func TestRandomPatterns(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	atoms := []string{
		"a", "b", "K", "[ab]", "[^a]", ".", `\w`, `\W`, `\s`, `\b`, `\B`, "^", "$", `\A`, `\z`, "é", `\n`, "(?i:k)", "(?m:^)",
		"(?m:$)", "(?s:.)", "()", "-",
	}
	var expression func(depth int) string
	expression = func(depth int) string {
		if depth == 0 {
			return atoms[random.IntN(len(atoms))]
		}
		switch left := expression(depth - 1); random.IntN(8) {
		case 0, 1, 2:
			return left + expression(depth-1)
		case 3:
			return "(?:" + left + "|" + expression(depth-1) + ")"
		case 4:
			return "(?:" + left + ")*"
		case 5:
			return "(?:" + left + ")+?"
		case 6:
			return "(?:" + left + ")?"
		default:
			return "(?:" + left + "){1,3}"
		}
	}
	letters := []string{"a", "b", "K", "k", "-", "\n", " ", "é", "\u212a", "\xff"}
	none, sure := 0, 0
	for range 4000 {
		expr := expression(1 + random.IntN(5))
		m, re := Pattern(expr), regexp.MustCompile(expr)
		if m == nil {
			none++
		}
		for range 40 {
			text := ""
			for n := random.IntN(8); len(text) < n; {
				text += letters[random.IntN(len(letters)-2*random.IntN(2))]
			}
			if m != nil {
				requireSame(t, m, re, []byte(text))
				if m.Match([]byte(text)) {
					sure++
				}
			} else if isASCII([]byte(text)) {
				require.False(t, re.MatchString(text), "%s: %q", expr, text)
			}
		}
	}
	t.Logf("%d have no matcher, %d texts are recognized", none, sure)
	require.NotZero(t, none)
	require.Greater(t, sure, 10_000)
}

// TestSure has texts that match whatever follows.
func TestSure(t *testing.T) {
	for expr, text := range map[string]string{
		``: "é", `^a`: "aé\xff", `b`: "abé", `a\b`: "aé", `\b`: "a", `(?m)^a$`: "a\né", `\B`: "-é",
	} {
		assert.True(t, Pattern(expr).Match([]byte(text)), "%s %q", expr, text)
	}
}

// TestNoPattern has expressions without a matcher. They are malformed, or no ASCII text matches.
func TestNoPattern(t *testing.T) {
	for _, expr := range []string{
		`(`, `a**`, `(x{1000}){1000}`, `a{1001}`, `\8`, `^é$`, `\x{100}`, `[^\x00-\x{10FFFF}]`,
		`a[^\x00-\x{10FFFF}]$`, `a^b\z`, `[^\x00-\x7F]$`,
	} {
		assert.Nil(t, Pattern(expr), "%s", expr)
	}
}

// TestHostilePatterns holds that a pattern takes few steps, whether it has a matcher or not.
func TestHostilePatterns(t *testing.T) {
	for _, test := range []struct {
		expr string
		is   bool
	}{
		{`(a|b)*a(a|b){8}`, true},
		{`(a|b)*a(a|b){30}`, false},
		{`^.{1,1000}$`, true},
		{`.{1000}`, false},
		{`^[a-z]{1,10}[a-m]{1,10}[b-z]{1,10}[a-k]{1,10}$`, false},
		{`^(a?){1000}$`, false},
		{`^[^` + strings.Repeat(`a]?[^b]?[^`, 500) + `c]$`, false},
		{strings.Repeat("x{1000}", 500), false},
		{strings.Repeat(`(?i)[A-\x{1e942}]`, maxWide), true},
		{strings.Repeat(`(?i)[A-\x{1e942}]`, maxWide+1), false},
		{strings.Repeat("a|é", maxWide), true},
		{strings.Repeat("a|é", maxWide+1), false},
		{strings.Repeat("ab|", maxPattern/3), true},
		{strings.Repeat("ab|", maxPattern/3+1), false},
		{`^` + strings.Repeat("a", maxPattern-1), false},
		{strings.Repeat("(", 450) + "a*" + strings.Repeat(")*", 450), true},
	} {
		p := new(Patterns)
		assert.Equal(t, test.is, p.Matcher(test.expr) != nil, "%.40s", test.expr)
		t.Logf("%d steps, %d bytes: %.40s", p.steps, p.size, test.expr)
		assert.Less(t, p.steps, 2*maxSteps, "%.40s", test.expr)
	}
}

// TestParse has the steps that parsing is charged with, and the numbers of instructions by which large
// patterns are refused.
func TestParse(t *testing.T) {
	for expr, want := range map[string]int{
		"(": 1, "abc": 3, "[\x7f]": 3, "\u0080": 2 + wideSteps, `\x{1}\pL\PN`: 11 + 3*wideSteps,
		strings.Repeat("abc|", maxPattern/4): maxPattern, strings.Repeat("abc|", maxPattern): maxPattern,
	} {
		left := 0
		parse(expr, &left)
		assert.Equal(t, want, -left, "%.40q", expr)
	}
	for expr, want := range map[string]int{
		"a": 1, "abc": 3, "[a-z]": 1, "a*": 2, "ab*": 4, "(?:abc){2,5}": 24, "a{3,}": 8, "(?:a{1000}b){1}": 4010,
		"(?:(?:ab){1000}cd?){1}": 6016, "(?:ab){1000}(?:cd){1000}": maxCode + 1,
	} {
		tree, err := syntax.Parse(expr, syntax.Perl)
		require.NoError(t, err)
		assert.Equal(t, want, size(tree), expr)
	}
	assert.NotNil(t, Pattern(strings.Repeat("abc|", maxPattern/4)))
	assert.Nil(t, Pattern(strings.Repeat("abc|", maxPattern/4)+"a"))
}

// TestPatterns holds that equal patterns share a matcher, and that all of them together are bounded.
func TestPatterns(t *testing.T) {
	p := new(Patterns)
	first := p.Matcher(`^a$`)
	require.Same(t, first, p.Matcher(`^a$`))
	steps := p.steps
	require.Nil(t, p.Matcher(`(`))
	require.Equal(t, steps+1, p.steps)
	require.Equal(t, first.Size(), p.size)

	for i := range 1000 {
		p.Matcher(fmt.Sprintf(`a(a|b){30}%d`, i))
	}
	assert.Nil(t, p.Matcher(`^b$`))
	assert.Same(t, first, p.Matcher(`^a$`))
	assert.Less(t, p.steps, freeSteps+p.bytes*stepsPerByte+2*maxSteps)

	p = new(Patterns)
	for i := range 1000 {
		p.Matcher(fmt.Sprintf(`^[a-f]{%d}[0-9]{90}[a-z]`, i))
	}
	assert.Nil(t, p.Matcher(`^b$`))
	assert.Less(t, p.size, freeSize+p.bytes*sizePerByte+2*maxTable)

	// Many patterns that cost little have matchers.
	p = new(Patterns)
	for i := range 4000 {
		require.NotNil(t, p.Matcher(fmt.Sprintf(`^(name-%d|[a-z0-9]([-a-z0-9]*[a-z0-9])?)$`, i)))
	}
	assert.Greater(t, p.steps, freeSteps)
	assert.Greater(t, p.size, freeSize)

	steps, size := freeSteps+3*stepsPerByte, freeSize+3*sizePerByte
	assert.NotNil(t, (&Patterns{steps: steps - 1, size: size - 1}).Matcher(`^a$`))
	assert.Nil(t, (&Patterns{steps: steps}).Matcher(`^a$`))
	assert.Nil(t, (&Patterns{size: size}).Matcher(`^a$`))
}

// patternsOf collects the patterns of a schema.
func patternsOf(s *schema.Structural, found map[string]bool) {
	if s == nil {
		return
	}
	if s.Pattern != "" {
		found[s.Pattern] = true
	}
	below := []*schema.Structural{s.Not}
	for _, p := range s.Properties {
		below = append(below, p)
	}
	if s.AdditionalProperties != nil {
		below = append(below, s.AdditionalProperties.Schema)
	}
	if s.Items != nil {
		below = append(below, s.Items.Schema)
	}
	for _, list := range [][]*schema.Structural{below, s.AllOf, s.AnyOf, s.OneOf} {
		for _, s := range list {
			patternsOf(s, found)
		}
	}
}

func corpusPatterns(tb testing.TB) map[string]bool {
	found := map[string]bool{}
	for file := range corpus.CRDs(tb) {
		crds, err := schema.ParseCRD(file.Data)
		require.NoError(tb, err)
		for _, c := range crds {
			for _, v := range c.Versions {
				patternsOf(v.Schema, found)
			}
		}
	}
	return found
}

// textsOf returns texts that match a pattern.
func textsOf(tb testing.TB, expr string, n int) (texts []string) {
	m := sample.New(&schema.Structural{Type: "object", Required: []string{"text"}, Properties: map[string]*schema.Structural{
		"text": {Type: "string", Pattern: expr},
	}}, "example.com/v1", "Text")
	for seed := range n {
		object, err := m.Valid(sample.Bytes(uint64(seed)))
		require.NoError(tb, err)
		var x struct{ Text string }
		require.NoError(tb, json.Unmarshal(object, &x))
		texts = append(texts, x.Text)
	}
	return texts
}

// TestCorpusPatterns holds that each pattern of the third-party definitions has a small matcher,
// which decides as regexp does on texts that match it, and on changed ones.
func TestCorpusPatterns(t *testing.T) {
	exprs := corpusPatterns(t)
	require.Len(t, exprs, 65)
	all := new(Patterns)
	random := rand.New(rand.NewPCG(3, 4))
	sure, matching := 0, 0
	for expr := range exprs {
		m, re := all.Matcher(expr), regexp.MustCompile(expr)
		require.NotNil(t, m, expr)
		for _, text := range textsOf(t, expr, 40) {
			if matching++; m.Match([]byte(text)) {
				sure++
			}
			for range 20 {
				requireSame(t, m, re, []byte(text))
				text = mutated(random, text)
			}
		}
	}
	t.Logf("%d of %d texts are recognized; %d bytes of patterns, %d steps, %d bytes of tables",
		sure, matching, all.bytes, all.steps, all.size)
	assert.Less(t, all.steps, freeSteps/5)
	assert.Less(t, all.size, 64<<10)
}

// mutated returns a text with a character removed, inserted or changed.
func mutated(random *rand.Rand, text string) string {
	const odd = "a0Z-._/:\n é\x80"
	at := random.IntN(len(text) + 1)
	with := random.IntN(len(odd))
	end := min(len(text), at+random.IntN(2))
	return text[:at] + odd[with:with+random.IntN(2)] + text[end:]
}

// FuzzPattern holds that a matcher is sure only if the text matches, and that of ASCII it is if it
// does.
func FuzzPattern(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, []byte("a-b.c"))
	f.Add(`(?im)^k\b|s$`, []byte("\u212a\nb s"))
	f.Add(`(a?){3}\B[^b]`, []byte("aa\xff"))
	f.Fuzz(func(t *testing.T, expr string, text []byte) {
		if len(expr) > 200 || len(text) > 200 {
			return
		}
		m := Pattern(expr)
		re, err := regexp.Compile(expr)
		if err != nil {
			require.Nil(t, m)
		}
		if m == nil {
			return
		}
		require.Less(t, m.Size(), 2*maxTable+1024)
		requireSame(t, m, re, text)
		for i := range text { // what comes after a match
			requireSame(t, m, re, text[:i])
		}
	})
}

func TestMatchAllocates(t *testing.T) {
	m := Pattern(`^[a-z]+$`)
	text := []byte("abc")
	assert.Zero(t, testing.AllocsPerRun(10, func() { m.Match(text) }))
}

func BenchmarkPattern(b *testing.B) {
	for _, test := range []struct{ name, expr, text string }{
		{"subdomain", `^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`, "trellises.garden.example.com"},
		{"label", `^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`, "my-application-01"},
		{"quantity", `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`, "1500Mi"},
		{"duration", `^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`, "1h30m"},
		{"url", `^(http|https)://.+$`, "https://example.com/some/path?query=1"},
	} {
		text := []byte(test.text)
		m, re := Pattern(test.expr), regexp.MustCompile(test.expr)
		b.Run(test.name+"/matcher", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				m.Match(text)
			}
		})
		b.Run(test.name+"/regexp", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				re.Match(text)
			}
		})
		b.Run(test.name+"/compile", func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				Pattern(test.expr)
			}
		})
	}
}
