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

// Value passes the value at i, and returns the index after it. It reports whether that is a value;
// its names may repeat. For a document whose depth is limited already, it needs no more memory than
// a bit for each level. Any number of goroutines can call it.
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
