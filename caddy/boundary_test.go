package caddyespalier

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"runtime"
	gometrics "runtime/metrics"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/request"
)

// amplified are small bodies out of which much becomes.
var amplified = map[string]struct{ contentType, query, body string }{
	"aliases":  {"application/yaml", "", "apiVersion: example.com/v1\nkind: Foo\nany:\n  a: &a [" + strings.Repeat("1,", 1000) + "]\n  b:\n" + strings.Repeat("  - *a\n", 50)},
	"defaults": {"application/json", "", `{"apiVersion":"example.com/v1","kind":"Foo","list":[` + strings.Repeat("{},", 2000) + "{}]}"},
	"findings": {"application/json", "?fieldValidation=Strict", `{"apiVersion":"example.com/v1","kind":"Foo",` + names(3000) + `"z":0}`},
}

func names(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"%s%d":0,`, strings.Repeat("<", 40), i)
	}
	return b.String()
}

// amplifyingCRD has defaults that make 100 bytes out of two.
const amplifyingCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: foos.example.com}
spec:
  group: example.com
  names: {kind: Foo, plural: foos}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          any: {type: object, x-kubernetes-preserve-unknown-fields: true}
          list: {type: array, items: {type: object, properties: {a: {type: string, default: "` + defaulted + `"}}}}
`

const defaulted = "0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789"

// TestAmplification (S1): what many small bodies become is within one budget, also while a slow
// upstream server keeps all of them.
func TestAmplification(t *testing.T) {
	const clients, limit = 80, 4 << 20
	for name, c := range amplified {
		t.Run(name, func(t *testing.T) {
			release := make(chan bool)
			waiting := make(chan bool, clients)
			server := startWaiting(t, waiting, release)
			crd := t.TempDir() + "/crd.yaml"
			writeFile(t, crd, amplifyingCRD)
			s := start(t, server, fmt.Sprintf("espalier {\ncrd %q\nmax_held_bytes %dB\n}\nreverse_proxy UPSTREAM", crd, limit))
			budget := budgetOf(t, limit)
			before := liveBytes()
			var mu sync.Mutex
			codes := map[int]int{}
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					code := s.send("POST", "/apis/example.com/v1/namespaces/d/foos"+c.query, c.contentType, c.body)
					mu.Lock()
					defer mu.Unlock()
					codes[code]++
				})
			}
			answered := func() int {
				mu.Lock()
				defer mu.Unlock()
				return codes[http.StatusServiceUnavailable] + codes[http.StatusBadRequest] + codes[0]
			}
			// Those that get through wait for the server, and the others are answered.
			most := int64(0)
			for settled := false; !settled; time.Sleep(time.Millisecond) {
				settled = answered()+len(waiting) == clients
				held, idle := budget.Held()
				assert.LessOrEqual(t, held+idle, int64(limit))
				most = max(most, held)
			}
			if !raceEnabled && !testing.Short() {
				// Connections, their goroutines and the clients of this test take the rest.
				assert.Less(t, liveBytes()-before, int64(limit+clients*(300<<10)))
			}
			close(release)
			all.Wait()
			held, _ := budget.Held()
			assert.Zero(t, held)
			t.Logf("%d bytes of body, %d KiB held at most, %v", len(c.body), most>>10, codes)
			assert.Zero(t, codes[0])
			assert.Equal(t, clients, answered()+codes[http.StatusCreated])
			if name == "findings" {
				assert.Zero(t, codes[http.StatusCreated])
				return
			}
			assert.Greater(t, most, int64(limit/2))
			assert.Positive(t, codes[http.StatusServiceUnavailable])
			assert.Positive(t, codes[http.StatusCreated])
		})
	}
}

// liveBytes returns how many bytes are live on the heap.
func liveBytes() int64 {
	runtime.GC()
	sample := []gometrics.Sample{{Name: "/gc/heap/live:bytes"}}
	gometrics.Read(sample)
	return int64(sample[0].Value.Uint64())
}

