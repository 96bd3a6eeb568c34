package middleware_test

import (
	"bytes"
	"io"
	"net/http"
	"testing"

	"github.com/espalier-dev/espalier/middleware"
)

// quiet is a response that nobody reads.
type quiet struct{ header http.Header }

func (q *quiet) Header() http.Header         { return q.header }
func (q *quiet) Write(p []byte) (int, error) { return len(p), nil }
func (q *quiet) WriteHeader(int)             {}

func BenchmarkMiddleware(b *testing.B) {
	for name, members := range map[string]string{"clean": `,"spec":{"a":"x"}`, "unknown": `,"spec":{"a":"x","b":1}`} {
		for _, stream := range []bool{false, true} {
			if stream {
				name += "/stream"
			}
			b.Run(name, func(b *testing.B) {
				handler := middleware.New(byPath(b), middleware.Options{Stream: stream})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
					_, _ = io.Copy(io.Discard, r.Body)
				}))
				body := []byte(foo(members))
				r := post(foosPath, "application/json", "")
				b.SetBytes(int64(len(body)))
				b.ReportAllocs()
				for b.Loop() {
					r.Body = io.NopCloser(bytes.NewReader(body))
					r.ContentLength = int64(len(body))
					handler.ServeHTTP(&quiet{http.Header{}}, r)
				}
			})
		}
	}
}
