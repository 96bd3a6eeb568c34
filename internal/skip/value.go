package skip

import (
	"math"
	"sync"
)

// skippers are those of [Value], without limits.
var skippers = sync.Pool{New: func() any {
	return &Skipper{
		Bounds: Bounds{Depth: math.MaxInt, NameBytes: math.MaxInt, NumberBytes: math.MaxInt},
		EOF:    true,
	}
}}

// Value passes the value at i, and returns the index after it. It reports whether that is a value: one
// with invalid UTF-8, or with a number beyond float64, is not. Its names may repeat. There is no limit
// on its depth: each level takes a bit. Any number of goroutines can call it.
func Value(b []byte, i int) (end int, valid bool) {
	if i >= len(b) {
		return i, false
	}
	s := skippers.Get().(*Skipper)
	s.Start()
	end, st := s.Skip(b, i, 0, false)
	skippers.Put(s)
	return end, st == Done
}
