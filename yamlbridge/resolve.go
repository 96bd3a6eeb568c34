package yamlbridge

import (
	"encoding/base64"
	stderrors "errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/errors"
)

// The core tags of scalars, in the short form.
const (
	tagStr       = "!!str"
	tagInt       = "!!int"
	tagFloat     = "!!float"
	tagBool      = "!!bool"
	tagNull      = "!!null"
	tagBinary    = "!!binary"
	tagTimestamp = "!!timestamp"
	tagMerge     = "!!merge"
)

// A scalar is what a scalar node stands for.
type scalar struct {
	tag  string // one of the core tags
	text string // of a string or timestamp
	b    bool
	i    int64
	u    uint64 // an integer beyond int64, where not zero
	f    float64
}

// words are the plain scalars with a fixed meaning, in exactly these spellings.
var words = map[string]scalar{}

func init() {
	for _, w := range []struct {
		s         scalar
		spellings string
	}{
		{scalar{tag: tagBool, b: true}, "y Y yes Yes YES true True TRUE on On ON"},
		{scalar{tag: tagBool, b: false}, "n N no No NO false False FALSE off Off OFF"},
		{scalar{tag: tagNull}, "~ null Null NULL"},
		{scalar{tag: tagFloat, f: math.NaN()}, ".nan .NaN .NAN"},
		{scalar{tag: tagFloat, f: math.Inf(+1)}, ".inf .Inf .INF +.inf +.Inf +.INF"},
		{scalar{tag: tagFloat, f: math.Inf(-1)}, "-.inf -.Inf -.INF"},
	} {
		for spelling := range strings.FieldsSeq(w.spellings) {
			words[spelling] = w.s
		}
	}
	words[""] = scalar{tag: tagNull}
}

// resolve reads text under an explicit core tag, or as a plain scalar where tag
// is empty. Quotes make no difference where there is a tag: !!int '5' is 5.
//
// The error is a *nodeError without a place, or an *errors.LimitError.
func resolve(tag, text string) (scalar, error) {
	switch tag {
	case tagStr:
		return scalar{tag: tagStr, text: text}, nil
	case tagBinary:
		data, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return scalar{}, &nodeError{msg: "!!binary value contains invalid base64 data"}
		}
		if !utf8.Valid(data) {
			return scalar{}, &nodeError{msg: "!!binary value is not UTF-8"}
		}
		return scalar{tag: tagStr, text: string(data)}, nil
	case "", tagInt, tagFloat, tagBool, tagNull, tagTimestamp:
	default:
		return scalar{}, &nodeError{msg: "unknown tag " + excerpt(tag)}
	}
	s, err := resolvePlain(text, tag)
	if err != nil {
		return scalar{}, err
	}
	switch {
	case tag == "" || tag == s.tag:
		return s, nil
	case tag == tagFloat && s.tag == tagInt && s.u == 0:
		return scalar{tag: tagFloat, f: float64(s.i)}, nil
	}
	return scalar{}, &nodeError{msg: fmt.Sprintf("cannot decode %s %s as %s", s.tag, excerpt(text), tag)}
}

// resolvePlain reads text as a plain scalar. The tag matters to what could be
// a timestamp only.
func resolvePlain(text, tag string) (scalar, error) {
	if s, ok := words[text]; ok {
		return s, nil
	}
	str := scalar{tag: tagStr, text: text}
	switch c := text[0]; {
	case c == '.':
	case '0' <= c && c <= '9', c == '+', c == '-':
		if (tag == "" || tag == tagTimestamp) && isTimestamp(text) {
			return scalar{tag: tagTimestamp, text: text}, nil
		}
	default:
		return str, nil
	}
	if !looksNumeric(text) {
		return str, nil
	}
	s, err := resolveNumber(text)
	if (err != nil || s.tag != tagStr) && len(text) > MaxNumberBytes {
		return scalar{}, &errors.LimitError{Limit: "number bytes", Max: MaxNumberBytes}
	}
	return s, err
}

