// Generate writes the assembly of package kernel, kernel_amd64.s. The README of that
// package explains what the kernels do; run it by go generate in that folder:
//
//	go -C generate run . -out ../kernel_amd64.s
//
// constants.go has the tables. strings.go checks the content of strings, for the first two kernels.
// The kernels are in scan.go, printable.go, lines.go, tokens.go, brackets.go, scalars.go and names.go.
//
// NOTE: one instruction of legacy SSE encoding between those of AVX costs some 150 ns on current
// processors, and only TestEncodings sees it. Write VMOVQ, not MOVQ, to get from a general register
// to a vector.
package main

import (
	"flag"

	. "github.com/mmcloughlin/avo/build"
	"github.com/mmcloughlin/avo/ir"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	flag.Parse()
	ConstraintExpr("!purego")
	scanString("scanString512", avx512)
	scanString("scanString256", avx2)
	printable()
	lines()
	tokens()
	brackets()
	scalars()
	names()
	cpuid()
	Generate()
}

// cpuid emits the one instruction that knows the processor's vendor.
func cpuid() {
	TEXT("cpuid", NOSPLIT, "func(leaf uint32) (b, c, d uint32)")
	Load(Param("leaf"), reg.EAX)
	XORL(reg.ECX, reg.ECX)
	CPUID()
	for i, r := range []reg.Register{reg.EBX, reg.ECX, reg.EDX} {
		Store(r, ReturnIndex(i))
	}
	RET()
}

// copied returns a new register with the value of src.
func copied(src Op) reg.GPVirtual {
	r := GP64()
	MOVQ(src, r)
	return r
}

// fromMask returns a new register with the bits of a mask register.
func fromMask(k reg.Register) reg.GPVirtual {
	r := GP64()
	KMOVQ(k, r)
	return r
}

// spill stores registers in memory until restore, for lack of registers.
func spill(registers ...Op) (restore func()) {
	slots := make([]Mem, len(registers))
	for i, r := range registers {
		slots[i] = AllocLocal(8)
		MOVQ(r, slots[i])
	}
	return func() {
		for i, r := range registers {
			MOVQ(slots[i], r)
		}
	}
}

// equal returns which bytes of v equal those of c.
func equal(v, c Op) reg.Register {
	k := K()
	VPCMPEQB(c, v, k)
	return k
}

// test returns which bytes of v have a bit of c set.
func test(v, c Op) reg.Register {
	k := K()
	VPTESTMB(c, v, k)
	return k
}

// shiftDouble shifts the words of high to the left by n bits, and the upper bits of the words of
// low into them. It is VBMI2, which avo does not have.
func shiftDouble(n uint64, low, high, dst reg.Register) {
	Instruction(&ir.Instruction{
		Opcode:   "VPSHLDQ",
		Operands: []Op{Imm(n), low, high, dst},
		Inputs:   []Op{low, high},
		Outputs:  []Op{dst},
		ISA:      []string{"AVX512_VBMI2"},
	})
}

// compress moves the bytes of src that the mask k selects to the front of dst, and clears the rest.
// It is VBMI2, which avo does not have.
func compress(src, k, dst reg.Register) { compressAs("VPCOMPRESSB", src, k, dst) }

// compressWords is compress for words of 16 bits.
func compressWords(src, k, dst reg.Register) { compressAs("VPCOMPRESSW", src, k, dst) }

func compressAs(opcode string, src, k, dst reg.Register) {
	Instruction(&ir.Instruction{
		Opcode:   opcode,
		Suffixes: []string{"Z"},
		Operands: []Op{src, k, dst},
		Inputs:   []Op{src, k},
		Outputs:  []Op{dst},
		ISA:      []string{"AVX512_VBMI2"},
	})
}
