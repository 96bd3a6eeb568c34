package fuzz

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/decoder"
)

// TestYAMLDifferences has intended differences for bodies in YAML. TestYAMLParity compares the
// readings in general. Here they have all their consequences, such as that only the first of
// several documents is decoded.
func TestYAMLDifferences(t *testing.T) {
	utf16 := func(text string) string { return "\xff\xfe" + strings.Join(strings.Split(text, ""), "\x00") + "\x00" }
	many := strings.Repeat("- *x\n", 2000)
	nines := func(x string) string { return strings.TrimSuffix(strings.Repeat(x+", ", 9), ", ") }
	for _, c := range []difference{
		{why: "What follows the first document is ignored, and may be anything. Here it is refused, as who sends two documents wants both to be read.",
			document: "kind: A\n---\nkind: B\n",
			theirs:   `{"kind":"A"}`,
			ours:     `refused: 2:1: second document; only one is allowed here`,
			class:    yamlSecond},
		{why: "The same for what follows the end of the document.",
			document: "kind: A\n...\n}\n",
			theirs:   `{"kind":"A"}`,
			ours:     `refused: 3:1: second document; only one is allowed here`,
			class:    yamlSecond},
		{why: "What follows is looked at as far as it takes to know that the document has ended: one token, or all on the line of what could be a key. Under ServerRequests it is here, too.",
			document: "{kind: A} 'x' @\n",
			theirs:   `refused: YAML: yaml: found character that cannot start any token`,
			ours:     `refused: 1:11: nothing may follow the document`,
			exact:    `refused: 1:15: found character that cannot start any token`,
			class:    bothRefuse},
		{why: "What is farther away is not looked at.",
			document: "{kind: A} 'x'\n'y' @\n",
			theirs:   `{"kind":"A"}`,
			ours:     `refused: 1:11: nothing may follow the document`,
			class:    yamlSecond},
		{why: "An empty document is one.",
			document: "---\n---\nkind: A\n",
			theirs:   "refused: kind: Object 'Kind' is missing in '---\n---\nkind: A\n'",
			ours:     `{"kind":"A"}`,
			class:    yamlEmptyFirst},
		{why: "A merge key overwrites what is before it (11.7), and then reports that as a duplicate. By the rule of YAML explicit keys win.",
			document: "kind: A\nbase: &base {x: 1, z: 1}\na:\n  x: 2\n  <<: *base\n",
			theirs:   `{"a":{"x":1,"z":1},"base":{"x":1,"z":1},"kind":"A"}` + "\nyaml: unmarshal errors:\n  line 2: key \"x\" already set in map",
			ours:     `{"kind":"A","base":{"x":1,"z":1},"a":{"x":2,"z":1}}`,
			class:    yamlMerge},
		{why: "What overrides a merge key is reported as well.",
			document: "kind: A\nbase: &base {x: 1, z: 1}\na:\n  <<: *base\n  x: 2\n",
			theirs:   `{"a":{"x":2,"z":1},"base":{"x":1,"z":1},"kind":"A"}` + "\nyaml: unmarshal errors:\n  line 5: key \"x\" already set in map",
			ours:     `{"kind":"A","base":{"x":1,"z":1},"a":{"x":2,"z":1}}`,
			class:    same},
		{why: "Names that repeat are reported by the lines of their values, all in one entry and without limit. Findings have paths.",
			document: "kind: A\na: 1\na: 2\nb: {c: 1, c: 2}\na:\n  d: 3\n",
			theirs:   `{"a":{"d":3},"b":{"c":2},"kind":"A"}` + "\nyaml: unmarshal errors:\n  line 3: key \"a\" already set in map\n  line 4: key \"c\" already set in map\n  line 6: key \"a\" already set in map",
			ours:     `{"kind":"A","b":{"c":2},"a":{"d":3}}` + "\nduplicate field \"a\"\nduplicate field \"b.c\"",
			class:    same},
		{why: "A tag that means nothing is ignored, but makes a text of what it is on.",
			document: "kind: A\na: !mine 5\n",
			theirs:   `{"a":"5","kind":"A"}`,
			ours:     `refused: 2:4: unknown tag "!mine" in "a"`,
			class:    yamlTag},
		{why: "A number beyond float64 is a text.",
			document: "kind: A\na: 1e400\n",
			theirs:   `{"a":"1e400","kind":"A"}`,
			ours:     `refused: 2:4: number "1e400" is beyond a float64 in "a"`,
			class:    yamlHuge},
		{why: "Infinity is refused only if it stays. Here nothing is read that cannot be written, but under ServerRequests.",
			document: "kind: A\na: .inf\na: 1\n",
			theirs:   `{"a":1,"kind":"A"}` + "\nyaml: unmarshal errors:\n  line 3: key \"a\" already set in map",
			ours:     `refused: 2:4: infinity and NaN are no JSON values in "a"`,
			exact:    `{"kind":"A","a":1}` + "\nduplicate field \"a\"",
			class:    yamlReplaced},
		{why: "What !!binary stands for is mangled.",
			document: "kind: A\na: !!binary /w==\n",
			theirs:   "{\"a\":\"\ufffd\",\"kind\":\"A\"}",
			ours:     `refused: 2:4: !!binary value is not UTF-8 in "a"`,
			class:    yamlBinary},
		{why: "Keys that become equal as they are mangled are written in the order of their bytes, and the last wins. Under ServerRequests they are in that of the document.",
			document: "kind: A\n? !!binary /w==\n: 1\n? !!binary /g==\n: 2\n",
			theirs:   "{\"kind\":\"A\",\"\ufffd\":1}\nduplicate field \"\ufffd\"",
			ours:     `refused: 2:3: !!binary value is not UTF-8`,
			exact:    "{\"kind\":\"A\",\"\ufffd\":2}\nduplicate field \"\ufffd\"",
			class:    yamlBinary},
		{why: "UTF-16 is read.",
			document: utf16("kind: A\n"),
			theirs:   `{"kind":"A"}`,
			ours:     `refused: 1:1: UTF-16 or UTF-32; only UTF-8 is read`,
			class:    yamlUTF16},
		{why: "A byte order mark inside the document, which nobody sees, belongs to the name or text that it stands in.",
			document: "kind: A\n\ufeffa: 1\n",
			theirs:   "{\"kind\":\"A\",\"\ufeffa\":1}",
			ours:     `refused: 2:1: byte order mark inside the document`,
			class:    yamlMark},
		{why: "A line ends with U+2028, which it does not in YAML 1.2: who reads that finds a comment here.",
			document: "kind: A # c\u2028a: 1\n",
			theirs:   `{"a":1,"kind":"A"}`,
			ours:     `refused: 1:12: U+2028 outside quotes: it ends a line in YAML 1.1, and not in 1.2; write a line feed, or an escape in double quotes`,
			class:    yamlBreaks},
		{why: "Within brackets a question mark is an indicator with nothing after it, too. To YAML 1.2 it starts a plain scalar, and what is a comment here is none.",
			document: "{kind: A, ?#x, b: 1,\n a : 1}\n",
			theirs:   `{"a":1,"kind":"A"}`,
			ours:     `refused: 1:11: readers of YAML 1.1 and 1.2 do not agree on this character within brackets: a space belongs after it, or quotes around the scalar`,
			class:    yamlSplit},
		{why: "YAML 1.2 is refused.",
			document: "%YAML 1.2\n---\nkind: A\n",
			theirs:   `refused: YAML: yaml: found incompatible YAML document`,
			ours:     `{"kind":"A"}`,
			class:    yamlVersion},
		{why: "Escapes of JSON that YAML 1.1 does not have are refused.",
			document: `{"kind":"A","a":"\/\ud83c\udf33"}`,
			theirs:   `refused: YAML: yaml: found unknown escape character`,
			ours:     `{"kind":"A","a":"/🌳"}`,
			class:    yamlEscapes},
		{why: "The end of a document that is not there is content that is missing.",
			document: "...\nkind: A\n",
			theirs:   `refused: YAML: yaml: did not find expected node content`,
			ours:     `{"kind":"A"}`,
			class:    yamlLoneEnd},
		{why: "How many aliases there may be is limited by how many values they stand for.",
			document: "kind: A\na: &a [" + nines("1") + "]\nb: &b [" + nines("*a") + "]\nc: &c [" + nines("*b") + "]\nd: &d [" + nines("*c") + "]\ne: [" + nines("*d") + "]\n",
			theirs:   `refused: YAML: yaml: document contains excessive aliasing`,
			ours:     `149496 bytes`,
			exact:    `149496 bytes`,
			class:    yamlAliasing},
		{why: "Here it is limited by the bytes that they stand for.",
			document: "kind: A\nx: &x " + strings.Repeat("long ", 3000) + "\na:\n" + many,
			theirs:   `30019024 bytes`,
			ours:     `refused: 703:3: alias bytes exceeds the limit of 10485760 in "a[699]"`,
			exact:    `refused: 703:3: alias bytes exceeds the limit of 10485760 in "a[699]"`,
			class:    yamlLimit},
	} {
		t.Run(c.why, func(t *testing.T) {
			c.schema = anything
			c.checkOutcomes(t, pair(t, anything, inYAML(newExactComparer)))
			k, what, detail := hardened.compare([]byte(c.document), nil)
			assert.Equal(t, c.class, k, "%s\n%s", what, detail)
		})
	}
}

