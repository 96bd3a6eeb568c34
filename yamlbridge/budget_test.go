package yamlbridge

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// A purse is a budget with room for so many bytes.
type purse struct{ room, taken, most, largest int }

func (p *purse) Take(n int) bool {
	if n > 0 && p.taken+n > p.room {
		return false
	}
	p.taken += n
	p.most, p.largest = max(p.most, p.taken), max(p.largest, n)
	return true
}

// A reader holds what it has taken. Without room it holds nothing, and remains usable.
func TestBudget(t *testing.T) {
	text := []byte("- &a {" + strings.Repeat("k: 1, ", 1000) + "}\n" + strings.Repeat("- *a\n- <<: *a\n", 50) + "- {0.: 1, ? !!binary eHg= : 2}\n")
	want, err := (&Reader{Dialect: Server}).AppendJSON(nil, text)
	require.NoError(t, err)
	refused := 0
	for room := 1000; ; room += room / 7 {
		p := &purse{room: room}
		r := Reader{Dialect: Server, Budget: p}
		out, err := r.AppendJSON([]byte("dst"), text)
		assert.LessOrEqual(t, p.most, room)
		if err == nil {
			assert.Equal(t, "dst"+string(want), string(out))
			assert.InDelta(t, r.Cap()+cap(out), p.taken, 64)
			break
		}
		refused++
		require.Equal(t, errors.ErrBudget, err)
		assert.Equal(t, "dst", string(out))
		assert.LessOrEqual(t, p.taken, 8, "it was not given back") // the capacity of dst itself
		assert.Zero(t, r.Cap())
		r.Budget = nil
		out, err = r.AppendJSON(nil, text)
		require.NoError(t, err)
		assert.True(t, bytes.Equal(want, out))
	}
	assert.Greater(t, refused, 20)
}

func TestAliasFactor(t *testing.T) {
	text := []byte("- &a " + strings.Repeat("x", 1000) + "\n" + strings.Repeat("- *a\n", 200))
	for factor, most := range map[int]int{0: 64<<10 + MaxAliasFactor*len(text), 1: 64<<10 + len(text), 16: 64<<10 + 16*len(text), 1 << 30: 64<<10 + MaxAliasFactor*len(text)} {
		r := Reader{AliasFactor: factor}
		_, err := r.AppendJSON(nil, text)
		if 200*1002 <= most {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, int64(most), err.(*errors.LimitError).Max)
	}
}

// TestUnknownDialect holds that undefined dialects are refused, and not read as another one.
func TestUnknownDialect(t *testing.T) {
	assert.PanicsWithValue(t, "yamlbridge: there is no Dialect(9)", func() { _, _ = (&Reader{Dialect: 9}).AppendJSON(nil, []byte("a: 1")) })
}
