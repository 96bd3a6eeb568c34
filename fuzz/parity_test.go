package fuzz

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/schema"
)

var (
	pairsFlag     = flag.Int("pairs", 10_000, "how many generated `pairs` TestParity, its like, and TestKEP compare")
	mutationsFlag = flag.Int("mutations", 5, "how many `mutations` of each real resource TestRealResources compares")
	reportsFlag   = flag.Int("reports", 5, "how many `differences` of each sort are reported")
	examplesFlag  = flag.Bool("examples", false, "print a minimal `example` of each difference that is meant")
	firstFlag     = flag.Bool("first", false, "end each comparison with the schema for which the `first` difference is found")
	fromFlag      = flag.Uint64("from", 0, "the `seed` that they start with")
)

// A tally counts outcomes, and keeps the first differences of each sort.
type tally struct {
	sync.Mutex
	classes map[class]int
	notes   map[string]int
	reports map[string][]string
	// examples has, if asked for, a minimal pair for each named class.
	examples map[class]string
}

func newTally() *tally {
	return &tally{classes: map[class]int{}, notes: map[string]int{}, reports: map[string][]string{}, examples: map[class]string{}}
}

func (y *tally) add(c class, what string, report func() string) {
	y.Lock()
	defer y.Unlock()
	y.classes[c]++
	if _, known := y.examples[c]; !known && *examplesFlag && report != nil && c != same && c != differs {
		y.examples[c] = report()
	}
	if c == differs {
		y.notes[what]++
		if len(y.reports[what]) < *reportsFlag {
			y.reports[what] = append(y.reports[what], report())
		}
	}
}

// addSilently counts a difference that equals a reported one.
func (y *tally) addSilently(what string) {
	y.Lock()
	defer y.Unlock()
	y.classes[differs]++
	y.notes[what]++
}

func (y *tally) hasDifference() bool {
	y.Lock()
	defer y.Unlock()
	return y.classes[differs] > 0
}

func (y *tally) log(t *testing.T) {
	for _, c := range slices.SortedFunc(maps.Keys(y.classes), func(a, b class) int { return cmp.Compare(y.classes[b], y.classes[a]) }) {
		t.Logf("%9d %s", y.classes[c], c)
		if example, ok := y.examples[c]; ok {
			t.Log(example)
		}
	}
	logCounts(t, y.notes)
	for _, reports := range y.reports {
		for _, report := range reports {
			t.Error(report)
		}
	}
}

func logCounts(t *testing.T, counts map[string]int) {
	t.Helper()
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%9d %s", counts[text], text)
	}
}

// TestParity compares generated pairs.
func TestParity(t *testing.T) { testParity(t, newComparer, *pairsFlag) }

// TestExactParity compares them under decoder.ServerRequests.
func TestExactParity(t *testing.T) { testParity(t, newExactComparer, *pairsFlag) }

// TestStorageParity compares them as stored objects.
func TestStorageParity(t *testing.T) { testParity(t, newStorageComparer, *pairsFlag) }

// TestExactYAMLParity reads the documents as YAML, which most JSON is. TestYAMLParity compares
// other YAML, without a schema.
func TestExactYAMLParity(t *testing.T) { testParity(t, inYAML(newExactComparer), *pairsFlag/4) }

// TestPreserveParity compares pairs for definitions that preserve unknown fields as a whole. They
// cannot have defaults.
func TestPreserveParity(t *testing.T) {
	preserving := func(newComparer maker) maker {
		return func(s *schema.Structural, js []byte, opts ...schema.Option) (*comparer, error) {
			s = withoutDefaults(s)
			c, err := newComparer(s, marshal(s), append(opts, schema.PreserveUnknownFields(true))...)
			if err == nil {
				c.server.Preserve()
			}
			return c, err
		}
	}
	t.Run("hardened", func(t *testing.T) { testParity(t, preserving(newComparer), *pairsFlag/4) })
	t.Run("exact", func(t *testing.T) { testParity(t, preserving(newExactComparer), *pairsFlag/4) })
	t.Run("storage", func(t *testing.T) { testParity(t, preserving(newStorageComparer), *pairsFlag/4) })
}

func testParity(t *testing.T, newComparer maker, pairs int) {
	y := newTally()
	pairs = forSchemas(t, pairs, func(first uint64) {
		if !*firstFlag || !y.hasDifference() {
			comparePairs(first, y, newComparer)
		}
	})
	y.log(t)
	require.Greater(t, y.classes[same], pairs/2)
}

// forSchemas calls f, in several goroutines, with the first seed of each schema, and returns the
// number of pairs: a few more than were asked for. A flag has the first seed.
func forSchemas(t *testing.T, pairs int, f func(first uint64)) int {
	if testing.Short() {
		pairs = 2000
	}
	started := time.Now()
	first, last := *fromFlag/DocumentsPerSchema, (*fromFlag+uint64(pairs)-1)/DocumentsPerSchema
	inTurns(last-first+1, func(i uint64) { f((first + i) * DocumentsPerSchema) })
	pairs = int(last-first+1) * DocumentsPerSchema
	t.Logf("%d pairs from seed %d on, in %v", pairs, first*DocumentsPerSchema, time.Since(started).Round(time.Second))
	return pairs
}

// inTurns calls f for each number below n, from several goroutines. Each takes the next number when
// it is done with one.
func inTurns(n uint64, f func(i uint64)) {
	var next atomic.Uint64
	var wait sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := next.Add(1) - 1; i < n; i = next.Add(1) - 1 {
				f(i)
			}
		})
	}
	wait.Wait()
}

// comparePairs compares all documents for one schema.
func comparePairs(first uint64, y *tally, newComparer maker) {
	s, js := NewSchema(first)
	c, err := newComparer(s, js)
	if err != nil {
		y.add(differs, "schema", func() string { return fmt.Sprintf("seed %d: %v\n%s", first, err, js) })
		return
	}
	reported := make(map[string]bool) // one for each schema
	for seed := first; seed < first+DocumentsPerSchema; seed++ {
		doc := NewDocument(seed, s)
		k, what, _ := c.compare(doc)
		if k == differs {
			if reported[what] {
				y.addSilently(what)
				continue
			}
			reported[what] = true
		}
		y.add(k, what, func() string {
			s, doc := minimise(s, doc, k, what, newComparer)
			return fmt.Sprintf("seed %d\n%s", seed, explain(s, doc, newComparer))
		})
	}
	y.Lock()
	for note, n := range c.notes {
		y.notes[note] += n
	}
	y.Unlock()
}

func explain(s *schema.Structural, doc []byte, newComparer maker) string {
	js := marshal(s)
	c, err := newComparer(s, js)
	if err != nil {
		return err.Error()
	}
	k, what, detail := c.compare(doc)
	text := fmt.Sprintf("%s: %s\nschema:   %s\ndocument: %q\n%s", k, what, js, doc, detail)
	if k == differs {
		return text
	}
	answer, theirs := c.serve(doc)
	out, ours := c.decode(doc)
	if theirs == nil {
		text += fmt.Sprintf("\nthey: %s", show(answer.Object))
	}
	return text + fmt.Sprintf("\nthey: %v\nwe:   %s %v", theirs, out, ours)
}
