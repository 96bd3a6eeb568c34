package sample

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
)

// YAML returns a JSON value as YAML, in block style. Members keep their order, and names that
// repeat stay. All strings, and all numbers that a float64 can hold, are the same to readers of
// YAML 1.1, to those of YAML 1.2, and to those of the JSON.
func YAML(object []byte) ([]byte, error) {
	v, err := parseWhole(object)
	if err != nil {
		return nil, err
	}
	var w yamlWriter
	w.document(v, nil)
	return w.text, nil
}

// parseWhole is parse for a text with nothing after the value.
func parseWhole(object []byte) (*value, error) {
	d := jsonv2.NewDecoder(bytes.NewReader(object), jsonv2.AllowDuplicateNames(true))
	v, err := read(d)
	if err != nil {
		return nil, err
	}
	if _, err := d.ReadToken(); err != io.EOF {
		return nil, errors.New("sample: there is something after the JSON value")
	}
	return v, nil
}

// A yamlWriter writes a value as YAML, with a comment before each member whose schema has one.
type yamlWriter struct {
	text []byte
	// begun is set after the dash of an element, where the first line of its value goes on.
	begun bool
}

const (
	indentation = 2 // of each level
	// blockDepth is the depth from which values are in flow style. The indentation of deeper ones
	// would be longer than the values.
	blockDepth = 64
	// maxSimpleKey is less than the 1024 characters that a key may have without a question mark
	// (YAML 1.2.2, section 7.4.2), even if all are escaped.
	maxSimpleKey = 100
)

func (w *yamlWriter) document(v *value, s *schema.Structural) {
	w.comment(s, false, 0)
	if isBlock(v, 0) {
		w.block(v, s, 0)
	} else {
		w.text = append(appendFlow(w.text, v), '\n')
	}
}

func isBlock(v *value, indent int) bool {
	return len(v.members) > 0 && indent < blockDepth*indentation
}

// line begins a line.
func (w *yamlWriter) line(indent int) {
	if !w.begun {
		w.text = append(w.text, strings.Repeat(" ", indent)...)
	}
	w.begun = false
}

// block writes the members of an object or an array, each on lines of its own.
func (w *yamlWriter) block(v *value, s *schema.Structural, indent int) {
	commented := false
	for _, m := range v.members {
		below, isDeclared := schemaOfMember(s, v, m.name)
		if isDeclared {
			w.comment(below, isRequired(s, m.name), indent)
		} else if !commented { // the first of the elements, or of the names that a map has
			w.comment(below, false, indent)
			commented = true
		}
		w.line(indent)
		if v.kind == '[' {
			w.text = append(w.text, '-')
		} else {
			w.key(m.name, indent)
		}
		switch {
		case !isBlock(m.value, indent+indentation):
			w.text = append(appendFlow(append(w.text, ' '), m.value), '\n')
			continue
		case v.kind == '[':
			w.text = append(w.text, ' ')
			w.begun = true
		default:
			w.text = append(w.text, '\n')
		}
		w.block(m.value, below, indent+indentation)
	}
}

// key writes a name and its colon.
func (w *yamlWriter) key(name string, indent int) {
	if len(name) > maxSimpleKey {
		w.text = append(appendString(append(w.text, "? "...), name), '\n')
		w.line(indent)
	} else {
		w.text = appendString(w.text, name)
	}
	w.text = append(w.text, ':')
}

// appendFlow appends a value in flow style, on one line.
func appendFlow(b []byte, v *value) []byte {
	switch v.kind {
	case '"':
		return appendString(b, v.text)
	case '0':
		return append(b, yamlNumber(v.text)...)
	case '{', '[':
	default:
		return v.append(b)
	}
	b = append(b, byte(v.kind))
	for i, m := range v.members {
		if i > 0 {
			b = append(b, ", "...)
		}
		if v.kind == '{' {
			if len(m.name) > maxSimpleKey {
				b = append(b, "? "...)
			}
			b = append(appendString(b, m.name), ": "...)
		}
		b = appendFlow(b, m.value)
	}
	return append(b, byte(v.kind)+2) // the closing one follows the opening one after one other
}

// yamlNumber returns a number as all readers of YAML read it. In YAML 1.1, one with an exponent
// needs a point, and a sign in the exponent (yaml.org/type/float.html).
func yamlNumber(text string) string {
	mantissa, exponent, hasExponent := strings.Cut(strings.ToLower(text), "e")
	if !hasExponent {
		return text
	}
	if !strings.Contains(mantissa, ".") {
		mantissa += ".0"
	}
	if exponent[0] != '-' && exponent[0] != '+' {
		exponent = "+" + exponent
	}
	return mantissa + "e" + exponent
}

var (
	// plainText matches words, names and paths.
	plainText = regexp.MustCompile(`^[A-Za-z/]([A-Za-z0-9 ./_-]*[A-Za-z0-9./_-])?$`)
	// quantity matches numbers with units of bytes, of CPU and of time, which nobody takes for numbers.
	quantity = regexp.MustCompile(`^[0-9]+([KMGTPE]i|m|s|h)$`)
	// otherWord matches what some reader takes for a boolean, a null or a number (yaml.org/type,
	// YAML 1.2.2 section 10.3). One of them is e5, which has no digits before the exponent.
	otherWord = regexp.MustCompile(`(?i)^(y|n|yes|no|on|off|true|false|null|nil|nan|inf|infinity|e[-+]?[0-9]+)$`)
)

// appendString appends a string, without quotes where no reader can take it for something else.
// The escapes of Go that AppendQuoted uses are escapes of YAML, too.
func appendString(b []byte, s string) []byte {
	if plainText.MatchString(s) && !otherWord.MatchString(s) || quantity.MatchString(s) {
		return append(b, s...)
	}
	return fieldpath.AppendQuoted(b, s)
}
