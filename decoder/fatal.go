package decoder

// This file explains fatal errors. The machines say only where they stopped; the
// path to that place and the reason are found by reading the document once more,
// up to there.

import (
	"bytes"
	"io"
	"strconv"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/steps"
)

// fatal returns the error for how a walk over src ended.
func (d *Decoder) fatal(src []byte, st status) error {
	w := &d.walker
	at := min(w.pos, len(src))
	r := reader{b: src, steps: make([]step, 0, w.sp+w.depth+1)} // as deep as the walk was
	d.startLines(true)                                          // what ends in a string may end in a character
	if st == overflow {
		r.read(at)
		return &errors.LimitError{Limit: w.overflew, Max: int64(w.limits.of(w.overflew)), Position: d.position(at), Path: r.path()}
	}
	if w.outOfRange {
		r.read(at)
		return &errors.SyntaxError{Msg: outOfRange(src, at), Position: d.position(at), Path: r.path()}
	}
	msg := r.read(len(src) + 1)
	e := &errors.SyntaxError{Msg: msg, Position: d.position(r.at), Path: r.path()}
	if r.at >= len(src) {
		e.Err = io.ErrUnexpectedEOF
	}
	return e
}

// A reader reads JSON slowly, to say where it is.
type reader struct {
	b     []byte
	at    int
	steps []step
}

// newReader returns a reader at an index in a container of the kind, of which it knows
// no more.
func newReader(b []byte, at int, kind uint8) reader {
	r := reader{b: b, at: at}
	switch kind {
	case inObject:
		r.steps = []step{{index: -1}}
	case inArray:
		r.steps = []step{{}}
	}
	return r
}

// A step is a container that is open.
type step struct {
	name  int // where the name of the member that is read starts, or -1; 0 in an array
	index int // of the element that is read, or -1 in an object
}

// An expectation is what may come next.
type expectation uint8

const (
	aValue expectation = iota
	aFirstElement
	aName
	aFirstName
	aColon
	aComma
	anObject // in the grammar of lists only
	anArray
)

// read reads up to the first fault, and returns what it is, or up to until.
func (r *reader) read(until int) (fault string) {
	expect := aValue
	for fault == "" {
		r.at = jsonwire.Blanks(r.b, r.at)
		if r.at >= until {
			return ""
		}
		expect, fault = r.token(expect)
	}
	return fault
}

// skipValue passes the value at r.at, which is valid, and returns the index
// behind it.
func (r *reader) skipValue() int {
	for expect := aValue; ; {
		r.at = jsonwire.Blanks(r.b, r.at)
		if expect, _ = r.token(expect); len(r.steps) == 0 {
			return r.at
		}
	}
}

// token reads one token and says what may follow it.
func (r *reader) token(expect expectation) (next expectation, fault string) {
	steps.Add(1)
	c := jsonwire.At(r.b, r.at)
	in := len(r.steps) - 1
	isObject := in >= 0 && r.steps[in].index < 0
	switch {
	case r.at >= len(r.b):
		return 0, "unexpected end of input, where " + r.expected(expect) + " is expected"
	case expect == aComma && in < 0:
		return 0, "something follows the document: " + excerpt(r.b[r.at:])
	case expect == aComma && c == ',' && isObject:
		r.at++
		r.steps[in].name = -1
		return aName, ""
	case expect == aComma && c == ',':
		r.at++
		r.steps[in].index++
		return aValue, ""
	case isObject && c == '}' && (expect == aComma || expect == aFirstName),
		!isObject && c == ']' && (expect == aComma || expect == aFirstElement):
		r.at++
		r.steps = r.steps[:in]
		return aComma, ""
	case (expect == aName || expect == aFirstName) && c == '"':
		r.steps[in].name = r.at
		return aColon, r.string()
	case expect == aColon && c == ':':
		r.at++
		return aValue, ""
	case expect == aValue || expect == aFirstElement:
		return r.value(c, expect)
	}
	return 0, r.unexpected(expect)
}

