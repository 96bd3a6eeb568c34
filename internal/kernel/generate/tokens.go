package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// The layout of kernel.Tokens.
const (
	maxTokens = 2048 + 64 // kernel.MaxBytes, and the room that a store may overwrite
	maxNames  = 2048/3 + 64

	posAt     = 0
	firstAt   = posAt + 2*maxTokens
	wordsAt   = firstAt + maxTokens + 128
	wordSize  = 7 * 8
	scalarsAt = wordsAt + (2048/64+1)*wordSize
	sizeAt    = scalarsAt + maxTokens + 64
	namesAt   = sizeAt + 8
	fromAt    = namesAt + 8*maxNames
	colonsAt  = fromAt + 2*maxNames
)

// The layout of kernel.Word.
const (
	openObjectAt = 8 * iota
	closeObjectAt
	openArrayAt
	closeArrayAt
	colonAt
	commaAt
	stringAt
)

// tokens emits the kernel of [kernel.Tokens.Find].
func tokens() {
	TEXT("findTokens", NOSPLIT, "func(t, b *byte, n, depth int) (count, size int, slashes bool)")
	dst := Load(Param("t"), GP64())
	b := Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	c := newChecks(avx512)
	from := AllocLocal(8)
	MOVQ(b, from)
	depth, inScalar := AllocLocal(8), AllocLocal(8) // there are too few registers
	MOVQ(Load(Param("depth"), GP64()), depth)
	scalars := AllocLocal(8)
	MOVQ(c.open, inScalar) // zero
	MOVQ(c.open, scalars)
	MOVB(Imm(0), mustAddr(2))

	space, quote, backslash, ones, index, base, step := ZMM(), ZMM(), ZMM(), XMM(), ZMM(), ZMM(), ZMM()
	VMOVDQU64(constant("space"), space)
	VMOVDQU64(constant("quote"), quote)
	VMOVDQU64(constant("backslash"), backslash)
	structural, blank, comma := ZMM(), ZMM(), ZMM()
	VMOVDQU64(constant("comma"), comma)
	VMOVDQU64(constant("structural"), structural)
	VMOVDQU64(constant("blank"), blank)
	VMOVDQU64(constant("index"), index)
	VMOVDQU64(constant("step"), step)
	VPCMPEQB(ones, ones, ones)
	VPXORQ(base, base, base)

	count, inString := GP64(), GP64()
	XORQ(count, count)
	XORQ(inString, inString)

	bad, escaped, slashes, quotes, notAscii := GP64(), GP64(), GP64(), GP64(), GP64()
	t := GP64()
	v := ZMM()

	Label("block")
	CMPQ(n, Imm(64))
	JL(LabelRef("last"))
	VMOVDQU64(Mem{Base: b}, v)
	Label("loaded")
	ks := equal(v, backslash)
	KMOVQ(ks, slashes)
	KMOVQ(equal(v, quote), quotes)
	kn, kc := K(), K()
	VPMOVB2M(v, kn)
	KMOVQ(kn, notAscii)
	XORQ(bad, bad)
	MOVQ(slashes, t)
	ORQ(c.open, t)
	JNZ(LabelRef("slashes"))
	Label("unescaped")
	Comment("The prefix sum of exclusive ors of the quotes is the mask of strings.")
	x := XMM()
	VMOVQ(quotes, x)
	VPCLMULQDQ(Imm(0), ones, x, x)
	within := GP64()
	VMOVQ(x, within)
	XORQ(inString, within)
	MOVQ(within, inString)
	SARQ(Imm(63), inString)
	VPCMPUB(Imm(1), space, v, kc)
	control := fromMask(kc)
	ANDQ(within, control)
	ORQ(control, bad)
	MOVQ(notAscii, t)
	ORQ(c.short, t)
	JNZ(LabelRef("utf8"))
	Label("ascii")
	VMOVDQA64(v, c.before)
	TESTQ(bad, bad)
	JNZ(LabelRef("end"))

	Comment("Bytes that are structural, blank, or else part of a number or literal.")
	folded, z := ZMM(), ZMM()
	VPORQ(space, v, folded)
	VPSHUFB(v, structural, z)
	op := fromMask(equal(folded, z))
	VPSHUFB(v, blank, z)
	rest := fromMask(equal(v, z))
	opening := copied(within)
	ANDQ(quotes, opening)
	ORQ(within, quotes) // all of strings
	ORQ(op, rest)
	ANDNQ(op, quotes, op)
	ORQ(quotes, rest)
	NOTQ(rest)
	start := copied(rest)
	ADDQ(start, start)
	ORQ(inScalar, start)
	Comment("The text of numbers and literals, and a comma after each.")
	scalar, kr, ks := copied(start), K(), K()
	KMOVQ(rest, kr)
	ORQ(rest, scalar)
	KMOVQ(scalar, ks)
	VPBLENDMB(v, comma, kr, z)
	compress(z, ks, z)
	MOVQ(scalars, t)
	VMOVDQU64(z, Mem{Base: dst, Index: t, Scale: 1, Disp: scalarsAt})
	POPCNTQ(scalar, scalar)
	ADDQ(scalar, scalars)
	ANDNQ(rest, start, start)
	ORQ(op, start)
	ORQ(opening, start)
	SHRQ(Imm(63), rest)
	MOVQ(rest, inScalar)

	Comment("The depth at the end of the block.")
	deeper, higher := fromMask(equal(folded, constant("openObject"))), fromMask(equal(folded, constant("closeObject")))
	ANDQ(op, deeper)
	ANDQ(op, higher)
	POPCNTQ(deeper, deeper)
	POPCNTQ(higher, higher)
	ADDQ(deeper, depth)
	SUBQ(higher, depth)

	Comment("First bytes and positions of the tokens.")
	kt := K()
	KMOVQ(start, kt)
	found := ZMM()
	compress(v, kt, found)
	VMOVDQU64(found, Mem{Base: dst, Index: count, Scale: 1, Disp: firstAt})
	compress(index, kt, found)
	wide := ZMM()
	VPMOVZXBW(found.AsY(), wide)
	VPADDW(base, wide, wide)
	VMOVDQU64(wide, Mem{Base: dst, Index: count, Scale: 2, Disp: posAt})
	POPCNTQ(start, start)
	CMPQ(start, Imm(32))
	JLE(LabelRef("few"))
	VEXTRACTI64X4(Imm(1), found, found.AsY())
	VPMOVZXBW(found.AsY(), wide)
	VPADDW(base, wide, wide)
	VMOVDQU64(wide, Mem{Base: dst, Index: count, Scale: 2, Disp: posAt + 64})
	Label("few")
	VPADDW(step, base, base)
	ADDQ(start, count)
	ADDQ(Imm(64), b)
	SUBQ(Imm(64), n)
	JLE(LabelRef("end"))
	CMPQ(depth, Imm(0))
	JG(LabelRef("block"))

	Label("end")
	Comment("The kinds of tokens, 64 at a time. If one is a control character, the",
		"scalars are not known.")
	VMOVDQU64(space, Mem{Base: dst, Index: count, Scale: 1, Disp: firstAt})
	VMOVDQU64(space, Mem{Base: dst, Index: count, Scale: 1, Disp: firstAt + 64})
	MOVQ(scalars, t)
	MOVQ(t, Mem{Base: dst, Disp: sizeAt})
	first, word := copied(dst), GP64()
	LEAQ(Mem{Base: dst, Disp: wordsAt}, word)
	MOVQ(count, t)
	Label("word")
	VMOVDQU64(Mem{Base: first, Disp: firstAt}, v)
	for i, name := range []string{"openObject", "closeObject", "openArray", "closeArray", "colon", "comma", "quote"} {
		KMOVQ(equal(v, constant(name)), Mem{Base: word, Disp: 8 * i})
	}
	kj := K()
	VPCMPUB(Imm(1), space, v, kj)
	KORTESTQ(kj, kj)
	JNZ(LabelRef("junk"))
	Label("sane")
	ADDQ(Imm(64), first)
	ADDQ(Imm(wordSize), word)
	SUBQ(Imm(64), t)
	JGE(LabelRef("word"))
	VZEROUPPER()
	Store(count, ReturnIndex(0))
	SUBQ(from, b)
	Store(b, ReturnIndex(1))
	RET()

	Label("junk")
	MOVQ(I32(-1), Mem{Base: dst, Disp: sizeAt})
	JMP(LabelRef("sane"))

	Label("slashes")
	MOVB(Imm(1), mustAddr(2))
	restore := spill(dst, b, n, count, inString)
	c.escapes(block{v}, slashes, notAscii, escaped, bad, "escaped")
	Label("escaped")
	restore()
	ANDNQ(quotes, escaped, quotes)
	JMP(LabelRef("unescaped"))

	Label("utf8")
	c.utf8(block{v}, bad)
	JMP(LabelRef("ascii"))

	Label("last")
	Comment("No byte after the last one is read: the block is filled with blanks.")
	mask := GP64()
	MOVQ(I64(-1), mask)
	BZHIQ(n, mask, mask)
	kl := K()
	KMOVQ(mask, kl)
	VMOVDQA64(space, v)
	VMOVDQU8(Mem{Base: b}, kl, v)
	JMP(LabelRef("loaded"))
}
