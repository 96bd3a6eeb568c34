package kernel

import (
	"math/rand/v2"
	"testing"

	"github.com/espalier-dev/espalier/internal/torture"
)

// TestTortureTokens compares both kernels with their slow twins, for documents and for other texts.
func TestTortureTokens(t *testing.T) {
	needKernels(t)
	make := func(r *rand.Rand, b []byte) []byte {
		if r.IntN(4) == 0 {
			return append(b, text(r, r.IntN(3*64))...)
		}
		return torture.JSON(r, b)
	}
	torture.Run(t, make, func(t *testing.T, r *rand.Rand, b []byte) bool {
		checkTokens(t, b)
		at := 0
		if len(b) > 0 {
			at = r.IntN(len(b))
		}
		checkString(t, b[at:])
		_, size := slowTokens(b)
		return size == len(b)
	})
}
