package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
)

// printable emits the kernel of [kernel.Printable].
func printable() {
	TEXT("printable256", NOSPLIT, "func(b *byte, blocks int) (passed int)")
	b := Load(Param("b"), GP64())
	blocks := Load(Param("blocks"), GP64())
	beforeSpace, del, feed := avx2.loaded("beforeSpace"), avx2.loaded("del"), avx2.loaded("feed")
	passed := GP64()
	XORQ(passed, passed)

	Label("block")
	Comment("As signed bytes, those that are not ASCII are less than a blank, too.")
	v := avx2.block()
	avx2.load(Mem{Base: b}, v...)
	for _, part := range v {
		above, isDel, isFeed := YMM(), YMM(), YMM()
		VPCMPGTB(beforeSpace, part, above)
		VPCMPEQB(del, part, isDel)
		VPCMPEQB(feed, part, isFeed)
		VPANDN(above, isDel, part)
		VPOR(isFeed, part, part)
	}
	VPAND(v[0], v[1], v[0])
	some := GP64()
	VPMOVMSKB(v[0], some.As32())
	NOTL(some.As32())
	TESTL(some.As32(), some.As32())
	JNZ(LabelRef("done"))
	INCQ(passed)
	ADDQ(Imm(64), b)
	CMPQ(passed, blocks)
	JNE(LabelRef("block"))

	Label("done")
	VZEROUPPER()
	Store(passed, ReturnIndex(0))
	RET()
}
