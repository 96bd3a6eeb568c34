package yamlbridge

import (
	"bytes"
	"encoding/base64"
	stderrors "errors"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
)

// This file finds the values of scalars.

// A value is the value of a scalar.
type value struct {
	kind kind
	b    bool
	i    int64
	u    uint64 // of a bigValue
	f    float64
	text []byte // of a stringValue or bytesValue; valid as long as its source
}

type kind uint8

const (
	nullValue kind = iota
	boolValue
	intValue
	bigValue // an integer beyond int64 that fits uint64
	floatValue
	stringValue
	bytesValue // the bytes of !!binary that are not UTF-8
)

func (k kind) tag() string {
	return [...]string{"!!null", "!!bool", "!!int", "!!int", "!!float", "!!str", "!!binary"}[k]
}

// A nodeError is a fault of a scalar, without a place.
type nodeError string

func (e nodeError) Error() string { return string(e) }

// locate adds the place to an error of a scalar.
func (r *Reader) locate(err error, off int) error {
	if l, ok := err.(*errors.LimitError); ok {
		return r.limit(l.Limit, l.Max, off)
	}
	return r.fail(off, err.Error())
}

// tagged returns the value of a scalar that may have a tag. plain says that it has neither quotes
// nor bars.
func (r *Reader) tagged(text []byte, plain bool) (value, error) {
	switch kind := r.props.kind; {
	case kind == noTag:
		if plain {
			return r.resolve(text)
		}
		return value{kind: stringValue, text: text}, nil
	case kind == strTag, kind == nonSpecificTag:
		return value{kind: stringValue, text: text}, nil
	case kind >= timestampTag && r.Dialect == Core:
		// The tag is not in the core schema.
		return value{kind: stringValue, text: text}, nil
	case kind == binaryTag:
		return r.binary(text)
	case kind == timestampTag:
		if !isTimestamp(text) {
			return value{}, nodeError("cannot decode " + excerpt(string(text)) + " as !!timestamp")
		}
		return value{kind: stringValue, text: text}, nil
	case kind >= mergeTag && r.server:
		return value{kind: stringValue, text: text}, nil
	case kind >= mergeTag:
		return value{}, nodeError("unknown tag " + r.tagText())
	}
	// A tag asks for the value that the text would have without quotes: !!int '5' is 5.
	v, err := r.resolve(text)
	if err != nil {
		return v, err
	}
	want := [...]string{
		intTag: "!!int", floatTag: "!!float", boolTag: "!!bool", nullTag: "!!null",
	}[r.props.kind]
	have := v.kind.tag()
	switch {
	case have == want && !(v.kind == stringValue):
		return v, nil
	case want == "!!float" && v.kind == intValue:
		return value{kind: floatValue, f: float64(v.i)}, nil
	}
	return value{}, nodeError(fmt.Sprintf("cannot decode %s %s as %s", have, excerpt(string(text)), want))
}

func (r *Reader) binary(text []byte) (value, error) {
	r.chargeLoose(2 * len(text)) // as a string, and decoded
	data, err := base64.StdEncoding.DecodeString(string(text))
	if err != nil {
		return value{}, nodeError("!!binary value contains invalid base64 data")
	}
	if !utf8.Valid(data) {
		if !r.server {
			return value{}, nodeError("!!binary value is not UTF-8")
		}
		return value{kind: bytesValue, text: data}, nil
	}
	return value{kind: stringValue, text: data}, nil
}

// resolve returns the value of a plain scalar. It takes time linear in the length of the text.
func (r *Reader) resolve(text []byte) (value, error) {
	str := value{kind: stringValue, text: text}
	if len(text) == 0 {
		return value{}, nil
	}
	switch c := text[0]; {
	case !is(c, startsNonString):
		return str, nil
	case c > '9': // a letter, or ~ or <
		if len(text) > len("false") {
			return str, nil
		}
		if v, ok := resolveWord(text, r.Dialect); ok {
			return v, nil
		}
		return str, nil
	case !looksNumeric(text):
		if v, ok := resolveFloatWord(text); ok {
			return v, nil
		}
		return str, nil
	}
	var (
		v   value
		ok  bool
		buf [64]byte
	)
	number := text
	if r.Dialect == Core {
		v, ok = resolveCoreInteger(text)
	} else {
		number = withoutUnderscores(buf[:0], text)
		v, ok = resolveInteger(number)
	}
	if !ok && !isFloat(number) {
		return str, nil
	}
	if len(text) > MaxNumberBytes && !r.server {
		return value{}, &errors.LimitError{Limit: errors.LimitNumberBytes, Max: MaxNumberBytes}
	}
	if ok {
		return v, nil
	}
	if text[0] == '.' {
		// Where an underscore may be, the server leaves the number to strconv.
		number = text
	}
	f, err := strconv.ParseFloat(string(number), 64)
	switch {
	case err == nil:
		return value{kind: floatValue, f: f}, nil
	case r.server, stderrors.Is(err, strconv.ErrSyntax):
		return str, nil
	}
	// The API server takes it for a string. Its author did not mean one.
	return value{}, nodeError("number " + excerpt(string(text)) + " is beyond a float64")
}

