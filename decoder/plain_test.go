package decoder_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
)

// TestNamesThatDifferLittle has names of every length around the words that names are
// compared by, and others that differ from them in one bit: these are unknown, whatever
// is predicted.
func TestNamesThatDifferLittle(t *testing.T) {
	for length := 1; length < 80; length++ {
		name := strings.Repeat("abcdefghijklmno", 6)[:length]
		p := compile(t, fmt.Sprintf(`{type: object, properties: {items: {type: array, items: {type: object, properties: {%s: {type: string}}}}}}`, name))
		var doc, want strings.Builder
		doc.WriteString(`{"items":[{"` + name + `":"0"}`)
		want.WriteString(doc.String())
		for at := range length {
			for bit := range 5 { // of letters, which stay printable
				other := []byte(name)
				other[at] ^= 1 << bit
				if c := other[at]; c == '`' || c > 'z' {
					continue
				}
				fmt.Fprintf(&doc, `,{"%s":"1"},{"%s":"2"}`, name, other)
				fmt.Fprintf(&want, `,{"%s":"1"},{}`, name)
			}
		}
		end := `]}` + strings.Repeat(" ", 100) // far enough from the end for the plain machine
		got, err := decoder.New(p).AppendJSON(nil, []byte(doc.String()+end))
		require.NoError(t, err)
		require.Equal(t, want.String()+"]}", string(got[:len(got)-100]), "%d bytes", length)
	}
}
