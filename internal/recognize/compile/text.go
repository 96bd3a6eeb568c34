package compile

import (
	"bytes"
	"sync"

	"github.com/espalier-dev/espalier/internal/recognize"
)

// isDate reports whether a text is a date, as in RFC 3339, section 5.6.
func isDate(text []byte) bool {
	if len(text) != len("2006-01-02") || text[4] != '-' || text[7] != '-' {
		return false
	}
	century, year := digits2(text, 0), digits2(text, 2)
	month, day := digits2(text, 5), digits2(text, 8)
	last := 31
	switch month {
	case 4, 6, 9, 11:
		last = 30
	case 2:
		last = 28
		if year == 0 && century%4 == 0 || year != 0 && year%4 == 0 {
			last = 29
		}
	}
	return century <= 99 && year <= 99 && 1 <= month && month <= 12 && 1 <= day && day <= last
}

// isDateTime reports whether a text is a date with a time, as in RFC 3339, section 5.6, without leap
// seconds. The server allows any offset.
func isDateTime(text []byte) bool {
	const date, seconds = len("2006-01-02"), len("2006-01-02T15:04:05")
	if len(text) <= seconds || text[date]|0x20 != 't' || !isDate(text[:date]) ||
		text[date+3] != ':' || text[date+6] != ':' ||
		digits2(text, date+1) > 23 || digits2(text, date+4) > 59 || digits2(text, date+7) > 59 {
		return false
	}
	text = text[seconds:]
	if text[0] == '.' {
		n := 1
		for n < len(text) && isDigit(text[n]) {
			n++
		}
		if n == 1 {
			return false
		}
		text = text[n:]
	}
	switch len(text) {
	case 1:
		return text[0]|0x20 == 'z'
	case len("+00:00"):
		return (text[0] == '+' || text[0] == '-') && text[3] == ':' &&
			digits2(text, 1) <= 99 && digits2(text, 4) <= 99
	}
	return false
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// digits2 returns the number that two digits make, or more than 99 if they are none.
func digits2(text []byte, i int) int {
	if !isDigit(text[i]) || !isDigit(text[i+1]) {
		return 100
	}
	return int(text[i]-'0')*10 + int(text[i+1]-'0')
}

// isIPv4 reports whether a text is an IPv4 address, without leading zeros.
func isIPv4(text []byte) bool {
	dots, digits, value := 0, 0, 0
	for _, c := range text {
		switch {
		case c == '.':
			if dots++; digits == 0 || dots > 3 {
				return false
			}
			digits, value = 0, 0
		case !isDigit(c) || digits > 0 && value == 0:
			return false
		default:
			digits++
			if value = value*10 + int(c-'0'); value > 255 {
				return false
			}
		}
	}
	return dots == 3 && digits > 0
}

// isIPv6 reports whether a text is an IPv6 address, without a zone and without an IPv4 address in it
// (RFC 4291, section 2.2).
func isIPv6(text []byte) bool {
	groups, digits := 0, 0
	rest, gap := bytes.CutPrefix(text, []byte("::"))
	for i := 0; i < len(rest); i++ {
		switch c := rest[i]; {
		case isDigit(c) || 'a' <= c|0x20 && c|0x20 <= 'f':
			if digits++; digits > 4 {
				return false
			}
		case c != ':' || digits == 0 || i == len(rest)-1:
			return false
		default:
			groups++
			digits = 0
			if rest[i+1] == ':' {
				if gap {
					return false
				}
				gap = true
				i++
			}
		}
	}
	if digits > 0 {
		groups++
	}
	return groups == 8 && !gap || groups < 8 && gap
}

// isCIDR reports whether a text is an address with the length of a prefix (RFC 4632, section 3.1).
func isCIDR(text []byte) bool {
	slash := bytes.IndexByte(text, '/')
	if slash < 0 {
		return false
	}
	address, bits := text[:slash], text[slash+1:]
	if len(bits) == 0 || len(bits) > 3 {
		return false
	}
	length := 0
	for _, c := range bits {
		if !isDigit(c) {
			return false
		}
		length = length*10 + int(c-'0')
	}
	return length <= 32 && isIPv4(address) || length <= 128 && isIPv6(address)
}

// A hostname is one label without dashes, or several, the last of which has letters alone.
var hostname = matcher(`^(?:[A-Za-z0-9]{1,63}|` +
	`(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)+[A-Za-z]{2,63})$`)

func isHostname(text []byte) bool { return len(text) <= 255 && hostname().Match(text) }

// matcher returns a function that compiles a pattern when it is first called.
func matcher(expr string) func() *recognize.Matcher {
	return sync.OnceValue(func() *recognize.Matcher { return Pattern(expr) })
}

// isBase64 reports whether a text is base64 with padding (RFC 4648, section 4). It may not be empty.
func isBase64(text []byte) bool {
	n := len(text)
	if n == 0 || n%4 != 0 {
		return false
	}
	if text[n-1] == '=' {
		if n--; text[n-1] == '=' {
			n--
		}
	}
	text = text[:n]
	odd := uint8(0)
	for len(text) >= 4 {
		odd |= notBase64[text[0]] | notBase64[text[1]] | notBase64[text[2]] | notBase64[text[3]]
		text = text[4:]
	}
	for _, c := range text {
		odd |= notBase64[c]
	}
	return odd == 0
}

var notBase64 = func() (not [256]uint8) {
	for c := range not {
		if !isDigit(byte(c)) && (c|0x20 < 'a' || 'z' < c|0x20) && c != '+' && c != '/' {
			not[c] = 1
		}
	}
	return not
}()

// compact appends the digits of a text, and X, without the spaces and dashes between them. If there
// is anything else, or more than fits, the result is empty.
func compact(dst, text []byte) []byte {
	for _, c := range text {
		switch {
		case c == ' ' || c == '-':
		case len(dst) == cap(dst) || !isDigit(c) && c != 'X':
			return nil
		default:
			dst = append(dst, c)
		}
	}
	return dst
}

var cardNumber = matcher(`^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}` +
	`|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$`)

func isCreditCard(text []byte) bool {
	digits := compact(make([]byte, 0, 16), text)
	if !cardNumber().Match(digits) {
		return false
	}
	sum := 0 // the Luhn algorithm
	for i := range digits {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum%10 == 0
}

func isISBN(text []byte) bool { return isISBN10(text) || isISBN13(text) }

func isISBN10(text []byte) bool {
	digits := compact(make([]byte, 0, 10), text)
	if len(digits) != 10 {
		return false
	}
	sum := 0
	for i, c := range digits {
		d := int(c - '0')
		if c == 'X' {
			if d = 10; i < 9 {
				return false
			}
		}
		sum += (i + 1) * d
	}
	return sum%11 == 0
}

func isISBN13(text []byte) bool {
	digits := compact(make([]byte, 0, 13), text)
	if len(digits) != 13 || bytes.IndexByte(digits, 'X') >= 0 {
		return false
	}
	sum := 0
	for i, c := range digits {
		sum += int(c-'0') * (1 + 2*(i%2))
	}
	return sum%10 == 0
}
