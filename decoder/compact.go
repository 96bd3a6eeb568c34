package decoder

import "bytes"

// compact removes the white space between the tokens of the valid JSON text
// that is in b from start on, in place.
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
				// The quote ends the string if an even number of backslashes
				// stands before it.
				n := end - 1
				for b[n-1] == '\\' {
					n--
				}
				if (end-1-n)%2 == 0 {
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
