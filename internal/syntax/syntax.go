// Package syntax explains why a text is no JSON (RFC 8259), and where.
//
// The machines of packages skip and walk say only where they stopped. The
// reason and the path to that place are found by reading the text once more, up
// to there, one token at a time. That is slow, and happens once for a document
// that is refused.
package syntax

import (
	"bytes"
	"strconv"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A Scanner reads JSON one token at a time, and knows the path to where it is. It
// keeps a reference to the text.
type Scanner struct {
	text  []byte
	At    int // the index of the next byte
	steps []step
}

// New returns a Scanner of a text that starts at b[at], with room for the path to
// a value at the given depth.
func New(b []byte, at, depth int) Scanner {
	return Scanner{text: b, At: at, steps: make([]step, 0, depth)}
}

// A Container is the kind of the innermost container around an index.
type Container uint8

// The kinds of container.
const (
	Root Container = iota // none: the index is in the document itself
	Object
	Array
)

// Within returns a Scanner at an index in a container of the kind. It knows
// nothing else of what is before the index: its path starts there.
func Within(c Container, b []byte, at int) Scanner {
	r := Scanner{text: b, At: at}
	switch c {
	case Object:
		r.steps = []step{{index: -1}}
	case Array:
		r.steps = []step{{}}
	}
	return r
}

// Resume explains the fault at an index of a text whose start may be gone: there,
// the grammar expects what expect says, in a container of the kind. The returned
// Scanner is at the fault.
func Resume(c Container, expect Expectation, b []byte, at int) (s Scanner, fault string) {
	s = Within(c, b, at)
	switch expect {
	case InString:
		s.At--
		fault = s.scanString()
		return s, fault
	case Value, FirstElement:
		for s.At > 0 && isTokenByte(b[s.At-1]) {
			s.At-- // to the start of the number or literal
		}
	}
	_, fault = s.Token(expect)
	return s, fault
}

// isTokenByte reports whether numbers and literals are made of this byte.
func isTokenByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// A step is an open container.
type step struct {
	name  int // where the name of the current member starts, or -1 before it; 0 in an array
	index int // of the current element, or -1 in an object
}

// An Expectation says which tokens may come next.
type Expectation uint8

// The expectations of the grammar. Only the reader of lists expects AnObject and
// AnArray.
const (
	Value        Expectation = iota
	FirstElement             // a value, or the end of the array
	Name
	FirstName // a name, or the end of the object
	Colon
	Comma // a comma, the end of the container, or that of the document
	AnObject
	AnArray
	InString // the rest of a string
)

// Scan reads up to the index until. It stops at the first fault, and returns its
// description.
func (s *Scanner) Scan(until int) (fault string) {
	expect := Value
	for fault == "" {
		s.At = jsonwire.Blanks(s.text, s.At)
		if s.At >= until {
			return ""
		}
		expect, fault = s.Token(expect)
	}
	return fault
}

// SkipValue passes the value at s.At, which must be valid, and returns the index
// after it.
func (s *Scanner) SkipValue() int {
	for expect := Value; ; {
		s.At = jsonwire.Blanks(s.text, s.At)
		if expect, _ = s.Token(expect); len(s.steps) == 0 {
			return s.At
		}
	}
}

// Token reads one token, and returns what may follow it or a description of its
// fault.
func (s *Scanner) Token(expect Expectation) (next Expectation, fault string) {
	steps.Add(1)
	c := jsonwire.At(s.text, s.At)
	in := len(s.steps) - 1
	isObject := in >= 0 && s.steps[in].index < 0
	switch {
	case s.At >= len(s.text):
		return 0, "unexpected end of input, where " + s.expected(expect) + " is expected"
	case expect == Comma && in < 0:
		return 0, "something follows the document: " + excerpt(s.text[s.At:])
	case expect == Comma && c == ',' && isObject:
		s.At++
		s.steps[in].name = -1
		return Name, ""
	case expect == Comma && c == ',':
		s.At++
		s.steps[in].index++
		return Value, ""
	case isObject && c == '}' && (expect == Comma || expect == FirstName),
		!isObject && c == ']' && (expect == Comma || expect == FirstElement):
		s.At++
		s.steps = s.steps[:in]
		return Comma, ""
	case (expect == Name || expect == FirstName) && c == '"':
		s.steps[in].name = s.At
		return Colon, s.scanString()
	case expect == Colon && c == ':':
		s.At++
		return Value, ""
	case expect == Value || expect == FirstElement:
		return s.value(c, expect)
	}
	return 0, s.unexpected(expect)
}

// value reads a value, or the start of one.
func (s *Scanner) value(c byte, expect Expectation) (next Expectation, fault string) {
	switch c {
	case '{':
		s.At++
		s.steps = append(s.steps, step{name: -1, index: -1})
		return FirstName, ""
	case '[':
		s.At++
		s.steps = append(s.steps, step{})
		return FirstElement, ""
	case '"':
		return Comma, s.scanString()
	case 't':
		return Comma, s.literal("true")
	case 'f':
		return Comma, s.literal("false")
	case 'n':
		return Comma, s.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, _, whole, _ := jsonwire.ScanNumber(s.text, s.At)
		s.At = end
		switch {
		case whole:
			return Comma, ""
		case end >= len(s.text):
			return Comma, "unexpected end of input within a number"
		}
		return Comma, "invalid character " + character(s.text[end:]) +
			" in a number, where a digit is expected"
	}
	return 0, s.unexpected(expect)
}

func (s *Scanner) literal(lit string) (fault string) {
	end, status := jsonwire.ScanLiteral(s.text, s.At, lit)
	s.At = end
	switch status {
	case jsonwire.Cut:
		return "unexpected end of input within the literal " + lit
	case jsonwire.Bad:
		return "invalid character " + character(s.text[end:]) + " in the literal " + lit
	}
	return ""
}

// scanString passes the string at s.At, or returns a description of its fault.
func (s *Scanner) scanString() (fault string) {
	end, _, status := jsonwire.ScanString(s.text, s.At+1)
	s.At = end
	if status == jsonwire.OK {
		s.At++
		return ""
	}
	rest := s.text[end:]
	switch c := jsonwire.At(s.text, end); {
	case status == jsonwire.Cut:
		s.At = len(s.text)
		return "unexpected end of input within a string"
	case c == '\\' && rest[1] != 'u':
		return "invalid escape " + excerpt(rest[:2]) + " in a string"
	case c == '\\':
		return "invalid escape " + excerpt(rest[:min(6, len(rest))]) +
			" in a string: four hexadecimal digits that are not half of a surrogate pair are expected"
	case c >= utf8.RuneSelf:
		return "invalid UTF-8 in a string: " + excerpt(rest[:1])
	}
	return "control character " + character(rest) + " in a string, where it must be escaped"
}

// ByteOrderMark is U+FEFF, which some programs write before a text. JSON must not
// start with it (RFC 8259 section 8.1).
const ByteOrderMark = "\ufeff"

func (s *Scanner) unexpected(expect Expectation) string {
	if len(s.steps) == 0 && s.At == 0 && bytes.HasPrefix(s.text, []byte(ByteOrderMark)) {
		return "byte order mark, which JSON must not start with"
	}
	return "invalid character " + character(s.text[s.At:]) + ", where " +
		s.expected(expect) + " is expected"
}

func (s *Scanner) expected(expect Expectation) string {
	switch expect {
	case FirstElement:
		return "a value or ']'"
	case Name:
		return "a name in double quotes"
	case FirstName:
		return "a name in double quotes or '}'"
	case AnObject:
		return "an object"
	case AnArray:
		return "an array or null"
	case Colon:
		return "':'"
	case Comma:
		if s.steps[len(s.steps)-1].index < 0 {
			return "',' or '}'"
		}
		return "',' or ']'"
	}
	return "a value"
}

// Path returns the path to the current value.
func (s *Scanner) Path() errors.Path {
	depth := len(s.steps)
	if depth > 0 && s.steps[depth-1].name < 0 {
		depth-- // no member yet
	}
	return errors.PathOf(fieldpath.Encode(depth, func(i int) ([]byte, int) {
		step := s.steps[i]
		if step.index >= 0 {
			return nil, step.index
		}
		from := step.name + 1
		end, _, _ := jsonwire.ScanString(s.text, from)
		return jsonwire.AppendUnescaped(make([]byte, 0, end-from), s.text[from:end]), 0
	}))
}

// OutOfRange describes the number at an index, which float64 does not have.
func OutOfRange(b []byte, at int) string {
	end, _, _, _ := jsonwire.ScanNumber(b, at)
	return "number " + excerpt(b[at:end]) + " is beyond the range of float64"
}

// excerpt returns the start of b, quoted, short enough for a message.
func excerpt(b []byte) string {
	const most = 32
	if len(b) > most {
		return fieldpath.Quoted(string(b[:most])) + "..."
	}
	return fieldpath.Quoted(string(b))
}

// character returns the first character of b, quoted.
func character(b []byte) string {
	r, n := utf8.DecodeRune(b)
	if r == utf8.RuneError && n <= 1 {
		return excerpt(b[:min(1, len(b))])
	}
	return strconv.QuoteRune(r)
}
