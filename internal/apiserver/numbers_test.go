package apiserver

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/torture"
)

// TestAppendNumbers asserts the texts that the server writes for numbers that it has read.
func TestAppendNumbers(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`0`, `0`}, {`-0`, `0`}, {`-1`, `-1`}, {`9`, `9`}, {`10`, `10`},
		{`1.0`, `1`}, {`0.50`, `0.5`}, {`9.90`, `9.9`}, {`-0.0`, `-0`}, {`1e3`, `1000`}, {`1E+2`, `100`}, {`1e21`, `1e+21`}, {`1e-7`, `1e-7`},
		{`9223372036854775807`, `9223372036854775807`}, {`-9223372036854775808`, `-9223372036854775808`},
		{`9223372036854775808`, `9223372036854776000`}, {`9999999999999999999`, `10000000000000000000`}, {`12345678901234567890123`, `1.2345678901234568e+22`},
		{`{"1.0":[1.0, "1.0", "\"1.0", -0,2.5], "a":{}}`, `{"1.0":[1, "1.0", "\"1.0", 0,2.5], "a":{}}`},
		{` [true,null,1.0,1.0]`, ` [true,null,1,1]`},
	} {
		assert.Equal(t, "x"+c.want, string(AppendNumbers([]byte("x"), []byte(c.in))), c.in)
	}
}

// TestTortureNumbers compares the texts of random numbers with encoding/json and strconv.
func TestTortureNumbers(t *testing.T) {
	make := func(r *rand.Rand, b []byte) []byte { return torture.Number(r, b) }
	var out []byte
	torture.Run(t, make, func(t *testing.T, r *rand.Rand, number []byte) bool {
		if !json.Valid(number) || number[0] != '-' && number[0]-'0' > 9 ||
			len(bytes.TrimSpace(number)) != len(number) {
			return false
		}
		f, err := strconv.ParseFloat(string(number), 64)
		if err != nil {
			return true // out of range, which the walk refuses
		}
		var v any = f
		if n, err := strconv.ParseInt(string(number), 10, 64); err == nil {
			v = n
		}
		want, _ := json.Marshal(v)
		if out = AppendNumbers(out[:0], number); !bytes.Equal(out, want) {
			t.Fatalf("%q is written as %q, and not as %q", number, out, want)
		}
		return true
	})
}
