//go:build amd64 && !purego

package decoder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/torture"
)

// TestSkipTokensPlaced decodes documents of each length up to four blocks, whole and cut after each
// byte, at each alignment and at the end of readable memory, with kernels and without.
func TestSkipTokensPlaced(t *testing.T) {
	needKernels(t)
	memory := torture.Guarded(t, 1)
	p := compileYAML(t, testSchema)
	d, portable := New(p), New(p)
	check := func(b []byte) {
		decode := func(d *Decoder) string {
			out, err := d.AppendJSON(nil, b)
			return fmt.Sprintf("%s\n%v\n%d", out, err, len(d.Findings()))
		}
		with, without := decode(d), ""
		kernel.Without(func() { without = decode(portable) })
		require.Equal(t, without, with, "%q", b)
	}
	for _, item := range []string{`{"a":1,"b":[true,"c"]},`, `"\n\"é",`, `[[],{}],`, "-1.5e3 ,\n"} {
		for _, name := range []string{"zz", "raw"} {
			items := strings.Repeat(item, 5*64/len(item)+1)
			for n := range 4*64 + 1 {
				whole := `{"` + name + `":[` + items[:len(item)*(n/len(item))] + `"` +
					strings.Repeat("x", n%len(item)) + `"]}`
				torture.Placed(t, memory, whole, check)
				if n%4 == 0 || !testing.Short() {
					torture.Placed(t, memory, (`{"` + name + `":[` + items)[:n], check)
				}
			}
		}
	}
}
