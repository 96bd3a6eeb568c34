package rewrite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
)

// DiffNames returns the names of a file before and after, as git apply and patch -p1 expect
// them in a diff.
func DiffNames(name string) (before, after string) {
	name = strings.TrimPrefix(filepath.ToSlash(name), "/")
	return diffName("a/" + name), diffName("b/" + name)
}

// diffName spells a name as git does. A name with quotes, backslashes or unsafe characters is
// quoted as in C, and one with spaces ends with a tab.
func diffName(name string) string {
	unsafe := sanitize.FirstUnsafe(name) >= 0
	quoted := []byte{'"'}
	for _, b := range []byte(name) {
		switch {
		case b == '"' || b == '\\':
			quoted = append(quoted, '\\', b)
		case b < ' ' || b == 0x7f || b >= utf8.RuneSelf && unsafe:
			quoted = fmt.Appendf(quoted, "\\%03o", b)
		default:
			quoted = append(quoted, b)
		}
	}
	switch {
	case len(quoted) > len(name)+1:
		return string(append(quoted, '"'))
	case strings.Contains(name, " "):
		return name + "\t"
	}
	return name
}

// ShownDiff makes the lines of a diff safe to look at. A diff for a program is not changed,
// because the program applies it.
func ShownDiff(diff []byte) []byte {
	var out []byte
	for line := range bytes.SplitAfterSeq(diff, []byte("\n")) {
		text := bytes.TrimRight(line, "\r\n")
		out = append(append(out, sanitize.Visible(string(text))...), line[len(text):]...)
	}
	return out
}

// ColorDiff colors the lines of a unified diff as git does.
func ColorDiff(diff []byte, does bool) []byte {
	if !does {
		return diff
	}
	var out []byte
	for i, line := range bytes.SplitAfter(diff, []byte("\n")) {
		color := ""
		switch {
		case len(line) == 0:
			continue
		case i < len("-+"):
			color = "1"
		case line[0] == '@':
			color = "36"
		case line[0] == '-':
			color = "31"
		case line[0] == '+':
			color = "32"
		}
		text := bytes.TrimRight(line, "\r\n")
		if color != "" {
			out = append(append(append(out, "\x1b["+color+"m"...), text...), "\x1b[m"...)
			text = nil
		}
		out = append(append(out, text...), line[len(bytes.TrimRight(line, "\r\n")):]...)
	}
	return out
}
