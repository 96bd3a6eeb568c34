package recognize

import (
	"bytes"
	"encoding/binary"
)

// This file recognizes names in metadata. Internal/validate has the rules, and the messages if they
// are broken. For ASCII the functions are exact.

// The kinds of bytes in names.
const (
	lower = 1 << iota // a small letter or a digit
	upper
	dash
	dot
	underscore
	odd // no name has it
)

var kinds = func() (of [256]uint8) {
	for c := range of {
		switch {
		case 'a' <= c && c <= 'z' || '0' <= c && c <= '9':
			of[c] = lower
		case 'A' <= c && c <= 'Z':
			of[c] = upper
		default:
			of[c] = odd
		}
	}
	of['-'], of['.'], of['_'] = dash, dot, underscore
	return of
}()

const (
	maxLabel     = 63
	maxSubdomain = 253
)

// DNSLabel reports whether a text is a label of RFC 1123 in lower case, as names of namespaces are.
func DNSLabel(text []byte) bool { return isName(text, lower, lower|dash) }

// LabelValue reports whether a text can be the value of a label. It may be empty.
func LabelValue(text []byte) bool { return len(text) == 0 || isLabelName(text) }

// QualifiedName reports whether a text can be the key of a label, or a finalizer: a name, after a
// DNS subdomain and a slash or alone.
func QualifiedName(text []byte) bool {
	slash := bytes.IndexByte(text, '/')
	if slash < 0 {
		return isLabelName(text)
	}
	return DNSSubdomain(text[:slash]) && isLabelName(text[slash+1:])
}

// AnnotationKey reports whether a text can be the key of an annotation: a qualified name once it is
// in lower case.
func AnnotationKey(text []byte) bool {
	if QualifiedName(text) {
		return true
	}
	var small [maxSubdomain + 1 + maxLabel]byte
	if len(text) > len(small) {
		return false
	}
	for i, c := range text {
		if kinds[c] == upper {
			c += 'a' - 'A'
		}
		small[i] = c
	}
	return QualifiedName(small[:len(text)])
}

func isLabelName(text []byte) bool {
	return isName(text, lower|upper, lower|upper|dash|dot|underscore)
}

// isName reports whether a text has from 1 to 63 bytes, whose kinds are among those within, and
// those of the first and the last one among ends.
func isName(text []byte, ends, within uint8) bool {
	if len(text) == 0 || len(text) > maxLabel || (kinds[text[0]]|kinds[text[len(text)-1]])&^ends != 0 {
		return false
	}
	all := uint8(0)
	if len(text) < 8 {
		for _, c := range text {
			all |= kinds[c]
		}
		return all&^within == 0
	}
	for {
		b := (*[8]byte)(text)
		all |= kinds[b[0]] | kinds[b[1]] | kinds[b[2]] | kinds[b[3]] |
			kinds[b[4]] | kinds[b[5]] | kinds[b[6]] | kinds[b[7]]
		switch rest := len(text); {
		case rest == 8:
			return all&^within == 0
		case rest < 16:
			text = text[rest-8:]
		default:
			text = text[8:]
		}
	}
}

// DNSSubdomain reports whether a text is a subdomain of RFC 1123 in lower case, as names of most
// objects are: labels, here of any length, with dots between them.
func DNSSubdomain(text []byte) bool {
	n := len(text)
	if n == 0 || n > maxSubdomain || (kinds[text[0]]|kinds[text[n-1]])&^lower != 0 {
		return false
	}
	if n < 8 {
		return isShortSubdomain(text)
	}
	// Eight bytes are judged at a time, and overlap by one, so that each pair of neighbours is seen.
	// A byte has one bit, its highest; at(c) sets it in each byte that is c or more, if it is ASCII.
	const ones, high = 0x0101010101010101, 0x8080808080808080
	bad := uint64(0)
	for {
		b := binary.LittleEndian.Uint64(text)
		slash, zero := b+(0x80-'/')*ones, b+(0x80-'0')*ones
		dashes := b + (0x80-'-')*ones // and dots
		dots := b + (0x80-'.')*ones ^ slash
		good := dashes ^ slash ^ zero ^ (b + (0x80-'9'-1)*ones) ^
			(b + (0x80-'a')*ones) ^ (b + (0x80-'z'-1)*ones)
		dashes ^= slash
		bad |= b | ^good | dots&(dashes<<8|dashes>>8)
		switch rest := len(text); {
		case rest == 8:
			return bad&high == 0
		case rest < 15:
			text = text[rest-8:]
		default:
			text = text[7:]
		}
	}
}

// isShortSubdomain is DNSSubdomain for a text whose ends are letters or digits.
func isShortSubdomain(text []byte) bool {
	last := uint8(lower)
	for _, c := range text {
		k := kinds[c]
		if k&^(lower|dash|dot) != 0 || k|last == dot || k|last == dash|dot {
			return false
		}
		last = k
	}
	return true
}
