package proxy

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// An upgrader is an upstream server that switches to any protocol, as servers of h2c do, and
// then returns everything that comes through the connection. It answers requests without an
// upgrade.
type upgrader struct {
	mu       sync.Mutex
	switched []string // what it was asked for, and on which path
	passed   string   // what has come through
}

func (u *upgrader) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	protocol := r.Header.Get("Upgrade")
	if protocol == "" {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "plain %s %q %s", r.Method, r.Header["Http2-Settings"], body)
		return
	}
	conn, buffered, err := w.(http.Hijacker).Hijack()
	if err != nil {
		return
	}
	defer conn.Close()
	u.mu.Lock()
	u.switched = append(u.switched, protocol+" "+r.URL.Path)
	u.mu.Unlock()
	fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", protocol)
	line, _ := buffered.ReadString('\n')
	u.mu.Lock()
	u.passed += line
	u.mu.Unlock()
	_, _ = io.WriteString(conn, "got "+line)
}

// onConnection writes the text of a request to a server, and returns the connection and the
// response.
func onConnection(t *testing.T, url, text string) (net.Conn, *bufio.Reader, *http.Response) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { conn.Close() })
	require.NoError(t, conn.SetDeadline(time.Now().Add(time.Minute)))
	_, err = io.WriteString(conn, text)
	require.NoError(t, err)
	r := bufio.NewReader(conn)
	response, err := http.ReadResponse(r, nil)
	require.NoError(t, err, text)
	t.Cleanup(func() { response.Body.Close() })
	return conn, r, response
}

// TestProxyUpgrades: nobody looks at the traffic of an upgraded connection. So it must not be
// HTTP, and the path must not be that of a resource.
func TestProxyUpgrades(t *testing.T) {
	upstream := new(upgrader)
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	p := startProxy(t, server.URL)
	const exec = "/api/v1/namespaces/x/pods/p/exec"
	for _, c := range []struct {
		method, path, headers string
		code                  int
	}{
		{"GET", "/anything", "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", 200},
		{"GET", "/anything", "Connection: Upgrade\r\nUpgrade: H2C\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n", 200},
		{"POST", exec, "Connection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 0\r\n", 200},
		{"OPTIONS", "*", "Connection: Upgrade\r\nUpgrade: h2c\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: h2c\r\nUpgrade: websocket\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: websocket\r\nUpgrade: h2c\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: h2\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: TLS/1.0\r\n", 200},
		{"GET", exec, "Connection: Upgrade\r\nUpgrade: HTTP/2.0\r\n", 200},
		{"PUT", exec, "Connection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 0\r\n", 200},
		{"GET", plansPath, "Connection: Upgrade\r\nUpgrade: websocket\r\n", 200},
		{"GET", strings.ToUpper(plansPath), "Connection: Upgrade\r\nUpgrade: websocket\r\n", 200},
		{"GET", "/apis/backup.example.com/v2/plans", "Connection: Upgrade\r\nUpgrade: websocket\r\n", 200},
		{"POST", "/apis/backup.example.com/v2/plans", "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n", 403},
		{"POST", plansPath, "Connection: Upgrade\r\nUpgrade: SPDY/3.1\r\nContent-Length: 0\r\n", 400},
		{"PRI", "/", "Connection: Upgrade\r\nUpgrade: h2c\r\n", 405},
		{"CONNECT", "/", "Connection: Upgrade\r\nUpgrade: websocket\r\n", 405},
	} {
		what := c.method + " " + c.path + " " + c.headers
		_, _, response := onConnection(t, p.url, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\n%s\r\n", c.method, c.path, c.headers))
		assert.Equal(t, c.code, response.StatusCode, what)
		text, err := io.ReadAll(response.Body)
		require.NoError(t, err)
		if c.code == http.StatusOK && c.path != "*" { // which net/http answers
			assert.Equal(t, "plain "+c.method+" [] ", string(text), what)
		}
	}
	assert.Empty(t, upstream.switched)
	response, text := do(t, http.DefaultClient, "GET", p.url+"/", "", "")
	assert.Equal(t, http.StatusOK, response.StatusCode, text)
}

// TestProxyUpgradesOfKubectl: exec, attach and port-forward go through, for longer than a body may take.
func TestProxyUpgradesOfKubectl(t *testing.T) {
	upstream := new(upgrader)
	server := httptest.NewServer(upstream)
	t.Cleanup(server.Close)
	p := startProxy(t, server.URL, "--body-timeout", "100ms")
	var want []string
	for _, c := range []struct{ method, path, headers string }{
		{"POST", "/api/v1/namespaces/x/pods/p/exec?command=sh", "Upgrade: SPDY/3.1\r\nContent-Length: 0\r\nX-Stream-Protocol-Version: v4.channel.k8s.io\r\n"},
		{"GET", "/api/v1/namespaces/x/pods/p/attach", "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Protocol: v5.channel.k8s.io\r\n"},
		{"GET", "/api/v1/namespaces/x/pods/p/portforward", "Upgrade: websocket\r\nSec-WebSocket-Protocol: SPDY/3.1+portforward.k8s.io\r\n"},
		{"GET", "/api/v1/nodes/n:10250/proxy/exec/a%20b", "Upgrade: SPDY/3.1\r\n"},
		{"GET", "/apis/subresources.kubevirt.io/v1/namespaces/x/virtualmachineinstances/y/vnc", "Upgrade: websocket\r\n"},
	} {
		conn, r, response := onConnection(t, p.url, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\n%s\r\n", c.method, c.path, c.headers))
		require.Equal(t, http.StatusSwitchingProtocols, response.StatusCode, c.path)
		time.Sleep(300 * time.Millisecond)
		_, err := io.WriteString(conn, c.path+"\n")
		require.NoError(t, err)
		line, err := r.ReadString('\n')
		require.NoError(t, err)
		assert.Equal(t, "got "+c.path+"\n", line)
		want = append(want, c.path)
	}
	assert.Len(t, upstream.switched, len(want))
}

// A frameworkServer routes as servers outside of Kubernetes do: without regard to case or to a slash at the end, without parameters
// and blanks, and by what headers say of the method.
func frameworkServer(t *testing.T) (server *httptest.Server, stored func() []string) {
	var mu sync.Mutex
	var bodies []string
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		method := strings.ToUpper(r.Method)
		if override := r.Header.Get("X-HTTP-Method-Override"); override != "" {
			method = override
		}
		path := strings.ToLower(r.URL.Path)
		for i, element := range strings.Split(path, "/") {
			plain, _, _ := strings.Cut(element, ";")
			path = strings.Replace(path, element, strings.TrimSpace(plain), min(i, 1))
		}
		if (method == "POST" || method == "MERGE") && strings.HasSuffix(strings.TrimRight(path, "/"), "/backupplans") {
			mu.Lock()
			bodies = append(bodies, string(body))
			mu.Unlock()
		}
	}))
	t.Cleanup(server.Close)
	return server, func() []string { mu.Lock(); defer mu.Unlock(); return bodies }
}

