//go:build !purego

package kernel

import "golang.org/x/sys/cpu"

// Available says that there are all kernels for this machine.
var Available = cpu.X86.HasAVX512F && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512VL && cpu.X86.HasAVX512VBMI &&
	cpu.X86.HasAVX512VBMI2 && cpu.X86.HasAVX512VPCLMULQDQ && cpu.X86.HasPCLMULQDQ &&
	cpu.X86.HasBMI1 && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

// Strings says that there is [ScanString], which needs no more than AVX2.
var Strings = Available || cpu.X86.HasAVX2 && cpu.X86.HasBMI1

// Without calls f as on a machine that has no kernels. It is for tests, and not for
// concurrent use.
func Without(f func()) { as(false, false, f) }

// OnAVX2 calls f as on a machine that has no AVX-512, as [Without] does.
func OnAVX2(f func()) { as(false, Strings, f) }

func as(available, strings bool, f func()) {
	wasAvailable, hadStrings := Available, Strings
	Available, Strings = available, strings
	f()
	Available, Strings = wasAvailable, hadStrings
}

// ScanString scans the rest of a string from the start of b, which is within it, between
// characters. With closed, end is the index of the closing quote; else up to end, between
// characters, all is well, and it may go on behind. It says whether there is an escape before end, or, if
// it is not closed, soon behind it. Characters and escapes are validated; surrogates in escapes are left to
// others, and with AVX2 all that start as those do.
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

// Find finds the tokens in the first size bytes of b, which starts outside of strings, and
// returns how many there are. It ends at the end of b, or behind [MaxBytes]; behind a block
// of 64 bytes at whose end as many brackets more are closed than opened as depth says; and
// before a block that has a character or escape in a string which is not valid, or a
// surrogate in an escape. The last token may go on behind its end. Without slashes, no string has
// an escape.
func (t *Tokens) Find(b []byte, depth int) (count, size int, slashes bool) {
	if len(b) == 0 {
		return 0, 0, false
	}
	count, size, slashes = findTokens(t, &b[0], min(len(b), MaxBytes), depth)
	return count, min(size, len(b)), slashes
}

// Scalars reports whether all numbers and literals among the tokens that [Tokens.Find] has
// found, but for one that may go on behind them, are known to be right: they have less than 19
// bytes, and numbers no exponent. With odd, there is a fraction or -0.
func (t *Tokens) Scalars() (plain, odd bool) {
	if t.size < 0 {
		return false, false
	}
	return checkScalars(&t.scalars[0], t.size)
}

// Names returns the names among the first count tokens of b, which [Tokens.Find] has found. Of
// those of 0 bytes, those with blanks before the colon, and some that are near the end of b, nothing is
// known; with slashes, neither of those with a backslash or more than 16 bytes.
func (t *Tokens) Names(b []byte, count int, slashes bool) []Name {
	if count == 0 {
		return nil
	}
	return t.names[:findNames(t, &b[0], len(b), count, slashes)]
}

//go:noescape
func findNames(t *Tokens, b *byte, n, count int, slashes bool) (names int)

//go:noescape
func checkScalars(text *byte, n int) (plain, odd bool)

//go:noescape
func scanString256(b *byte, blocks int) (end int, escaped uint64, closed bool)

//go:noescape
func scanString512(b *byte, blocks int) (end int, escaped uint64, closed bool)

//go:noescape
func findTokens(t *Tokens, b *byte, n, depth int) (count, size int, slashes bool)
