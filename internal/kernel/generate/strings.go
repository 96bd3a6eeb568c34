package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// checks emits the checks of the content of strings, for blocks of 64 bytes one after another. The
// state between blocks is in memory, as most blocks need none of it: they have neither a backslash
// nor a byte that is not ASCII.
type checks struct {
	machine
	before reg.VecVirtual // the vector before this one
	open   reg.GPVirtual  // not zero: an escape goes on in the next block
	short  Mem            // not zero: a character goes on in the next block

	escape Mem // 1: the first byte of the next block is escaped
	digits Mem // the bytes of the next block that must be hexadecimal digits
	second Mem // 1: the first of these is the second digit of a \ud...
}

func newChecks(m machine) *checks {
	c := &checks{machine: m, before: m.vector(), open: GP64(),
		short: AllocLocal(8), escape: AllocLocal(8), digits: AllocLocal(8), second: AllocLocal(8)}
	c.xor(c.before, c.before, c.before)
	XORQ(c.open, c.open)
	for _, m := range []Mem{c.short, c.escape, c.digits, c.second} {
		MOVQ(c.open, m)
	}
	return c
}

// escapes checks the escapes of block v, whose backslashes are the bits of slashes. It sets the
// bits of escaped at characters after a backslash, and the bits of bad where these are not allowed,
// or may be surrogates. It jumps to label if there is nothing to check.
func (c *checks) escapes(v block, slashes, notAscii, escaped, bad reg.GPVirtual, label string) {
	const odd = 0xaaaaaaaaaaaaaaaa
	Comment("A run of backslashes escapes the next character if its length is odd: subtracting the",
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

	Comment("Classes of the bytes that may be within escapes.")
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
	MOVQ(c.nonzero(block{rest, rest}), c.short) // it only matters whether any bit is set
}

// wrongPairs sets wrong to the faults of UTF-8 in vector v, which follows before.
func (c *checks) wrongPairs(before, v, wrong reg.VecVirtual) {
	Comment("The bytes before each byte.")
	back := c.back(before, v)
	one, two, three := back(1), back(2), back(3)
	look := func(t string, z Op, high bool) reg.VecVirtual {
		index := c.nibbles(z, high)
		VPSHUFB(index, c.loaded(t), index)
		return index
	}
	Comment("The faults that three nibbles of two bytes in a row agree on are there, except for",
		"a second continuation, which is right and needed two after E0 and three after F0.")
	c.and(look("firstHigh", one, true), look("firstLow", one, false), wrong)
	c.and(look("secondHigh", v, true), wrong, wrong)
	VPSUBUSB(constant("third"), two, two)
	VPSUBUSB(constant("fourth"), three, three)
	c.or(two, three, three)
	c.and(constant("top"), three, three)
	c.xor(three, wrong, wrong)
}
