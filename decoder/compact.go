package decoder

import "bytes"

// compact removes the white space between the tokens of the valid JSON text b[start:], in
// place.
func compact(b []byte, start int) []byte {
	to := start
	for from := start; from < len(b); {
		switch c := b[from]; c {
		case ' ', '\n', '\t', '\r':
			from++
		case '"':
			end := from + 1
			for {
				end += bytes.IndexByte(b[end:], '"') + 1
				// The quote ends the string if the number of backslashes before
				// it is even.
				escaped := false
				for n := end - 2; b[n] == '\\'; n-- {
					escaped = !escaped
				}
				if !escaped {
					break
				}
			}
			to += copy(b[to:], b[from:end])
			from = end
		default:
			b[to] = c
			to++
			from++
		}
	}
	return b[:to]
}

// A compactor removes the white space between the tokens of a text that comes in parts.
type compactor struct{ inString, escaped bool }

// compact removes the white space from the next part, which is b[start:], in place.
func (c *compactor) compact(b []byte, start int) []byte {
	to := start
	for _, x := range b[start:] {
		switch {
		case c.escaped:
			c.escaped = false
		case c.inString:
			c.escaped = x == '\\'
			c.inString = x != '"'
		case x <= ' ':
			continue
		default:
			c.inString = x == '"'
		}
		b[to] = x
		to++
	}
	return b[:to]
}
