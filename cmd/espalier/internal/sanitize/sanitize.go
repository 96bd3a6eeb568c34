// Package sanitize makes texts from outside safe to be written to terminals and
// logs: those of objects, definitions, configurations, file names and flags. Such
// a text must not end a line, move the cursor, or hide or reorder its neighbours.
package sanitize

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// IsSafe reports whether a character is visible as itself. Control characters are not safe, nor
// are formatting characters, among them bidirectional and most zero-width ones, and spaces
// other than U+0020, among them line separators. Package errors has the same rule.
func IsSafe(r rune) bool { return fieldpath.IsGraphic(r) }

// Text returns a text with escapes, as in Go source, for characters that are not safe and for
// bytes that are not UTF-8. Every text from outside is written through Text, or if it is only a
// name, through Name.
func Text(s string) string {
	start := FirstUnsafe(s)
	if start < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)+16), s[:start]...)
	for i := start; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if IsSafe(r) && (r != utf8.RuneError || n > 1) {
			b = append(b, s[i:i+n]...)
		} else {
			quoted := fieldpath.AppendQuoted(nil, s[i:i+n])
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		i += n
	}
	return string(b)
}

// FirstUnsafe returns the offset of the first character that is not safe, or -1.
func FirstUnsafe(s string) int {
	for i, r := range s {
		if !IsSafe(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// Name returns a name as it is if it is safe in a line, and quoted otherwise.
func Name(s string) string {
	if quoted := fieldpath.AppendQuoted(nil, s); len(quoted) != len(s)+2 {
		return string(quoted)
	}
	return s
}

// Lines makes the lines of a text of our own safe. Names in such a text cannot end lines.
func Lines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		lines[i] = line[:indent] + Text(line[indent:])
	}
	return strings.Join(lines, "\n")
}

// JSON marshals a value to JSON and escapes every character that is not safe. The result means
// the same, and may be displayed by any program.
func JSON(v any) (jsonv2.Value, error) {
	js, err := jsonv2.Marshal(v, jsonv2.AllowInvalidUTF8(true))
	if err != nil || FirstUnsafe(string(js)) < 0 {
		return js, err
	}
	// Only strings hold characters other than ASCII.
	var b bytes.Buffer
	for _, r := range string(js) {
		switch {
		case r == '\n' || IsSafe(r):
			b.WriteRune(r)
		case r > 0xffff:
			r -= 0x10000
			fmt.Fprintf(&b, `\u%04x\u%04x`, 0xd800+r>>10, 0xdc00+r&0x3ff)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes(), nil
}

// Visible makes a line of a file safe in which each character must keep its column, because a
// line below points at one of them.
func Visible(line string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t':
			return ' '
		case r == utf8.RuneError || !IsSafe(r):
			return '·'
		}
		return r
	}, line)
}
