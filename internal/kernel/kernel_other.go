//go:build !amd64 || purego

package kernel

// Available says that this machine has all kernels.
const Available = false

// Strings says that this machine has ScanString, Printable and Lines.
const Strings = false

// Small and SmallNamed are of no use without kernels.
const Small, SmallNamed = 64, 64

// Without calls f.
func Without(f func()) { f() }

// OnAVX2 calls f.
func OnAVX2(f func()) { f() }

// ScanString must not be called.
func ScanString([]byte) (end int, escaped, closed bool) { panic("kernel: not available") }

// Printable must not be called.
func Printable([]byte) int { panic("kernel: not available") }

// Lines must not be called.
func Lines([]byte) (size, lines, start, chars int) { panic("kernel: not available") }

// Find must not be called.
func (*Tokens) Find([]byte, int) (count, size int, slashes bool) { panic("kernel: not available") }

// Brackets must not be called.
func (*Tokens) Brackets(to int, stack uint64, depth, low, high int) (at int, _ uint64, _ int, ended bool) {
	panic("kernel: not available")
}

// Scalars must not be called.
func (*Tokens) Scalars() (plain, odd bool) { panic("kernel: not available") }

// Names must not be called.
func (*Tokens) Names([]byte, int, bool) []Name { panic("kernel: not available") }
