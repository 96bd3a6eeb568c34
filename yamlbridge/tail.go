package yamlbridge

import "unicode/utf8"

// This file looks at what follows the root as far as the server does, which needs one token more to know that the
// document has ended. What its scanner refuses there makes it refuse the document; what comes after that it
// does not see. Of tokens after the next, which it reads as long as a root in brackets could be a key, nothing is looked at.

// checkTail looks at the token at i, which follows the root.
func (r *Reader) checkTail(i int) error {
	text := r.text
	// Four characters are looked at together.
	to := i
	for n := 0; n < 4 && to < r.end; n++ {
		_, size := utf8.DecodeRune(text[to:r.end])
		to += size
	}
	if r.unreadable != "" && (i >= r.end || r.isReadWith(r.end, to)) {
		return r.fail(r.end, r.unreadable)
	}
	switch c := text[i]; {
	case c == '@', c == '`', c == '%' && i > 0 && text[i-1] != '\n':
		return r.fail(i, "found character that cannot start any token")
	case c == '"', c == '\'':
		_, _, err := r.quoted(i, -1)
		return err
	}
	return nil
}

// serverChunk is how many bytes the server reads and decodes at a time.
const serverChunk = 512

// isReadWith reports whether the server decodes the character at offset at of the text together with what is
// before to.
func (r *Reader) isReadWith(at, to int) bool {
	source := r.source
	at, to = at+r.lead, to+r.lead
	for start := 0; ; {
		end := min(start+serverChunk, len(source))
		for back := 1; back < utf8.UTFMax && back <= end-start; back++ { // a character that is not whole is left for the next time
			if c := source[end-back]; utf8.RuneStart(c) {
				if back < runeLength(c) {
					end -= back
				}
				break
			}
		}
		switch {
		case at < end || end == start:
			return true
		case to <= end:
			return false
		}
		start = end
	}
}

// runeLength returns how long a character is that starts with c.
func runeLength(c byte) int {
	switch {
	case c >= 0xF8: // starts none
		return 1
	case c >= 0xF0:
		return 4
	case c >= 0xE0:
		return 3
	case c >= 0xC0:
		return 2
	}
	return 1
}
