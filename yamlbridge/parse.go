package yamlbridge

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"gopkg.in/yaml.v3"
)

// checkCharacters returns the offset of the first character that may not stand
// in a YAML stream (YAML 1.2 section 5.1) and what is wrong with it. A byte
// order mark may stand at the start of src, and right before base.
func checkCharacters(src []byte, base int) (off int, msg string) {
	i := 0
	if bytes.HasPrefix(src, []byte(bom)) {
		i = len(bom)
	}
	for i < len(src) {
		c := src[i]
		if 0x20 <= c && c < 0x7F || c == '\n' || c == '\t' || c == '\r' {
			i++
			continue
		}
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == utf8.RuneError && size <= 1:
			return i, "invalid UTF-8"
		case r < 0xA0 && r != 0x85, r == 0xFFFE, r == 0xFFFF:
			return i, fmt.Sprintf("control character %U", r)
		case r == 0xFEFF && i+size != base:
			// YAML allows it in quotes, but yaml.v3 takes one that happens to lie at
			// the start of its buffer for the start of the line it reads.
			return i, "byte order mark inside the document"
		}
		i += size
	}
	return 0, ""
}

// A nodeError is a fault found on a node of yaml.v3's tree.
type nodeError struct {
	line, column int
	msg          string
}

func (e *nodeError) Error() string { return e.msg }

// A panicError is what came out of yaml.v3 in place of an error.
type panicError struct{ value any }

func (e *panicError) Error() string { return fmt.Sprintf("yaml.v3 panicked: %v", e.value) }

const secondDocument = "second document; only one is allowed here"

// parse returns the root node of the document in text, or nil where there is
// none. yaml.v3 has panicked on malformed documents before; that is an error
// like another, for a document that has no tree.
func parse(text []byte) (root *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			root, err = nil, &panicError{r}
		}
	}()
	d := yaml.NewDecoder(bytes.NewReader(text))
	var doc, rest yaml.Node
	switch err := d.Decode(&doc); {
	case err == io.EOF:
		return nil, nil
	case err != nil:
		return nil, err
	}
	// What follows the root node is looked at only when one asks for more:
	// "[a] ]", and documents after breaks that only yaml.v3 takes for such.
	switch err := d.Decode(&rest); {
	case err == nil:
		n := rest.Content[0]
		return nil, &nodeError{n.Line, n.Column, secondDocument}
	case err != io.EOF:
		return nil, fmt.Errorf("%w; nothing may follow the document", err)
	}
	return doc.Content[0], nil
}

var (
	lineError     = regexp.MustCompile(`^yaml: (?:line (\d+): )?((?s:.*))$`)
	unknownAnchor = regexp.MustCompile(`^unknown anchor '(.*)' referenced$`)
)

// translate gives an error of parse its position. yaml.v3 tells lines only, and
// for the faults of its parser, other than for those of its scanner, one line
// too low; on the first line it tells none.
func translate(err error, m *SourceMap, c *cursor) error {
	if e, ok := err.(*nodeError); ok {
		return m.syntaxError(c.offset(e.line, e.column), e.msg)
	}
	if e, ok := err.(*panicError); ok {
		s := m.syntaxError(c.base, "not readable as YAML")
		s.Err = e
		return s
	}
	line, msg := 1, err.Error()
	if g := lineError.FindStringSubmatch(msg); g != nil {
		msg = g[2]
		if n, convErr := strconv.Atoi(g[1]); convErr == nil {
			line = n
			if isParserFault(msg) {
				line++
			}
		}
	}
	off := c.offset(line, 1)
	for end := c.base + len(c.text); off < end && (m.src[off] == ' ' || m.src[off] == '\t'); {
		off++
	}
	if strings.HasPrefix(msg, "exceeded max depth") {
		return &errors.LimitError{Limit: "depth", Max: MaxDepth, Position: m.at(off)}
	}
	if g := unknownAnchor.FindStringSubmatch(msg); g != nil {
		msg = "unknown anchor " + excerpt(g[1])
		off = c.base + findAlias(c.text, g[1])
	}
	s := m.syntaxError(off, msg)
	s.Err = err
	return s
}

// isParserFault reports whether yaml.v3's parser, not its scanner, says msg.
func isParserFault(msg string) bool {
	msg, _, _ = strings.Cut(msg, ";")
	switch msg {
	case "found undefined tag handle", "found duplicate %YAML directive",
		"found incompatible YAML document", "found duplicate %TAG directive",
		"did not find expected <stream-start>", "did not find expected <document start>",
		"did not find expected node content", "did not find expected '-' indicator",
		"did not find expected key", "did not find expected ',' or ']'",
		"did not find expected ',' or '}'":
		return true
	}
	return false
}

// findAlias returns the offset of the first thing in text that looks like an
// alias of that name, rather outside than inside of what looks like a comment:
// yaml.v3 does not tell where it found one.
func findAlias(text []byte, name string) int {
	inComment := 0
	comment, seen := false, 0 // whether text[seen-1] seems to be in a comment
	for from := 0; from < len(text); {
		i := bytes.Index(text[from:], []byte("*"+name))
		if i < 0 {
			break
		}
		i += from
		from = i + 1 + len(name)
		for ; seen < i; seen++ {
			switch text[seen] {
			case '\r', '\n':
				comment = false
			case '#':
				comment = comment || seen == 0 || isDelimiter(text[seen-1])
			}
		}
		if i > 0 && !isDelimiter(text[i-1]) || from < len(text) && !isDelimiter(text[from]) && text[from] != ':' {
			continue
		}
		if !comment {
			return i
		}
		inComment = i
	}
	return inComment
}

// maxExcerpt bounds the text of a document that goes into a message.
const maxExcerpt = 64

// excerpt quotes text of the document for a message.
func excerpt(s string) string {
	if len(s) > maxExcerpt {
		cut := maxExcerpt
		for !utf8.RuneStart(s[cut]) {
			cut--
		}
		return strconv.QuoteToGraphic(s[:cut]) + "..."
	}
	return strconv.QuoteToGraphic(s)
}
