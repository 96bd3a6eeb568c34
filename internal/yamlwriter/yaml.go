// Package yamlwriter writes JSON as YAML that every reader reads the same: those of
// YAML 1.1, those of 1.2, and those that follow neither.
package yamlwriter

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// escapeUnsafe escapes characters that yaml.v3 takes for printable and that are not safe. They
// occur only in strings in double quotes: see yamlString.
func escapeUnsafe(text []byte) []byte {
	if !bytes.ContainsFunc(text, func(r rune) bool { return r != '\n' && !isVisible(r) }) {
		return text
	}
	var b bytes.Buffer
	for _, r := range string(text) {
		switch {
		case r == '\n' || isVisible(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08x`, r)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.Bytes()
}

// isVisible reports whether a character is written as itself: a tab, or what is safe in a line.
func isVisible(r rune) bool { return r == '\t' || fieldpath.IsGraphic(r) }

// blockDepth is the depth from which YAML is written in flow style. The indentation of deeper
// values would be longer than the document.
const blockDepth = 64

// Document returns a JSON text as a YAML document. Members keep their order.
func Document(js []byte) ([]byte, error) {
	node, err := yamlNode(jsonv2.NewDecoder(bytes.NewReader(js)), 0)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(node); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return escapeUnsafe(b.Bytes()), nil
}

func yamlNode(dec *jsonv2.Decoder, depth int) (*yaml.Node, error) {
	t, err := dec.ReadToken()
	if err != nil {
		return nil, err
	}
	switch t.Kind() {
	case '{', '[':
		n := &yaml.Node{Kind: yaml.MappingNode}
		if t.Kind() == '[' {
			n.Kind = yaml.SequenceNode
		}
		if depth >= blockDepth {
			n.Style = yaml.FlowStyle
		}
		for k := dec.PeekKind(); k != '}' && k != ']'; k = dec.PeekKind() {
			child, err := yamlNode(dec, depth+1)
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, child)
		}
		_, err := dec.ReadToken()
		return n, err
	case '"':
		return yamlString(t.String(), depth > blockDepth), nil
	default:
		return &yaml.Node{Kind: yaml.ScalarNode, Value: yamlNumber(t.String())}, nil
	}
}

// yamlNumber returns a number of JSON, or a literal, as all readers of YAML read it. In YAML
// 1.1 a number with an exponent needs a point, and a sign in the exponent.
func yamlNumber(s string) string {
	mantissa, exponent, ok := strings.Cut(strings.ToLower(s), "e")
	if c := s[len(s)-1]; !ok || c < '0' || c > '9' {
		return s
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}

// yamlString returns a string in the style in which every reader reads it as the same string:
// those of YAML 1.1, those of 1.2, and those that follow neither.
func yamlString(s string, inFlow bool) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	switch {
	case inFlow:
		n.Style = yaml.DoubleQuotedStyle
	case isBlockText(s):
		n.Style = yaml.LiteralStyle
	case !isPlainText(s):
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// otherWords are words that some reader takes for a boolean, a null or a number (yaml.org/type,
// YAML 1.2.2 section 10.3). One of them is e5, which has no digits before the exponent.
var otherWords = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nil|nan|inf|infinity|e[-+]?[0-9]+)$`)

// quantity matches texts that start with a digit and that nobody takes for a number: of bytes,
// of CPU, of time.
var quantity = regexp.MustCompile(`^[0-9]+([KMGTPE]i|m|s|h)$`)

// isPlainText reports whether a string is written without quotes. Readers differ in the texts
// that they take for numbers, times or symbols, and change with their versions. So everything
// is quoted that does not look like a word, a path or a sentence.
func isPlainText(s string) bool {
	if quantity.MatchString(s) {
		return true
	}
	if first, _ := utf8.DecodeRuneInString(s); !isLetter(first) && first != '/' || otherWords.MatchString(s) {
		return false
	}
	last := rune(0)
	for _, r := range s {
		switch {
		case last == ':' && r == ' ', unicode.IsControl(r):
			return false
		case isLetter(r), '0' <= r && r <= '9', r >= 0x80 && unicode.Is(unicode.M, r):
		case !strings.ContainsRune(" _-./@+=~()'!?&*%^$;:,", r):
			return false
		}
		last = r
	}
	return last != ' ' && last != ':'
}

func isLetter(r rune) bool { return unicode.IsLetter(r) && r != utf8.RuneError }

// isBlockText reports whether a text has several lines and is read back unchanged from a
// literal block.
func isBlockText(s string) bool {
	for line := range strings.SplitSeq(strings.TrimSuffix(s, "\n"), "\n") {
		if strings.TrimRight(line, " \t") != line || strings.ContainsFunc(line, func(r rune) bool { return !isVisible(r) }) {
			return false
		}
	}
	return strings.Contains(s, "\n") && !strings.HasPrefix(s, " ") && !strings.HasPrefix(s, "\t") && !strings.HasPrefix(s, "\n")
}
