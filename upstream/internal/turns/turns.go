// Package turns compares what go test's benchmarks print, of programs that are run in turns on a machine
// that does other things, too: by the ratios within a turn.
package turns

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// A Contender is one of the programs.
type Contender struct {
	Name string
	// turns has for each turn the values by benchmark and unit.
	turns []map[key][]float64
}

type key struct{ benchmark, unit string }

// Read adds a turn: what the program has printed. group returns the row of the table that a benchmark belongs
// to, or nothing for those that are not wanted. The number of processors is cut off before.
func (c *Contender) Read(said string, group func(benchmark string) string) {
	turn := make(map[key][]float64)
	for line := range strings.Lines(said) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		if at := strings.LastIndexByte(name, '-'); at > 0 {
			if _, err := strconv.Atoi(name[at+1:]); err == nil {
				name = name[:at]
			}
		}
		if name = group(name); name == "" {
			continue
		}
		for i := 2; i+1 < len(f); i += 2 {
			if v, err := strconv.ParseFloat(f[i], 64); err == nil {
				k := key{name, f[i+1]}
				turn[k] = append(turn[k], v)
			}
		}
	}
	c.turns = append(c.turns, turn)
}

// Add adds a turn that was measured otherwise, with the values of one unit by row.
func (c *Contender) Add(unit string, values map[string]float64) {
	turn := make(map[key][]float64)
	for name, v := range values {
		turn[key{name, unit}] = []float64{v}
	}
	c.turns = append(c.turns, turn)
}

// Table prints for each row the median of the first contender in a unit, and what it takes as a multiple
// of what each other one takes, with the range of that over the turns: more than 1 is in favour of the
// other one. Both must have the same turns.
func Table(out io.Writer, unit string, contenders ...*Contender) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t%s", unit, contenders[0].Name)
	for _, c := range contenders[1:] {
		fmt.Fprintf(w, "\tover %s", c.Name)
	}
	fmt.Fprintln(w)
	for _, name := range contenders[0].rows(unit) {
		k := key{name, unit}
		first := contenders[0].means(k)
		fmt.Fprintf(w, "%s\t%.0f", name, Median(first))
		for _, c := range contenders[1:] {
			means := c.means(k)
			if len(means) != len(first) {
				return fmt.Errorf("%s: %s has %d turns, and %s %d", name, contenders[0].Name, len(first), c.Name, len(means))
			}
			ratios := make([]float64, len(means))
			for i := range means {
				ratios[i] = first[i] / means[i]
			}
			fmt.Fprintf(w, "\t%.2f (%.2f to %.2f)", Median(ratios), slices.Min(ratios), slices.Max(ratios))
		}
		fmt.Fprintln(w)
	}
	return w.Flush()
}

// rows returns the rows of a unit, in order.
func (c *Contender) rows(unit string) (names []string) {
	for _, turn := range c.turns {
		for k := range turn {
			if k.unit == unit && !slices.Contains(names, k.benchmark) {
				names = append(names, k.benchmark)
			}
		}
	}
	slices.Sort(names)
	return names
}

// means returns the mean of a row for each turn that has it.
func (c *Contender) means(k key) (means []float64) {
	for _, turn := range c.turns {
		if values := turn[k]; len(values) > 0 {
			sum := 0.0
			for _, v := range values {
				sum += v
			}
			means = append(means, sum/float64(len(values)))
		}
	}
	return means
}

// Median returns the median of some numbers.
func Median(of []float64) float64 {
	s := slices.Sorted(slices.Values(of))
	if len(s)%2 == 1 {
		return s[len(s)/2]
	}
	return (s[len(s)/2-1] + s[len(s)/2]) / 2
}
