package yamlbridge

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A watcher is a budget that looks at its reader whenever that asks.
type watcher struct {
	r     *Reader
	taken int
	most  int // of taken
	ahead int // how much more than it has taken the reader has held
	calls int
}

func watched(d Dialect) *watcher {
	w := &watcher{r: &Reader{Dialect: d}}
	w.r.Budget = w
	return w
}

func (w *watcher) Take(n int) bool {
	w.calls++
	w.ahead = max(w.ahead, w.r.Cap()+cap(w.r.out)-w.taken)
	w.taken += n
	w.most = max(w.most, w.taken)
	return true
}

// TestChargedFirst holds that a reader is charged for what it takes before it takes it, and does not
// take much more than it needs.
func TestChargedFirst(t *testing.T) {
	long, controls, breaks := strings.Repeat("x", 1<<18), strings.Repeat(`\0`, 1<<16), strings.Repeat("\n", 1<<18)
	for _, c := range []struct{ before, src string }{
		{"", "a: " + long},
		{"", "a: '" + long + "'"},
		{"", "a: |\n " + long},
		// Two parts, of which the second does not fit.
		{"", "a: '" + long[:100_000] + "''" + long[:150_000] + "'"},
		{"", "a: \"" + long[:100_000] + "\\x41" + long[:150_000] + "\""},
		{"", "a: |\n " + long[:100_000] + "\n " + long[:150_000]},
		// A part whose size is that of Go's allocations.
		{"", "a: '" + long + "xxx''x'"},
		{"", "a: \"" + long + "xxx\\x41\""},
		// Plain scalars with what JSON escapes, and over lines.
		{"", "a: x\"" + long},
		{"", "a: " + long[:100_000] + "\n  " + long[:150_000]},
		// Line breaks.
		{"a: |\n" + breaks, "a: |\n" + breaks + " x"},
		{"", "? " + long + "\n"},
		{"", "- &a {b: " + long + "}\n- *a"},
		{"", "- " + long + "\n- &a {b: c}\n- [*a, *a ]"},
		{"", "<<: {a: " + long + "}"},
		// Scalars with a tag or an anchor.
		{"", "a: !!str " + long},
		{"", "a: &a " + long},
		{"", "a: !!str '" + long + "'"},
		{"", "a: !!str \"" + controls + "\""},
		{"", "a: !!str x\"" + long},
		{"", "a: &a " + long[:100_000] + "\n  " + long[:150_000]},
		{"", "a: !!binary " + base64.StdEncoding.EncodeToString([]byte(long))},
		{"", "a: !!binary " + base64.StdEncoding.EncodeToString(make([]byte, 1<<18))},
		{"", "? !!str " + long + "\n"},
		{"", "? &a '" + long + "'\n"},
		{"", "? !!binary " + base64.StdEncoding.EncodeToString([]byte(long)) + "\n"},
		{"", "a: !!binary \"" + base64.StdEncoding.EncodeToString([]byte(long)) + "\""},
		// The value of a key that has an anchor has all escapes: its size is at the edge of those that
		// Go allocates.
		{"? !!str \"" + controls + "\"\n", "? &a \"" + controls + "\"\n"},
	} {
		for _, d := range []Dialect{Kubernetes, Server} {
			chargedFirst(t, d, c.before, c.src)
		}
	}
	noText := bytes.Repeat([]byte{0xff, 0}, 1<<17)
	binary := base64.StdEncoding.EncodeToString(noText)
	for src, times := range map[string]int{
		"a: !!binary " + binary: 6, "- &a !!binary " + binary: 6, "? !!binary " + binary + "\n": 6 + 1, // what tells keys apart is kept
	} {
		w := chargedFirst(t, Server, "", src)
		assert.GreaterOrEqual(t, w.most-w.taken, 2*len(binary)+times*len(noText), "%.20q", src)
	}
	w := chargedFirst(t, Server, "", "a: !!str "+long)
	assert.Less(t, w.most-w.taken, 100, "nothing is charged that is not made")
	// The shortest strings that are charged before.
	atOnce := strings.Repeat(`\0`, longText)
	chargedFirst(t, Server, "", `a: !!str "`+atOnce+`"`)
	chargedFirst(t, Server, "", "? !!str x"+strings.Repeat(`"`, longText-1)+"\n")
}

func chargedFirst(t *testing.T, d Dialect, before, src string) *watcher {
	const little = 4 << 10
	w := watched(d)
	out, err := w.r.AppendJSON(nil, []byte(before))
	require.NoError(t, err)
	w.ahead = 0
	out, err = w.r.AppendJSON(out[:0], []byte(src))
	require.NoError(t, err)
	assert.LessOrEqual(t, w.ahead, little, "%.20q", src)
	assert.LessOrEqual(t, cap(out), 2*len(out), "%.20q", src)
	assert.Equal(t, w.r.Cap()+cap(out), w.taken, "%.20q", src)
	return w
}

// TestRoomForShortScalars holds that what is before a scalar makes no difference to the room for it.
func TestRoomForShortScalars(t *testing.T) {
	before := "- " + strings.Repeat("x", 1<<18) + "\n"
	for _, src := range []string{
		"- 'a''b'", `- "\x41b"`, "- |\n  a\n  b", "- !!str |\n  a\n  b", "- a\n  b", "- a\"b", "- !!str a", "- !!binary YQ==", "- &a {b: c}\n- [*a, *a ]\n- <<: *a",
		"- ? a\"b", "- ? &a 'b'\n- *a", "- {!!str a: b}", "- {0.0: a, -0.0: b}", "- [a\n  b]",
	} {
		for _, d := range []Dialect{Kubernetes, Core, Server} {
			r := Reader{Dialect: d}
			out, err := r.AppendJSON(nil, []byte(before+src))
			require.NoError(t, err, src)
			assert.Less(t, r.Cap()+cap(out), 3*len(before), src)
		}
	}
}

// TestChargedOften holds that buffers which grow by one element at a time are charged before they
// have grown far, and not for each element.
func TestChargedOften(t *testing.T) {
	for name, src := range map[string]string{
		"flow": "[" + strings.Repeat("1,", 1<<18) + "]", "block": strings.Repeat("- 1\n", 1<<18), "anchors": "[" + strings.Repeat("&a 1,", 1<<18) + "]",
	} {
		w := watched(Kubernetes)
		out, err := w.r.AppendJSON(nil, []byte(src))
		require.NoError(t, err)
		assert.Less(t, w.ahead, w.most/4, name)
		assert.Less(t, w.calls, len(out)/(4<<10), name)
	}
}

// TestChargedAtEnd holds that what a reader has taken is what it holds, after each document, whether
// that is short or long, or has parts for which it takes other memory.
func TestChargedAtEnd(t *testing.T) {
	w := watched(Server)
	var out []byte
	for range 2 {
		for _, src := range []string{
			"[" + strings.Repeat("1,", 10_000) + "]", "[" + strings.Repeat("1,", 10_000) + strings.Repeat("x", 30_000) + "]",
			"? !!binary /w==\n: [1]\n", "a: 1", "\xff\xfea\x00", "a: [", "{0.: 1, -0.: 2}", "b",
			"[" + strings.Repeat("1,", 100_000) + "]",
		} {
			var err error
			if out, err = w.r.AppendJSON(out[:0], []byte(src)); src != "a: [" {
				require.NoError(t, err)
			}
			assert.Equal(t, w.r.Cap()+cap(out), w.taken, "%.20q", src)
		}
		w.r.Forget()
	}
}
