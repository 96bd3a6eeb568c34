package sample

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/yamlbridge"
)

func TestYAML(t *testing.T) {
	for js, want := range map[string]string{
		`{"b":1,"a":true,"b":null}`:             "b: 1\na: true\nb: null\n",
		`{"a":{"b":{"c":"d"}},"e":{},"f":[]}`:   "a:\n  b:\n    c: d\ne: {}\nf: []\n",
		`{"a":[1,[2,[3]],{"b":[4],"c":5},"d"]}`: "a:\n  - 1\n  - - 2\n    - - 3\n  - b:\n      - 4\n    c: 5\n  - d\n",
		`[]`:                                    "[]\n",
		`"a"`:                                   "a\n",
		`false`:                                 "false\n",
		`[1.50,1e5,2E-2,-0]`:                    "- 1.50\n- 1.0e+5\n- 2.0e-2\n- -0\n",
		`{"yes":"no","1":"v1","":"1.5","two words":"/a/b.c","5Gi":"100m"}`: "\"yes\": \"no\"\n\"1\": v1\n\"\": \"1.5\"\ntwo words: /a/b.c\n5Gi: 100m\n",
		"{\"a\":\"\\u0000\\n\\t\\u001b\\\"\\\\é\\u202e\U0001f333\"}":       `a: "\x00\n\t\x1b\"\\é\u202e` + "\U0001f333\"\n",
		`{"` + strings.Repeat("k", 101) + `":{"a":[{"` + strings.Repeat("l", 101) + `":1}]}}`: "? " + strings.Repeat("k", 101) + "\n:\n  a:\n    - ? " +
			strings.Repeat("l", 101) + "\n      : 1\n",
	} {
		got, err := YAML([]byte(js))
		require.NoError(t, err, js)
		assert.Equal(t, want, string(got))
		checkYAML(t, js, got)
	}
	for _, js := range []string{"", "{", `{"a"}`, "{} {}", "1 x", `"\ud800"`} {
		_, err := YAML([]byte(js))
		assert.Error(t, err, js)
		_, err = New(anything, "v1", "Any").Commented([]byte(js))
		assert.Error(t, err, js)
	}
}

// TestYAMLStrings writes strings, as values and as names, and reads them back.
func TestYAMLStrings(t *testing.T) {
	texts := strings.Fields(`y Y n yes No on OFF true True null Null NULL ~ = << 0 -0 +1 08 0777 0o17 0x1F 0b1 1_000 1. .5 1e3 e5 E-10
		1.5 .inf -.Inf .nan nan Infinity 190:20:30 12:30:45 2026-01-02 2026-01-02T03:04:05Z - -- --- ... : a:b a: # a#b #a & &a * *a ! !a | > > % @ a, [ ] { } ? ?a ' "
		plain /path a/b:latest 10.0.0.1 v1 1.2.3 100m 5Gi 5gi 0/5 @monthly {{x}} äöü 😀 _1 1_ a. a- a_ a/ /. x-y`)
	texts = append(texts, "", " ", "a ", " a", "a b", "a  b", "a: b", "a #b", "- a", "? a", "a\tb", "\t", "a\nb", "a\nb\n", "\n", "a\r\nb", "\x00", "\x07", "\x7f", "\u0085",
		"a\u2028b", "\ufeffa", "\u00a0", "\u202ea", "0 2 * * *", "#!/bin/sh\necho a\n", "a\n---\nb", "\ue000", "\uffff", "\U0010ffff", strings.Repeat("long ", 300))
	for _, s := range texts {
		quoted := string(text(s).append(nil))
		for _, js := range []string{quoted, `{"a":` + quoted + `}`, `{` + quoted + `:1}`, `[{` + quoted + `:[` + quoted + `]}]`, nested(`{` + quoted + `:[` + quoted + `]}`)} {
			got, err := YAML([]byte(js))
			require.NoError(t, err)
			checkYAML(t, js, got)
		}
	}
	// What no reader may take for a boolean, a number and so on has quotes.
	for _, s := range strings.Fields("y No on OFF TRUE null ~ 0 1e3 e5 .5 nan 0x1F 12:30 2026-01-02 << = - 10.0.0.1 5gi") {
		got, _ := YAML(text(s).append(nil))
		assert.Equal(t, `"`+s+"\"\n", string(got))
	}
}

// nested returns a value below 70 others.
func nested(js string) string {
	return strings.Repeat(`{"a":[`, 35) + js + strings.Repeat(`]}`, 35)
}

func TestYAMLDepth(t *testing.T) {
	js := nested(`{"a":"no","` + strings.Repeat("k", 101) + `":[null,{},"b"]}`)
	got, err := YAML([]byte(js))
	require.NoError(t, err)
	checkYAML(t, js, got)
	assert.Contains(t, string(got), `{a: "no", ? `+strings.Repeat("k", 101)+`: [null, {}, b]}`)
	deep := strings.Repeat("[", 9000) + strings.Repeat("]", 9000)
	got, err = YAML([]byte(deep))
	require.NoError(t, err)
	assert.Less(t, len(got), 30_000)
	checkYAML(t, deep, got)
}

// checkYAML compares a text, by two readers of YAML, with the JSON that it was made of.
func checkYAML(t *testing.T, js string, text []byte) {
	t.Helper()
	want, err := parse([]byte(js))
	require.NoError(t, err)
	read, err := yamlbridge.AppendJSON(nil, text)
	require.NoError(t, err, "%s as %q", js, text)
	got, err := parse(read)
	require.NoError(t, err)
	sameTree(t, want, got)
	if hasRepeats(want) {
		return
	}
	var decoded any
	require.NoError(t, yaml.Unmarshal(text, &decoded), "%s as %q", js, text)
	read, err = json.Marshal(decoded)
	require.NoError(t, err)
	assert.JSONEq(t, js, string(read), "%q", text)
}

// sameTree compares two values with the order of their members. Numbers can be spelled otherwise.
func sameTree(t *testing.T, want, got *value) {
	t.Helper()
	require.Equal(t, want.kind, got.kind)
	require.Len(t, got.members, len(want.members))
	if want.kind == '0' {
		w, _ := strconv.ParseFloat(want.text, 64)
		g, _ := strconv.ParseFloat(got.text, 64)
		require.Equal(t, w, g)
		_, err := strconv.ParseInt(want.text, 10, 64)
		if err == nil && want.text != "-0" {
			require.Equal(t, want.text, got.text)
		}
	} else {
		require.Equal(t, want.text, got.text)
	}
	for i, m := range want.members {
		require.Equal(t, m.name, got.members[i].name)
		sameTree(t, m.value, got.members[i].value)
	}
}

func hasRepeats(v *value) bool {
	names := make(map[string]bool)
	for _, m := range v.members {
		if v.kind == '{' && names[m.name] || hasRepeats(m.value) {
			return true
		}
		names[m.name] = true
	}
	return false
}
