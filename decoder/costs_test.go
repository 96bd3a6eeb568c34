package decoder_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/adversarial"
	"github.com/espalier-dev/espalier/schema"
)

func adversarialProgram(t testing.TB) *schema.Program {
	s, err := schema.Parse([]byte(adversarial.Schema))
	require.NoError(t, err)
	p, err := schema.Compile(s)
	require.NoError(t, err)
	return p
}

// TestFindingsDeepDown asserts that few findings with little text are kept of 3 MB in which every
// member is one, 9000 levels deep; the others are counted. Module bench measures how long that
// takes.
func TestFindingsDeepDown(t *testing.T) {
	p := adversarialProgram(t)
	for _, f := range adversarial.Families() {
		if !strings.Contains(f.Name, "deep down") && !strings.Contains(f.Name, "every level") {
			continue
		}
		src := f.Make(3_000_000)
		d := decoder.New(p, decoder.Strict)
		_, err := d.AppendJSON(nil, src)
		text := 0
		for _, found := range d.Findings() {
			text += len(found.Path.String())
		}
		require.LessOrEqual(t, len(d.Findings()), decoder.DefaultFindings, f.Name)
		require.LessOrEqual(t, text, decoder.DefaultFindingBytes, f.Name)
		if len(d.Findings()) > 0 {
			require.Error(t, err, f.Name)
			require.Less(t, len(err.Error()), 2*decoder.DefaultFindingBytes, f.Name)
		}
	}
}

// TestDuplicatesOfOneName asserts that all repetitions of a name are one finding.
func TestDuplicatesOfOneName(t *testing.T) {
	const times = 500_000
	depth := decoder.DefaultDepth - 1
	src := `{"zz":` + strings.Repeat(`{"a":`, depth-1) + `{` + strings.Repeat(`"":1,`, times-1) +
		`"":1}` + strings.Repeat("}", depth)
	d := decoder.New(adversarialProgram(t))
	_, err := d.AppendJSON(nil, []byte(src))
	require.NoError(t, err)
	require.Len(t, d.Findings(), 2)
	require.Equal(t, times-1, d.Findings()[0].Count)
	require.Less(t, len(d.Findings()[0].Path.String()), 1024)
}

// TestDefaultBudget asserts the limit of defaults, at its value and one byte below, for defaults of
// absent members and of nulls.
func TestDefaultBudget(t *testing.T) {
	p := adversarialProgram(t)
	absent := len(`,"a":"some","o":{"p":1,"q":[1,2]}`) - 1
	null := len(`"some"`) + len(`{"p":1,"q":[1,2]}`)
	for _, c := range []struct {
		item string
		size int // how many bytes are inserted into each
	}{{`{}`, absent}, {`{"a":null,"o":null}`, null}} {
		src := []byte(`{"list":[` + strings.Repeat(c.item+",", 999) + c.item + `]}`)
		for _, compact := range []bool{false, true} {
			of := func(budget int) *decoder.Decoder {
				return decoder.New(p, decoder.Compact(compact), decoder.Limits{DefaultBytes: budget})
			}
			_, err := of(1000*c.size).AppendJSON(nil, src)
			require.NoError(t, err, c.item)
			_, err = of(1000*c.size-1).AppendJSON(nil, src)
			var limit *errors.LimitError
			require.ErrorAs(t, err, &limit, c.item)
			require.Equal(t, errors.LimitDefaultBytes, limit.Limit)
		}
	}
}
