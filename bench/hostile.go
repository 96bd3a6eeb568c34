package main

// This file leaves a proxy alone with hostile clients for a while, and looks at what it holds.

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/espalier-dev/espalier/internal/adversarial"
)

const (
	hostileClients = 1000
	// hostileMemory limits what the process takes: three times its budget, as the garbage collector runs when
	// what is in use has doubled and takes its time where processors are busy, and 128 KiB for each
	// connection and for the one to the server.
	hostileMemory = 3*proxyBudget + hostileClients*(128<<10)
	// hostilePause is how long a client waits at most between two attacks.
	hostilePause = 4 * time.Second
)

// An attack sends something over a connection, and may wait. It returns the code of the answer, or 0.
type attack struct {
	name string
	run  func(conn net.Conn, r *rand.Rand) int
}

// hostile runs espalier proxy under the attacks of 1 000 clients for a time, and fails if the process takes
// more memory than hostileMemory, if it refuses an honest request for another reason than its budget, or if
// anything of the clients is left when they are gone.
func hostile(w io.Writer, d time.Duration) error {
	dir, err := buildProxies()
	defer os.RemoveAll(dir)
	if err != nil {
		return err
	}
	upstream, err := startUpstream()
	if err != nil {
		return err
	}
	defer upstream.stop()
	p, err := startProxy(hostileProxy, dir, upstream.address)
	if err != nil {
		return err
	}
	defer p.stop()
	before := p.descriptors()
	if code := honest(p.address); code != http.StatusCreated {
		return fmt.Errorf("an honest request is answered with %d", code)
	}
	all, done := attacks(), make(chan struct{})
	counts := make([]map[int]int, len(all)) // of the answers, by attack
	for i := range counts {
		counts[i] = map[int]int{}
	}
	var mu sync.Mutex
	var open, refused atomic.Int64
	var clients sync.WaitGroup
	for c := range hostileClients {
		clients.Go(func() {
			r := rand.New(rand.NewPCG(uint64(c), 1))
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Duration(r.Int64N(int64(hostilePause)))):
				}
				i := r.IntN(len(all))
				conn, err := net.Dial("tcp", p.address)
				if err != nil {
					refused.Add(1)
					continue
				}
				open.Add(1)
				_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
				code := all[i].run(conn, r)
				conn.Close()
				open.Add(-1)
				mu.Lock()
				counts[i][code]++
				mu.Unlock()
			}
		})
	}
	// The memory of the first and of the second half tells whether something grows.
	var halves [2][]float64
	honestly := map[int]int{}
	most, began := int64(0), time.Now()
	for time.Since(began) < d {
		time.Sleep(min(time.Second, d/20))
		most = max(most, open.Load())
		half := &halves[min(1, int(2*time.Since(began)/d))]
		*half = append(*half, p.resident())
		honestly[honest(p.address)]++
	}
	close(done)
	clients.Wait()
	peak, after := p.peak(), p.descriptors()
	// Connections to the server are kept for a while.
	for end := time.Now().Add(2 * time.Minute); after > before && time.Now().Before(end); after = p.descriptors() {
		time.Sleep(time.Second)
	}
	goroutines := p.goroutines()

	fmt.Fprintf(w, "%d clients for %v, at most %d connected at once. The process took %s at most (limit %s), with a budget of %s; half of the time less than %s, then less than %s. "+
		"It had %d descriptors before and %d afterwards, and %d goroutines. Honest requests: %v.\n\n| attack | answers |\n|---|---|\n",
		hostileClients, d, most, megabytes(peak), megabytes(hostileMemory), megabytes(proxyBudget), megabytes(middle(halves[0])), megabytes(middle(halves[1])), before, after, goroutines, honestly)
	for i, a := range all {
		fmt.Fprintf(w, "| %s | %v |\n", a.name, counts[i])
	}
	var faults []error
	fail := func(is bool, format string, args ...any) {
		if is {
			faults = append(faults, fmt.Errorf(format, args...))
		}
	}
	fail(peak > hostileMemory, "the process took %s", megabytes(peak))
	fail(refused.Load() > 0, "%d connections were refused", refused.Load())
	fail(honestly[http.StatusCreated] == 0 || len(honestly) > 2 || len(honestly) == 2 && honestly[http.StatusServiceUnavailable] == 0, "honest requests are answered with %v", honestly)
	fail(after > before, "%d descriptors are left, there were %d", after, before)
	fail(goroutines > 32, "%d goroutines are left", goroutines)
	return errors.Join(faults...)
}

func middle(values []float64) int {
	slices.Sort(values)
	return int(quantile(values, 0.5))
}

// hostileProxy is espalier proxy with short times.
var hostileProxy = Proxy{"espalier proxy", "", func(dir, upstream, address string) (*exec.Cmd, error) {
	cmd, err := Proxies()[0].Command(dir, upstream, address)
	if err == nil {
		vines := filepath.Join(dir, "vines.yaml")
		err = os.WriteFile(vines, []byte(definition("vines.example.com", "vines", "Vine", adversarial.Schema)), 0o600)
		cmd.Args = append(cmd.Args, "--crd", vines, "--gzip", "--body-timeout", "5s", "--header-timeout", "5s", "--idle-timeout", "5s")
	}
	return cmd, err
}}

