package decoder

import "bytes"

// A guard notices where two goroutines use one decoder, which would make a result of parts of two documents. It
// does that as Go's maps do: as well as it can for nothing. An atomic operation would miss none, and
// takes as long as a twentieth of a small document; the race detector misses none either.
type guard struct{ atWork bool }

const misused = "decoder: a Decoder is used while it is at work: it is for one goroutine at a time, and a Pool for many"

func (g *guard) begin() {
	if g.atWork {
		panic(misused)
	}
	g.atWork = true
}

// end panics where somebody else has ended meanwhile, and so began before begin was seen.
func (g *guard) end() {
	if !g.atWork {
		panic(misused)
	}
	g.atWork = false
}

// apart returns src, or a copy where it overlaps with the free capacity of dst, which the result is written to
// while src is read.
func apart(dst, src []byte) []byte {
	free := dst[len(dst):cap(dst)]
	if len(src) == 0 || len(free) == 0 {
		return src
	}
	at, to := address(src), address(free)
	if at+uintptr(len(src)) <= to || to+uintptr(len(free)) <= at {
		return src
	}
	return bytes.Clone(src)
}
