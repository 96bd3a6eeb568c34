package middleware_test

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/middleware"
)

// TestWarningsAfterProvisionalAnswers: warnings stay, even if something clears the headers before
// the answer.
func TestWarningsAfterProvisionalAnswers(t *testing.T) {
	const ours, theirs = `299 - "unknown field \"spec.b\""`, `299 - "theirs"`
	upstream := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Link", "</style.css>")
		w.WriteHeader(http.StatusEarlyHints)
		w.Header().Set("Warning", theirs)
		w.WriteHeader(http.StatusAccepted)
	}))
	defer upstream.Close()
	u, err := url.Parse(upstream.URL)
	require.NoError(t, err)
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	for name, handler := range map[string]http.Handler{
		"proxy": &httputil.ReverseProxy{Transport: transport, Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(u) }},
		"clears": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			clear(w.Header())
			w.Header().Set("Warning", theirs)
			_, _ = w.Write([]byte("x"))
			w.Header().Set("Warning", "later")
		}),
		"says OK": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Warning"] = []string{theirs}
			w.WriteHeader(http.StatusOK)
		}),
		"flushes": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header()["Warning"] = []string{theirs}
			w.(http.Flusher).Flush()
			assert.NoError(t, http.NewResponseController(w).SetWriteDeadline(time.Now().Add(time.Minute)), "the writer is not unwrapped")
		}),
		"adds": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Header().Add("Warning", theirs) }),
		"says no more": http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Del("Warning")
			w.Header().Add("Warning", theirs)
		}),
	} {
		server := httptest.NewServer(middleware.New(byPath(t), middleware.Options{})(handler))
		response, err := server.Client().Post(server.URL+foosPath, "application/json", strings.NewReader(foo(`,"spec":{"b":1}`)))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		assert.Equal(t, []string{ours, theirs}, response.Header["Warning"], name)
		server.Close()
	}
}
