package fieldpath

import (
	"strconv"
	"unicode"
	"unicode/utf8"
)

// AppendText appends an encoded path as the API server spells it: see errors.Path.String.
func AppendText(b []byte, encoded string) []byte {
	for rest := encoded; rest != ""; {
		var s Segment
		first := len(rest) == len(encoded)
		s, rest = Cut(rest)
		b = AppendStep(b, s, first, false)
	}
	return b
}

// AppendBelow appends an encoded path as [AppendText] spells it after other segments.
func AppendBelow(b []byte, encoded string) []byte {
	for s := range Segments(encoded) {
		b = AppendStep(b, s, false, false)
	}
	return b
}

// AppendStep appends one segment as [AppendText] spells it. first says that it is the first of its
// path. asKey says that a name is spelled like an index, m[k]: in some of its messages the API
// server spells the keys of maps so.
func AppendStep(b []byte, s Segment, first, asKey bool) []byte {
	switch {
	case s.Gap > 0:
		b = append(b, "[... "...)
		b = strconv.AppendInt(b, int64(s.Gap), 10)
		return append(b, " more ...]"...)
	case !s.IsName:
		b = append(b, '[')
		b = strconv.AppendInt(b, int64(s.Index), 10)
		return append(b, ']')
	case !isPlain(s.Name):
		b = append(b, '[')
		b = AppendQuoted(b, s.Name)
		return append(b, ']')
	case asKey:
		b = append(b, '[')
		b = append(b, s.Name...)
		return append(b, ']')
	case !first:
		b = append(b, '.')
	}
	return append(b, s.Name...)
}

// AppendPointer appends an encoded path as a JSON Pointer (RFC 6901). A gap is the token "...".
func AppendPointer(b []byte, encoded string) []byte {
	for s := range Segments(encoded) {
		b = append(b, '/')
		switch {
		case s.Gap > 0:
			b = append(b, "..."...)
		case !s.IsName:
			b = strconv.AppendInt(b, int64(s.Index), 10)
		default:
			for i := range len(s.Name) {
				switch c := s.Name[i]; c {
				case '~':
					b = append(b, "~0"...)
				case '/':
					b = append(b, "~1"...)
				default:
					b = append(b, c)
				}
			}
		}
	}
	return b
}

// isPlain reports whether a name can be in a message as it is.
func isPlain[S string | []byte](name S) bool {
	for i := 0; i < len(name); {
		if c := name[i]; c < utf8.RuneSelf {
			if c < ' ' || c > '~' || c == '"' || c == '\\' {
				return false
			}
			i++
			continue
		}
		// Converting the whole slice would copy it.
		r, n := utf8.DecodeRuneInString(string(name[i:min(i+utf8.UTFMax, len(name))]))
		if r == utf8.RuneError && n == 1 || !IsGraphic(r) {
			return false
		}
		i += n
	}
	return len(name) > 0
}

// IsGraphic reports whether r is visible as itself. Control and formatting characters are not (the
// latter include the bidirectional ones), nor is any space except U+0020.
func IsGraphic(r rune) bool {
	return r == ' ' || unicode.IsGraphic(r) && !unicode.IsSpace(r) && !unicode.Is(unicode.Cf, r)
}

// AppendQuoted appends s in double quotes. As in Go source, it escapes quotes, backslashes,
// characters that are not graphic, and bytes that are not UTF-8. Texts from a document are quoted
// so in messages.
func AppendQuoted(b []byte, s string) []byte {
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == utf8.RuneError && n == 1:
			const hex = "0123456789abcdef"
			b = append(b, '\\', 'x', hex[s[i]>>4], hex[s[i]&0xf])
		case IsGraphic(r):
			b = append(b, s[i:i+n]...)
		default:
			q := strconv.QuoteRuneToASCII(r)
			b = append(b, q[1:len(q)-1]...)
		}
		i += n
	}
	return append(b, '"')
}

// Quoted returns what [AppendQuoted] appends.
func Quoted(s string) string { return string(AppendQuoted(nil, s)) }
