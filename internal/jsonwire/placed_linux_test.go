package jsonwire

import (
	"fmt"
	"strings"
	"testing"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/torture"
)

// TestScanStringPlaced scans strings of each length up to four blocks and some more, at each
// alignment and at the end of readable memory, with each kernel and without kernels. At that
// length, the strings go on, end, or have a fault.
func TestScanStringPlaced(t *testing.T) {
	memory := torture.Guarded(t, 1)
	for _, fill := range []string{"a", `\n`, "é", "日", "😀", `\u00e9`, `\ud83d\ude00`, `a\"é`} {
		long := strings.Repeat(fill, 5*64)
		for n := range 5*64 + 1 {
			for _, last := range []string{"", `"`, `\`, "\x1f", "\x80"} {
				torture.Placed(t, memory, long[:n]+last, func(b []byte) {
					scan := func() string {
						end, escaped, s := ScanString(b, 0)
						return fmt.Sprint(end, escaped, s)
					}
					with := scan()
					for _, on := range []func(func()){kernel.Without, kernel.OnAVX2} {
						var other string
						if on(func() { other = scan() }); with != other {
							t.Fatalf("%q: %s, and %s with less kernels", b, with, other)
						}
					}
				})
			}
		}
	}
}
