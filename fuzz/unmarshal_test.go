package fuzz

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/decoder"
)

// A cost has the allocations of a call.
type cost struct{ objects, bytes uint64 }

func costOf(f func()) cost {
	const runs = 10
	var before, after runtime.MemStats
	f()
	runtime.ReadMemStats(&before)
	for range runs {
		f()
	}
	runtime.ReadMemStats(&after)
	return cost{(after.Mallocs - before.Mallocs) / runs, (after.TotalAlloc - before.TotalAlloc) / runs}
}

// TestUnmarshalCosts asserts that maps cost at most a quarter of the allocations, and a third of
// the bytes, that they cost in the server, over all resources of the corpus.
func TestUnmarshalCosts(t *testing.T) {
	if testing.Short() {
		t.Skip("the race detector allocates, too")
	}
	comparers := realSchemas(t, newComparer)
	decoders := make(map[*comparer][2]*decoder.Decoder)
	var server, together, separate cost
	objects := 0
	for o := range realObjects(t) {
		c := comparers[o.apiVersion+" "+o.kind]
		if c == nil {
			continue
		}
		if _, err := c.server.Decode(o.js); err != nil {
			continue
		}
		if decoders[c][0] == nil {
			decoders[c] = [2]*decoder.Decoder{decoder.New(c.program), decoder.New(c.program, decoder.SeparateStrings(true))}
		}
		add := func(to *cost, f func() error) {
			of := costOf(func() {
				if err := f(); err != nil {
					t.Error(o.file, err)
				}
			})
			to.objects += of.objects
			to.bytes += of.bytes
		}
		objects++
		add(&server, func() error { _, err := c.server.Decode(o.js); return err })
		add(&together, func() error { var m map[string]any; return decoders[c][0].Unmarshal(o.js, &m) })
		add(&separate, func() error { var m map[string]any; return decoders[c][1].Unmarshal(o.js, &m) })
	}
	require.Greater(t, objects, 700)
	assert.LessOrEqual(t, together.objects, server.objects/4)
	assert.LessOrEqual(t, together.bytes, server.bytes/3)
	assert.Less(t, separate.objects, server.objects)
	t.Logf("%d objects: %d allocations of %d bytes; the server: %d of %d (%.3f, %.3f); separate strings: %d of %d", objects,
		together.objects, together.bytes, server.objects, server.bytes,
		float64(together.objects)/float64(server.objects), float64(together.bytes)/float64(server.bytes), separate.objects, separate.bytes)
}
