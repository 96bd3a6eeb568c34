package yamlwriter

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// resolvers are the published patterns of texts that, without quotes, some reader does not take
// for strings.
var resolvers = map[string]string{
	// yaml.org/type.
	"1.1 bool":  `y|Y|yes|Yes|YES|n|N|no|No|NO|true|True|TRUE|false|False|FALSE|on|On|ON|off|Off|OFF`,
	"1.1 null":  `~|null|Null|NULL|`,
	"1.1 int":   `[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?(0|[1-9][0-9_]*)|[-+]?0x[0-9a-fA-F_]+|[-+]?[1-9][0-9_]*(:[0-5]?[0-9])+`,
	"1.1 float": `[-+]?([0-9][0-9_]*)?\.[0-9.]*([eE][-+][0-9]+)?|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+\.[0-9_]*|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)`,
	"1.1 timestamp": `[0-9]{4}-[0-9]{2}-[0-9]{2}|[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}([Tt]|[ \t]+)[0-9]{1,2}:[0-9]{2}:[0-9]{2}(\.[0-9]*)?` +
		`(([ \t]*)Z|([ \t]*)[-+][0-9]{1,2}(:[0-9]{2})?)?`,
	"1.1 merge and value": `<<|=`,
	// YAML 1.2.2 section 10.3.2.
	"1.2 core": `null|Null|NULL|~|true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?|` +
		`[-+]?(\.inf|\.Inf|\.INF)|\.nan|\.NaN|\.NAN`,
	// What programs make of that.
	"Ruby's Psych": `(?i)[-+]?([0-9][0-9_,]*)?\.[0-9]*(e[-+][0-9]+)?|[-+]?0[0-7_,]+|[-+]?(0|[1-9]([0-9]|,[0-9]|_[0-9])*)|[-+]?0[bx][0-9a-f_,]*|:.+|` +
		`[-+]?[0-9][0-9_]*(:[0-5]?[0-9]){1,2}(\.[0-9_]*)?|yes|true|on|no|false|off|~|null`,
	"npm's yaml": `[-+]?([0-9][0-9_]*)?(\.[0-9_]*)?[eE][-+]?[0-9]+|[-+]?([0-9][0-9_]*)?\.[0-9_]*|[-+]?0b[0-1_]+|[-+]?0[0-7_]+|[-+]?[0-9][0-9_]*(:[0-5]?[0-9])+`,
	"Go's yaml":  `(?i)[-+]?0[box][0-9a-f_]+|[-+]?\.?[0-9_]+(\.[0-9_]*)?(e[-+]?[0-9]+)?|[-+]?\.(inf|nan)`,
}

// TestYAMLPlain writes all short strings of the characters in numbers, times and words. Those
// that are written without quotes are strings to all readers.
func TestYAMLPlain(t *testing.T) {
	var patterns []*regexp.Regexp
	for name, pattern := range resolvers {
		flags := ""
		if strings.HasPrefix(pattern, "(?i)") {
			flags, pattern = "(?i)", pattern[4:]
		}
		re, err := regexp.Compile(flags + "^(?:" + pattern + ")$")
		require.NoError(t, err, name)
		patterns = append(patterns, re)
	}
	plain := 0
	check := func(s string) {
		if !isPlainText(s) {
			return
		}
		plain++
		for _, re := range patterns {
			require.False(t, re.MatchString(s), "%q by %s", s, re)
		}
		// Nor does it end, or become something else, in a mapping or in a sequence.
		js, err := yamlbridge.AppendJSON(nil, []byte("- a: "+s+"\n- "+s+": a\n"))
		require.NoError(t, err)
		require.Equal(t, `[{"a":"`+s+`"},{"`+s+`":"a"}]`, string(js))
	}
	const letters = "01 9eExobyntmMi_.,:-+~=<TZ#/'sG?&*!%@"
	for _, a := range letters {
		check(string(a))
		for _, b := range letters {
			check(string(a) + string(b))
			for _, c := range letters {
				check(string(a) + string(b) + string(c))
			}
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	words := strings.Fields("y yes no on off true false null nan inf 0 1 12 0x 0b 0o e E + - . : , _ 30 59 2026 T Z Gi m s h k P")
	for range 100_000 {
		var b strings.Builder
		for range 1 + r.IntN(5) {
			word := words[r.IntN(len(words))]
			if r.IntN(3) == 0 {
				word = strings.ToUpper(word)
			}
			b.WriteString(word)
		}
		check(b.String())
	}
	assert.Greater(t, plain, 10_000)
}

// TestYAMLNumbers: a number in JSON is one by the patterns of YAML 1.1 and of 1.2.
func TestYAMLNumbers(t *testing.T) {
	in11 := regexp.MustCompile("^(?:" + resolvers["1.1 int"] + "|" + resolvers["1.1 float"] + ")$")
	in12 := regexp.MustCompile("^(?:" + resolvers["1.2 core"] + ")$")
	for js, want := range map[string]string{
		"0": "0", "-1": "-1", "1.5": "1.5", "1e5": "1.0e+5", "1E-7": "1.0e-7", "-2.5e30": "-2.5e+30", "1.0e+5": "1.0e+5", "18446744073709551615": "18446744073709551615",
	} {
		assert.Equal(t, want, yamlNumber(js))
		assert.Regexp(t, in11, want)
		assert.Regexp(t, in12, want)
	}
	for _, word := range []string{"true", "false", "null"} {
		assert.Equal(t, word, yamlNumber(word))
	}
}
