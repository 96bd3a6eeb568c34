//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// Available says that this machine has all kernels.
var Available = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI &&
	cpu.X86.HasAVX512VBMI2 && cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasPCLMULQDQ &&
	cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// Strings says that this machine has [ScanString], [Printable] and [Lines], which only need AVX2.
var Strings = Available || cpu.X86.HasAVX2 && cpu.X86.HasBMI1 && cpu.X86.HasPOPCNT

// Small is the length in bytes up to which a container is passed faster without the kernels of
// tokens, and SmallNamed the same where names are noted. On AMD they are what was measured on Zen 5,
// where a short text costs the kernels more than on Xeons. On Zen 4, a smaller SmallNamed changed
// nothing. All others get what was measured on Xeons.
var Small, SmallNamed = small(cpuid(0))

// small returns Small and SmallNamed for the answer of CPUID that has the vendor's name.
func small(name1, name3, name2 uint32) (plain, named int) {
	if name1 == 'A'|'u'<<8|'t'<<16|'h'<<24 && name2 == 'e'|'n'<<8|'t'<<16|'i'<<24 && name3 == 'c'|'A'<<8|'M'<<16|'D'<<24 {
		return 192, 768
	}
	return 64, 256
}

// Without calls f as on a machine without kernels. It is for tests, and not for concurrent use.
func Without(f func()) { as(false, false, f) }

// OnAVX2 calls f as on a machine without AVX-512, with the restrictions of [Without].
func OnAVX2(f func()) { as(false, Strings, f) }

func as(available, strings bool, f func()) {
	wasAvailable, hadStrings := Available, Strings
	Available, Strings = available, strings
	f()
	Available, Strings = wasAvailable, hadStrings
}

// ScanString scans the rest of a string. b starts within the string, between characters. If the
// string is closed, end is the index of the closing quote. Otherwise the string is valid up to end,
// which is between characters, and may go on after it. escaped says whether there is an escape
// before end, or, if the string is not closed, soon after it. Characters and escapes are validated.
// Surrogates in escapes are left to the caller; with AVX2, so are all escapes that start like
// those.
func ScanString(b []byte) (end int, escaped, closed bool) {
	if len(b) < 64 {
		return 0, false, false
	}
	var slashes uint64
	if Available {
		end, slashes, closed = scanString512(&b[0], len(b)/64)
	} else {
		end, slashes, closed = scanString256(&b[0], len(b)/64)
	}
	return end, slashes != 0, closed
}

// Printable returns how many bytes at the start of b are printable ASCII or line feeds, as far as blocks of
// 64 bytes have nothing else.
func Printable(b []byte) int {
	if len(b) < 64 {
		return 0
	}
	return 64 * printable256(&b[0], len(b)/64)
}

// Lines counts what lines and columns need in the first size bytes of b, which are as many blocks of
// 64 bytes as have no carriage return: the line feeds, and the characters that begin after the last
// of these. start is the index after it, or 0 if there is none. Bytes that do not continue a
// character of UTF-8 begin one.
func Lines(b []byte) (size, lines, start, chars int) {
	if len(b) < 64 {
		return 0, 0, 0, 0
	}
	return countLines256(&b[0], len(b)/64)
}

// Find finds the tokens in the first size bytes of b, which starts outside of strings, and returns
// how many there are. It stops at the end of b or after [MaxBytes], after a block of 64 bytes at
// whose end depth more brackets are closed than opened, and before a block that has, in a string,
// an invalid character or escape or a surrogate in an escape. The last token may go on after that
// end. If slashes is false, no string has an escape.
func (t *Tokens) Find(b []byte, depth int) (count, size int, slashes bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	count, size, slashes = findTokens(t, &b[0], min(len(b), MaxBytes), depth)
	return count, min(size, len(b)), slashes
}

// Brackets pairs the brackets of the tokens before the token to. stack has a bit for each open container
// from depth low on, which is set for an object; the lowest bit is the innermost container. Brackets checks
// that each closing bracket is of the kind that its container has, and that what follows it after a comma
// fits the container around. The caller has checked what few tokens in a row show. So a bracket that opens
// after a colon is in an object, and any other is in an array.
//
// If ended, at is the bracket that makes the depth low, and the stack and the depth are those after it.
// Otherwise they are those before the token at. That is to, or a multiple of 64: then something is wrong in
// the 64 tokens from there, or they may make the depth more than high, or close 64 containers.
func (t *Tokens) Brackets(to int, stack uint64, depth, low, high int) (at int, _ uint64, _ int, ended bool) {
	return matchBrackets(t, to, stack, depth, low, high)
}

// Scalars reports whether the numbers and literals that [Tokens.Find] has found are known to be
// valid, except for one that may go on after them: they have less than 19 bytes, and numbers have
// no exponent. odd says that there is a fraction or a -0.
func (t *Tokens) Scalars() (plain, odd bool) {
	if t.size < 0 {
		return false, false
	}
	return checkScalars(&t.scalars[0], t.size)
}

// Names returns the names among the first count tokens of b, which [Tokens.Find] has found. Names
// of 0 bytes, names with blanks before the colon, and some names near the end of b are 0. With
// slashes, so are names with a backslash or more than 16 bytes.
func (t *Tokens) Names(b []byte, count int, slashes bool) []Name {
	if count == 0 {
		return nil
	}
	return t.names[:findNames(t, &b[0], len(b), count, slashes)]
}

// cpuid asks the processor, and returns three of the four registers of the answer.
func cpuid(leaf uint32) (b, c, d uint32)

//go:noescape
func findNames(t *Tokens, b *byte, n, count int, slashes bool) (names int)

//go:noescape
func checkScalars(text *byte, n int) (plain, odd bool)

//go:noescape
func printable256(b *byte, blocks int) (passed int)

//go:noescape
func countLines256(b *byte, blocks int) (size, lines, start, chars int)

//go:noescape
func scanString256(b *byte, blocks int) (end int, escaped uint64, closed bool)

//go:noescape
func scanString512(b *byte, blocks int) (end int, escaped uint64, closed bool)

//go:noescape
func matchBrackets(t *Tokens, to int, stack uint64, depth, low, high int) (at int, newStack uint64, newDepth int, ended bool)

//go:noescape
func findTokens(t *Tokens, b *byte, n, depth int) (count, size int, slashes bool)
