package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// The rows of masks that scalars makes of a text. Each has eight words.
const (
	ofScalars = iota
	digits
	dots
	minuses
	zeros
	letters
	thirds  // the last letter of tru, nul, fal
	lasts   // of rue, ull, lse
	fourths // of als
	rows
)

// The groups of three letters that a letter may be part of.
const (
	tru = 1 << iota
	nul
	fal
	rue
	ull
	lse
	als
)

// inThree returns the groups of three letters in which a byte may be the i-th.
func inThree(i int, c byte) (class byte) {
	for bit, three := range []string{"tru", "nul", "fal", "rue", "ull", "lse", "als"} {
		if three[i] == c {
			class |= 1 << bit
		}
	}
	return class
}

// scalars emits the kernel of [kernel.Tokens.Scalars].
func scalars() {
	TEXT("checkScalars", NOSPLIT, "func(text *byte, n int) (plain, odd bool)")
	text := Load(Param("text"), GP64())
	n := Load(Param("n"), GP64())
	masks := AllocLocal(rows * 64)
	zero, anyOdd := ZMM(), ZMM()
	VPXORQ(zero, zero, zero)
	VPXORQ(anyOdd, anyOdd, anyOdd)
	MOVB(Imm(0), mustAddr(0))
	MOVB(Imm(0), mustAddr(1))
	TESTQ(n, n)
	JLE(LabelRef("plain"))

	Label("text")
	Comment("Masks of up to eight blocks.")
	of := make([]reg.VecVirtual, 3)
	for i, name := range []string{"three0", "three1", "three2"} {
		of[i] = ZMM()
		VMOVDQU64(constant(name), of[i])
	}
	at, row := GP64(), GP64()
	XORQ(at, at)
	LEAQ(masks, row)
	Label("block")
	v, number := ZMM(), ZMM()
	VMOVDQU64(Mem{Base: text, Index: at, Scale: 1}, v)
	store := func(k reg.Register, i int) { KMOVQ(k, Mem{Base: row, Disp: 64 * i}) }
	k := K()
	VPCMPUB(Imm(4), constant("comma"), v, k) // not equal
	store(k, ofScalars)
	VPSUBB(constant("zero"), v, number)
	k = K()
	VPCMPUB(Imm(2), constant("nine"), number, k) // at most
	store(k, digits)
	store(equal(v, constant("dot")), dots)
	store(equal(v, constant("minus")), minuses)
	store(equal(v, constant("zero")), zeros)
	k = K()
	VPCMPGTB(constant("beforeLetters"), v, k)
	store(k, letters)
	Comment("Three letters in a row: the groups that all three agree on.")
	three := ZMM()
	VPERMB(of[2], v, three)
	for i := range 2 {
		z := ZMM()
		VMOVDQU64(Mem{Base: text, Index: at, Scale: 1, Disp: i - 2}, z)
		VPERMB(of[i], z, z)
		VPANDQ(z, three, three)
	}
	store(test(three, constant("thirds")), thirds)
	store(test(three, constant("lasts")), lasts)
	store(test(three, constant("fourths")), fourths)
	ADDQ(Imm(64), at)
	ADDQ(Imm(8), row)
	CMPQ(at, I32(8*64))
	JGE(LabelRef("grammar"))
	CMPQ(at, n)
	JL(LabelRef("block"))

	Label("grammar")
	mask := func(i int) reg.VecVirtual {
		z := ZMM()
		VMOVDQU64(masks.Offset(64*i), z)
		return z
	}
	// after returns the bits that are n places after those of z.
	after := func(n uint64, z reg.VecVirtual) reg.VecVirtual {
		before := ZMM()
		VALIGNQ(Imm(7), zero, z, before)
		shiftDouble(n, before, z, before)
		return before
	}
	or := func(x, y Op) reg.VecVirtual { z := ZMM(); VPORQ(x, y, z); return z }
	and := func(x, y Op) reg.VecVirtual { z := ZMM(); VPANDQ(x, y, z); return z }
	without := func(x, y reg.VecVirtual) reg.VecVirtual { z := ZMM(); VPANDNQ(x, y, z); return z }
	scalar, digit, dot, minus := mask(ofScalars), mask(digits), mask(dots), mask(minuses)
	wrong := ZMM()
	VPXORQ(wrong, wrong, wrong)
	// must records that the bits of x have to be in y, too.
	must := func(x, y reg.VecVirtual) { VPORQ(without(x, y), wrong, wrong) }

	start := without(scalar, after(1, scalar))
	Comment("A minus starts a scalar, a digit follows it, and a dot is between digits.")
	must(minus, start)
	afterMinus, afterDot := after(1, minus), after(1, dot)
	must(or(afterMinus, afterDot), digit)
	must(dot, after(1, digit))
	Comment("No digit is after a zero at the start.")
	zeroDigit := mask(zeros)
	VPORQ(and(after(1, and(zeroDigit, or(start, afterMinus))), digit), wrong, wrong)
	Comment("No dot is after the digits of a fraction: adding their first bit ripples through them.")
	sum, carry, carried := ZMM(), K(), K()
	VPADDQ(digit, and(afterDot, digit), sum)
	VPCMPUQ(Imm(1), digit, sum, carry)
	KSHIFTLB(Imm(1), carry, carried)
	VPSUBQ(constant("ones"), sum, carried, sum)
	VPORQ(and(without(sum, digit), dot), wrong, wrong)

	Comment("Literals have the right three letters from the third on.")
	letter := mask(letters)
	l1 := and(start, letter)
	l2 := after(1, l1)
	l3 := after(1, l2)
	l4 := after(1, l3)
	long := and(l4, mask(fourths))
	l5 := after(1, long)
	last := mask(lasts)
	must(l3, mask(thirds))
	must(l4, or(last, long))
	must(l5, last)
	end := or(without(l4, long), l5)
	VPORQ(and(after(1, end), scalar), wrong, wrong)
	all := or(or(or(l1, l2), or(l3, l4)), l5)
	VPXORQ(letter, all, all)
	VPORQ(all, wrong, wrong)
	must(scalar, or(or(digit, dot), or(minus, letter)))

	Comment("None has 19 bytes or more.")
	run := scalar
	for _, n := range []uint64{1, 2, 4, 8, 3} {
		run = and(run, after(n, run))
	}
	VPORQ(run, wrong, wrong)

	Comment("Bytes after the text do not count.")
	valid := ZMM()
	VPBROADCASTQ(n, valid)
	VPSUBQ(constant("bits"), valid, valid)
	VPMAXSQ(zero, valid, valid)
	VPSLLVQ(valid, ones(), valid)
	VPANDNQ(wrong, valid, wrong)
	VPTESTMQ(wrong, wrong, carry)
	KORTESTB(carry, carry)
	JNZ(LabelRef("done"))
	odd := or(dot, and(afterMinus, zeroDigit))
	VPANDNQ(odd, valid, odd)
	VPORQ(odd, anyOdd, anyOdd)

	Comment("The next blocks start after the last scalar that ends in these.")
	SUBQ(I32(8*64), n)
	JLE(LabelRef("plain"))
	t := GP64()
	MOVQ(masks.Offset(64*ofScalars+7*8), t)
	NOTQ(t)
	TESTQ(t, t)
	JZ(LabelRef("done"))
	BSRQ(t, t)
	SUBQ(t, n)
	ADDQ(Imm(63), n)
	LEAQ(Mem{Base: text, Index: t, Scale: 1, Disp: 7*64 + 1}, text)
	JMP(LabelRef("text"))

	Label("plain")
	MOVB(Imm(1), mustAddr(0))
	VPTESTMQ(anyOdd, anyOdd, carry)
	KORTESTB(carry, carry)
	SETNE(mustAddr(1))
	Label("done")
	VZEROUPPER()
	RET()
}

func ones() reg.VecVirtual {
	z := ZMM()
	VPTERNLOGQ(Imm(0xff), z, z, z)
	return z
}
