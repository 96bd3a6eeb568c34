package cel

import (
	"flag"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/sample"
)

var (
	generated = flag.Int("objects", 1000, "how many objects TestGenerated makes")
	from      = flag.Int("from", 0, "the number of the first one, from which it is made")
)

// TestGenerated compares the errors in generated objects, old and new, of all definitions with rules.
func TestGenerated(t *testing.T) {
	all := pairs(t)
	makers := make([]*sample.Maker, len(all))
	for i, p := range all {
		makers[i] = sample.New(p.schema, "example.com/v1", p.crd.Kind)
	}
	valid, failed, ratcheted, refusing, number := 0, 0, 0, map[string]bool{}, 0
	for _, p := range all {
		number += p.ours.(*rules).root.count()
	}
	if testing.Short() {
		*generated = 220
	}
	for n := range *generated {
		i := *from + n
		p, m := all[i%len(all)], makers[i%len(all)]
		js, err := m.Valid(sample.Bytes(uint64(i)))
		require.NoError(t, err, p.name)
		if i%5 == 4 {
			js, _, err = m.NearlyValid(sample.Bytes(uint64(i)))
			require.NoError(t, err)
		}
		x := value(t, js)
		if errs := p.ours.Evaluate(p.request(x, nil)); p.compare(t, x, nil) == 0 {
			assert.Empty(t, errs)
			valid++
		} else {
			failed++
			for _, e := range errs {
				refusing[fmt.Sprint(p.name, e.Msg, e.Index)] = true
			}
		}
		js, err = m.Changed(js, sample.Bytes(uint64(i+1)<<32))
		require.NoError(t, err)
		changed := value(t, js)
		if created := p.compare(t, changed, nil); p.compare(t, changed, x) < created {
			ratcheted++
		}
		if t.Failed() {
			return
		}
	}
	t.Logf("%d versions with %d rules; %d objects are valid, and %d are not, by %d rules; %d updates may keep what is invalid",
		len(all), number, valid, failed, len(refusing), ratcheted)
	assert.Greater(t, valid, *generated/10)
	assert.Greater(t, failed, *generated/10)
	assert.Positive(t, ratcheted)
}

// count returns how many rules there are.
func (n *node) count() int {
	if n == nil {
		return 0
	}
	count := len(n.rules) + n.items.count() + n.additional.count()
	for _, p := range n.properties {
		count += p.count()
	}
	for _, s := range n.allOf {
		count += s.count()
	}
	return count
}
