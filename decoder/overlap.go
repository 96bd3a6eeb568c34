package decoder

import "bytes"

// withoutOverlap returns src, or a copy of src if it overlaps with the free capacity of dst. The
// decoder writes its result there while it reads src.
func withoutOverlap(dst, src []byte) []byte {
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
