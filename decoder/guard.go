package decoder

import (
	"bytes"
	"reflect"
)

// begin marks the decoder as being at work. Two goroutines in one decoder would make a result of parts of two
// documents, or panic somewhere; here it is said what is wrong.
func (d *Decoder) begin() {
	if !d.atWork.CompareAndSwap(false, true) {
		panic("decoder: a Decoder is used while it is at work: it is for one goroutine at a time, and a Pool for many")
	}
}

func (d *Decoder) end() { d.atWork.Store(false) }

// apart returns src, or a copy where it overlaps with the free capacity of dst, which the result is written to
// while src is read.
func apart(dst, src []byte) []byte {
	free := dst[len(dst):cap(dst)]
	if len(src) == 0 || len(free) == 0 {
		return src
	}
	at, to := reflect.ValueOf(&src[0]).Pointer(), reflect.ValueOf(&free[0]).Pointer()
	if at+uintptr(len(src)) <= to || to+uintptr(len(free)) <= at {
		return src
	}
	return bytes.Clone(src)
}
