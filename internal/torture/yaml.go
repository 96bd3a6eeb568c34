package torture

import "math/rand/v2"

// yamlPieces are pieces of lines of YAML: scalars of all kinds, indicators, properties and
// comments.
var yamlPieces = []string{
	"a", "b: c", "key: value", "a: ", "- ", "- ", "-\n", "? ", ": ", "a b c", "- a: 1", "1", "-0x1F", "0o17", "017", "1_000", "1e3", ".inf", "-.5", "12:30:45",
	"~", "null", "yes", "No", "TRUE", "=", "<<: *a", "<<: {a: 1}", "&a ", "*a", "&a [x, y]", "!!str ", "!!binary YQ==", "!!int ", "! ", "!x ",
	"[", "]", "{", "}", ", ", "[a, b]", "{a: 1, b: [c]}", "[]", "{}", `{"a":1}`, `"a"`, `"a\n\u00fc\x41\ud83d\ude00"`, `"`, "'", "'it''s'", "\"two\n lines\"", `\`,
	"|\n", "|-\n", ">+\n", ">2\n", "# comment", " # comment", "#", "%YAML 1.1\n---\n", "---\n", "--- a", "...\n", "\t", " ", "\r\n", "\r", "\u0085", "\u2028", "\ufeff",
	"ü", "日本語", "😀", "\x7f", "\x00", "\xff", "\xc3", "2001-01-01", "@", "`", "metadata:\n  name: x", "a: &a {b: 1}\nc: *a",
}

// YAML appends a document of some lines. Each line is indented like the one before or by another
// step. Most documents are valid.
func YAML(r *rand.Rand, b []byte) []byte {
	if r.IntN(8) == 0 {
		return append(JSON(r, b), '\n')
	}
	indents := []int{0}
	for range 1 + r.IntN(6) {
		depth := len(indents) - 1
		for range indents[depth] {
			b = append(b, ' ')
		}
		b, indents = line(r, b, indents)
	}
	return b
}

// line appends a line, and returns the indents of the collections that the next line may continue.
func line(r *rand.Rand, b []byte, indents []int) ([]byte, []int) {
	indent := indents[len(indents)-1]
	switch r.IntN(8) {
	case 0, 1: // a key whose value follows
		b = append(key(r, b), ":\n"...)
		return b, append(indents, indent+1+r.IntN(3))
	case 2, 3:
		b = append(key(r, b), ": "...)
	case 4:
		b = append(b, "- "...)
	case 5:
		b = append(append(b, One(r, yamlPieces)...), One(r, yamlPieces)...)
	}
	b = append(append(b, One(r, yamlPieces)...), '\n')
	if r.IntN(3) == 0 {
		indents = indents[:1+r.IntN(len(indents))]
	}
	return b, indents
}

// key appends a key that is rarely twice in a document.
func key(r *rand.Rand, b []byte) []byte {
	return append(b, 'a'+byte(r.IntN(26)), 'a'+byte(r.IntN(26)))
}
