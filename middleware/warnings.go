package middleware

import (
	"net/http"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The budget for warnings is that of a kube-apiserver: k8s.io/apiserver,
// pkg/endpoints/filters/warning.go. While all texts together have no more than
// maxWarningRunes they are sent as they are; otherwise each is cut to
// cutWarningRunes, and they go on until they have that many.
const (
	maxWarningRunes = 4096
	cutWarningRunes = 256
)

// addWarnings adds a header for each text, as often as it occurs once.
func addWarnings(header http.Header, texts []string) {
	texts = distinct(texts)
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	if total <= maxWarningRunes {
		for _, text := range texts {
			header.Add("Warning", warning(text))
		}
		return
	}
	addCutWarnings(header, texts)
}

// addCutWarnings adds what there is room for. The text that goes beyond the budget is among
// what is sent: the server finds out behind it.
func addCutWarnings(header http.Header, texts []string) {
	written, overflowed := 0, false
	full := 0
	for _, text := range texts {
		full += utf8.RuneCountInString(text)
		if overflowed && written >= maxWarningRunes {
			return
		}
		overflowed = overflowed || full > maxWarningRunes
		text, n := cut(text)
		written += n
		header.Add("Warning", warning(text))
	}
}

func cut(text string) (string, int) {
	n := 0
	for i := range text {
		if n == cutWarningRunes {
			return text[:i], n
		}
		n++
	}
	return text, n
}

// distinct drops empty texts, those that were there before, and those that cannot be sent.
func distinct(texts []string) []string {
	seen := make(map[string]bool, len(texts))
	kept := texts[:0]
	for _, text := range texts {
		if text == "" || seen[text] || !utf8.ValidString(text) || strings.ContainsFunc(text, unicode.IsControl) {
			continue
		}
		seen[text] = true
		kept = append(kept, text)
	}
	return kept
}

// warning is a header value without an agent (RFC 7234 section 5.5).
func warning(text string) string {
	b := make([]byte, 0, len(text)+16)
	b = append(b, `299 - "`...)
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			b = append(b, '\\')
		}
		b = append(b, text[i])
	}
	return string(append(b, '"'))
}

// A warningWriter has the warnings in the answer that a handler may have taken out of the headers. A
// httputil.ReverseProxy clears all that is there when the upstream sends a provisional answer, such as
// 103 Early Hints.
type warningWriter struct {
	http.ResponseWriter
	warnings []string
	wrote    bool // the status
}

// Unwrap is for http.ResponseController.
func (w *warningWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// WriteHeader answers.
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

// restore puts the warnings in front of those of the handler, unless they are there.
func (w *warningWriter) restore() {
	if w.wrote {
		return
	}
	w.wrote = true
	header := w.Header()
	if have := header["Warning"]; len(have) < len(w.warnings) || !slices.Equal(have[:len(w.warnings)], w.warnings) {
		header["Warning"] = slices.Concat(w.warnings, have)
	}
}
