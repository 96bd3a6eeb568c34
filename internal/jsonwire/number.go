package jsonwire

import (
	"math"
	"strconv"
)

// A Number is the kind of a number literal.
type Number uint8

const (
	// Integer: a literal without fraction and exponent.
	Integer Number = iota
	// Fraction: a literal with a fraction.
	Fraction
	// Exponent: a literal with an exponent.
	Exponent
)

// ScanNumber scans the number that starts at i (RFC 8259 section 6). A literal that reaches the end
// of the slice is Cut, as only the caller knows whether more bytes follow. For Cut, kind is right
// for the literal as it is, and whole says whether it is a complete number.
//
// ScanNumber does not look at the value: see [FitsFloat64].
//
//espalier:nocalls
func ScanNumber(b []byte, i int) (end int, kind Number, whole bool, s Status) {
	if At(b, i) == '-' {
		i++
	}
	switch c := At(b, i); {
	case c == '0':
		i++
	case c >= '1' && c <= '9':
		i = digits(b, i)
	default:
		return i, kind, false, cutOrBad(b, i)
	}
	c := At(b, i)
	if c == '.' {
		kind = Fraction
		n := digits(b, i+1)
		if n == i+1 {
			return n, kind, false, cutOrBad(b, n)
		}
		i = n
		c = At(b, i)
	}
	if c|0x20 == 'e' {
		kind = Exponent
		i++
		if c = At(b, i); c == '+' || c == '-' {
			i++
		}
		n := digits(b, i)
		if n == i {
			return n, kind, false, cutOrBad(b, n)
		}
		i = n
	}
	if i >= len(b) {
		return i, kind, true, Cut
	}
	return i, kind, true, OK
}

//espalier:inline
func digits(b []byte, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

func cutOrBad(b []byte, i int) Status {
	if i >= len(b) {
		return Cut
	}
	return Bad
}

// FitsFloat64 reports whether the magnitude of a valid number literal is not too large for float64.
// A magnitude that is too small fits, as it reads as zero.
func FitsFloat64(lit []byte) bool {
	// The literal is less than 10 to the power of its integer digits plus its exponent. This bound
	// nearly always decides.
	i := 0
	if lit[0] == '-' {
		i = 1
	}
	power := digits(lit, i) - i
	for i < len(lit) && lit[i]|0x20 != 'e' {
		i++
	}
	var exp int
	var err error
	if i < len(lit) {
		exp, err = strconv.Atoi(string(lit[i+1:]))
	}
	if err == nil && exp <= 308-power {
		return true
	}
	_, err = strconv.ParseFloat(string(lit), 64)
	return err == nil
}

// IsInt64 reports whether the value of a valid number literal is an integer that fits int64,
// however it is spelled: 3, 3.0 and 3e0 are.
func IsInt64(lit []byte, kind Number) bool {
	if kind == Integer && len(lit) < 19 {
		return true
	}
	if kind == Integer {
		_, err := strconv.ParseInt(string(lit), 10, 64)
		return err == nil
	}
	f, err := strconv.ParseFloat(string(lit), 64)
	return err == nil && f == math.Trunc(f) && f >= -1<<63 && f < 1<<63
}

// MaxShortInteger is the length in bytes up to which [ShortInteger] accepts integers.
const MaxShortInteger = 18

// ShortInteger returns the index after the integer at i, which starts with a digit other than 0. It
// returns 0 unless the literal is an integer of at most MaxShortInteger bytes, which fits int64,
// and ends before the slice does.
//
//espalier:inline
func ShortInteger(b []byte, i int) int {
	end := i + 1
	for end < len(b) && b[end]-'0' <= 9 {
		end++
	}
	if end-i <= MaxShortInteger && end < len(b) && b[end] != '.' && b[end]|0x20 != 'e' {
		return end
	}
	return 0
}

// IsOddNumber reports whether the API server may rewrite the number, which it decodes to int64 or
// float64.
//
//espalier:inline
func IsOddNumber(lit []byte, kind Number) bool {
	return kind != Integer || len(lit) >= 19 || len(lit) == 2 && lit[0] == '-' && lit[1] == '0'
}
