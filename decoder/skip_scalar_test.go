package decoder

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// TestShortScalar compares shortScalar with what scans numbers and literals, for texts of all
// lengths, followed by anything.
func TestShortScalar(t *testing.T) {
	const some = "0123456789012-.eE+truefalsn \x00\x80\xb1"
	r := rand.New(rand.NewPCG(1, 1))
	text := make([]byte, 8)
	check := func(n int) bool {
		ok, odd := shortScalar(binary.LittleEndian.Uint64(text), n)
		lit := text[:n:n]
		want, wantOdd := string(lit) == "true" || string(lit) == "false" || string(lit) == "null", false
		if end, kind, whole, _ := jsonwire.ScanNumber(lit, 0); end == n && whole && !hasExponent(lit) {
			want, wantOdd = true, jsonwire.IsOddNumber(lit, kind)
		}
		require.Equal(t, want, ok, "%q", lit)
		if want {
			require.Equal(t, wantOdd, odd, "%q", lit)
		}
		return want
	}
	right := 0
	for range 300_000 {
		for i := range text {
			text[i] = some[r.IntN(len(some))]
			if r.IntN(3) > 0 {
				text[i] = some[r.IntN(11)]
			}
		}
		n := 1 + r.IntN(8)
		switch r.IntN(10) {
		case 0:
			copy(text, "true")
			n = 3 + r.IntN(3)
		case 1:
			copy(text, "null")
			n = 4
		case 2:
			copy(text, "false")
			n = 4 + r.IntN(3)
		}
		if check(n) {
			right++
		}
	}
	require.Greater(t, right, 50_000)
}

func hasExponent(lit []byte) bool {
	for _, c := range lit {
		if c|0x20 == 'e' {
			return true
		}
	}
	return false
}