// TestProxyFolding sends writes that only a server which folds paths takes for writes to the
// resource, with a field that no schema has.
func TestProxyFolding(t *testing.T) {
	server, stored := frameworkServer(t)
	p := startProxy(t, server.URL, "--pass-unknown", "all")
	body := strings.ReplaceAll(`{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","spec":{"EVIL":1}}`, "\n", "")
	send := func(method, path, headers string) int {
		_, _, response := onConnection(t, p.url, fmt.Sprintf("%s %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\n%sContent-Length: %d\r\n\r\n%s", method, path, headers, len(body), body))
		return response.StatusCode
	}
	base := strings.TrimSuffix(plansPath, "backupplans")
	for _, path := range []string{
		base + "BackupPlans", strings.ToUpper(plansPath), plansPath + ";x=1", plansPath + "%20", plansPath + "%00", base + "%2562ackupplans",
		strings.Replace(plansPath, "namespaces", "Namespaces", 1), strings.Replace(plansPath, "/apis/", "/APIS/", 1), strings.Replace(plansPath, "/apis/", "/apis;x/", 1),
		"/x/..;" + plansPath, "/x/.." + plansPath, "/x/%2e%2e" + plansPath, "/apis%5c" + strings.TrimPrefix(plansPath, "/apis/"), "/" + plansPath,
	} {
		assert.Equal(t, http.StatusBadRequest, send("POST", path, ""), path)
	}
	for _, method := range []string{"post", "Post", "MERGE"} {
		assert.Equal(t, http.StatusMethodNotAllowed, send(method, plansPath, ""), method)
	}
	assert.Equal(t, http.StatusBadRequest, send("GET", plansPath, "X-HTTP-Method-Override: POST\r\n"))
	assert.Equal(t, http.StatusBadRequest, send("POST", plansPath, "Connection: content-type\r\n"))
	assert.Empty(t, stored())
	assert.Equal(t, http.StatusOK, send("POST", plansPath+"/", ""))
	require.Len(t, stored(), 1)
	assert.NotContains(t, stored()[0], "EVIL")
}