// value reads a value, or the start of one.
func (r *reader) value(c byte, expect expectation) (next expectation, fault string) {
	switch c {
	case '{':
		r.at++
		r.steps = append(r.steps, step{name: -1, index: -1})
		return aFirstName, ""
	case '[':
		r.at++
		r.steps = append(r.steps, step{})
		return aFirstElement, ""
	case '"':
		return aComma, r.string()
	case 't':
		return aComma, r.literal("true")
	case 'f':
		return aComma, r.literal("false")
	case 'n':
		return aComma, r.literal("null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		end, _, whole, _ := jsonwire.ScanNumber(r.b, r.at)
		r.at = end
		switch {
		case whole:
			return aComma, ""
		case end >= len(r.b):
			return aComma, "unexpected end of input within a number"
		}
		return aComma, "invalid character " + character(r.b[end:]) + " in a number, where a digit is expected"
	}
	return 0, r.unexpected(expect)
}

func (r *reader) literal(lit string) (fault string) {
	end, s := jsonwire.ScanLiteral(r.b, r.at, lit)
	r.at = end
	switch s {
	case jsonwire.Cut:
		return "unexpected end of input within the literal " + lit
	case jsonwire.Bad:
		return "invalid character " + character(r.b[end:]) + " in the literal " + lit
	}
	return ""
}

func (r *reader) string() (fault string) {
	end, _, s := jsonwire.ScanString(r.b, r.at+1)
	r.at = end
	if s == jsonwire.OK {
		r.at++
		return ""
	}
	rest := r.b[end:]
	switch c := jsonwire.At(r.b, end); {
	case s == jsonwire.Cut:
		r.at = len(r.b)
		return "unexpected end of input within a string"
	case c == '\\' && rest[1] != 'u':
		return "invalid escape " + excerpt(rest[:2]) + " in a string"
	case c == '\\':
		return "invalid escape " + excerpt(rest[:min(6, len(rest))]) + " in a string: four hexadecimal digits that are not half of a surrogate pair are expected"
	case c >= utf8.RuneSelf:
		return "invalid UTF-8 in a string: " + excerpt(rest[:1])
	}
	return "control character " + character(rest) + " in a string, where it must be escaped"
}

// byteOrderMark is what some programs write in front of what they write.
const byteOrderMark = "\ufeff"

func (r *reader) unexpected(expect expectation) string {
	if len(r.steps) == 0 && r.at == 0 && bytes.HasPrefix(r.b, []byte(byteOrderMark)) {
		return "byte order mark, which JSON must not start with"
	}
	return "invalid character " + character(r.b[r.at:]) + ", where " + r.expected(expect) + " is expected"
}

func (r *reader) expected(expect expectation) string {
	switch expect {
	case aFirstElement:
		return "a value or ']'"
	case aName:
		return "a name in double quotes"
	case aFirstName:
		return "a name in double quotes or '}'"
	case anObject:
		return "an object"
	case anArray:
		return "an array or null"
	case aColon:
		return "':'"
	case aComma:
		if r.steps[len(r.steps)-1].index < 0 {
			return "',' or '}'"
		}
		return "',' or ']'"
	}
	return "a value"
}

// path returns the way to what is read.
func (r *reader) path() errors.Path {
	depth := len(r.steps)
	if depth > 0 && r.steps[depth-1].name < 0 {
		depth-- // no member yet
	}
	return errors.PathOf(fieldpath.Encode(depth, func(i int) ([]byte, int) {
		if s := r.steps[i]; s.index >= 0 {
			return nil, s.index
		}
		from := r.steps[i].name + 1
		end, _, _ := jsonwire.ScanString(r.b, from)
		return jsonwire.AppendUnescaped(make([]byte, 0, end-from), r.b[from:end]), 0
	}))
}

// excerpt returns the start of b, up to what a message can bear, quoted.
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
