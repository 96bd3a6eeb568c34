package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// lines emits the kernel of [kernel.Lines].
func lines() {
	TEXT("countLines256", NOSPLIT, "func(b *byte, blocks int) (size, lines, start, chars int)")
	b := Load(Param("b"), GP64())
	end := Load(Param("blocks"), GP64())
	SHLQ(Imm(6), end)
	feed, carriage, continued := avx2.loaded("feed"), avx2.loaded("return"), avx2.loaded("lastContinuation")
	size, lines, start, chars := GP64(), GP64(), GP64(), GP64()
	for _, r := range []reg.Register{size, lines, start, chars} {
		XORQ(r, r)
	}

	Label("block")
	v := avx2.block()
	avx2.load(Mem{Base: b, Index: size, Scale: 1}, v...)
	var feeds, returns, starts block
	for _, part := range v {
		isFeed, isReturn, isStart := YMM(), YMM(), YMM()
		VPCMPEQB(feed, part, isFeed)
		VPCMPEQB(carriage, part, isReturn)
		VPCMPGTB(continued, part, isStart) // as signed bytes, these are less than any other
		feeds, returns, starts = append(feeds, isFeed), append(returns, isReturn), append(starts, isStart)
	}
	VPOR(returns[0], returns[1], returns[0])
	VPTEST(returns[0], returns[0])
	JNZ(LabelRef("done"))
	begun, ended, n := tops(starts[0], starts[1]), tops(feeds[0], feeds[1]), GP64()
	TESTQ(ended, ended)
	JNZ(LabelRef("lines"))
	Label("within")
	POPCNTQ(begun, n)
	ADDQ(n, chars)
	ADDQ(Imm(64), size)
	CMPQ(size, end)
	JNE(LabelRef("block"))
	JMP(LabelRef("done"))

	Label("lines")
	POPCNTQ(ended, n)
	ADDQ(n, lines)
	BSRQ(ended, reg.RCX)
	Comment("Two shifts, as the last byte may end a line.")
	SHRQ(reg.CL, begun)
	SHRQ(Imm(1), begun)
	LEAQ(Mem{Base: size, Index: reg.RCX, Scale: 1, Disp: 1}, start)
	XORQ(chars, chars)
	JMP(LabelRef("within"))

	Label("done")
	VZEROUPPER()
	for i, r := range []reg.Register{size, lines, start, chars} {
		Store(r, ReturnIndex(i))
	}
	RET()
}
