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
	mostFactor   = 2.1       // what twice the document may cost, in the mean over all sizes, if memory were all the same
	mostAtAll    = 2.75      // whatever the machine's share is: what takes the power of 1.5 has 2.83
	smallestSize = 256 << 10 // of a document
	largestSize  = 4 << 20
	cacheSize    = 64 << 20 // more than a core has of its own
	tortureTries = 5        // as long as the mean is too large
	runsOfTry    = 3        // of each document
)

// torture measures what twice the document costs, for each family of adversarial documents and
// each entry of decoding it that only matches, and fails where it is more than it may be.
func torture(w io.Writer, only *regexp.Regexp) error {
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // it runs between what is timed
	s, err := schema.Parse([]byte(adversarial.Schema))
	if err != nil {
		return err
	}
	p, err := schema.Compile(s)
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "## Adversarial documents\n\nWhat twice the document costs, from %d KiB to %d MiB: the mean and the largest of the factors, with a plus where the mean is over %.1f and an exclamation mark where it is more than the machine's own share explains; and MB/s of the largest document.\n\n", smallestSize>>10, largestSize>>20, mostFactor)
	machine := tortureMachine(w)
	var failed []string
	columns := ""
	for _, f := range adversarial.Families() {
		if !slices.ContainsFunc(f.EntryPoints(), func(entry adversarial.EntryPoint) bool { return only.MatchString(f.Name + "/" + entry.Name) }) {
			continue
		}
		var head, row []string
		for _, entry := range f.EntryPoints() {
			head = append(head, entry.Name)
			if name := f.Name + "/" + entry.Name; only.MatchString(name) {
				series := tortureSeries(&f, entry.Start(p))
				mark := ""
				if series.mean() > mostFactor {
					mark = "+"
				}
				limit := machine.memory
				switch {
				case entry.Name == "map":
					limit = machine.maps
				case f.Lookups, f.YAML && entry.Name == "Kubernetes": // which enters all keys in a map
					limit = machine.tables
				}
				if series.mean() > limit {
					mark = "!"
					failed = append(failed, fmt.Sprintf("%s: %.2f", name, series.factors()))
				}
				row = append(row, fmt.Sprintf("%.2f%s, %.2f (%s)", series.mean(), mark, slices.Max(series.factors()), short(series.speed())))
			} else {
				row = append(row, "-")
			}
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

// A costSeries is what documents of one family cost, each about twice as large as the one before.
type costSeries struct {
	docs  [][]byte
	best  []time.Duration
	other []byte // as large as caches are, or larger
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

// measure lets the documents take turns, so that slow minutes are those of all. Each run starts with
// cold caches: a small document would be in one from the run before, and a large one would not,
// so that the machine would be measured, not the code. What the code looks up again within a run is
// in a cache if there is little of it: that is part of what is measured.
func (s *costSeries) measure(run func([]byte) (int, error)) {
	runtime.LockOSThread() // whose time is measured
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

// evict fills the caches with what nobody reads.
func (s *costSeries) evict() {
	for i := 0; i < len(s.other); i += 64 {
		s.other[i]++
	}
}

// factors returns what each document costs over the one before, for documents exactly twice as large.
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

// speed returns the MB/s for the largest document.
func (s *costSeries) speed() float64 {
	last := len(s.docs) - 1
	return float64(len(s.docs[last])) * 1e3 / float64(s.best[last])
}

// The most that twice the document may cost: mostFactor, or more by as much as plain work on memory costs
// more than twice on this machine, where it is farther away the more of it there is.
type tortureLimits struct{ memory, tables, maps float64 }

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
		return bytes.IndexByte(to[:copy(to, doc)], 0), nil // which is not there
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
	fmt.Fprint(w, "What twice as much costs the machine, and what it may cost here therefore:")
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

// mostOverCopy is how many times as long as a copy it may take to find duplicates deep down.
const mostOverCopy = 100

// tortureFindings compares 3 MB of duplicates at a depth of 10 000 with copying them.
func tortureFindings(w io.Writer, p *schema.Program, only *regexp.Regexp) (failed []string) {
	const name = "duplicates at a depth of 10000"
	if !only.MatchString(name) {
		return nil
	}
	depth := decoder.DefaultDepth - 1
	src := []byte(`{"zz":` + strings.Repeat(`{"a":`, depth-1) + `{` + strings.Repeat(`"":1,`, 3_000_000/5) + `"":1}` + strings.Repeat("}", depth))
	d := decoder.New(p, decoder.Strict)
	to := make([]byte, len(src))
	best := [2]time.Duration{1 << 62, 1 << 62}
	runtime.LockOSThread() // whose time is measured
	defer runtime.UnlockOSThread()
	for range 10 {
		for i, do := range []func(){func() { _, _ = d.AppendJSON(nil, src) }, func() { copy(to, src) }} {
			start := threadTime()
			do()
			best[i] = min(best[i], threadTime()-start)
		}
	}
	ratio := float64(best[0]) / float64(best[1])
	fmt.Fprintf(w, "\n3 MB of %s: %.1f times as long as a copy of them (%v), with %d findings.\n", name, ratio, best[1], len(d.Findings()))
	if ratio > mostOverCopy || !bytes.Equal(to, src) {
		failed = append(failed, fmt.Sprintf("%s: %.0f times a copy", name, ratio))
	}
	return failed
}
