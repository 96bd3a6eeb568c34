package yamlbridge_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// TestReaderKeepsNothing: after each of these documents, each other one is read as by a new reader.
func TestReaderKeepsNothing(t *testing.T) {
	documents := []string{
		"a: 1", "- &x {a: [b]}\n- *x\n- <<: *x\n  c: 1", "a: {<<: {x: 1}}", "{b: 1, c: 2, <<: {c: 3}}", "{<<: {a: {b: 1}}, c: 2}", "[0.0: a, {<<: {-0.0: b, 0: c}}]",
		numbered(20, "- &a%d x\n") + "- *a3", numbered(30, "- &b%d x\n- &a%[1]d y\n") + "- *a3\n- *b25",
		"1: a\n1.0: b\n1: c", "a: b\n1: c\n'1': d", "{1: a, 2: b, a: c}", "%TAG !e! tag:yaml.org,2002:\n--- !e!str 5", "--- !e!str 5",
		"\uFEFF# c\n\n  a: 1", "{a: [x, {b: &c [1", "{<<: {<<: [{a: &b 1}, *c", "a: {~: .inf}\na: 1", "a: 'x\u2028'", "a: \u2028", "{a: b} x\n@", "a: \x01", "!!binary /w==: a", "? |\n a\n: >\n b",
		strings.Repeat("x: [", 20) + "y", "{a: b, c: d, e: [f, g, h, {i: j}]}",
	}
	for _, dialect := range []yamlbridge.Dialect{yamlbridge.Kubernetes, yamlbridge.Server, yamlbridge.Core} {
		for _, before := range documents {
			for _, src := range documents {
				used, fresh := yamlbridge.Reader{Dialect: dialect}, yamlbridge.Reader{Dialect: dialect}
				_, _ = used.AppendJSON(nil, []byte(before))
				used.Position(1 << 20)
				require.Equal(t, reading(&fresh, src), reading(&used, src), "dialect %d, %q after %q", dialect, src, before)
			}
		}
	}
}

// reading returns all that a reader says of a document.
func reading(r *yamlbridge.Reader, src string) string {
	out, err := r.AppendJSON(nil, []byte(src))
	said := fmt.Sprintf("%s %v %v", out, err, r.Trailing())
	for i := range out {
		said += fmt.Sprint(r.Position(i), r.Definition(i))
	}
	if err == nil && r.Dialect == yamlbridge.Server {
		said += fmt.Sprint(r.ServerDuplicates(out))
	}
	return said
}

// TestSourceLimitAfterOthers: the place of what is too long is its start, whatever was read before.
func TestSourceLimitAfterOthers(t *testing.T) {
	defer yamlbridge.SetMaxSourceBytes(10)()
	for _, before := range []string{"\uFEFF\n\n  a", "\n\n\n\na", ""} {
		var r yamlbridge.Reader
		_, err := r.AppendJSON(nil, []byte(before))
		require.NoError(t, err)
		r.Position(10)
		_, err = r.AppendJSON(nil, []byte("a: 123456789"))
		var limit *errors.LimitError
		require.ErrorAs(t, err, &limit)
		assert.Equal(t, errors.Position{Line: 1, Column: 1, ByteColumn: 1}, limit.Position, "%q", before)
	}
}

// TestAllIsChecked: characters that are not allowed are found in each part of a long text, and what
// the reader's buffer has of a text before is no part of it.
func TestAllIsChecked(t *testing.T) {
	var r yamlbridge.Reader
	long := strings.Repeat("x", 100<<10)
	for size := 32<<10 - 40; size < 32<<10+40; size++ {
		// The tab has some bytes looked at one by one.
		for _, before := range []string{long[:size], long[:size-16] + "\t" + long[:15]} {
			_, err := r.AppendJSON(nil, []byte(long))
			require.NoError(t, err)
			_, err = r.AppendJSON(nil, []byte(before+"\x01"+long[:100]))
			require.ErrorContains(t, err, "control character U+0001", size)
		}
	}
}
