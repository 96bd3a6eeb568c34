package decoder

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

// TestOverlap puts the document at each index of the room that the result is appended to.
func TestOverlap(t *testing.T) {
	p := compileYAML(t, `
type: object
properties:
  a: {type: string}
  d: {type: string, default: a long default that overtakes what is read}
`)
	const doc = `{"x":1,"a":"b","y":2}`
	const want = `{"a":"b","d":"a long default that overtakes what is read"}`
	const findings = `[1:2: unknown field "x" 1:16: unknown field "y"]`
	d := New(p)
	for room := range 100 {
		for at := range room - len(doc) + 1 {
			for before := range 3 {
				buf := make([]byte, room)
				src := buf[at : at+copy(buf[at:], doc) : at+len(doc)]
				out, err := d.AppendJSON(buf[:before], src)
				require.NoError(t, err)
				require.Equal(t, want, string(out[before:]),
					"at %d of %d after %d", at, room, before)
				require.Equal(t, findings, fmt.Sprint(details(d.Findings())))
			}
		}
	}
	yaml := []byte("x: 1\na: b\n\"y\": 2\n" + strings.Repeat("# more\n", 20))
	out, err := d.AppendYAML(yaml[:0], yaml)
	require.NoError(t, err)
	require.Equal(t, want, string(out))
	require.Equal(t, `[1:1: unknown field "x" 3:1: unknown field "y"]`,
		fmt.Sprint(details(d.Findings())))

	// A text that does not overlap is not copied, even if one ends where the other starts.
	buf := append(make([]byte, 0, 200), doc...)
	assert.Same(t, &buf[0], &withoutOverlap(buf, buf)[0])
	assert.Same(t, &buf[0], &withoutOverlap(buf[len(doc):], buf)[0])
	assert.Same(t, &buf[10], &withoutOverlap(buf[:0:10], buf[10:])[0])
	assert.NotSame(t, &buf[10], &withoutOverlap(buf[:0:11], buf[10:])[0])
	assert.Same(t, &buf[0], &withoutOverlap(nil, buf)[0])
	assert.Empty(t, withoutOverlap(buf[:0], nil))
}

// TestRawDoesNotReachOver asserts that appending to the text of an object of a sequence does not
// overwrite the next object.
func TestRawDoesNotReachOver(t *testing.T) {
	lookup := func(string, string) (*schema.Program, error) { return nil, nil }
	s := NewSequence(strings.NewReader(`{"kind":"A"}{"kind":"B"}`), lookup)
	require.NoError(t, s.Next())
	_ = append(s.Raw(), `{"kind":"C"}`...)
	require.NoError(t, s.Next())
	assert.Equal(t, `{"kind":"B"}`, string(s.Raw()))
}
