package torture

import "strings"

// A Place is a state of an automaton that accepts the JSON texts of RFC 8259: where in its grammar a
// text is, and which containers are open. It is written from the RFC, byte by byte, and shares no
// code with the machines. The zero Place is before the text.
//
// Like the machines it is stricter than the RFC where strings are concerned: they are UTF-8 (RFC 3629
// section 4), and the escape of a surrogate is refused, when its digits are complete, unless it is
// one of a pair.
type Place struct {
	At     Lexeme
	InName bool   // the string is a name
	Open   string // the open containers, each by its bracket, outermost first
}

// A Lexeme is a position within a token, or what is expected between tokens.
type Lexeme uint8

// The lexemes.
const (
	AtValue        Lexeme = iota // a value
	AtFirstElement               // a value or ]
	AtFirstName                  // a name or }
	AtName                       // a name
	AtColon
	AfterValue // a comma or the bracket that closes; nothing after the text
	InString
	InEscape     // after the backslash
	Hex1         // the first of four digits
	Hex2         // the second, ...
	Hex3         //
	Hex4         //
	HexD         // the second, after D
	High3        // the third of the first of a pair, ...
	High4        //
	Low          // the backslash of the second of a pair, ...
	LowU         // its u, ...
	Low1         //
	Low2         //
	Low3         //
	Low4         //
	Lone2        // the second digit of what cannot be the second of a pair, ...
	Lone3        //
	Lone4        // after which it is refused
	Tail1        // one more byte of a character, ...
	Tail2        //
	Tail3        //
	TailE0       // the second byte of three after E0, which is A0 at least, ...
	TailED       // and after ED, at most 9F
	TailF0       // the second byte of four after F0, which is 90 at least, ...
	TailF4       // and after F4, at most 8F
	Minus        // after -
	Zero         // after a 0 that starts a number
	Integer      // within the digits of an integer
	Point        // after .
	Fraction     // within the digits after it
	Exponent     // after e
	ExponentSign // after its sign
	ExponentMore // within its digits
	T1           // r of true, ...
	T2
	T3
	F1 // a of false, ...
	F2
	F3
	F4
	N1 // u of null, ...
	N2
	N3
	Lexemes // how many there are
)

// A step is an edge of the automaton for bytes from first to last.
type step struct {
	first, last byte
	to          Lexeme
}

