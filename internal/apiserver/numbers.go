package apiserver

import (
	"encoding/json"
	"strconv"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// AppendNumbers appends the JSON text b with its numbers as the server writes
// them: int64 where the literal is an integer that fits, or else float64.
func AppendNumbers(dst, b []byte) []byte {
	from := 0
	for i := 0; i < len(b); {
		switch c := b[i]; {
		case c == '"':
			end, _, _ := jsonwire.ScanString(b, i+1)
			i = end + 1
		case c == '-' || c >= '0' && c <= '9':
			end, kind, _, _ := jsonwire.ScanNumber(b, i)
			if jsonwire.IsOddNumber(b[i:end], kind) {
				dst = append(dst, b[from:i]...)
				dst = appendNumber(dst, b[i:end], kind)
				from = end
			}
			i = end
		default:
			i++
		}
	}
	return append(dst, b[from:]...)
}

func appendNumber(dst, lit []byte, kind jsonwire.Number) []byte {
	if kind == jsonwire.Integer {
		if n, err := strconv.ParseInt(string(lit), 10, 64); err == nil {
			return strconv.AppendInt(dst, n, 10)
		}
	}
	f, _ := strconv.ParseFloat(string(lit), 64)
	text, _ := json.Marshal(f) // as the server does it; a float64 is always written
	return append(dst, text...)
}
