//go:build !purego

package decoder

import "unsafe"

// boxString returns *p as an interface value that points to p. That is what the compiler
// makes of a conversion, but for an allocation of its own for each: an interface value is
// a type and a pointer to what is never written again. The caller must not write to *p
// any more.
func boxString(p *string) any { return box(anyString, unsafe.Pointer(p)) }

// boxInt is boxString for an int64.
func boxInt(p *int64) any { return box(anyInt, unsafe.Pointer(p)) }

// boxFloat is boxString for a float64.
func boxFloat(p *float64) any { return box(anyFloat, unsafe.Pointer(p)) }

var anyString, anyInt, anyFloat any = "", int64(0), float64(0)

// box returns a value of the type of like, whose data are at p.
func box(like any, p unsafe.Pointer) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&like))[1] = p
	return like
}
