package middleware

import (
	"net/http"
	"slices"
)

// A warningWriter puts warnings into the answer that the handler may have removed from the headers.
// A httputil.ReverseProxy clears all headers when the upstream sends a provisional answer, such as
// 103 Early Hints.
type warningWriter struct {
	http.ResponseWriter
	warnings []string
	wrote    bool // the status was written
}

// Unwrap is for http.ResponseController.
func (w *warningWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader restores the warnings and writes the status.
func (w *warningWriter) WriteHeader(code int) {
	if code >= 200 || code == http.StatusSwitchingProtocols {
		w.restore()
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write writes the body of the answer.
func (w *warningWriter) Write(p []byte) (int, error) {
	w.restore()
	return w.ResponseWriter.Write(p)
}

// FlushError is for http.ResponseController.
func (w *warningWriter) FlushError() error {
	w.restore()
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush is for handlers that ask for an http.Flusher.
func (w *warningWriter) Flush() { _ = w.FlushError() }

// restore puts the warnings before those of the handler, unless they are there already.
func (w *warningWriter) restore() {
	if w.wrote {
		return
	}
	w.wrote = true
	header := w.Header()
	have := header["Warning"]
	if len(have) < len(w.warnings) || !slices.Equal(have[:len(w.warnings)], w.warnings) {
		header["Warning"] = slices.Concat(w.warnings, have)
	}
}