// TestYAMLChance asserts that of names that are equal only as texts the server keeps a random one
// (11.6), silently. Here the last wins, and they are duplicates.
func TestYAMLChance(t *testing.T) {
	const doc = "kind: A\n1: a\n\"1\": b\n"
	c := pair(t, anything, inYAML(newExactComparer))
	seen := make(map[string]bool)
	for range 1000 {
		seen[c.theirs(doc)] = true
	}
	assert.Equal(t, map[string]bool{`{"1":"a","kind":"A"}`: true, `{"1":"b","kind":"A"}`: true}, seen)
	const want = `{"kind":"A","1":"b"}` + "\nduplicate field \"1\""
	assert.Equal(t, want, c.ours(doc))
	assert.Equal(t, want, c.ours(doc, decoder.ServerRequests))
	_, err := c.decode([]byte(doc))
	assert.NoError(t, err)
	assert.Empty(t, c.decoder.YAMLDuplicates())
}

// TestYAMLCopied has oddities of the server's reading that we follow.
func TestYAMLCopied(t *testing.T) {
	for _, c := range []struct{ why, yaml, want, json, wantJSON string }{
		{"A number is another one in YAML than in JSON (11.5).",
			"kind: A\na: [1.0, 1e3, -0.0, 1.5]\n", `{"kind":"A","a":[1,1000,0,1.5]}`,
			`{"kind":"A","a":[1.0,1e3,-0.0,1.5]}`, `{"kind":"A","a":[1,1000,-0,1.5]}`},
		{"Words for truth are those of YAML 1.1, also as names.",
			"kind: A\nn: yes\non: off\n", `{"kind":"A","false":true,"true":false}`,
			`{"kind":"A","n":"yes"}`, `{"kind":"A","n":"yes"}`},
		{"A zero in front makes a number octal.",
			"kind: A\na: [0777, 0o777, 08, 1_000, 190:20:30, 2026-01-02]\n", `{"kind":"A","a":[511,511,8,1000,"190:20:30","2026-01-02"]}`,
			`{"kind":"A","a":"0777"}`, `{"kind":"A","a":"0777"}`},
		{"Names that are numbers are written anew, in the precision of float32.",
			"kind: A\n0x10: a\n3.14159265358979: b\n", `{"kind":"A","16":"a","3.1415927":"b"}`,
			`{"kind":"A","0x10":"a"}`, `{"kind":"A","0x10":"a"}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			for _, newComparer := range []maker{newComparer, newExactComparer} {
				p := pair(t, anything, inYAML(newComparer))
				k, what, detail := p.compare([]byte(c.yaml))
				assert.Equal(t, same, k, "%s\n%s", what, detail)
				assert.Equal(t, c.want, p.ours(c.yaml))
				p = pair(t, anything, newComparer)
				k, what, detail = p.compare([]byte(c.json))
				assert.Equal(t, same, k, "%s\n%s", what, detail)
				assert.Equal(t, c.wantJSON, p.ours(c.json, decoder.ServerRequests))
			}
		})
	}
}
