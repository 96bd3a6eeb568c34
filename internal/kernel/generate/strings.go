package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// checks emits what is checked of the content of strings, for blocks of 64 bytes one after
// another. What it carries from block to block is in memory, as most blocks need none of it:
// they have neither a backslash nor a byte that is not ASCII.
type checks struct {
	machine
	before reg.VecVirtual // the vector before
	open   reg.GPVirtual  // not zero: an escape goes on in the next block
	short  Mem            // not zero: a character goes on in the next block

	escape Mem // 1: the next block's first byte is escaped
	digits Mem // which of the next block's bytes must be hexadecimal digits
	second Mem // 1: the first of these is the second one of a \ud...
}

func newChecks(m machine) *checks {
	c := &checks{machine: m, before: m.vector(), open: GP64(), short: AllocLocal(8), escape: AllocLocal(8), digits: AllocLocal(8), second: AllocLocal(8)}
	c.xor(c.before, c.before, c.before)
	XORQ(c.open, c.open)
	for _, m := range []Mem{c.short, c.escape, c.digits, c.second} {
		MOVQ(c.open, m)
	}
	return c
}

// escapes takes block v with backslashes where the bits of slashes are, and notAscii where the bits
// are set. It sets the bits of escaped where characters are escaped by a backslash, and those of bad
// where these may not be, or may be surrogates. label is where to go on.
func (c *checks) escapes(v block, slashes, notAscii, escaped, bad reg.GPVirtual, label string) {
	const odd = 0xaaaaaaaaaaaaaaaa
	Comment("A run of backslashes escapes what follows if its length is odd: subtracting the",
		"bits that may start an escape from the odd bits ripples through each run.")
	first := copied(c.escape)
	starts := GP64()
	ANDNQ(slashes, first, starts)
	ripple := GP64()
	LEAQ(Mem{Base: starts, Index: starts, Scale: 1}, ripple)
	odds := GP64()
	MOVQ(U64(odd), odds)
	ORQ(odds, ripple)
	SUBQ(starts, ripple)
	XORQ(odds, ripple)
	MOVQ(slashes, escaped)
	ORQ(first, escaped)
	XORQ(ripple, escaped)
	ANDQ(slashes, ripple)
	SHRQ(Imm(63), ripple)
	MOVQ(ripple, c.escape)
	MOVQ(ripple, c.open)

	Comment("Classes of what may be within escapes.")
	class := c.classes(v, notAscii)
	wrong := GP64()
	ANDNQ(escaped, c.having(class, "simpleOrUnicode"), wrong)
	ORQ(wrong, bad)

	u := c.having(class, "unicode")
	ANDQ(escaped, u)
	any := copied(u)
	digits := copied(c.digits)
	ORQ(digits, any)
	ORQ(c.second, any)
	JZ(LabelRef(label))

	Comment("Four digits follow a u. D with 8 or more is a surrogate, which is left to others.")
	firstDigit := copied(digits)
	SHRQ(Imm(3), firstDigit) // the carry has its highest bit set if it starts at the first digit
	must := digits
	after := GP64()
	XORQ(after, after)
	t := copied(u)
	for range 4 {
		ADDQ(t, t)
		ORQ(t, must)
	}
	for shift := 60; shift < 64; shift++ {
		t = copied(u)
		SHRQ(Imm(uint64(shift)), t)
		ORQ(t, after)
	}
	MOVQ(after, c.digits)
	ORQ(after, c.open)
	ANDNQ(must, c.having(class, "hex"), wrong)
	ORQ(wrong, bad)
	ADDQ(u, u)
	ORQ(firstDigit, u)
	ANDQ(c.having(class, "hexD"), u)
	second := copied(u)
	ADDQ(second, second)
	ORQ(c.second, second)
	ANDQ(c.having(class, "highHalf"), second)
	ORQ(second, bad)
	SHRQ(Imm(63), u)
	MOVQ(u, c.second)
	ORQ(u, c.open)
	JMP(LabelRef(label))
}

// utf8 sets the bits of bad where block v is not UTF-8.
func (c *checks) utf8(v block, bad reg.GPVirtual) {
	before := c.before
	wrong := c.block()
	for i, part := range v {
		c.wrongPairs(before, part, wrong[i])
		before = part
	}
	ORQ(c.nonzero(wrong), bad)
	rest := c.vector()
	VPSUBUSB(constant("mayEnd").Offset(64-64/len(v)), v.last(), rest)
	MOVQ(c.nonzero(block{rest, rest}), c.short) // which bits are set does not matter
}

// wrongPairs sets wrong to what is not UTF-8 in vector v, which follows before.
func (c *checks) wrongPairs(before, v, wrong reg.VecVirtual) {
	Comment("The bytes before each byte.")
	back := c.back(before, v)
	one, two, three := back(1), back(2), back(3)
	look := func(t string, z Op, high bool) reg.VecVirtual {
		index := c.nibbles(z, high)
		VPSHUFB(index, c.loaded(t), index)
		return index
	}
	Comment("What three nibbles of each two bytes in a row agree on is wrong with them, but for",
		"a second continuation, which is right and needed two after E0 and three after F0.")
	c.and(look("firstHigh", one, true), look("firstLow", one, false), wrong)
	c.and(look("secondHigh", v, true), wrong, wrong)
	VPSUBUSB(constant("third"), two, two)
	VPSUBUSB(constant("fourth"), three, three)
	c.or(two, three, three)
	c.and(constant("top"), three, three)
	c.xor(three, wrong, wrong)
}