// TestProxyCharsets (S5): where a body passes as it was sent, its type says nothing else than what it was
// judged by, and no header of its own removes the type on the way.
func TestProxyCharsets(t *testing.T) {
	server, stored := frameworkServer(t)
	p := startProxy(t, server.URL, "--action", "report")
	body := `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan","metadata":{"name":"+ACI-"}}`
	for headers, code := range map[string]int{
		"Content-Type: application/json; charset=utf-7\r\n":                                  http.StatusUnsupportedMediaType,
		"Content-Type: application/json; charset=\"UTF-16\"\r\n":                             http.StatusUnsupportedMediaType,
		"Content-Type: application/json\r\nConnection: Content-Type\r\n":                     http.StatusBadRequest,
		"Content-Type: application/json\r\nContent-Type: application/json;charset=utf-7\r\n": http.StatusUnsupportedMediaType,
		"Content-Type: application/json; charset=utf-8\r\n":                                  http.StatusOK,
	} {
		_, _, response := onConnection(t, p.url, fmt.Sprintf("POST %s?fieldValidation=Strict HTTP/1.1\r\nHost: h\r\n%sContent-Length: %d\r\n\r\n%s", plansPath, headers, len(body), body))
		assert.Equal(t, code, response.StatusCode, headers)
	}
	assert.Len(t, stored(), 1)
}

// TestProxyPassUnknown has the values of the flag.
func TestProxyPassUnknown(t *testing.T) {
	upstream := echoing(t).URL
	for flag, codes := range map[string][3]int{"": {403, 200, 200}, "groups": {403, 200, 200}, "none": {403, 403, 403}, "all": {200, 200, 200}} {
		args := []string{"--pass-unknown", flag}
		if flag == "" {
			args = nil
		}
		p := startProxy(t, upstream, args...)
		for i, path := range []string{"/apis/backup.example.com/v2/backupplans", "/apis/other.example.com/v1/things", "/api/v1/namespaces/x/secrets"} {
			response, text := do(t, http.DefaultClient, "POST", p.url+path, "application/json", "{}")
			assert.Equal(t, codes[i], response.StatusCode, "%s %s: %s", flag, path, text)
			response, _ = do(t, http.DefaultClient, "GET", p.url+path, "", "")
			assert.Equal(t, http.StatusOK, response.StatusCode, "%s %s", flag, path)
		}
		p.stop()
	}
}

// A trailer that nobody has announced, and a Content-Length among them, is not the upstream's.
func TestProxyTrailers(t *testing.T) {
	trailers := make(chan http.Header, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.ReadAll(r.Body)
		trailers <- r.Trailer
	}))
	t.Cleanup(server.Close)
	p := startProxy(t, server.URL)
	body := `{"apiVersion":"backup.example.com/v1","kind":"BackupPlan"}`
	for _, path := range []string{plansPath, "/api/v1/namespaces/x/secrets"} {
		_, _, response := onConnection(t, p.url, fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\nContent-Length: 3\r\nX-Sum: 1\r\n\r\n", path, len(body), body))
		assert.Equal(t, http.StatusOK, response.StatusCode, path)
		assert.Empty(t, <-trailers)
	}
}

