package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// names emits the kernel of [kernel.Tokens.Names].
func names() {
	TEXT("findNames", NOSPLIT, "func(t, b *byte, n, count int, slashes bool) (names int)")
	dst := Load(Param("t"), GP64())
	b := Load(Param("b"), GP64())
	n := Load(Param("n"), GP64())
	count := Load(Param("count"), GP64())

	Comment("Where names start, and the colons after them.")
	word, pos, found := copied(dst), copied(dst), GP64()
	XORQ(found, found)
	Label("tokens")
	m, t := GP64(), GP64()
	MOVQ(Mem{Base: word, Disp: wordsAt + colonAt}, m)
	MOVQ(Mem{Base: word, Disp: wordsAt + colonAt + wordSize}, t)
	SHRQ(Imm(1), m)
	SHLQ(Imm(63), t)
	ORQ(t, m)
	ANDQ(Mem{Base: word, Disp: wordsAt + stringAt}, m)
	for half := range 2 {
		k := K()
		KMOVD(m.As32(), k)
		for i, to := range []int{fromAt, colonsAt} {
			z := ZMM()
			VMOVDQU64(Mem{Base: pos, Disp: posAt + 64*half + 2*i}, z)
			compressWords(z, k, z)
			VMOVDQU64(z, Mem{Base: dst, Index: found, Scale: 2, Disp: to})
		}
		POPCNTL(m.As32(), t.As32())
		ADDQ(t, found)
		if half == 0 {
			SHRQ(Imm(32), m)
		}
	}
	ADDQ(I32(wordSize), word)
	ADDQ(I32(2*64), pos)
	SUBQ(Imm(64), count)
	JG(LabelRef("tokens"))
	Store(found, ReturnIndex(0))
	Comment("Names after the last one have no length.")
	zero := ZMM()
	VPXORQ(zero, zero, zero)
	VMOVDQU64(zero.AsX(), Mem{Base: dst, Index: found, Scale: 2, Disp: fromAt})
	VMOVDQU64(zero.AsX(), Mem{Base: dst, Index: found, Scale: 2, Disp: colonsAt})

	all := func(name string, x uint64) reg.VecVirtual {
		z := ZMM()
		VPBROADCASTQ(word64(name, x), z)
		return z
	}
	minusOne, seven, eight := ones(), all("seven", 7), all("eight", 8)
	bytes64, upper := all("sixtyFour", 64), all("upper", 0xffffffff<<32)
	factor := all("factor", 0x9fb21c651e98df25)
	quoted, lowest := YMM(), YMM()
	VPBROADCASTD(word64("quoted", '"'), quoted)
	VPBROADCASTD(word64("lowest", 0xff), lowest)
	limit := ZMM()
	SUBQ(Imm(8), n)
	VPBROADCASTQ(n, limit)
	slashes := Load(Param("slashes"), GP8())
	at := GP64()
	XORQ(at, at)
	JMP(LabelRef("any"))

	Label("names")
	from, end, length := ZMM(), ZMM(), ZMM()
	VPMOVZXWQ(Mem{Base: dst, Index: at, Scale: 2, Disp: fromAt}, from)
	VPMOVZXWQ(Mem{Base: dst, Index: at, Scale: 2, Disp: colonsAt}, end)
	VPSUBQ(minusOne, from, from)
	VPADDQ(minusOne, end, end)
	VPSUBQ(from, end, length)
	plain, inside, long := K(), K(), K()
	VPCMPQ(Imm(2), limit, end, inside)          // at most
	VPCMPQ(Imm(6), zero, length, inside, plain) // more than
	VPCMPQ(Imm(6), seven, length, plain, long)
	k := K()
	closing := YMM()
	VPXOR(closing, closing, closing)
	KMOVB(plain, k)
	VPGATHERQD(Mem{Base: b, Index: end, Scale: 1}, k, closing)
	first, last := ZMM(), ZMM()
	VPXORQ(first, first, first)
	VPXORQ(last, last, last)
	KMOVB(plain, k)
	VPGATHERQQ(Mem{Base: b, Index: from, Scale: 1}, k, first)
	VPGATHERQQ(Mem{Base: b, Index: end, Scale: 1, Disp: -8}, long, last)
	VPANDD(lowest, closing, closing)
	VPCMPEQD(quoted, closing, plain, plain)
	short := ZMM()
	VPMINUQ(eight, length, short)
	VPSLLQ(Imm(3), short, short)
	VPSUBQ(short, bytes64, short)
	VPSRLVQ(short, minusOne, short)
	VPANDQ(short, first, first)
	TESTB(slashes, slashes)
	JNZ(LabelRef("slashes"))
	Label("hash")
	x, size := ZMM(), ZMM()
	VPROLQ(Imm(29), last, last)
	VPSLLQ(Imm(57), length, x)
	VPTERNLOGQ(Imm(0x96), first, last, x)
	Comment("Half a vector at a time: multiplying whole vectors slows the next instructions down.")
	upperHalf := YMM()
	VEXTRACTI64X4(Imm(1), x, upperHalf)
	VPMULLQ(factor.AsY(), x.AsY(), x.AsY())
	VPMULLQ(factor.AsY(), upperHalf, upperHalf)
	VINSERTI64X4(Imm(1), upperHalf, x, x)
	VPANDQ(upper, x, x)
	VPSLLQ(Imm(16), length, size)
	VPTERNLOGQ(Imm(0xfe), from, size, x)
	VMOVDQA64_Z(x, plain, x)
	VMOVDQU64(x, Mem{Base: dst, Index: at, Scale: 8, Disp: namesAt})
	ADDQ(Imm(8), at)
	Label("any")
	CMPQ(at, found)
	JL(LabelRef("names"))
	VZEROUPPER()
	RET()

	Label("slashes")
	Comment("Names that may have an escape are left to the caller.")
	fit, slash, z := K(), K(), ZMM()
	VPCMPUQ(Imm(2), all("sixteen", 16), length, plain, fit)
	VPCMPEQB(constant("backslash"), first, slash)
	VPMOVM2B(slash, z)
	VPTESTNMQ(z, z, fit, plain)
	VPCMPEQB(constant("backslash"), last, slash)
	VPMOVM2B(slash, z)
	VPTESTNMQ(z, z, plain, plain)
	JMP(LabelRef("hash"))
}

// word64 defines a read-only word.
func word64(name string, x uint64) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	DATA(0, U64(x))
	return m
}
