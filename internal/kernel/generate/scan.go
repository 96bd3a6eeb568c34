package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// inVain is kernel.inVain.
const inVain = 1024

// scanString emits a kernel of [kernel.ScanString].
func scanString(name string, m machine) {
	TEXT(name, NOSPLIT, "func(b *byte, blocks int) (end int, escaped uint64, closed bool)")
	b := Load(Param("b"), GP64())
	blocks := Load(Param("blocks"), GP64())
	c := newChecks(m)
	s := newSpecials(m)

	at, clean, seen, bad, escaped, slashes, quotes, notAscii := GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64(), GP64()
	XORQ(at, at)
	XORQ(clean, clean)
	XORQ(seen, seen)

	Label("block")
	v := c.block()
	c.load(Mem{Base: b, Index: at, Scale: 1}, v...)
	s.find(v, bad)
	ORQ(c.open, bad)
	ORQ(c.short, bad)
	JNZ(LabelRef("look"))
	Label("next")
	c.move(v.last(), c.before)
	ADDQ(Imm(64), at)
	MOVQ(at, clean)
	DECQ(blocks)
	JNZ(LabelRef("block"))
	JMP(LabelRef("open"))

	Label("look")
	s.split(v, bad, quotes, notAscii, slashes)
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
	c.move(v.last(), c.before)
	ADDQ(Imm(64), at)
	Comment("The bytes scanned in vain are limited, as they are scanned again.")
	MOVQ(at, t)
	SUBQ(clean, t)
	CMPQ(t, U32(inVain))
	JAE(LabelRef("open"))
	DECQ(blocks)
	JNZ(LabelRef("block"))

	Label("open")
	VZEROUPPER()
	Store(clean, ReturnIndex(0))
	Store(seen, ReturnIndex(1))
	MOVB(Imm(0), mustAddr(2))
	RET()

	Label("quote")
	Comment("Bytes after the quote do not count.")
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

// specials find the bytes at which the simple part of a string ends: quotes, backslashes, control
// characters and bytes that are not ASCII.
type specials interface {
	// find sets some to a value other than 0 if a block has any.
	find(v block, some reg.GPVirtual)
	// split returns the masks of each kind, for the last block of find.
	split(v block, control, quotes, notAscii, slashes reg.GPVirtual)
}

func newSpecials(m machine) specials {
	if m.wide {
		return &specials512{space: m.loaded("space"), quote: m.loaded("quote"), backslash: m.loaded("backslash")}
	}
	return &specials256{beforeSpace: m.loaded("beforeSpace"), quote: m.loaded("quote"), backslash: m.loaded("backslash")}
}

type specials512 struct {
	space, quote, backslash            reg.VecVirtual
	quotes, slashes, notAscii, control reg.Register
}

func (s *specials512) find(v block, some reg.GPVirtual) {
	s.quotes, s.slashes, s.notAscii, s.control = equal(v[0], s.quote), equal(v[0], s.backslash), K(), K()
	VPMOVB2M(v[0], s.notAscii)
	VPCMPUB(Imm(1), s.space, v[0], s.control)
	special := K()
	KORQ(s.quotes, s.slashes, special)
	KORQ(s.notAscii, special, special)
	KORQ(s.control, special, special)
	KMOVQ(special, some)
}

func (s *specials512) split(_ block, control, quotes, notAscii, slashes reg.GPVirtual) {
	KMOVQ(s.control, control)
	KMOVQ(s.quotes, quotes)
	KMOVQ(s.notAscii, notAscii)
	KMOVQ(s.slashes, slashes)
}

type specials256 struct{ beforeSpace, quote, backslash reg.VecVirtual }

func (s *specials256) find(v block, some reg.GPVirtual) {
	Comment("As signed bytes, those that are not ASCII are less than a blank, too.")
	var plain block
	for _, part := range v {
		p, q, b := YMM(), YMM(), YMM()
		VPCMPGTB(s.beforeSpace, part, p)
		VPCMPEQB(s.quote, part, q)
		VPCMPEQB(s.backslash, part, b)
		VPOR(q, b, q)
		VPANDN(p, q, p)
		plain = append(plain, p)
	}
	VPAND(plain[0], plain[1], plain[0])
	VPMOVMSKB(plain[0], some.As32())
	NOTL(some.As32())
}

func (s *specials256) split(v block, control, quotes, notAscii, slashes reg.GPVirtual) {
	mask := func(dst reg.GPVirtual, compare func(v, z Op)) {
		low, high := YMM(), YMM()
		compare(v[0], low)
		compare(v[1], high)
		MOVQ(tops(low, high), dst)
	}
	mask(quotes, func(v, z Op) { VPCMPEQB(s.quote, v, z) })
	mask(slashes, func(v, z Op) { VPCMPEQB(s.backslash, v, z) })
	MOVQ(tops(v[0], v[1]), notAscii)
	mask(control, func(v, z Op) { VPCMPGTB(s.beforeSpace, v, z) })
	ORQ(notAscii, control)
	NOTQ(control)
}

// mustAddr returns the address of the i-th result.
func mustAddr(i int) Mem {
	b, err := ReturnIndex(i).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}

// mustParam returns the address of an argument.
func mustParam(name string) Mem {
	b, err := Param(name).Resolve()
	if err != nil {
		panic(err)
	}
	return b.Addr
}
