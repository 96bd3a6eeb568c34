package kube

import (
	"bytes"
	stdjson "encoding/json"
	"maps"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"
)

// appendJSON appends a value of an unstructured object as JSON. Numbers keep their types: a float64
// has a point or an exponent. Members are in any order, unless they are to be sorted.
func appendJSON(b []byte, value any, sorted bool) (_ []byte, err error) {
	switch v := value.(type) {
	case map[string]any:
		if sorted {
			return appendSorted(b, v)
		}
		b = append(b, '{')
		for name, member := range v {
			if b, err = appendMember(b, name, member, sorted); err != nil {
				return b, err
			}
		}
		return closed(b, '}'), nil
	case []any:
		b = append(b, '[')
		for _, element := range v {
			if b, err = appendJSON(b, element, sorted); err != nil {
				return b, err
			}
			b = append(b, ',')
		}
		return closed(b, ']'), nil
	case string:
		return appendString(b, v), nil
	case int64:
		return strconv.AppendInt(b, v, 10), nil
	case bool:
		return strconv.AppendBool(b, v), nil
	case nil:
		return append(b, "null"...), nil
	case float64:
		if !math.IsInf(v, 0) && !math.IsNaN(v) {
			from := len(b)
			b = strconv.AppendFloat(b, v, 'g', -1, 64)
			if !bytes.ContainsAny(b[from:], ".e") {
				b = append(b, ".0"...)
			}
			return b, nil
		}
	}
	text, err := stdjson.Marshal(value)
	return append(b, text...), err
}

func appendSorted(b []byte, object map[string]any) (_ []byte, err error) {
	b = append(b, '{')
	for _, name := range slices.Sorted(maps.Keys(object)) {
		if b, err = appendMember(b, name, object[name], true); err != nil {
			return b, err
		}
	}
	return closed(b, '}'), nil
}

// appendMember appends a member and a comma.
func appendMember(b []byte, name string, value any, sorted bool) ([]byte, error) {
	b = append(appendString(b, name), ':')
	b, err := appendJSON(b, value, sorted)
	return append(b, ','), err
}

// closed replaces the comma after the last member or element, if there is one, by a bracket.
func closed(b []byte, bracket byte) []byte {
	if last := len(b) - 1; b[last] == ',' {
		b[last] = bracket
		return b
	}
	return append(b, bracket)
}

// appendString appends a string. What is not UTF-8 becomes U+FFFD.
func appendString(b []byte, s string) []byte {
	isASCII := true
	for i := range len(s) {
		c := s[i]
		if c < ' ' || c == '"' || c == '\\' {
			return appendEscaped(b, s)
		}
		isASCII = isASCII && c < utf8.RuneSelf
	}
	if !isASCII && !utf8.ValidString(s) {
		return appendEscaped(b, s)
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

func appendEscaped(b []byte, s string) []byte {
	text, _ := stdjson.Marshal(s) // a string has no error
	return append(b, text...)
}
