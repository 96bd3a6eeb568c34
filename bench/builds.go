package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/espalier-dev/espalier/internal/corpus"
)

// Two builds of this program cannot take turns in one process. So each is a process that waits until
// it is told what to do for a slice, and says how long a run took.

// turn is how long a build works on a workload, in processor time of its process. It follows a
// collection, and is too short for another one: all but the collector's work is compared.
const turn = 50 * time.Millisecond

// kernelJobs are the jobs that compareBuilds measures.
var kernelJobs = []string{"bytes", "strict", "map", "skip", "yamlbridge", "verdict"}

// validResources are the workloads of the job verdict, and of no other of these jobs.
var validResources = []string{"valid", "mixed"}

// kernelWorkloads are the workloads of all kernelJobs.
var kernelWorkloads = slices.Concat(allJSON, []string{"corpus"}, validResources)

// takeTurns does the work that lines of in name, as "bytes/W3", and answers each with nanoseconds.
func takeTurns(workloads []*Workload, in io.Reader, out io.Writer) error {
	var ready string // one is ready at a time, as in Race
	var r *racer
	for lines := bufio.NewScanner(in); lines.Scan(); {
		if name := lines.Text(); name != ready {
			job, workload, _ := strings.Cut(name, "/")
			i := slices.IndexFunc(workloads, func(w *Workload) bool { return w.Name == workload })
			if i < 0 {
				return fmt.Errorf("no workload %q", workload)
			}
			workloads[i].forget()
			r, ready = prepare(&Measure{Contender: &jobNamed(job).Contenders[0]}, workloads[i]), name
		}
		runtime.GC()
		r.run()
		start, done := processTime(), 0
		for ; processTime()-start < turn; done++ {
			r.run()
		}
		ns := float64((processTime() - start).Nanoseconds()) / float64(done*r.repeat)
		if _, err := fmt.Fprintln(out, ns); err != nil {
			return err
		}
	}
	return nil
}

// A build is a binary of this program that is running.
type build struct {
	in  io.WriteCloser
	out *bufio.Reader
	cmd *exec.Cmd
}

func startBuild(path string) (*build, error) {
	cmd := exec.Command(path, "-turns")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &build{in, bufio.NewReader(out), cmd}, cmd.Start()
}

func (b *build) stop() {
	b.in.Close()
	_ = b.cmd.Wait()
}

// slice returns the nanoseconds of what is named, done once.
func (b *build) slice(name string) (float64, error) {
	if _, err := fmt.Fprintln(b.in, name); err != nil {
		return 0, err
	}
	line, err := b.out.ReadString('\n')
	if err != nil {
		return 0, fmt.Errorf("%s: %w", b.cmd.Path, err)
	}
	return strconv.ParseFloat(strings.TrimSpace(line), 64)
}

// compareBuilds compares the speed of two binaries of this program: the ratios are those of the time
// of the second to that of the first, by job and workload.
func compareBuilds(first, second string, only *regexp.Regexp, rounds int, ratios map[string][]float64) error {
	a, err := startBuild(first)
	if err != nil {
		return err
	}
	defer a.stop()
	b, err := startBuild(second)
	if err != nil {
		return err
	}
	defer b.stop()
	names := allJSON
	if corpus.IsThere(outsideTests{}) {
		names = kernelWorkloads
	}
	for _, job := range kernelJobs {
		for _, w := range names {
			name := job + "/" + w
			if !only.MatchString(name) || job == "yamlbridge" && !slices.Contains(allYAML, w) ||
				(job == "verdict") != slices.Contains(validResources, w) {
				continue
			}
			for range rounds {
				x, err := a.slice(name)
				if err != nil {
					return err
				}
				y, err := b.slice(name)
				if err != nil {
					return err
				}
				ratios[name] = append(ratios[name], y/x)
			}
		}
	}
	return nil
}

// measureKernels compares the default build with purego. Where the linker places functions moves a
// figure by some percent, so there is a pair of builds for each of several layouts, and a ratio is
// the median of the layouts' medians.
func measureKernels(out io.Writer, only *regexp.Regexp, rounds, layouts int) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	var all []map[string][]float64
	for layout := range layouts {
		with, without := filepath.Join(dir, "kernels"), filepath.Join(dir, "purego")
		for _, b := range [][]string{{"-o", with}, {"-tags=purego", "-o", without}} {
			args := slices.Concat([]string{"build", fmt.Sprintf("-ldflags=-randlayout=%d", layout)}, b, []string{"."})
			cmd := exec.Command("go", args...)
			cmd.Stderr = os.Stderr
			if err := cmd.Run(); err != nil {
				return fmt.Errorf("go %s: %w", strings.Join(args, " "), err)
			}
		}
		ratios := map[string][]float64{}
		if err := compareBuilds(with, without, only, rounds, ratios); err != nil {
			return err
		}
		all = append(all, ratios)
		fmt.Fprintf(os.Stderr, "layout %d is measured\n", layout)
	}
	return writeBuilds(out, all)
}

// writeBuilds writes a table of ratios, a map for each layout.
func writeBuilds(out io.Writer, all []map[string][]float64) error {
	var t bytes.Buffer
	fmt.Fprintf(&t, "| job | %s |\n|---|%s\n", strings.Join(kernelWorkloads, " | "), strings.Repeat("--:|", len(kernelWorkloads)))
	for _, job := range kernelJobs {
		fmt.Fprintf(&t, "| %s |", job)
		for _, w := range kernelWorkloads {
			var medians []float64
			for _, ratios := range all {
				if list := ratios[job+"/"+w]; len(list) > 0 {
					medians = append(medians, FigureOf(list).Median)
				}
			}
			cell := ""
			if len(medians) > 0 {
				cell = fmt.Sprintf("%.2f (%.2f-%.2f)", FigureOf(medians).Median, slices.Min(medians), slices.Max(medians))
			}
			fmt.Fprintf(&t, " %s |", cell)
		}
		fmt.Fprintln(&t)
	}
	_, err := out.Write(t.Bytes())
	return err
}