// TestUpgrades (S2): a connection is switched to a protocol of the list only, and not on the path of
// a resource.
func TestUpgrades(t *testing.T) {
	var mu sync.Mutex
	var switched []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		protocol := r.Header.Get("Upgrade")
		if protocol == "" {
			fmt.Fprintf(w, "plain %q", r.Header["Http2-Settings"])
			return
		}
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer conn.Close()
		mu.Lock()
		switched = append(switched, protocol+" "+r.URL.Path)
		mu.Unlock()
		fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", protocol)
		line, _ := buffered.ReadString('\n')
		_, _ = io.WriteString(conn, "got "+line)
	}))
	t.Cleanup(server.Close)
	s := start(t, server.URL, "espalier {\ncrd CRD\n}\nreverse_proxy UPSTREAM")
	const exec = "/api/v1/namespaces/x/pods/p/exec"
	for _, c := range []struct {
		method, path, headers string
		code                  int
	}{
		{"GET", "/x", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", 200},
		{"GET", "/x", "Connection: Upgrade\r\nUpgrade: H2C\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", 200},
		{"POST", exec, "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n", 200},
		{"GET", plansPath, "Connection: Upgrade\r\nUpgrade: websocket\r\n", 200},
		{"POST", plansPath, "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n", 400},
		{"PRI", "/", "Connection: Upgrade\r\nUpgrade: h2c\r\n", 405},
		{"CONNECT", "/", "Connection: Upgrade\r\nUpgrade: websocket\r\n", 405},
	} {
		what := c.method + " " + c.path + " " + c.headers
		_, _, response := s.raw(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n", c.method, c.path, c.headers))
		assert.Equal(t, c.code, response.StatusCode, what)
		if c.code == http.StatusOK {
			assert.Equal(t, "plain []", readAll(t, response), what)
		}
	}
	assert.Empty(t, switched)

	if raceEnabled {
		return // Caddy's own counters of upgraded connections race when it stops
	}
	// Those of kubectl exec, attach and port-forward go through.
	for _, c := range []string{"POST " + exec + " HTTP/1.1\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n", "GET " + exec + " HTTP/1.1\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\n"} {
		conn, r, response := s.raw(c + "Host: h\r\nConnection: Upgrade\r\n\r\n")
		require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode, c)
		_, err := io.WriteString(conn, "hello\n")
		require.NoError(t, err)
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "got hello\n", line)
	}
	assert.Len(t, switched, 2)
}

