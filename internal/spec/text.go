package spec

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// appendText appends the text of a value, in which strings are as Go quotes them.
func appendText(b []byte, v Value) []byte {
	switch v := v.(type) {
	case Object:
		b = append(b, '{')
		for _, m := range v {
			b = append(strconv.AppendQuote(b, m.Name), ':')
			b = append(appendText(b, m.Value), ',')
		}
		return append(b, '}')
	case Array:
		b = append(b, '[')
		for _, e := range v {
			b = append(appendText(b, e), ',')
		}
		return append(b, ']')
	case string:
		return strconv.AppendQuote(b, v)
	case json.Number:
		return append(b, v...)
	case bool:
		return strconv.AppendBool(b, v)
	}
	return append(b, "null"...)
}

// cut returns what comes after v in a text that starts with v: with its members in their order and
// without white space. Most results are like that, and are not parsed. Of others it may say that
// they are not equal where they are.
func cut(text []byte, v Value) (rest []byte, ok bool) {
	switch v := v.(type) {
	case Object:
		for i, m := range v {
			if text, ok = cutAny(text, opening(i, "{")); ok {
				text, ok = cutString(text, m.Name)
			}
			if ok {
				text, ok = cutAny(text, ":")
			}
			if ok {
				text, ok = cut(text, m.Value)
			}
			if !ok {
				return nil, false
			}
		}
		return cutAny(text, closing(len(v), "{}"))
	case Array:
		for i, e := range v {
			if text, ok = cutAny(text, opening(i, "[")); ok {
				text, ok = cut(text, e)
			}
			if !ok {
				return nil, false
			}
		}
		return cutAny(text, closing(len(v), "[]"))
	case string:
		return cutString(text, v)
	case json.Number:
		return cutAny(text, v.String())
	case bool:
		return cutAny(text, strconv.FormatBool(v))
	}
	return cutAny(text, "null")
}

// opening is what is before the i-th of several values, and closing what is after n of them.
func opening(i int, brace string) string {
	if i > 0 {
		return ","
	}
	return brace
}

func closing(n int, braces string) string {
	if n > 0 {
		return braces[1:]
	}
	return braces
}

func cutAny(text []byte, prefix string) (rest []byte, ok bool) {
	if len(text) < len(prefix) || string(text[:len(prefix)]) != prefix {
		return nil, false
	}
	return text[len(prefix):], true
}

func cutString(text []byte, s string) (rest []byte, ok bool) {
	if len(text) == 0 || text[0] != '"' {
		return nil, false
	}
	end := 1 + bytes.IndexByte(text[1:], '"')
	if end == 0 {
		return nil, false
	}
	inside := text[1:end]
	if bytes.IndexByte(inside, '\\') < 0 {
		return text[end+1:], string(inside) == s
	}
	unquoted, err := strconv.Unquote(string(text[:end+1])) // an escape of JSON that Go knows means the same in Go
	return text[end+1:], err == nil && unquoted == s
}