// within are the edges within tokens.
var within = [Lexemes][]step{
	InString: {
		{'"', '"', AfterValue}, {'\\', '\\', InEscape}, {0x20, 0x21, InString}, {0x23, 0x5b, InString}, {0x5d, 0x7f, InString},
		{0xc2, 0xdf, Tail1}, {0xe0, 0xe0, TailE0}, {0xe1, 0xec, Tail2}, {0xed, 0xed, TailED}, {0xee, 0xef, Tail2},
		{0xf0, 0xf0, TailF0}, {0xf1, 0xf3, Tail3}, {0xf4, 0xf4, TailF4},
	},
	Tail1: {{0x80, 0xbf, InString}}, Tail2: {{0x80, 0xbf, Tail1}}, Tail3: {{0x80, 0xbf, Tail2}},
	TailE0: {{0xa0, 0xbf, Tail1}}, TailED: {{0x80, 0x9f, Tail1}}, TailF0: {{0x90, 0xbf, Tail2}}, TailF4: {{0x80, 0x8f, Tail2}},

	InEscape: append(each(`"\/bfnrt`, InString), step{'u', 'u', Hex1}),
	Hex1:     append(each("dD", HexD), hex(Hex2)...),
	Hex2:     hex(Hex3), Hex3: hex(Hex4), Hex4: hex(InString),
	HexD:  append([]step{{'0', '7', Hex3}, {'8', '9', High3}, {'a', 'b', High3}, {'A', 'B', High3}}, hex(Lone3)...),
	High3: hex(High4), High4: hex(Low), Low: each(`\`, LowU), LowU: each("u", Low1),
	Low1: append(each("dD", Low2), hex(Lone2)...),
	Low2: append([]step{{'c', 'f', Low3}, {'C', 'F', Low3}}, hex(Lone3)...),
	Low3: hex(Low4), Low4: hex(InString), Lone2: hex(Lone3), Lone3: hex(Lone4),

	Minus: {{'0', '0', Zero}, {'1', '9', Integer}},
	Zero:  {{'.', '.', Point}, {'e', 'e', Exponent}, {'E', 'E', Exponent}},
	Integer: {
		{'0', '9', Integer}, {'.', '.', Point}, {'e', 'e', Exponent}, {'E', 'E', Exponent},
	},
	Point:        {{'0', '9', Fraction}},
	Fraction:     {{'0', '9', Fraction}, {'e', 'e', Exponent}, {'E', 'E', Exponent}},
	Exponent:     {{'+', '+', ExponentSign}, {'-', '-', ExponentSign}, {'0', '9', ExponentMore}},
	ExponentSign: {{'0', '9', ExponentMore}},
	ExponentMore: {{'0', '9', ExponentMore}},

	T1: each("r", T2), T2: each("u", T3), T3: each("e", AfterValue),
	F1: each("a", F2), F2: each("l", F3), F3: each("s", F4), F4: each("e", AfterValue),
	N1: each("u", N2), N2: each("l", N3), N3: each("l", AfterValue),
}

func each(bytes string, to Lexeme) (steps []step) {
	for _, c := range []byte(bytes) {
		steps = append(steps, step{c, c, to})
	}
	return steps
}

func hex(to Lexeme) []step { return []step{{'0', '9', to}, {'a', 'f', to}, {'A', 'F', to}} }

// values are the edges where a value is expected, but for brackets.
var values = []step{
	{'"', '"', InString}, {'-', '-', Minus}, {'0', '0', Zero}, {'1', '9', Integer}, {'t', 't', T1}, {'f', 'f', F1}, {'n', 'n', N1},
}

// find returns where the first of the steps for a byte leads.
func find(steps []step, c byte) (Lexeme, bool) {
	for _, s := range steps {
		if s.first <= c && c <= s.last {
			return s.to, true
		}
	}
	return 0, false
}

// Next returns the place after one more byte. It reports false where the byte is not allowed.
func (p Place) Next(c byte) (Place, bool) {
	if to, ok := find(within[p.At], c); ok {
		if p.At == InString && to == AfterValue && p.InName {
			return Place{At: AtColon, Open: p.Open}, true
		}
		p.At = to
		return p, true
	}
	if p.endsNumber() {
		p.At = AfterValue
	}
	if p.At > AfterValue {
		return p, false
	}
	if c == ' ' || c == '\t' || c == '\n' || c == '\r' {
		return p, true
	}
	return p.between(c)
}

// between is Next between tokens.
func (p Place) between(c byte) (Place, bool) {
	inObject := strings.HasSuffix(p.Open, "{")
	switch p.At {
	case AtFirstElement, AtValue:
		if c == '[' {
			return Place{At: AtFirstElement, Open: p.Open + "["}, true
		}
		if c == '{' {
			return Place{At: AtFirstName, Open: p.Open + "{"}, true
		}
		if c == ']' && p.At == AtFirstElement {
			return p.closed(), true
		}
		to, ok := find(values, c)
		return Place{At: to, Open: p.Open}, ok
	case AtFirstName, AtName:
		if c == '}' && p.At == AtFirstName {
			return p.closed(), true
		}
		return Place{At: InString, InName: true, Open: p.Open}, c == '"'
	case AtColon:
		return Place{At: AtValue, Open: p.Open}, c == ':'
	}
	switch {
	case p.Open == "":
		return p, false
	case c == ',' && inObject:
		return Place{At: AtName, Open: p.Open}, true
	case c == ',':
		return Place{At: AtValue, Open: p.Open}, true
	}
	return p.closed(), c == '}' && inObject || c == ']' && !inObject
}

func (p Place) closed() Place { return Place{At: AfterValue, Open: p.Open[:len(p.Open)-1]} }

// endsNumber reports whether the text so far ends in a whole number, which more bytes may continue.
func (p Place) endsNumber() bool {
	return p.At == Zero || p.At == Integer || p.At == Fraction || p.At == ExponentMore
}

// IsWhole reports whether the text so far is a JSON text.
func (p Place) IsWhole() bool { return p.Open == "" && (p.At == AfterValue || p.endsNumber()) }

// rests complete a token, or what is expected where there is none.
var rests = [Lexemes]string{
	AtValue: "0", AtFirstElement: "", AtFirstName: "", AtName: `"z":0`, AtColon: ":0", AfterValue: "",
	InString: `"`, InEscape: `n"`, Hex1: `0000"`, Hex2: `000"`, Hex3: `00"`, Hex4: `0"`, HexD: `000"`,
	High3: `00\udc00"`, High4: `0\udc00"`, Low: `\udc00"`, LowU: `udc00"`, Low1: `dc00"`, Low2: `c00"`, Low3: `00"`, Low4: `0"`,
	Tail1: "\x80\"", Tail2: "\x80\x80\"", Tail3: "\x80\x80\x80\"", TailE0: "\xa0\x80\"", TailED: "\x80\x80\"",
	TailF0: "\x90\x80\x80\"", TailF4: "\x80\x80\x80\"",
	Minus: "1", Point: "5", Exponent: "1", ExponentSign: "1",
	T1: "rue", T2: "ue", T3: "e", F1: "a" + "lse", F2: "lse", F3: "se", F4: "e", N1: "ull", N2: "ll", N3: "l",
}

// Rest returns a text after which the text is whole, or false if there is none.
func (p Place) Rest() (string, bool) {
	if p.At == Lone2 || p.At == Lone3 || p.At == Lone4 {
		return "", false
	}
	rest := rests[p.At]
	if p.InName {
		rest += ":0"
	}
	for i := len(p.Open) - 1; i >= 0; i-- {
		rest += string(p.Open[i] + 2) // } comes two after {, and ] after [
	}
	return rest, true
}

// Classes returns a number for each byte, below count: bytes have the same one if the automaton, at
// each place, goes to the same place with them.
func Classes() (class [256]int, count int) {
	known := make(map[[2 * Lexemes]Lexeme]int)
	for c := range 256 {
		var row [2 * Lexemes]Lexeme
		for at := range Lexemes {
			for i, open := range []string{"{", "["} {
				row[2*int(at)+i] = Lexemes
				if to, ok := (Place{At: at, Open: open}).Next(byte(c)); ok {
					row[2*int(at)+i] = to.At + Lexeme(len(to.Open))<<6
				}
			}
		}
		if _, ok := known[row]; !ok {
			known[row] = len(known)
		}
		class[c] = known[row]
	}
	return class, len(known)
}
