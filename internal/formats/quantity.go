package formats

import (
	"strconv"
	"strings"
)

// IsQuantity reports whether resource.ParseQuantity of k8s.io/apimachinery accepts a text: a sign,
// digits with a point among them, and a suffix or a decimal exponent. Each of these may be missing.
func IsQuantity(s string) bool {
	if s == "" {
		return false
	}
	rest := strings.TrimLeft(s[sign(s):], "0123456789")
	if after, ok := strings.CutPrefix(rest, "."); ok {
		rest = strings.TrimLeft(after, "0123456789")
	}
	hasDigits := strings.ContainsAny(s[:len(s)-len(rest)], "0123456789")
	if rest == "" {
		return true
	}
	suffix := strings.TrimLeft(rest, "eEinumkKMGTP")
	suffix = strings.TrimLeft(suffix[sign(suffix):], "0123456789")
	if suffix != "" {
		return false
	}
	switch rest {
	case "n", "u", "m", "k", "M", "G", "T", "P", "E", "Ki", "Mi", "Gi", "Ti":
		return true
	case "Pi", "Ei":
		// ParseQuantity does not take its fast path here, which reads missing digits as 0.
		return hasDigits
	}
	if rest[0] != 'e' && rest[0] != 'E' {
		return false
	}
	exponent, err := strconv.ParseInt(rest[1:], 10, 64)
	return err == nil && (hasDigits || int32(exponent) >= -9)
}

// sign returns the length of the sign at the start of a text.
func sign(s string) int {
	if s != "" && (s[0] == '-' || s[0] == '+') {
		return 1
	}
	return 0
}
