package fuzz

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
)

// yamlInserts are the texts that MutateYAML inserts: everything with a meaning somewhere, and the
// characters that readers do not agree on.
var yamlInserts = []string{
	" ", "  ", "\t", "\n", "\n\n", "\r", "\r\n", ":", ": ", " :", "-", "- ", "?", "? ", ",", ", ", "[", "]", "{", "}", "#", " #", "'", "''", `"`, `\`,
	"|", "|\n", "|2\n", ">-\n", "|+\n", ">", "&a ", "*a", "*a ", "!", "! ", "!!str ", "!!int ", "!!set ", "!x ", "!<", "!e!x ", "%", "%YAML 1.1\n---\n", "%TAG ! x\n",
	"---", "\n---\n", "...", "\n...\n", "--- ", "<<: ", "<<: *a\n", "@", "`", "=", "~", "null", "yes", "1", "0x", "1e400", ".inf", "_", ".", "+",
	`\x41`, `\u00e9`, `\ud83d`, `\/`, "\\\n", "é", "🌳", "\u0085", "\u2028", "\u2029", "\uFEFF", "\u00a0", "\x00", "\x01", "\x7f", "\x80", "\xff", "\xed\xa0\x80",
}

// MutateYAML returns a text with a few small mistakes in it. It copies pieces from other.
func MutateYAML(src, other []byte, r *rand.Rand) []byte {
	for range 1 + r.IntN(3) {
		src = mutateYAML(slices.Clone(src), other, r)
	}
	return src
}

func mutateYAML(src, other []byte, r *rand.Rand) []byte {
	at := r.IntN(len(src) + 1)
	switch r.IntN(12) {
	case 0, 1: // leave out some characters
		return slices.Delete(src, at, min(len(src), at+one(r, 1, 1, 1, 2, 3)))
	case 2, 3, 4:
		return slices.Insert(src, at, []byte(one(r, yamlInserts...))...)
	case 5: // repeat a character
		if at < len(src) {
			return slices.Insert(src, at, src[at])
		}
	case 6: // replace a character
		if at < len(src) {
			return slices.Replace(src, at, at+1, []byte(one(r, yamlInserts...))...)
		}
	case 7:
		return src[:at]
	case 8: // insert a piece from elsewhere
		if len(other) > 0 {
			from := r.IntN(len(other))
			return slices.Insert(src, at, other[from:min(len(other), from+r.IntN(30))]...)
		}
	}
	return mutateLine(src, r)
}

// mutateLine changes a line, or the order of lines.
func mutateLine(src []byte, r *rand.Rand) []byte {
	lines := bytes.SplitAfter(src, []byte("\n"))
	i := r.IntN(len(lines))
	line := lines[i]
	indent := len(line) - len(bytes.TrimLeft(line, " "))
	switch r.IntN(7) {
	case 0:
		lines = slices.Delete(lines, i, i+1)
	case 1:
		lines = slices.Insert(lines, i, line)
	case 2:
		j := r.IntN(len(lines))
		lines[i], lines[j] = lines[j], lines[i]
	case 3: // indent
		lines[i] = append([]byte(one(r, " ", "  ", "\t")), line...)
	case 4: // unindent
		lines[i] = line[min(indent, one(r, 1, 2, 4)):]
	case 5:
		lines[i] = append([]byte(strings.Repeat("\t", indent)), line[indent:]...)
	case 6:
		lines[i] = bytes.TrimRight(line, "\r\n")
	}
	return bytes.Join(lines, nil)
}
