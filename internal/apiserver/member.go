package apiserver

import (
	"bytes"
	"encoding/json"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// Member returns the value of the last member with the name in the object text, or nil if there is
// none. encoding/json would make a map for that, which takes many times the memory. The text is
// valid for encoding/json, which accepts strings that are not UTF-8.
func Member(text []byte, name string) (value []byte) {
	i := jsonwire.Blanks(text, 0)
	if jsonwire.At(text, i) != '{' {
		return nil
	}
	for i = jsonwire.Blanks(text, i+1); text[i] != '}'; i = jsonwire.Blanks(text, i) {
		if text[i] == ',' {
			i = jsonwire.Blanks(text, i+1)
		}
		end := afterString(text, i)
		isWanted := isName(text[i:end], name)
		from := jsonwire.Blanks(text, jsonwire.Blanks(text, end)+1) // after the colon
		if i = afterValue(text, from); isWanted {
			value = text[from:i]
		}
	}
	return value
}

func isName(quoted []byte, name string) bool {
	if bytes.IndexByte(quoted, '\\') < 0 {
		return string(quoted[1:len(quoted)-1]) == name
	}
	var s string
	return json.Unmarshal(quoted, &s) == nil && s == name
}

// afterString returns the index after the string that starts at i.
func afterString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// afterValue returns the index after the value that starts at i.
func afterValue(text []byte, i int) int {
	for depth := 0; ; {
		switch text[i] {
		case '"':
			i = afterString(text, i)
		case '{', '[':
			depth++
			i++
		case '}', ']':
			depth--
			i++
		case ',', ':', ' ', '\t', '\n', '\r':
			i++
			continue
		default:
			for i < len(text) && bytes.IndexByte([]byte(",]} \t\n\r"), text[i]) < 0 {
				i++
			}
		}
		if depth == 0 {
			return i
		}
	}
}
