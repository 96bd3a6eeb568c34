package middleware_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
)

// TestTrailersOfCopies: handlers that copy the request before they read its body, as reverse proxies
// and http.Request.WithContext do, find the trailers in their copies.
func TestTrailersOfCopies(t *testing.T) {
	copies := map[string]func(*http.Request) *http.Request{
		"itself":      func(r *http.Request) *http.Request { return r },
		"WithContext": func(r *http.Request) *http.Request { return r.WithContext(context.WithValue(r.Context(), copied{}, 1)) },
		"Clone":       func(r *http.Request) *http.Request { return r.Clone(r.Context()) },
		"shallow": func(r *http.Request) *http.Request {
			c := new(http.Request)
			*c = *r
			return c
		},
	}
	for name, makeCopy := range copies {
		for _, opts := range []middleware.Options{{}, stream} {
			var got http.Header
			server := httptest.NewServer(middleware.New(byPath(t), opts)(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				r = makeCopy(r)
				_, _ = io.Copy(io.Discard, r.Body)
				got = r.Trailer
			})))
			conn, err := net.Dial("tcp", strings.TrimPrefix(server.URL, "http://"))
			require.NoError(t, err)
			body := foo("")
			fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum, Content-Digest\r\nConnection: close\r\n\r\n"+
				"%x\r\n%s\r\n0\r\nX-Sum: 1\r\nContent-Digest: x\r\nX-Else: 2\r\n\r\n", foosPath, len(body), body)
			response, err := http.ReadResponse(bufio.NewReader(conn), nil)
			require.NoError(t, err)
			response.Body.Close()
			conn.Close()
			server.Close() // and waits for the handler
			assert.Equal(t, http.StatusOK, response.StatusCode, name)
			assert.Equal(t, http.Header{"X-Sum": {"1"}}, got, "%s, stream: %t", name, opts.Stream)
		}
	}
}

// copied is a key of a context.
type copied struct{}