// TestFolding (S3, S4, S5): writes that only a server takes for writes to the resource which folds
// paths or methods, or reads charsets, do not reach it.
func TestFolding(t *testing.T) {
	u := startUpstream(t)
	s := start(t, u.URL, "espalier {\ncrd CRD\npass_unknown all\n}\nreverse_proxy UPSTREAM")
	body := plan(`"EVIL":1`)
	send := func(method, path, headers string) int {
		if !strings.Contains(headers, "Content-Type") {
			headers += "Content-Type: application/json\r\n"
		}
		_, _, response := s.raw(fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n%s", method, path, headers, len(body), body))
		return response.StatusCode
	}
	base := strings.TrimSuffix(plansPath, "backupplans")
	for _, path := range []string{
		base + "BackupPlans", strings.ToUpper(plansPath), base + "backupplans;x=1", base + "backupplans%20", base + "backupplans%00",
		base + "%2562ackupplans", strings.Replace(plansPath, "/apis/", "/APIS/", 1), strings.Replace(plansPath, "/apis/", "/apis;x/", 1),
		"/x/..;" + plansPath, "/x/.." + plansPath, "/x/%2e%2e" + plansPath, "/apis%5c" + strings.TrimPrefix(plansPath, "/apis/"), "/" + plansPath,
	} {
		assert.Equal(t, http.StatusBadRequest, send("POST", path, ""), path)
	}
	for _, method := range []string{"post", "Post", "MERGE", "PRI", "put", "TRACE"} {
		assert.Equal(t, http.StatusMethodNotAllowed, send(method, plansPath, ""), method)
	}
	assert.Equal(t, http.StatusBadRequest, send("GET", plansPath, "X-HTTP-Method-Override: POST\r\n"))
	assert.Equal(t, http.StatusBadRequest, send("GET", plansPath+"?_method=POST", ""))
	assert.Equal(t, http.StatusBadRequest, send("POST", plansPath, "Connection: content-type\r\n"))
	assert.Empty(t, u.taken())

	assert.Equal(t, http.StatusCreated, send("POST", plansPath, "X-Original-URL: /elsewhere\r\n"))
	assert.NotContains(t, u.headers[len(u.headers)-1], "X-Original-Url")
	got := u.taken()
	require.Len(t, got, 1)
	assert.NotContains(t, got[0], "EVIL")

	require.NoError(t, s.load(u.URL, "espalier {\ncrd CRD\naction report\n}\nreverse_proxy UPSTREAM"))
	body = strings.ReplaceAll(plan(""), `"a"`, `"+ACI-"`)
	for headers, code := range map[string]int{
		"Content-Type: application/json; charset=utf-7\r\n":                                  http.StatusUnsupportedMediaType,
		"Content-Type: application/json; charset=\"UTF-16\"\r\n":                             http.StatusUnsupportedMediaType,
		"Content-Type: application/json\r\nConnection: Content-Type\r\n":                     http.StatusBadRequest,
		"Content-Type: application/json\r\nContent-Type: application/json;charset=utf-7\r\n": http.StatusUnsupportedMediaType,
		"Content-Type: application/json; charset=utf-8\r\n":                                  http.StatusCreated,
	} {
		assert.Equal(t, code, send("POST", plansPath+"?fieldValidation=Strict", headers), headers)
	}
	assert.Len(t, u.taken(), 1)
}

// TestTrailers (S13): trailers that nobody has announced do not reach the server, whether a body is judged
// or passes. With a body that is judged, those do not by which a request is read.
func TestTrailers(t *testing.T) {
	u := startUpstream(t)
	for _, mode := range []string{"", "stream"} {
		s := start(t, u.URL, "espalier {\ncrd CRD\n"+mode+"\n}\nreverse_proxy UPSTREAM")
		body := plan("")
		send := func(path, announced string) http.Header {
			_, _, response := s.raw(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n%s\r\n%x\r\n%s\r\n0\r\nX-Sum: 1\r\nAuthorization: x\r\nX-Else: 2\r\nContent-Length: 3\r\n\r\n",
				path, announced, len(body), body))
			require.Equal(t, http.StatusCreated, response.StatusCode)
			u.mu.Lock()
			defer u.mu.Unlock()
			return u.trailers[len(u.trailers)-1]
		}
		const others = "/api/v1/namespaces/x/secrets"
		assert.Empty(t, send(plansPath, ""), mode)
		assert.Empty(t, send(others, ""), mode)
		assert.Equal(t, http.Header{"X-Sum": {"1"}}, send(plansPath, "Trailer: X-Sum, Authorization\r\n"), mode)
		assert.Equal(t, http.Header{"X-Sum": {"1"}}, send(others, "Trailer: X-Sum\r\n"), mode)
		for _, trailer := range []string{"Content-Length: 3", "Transfer-Encoding: x", "Host: x"} {
			for _, path := range []string{plansPath, others} {
				_, _, response := s.raw(fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n%s\r\n\r\n",
					path, len(body), body, trailer))
				require.Contains(t, []int{http.StatusCreated, http.StatusBadRequest}, response.StatusCode, "%s %s", trailer, path)
				u.mu.Lock()
				assert.Empty(t, u.trailers[len(u.trailers)-1], "%s %s", trailer, path)
				u.mu.Unlock()
			}
		}
	}
}