// resolveNumber reads text as a number, or else as a string. All it does is
// linear in the length of text.
func resolveNumber(text string) (scalar, error) {
	str := scalar{tag: tagStr, text: text}
	plain := strings.ReplaceAll(text, "_", "")
	if i, err := strconv.ParseInt(plain, 0, 64); err == nil {
		return scalar{tag: tagInt, i: i}, nil
	}
	if u, err := strconv.ParseUint(plain, 0, 64); err == nil {
		return scalar{tag: tagInt, u: u}, nil
	}
	if digits, ok := strings.CutPrefix(plain, "0b"); ok {
		// The server takes a sign after the prefix: 0b-1.
		if i, err := strconv.ParseInt(digits, 2, 64); err == nil {
			return scalar{tag: tagInt, i: i}, nil
		}
	}
	if !isFloat(plain) {
		return str, nil
	}
	if text[0] == '.' {
		// Here the server leaves it to strconv where an underscore may stand.
		plain = text
	}
	f, err := strconv.ParseFloat(plain, 64)
	switch {
	case stderrors.Is(err, strconv.ErrSyntax):
		return str, nil
	case err != nil:
		// The API server takes it for a string; whoever wrote it did not mean one.
		return scalar{}, &nodeError{msg: "number " + excerpt(text) + " is beyond a float64"}
	}
	return scalar{tag: tagFloat, f: f}, nil
}

// looksNumeric reports whether s has only characters that numbers have. It
// spares most strings that start with a digit the failures of strconv.
func looksNumeric(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case '0' <= c && c <= '9', c == '+', c == '-', c == '.', c == '_':
		case 'a' <= c|0x20 && c|0x20 <= 'f', c|0x20 == 'x', c|0x20 == 'o':
		default:
			return false
		}
	}
	return true
}

// isFloat reports whether s is [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
func isFloat(s string) bool {
	digits := func() (n int) {
		for n < len(s) && '0' <= s[n] && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n
	}
	sign := func() {
		if s != "" && (s[0] == '-' || s[0] == '+') {
			s = s[1:]
		}
	}
	sign()
	whole := digits()
	if s != "" && s[0] == '.' {
		s = s[1:]
		if fraction := digits(); whole == 0 && fraction == 0 {
			return false
		}
	} else if whole == 0 {
		return false
	}
	if s == "" {
		return true
	}
	if s[0]|0x20 != 'e' {
		return false
	}
	s = s[1:]
	sign()
	return digits() > 0 && s == ""
}

// isTimestamp reports whether the API server takes s for a point in time. That
// it does is visible only under a tag: the value is the text all the same.
func isTimestamp(s string) bool {
	if len(s) < len("2006-1-2") || s[4] != '-' {
		return false
	}
	for _, layout := range []string{
		"2006-1-2T15:4:5.999999999Z07:00",
		"2006-1-2t15:4:5.999999999Z07:00",
		"2006-1-2 15:4:5.999999999",
		"2006-1-2",
	} {
		if _, err := time.Parse(layout, s); err == nil {
			return true
		}
	}
	return false
}

// appendJSON appends the scalar as a JSON value. Only .inf and .nan have none.
func (s *scalar) appendJSON(dst []byte) ([]byte, error) {
	switch s.tag {
	case tagNull:
		return append(dst, "null"...), nil
	case tagBool:
		return strconv.AppendBool(dst, s.b), nil
	case tagInt:
		if s.u != 0 {
			return strconv.AppendUint(dst, s.u, 10), nil
		}
		return strconv.AppendInt(dst, s.i, 10), nil
	case tagFloat:
		if math.IsInf(s.f, 0) || math.IsNaN(s.f) {
			return dst, &nodeError{msg: "infinity and NaN are no JSON values"}
		}
		return appendFloat(dst, s.f), nil
	}
	return appendString(dst, s.text), nil
}

// name returns the scalar as the name of a member: sigs.k8s.io/yaml's form of
// the key, in which floats have the precision of a float32.
func (s *scalar) name() (string, error) {
	switch s.tag {
	case tagNull:
		return "", &nodeError{msg: "null is no key"}
	case tagBool:
		return strconv.FormatBool(s.b), nil
	case tagInt:
		if s.u != 0 {
			return "", &nodeError{msg: "integer beyond int64 as a key"}
		}
		return strconv.FormatInt(s.i, 10), nil
	case tagFloat:
		switch name := strconv.FormatFloat(s.f, 'g', -1, 32); name {
		case "+Inf":
			return ".inf", nil
		case "-Inf":
			return "-.inf", nil
		case "NaN":
			return ".nan", nil
		default:
			return name, nil
		}
	}
	return s.text, nil
}
