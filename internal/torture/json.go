package torture

import "math/rand/v2"

// stringPieces are pieces of strings: characters of all lengths, all escapes, and texts that are
// neither.
var stringPieces = []string{
	"a", "b", "name", "plain text ", "a longer piece of text that needs more than one word", "<&>", "\x7f", "/",
	`\"`, `\\`, `\/`, `\b`, `\f`, `\n`, `\r`, `\t`, `\u0000`, `\u00fc`, `\u0041`, `\uD83d\ude00`, `\ud7ff`, `\uE000`, `\u2028`,
	"ü", "€", "日本語", "😀", "\u0080", "\u07ff", "\u0800", "\ud7ff", "\ue000", "\uffff", "\U00010000", "\U0010ffff",
}

var brokenPieces = []string{
	`\`, `\u`, `\u1`, `\u12`, `\u12g4`, `\x`, `\U0041`, `\ud800`, `\udc00`, `\ud800\ud800`, `\ud800x`, `\udbff\u0041`,
	"\x00", "\x1f", "\n", "\x80", "\xbf", "\xc0\xaf", "\xc1\x81", "\xc3", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80", "\xf0\x80\x80\x80",
	"\xf0\x9f\x98", "\xf4\x90\x80\x80", "\xf5", "\xff",
}

// String appends the content of a string, without its quotes. One in eight is broken.
func String(r *rand.Rand, b []byte) []byte {
	n := r.IntN(6)
	if r.IntN(8) == 0 {
		n = r.IntN(60) // several blocks of the kernels
	}
	breaks := r.IntN(8) == 0
	for ; n > 0; n-- {
		if breaks && r.IntN(4) == 0 {
			b = append(b, One(r, brokenPieces)...)
		} else {
			b = append(b, One(r, stringPieces[r.IntN(len(stringPieces)):])...)
		}
	}
	return b
}

var (
	digits    = []string{"0", "1", "9", "12", "00", "308", "309", "9223372036854775807", "9223372036854775808", "123456789012345678901234567890"}
	fractions = []string{"", "", ".0", ".5", ".000", ".25", ".1234567890123456789"}
	exponents = []string{"", "", "", "e", "E+", "e-", "E"}
)

// Number appends a number, or a text that resembles one.
func Number(r *rand.Rand, b []byte) []byte {
	if r.IntN(4) == 0 {
		b = append(b, '-')
	}
	b = append(b, One(r, digits)...)
	b = append(b, One(r, fractions)...)
	if e := One(r, exponents); e != "" {
		b = append(b, e...)
		b = append(b, One(r, digits[:7])...)
	}
	return b
}

var (
	literals = []string{"null", "true", "false", `""`, "0", "-1", "1.5", "{}", "[]", `"a"`}
	blanks   = []string{" ", "\n", "\t", "\r\n", "          ", "  \n            "}
	names    = []string{"a", "b", "c", "asd", "unknown", `\u0061`, "metadata", "kind", "name", "labels", "a longer name of a member"}
)

// JSON appends a document. It is valid, except that strings and numbers may be broken.
func JSON(r *rand.Rand, b []byte) []byte { return value(r, b, 0) }

func value(r *rand.Rand, b []byte, depth int) []byte {
	b = blank(r, b)
	kind := r.IntN(10)
	switch {
	case depth > 3:
		kind %= 6 // nothing nests deeper
	case depth == 0 && kind < 4 && r.IntN(4) > 0:
		kind += 6 // documents are objects and arrays
	}
	switch {
	case kind < 3:
		b = append(b, One(r, literals)...)
	case kind < 4:
		b = Number(r, b)
	case kind < 6:
		b = append(String(r, append(b, '"')), '"')
	case kind < 8:
		b = list(r, b, depth, '[', ']', value)
	default:
		b = list(r, b, depth, '{', '}', member)
	}
	return blank(r, b)
}

func list(r *rand.Rand, b []byte, depth int, open, end byte, one func(*rand.Rand, []byte, int) []byte) []byte {
	b = append(b, open)
	for i := range r.IntN(4) {
		if i > 0 {
			b = append(b, ',')
		}
		b = one(r, b, depth+1)
	}
	return append(blank(r, b), end)
}

func member(r *rand.Rand, b []byte, depth int) []byte {
	b = append(blank(r, b), '"')
	if r.IntN(16) == 0 {
		b = String(r, b)
	} else {
		b = append(b, One(r, names)...)
	}
	b = append(blank(r, append(b, '"')), ':')
	return value(r, b, depth)
}

func blank(r *rand.Rand, b []byte) []byte {
	if r.IntN(12) == 0 {
		b = append(b, One(r, blanks)...)
	}
	return b
}