// TestProxyTricklingBodies: a body that passes untouched may take long, but neither stop nor trickle.
func TestProxyTricklingBodies(t *testing.T) {
	open := make(chan int, 100) // 1 for each request that comes, -1 for each that ends
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		open <- 1
		n, err := io.Copy(io.Discard, r.Body)
		open <- -1
		if err == nil {
			time.Sleep(1500 * time.Millisecond) // an answer may take longer than a body
			fmt.Fprint(w, n)
		}
	}))
	t.Cleanup(server.Close)
	p := startProxy(t, server.URL, "--body-timeout", "1s")
	const path = "/api/v1/namespaces/x/secrets"

	t.Run("bodies", func(t *testing.T) {
		for name, c := range map[string]struct {
			send  int // bytes at once
			times int
			pause time.Duration
			code  int
		}{
			"stops":    {0, 1, time.Minute, http.StatusRequestTimeout},
			"trickles": {1, 1000, 50 * time.Millisecond, http.StatusRequestTimeout},
			"is late":  {100_000, 2, time.Minute, http.StatusRequestTimeout},
			"is slow":  {100_000, 20, 100 * time.Millisecond, http.StatusOK},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				reader, writer := io.Pipe()
				done := make(chan bool)
				go func() {
					defer writer.Close()
					for range c.times {
						if _, err := writer.Write(make([]byte, c.send)); err != nil {
							return
						}
						select {
						case <-time.After(c.pause):
						case <-done:
							return
						}
					}
				}()
				response, err := http.Post(p.url+path, "application/json", reader)
				close(done)
				require.NoError(t, err)
				defer response.Body.Close()
				text, err := io.ReadAll(response.Body)
				require.NoError(t, err)
				assert.Equal(t, c.code, response.StatusCode, "%s", text)
				if c.code == http.StatusOK {
					assert.Equal(t, fmt.Sprint(c.send*c.times), string(text))
				} else {
					assert.Contains(t, string(text), "did not come in time")
				}
			})
		}
	})
	for held := 0; ; { // the upstream is rid of all of them
		if held += <-open; held == 0 && len(open) == 0 {
			break
		}
	}
	_, metrics := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	assert.Contains(t, metrics, "espalier_upstream_failures_total 0\n")
}

// A watch may take longer than a body may, and so may a response that begins before its body
// has ended.
func TestProxyWatches(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		for range 6 {
			fmt.Fprintln(w, "event")
			w.(http.Flusher).Flush()
			time.Sleep(250 * time.Millisecond)
		}
	}))
	t.Cleanup(server.Close)
	p := startProxy(t, server.URL, "--body-timeout", "1s")
	for _, body := range []string{"", "{}"} {
		response, text := do(t, http.DefaultClient, "GET", p.url+plansPath+"?watch=true", "application/json", body)
		assert.Equal(t, http.StatusOK, response.StatusCode)
		assert.Equal(t, 6, strings.Count(text, "event"))
	}
}

// Streams of HTTP/2 have deadlines of their own.
func TestProxyTricklingStream(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	t.Cleanup(server.Close)
	certFile, keyFile, pool := writeCertificate(t)
	p := startProxy(t, server.URL, "--body-timeout", "1s", "--tls-cert", certFile, "--tls-key", keyFile)
	transport := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}, ForceAttemptHTTP2: true}
	defer transport.CloseIdleConnections()
	reader, writer := io.Pipe()
	defer writer.Close()
	response, err := (&http.Client{Transport: transport}).Post(p.url+"/api/v1/namespaces/x/secrets", "application/json", reader)
	require.NoError(t, err)
	response.Body.Close()
	assert.Equal(t, 2, response.ProtoMajor)
	assert.Equal(t, http.StatusRequestTimeout, response.StatusCode)

	// The others of the connection are none the worse for it.
	response, _ = do(t, &http.Client{Transport: transport}, "POST", p.url+"/api/v1/namespaces/x/secrets", "application/json", "{}")
	assert.Equal(t, http.StatusOK, response.StatusCode)
}

// What is refused before its body has come is answered at once, and the connection ends: what follows may be
// the body or the next request.
func TestProxyRefusesBeforeTheBody(t *testing.T) {
	p := startProxy(t, echoing(t).URL)
	for headers, code := range map[string]int{
		"Content-Type: text/plain\r\nExpect: 100-continue\r\nContent-Length: 30\r\n": http.StatusUnsupportedMediaType,
		"Content-Type: application/json\r\nContent-Length: 99999999\r\n":             http.StatusRequestEntityTooLarge,
	} {
		conn, r, response := onConnection(t, p.url, "POST "+plansPath+" HTTP/1.1\r\nHost: h\r\n"+headers+"\r\n")
		require.NoError(t, conn.SetDeadline(time.Now().Add(20*time.Second))) // less than a body may take
		assert.Equal(t, code, response.StatusCode)
		_, err := io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		_, err = io.WriteString(conn, "GET /second HTTP/1.1\r\nHost: h\r\n\r\n")
		if err == nil {
			_, err = r.ReadByte()
		}
		assert.Error(t, err, "the connection goes on")
		assert.NotErrorIs(t, err, os.ErrDeadlineExceeded)
	}
}
