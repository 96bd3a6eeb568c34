//go:build !purego

package values

import (
	"math"
	"unsafe"
)

// boxes are memory for the data of interface values. An interface value is a type and a pointer to
// data that are never written again. The functions of this file return what the compiler makes of a
// conversion, without an allocation for each.
type boxes struct {
	freeStrings []string // its elements up to the capacity are unused
	freeWords   []uint64 // int64 or float64
}

// boxString returns s as an interface value.
func (c *chunks) boxString(s string) any {
	if c.separate || len(s) >= longLength {
		return s
	}
	n := len(c.boxes.freeStrings)
	if n == cap(c.boxes.freeStrings) {
		n = 0
		c.boxes.freeStrings = make([]string, 0, min(c.strings, boxChunk))
		c.strings -= cap(c.boxes.freeStrings)
	}
	c.boxes.freeStrings = c.boxes.freeStrings[:n+1]
	c.boxes.freeStrings[n] = s
	return box(anyString, unsafe.Pointer(&c.boxes.freeStrings[n]))
}

// boxInt returns x as an interface value.
func (c *chunks) boxInt(x int64) any {
	if c.separate || uint64(x) <= maxShared {
		return x
	}
	p := c.word()
	*p = uint64(x)
	return box(anyInt, unsafe.Pointer(p))
}

// boxFloat returns x as an interface value.
func (c *chunks) boxFloat(x float64) any {
	if c.separate {
		return x
	}
	p := c.word()
	*p = math.Float64bits(x)
	return box(anyFloat, unsafe.Pointer(p))
}

//espalier:inline
func (c *chunks) word() *uint64 {
	n := len(c.boxes.freeWords)
	if n == cap(c.boxes.freeWords) {
		n = 0
		c.boxes.freeWords = make([]uint64, 0, min(c.numbers, boxChunk))
		c.numbers -= cap(c.boxes.freeWords)
	}
	c.boxes.freeWords = c.boxes.freeWords[:n+1]
	return &c.boxes.freeWords[n]
}

var anyString, anyInt, anyFloat any = "", int64(0), float64(0)

// box returns a value of the type of like, whose data are at p.
//
//espalier:inline
func box(like any, p unsafe.Pointer) any {
	(*[2]unsafe.Pointer)(unsafe.Pointer(&like))[1] = p
	return like
}
