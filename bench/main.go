// Bench does the same work with Espalier and with its peers, in turns, and prints tables of
// Espalier's speedup over each of them:
//
//	bench [-rounds 7] [-only regexp] [-targets] [-write=false]   everything, also to results/
//	bench -smoke                                                 a gate for CI, some two minutes
//	bench -http [-rounds 7] [-write=false]                       the middleware in servers and proxies, under load
//	bench -hostile 1h                                            a proxy and 1 000 hostile clients
//	bench -kernels [-layouts 3]                                  the default build beside purego, some minutes
//	bench -torture [-only regexp]                                adversarial documents, some minutes
//	bench -plot                                                  docs/plots, from the tables there are
//
// Before a contender is timed, its result is compared, as a value, with that of Kubernetes for the
// same document. The row of a contender that does less work says so.
//
// workloads.go has the documents. contenders.go has the work on them, and a file for each group of
// contenders does it. verdict.go has real resources, and the work of validating them. paired.go
// measures; tables.go and scaling.go write tables, and plot.go draws them. http.go has the servers, proxies.go the proxies,
// and http_load.go the load.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"time"
)

var (
	roundsFlag  = flag.Int("rounds", 7, "how many `rounds` to measure")
	onlyFlag    = flag.String("only", "", "measure only what matches the `regexp`: of job/workload (bytes/W3), scaling/series, http/servers, http/proxies, command/manifests, command/start, kube/turns and compile/corpus")
	targetsFlag = flag.Bool("targets", false, "measure only the contenders that the first table names")
	writeFlag   = flag.Bool("write", true, "write the tables to results/ as well")
	smokeFlag   = flag.Bool("smoke", false, "compare a few ratios with wide gates, and exit with 1 where one has fallen")
	tortureFlag = flag.Bool("torture", false, "measure adversarial documents instead, and exit with 1 where twice the document costs far more than twice as much")
	httpFlag    = flag.Bool("http", false, "measure servers on loopback instead, one with the middleware among them")
	hostileFlag = flag.Duration("hostile", 0, "put espalier proxy under the attacks of 1 000 clients for a `time` instead, and exit with 1 where it takes more memory than it may, or anything of them is left")
	extProcFlag = flag.Bool("ext-proc", false, "measure external processors for Envoy instead, on loopback")
	serveFlag   = flag.String("http-serve", "", "be the server of -http with this `name`")
	proxyFlag   = flag.String("http-proxy", "", "be a proxy of -http: `address,upstream,decodes`")
	plotFlag    = flag.Bool("plot", false, "draw the tables of docs/performance.md into docs/plots instead, and measure nothing")
	kernelsFlag = flag.Bool("kernels", false, "build this program with and without kernels, and measure only how many times as fast the kernels make jobs")
	layoutsFlag = flag.Int("layouts", 3, "with -kernels, in how many `layouts` of the linker")
	turnsFlag   = flag.Bool("turns", false, "be a build of -kernels")
	buildsFlag  = flag.String("builds", "", "compare two builds of this program that are there, as -kernels does: `path,path`")
	profileFlag = flag.String("cpuprofile", "", "write a profile of the first contender of the one job that -only names to a `file`, and measure nothing")
)

