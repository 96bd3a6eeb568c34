package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// brackets emits the kernel of [kernel.Tokens.Brackets].
func brackets() {
	TEXT("matchBrackets", NOSPLIT, "func(t *byte, to int, stack uint64, depth, low, high int) (at int, newStack uint64, newDepth int, ended bool)")
	word := Load(Param("t"), GP64())
	ADDQ(I32(wordsAt), word)
	stack := Load(Param("stack"), GP64())
	depth := Load(Param("depth"), GP64())
	left := Load(Param("to"), GP64()) // tokens
	colonBefore := AllocLocal(8)
	MOVQ(U32(0), colonBefore)
	MOVB(Imm(0), mustAddr(3))

	Label("word")
	Comment("All brackets are in rest. Of these some close, some are those of objects, and some are in",
		"objects: they open after a colon, or close before a comma and a name. The last is only known",
		"where there is a comma.")
	closes, object, in, commas, rest := GP64(), GP64(), GP64(), GP64(), GP64()
	t, u := GP64(), GP64()
	field := func(at int) Mem { return Mem{Base: word, Disp: at} }
	MOVQ(field(closeObjectAt), closes)
	MOVQ(field(openObjectAt), object)
	MOVQ(field(openArrayAt), rest)
	ORQ(object, rest)
	ORQ(closes, object)
	ORQ(field(closeArrayAt), closes)
	ORQ(closes, rest)
	MOVQ(field(colonAt), t)
	MOVQ(colonBefore, in)
	MOVQ(t, u)
	SHRQ(Imm(63), u)
	MOVQ(u, colonBefore)
	TESTQ(rest, rest)
	JZ(LabelRef("next"))
	LEAQ(Mem{Base: in, Index: t, Scale: 2}, in)
	MOVQ(field(wordSize+colonAt), u)
	SHRQ(Imm(3), t)
	SHLQ(Imm(61), u)
	ORQ(u, t) // names after brackets
	XORQ(in, t)
	ANDQ(closes, t)
	XORQ(t, in)
	MOVQ(field(commaAt), commas)
	MOVQ(field(wordSize+commaAt), t)
	SHRQ(Imm(1), commas)
	SHLQ(Imm(63), t)
	ORQ(t, commas)
	Comment("Brackets from token to on do not count, nor does what comes after it.")
	CMPQ(left, Imm(64))
	JG(LabelRef("whole"))
	BZHIQ(left, rest, rest)
	LEAQ(Mem{Base: left, Disp: -1}, t)
	BZHIQ(t, commas, commas)
	Label("whole")
	for _, r := range []reg.GPVirtual{closes, object, in, commas} {
		PEXTQ(rest, r, r)
	}
	opens, wrong := GP64(), GP64()
	XORQ(wrong, wrong)
	POPCNTQ(rest, t)
	MOVQ(I64(-1), opens)
	BZHIQ(t, opens, opens)
	ANDNQ(opens, closes, opens)
	Comment("The depth in this word is at most what it is if all open first.")
	POPCNTQ(opens, t)
	ADDQ(depth, t)
	CMPQ(t, mustParam("high"))
	JG(LabelRef("stop"))

	Comment("Pairs are compared and taken out, until there are none. Most words have pairs within pairs, so",
		"the first two rounds are done without a test.")
	pairs := func() { // the first bracket of each pair, in t
		MOVQ(closes, t)
		SHRQ(Imm(1), t)
		ANDQ(opens, t)
	}
	takeOut := func() {
		unlike := func(r reg.GPVirtual) reg.GPVirtual {
			next := copied(r)
			SHRQ(Imm(1), next)
			XORQ(r, next)
			return next
		}
		differs, places := unlike(object), unlike(in)
		MOVQ(commas, u)
		SHRQ(Imm(1), u)
		ANDQ(u, places)
		ORQ(places, differs)
		ANDQ(t, differs)
		ORQ(differs, wrong)
		LEAQ(Mem{Base: t, Index: t, Scale: 2}, t)
		NOTQ(t)
		for _, r := range []reg.GPVirtual{closes, opens, object, in, commas} {
			PEXTQ(t, r, r)
		}
		PDEPQ(rest, t, rest)
	}
	for range 2 {
		pairs()
		takeOut()
	}
	Label("pairs")
	pairs()
	JZ(LabelRef("unpaired"))
	takeOut()
	JMP(LabelRef("pairs"))

	Label("unpaired")
	Comment("What is left closes containers of the stack, and then opens others.")
	closed := GP64()
	POPCNTQ(closes, closed)
	MOVQ(depth, t)
	SUBQ(mustParam("low"), t)
	CMPQ(closed, t)
	JGE(LabelRef("end"))
	agree := func() {
		around, differs := copied(stack), copied(stack)
		SHRQ(Imm(1), around)
		XORQ(in, around)
		ANDQ(commas, around)
		XORQ(object, differs)
		ORQ(around, differs)
		ANDQ(closes, differs)
		ORQ(wrong, differs)
		JNZ(LabelRef("stop"))
	}
	agree()
	SHRXQ(closed, stack, stack)
	SUBQ(closed, depth)
	SHRXQ(closed, object, object)
	POPCNTQ(opens, u)
	ADDQ(u, depth)
	CMPQ(u, Imm(8))
	JG(LabelRef("many"))
	Comment("The bits of a byte, the other way round.")
	MOVQ(U64(0x80200802), t)
	IMULQ(t, object)
	MOVQ(U64(0x0884422110), t)
	ANDQ(t, object)
	MOVQ(U64(0x0101010101), t)
	IMULQ(t, object)
	SHRQ(Imm(32), object)
	MOVBQZX(object.As8(), object)
	SHLXQ(u, stack, stack)
	NEGQ(u)
	ADDQ(Imm(8), u)
	SHRXQ(u, object, object)
	ORQ(object, stack)
	Label("next")
	ADDQ(I32(wordSize), word)
	SUBQ(Imm(64), left)
	JG(LabelRef("word"))
	XORQ(left, left)

	Label("stop")
	at := Load(Param("to"), GP64())
	SUBQ(left, at)
	Store(at, ReturnIndex(0))
	Store(stack, ReturnIndex(1))
	Store(depth, ReturnIndex(2))
	RET()

	Label("many")
	SHRQ(Imm(1), object)
	ADCQ(stack, stack)
	DECQ(u)
	JNZ(LabelRef("many"))
	JMP(LabelRef("next"))

	Label("end")
	Comment("One of these makes the depth low, and is the last that counts. If a pair after it is wrong, this",
		"stops before the word.")
	CMPQ(t, Imm(63))
	JG(LabelRef("stop"))
	MOVQ(I64(-1), closes)
	BZHIQ(t, closes, closes)
	MOVQ(t, closed)
	DECQ(t)
	BZHIQ(t, commas, commas)
	agree()
	SHRXQ(closed, stack, stack)
	MOVQ(mustParam("low"), depth)
	MOVQ(U32(1), u)
	SHLXQ(t, u, u)
	PDEPQ(rest, u, u)
	TZCNTQ(u, u)
	SUBQ(u, left)
	MOVB(Imm(1), mustAddr(3))
	JMP(LabelRef("stop"))
}

// mustParam returns the address of an argument.
func mustParam(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
