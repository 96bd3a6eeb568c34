package request

import (
	"bytes"
	"encoding/json"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// member returns the value of the last member with this name of the object that text is, or nil if there is
// none: what encoding/json makes a map for, which takes many times the memory. The text is JSON for encoding/json, which takes
// strings that are no UTF-8.
func member(text []byte, name string) (value []byte) {
	i := jsonwire.Blanks(text, 0)
	if jsonwire.At(text, i) != '{' {
		return nil
	}
	for i = jsonwire.Blanks(text, i+1); text[i] != '}'; i = jsonwire.Blanks(text, i) {
		if text[i] == ',' {
			i = jsonwire.Blanks(text, i+1)
		}
		end := behindString(text, i)
		isWanted := isName(text[i:end], name)
		from := jsonwire.Blanks(text, jsonwire.Blanks(text, end)+1) // behind the colon
		if i = behindValue(text, from); isWanted {
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

// behindString returns where the string ends that starts at i.
func behindString(text []byte, i int) int {
	for i++; text[i] != '"'; i++ {
		if text[i] == '\\' {
			i++
		}
	}
	return i + 1
}

// behindValue returns where the value ends that starts at i.
func behindValue(text []byte, i int) int {
	for depth := 0; ; {
		switch text[i] {
		case '"':
			i = behindString(text, i)
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
