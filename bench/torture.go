package main

import (
	"bytes"
	"fmt"
	"hash/maphash"
	"io"
	"math"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/adversarial"
	"github.com/espalier-dev/espalier/schema"
)

const (
	// mostFactor limits the cost of twice the document, in the mean over all sizes, on uniform memory.
	mostFactor = 2.1
	// mostAtAll is the limit on any machine. Work that grows with the power of 1.5 costs 2.83.
	mostAtAll    = 2.75
	smallestSize = 256 << 10 // of a document
	largestSize  = 4 << 20
	cacheSize    = 64 << 20 // more than the caches of a core
	tortureTries = 5        // repeated while the mean is too large
	runsOfTry    = 3        // of each document
)

// torture measures the cost of twice the document, for each family of adversarial documents and
// each entry point that matches only. It fails if that is more than the limit.
func torture(w io.Writer, only *regexp.Regexp) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // the collector runs between timed runs
	s, err := schema.Parse([]byte(adversarial.Schema))
	if err != nil {
		return err
	}
	p, err := schema.Compile(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "## Adversarial documents\n\nThe cost of twice the document, from %d KiB to %d MiB: "+
		"the mean and the largest of the factors, with a plus if the mean is over %.1f, and an exclamation mark "+
		"if it is more than the machine's own share explains; and MB/s of the largest document.\n\n",
		smallestSize>>10, largestSize>>20, mostFactor)
	machine := tortureMachine(w)
	var failed []string
	columns := ""
	for _, f := range adversarial.Families() {
		var head, row []string
		measured := false
		for _, entry := range f.EntryPoints() {
			name, cell := f.Name+"/"+entry.Name, "-"
			if only.MatchString(name) {
				measured = true
				series := tortureSeries(&f, entry.Start(p))
				fails := series.mean() > machine.limit(&f, entry.Name)
				if fails {
					failed = append(failed, fmt.Sprintf("%s: %.2f", name, series.factors()))
				}
				cell = series.cell(fails)
			}
			head, row = append(head, entry.Name), append(row, cell)
		}
		if !measured {
			continue
		}
		if c := strings.Join(head, " | "); c != columns {
			columns = c
			fmt.Fprintf(w, "\n| | %s |\n|---|%s\n", columns, strings.Repeat("--:|", len(head)))
		}
		fmt.Fprintf(w, "| %s | %s |\n", f.Name, strings.Join(row, " | "))
	}
	failed = append(failed, tortureFindings(w, p, only)...)
	if len(failed) > 0 {
		return fmt.Errorf("adversarial documents cost too much:\n%s", strings.Join(failed, "\n"))
	}
	return nil
}

// A costSeries has the costs of the documents of one family, each about twice as large as the one
// before.
type costSeries struct {
	docs  [][]byte
	best  []time.Duration
	other []byte // as large as caches, or larger
}

func tortureSeries(f *adversarial.Family, run func([]byte) (int, error)) *costSeries {
	s := &costSeries{other: make([]byte, cacheSize)}
	for n := smallestSize; n <= largestSize; n *= 2 {
		s.docs = append(s.docs, f.Make(n))
		s.best = append(s.best, 1<<62)
	}
	_, _ = run(s.docs[len(s.docs)-1]) // so that its buffers have grown
	for try := 0; try < tortureTries && (try == 0 || s.mean() > mostFactor); try++ {
		s.measure(run)
	}
	return s
}

// measure measures the documents in turns, so that slow minutes affect all of them. Each run starts
// with cold caches. Otherwise a small document would be in a cache from the run before, and a large
// one would not, and the figure would be that of the machine. Data that the code uses again within
// a run are in a cache if they are small. That is part of the measurement.
func (s *costSeries) measure(run func([]byte) (int, error)) {
	runtime.LockOSThread() // threadTime measures this thread
	defer runtime.UnlockOSThread()
	for range runsOfTry {
		for i, doc := range s.docs {
			runtime.GC()
			s.evict()
			start := threadTime()
			_, _ = run(doc)
			s.best[i] = min(s.best[i], threadTime()-start)
		}
	}
}

// evict fills the caches with other data.
func (s *costSeries) evict() {
	for i := 0; i < len(s.other); i += 64 {
		s.other[i]++
	}
}

// factors returns the cost of each document relative to the one before, corrected for documents
// exactly twice as large.
func (s *costSeries) factors() (list []float64) {
	for i := range len(s.docs) - 1 {
		cost := float64(s.best[i+1]) / float64(s.best[i])
		list = append(list, 2*cost*float64(len(s.docs[i]))/float64(len(s.docs[i+1])))
	}
	return list
}

// mean returns the geometric mean of the factors.
func (s *costSeries) mean() float64 {
	product := 1.0
	for _, factor := range s.factors() {
		product *= factor
	}
	return math.Pow(product, 1/float64(len(s.docs)-1))
}

