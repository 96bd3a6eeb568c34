package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// scanString emits the kernel of [kernel.ScanString].
func scanString() {
	TEXT("scanString", NOSPLIT, "func(b *byte, blocks int) (end int, escaped uint64, closed bool)")
	b := Load(Param("b"), GP64())
	blocks := Load(Param("blocks"), GP64())
	c := newChecks()
	space, quote, backslash := ZMM(), ZMM(), ZMM()
	VMOVDQU64(constant("space"), space)
	VMOVDQU64(constant("quote"), quote)
	VMOVDQU64(constant("backslash"), backslash)

	at, clean, seen, bad, escaped, slashes, quotes, notAscii := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	XORQ(at, at)
	XORQ(clean, clean)
	XORQ(seen, seen)

	Label("block")
	v := ZMM()
	VMOVDQU64(Mem{Base: b, Index: at, Scale: 1}, v)
	kq, ks, kn, kc := equal(v, quote), equal(v, backslash), K(), K()
	VPMOVB2M(v, kn)
	VPCMPUB(Imm(1), space, v, kc)
	special := K()
	KORQ(kq, ks, special)
	KORQ(kn, special, special)
	KORQ(kc, special, special)
	KMOVQ(special, bad)
	ORQ(c.open, bad)
	ORQ(c.short, bad)
	JNZ(LabelRef("look"))
	Label("next")
	VMOVDQA64(v, c.before)
	ADDQ(Imm(64), at)
	MOVQ(at, clean)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	JMP(LabelRef("open"))

	Label("look")
	KMOVQ(kc, bad)
	KMOVQ(kq, quotes)
	KMOVQ(kn, notAscii)
	KMOVQ(ks, slashes)
	XORQ(escaped, escaped)
	t := copied(slashes)
	ORQ(c.open, t)
	JZ(LabelRef("plain"))
	restore := spill(b, blocks, at, clean, seen, quotes)
	c.escapes(v, slashes, notAscii, escaped, bad, "escaped")
	Label("escaped")
	restore()
	Label("plain")
	t = copied(notAscii)
	ORQ(c.short, t)
	JZ(LabelRef("ascii"))
	c.utf8(v, bad)
	Label("ascii")
	ANDNQ(quotes, escaped, quotes)
	JNZ(LabelRef("quote"))
	TESTQ(bad, bad)
	JNZ(LabelRef("open"))
	ORQ(slashes, seen)
	t = copied(c.open)
	ORQ(c.short, t)
	JZ(LabelRef("next"))
	VMOVDQA64(v, c.before)
	ADDQ(Imm(64), at)
	DECQ(blocks)
	JNZ(LabelRef("block"))

	Label("open")
	VZEROUPPER()
	Store(clean, ReturnIndex(0))
	Store(seen, ReturnIndex(1))
	MOVB(Imm(0), mustAddr(2))
	RET()

	Label("quote")
	Comment("What is behind the quote does not count.")
	BLSMSKQ(quotes, t)
	TESTQ(t, bad)
	JNZ(LabelRef("open"))
	ANDQ(t, slashes)
	ORQ(slashes, seen)
	TZCNTQ(quotes, quotes)
	ADDQ(quotes, at)
	VZEROUPPER()
	Store(at, ReturnIndex(0))
	Store(seen, ReturnIndex(1))
	MOVB(Imm(1), mustAddr(2))
	RET()
}

// mustAddr returns where the i-th result is.
func mustAddr(i int) Mem {
	b, err := ReturnIndex(i).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
