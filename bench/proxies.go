package main

// This file puts proxies under load: espalier proxy and Caddy with Espalier, beside others that only
// copy, and one that does the server's work. Behind all of them is the same server.

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/espalier-dev/espalier/request"
)

const (
	workloadsPath = "/apis/apps.example.com/v1/namespaces/shop/workloads"
	// proxyBudget is what requests may hold in those proxies that have a budget.
	proxyBudget = 128 << 20
	// slowProxyClients have sent slowPart of slowWhole bytes.
	slowProxyClients, slowPart, slowWhole = 1000, 200_000, 3_000_000
)

// A Proxy is put under load. Command returns the command that runs it: dir has the programs and the
// definition, and what is passed on goes to an address.
type Proxy struct {
	Name, Less string
	Command    func(dir, upstream, address string) (*exec.Cmd, error)
}

// Proxies returns the proxies that are measured. Ratios are relative to the first.
func Proxies() []Proxy {
	return []Proxy{
		{"espalier proxy", "", func(dir, upstream, address string) (*exec.Cmd, error) {
			return exec.Command(filepath.Join(dir, "espalier"), "proxy", "--upstream", "http://"+upstream, "--crd", filepath.Join(dir, "crd.yaml"),
				"--listen", address, "--admin-listen", "", "--max-held-bytes", strconv.Itoa(proxyBudget)), nil
		}},
		{"Caddy with Espalier", "", caddyCommand(map[string]any{})},
		{"the same, stream", "holds no body", caddyCommand(map[string]any{"stream": true})},
		{"httputil.ReverseProxy, Kubernetes", "to JSON", ownCommand(true)},
		{"httputil.ReverseProxy", "decodes nothing", ownCommand(false)},
		{"Caddy", "decodes nothing", caddyCommand(nil)},
	}
}

// caddyCommand returns the command of a Caddy with the handler, unless that is nil.
func caddyCommand(handler map[string]any) func(dir, upstream, address string) (*exec.Cmd, error) {
	return func(dir, upstream, address string) (*exec.Cmd, error) {
		handle := []any{map[string]any{"handler": "reverse_proxy", "upstreams": []any{map[string]any{"dial": upstream}}}}
		if handler != nil {
			h := map[string]any{"handler": "espalier", "crds": []string{filepath.Join(dir, "crd.yaml")}, "max_held_bytes": proxyBudget}
			for name, value := range handler {
				h[name] = value
			}
			handle = append([]any{h}, handle...)
		}
		config, err := json.Marshal(map[string]any{
			"admin":   map[string]any{"disabled": true},
			"logging": map[string]any{"logs": map[string]any{"default": map[string]any{"level": "ERROR"}}},
			"apps": map[string]any{"http": map[string]any{"servers": map[string]any{"api": map[string]any{
				"listen": []string{address}, "automatic_https": map[string]any{"disable": true}, "routes": []any{map[string]any{"handle": handle}},
			}}}},
		})
		if err != nil {
			return nil, err
		}
		name := filepath.Join(dir, "caddy-"+address[len("127.0.0.1:"):]+".json")
		cmd := exec.Command(filepath.Join(dir, "server"), "run", "--config", name)
		cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir)
		return cmd, os.WriteFile(name, config, 0o600)
	}
}

// ownCommand returns the command of a proxy that is this program.
func ownCommand(decodes bool) func(dir, upstream, address string) (*exec.Cmd, error) {
	return func(_, upstream, address string) (*exec.Cmd, error) {
		return exec.Command(os.Args[0], "-http-proxy", fmt.Sprintf("%s,%s,%t", address, upstream, decodes)), nil
	}
}

// serveProxy is a httputil.ReverseProxy, before which the work of the server is done if it decodes.
func serveProxy(address, upstream string, decodes bool) error {
	to := &url.URL{Scheme: "http", Host: upstream}
	proxy := &httputil.ReverseProxy{
		Rewrite:   func(r *httputil.ProxyRequest) { r.SetURL(to) },
		Transport: &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true},
	}
	s := MustSchema(resourceSchema(specSchema))
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		limited := &io.LimitedReader{R: r.Body, N: request.DefaultMaxBytes + 1}
		body, err := io.ReadAll(limited)
		if err != nil || limited.N <= 0 {
			http.Error(w, "no", http.StatusRequestEntityTooLarge)
			return
		}
		m, findings, err := decodeServer(body, s.Structural, true)
		if err == nil {
			body, err = json.Marshal(m)
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		warn(w.Header(), findings)
		proxy.ServeHTTP(w, r)
	})
	if !decodes {
		return http.ListenAndServe(address, proxy)
	}
	return http.ListenAndServe(address, handler)
}

