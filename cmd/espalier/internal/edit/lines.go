package edit

import (
	"bytes"
	"sort"
)

// lines are the lines of a text, which end in LF, CRLF or CR (YAML 1.2 section 5.4). A byte
// order mark does not belong to the first one.
type lines struct {
	text   []byte
	starts []int // and the end of the text
}

const bom = "\uFEFF"

func newLines(text []byte) lines {
	l := lines{text: text, starts: []int{0}}
	if bytes.HasPrefix(text, []byte(bom)) {
		l.starts[0] = len(bom)
	}
	for i := l.starts[0]; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\n', c == '\r' && (i+1 == len(text) || text[i+1] != '\n'):
			l.starts = append(l.starts, i+1)
		}
	}
	if l.starts[len(l.starts)-1] < len(text) {
		l.starts = append(l.starts, len(text))
	}
	return l
}

func (l lines) count() int { return len(l.starts) - 1 }

func (l lines) start(i int) int { return l.starts[i] }

// of returns the line with an offset in it.
func (l lines) of(offset int) int {
	return min(max(sort.SearchInts(l.starts, offset+1)-1, 0), l.count()-1)
}

// end returns the end of a line's text, before its break.
func (l lines) end(i int) int {
	line := l.text[l.starts[i]:l.starts[i+1]]
	return l.starts[i] + len(bytes.TrimRight(line, "\r\n"))
}

// indent returns the number of spaces that a line is indented by, and the text after them. The
// text is empty if there is only white space.
func (l lines) indent(i int) (spaces int, rest []byte) {
	line := l.text[l.starts[i]:l.end(i)]
	rest = bytes.TrimLeft(line, " ")
	if len(bytes.TrimLeft(rest, "\t ")) == 0 {
		return 0, nil
	}
	return len(line) - len(rest), rest
}
