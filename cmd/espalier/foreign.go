package main

// This file writes texts that come from outside, of objects, definitions, configurations,
// names of files and values of flags, where people and programs read lines: on terminals and in
// logs. Such a text must not end a line, move the cursor, or hide or reorder what is beside it.

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// isSafe reports whether a character is seen as itself: it is no control or formatting
// character, which the bidirectional and most of those without width are, and no space but
// the common one. Line separators are spaces. It is the notion of package errors.
func isSafe(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r)
}

// safe returns a text with each character that is not safe, and each byte that is not UTF-8,
// as its escape in Go source. Whatever has come from outside is written through it, or, where
// it stands alone, through printable.
func safe(s string) string {
	start := firstUnsafe(s)
	if start < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)+16), s[:start]...)
	for i := start; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		if isSafe(r) && (r != utf8.RuneError || n > 1) {
			b = append(b, s[i:i+n]...)
		} else {
			quoted := fieldpath.AppendQuoted(nil, s[i:i+n])
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		i += n
	}
	return string(b)
}

// firstUnsafe returns where a text has its first character that is not safe, or -1.
func firstUnsafe(s string) int {
	for i, r := range s {
		if !isSafe(r) || r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD") {
			return i
		}
	}
	return -1
}

// printable returns a name as it is if it is safe in a line, and else quoted.
func printable(s string) string {
	if quoted := fieldpath.AppendQuoted(nil, s); len(quoted) != len(s)+2 {
		return string(quoted)
	}
	return s
}

// safeLines makes the lines of a text of our own safe, in which names cannot end lines.
func safeLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		indent := len(line) - len(strings.TrimLeft(line, "\t"))
		lines[i] = line[:indent] + safe(line[indent:])
	}
	return strings.Join(lines, "\n")
}

// writeErrors writes a line for each of the errors that were joined.
func writeErrors(to io.Writer, err error) {
	for _, one := range unjoined(err) {
		fmt.Fprintf(to, "error: %s\n", safe(one.Error()))
	}
}

// unjoined returns the errors of which errors.Join has made one. What a message holds cannot
// do that: it is not cut at its line ends.
func unjoined(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	if text := stderrors.Join(joined.Unwrap()...); text == nil || text.Error() != err.Error() {
		return []error{err} // of which these are only the causes
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, unjoined(one)...)
	}
	return all
}

// safeYAML escapes what yaml.v3 takes for printable and is not safe. Such characters are in
// strings in double quotes only: see yamlString.
func safeYAML(text []byte) []byte {
	if firstUnsafe(string(bytes.Map(func(r rune) rune {
		if r == '\n' || r == '\t' {
			return ' '
		}
		return r
	}, text))) < 0 {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '\n' || r == '\t' || isSafe(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// safeJSON marshals a value to JSON in which every character that is not safe is escaped: it
// reads the same, and may be shown by whatever shows text.
func safeJSON(v any) (jsonv2.Value, error) {
	js, err := jsonv2.Marshal(v, jsonv2.AllowInvalidUTF8(true))
	if err != nil || firstUnsafe(string(js)) < 0 {
		return js, err
	}
	// What is not ASCII stands in strings only.
	var b bytes.Buffer
	for _, r := range string(js) {
		switch {
		case r == '\n' || isSafe(r):
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