// honest sends a request that nobody may object to, and returns the code of the answer.
func honest(address string) int {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(30 * time.Second))
	return exchange(conn, post("", itemsDocument(2, 2, 5)))
}

// post is a request with a body and more headers, which end lines.
func post(headers string, body []byte) []byte {
	return fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", workloadsPath, headers, len(body), body)
}

// adversary is a request with a document of a family, which has a definition of its own.
func adversary(f adversarial.Family, n int) []byte {
	text := string(f.Make(n))
	if rest, ok := strings.CutPrefix(text, "{"); ok {
		text = `{"apiVersion":"vines.example.com/v1","kind":"Vine",` + rest
	} else {
		text = "apiVersion: vines.example.com/v1\nkind: Vine\n" + text
	}
	request := strings.Replace(string(post("", []byte(text))), workloadsPath, "/apis/vines.example.com/v1/namespaces/shop/vines", 1)
	if f.YAML {
		request = strings.Replace(request, "/json", "/yaml", 1)
	}
	return []byte(request)
}

// exchange sends a request, and returns the code of the answer, or 0.
func exchange(conn net.Conn, text []byte) int {
	sent := make(chan struct{})
	go func() { defer close(sent); _, _ = conn.Write(text) }()
	defer func() { conn.Close(); <-sent }()
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, response.Body)
	return response.StatusCode
}

// attacks returns what hostile clients do.
func attacks() []attack {
	families := adversarial.Families()
	large, packed := itemsDocument(1000, 1000, 5), bytes.Buffer{}
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(bytes.Repeat([]byte(" "), 64<<20))
	_ = z.Close()
	bomb := post("Content-Encoding: gzip\r\n", packed.Bytes())
	whole := post("", large)
	chunk := fmt.Appendf(nil, "%x\r\n%s\r\n", len(large), large)
	chunked := []byte("POST " + workloadsPath + " HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n")
	wait := func(conn net.Conn) int { return exchange(conn, nil) }
	return []attack{
		{"a document that costs more than its size", func(conn net.Conn, r *rand.Rand) int {
			f := families[r.IntN(len(families))]
			return exchange(conn, adversary(f, 1<<10<<r.IntN(8)))
		}},
		{"a megabyte", func(conn net.Conn, _ *rand.Rand) int { return exchange(conn, whole) }},
		{"hangs up within a body", func(conn net.Conn, r *rand.Rand) int {
			_, _ = conn.Write(whole[:r.IntN(len(whole))])
			return 0
		}},
		{"stops within a body", func(conn net.Conn, r *rand.Rand) int {
			_, _ = conn.Write(whole[:r.IntN(len(whole))])
			return wait(conn)
		}},
		{"stops within the headers", func(conn net.Conn, r *rand.Rand) int {
			_, _ = conn.Write(whole[:r.IntN(100)])
			return wait(conn)
		}},
		{"a byte at a time", func(conn net.Conn, _ *rand.Rand) int {
			for i := range 100 {
				if _, err := conn.Write(whole[i : i+1]); err != nil {
					return 0
				}
				time.Sleep(100 * time.Millisecond)
			}
			return wait(conn)
		}},
		{"chunks without an end", func(conn net.Conn, _ *rand.Rand) int {
			_, err := conn.Write(chunked)
			for i := 0; i < 16 && err == nil; i++ {
				_, err = conn.Write(chunk)
			}
			return wait(conn)
		}},
		{"64 MiB in a few kB of gzip", func(conn net.Conn, _ *rand.Rand) int { return exchange(conn, bomb) }},
		{"headers of a megabyte", func(conn net.Conn, _ *rand.Rand) int {
			return exchange(conn, post(strings.Repeat("X-Header: "+strings.Repeat("x", 1000)+"\r\n", 1000), nil))
		}},
		{"random bytes", func(conn net.Conn, r *rand.Rand) int {
			text := make([]byte, 1+r.IntN(10_000))
			for i := range text {
				text[i] = byte(r.Uint32())
			}
			return exchange(conn, text)
		}},
		{"changed bytes of a request", func(conn net.Conn, r *rand.Rand) int {
			text := post("", itemsDocument(2, 2, 5))
			for range 1 + r.IntN(4) {
				text[r.IntN(len(text))] = byte(r.Uint32())
			}
			return exchange(conn, text)
		}},
		{"reads no answer", func(conn net.Conn, r *rand.Rand) int {
			_, _ = conn.Write(whole)
			time.Sleep(time.Duration(r.Int64N(int64(10 * time.Second))))
			return 0
		}},
	}
}

// resident returns the memory of the process in bytes.
func (p *process) resident() float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.cmd.Process.Pid))
	fields := strings.Fields(string(text) + " 0 0")
	pages, _ := strconv.Atoi(fields[1])
	return float64(pages * os.Getpagesize())
}

// descriptors returns how many files and connections the process has open.
func (p *process) descriptors() int {
	entries, _ := os.ReadDir(fmt.Sprintf("/proc/%d/fd", p.cmd.Process.Pid))
	return len(entries)
}

// goroutines ends the process, and returns how many goroutines it had. Go prints their stacks then.
func (p *process) goroutines() int {
	_ = p.cmd.Process.Signal(syscall.SIGQUIT)
	_ = p.cmd.Wait()
	return strings.Count(p.log.String(), "\ngoroutine ")
}
