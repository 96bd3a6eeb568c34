package proxy

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// amplifyingSchema has defaults that make 100 bytes out of two.
var amplifyingSchema = `{type: object, properties: {any: {type: object, x-kubernetes-preserve-unknown-fields: true},
  list: {type: array, items: {type: object, properties: {a: {type: string, default: "` + strings.Repeat("0123456789", 10) + `"}}}}}}`

// held returns what /metrics says that requests hold, and keep, in bytes.
func held(t *testing.T, p *proxied) (requests, idle int64) {
	_, text := do(t, http.DefaultClient, "GET", p.admin+"/metrics", "", "")
	value := func(name string) int64 {
		found := regexp.MustCompile(`(?m)^` + name + `\{limit="\d+"\} (\d+)$`).FindStringSubmatch(text)
		require.NotNil(t, found, text)
		n, err := strconv.ParseInt(found[1], 10, 64)
		require.NoError(t, err)
		return n
	}
	return value("espalier_held_bytes"), value("espalier_idle_bytes")
}

// TestProxyManyRequests sends many requests at once that hold as much as they can: small bodies out of
// which much becomes (S1), bodies of clients that do not go on, and bodies without an end. What they hold
// is within the budget by its own count, and nothing is left of it.
func TestProxyManyRequests(t *testing.T) {
	const clients, limit = 100, 4 << 20
	const typeText = `{"apiVersion":"any.example.com/v1","kind":"Vine",`
	const typeLines = "apiVersion: any.example.com/v1\nkind: Vine\n"
	crd := filepath.Join(t.TempDir(), "crd.yaml")
	require.NoError(t, os.WriteFile(crd, anyCRD("Vine", amplifyingSchema), 0o600))
	for name, c := range map[string]struct {
		contentType, body string
		length            int // that is announced; 0 is that of the body, and -1 none, so that more may come
		code              int // of those that get through; 0 if they do not go on until they hang up
		waits             bool
	}{
		"aliases":  {"application/yaml", typeLines + "any:\n  a: &a [" + strings.Repeat("1,", 1000) + "]\n  b:\n" + strings.Repeat("  - *a\n", 50), 0, 201, true},
		"defaults": {"application/json", typeText + `"list":[` + strings.Repeat("{},", 2000) + "{}]}", 0, 201, true},
		"slow":     {"application/json", typeText + `"any":{"a":"` + strings.Repeat("x", 100_000), 1 << 20, 0, true},
		"endless":  {"application/json", typeText + `"any":{"a":"` + strings.Repeat("x", 200_000), -1, 413, false},
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan bool)
			var waiting atomic.Int64
			upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				waiting.Add(1)
				<-release
				_, _ = io.Copy(io.Discard, r.Body)
				w.WriteHeader(http.StatusCreated)
			}))
			t.Cleanup(upstream.Close)
			p := startProxy(t, upstream.URL, "--crd", crd, "--max-held-bytes", fmt.Sprint(limit), "--max-bytes", "1048576")
			var mu sync.Mutex
			codes := map[int]int{}
			answered := func() (n int) {
				mu.Lock()
				defer mu.Unlock()
				for _, of := range codes {
					n += of
				}
				return n
			}
			var all sync.WaitGroup
			for range clients {
				all.Go(func() {
					code := sendRaw(p.url, c.contentType, c.body, c.length, release)
					mu.Lock()
					defer mu.Unlock()
					codes[code]++
				})
			}
			most := int64(0)
			for settled := false; !settled; {
				n := answered()
				settled = n+int(waiting.Load()) == clients
				requests, idle := held(t, p)
				assert.LessOrEqual(t, requests+idle, int64(limit))
				most = max(most, requests)
				if c.code == 0 { // those that got through wait for themselves
					settled = n > 0 && most > limit/2
				}
			}
			close(release)
			all.Wait()
			t.Logf("%d bytes of body, %d KiB held at most, %v", len(c.body), most>>10, codes)
			assert.Equal(t, clients, codes[c.code]+codes[http.StatusServiceUnavailable])
			if c.waits {
				assert.Positive(t, codes[c.code])
				assert.Positive(t, codes[http.StatusServiceUnavailable])
				assert.Greater(t, most, int64(limit/2))
			}
			require.Eventually(t, func() bool { requests, _ := held(t, p); return requests == 0 }, time.Minute, 10*time.Millisecond)
			response, _ := do(t, http.DefaultClient, "POST", p.url+vinesPath, "application/json", typeText+`"x":1}`)
			assert.Equal(t, http.StatusCreated, response.StatusCode, "it goes on")
		})
	}
}

// sendRaw sends a request of which more is announced than is sent, or that goes on in chunks until it is
// answered. It returns the code of the answer, or 0. Of a body that is not whole it sends no more, and hangs
// up after the release.
func sendRaw(url, contentType, body string, length int, release <-chan bool) (code int) {
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return 0
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(time.Minute))
	framing, more := fmt.Sprintf("Content-Length: %d", max(length, len(body))), ""
	if length < 0 {
		more = fmt.Sprintf("%x\r\n%s\r\n", len(body), body)
		framing, body = "Transfer-Encoding: chunked", more
	}
	if _, err := fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: %s\r\n%s\r\n\r\n%s", vinesPath, contentType, framing, body); err != nil && more == "" {
		return 0
	}
	for range 64 {
		if more == "" {
			break
		}
		if _, err := io.WriteString(conn, more); err != nil {
			break // it was answered
		}
	}
	answered := make(chan bool)
	defer close(answered)
	if length > len(body) {
		go func() {
			select {
			case <-release:
				conn.Close()
			case <-answered:
			}
		}()
	}
	line := make([]byte, len("HTTP/1.1 200"))
	if _, err := io.ReadFull(conn, line); err != nil {
		if more == "" {
			return 0
		}
		return http.StatusRequestEntityTooLarge // the connection is reset with the answer on its way
	}
	_, _ = fmt.Sscanf(string(line), "HTTP/1.1 %d", &code)
	return code
}