// TestRefusesBeforeTheBody: what is refused before its body has come is answered at once, and the
// connection ends. After a whole body it goes on.
func TestRefusesBeforeTheBody(t *testing.T) {
	u := startUpstream(t)
	for _, mode := range []string{"", "stream", "\n}\nhandle_errors {\nrespond {vars.espalier_answer}"} {
		s := start(t, u.URL, "reverse_proxy UPSTREAM\nespalier {\ncrd CRD\nmax_bytes 1MB\n"+mode+"\n}")
		for headers, code := range map[string]int{
			"Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 30\r\n": http.StatusUnsupportedMediaType,
			"Content-Type: application/json\r\nContent-Length: 99999999\r\n":             http.StatusRequestEntityTooLarge,
		} {
			began := time.Now()
			_, _, response := s.raw("POST " + plansPath + " HTTP/1.1\r\nHost: h\r\n" + headers + "\r\n")
			assert.Equal(t, code, response.StatusCode, mode)
			assert.Contains(t, readAll(t, response), "Failure", mode)
			assert.True(t, response.Close, "what follows may be the body or the next request")
			assert.Less(t, time.Since(began), 30*time.Second, mode) // a body may pause for a minute
		}
		bad := plan(`"x":1`)
		conn, r, response := s.raw(fmt.Sprintf("POST %s?fieldValidation=Strict HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", plansPath, len(bad), bad))
		assert.Equal(t, http.StatusBadRequest, response.StatusCode)
		readAll(t, response)
		_, err := io.WriteString(conn, "GET /next HTTP/1.1\r\nHost: h\r\n\r\n")
		require.NoError(t, err)
		response, err = http.ReadResponse(r, nil)
		require.NoError(t, err, mode)
		response.Body.Close()
		assert.Equal(t, http.StatusCreated, response.StatusCode, mode)
	}
}

// TestSlowBodies (S13): neither a body that is judged nor one that passes holds a connection for
// longer than the server lets it.
func TestSlowBodies(t *testing.T) {
	var open, most int
	var mu sync.Mutex
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		count := func(n int) {
			mu.Lock()
			defer mu.Unlock()
			open += n
			most = max(most, open)
		}
		count(1)
		defer count(-1)
		_, _ = io.Copy(io.Discard, r.Body)
	}))
	t.Cleanup(server.Close)
	s := start(t, server.URL, "")
	require.NoError(t, s.loadWith("servers {\ntimeouts {\nread_body_idle 500ms 1024\n}\n}", server.URL, "espalier {\ncrd CRD\n}\nreverse_proxy UPSTREAM"))
	const clients = 40
	var all sync.WaitGroup
	for i := range clients {
		path := []string{plansPath, "/api/v1/namespaces/x/secrets"}[i%2]
		all.Go(func() {
			reader, writer := io.Pipe()
			ended := make(chan bool)
			go func() {
				defer writer.Close()
				for range 1000 {
					if _, err := writer.Write([]byte(" ")); err != nil {
						return
					}
					select {
					case <-time.After(50 * time.Millisecond):
					case <-ended:
						return
					}
				}
			}()
			began := time.Now()
			r, err := http.NewRequest("POST", s.url+path, reader)
			if !assert.NoError(t, err) {
				return
			}
			r.Header.Set("Content-Type", "application/json")
			response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
			close(ended)
			assert.Less(t, time.Since(began), 40*time.Second)
			if err == nil {
				defer response.Body.Close()
				assert.GreaterOrEqual(t, response.StatusCode, 400)
			}
		})
	}
	all.Wait()
	require.Eventually(t, func() bool { mu.Lock(); defer mu.Unlock(); return open == 0 }, time.Minute, 10*time.Millisecond)
	assert.LessOrEqual(t, most, clients/2, "what is judged opens no connection before it is there")
	held, _ := budgetOf(t, request.DefaultMaxHeldBytes).Held()
	assert.Zero(t, held)
	assert.False(t, bytes.Contains([]byte(s.logged()), []byte("panic")))
}
