package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A machine is a set of instructions on vectors.
type machine struct{ wide bool }

var (
	avx2   = machine{false}
	avx512 = machine{true}
)

// A block is 64 bytes: one vector of AVX-512, or two of AVX2.
type block []reg.VecVirtual

func (b block) last() reg.VecVirtual { return b[len(b)-1] }

func (m machine) block() block {
	if m.wide {
		return block{ZMM()}
	}
	return block{YMM(), YMM()}
}

func (m machine) vector() reg.VecVirtual { return m.block()[0] }

// load loads vectors from memory, one after the other: 64 bytes if they are a block.
func (m machine) load(from Mem, to ...reg.VecVirtual) {
	for i, v := range to {
		if m.wide {
			VMOVDQU64(from, v)
		} else {
			VMOVDQU(from.Offset(32*i), v)
		}
	}
}

func (m machine) move(from, to reg.VecVirtual) {
	if m.wide {
		VMOVDQA64(from, to)
	} else {
		VMOVDQA(from, to)
	}
}

func (m machine) and(a, b, dst Op) {
	if m.wide {
		VPANDQ(a, b, dst)
	} else {
		VPAND(a, b, dst)
	}
}

func (m machine) or(a, b, dst Op) {
	if m.wide {
		VPORQ(a, b, dst)
	} else {
		VPOR(a, b, dst)
	}
}

func (m machine) xor(a, b, dst Op) {
	if m.wide {
		VPXORQ(a, b, dst)
	} else {
		VPXOR(a, b, dst)
	}
}

// tops returns the mask of the bytes that have their highest bit set, of two vectors of AVX2.
func tops(low, high reg.Register) reg.GPVirtual {
	l, h := GP64(), GP64()
	VPMOVMSKB(low, l.As32())
	VPMOVMSKB(high, h.As32())
	SHLQ(Imm(32), h)
	ORQ(h, l)
	return l
}

// nonzero returns the mask of the bytes of a block that are not 0.
func (m machine) nonzero(b block) reg.GPVirtual {
	if m.wide {
		return fromMask(test(b[0], b[0]))
	}
	zero, low, high := YMM(), YMM(), YMM()
	VPXOR(zero, zero, zero)
	VPCMPEQB(zero, b[0], low)
	VPCMPEQB(zero, b[1], high)
	none := tops(low, high)
	NOTQ(none)
	return none
}

// having returns the mask of the bytes of a block of classes that have a class in the table.
func (m machine) having(classes block, table string) reg.GPVirtual {
	if m.wide {
		return fromMask(test(classes[0], constant(table)))
	}
	some := m.block()
	for i, v := range classes {
		VPAND(constant(table+"256"), v, some[i])
	}
	return m.nonzero(some)
}

// classes returns the classes of the characters of a block: see classOf and halfClassOf.
func (m machine) classes(b block, notAscii reg.GPVirtual) block {
	c := m.block()
	if m.wide {
		ascii, na := K(), K()
		KMOVQ(notAscii, na)
		KNOTQ(na, ascii)
		low := ZMM()
		VMOVDQA64(b[0], c[0])
		VMOVDQU64(constant("classLow"), low)
		VPERMI2B_Z(constant("classHigh"), low, ascii, c[0])
		return c
	}
	for i, v := range b {
		high := m.nibbles(v, true)
		VPSHUFB(high, m.loaded("classOfHigh"), high)
		VPSHUFB(v, m.loaded("classOfLow"), c[i]) // 0 for what is not ASCII
		VPAND(high, c[i], c[i])
	}
	return c
}

// loaded returns a vector with the content of a table.
func (m machine) loaded(table string) reg.VecVirtual {
	v := m.vector()
	m.load(constant(table), v)
	return v
}

// nibbles returns the high or low nibbles of a vector.
func (m machine) nibbles(v Op, high bool) reg.VecVirtual {
	z := m.vector()
	if high {
		VPSRLW(Imm(4), v, z)
		v = z
	}
	m.and(constant("nibble"), v, z)
	return z
}

// back returns a function whose result has, for each byte of v, the byte n places before it. The
// vector before precedes v.
func (m machine) back(before, v reg.VecVirtual) func(n int) reg.VecVirtual {
	lanes := m.vector()
	if m.wide {
		VALIGND(Imm(12), before, v, lanes)
	} else {
		VPERM2I128(Imm(0x21), v, before, lanes)
	}
	return func(n int) reg.VecVirtual {
		z := m.vector()
		VPALIGNR(Imm(uint64(16-n)), lanes, v, z)
		return z
	}
}
