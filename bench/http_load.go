package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	httpClients = 8
	httpSlice   = 400 * time.Millisecond // for a server in each round
	slowClients = 64
)

// A process is a running server.
type process struct {
	Server
	cmd     *exec.Cmd
	address string
	log     *bytes.Buffer // of a proxy: what it wrote to stderr; read it when the process has ended
}

func startServer(s Server) (*process, error) {
	p := &process{Server: s, cmd: exec.Command(os.Args[0], "-http-serve", s.Name)}
	p.cmd.Stderr = os.Stderr
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	if _, err := fmt.Fscanln(out, &p.address); err != nil {
		p.stop()
		return nil, fmt.Errorf("%s has not started: %w", s.Name, err)
	}
	return p, nil
}

func (p *process) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

// forget restarts the measurement of peak from the present memory of the process (proc(5),
// clear_refs).
func (p *process) forget() {
	_ = os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", p.cmd.Process.Pid), []byte("5"), 0)
}

// peak returns the largest memory of the process in bytes, or 0 if the system does not tell.
func (p *process) peak() int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kB, _ := strconv.Atoi(strings.Fields(rest)[0])
			return kB << 10
		}
	}
	return 0
}

// cpu returns how much time of processors the process has used (proc(5), stat), in ticks of 10 ms, or
// 0 if the system does not tell.
func (p *process) cpu() time.Duration {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:])) // from the third on
	if len(fields) < 13 {
		return 0
	}
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// A load has the figures of a server for bodies of one size.
type load struct {
	perSecond []float64 // for each round
	latencies []float64 // of all rounds, in seconds
	cpu       time.Duration
}

// loadServers puts all servers under load, in turns, and prints and writes the tables.
func loadServers(only *regexp.Regexp, rounds int) error {
	var tables bytes.Buffer
	writeMachine(&tables)
	fmt.Fprintf(&tables, "- Servers are processes of their own, with GOMAXPROCS as above; the clients share the processors with them. "+
		"%d connections send one request after the other, in turns of %v a server, for %d rounds. Field validation is Warn. "+
		"Ratios are taken within a round: median (quartiles). The median and the 99th percentile are of the time that requests take.\n\n", httpClients, httpSlice, rounds)
	if only.MatchString("http/servers") {
		for _, size := range sizes {
			if err := loadWith(&tables, size.name, itemsDocument(uint64(size.items), size.items, 5), rounds); err != nil {
				return err
			}
		}
		if err := loadSlowly(&tables); err != nil {
			return err
		}
	}
	if only.MatchString("http/proxies") {
		if err := loadProxies(&tables, rounds); err != nil {
			return err
		}
	}
	if _, err := os.Stdout.Write(tables.Bytes()); err != nil || !*writeFlag {
		return err
	}
	return write("-http", tables.Bytes())
}

// sizes are those of the bodies, by their items.
var sizes = []struct {
	name  string
	items int
}{{"2 kB", 2}, {"20 kB", 20}, {"1 MB", 1000}}

func loadWith(w io.Writer, name string, body []byte, rounds int) error {
	var processes []*process
	defer func() {
		for _, p := range processes {
			p.stop()
		}
	}()
	for _, s := range Servers() {
		if s.ForMemory {
			continue
		}
		p, err := startServer(s)
		if err != nil {
			return err
		}
		processes = append(processes, p)
	}
	return loadAll(w, "HTTP, bodies of "+name, "/", body, processes, rounds)
}

// loadAll sends a body to a path of each process, in turns, and writes a table.
func loadAll(w io.Writer, title, path string, body []byte, processes []*process, rounds int) error {
	request := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", path, len(body), body)
	for _, p := range processes {
		if _, err := p.load(request, httpSlice); err != nil {
			return fmt.Errorf("%s: %w", p.Name, err)
		}
		p.forget()
	}
	loads := make([]load, len(processes))
	for range rounds {
		for i, p := range processes {
			start, used := time.Now(), p.cpu()
			latencies, err := p.load(request, httpSlice)
			if err != nil {
				return fmt.Errorf("%s: %w", p.Name, err)
			}
			// The last request of a slow server may take longer than the slice.
			loads[i].perSecond = append(loads[i].perSecond, float64(len(latencies))/time.Since(start).Seconds())
			loads[i].latencies = append(loads[i].latencies, latencies...)
			loads[i].cpu += p.cpu() - used
		}
	}
	fmt.Fprintf(w, "## %s (%d bytes), 5 %% unknown\n\n| server | requests/s | Espalier as fast | CPU a request | median | p99 | peak RSS | less |\n|---|--:|--:|--:|--:|--:|--:|---|\n", title, len(body))
	for i, p := range processes {
		var ratios []float64
		for round, n := range loads[i].perSecond {
			ratios = append(ratios, loads[0].perSecond[round]/n)
		}
		slices.Sort(loads[i].latencies)
		fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s |\n", p.Name, short(FigureOf(loads[i].perSecond).Median), FigureOf(ratios),
			milliseconds(loads[i].cpu.Seconds()/float64(len(loads[i].latencies))), milliseconds(quantile(loads[i].latencies, 0.5)), milliseconds(quantile(loads[i].latencies, 0.99)), megabytes(p.peak()), p.Less)
	}
	fmt.Fprintln(w)
	return nil
}