// buildProxies builds the programs, and writes the definition beside them.
func buildProxies() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "espalier-bench-"); err != nil {
		return "", err
	}
	crd := definition("apps.example.com", "workloads", "Workload", resourceSchema(specSchema))
	if err = os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(crd), 0o600); err != nil {
		return dir, err
	}
	for module, pkg := range map[string]string{"..": "./cmd/espalier", "../caddy": "./internal/server"} {
		cmd := exec.Command("go", "build", "-o", dir, pkg)
		cmd.Dir = module
		if out, err := cmd.CombinedOutput(); err != nil {
			return dir, fmt.Errorf("go build %s: %w: %s", pkg, err, out)
		}
	}
	return dir, nil
}

// definition returns the definition of a resource in version v1.
func definition(group, plural, kind, schema string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]s.%[1]s}
spec:
  group: %[1]s
  scope: Namespaced
  names: {kind: %[3]s, plural: %[2]s}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
`, group, plural, kind) + indent(schema, 8)
}

// startProxy starts a proxy and waits until it listens.
func startProxy(p Proxy, dir, upstream string) (*process, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	listener.Close()
	cmd, err := p.Command(dir, upstream, address)
	if err != nil {
		return nil, err
	}
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	started := &process{Server: Server{Name: p.Name, Less: p.Less}, cmd: cmd, address: address, log: &log}
	for range 1000 {
		if conn, err := net.Dial("tcp", address); err == nil {
			conn.Close()
			return started, nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	started.stop()
	return nil, fmt.Errorf("%s has not started: %s", p.Name, &log)
}

// startUpstream starts the server behind the proxies, which decodes nothing.
func startUpstream() (*process, error) {
	all := Servers()
	return startServer(all[slices.IndexFunc(all, func(s Server) bool { return s.Less == "decodes nothing" })])
}

// loadProxies puts all proxies under load, in turns, and writes the tables.
func loadProxies(w io.Writer, rounds int) error {
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
	for _, size := range sizes {
		var processes []*process
		for _, p := range Proxies() {
			started, err := startProxy(p, dir, upstream.address)
			if err != nil {
				return err
			}
			defer started.stop()
			processes = append(processes, started)
		}
		title := "Proxies, bodies of " + size.name
		if err := loadAll(w, title, workloadsPath, itemsDocument(uint64(size.items), size.items, 5), processes, rounds); err != nil {
			return err
		}
		for _, p := range processes {
			p.stop()
		}
	}
	fmt.Fprintf(w, "## Proxies, memory\n\nPeak RSS. %d clients have sent %d of %d bytes; %d send 64 MB each. The budget is %d MiB where there is one.\n\n"+
		"| proxy | before | slow clients | answered at once | afterwards, still 201 | 64 MB | less |\n|---|--:|--:|--:|---|--:|---|\n",
		slowProxyClients, slowPart, slowWhole, slowClients, proxyBudget>>20)
	for _, p := range Proxies() {
		if err := proxyMemory(w, p, dir, upstream.address); err != nil {
			return err
		}
	}
	fmt.Fprintln(w)
	return nil
}

// proxyMemory writes what a proxy holds for clients that are slow or send too much, and whether it
// serves afterwards.
func proxyMemory(w io.Writer, proxy Proxy, dir, upstream string) error {
	p, err := startProxy(proxy, dir, upstream)
	if err != nil {
		return err
	}
	defer p.stop()
	text := itemsDocument(1000, 1000, 5)[:1_000_000]
	small := itemsDocument(2, 2, 5)
	ask := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", workloadsPath, len(small), small)
	before := p.peak()
	part := fmt.Appendf(nil, "POST %s HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", workloadsPath, slowWhole, text[:slowPart])
	answered := p.hold(part)
	slow := p.peak()
	serves := "yes"
	if _, err := p.client(ask, time.Now().Add(time.Millisecond)); err != nil {
		serves = err.Error()
	}
	p.stop()
	if p, err = startProxy(proxy, dir, upstream); err != nil {
		return err
	}
	defer p.stop()
	p.oversizeAt(workloadsPath, text)
	fmt.Fprintf(w, "| %s | %s | %s | %d | %s | %s | %s |\n", proxy.Name, megabytes(before), megabytes(slow), answered, serves, megabytes(p.peak()), proxy.Less)
	return nil
}

// hold sends a part of a request on each of many connections, which stay open until all have sent it.
// It returns how many of them are answered nevertheless.
func (p *process) hold(part []byte) (answered int) {
	var mu sync.Mutex
	var sent, all sync.WaitGroup
	sent.Add(slowProxyClients)
	for range slowProxyClients {
		all.Go(func() {
			conn, err := net.Dial("tcp", p.address)
			if err != nil {
				sent.Done()
				return
			}
			defer conn.Close()
			_, err = conn.Write(part)
			sent.Done()
			sent.Wait()
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			if _, readErr := conn.Read(make([]byte, 1)); readErr == nil || err != nil {
				mu.Lock()
				answered++
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return answered
}
