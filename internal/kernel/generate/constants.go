package main

import (
	"encoding/binary"
	"strings"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// table defines a read-only table of 64 bytes.
func table(name string, at func(i int) byte) Mem {
	var bytes [64]byte
	for i := range bytes {
		bytes[i] = at(i)
	}
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := 0; i < len(bytes); i += 8 {
		DATA(i, U64(binary.LittleEndian.Uint64(bytes[i:])))
	}
	return m
}

// all is a table of one byte.
func all(name string, c byte) Mem { return table(name, func(int) byte { return c }) }

// byNibble is a table for VPSHUFB, which needs a copy for each 16 bytes.
func byNibble(name string, entries [16]byte) Mem {
	return table(name, func(i int) byte { return entries[i&15] })
}

// Classes of ASCII characters that may follow a backslash.
const (
	simple   = 1 << iota // ends an escape
	unicode              // starts four hexadecimal digits
	hex                  // is a hexadecimal digit
	hexD                 // is D, and may start a surrogate
	highHalf             // as the second digit: 8 or more, so it is a surrogate
)

func classOf(c byte) (class byte) {
	if strings.IndexByte(`"\/bfnrt`, c) >= 0 {
		class |= simple
	}
	if c == 'u' {
		class |= unicode
	}
	if strings.IndexByte("0123456789abcdefABCDEF", c) >= 0 {
		class |= hex
		if c >= '8' {
			class |= highHalf
		}
	}
	if c|0x20 == 'd' {
		class |= hexD
	}
	return class
}

// The faults of two bytes of UTF-8 in a row, after Keiser and Lemire, "Validating UTF-8 in less
// than one instruction per byte" (2021). A fault has its bit set in all three tables.
const (
	tooShort     = 1 << iota // a lead byte without continuation
	tooLong                  // a continuation of ASCII
	overlong3                // E0 with less than A0
	tooLarge                 // F4 with more than 8F, or more than F4
	surrogate                // ED with more than 9F
	overlong2                // C0, C1
	tooLarge1000             // more than F4 with 80
	twoConts                 // two continuations: right after a lead byte of three or more
	overlong4    = tooLarge1000
	ofAnyLow     = tooShort | tooLong | twoConts
)

var (
	firstHigh = [16]byte{
		tooLong, tooLong, tooLong, tooLong, tooLong, tooLong, tooLong, tooLong,
		twoConts, twoConts, twoConts, twoConts,
		tooShort | overlong2, tooShort, tooShort | overlong3 | surrogate,
		tooShort | tooLarge | tooLarge1000 | overlong4,
	}
	firstLow = [16]byte{
		ofAnyLow | overlong2 | overlong3 | overlong4, ofAnyLow | overlong2, ofAnyLow, ofAnyLow,
		ofAnyLow | tooLarge, ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000,
		ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000,
		ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000 | surrogate, ofAnyLow | tooLarge | tooLarge1000, ofAnyLow | tooLarge | tooLarge1000,
	}
	secondHigh = [16]byte{
		tooShort, tooShort, tooShort, tooShort, tooShort, tooShort, tooShort, tooShort,
		tooLong | overlong2 | twoConts | overlong3 | tooLarge1000 | overlong4,
		tooLong | overlong2 | twoConts | overlong3 | tooLarge,
		tooLong | overlong2 | twoConts | surrogate | tooLarge, tooLong | overlong2 | twoConts | surrogate | tooLarge,
		tooShort, tooShort, tooShort, tooShort,
	}
)

// Classes of ASCII characters for AVX2. It looks a character up by each of its nibbles, and its
// classes are those in both results. So the characters of a class are all combinations of some high
// and some low nibbles. There is no class for surrogates: all of \ud... are taken for those.
const (
	simple2  = 1 << iota // quote and slash
	simple5              // backslash
	simple6              // b, f, n
	simple7              // r, t
	unicode7             // u
	digit3               // 0 to 9
	digit46              // a to f
	d46                  // d
)

var (
	classOfHigh = [16]byte{2: simple2, 3: digit3, 4: digit46 | d46, 5: simple5, 6: simple6 | digit46 | d46, 7: simple7 | unicode7}
	classOfLow  = [16]byte{
		digit3, digit3 | digit46, digit3 | digit46 | simple2 | simple6 | simple7, digit3 | digit46, digit3 | digit46 | simple7 | d46,
		digit3 | digit46 | unicode7, digit3 | digit46 | simple6, digit3, digit3, digit3, 0, 0, simple5, 0, simple6, simple2,
	}
)

var tables = map[string]Mem{}

// constant returns a table by its name, and defines it on first use.
func constant(name string) Mem {
	m, ok := tables[name]
	if ok {
		return m
	}
	switch name {
	case "classLow":
		m = table(name, func(i int) byte { return classOf(byte(i)) })
	case "classHigh":
		m = table(name, func(i int) byte { return classOf(byte(64 + i)) })
	case "simpleOrUnicode":
		m = all(name, simple|unicode)
	case "unicode":
		m = all(name, unicode)
	case "hex":
		m = all(name, hex)
	case "hexD":
		m = all(name, hexD)
	case "highHalf":
		m = all(name, highHalf)
	case "simpleOrUnicode256":
		m = all(name, simple2|simple5|simple6|simple7|unicode7)
	case "unicode256":
		m = all(name, unicode7)
	case "hex256", "highHalf256":
		m = all(name, digit3|digit46)
	case "hexD256":
		m = all(name, d46)
	case "classOfHigh":
		m = byNibble(name, classOfHigh)
	case "classOfLow":
		m = byNibble(name, classOfLow)
	case "nibble":
		m = all(name, 0x0f)
	case "firstHigh":
		m = byNibble(name, firstHigh)
	case "firstLow":
		m = byNibble(name, firstLow)
	case "secondHigh":
		m = byNibble(name, secondHigh)
	case "third": // a byte is a lead byte of three or more if subtracting this leaves at least 80
		m = all(name, 0xe0-0x80)
	case "fourth":
		m = all(name, 0xf0-0x80)
	case "top":
		m = all(name, 0x80)
	case "mayEnd": // the largest bytes that may be the last three
		m = table(name, func(i int) byte {
			switch i {
			case 61:
				return 0xf0 - 1
			case 62:
				return 0xe0 - 1
			case 63:
				return 0xc0 - 1
			}
			return 0xff
		})
	case "space":
		m = all(name, ' ')
	case "del":
		m = all(name, 0x7f)
	case "feed":
		m = all(name, '\n')
	case "return":
		m = all(name, '\r')
	case "lastContinuation": // the largest byte that continues a character
		m = all(name, 0xbf)
	case "beforeSpace":
		m = all(name, ' '-1)
	case "quote":
		m = all(name, '"')
	case "backslash":
		m = all(name, '\\')
	case "openObject": // and [, folded
		m = all(name, '{')
	case "closeObject":
		m = all(name, '}')
	case "openArray":
		m = all(name, '[')
	case "closeArray":
		m = all(name, ']')
	case "colon":
		m = all(name, ':')
	case "comma":
		m = all(name, ',')
	case "structural": // of those that end in the nibble, folded
		m = byNibble(name, [16]byte{0xa: ':', 0xb: '{', 0xc: ',', 0xd: '}'})
	case "blank":
		m = byNibble(name, [16]byte{0: ' ', 9: '\t', 0xa: '\n', 0xd: '\r'})
	case "index":
		m = table(name, func(i int) byte { return byte(i) })
	case "step":
		m = table(name, func(i int) byte { return byte(64 * (1 - i&1)) })
	case "zero":
		m = all(name, '0')
	case "nine":
		m = all(name, 9)
	case "dot":
		m = all(name, '.')
	case "minus":
		m = all(name, '-')
	case "beforeLetters": // all ASCII from 0x40 on
		m = all(name, 0x3f)
	case "three0", "three1", "three2": // by the lower six bits
		m = table(name, func(i int) byte { return inThree(int(name[5]-'0'), byte(0x40|i)) })
	case "thirds":
		m = all(name, tru|nul|fal)
	case "lasts":
		m = all(name, rue|ull|lse)
	case "fourths":
		m = all(name, als)
	case "ones":
		m = all(name, 0xff)
	case "bits": // before each of eight words
		m = table(name, func(i int) byte { return byte(i / 8 * 64 >> (i % 8 * 8)) })
	default:
		panic("no table " + name)
	}
	tables[name] = m
	return m
}
