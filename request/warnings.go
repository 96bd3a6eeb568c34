package request

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The budget for warnings is that of a kube-apiserver: k8s.io/apiserver,
// pkg/endpoints/filters/warning.go. If all texts together have at most maxWarningRunes, they are
// sent as they are. Otherwise each is cut to cutWarningRunes, and they are sent until they have
// maxWarningRunes.
const (
	maxWarningRunes = 4096
	cutWarningRunes = 256
)

// warnings returns the values of the headers for texts, each text once. The texts are overwritten.
func warnings(texts []string) (values []string) {
	texts = distinct(texts)
	total := 0
	for _, text := range texts {
		total += utf8.RuneCountInString(text)
	}
	if total > maxWarningRunes {
		return cutWarnings(texts)
	}
	if len(texts) > 0 {
		values = make([]string, 0, len(texts))
	}
	for _, text := range texts {
		values = append(values, warning(text))
	}
	return values
}

// cutWarnings returns the values that fit into the budget. The text that exceeds the budget is sent
// as well, because the server notices after it.
func cutWarnings(texts []string) (values []string) {
	written, overflowed := 0, false
	full := 0
	for _, text := range texts {
		full += utf8.RuneCountInString(text)
		if overflowed && written >= maxWarningRunes {
			break
		}
		overflowed = overflowed || full > maxWarningRunes
		text, n := cut(text)
		written += n
		values = append(values, warning(text))
	}
	return values
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

// distinct drops empty texts, repeated ones, and those that cannot be sent.
func distinct(texts []string) []string {
	if len(texts) == 0 {
		return nil
	}
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

// warning returns a header value without an agent (RFC 7234 section 5.5).
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