func main() {
	flag.Parse()
	only, err := regexp.Compile(*onlyFlag)
	if err == nil {
		switch {
		case *smokeFlag:
			err = smoke(os.Stdout, *roundsFlag)
		case *tortureFlag:
			err = torture(os.Stdout, only)
		case *serveFlag != "":
			err = serveHTTP(*serveFlag)
		case *hostileFlag > 0:
			err = hostile(os.Stdout, *hostileFlag)
		case *extProcFlag:
			err = loadProcessors(*roundsFlag)
		case *proxyFlag != "":
			address, rest, _ := strings.Cut(*proxyFlag, ",")
			upstream, decodes, _ := strings.Cut(rest, ",")
			err = serveProxy(address, upstream, decodes == "true")
		case *turnsFlag:
			err = takeTurns(allWorkloads(), os.Stdin, os.Stdout)
		case *kernelsFlag:
			err = measureKernels(os.Stdout, only, *roundsFlag, *layoutsFlag)
		case *buildsFlag != "":
			first, second, _ := strings.Cut(*buildsFlag, ",")
			ratios := map[string][]float64{}
			err = compareBuilds(first, second, only, *roundsFlag, ratios)
			if err == nil {
				err = writeBuilds(os.Stdout, []map[string][]float64{ratios})
			}
		case *httpFlag:
			err = loadServers(only, *roundsFlag)
		case *plotFlag:
			err = plotAll("..")
		case *profileFlag != "":
			err = profile(*profileFlag, only)
		default:
			err = full(only)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// full measures everything that matches only, and prints and writes the tables.
func full(only *regexp.Regexp) error {
	jobs := Jobs()
	if *targetsFlag {
		for _, job := range jobs {
			job.keepTargets()
		}
	}
	var workloads []*Workload
	var trials []*Trial
	race := func(list []*Workload) {
		workloads = append(workloads, list...)
		trials = append(trials, raceAll(jobs, list, only, *roundsFlag)...)
	}
	// The collector looks at all that is in memory, so workloads are made when it is their turn.
	race(generatedWorkloads())
	var series bytes.Buffer
	if !*targetsFlag {
		writeScalings(&series, workloads, only, *roundsFlag)
	}
	real, left := realWorkloads()
	race(real)
	race(Verdicts())
	p, err := measureProcesses(only, *roundsFlag)
	if err != nil {
		return err
	}
	var tables bytes.Buffer
	writeHead(&tables, *roundsFlag, left)
	writeTargets(&tables, append(p.trials, trials...))
	for _, job := range jobs {
		writeJob(&tables, job, trials)
	}
	writeCommands(&tables, p.commands)
	if p.start != nil {
		writeStart(&tables, p.start)
	}
	fmt.Fprintf(&tables, "## Workloads\n\n")
	for _, w := range workloads {
		if slices.ContainsFunc(trials, func(t *Trial) bool { return t.Workload == w }) {
			writeWorkload(&tables, w, trials)
		}
	}
	if !*targetsFlag {
		if only.MatchString("compile/corpus") {
			writeCompile(&tables, *roundsFlag)
		}
		tables.Write(series.Bytes())
	}
	if _, err := os.Stdout.Write(tables.Bytes()); err != nil || !*writeFlag || *targetsFlag || *onlyFlag != "" {
		return err
	}
	return write("", tables.Bytes())
}

// processes has what is measured in processes of its own.
type processes struct {
	trials   []*Trial // all of it, for the first table
	commands []*commandTrial
	start    *start
}

func measureProcesses(only *regexp.Regexp, rounds int) (p processes, err error) {
	if only.MatchString("kube/turns") {
		if p.trials, err = measureKube(rounds); err != nil {
			return p, err
		}
	}
	if only.MatchString("command/start") {
		if p.start, err = measureStart(max(3*rounds, 20)); err != nil {
			return p, err
		}
		p.trials = append(p.trials, p.start.trials()...)
	}
	if only.MatchString("command/manifests") {
		if p.commands, err = raceCommands(min(rounds, 3)); err != nil {
			return p, err
		}
		for _, t := range p.commands {
			p.trials = append(p.trials, t.Trial)
		}
	}
	return p, nil
}

// allWorkloads returns what is generated and what is real.
func allWorkloads() []*Workload {
	real, _ := realWorkloads()
	return slices.Concat(generatedWorkloads(), real, Verdicts())
}

func generatedWorkloads() []*Workload {
	list := Generated()
	return append(list, longListOf(list[len(list)-1]))
}

// realWorkloads returns the workloads of the corpus that are not those of Verdicts. left is as for
// Corpus.
func realWorkloads() (list []*Workload, left int) {
	real, left := Corpus()
	if real != nil {
		list = append(list, real, Typed(real))
	}
	return list, left
}

func raceAll(jobs []*Job, workloads []*Workload, only *regexp.Regexp, rounds int) (trials []*Trial) {
	for _, w := range workloads {
		for _, job := range jobs {
			if !job.takes(w) || !only.MatchString(job.Name+"/"+w.Name) {
				continue
			}
			start := time.Now()
			trials = append(trials, Race(job, w, rounds))
			fmt.Fprintf(os.Stderr, "%s/%s: %.1fs\n", job.Name, w.Name, time.Since(start).Seconds())
		}
	}
	return trials
}

func writeScalings(w io.Writer, workloads []*Workload, only *regexp.Regexp, rounds int) {
	if !only.MatchString("scaling/goroutines") && !slices.ContainsFunc(scalings(), func(s Series) bool { return only.MatchString("scaling/" + s.Name) }) {
		return
	}
	fmt.Fprintf(w, "## Scaling\n\nStrict builds all paths; allocations are those of both.\n\n")
	for _, s := range scalings() {
		if only.MatchString("scaling/" + s.Name) {
			writeScaling(w, s, rounds)
		}
	}
	if only.MatchString("scaling/goroutines") {
		writeGoroutines(w, workloads[:3], rounds)
	}
}

// write writes a file for each day, platform, processor, build and kind of measurement.
func write(what string, tables []byte) error {
	name := fmt.Sprintf("%s-%s-%s-%s%s", time.Now().Format(time.DateOnly), runtime.GOOS, runtime.GOARCH, cpuSlug(cpuInfo("model name")), what)
	if purego {
		name += "-purego"
	}
	if err := os.MkdirAll("results", 0o777); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join("results", name+".md"), tables, 0o666)
}

// cpuSlug returns a processor's name as a part of a file's: "intel-xeon" for "Intel(R) Xeon(R) Processor".
func cpuSlug(model string) string {
	model = regexp.MustCompile(`\([^)]*\)|Processor|CPU|@.*`).ReplaceAllString(orUnknown(model), "")
	return strings.Trim(regexp.MustCompile(`\W+`).ReplaceAllString(strings.ToLower(model), "-"), "-")
}

// gateShare is the share of a target at which smoke fails. Means vary by some 20 %.
const gateShare = 0.4

// smoke measures the rows of the first table on all but the largest workload. It fails if a mean is
// so far from its target that there must be a real loss.
func smoke(w io.Writer, rounds int) error {
	workloads := append(Generated(), Verdicts()...)
	workloads = slices.DeleteFunc(workloads, func(w *Workload) bool { return w.Name == "W8" })
	fallen := 0
	for _, t := range Targets() {
		if !t.isGate() {
			continue
		}
		job := jobNamed(t.Job)
		job.keep(t.Over)
		var trials []*Trial
		for _, workload := range workloads {
			if job.takes(workload) && slices.Contains(t.Workloads, workload.Name) {
				trials = append(trials, Race(job, workload, rounds))
			}
		}
		if len(trials) == 0 {
			fmt.Fprintf(w, "%-60s skipped: no third-party data\n", t.Work)
			continue
		}
		_, mean := t.figures(trials)
		gate, verdict := t.Must[1]*gateShare, "ok"
		if t.atMost() {
			gate = t.Must[1] / gateShare
		}
		if !t.holds(mean.Median, gate) {
			fallen, verdict = fallen+1, "FALLEN"
		}
		fmt.Fprintf(w, "%-60s %s, gate %.2f: %s\n", t.Work, mean, gate, verdict)
	}
	if fallen > 0 {
		return fmt.Errorf("%d ratios have fallen below their gates", fallen)
	}
	return nil
}

func jobNamed(name string) *Job {
	for _, job := range Jobs() {
		if job.Name == name {
			return job
		}
	}
	panic("no job " + name)
}

// profile runs the first contender of the jobs and workloads that match only for some seconds.
func profile(name string, only *regexp.Regexp) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	var racers []*racer
	for _, w := range allWorkloads() { // those that do not match are garbage
		for _, job := range Jobs() {
			if job.takes(w) && only.MatchString(job.Name+"/"+w.Name) {
				racers = append(racers, prepare(&Measure{Contender: &job.Contenders[0]}, w))
			}
		}
	}
	runtime.GC()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for start := time.Now(); time.Since(start) < 5*time.Second; {
		for _, r := range racers {
			r.slice()
		}
	}
	return nil
}