// cell returns the figures for the table.
func (s *costSeries) cell(fails bool) string {
	mark := ""
	switch {
	case fails:
		mark = "!"
	case s.mean() > mostFactor:
		mark = "+"
	}
	return fmt.Sprintf("%.2f%s, %.2f (%s)", s.mean(), mark, slices.Max(s.factors()), short(s.speed()))
}

// speed returns the MB/s of the largest document.
func (s *costSeries) speed() float64 {
	last := len(s.docs) - 1
	return float64(len(s.docs[last])) * 1e3 / float64(s.best[last])
}

// tortureLimits has the limits for the cost of twice the document. A limit is mostFactor, or more
// if plain work on memory costs more than twice on this machine, where more data are farther away.
type tortureLimits struct{ memory, tables, maps float64 }

// limit returns the limit for an entry point and the documents of a family.
func (l *tortureLimits) limit(f *adversarial.Family, entry string) float64 {
	switch {
	case entry == "map":
		return l.maps
	case f.Lookups, f.YAML && entry == "Kubernetes": // it enters all keys in a map
		return l.tables
	}
	return l.memory
}

// tortureMachine measures plain work on the words of a document.
func tortureMachine(w io.Writer) tortureLimits {
	const word = 10
	words := adversarial.Family{Make: func(n int) []byte {
		var b []byte
		for i := 0; len(b) < n; i++ {
			b = fmt.Appendf(b, "k%08d\n", i)
		}
		return b
	}}
	to := make([]byte, largestSize+word)
	copied := func(doc []byte) (int, error) {
		return bytes.IndexByte(to[:copy(to, doc)], 0), nil // the byte is not there
	}
	slots, seed := make([]uint32, 2*len(to)/word), maphash.MakeSeed()
	entered := func(doc []byte) (found int, err error) {
		n := len(doc) / word
		slots := slots[:2*n]
		clear(slots)
		slot := func(i int) *uint32 {
			at := maphash.Bytes(seed, doc[word*i:][:word]) % uint64(len(slots))
			for slots[at] != 0 && !bytes.Equal(doc[word*i:][:word], doc[word*(int(slots[at])-1):][:word]) {
				at = (at + 1) % uint64(len(slots))
			}
			return &slots[at]
		}
		for i := range n {
			*slot(i) = uint32(i + 1)
			found += int(*slot(i * 7919 % (i + 1)))
		}
		return found, nil
	}
	made := func(doc []byte) (int, error) {
		m := make(map[string]any, len(doc)/word)
		for ; len(doc) >= word; doc = doc[word:] {
			m[string(doc[:word])] = string(doc[1:word])
		}
		return len(m), nil
	}
	fmt.Fprint(w, "The cost of twice as much plain work on this machine, and the limit that follows from it:")
	limit := func(name string, run func([]byte) (int, error)) float64 {
		s := tortureSeries(&words, run)
		most := min(mostFactor*max(1, s.mean()/2), mostAtAll)
		fmt.Fprintf(w, " %s %.2f, %.2f (%s): %.2f.", name, s.mean(), slices.Max(s.factors()), short(s.speed()), most)
		return most
	}
	defer fmt.Fprintln(w)
	return tortureLimits{
		memory: limit("to copy a document and read the copy", copied),
		tables: limit("to enter its words in a table and look others up", entered),
		maps:   limit("to make a Go map of them", made),
	}
}

// mostOverFlat limits the time for finding duplicates deep down, as a multiple of the time for the same
// ones in an object of the root.
const mostOverFlat = 2

// tortureFindings compares 3 MB of duplicates at a depth of 10 000 with the same ones at a depth of 2: where
// they are is said once, and not for each of them.
func tortureFindings(w io.Writer, p *schema.Program, only *regexp.Regexp) (failed []string) {
	const name = "duplicates at a depth of 10000"
	if !only.MatchString(name) {
		return nil
	}
	depth := decoder.DefaultDepth - 1
	members := `{` + strings.Repeat(`"":1,`, 3_000_000/5) + `"":1}`
	deep := []byte(`{"zz":` + strings.Repeat(`{"a":`, depth-1) + members + strings.Repeat("}", depth))
	flat := []byte(`{"zz":` + members + `}`)
	d := decoder.New(p, decoder.Strict)
	best := [2]time.Duration{1 << 62, 1 << 62}
	var findings [2]int
	runtime.LockOSThread() // threadTime measures this thread
	defer runtime.UnlockOSThread()
	for range 10 {
		for i, src := range [][]byte{deep, flat} {
			start := threadTime()
			_, _ = d.AppendJSON(nil, src)
			best[i] = min(best[i], threadTime()-start)
			findings[i] = len(d.Findings())
		}
	}
	ratio := float64(best[0]) / float64(best[1])
	fmt.Fprintf(w, "\n3 MB of %s: %.2f times as long as at a depth of 2 (%v), with %d findings.\n", name, ratio, best[1], findings[0])
	if ratio > mostOverFlat || findings[0] == 0 || findings[0] != findings[1] {
		failed = append(failed, fmt.Sprintf("%s: %.1f times as long as at a depth of 2, %d findings and not %d", name, ratio, findings[0], findings[1]))
	}
	return failed
}
