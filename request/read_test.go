package request

import (
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestLimited: a limit is exact to the byte, whatever the size of the reads, and later reads fail
// as well.
func TestLimited(t *testing.T) {
	for size := 1; size < 6; size++ {
		for most := int64(0); most < 6; most++ {
			l := &limited{from: strings.NewReader("abc"), most: most}
			var text []byte
			var err error
			for err == nil {
				p := make([]byte, size)
				var n int
				n, err = l.Read(p)
				text = append(text, p[:n]...)
			}
			assert.Equal(t, "abc"[:min(most, 3)], string(text))
			if most >= 3 {
				assert.Equal(t, io.EOF, err)
				continue
			}
			assert.Equal(t, &TooLargeError{most}, err)
			_, err = l.Read(make([]byte, size))
			assert.Equal(t, &TooLargeError{most}, err)
		}
	}
}
