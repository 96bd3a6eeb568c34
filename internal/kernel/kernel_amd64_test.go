//go:build !purego

package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmall asserts that the vendor's name decides where kernels pay.
func TestSmall(t *testing.T) {
	for vendor, want := range map[string]int{"AuthenticAMD": 256, "GenuineIntel": 64, "AuthenticIntel"[:12]: 64, "CentaurHauls": 64} {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32([]byte(vendor)[i:]) }
		require.Equal(t, want, small(word(0), word(8), word(4)), vendor)
	}
	b, c, d := cpuid(0)
	var name []byte
	for _, w := range []uint32{b, d, c} {
		name = binary.LittleEndian.AppendUint32(name, w)
	}
	require.Regexp(t, `^[ -~]{12}$`, string(name))
}
