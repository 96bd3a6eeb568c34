//go:build !purego

package kernel

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestSmall asserts that the vendor's name decides where kernels pay.
func TestSmall(t *testing.T) {
	for vendor, want := range map[string][]int{
		"AuthenticAMD": {192, 768}, "GenuineIntel": {64, 256}, "AuthentiIntel"[:12]: {64, 256}, "CentaurcAMDs": {64, 256}} {
		word := func(i int) uint32 { return binary.LittleEndian.Uint32([]byte(vendor)[i:]) }
		plain, named := small(word(0), word(8), word(4))
		require.Equal(t, want, []int{plain, named}, vendor)
	}
	b, c, d := cpuid(0)
	var name []byte
	for _, w := range []uint32{b, d, c} {
		name = binary.LittleEndian.AppendUint32(name, w)
	}
	require.Regexp(t, `^[ -~]{12}$`, string(name))
}
