package projected_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// newServer starts an API server that knows widgets, of which there is one. What is written to it
// is in its log.
func newServer() (server *httptest.Server, log *writes) {
	log = new(writes)
	mux := http.NewServeMux()
	answer := func(path, body string) {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, body)
		})
	}
	answer("/api", `{"kind":"APIVersions","versions":["v1"]}`)
	answer("/apis", `{"kind":"APIGroupList","apiVersion":"v1","groups":[{"name":"example.com",
		"versions":[{"groupVersion":"example.com/v1","version":"v1"}],"preferredVersion":{"groupVersion":"example.com/v1","version":"v1"}}]}`)
	answer("/apis/example.com/v1", `{"kind":"APIResourceList","apiVersion":"v1","groupVersion":"example.com/v1","resources":[
		{"name":"widgets","singularName":"widget","namespaced":true,"kind":"Widget","verbs":["get","list","watch","update","patch"]}]}`)
	const widget = `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a","namespace":"b","uid":"1","resourceVersion":"7",
		"managedFields":[{"manager":"m"}]},"spec":{"size":3,"template":{"much":"more"}},"status":{"ready":true}}`
	answer("/apis/example.com/v1/namespaces/b/widgets/a", widget)
	mux.HandleFunc("GET /apis/example.com/v1/widgets", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch query := r.URL.Query(); {
		case query.Has("sendInitialEvents"):
			w.WriteHeader(http.StatusUnprocessableEntity) // then the client lists
			_, _ = io.WriteString(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Invalid","code":422}`)
		case query.Has("watch"):
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_, _ = fmt.Fprintf(w, `{"kind":"WidgetList","apiVersion":"example.com/v1","metadata":{"resourceVersion":"7"},"items":[%s]}`, widget)
		}
	})
	write := func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		log.add(r.Method + " " + string(body))
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, widget)
	}
	mux.HandleFunc("PUT /apis/example.com/v1/namespaces/b/widgets/a", write)
	mux.HandleFunc("PATCH /apis/example.com/v1/namespaces/b/widgets/a", write)
	return httptest.NewServer(mux), log
}

// writes are requests that have reached the server.
type writes struct {
	mu    sync.Mutex
	lines []string
}

func (w *writes) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

func (w *writes) all() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string(nil), w.lines...)
}