func milliseconds(seconds float64) string { return short(seconds*1000) + " ms" }

func megabytes(n int) string {
	if n == 0 {
		return "-"
	}
	return short(float64(n)/1e6) + " MB"
}

// load sends the request again and again for a time, and returns how long each request took.
func (p *process) load(request []byte, d time.Duration) (latencies []float64, err error) {
	var mu sync.Mutex
	var all sync.WaitGroup
	end := time.Now().Add(d)
	for range httpClients {
		all.Go(func() {
			mine, failed := p.client(request, end)
			mu.Lock()
			defer mu.Unlock()
			latencies = append(latencies, mine...)
			if failed != nil {
				err = failed
			}
		})
	}
	all.Wait()
	return latencies, err
}

// client is one connection. It reads answers by http.ReadResponse, which costs little compared to
// the request.
func (p *process) client(request []byte, end time.Time) (latencies []float64, err error) {
	conn, err := net.Dial("tcp", p.address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	for start := time.Now(); start.Before(end); {
		if _, err := conn.Write(request); err != nil {
			return nil, err
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			return nil, err
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusCreated {
			return nil, fmt.Errorf("the answer was %s", answer.Status)
		}
		now := time.Now()
		latencies = append(latencies, now.Sub(start).Seconds())
		start = now
	}
	return latencies, nil
}

// loadSlowly measures memory with clients that announce 3 MB, send 1 MB of it and stop, and with
// bodies of 64 MB.
func loadSlowly(w io.Writer) error {
	text := itemsDocument(1000, 1000, 5)[:1_000_000]
	part := fmt.Appendf(nil, "POST / HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 3000000\r\n\r\n%s", text)
	fmt.Fprintf(w, "## HTTP, memory\n\nPeak RSS with %d clients at once.\n\n| server | before | sends 1 MB of 3 and stops | answered at once | sends 64 MB | less |\n|---|--:|--:|--:|--:|---|\n", slowClients)
	for _, s := range Servers() {
		p, err := startServer(s)
		if err != nil {
			return err
		}
		before := p.peak()
		answered := p.stall(part)
		stalled := p.peak()
		p.stop()
		if p, err = startServer(s); err != nil {
			return err
		}
		p.oversize(text)
		fmt.Fprintf(w, "| %s | %s | %s | %d | %s | %s |\n", s.Name, megabytes(before), megabytes(stalled), answered, megabytes(p.peak()), s.Less)
		p.stop()
	}
	fmt.Fprintln(w)
	return nil
}

// stall sends a part of a request on each of many connections. It returns how many of them are
// answered nevertheless within a second.
func (p *process) stall(part []byte) (answered int) {
	p.each(func(conn net.Conn) bool {
		if _, err := conn.Write(part); err != nil {
			return true // it was answered before everything was sent
		}
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		_, err := conn.Read(make([]byte, 1))
		return err == nil
	}, &answered)
	return answered
}

// oversize sends bodies that are far beyond the limit, without announcing their length.
func (p *process) oversize(text []byte) { p.oversizeAt("/", text) }

func (p *process) oversizeAt(path string, text []byte) {
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(text), text)
	p.each(func(conn net.Conn) bool {
		_, err := io.WriteString(conn, "POST "+path+" HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
		for i := 0; i < 64 && err == nil; i++ {
			_, err = conn.Write(chunk)
		}
		return err != nil
	}, new(int))
}

// each runs f for many connections at once, and counts how often it returns true.
func (p *process) each(f func(net.Conn) bool, count *int) {
	var mu sync.Mutex
	var all sync.WaitGroup
	for range slowClients {
		all.Go(func() {
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				return
			}
			defer conn.Close()
			if f(conn) {
				mu.Lock()
				*count++
				mu.Unlock()
			}
		})
	}
	all.Wait()
}