// resolveWord returns the values of words with a fixed meaning, in exactly these spellings.
func resolveWord(text []byte, d Dialect) (v value, ok bool) {
	switch string(text) {
	case "true", "True", "TRUE":
		return value{kind: boolValue, b: true}, true
	case "false", "False", "FALSE":
		return value{kind: boolValue}, true
	case "~", "null", "Null", "NULL":
		return value{}, true
	}
	if d == Core {
		return value{}, false
	}
	switch string(text) {
	case "y", "Y", "yes", "Yes", "YES", "on", "On", "ON":
		return value{kind: boolValue, b: true}, true
	case "n", "N", "no", "No", "NO", "off", "Off", "OFF":
		return value{kind: boolValue}, true
	}
	return value{}, false
}

func resolveFloatWord(text []byte) (v value, ok bool) {
	switch string(text) {
	case ".nan", ".NaN", ".NAN":
		return value{kind: floatValue, f: math.NaN()}, true
	case ".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF":
		return value{kind: floatValue, f: math.Inf(+1)}, true
	case "-.inf", "-.Inf", "-.INF":
		return value{kind: floatValue, f: math.Inf(-1)}, true
	}
	return value{}, false
}

// looksNumeric reports whether s has only characters of numbers.
func looksNumeric(s []byte) bool {
	for _, c := range s {
		switch {
		case '0' <= c && c <= '9', c == '+', c == '-', c == '.', c == '_':
		case 'a' <= c|0x20 && c|0x20 <= 'f', c|0x20 == 'x', c|0x20 == 'o':
		default:
			return false
		}
	}
	return true
}

// digits reads text as digits in a base.
func digits(text []byte, base uint64) (n uint64, overflow, ok bool) {
	for _, c := range text {
		var d uint64
		switch {
		case '0' <= c && c <= '9':
			d = uint64(c - '0')
		case 'a' <= c|0x20 && c|0x20 <= 'f':
			d = uint64(c|0x20-'a') + 10
		default:
			return 0, false, false
		}
		if d >= base {
			return 0, false, false
		}
		if n > (math.MaxUint64-d)/base {
			overflow = true
			continue
		}
		n = n*base + d
	}
	return n, overflow, len(text) > 0
}

// withoutUnderscores returns text without underscores, in buf if it has any.
func withoutUnderscores(buf, text []byte) []byte {
	if bytes.IndexByte(text, '_') < 0 {
		return text
	}
	for _, c := range text {
		if c != '_' {
			buf = append(buf, c)
		}
	}
	return buf
}

// resolveInteger reads text, which has no underscores, as an integer of the Kubernetes dialect:
// strconv.ParseInt with base 0.
func resolveInteger(text []byte) (value, bool) {
	rest := text
	var sign byte
	takeSign := func() {
		if len(rest) > 0 && (rest[0] == '-' || rest[0] == '+') {
			sign, rest = rest[0], rest[1:]
		}
	}
	takeSign()
	base := uint64(10)
	if len(rest) > 1 && rest[0] == '0' {
		base, rest = 8, rest[1:]
		switch rest[0] | 0x20 {
		case 'x':
			base, rest = 16, rest[1:]
		case 'o':
			rest = rest[1:]
		case 'b':
			upper := rest[0] == 'B'
			base, rest = 2, rest[1:]
			if sign == 0 && !upper {
				takeSign() // the server accepts a sign after 0b as well
			}
		}
	}
	return integer(rest, base, sign)
}

func integer(text []byte, base uint64, sign byte) (value, bool) {
	n, overflow, ok := digits(text, base)
	switch {
	case !ok || overflow:
	case sign == '-' && n <= 1<<63:
		return value{kind: intValue, i: -int64(n)}, true
	case sign != '-' && n <= math.MaxInt64:
		return value{kind: intValue, i: int64(n)}, true
	case sign == 0:
		return value{kind: bigValue, u: n}, true
	}
	return value{}, false
}

// resolveCoreInteger reads text as [-+]?[0-9]+, 0o[0-7]+ or 0x[0-9a-fA-F]+ (YAML
// 1.2 section 10.3.2).
func resolveCoreInteger(text []byte) (value, bool) {
	if len(text) > 1 && text[0] == '0' {
		switch text[1] {
		case 'o':
			return integer(text[2:], 8, 0)
		case 'x':
			return integer(text[2:], 16, 0)
		}
	}
	if c := text[0]; c == '-' || c == '+' {
		return integer(text[1:], 10, c)
	}
	return integer(text, 10, 0)
}

// isFloat reports whether s is [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
func isFloat(s []byte) bool {
	digits := func() (n int) {
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n
	}
	sign := func() {
		if len(s) > 0 && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
	}
	sign()
	whole := digits()
	if len(s) > 0 && s[0] == '.' {
		s = s[1:]
		if fraction := digits(); whole == 0 && fraction == 0 {
			return false
		}
	} else if whole == 0 {
		return false
	}
	if len(s) == 0 {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	sign()
	return digits() > 0 && len(s) == 0
}

// isTimestamp reports whether the API server takes s for a point in time. That is visible only
// under a tag, because the value is the text in any case.
func isTimestamp(s []byte) bool {
	if len(s) < len("2006-1-2") || s[4] != '-' {
		return false
	}
	for _, layout := range []string{
		"2006-1-2T15:4:5.999999999Z07:00",
		"2006-1-2t15:4:5.999999999Z07:00",
		"2006-1-2 15:4:5.999999999",
		"2006-1-2",
	} {
		if _, err := time.Parse(layout, string(s)); err == nil {
			return true
		}
	}
	return false
}

// appendJSON appends v as a JSON value. Only .inf and .nan have none.
func (v *value) appendJSON(dst []byte) ([]byte, error) {
	switch v.kind {
	case nullValue:
		return append(dst, "null"...), nil
	case boolValue:
		return strconv.AppendBool(dst, v.b), nil
	case intValue:
		return strconv.AppendInt(dst, v.i, 10), nil
	case bigValue:
		return strconv.AppendUint(dst, v.u, 10), nil
	case floatValue:
		if math.IsInf(v.f, 0) || math.IsNaN(v.f) {
			return dst, nodeError("infinity and NaN are no JSON values")
		}
		return appendFloat(dst, v.f), nil
	}
	dst = append(dst, '"')
	dst = appendContent(dst, v.asUTF8())
	return append(dst, '"'), nil
}

// asUTF8 returns the text of a stringValue or bytesValue, with U+FFFD in place of each byte that is
// not UTF-8.
func (v *value) asUTF8() []byte {
	if v.kind != bytesValue {
		return v.text
	}
	text := make([]byte, 0, maxRune*len(v.text))
	for _, c := range string(v.text) {
		text = utf8.AppendRune(text, c)
	}
	return text
}

// maxRune is the most bytes of UTF-8 for one byte of a text that is not UTF-8.
const maxRune = len("\uFFFD")

// appendName appends v as the name of a member, unescaped. In the Kubernetes dialect it is the name
// of sigs.k8s.io/yaml, in which floats have the precision of a float32.
func (v *value) appendName(dst []byte, d Dialect) ([]byte, error) {
	switch v.kind {
	case nullValue:
		return dst, nodeError("null is no key")
	case boolValue:
		return strconv.AppendBool(dst, v.b), nil
	case bigValue:
		if d != Core {
			return dst, nodeError("integer beyond int64 as a key")
		}
		return strconv.AppendUint(dst, v.u, 10), nil
	case intValue:
		return strconv.AppendInt(dst, v.i, 10), nil
	case floatValue:
		f := v.f
		if d != Core {
			f = float64(float32(f))
		}
		switch {
		case math.IsInf(f, +1):
			return append(dst, ".inf"...), nil
		case math.IsInf(f, -1):
			return append(dst, "-.inf"...), nil
		case math.IsNaN(f):
			return append(dst, ".nan"...), nil
		case d == Core:
			return appendFloat(dst, f), nil
		}
		return strconv.AppendFloat(dst, f, 'g', -1, 32), nil
	}
	return append(dst, v.asUTF8()...), nil
}

// appendFloat appends a finite f as encoding/json does (ECMA-262 section 6.1.6.1.20), except for
// -0, which Kubernetes reads back as the integer 0.
func appendFloat(dst []byte, f float64) []byte {
	if f == 0 {
		return append(dst, '0')
	}
	if abs := math.Abs(f); 1e-6 <= abs && abs < 1e21 {
		return strconv.AppendFloat(dst, f, 'f', -1, 64)
	}
	dst = strconv.AppendFloat(dst, f, 'e', -1, 64)
	// encoding/json writes an exponent of one digit without a leading zero: e-9 for e-09.
	if n := len(dst); dst[n-4] == 'e' && dst[n-2] == '0' {
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// maxExcerpt is how many bytes of a document an error message shows.
const maxExcerpt = 64

// excerpt returns s for an error message: quoted, escaped and cut.
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
