package request

import (
	"net/url"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A target is the part of the Kubernetes API that the path of a request names.
type target struct {
	resourceKey
	subresource string
	isGroup     bool // the path is below /apis/GROUP
}

// A resourceKey identifies a resource in paths. The name is the plural, or the kind.
type resourceKey struct{ group, version, name string }

// parsePath reads a path as the API server does: k8s.io/apiserver,
// pkg/endpoints/request/requestinfo.go. It refuses paths that other servers read differently. A
// server that folds case, decodes twice, drops parameters, blanks or dots, or takes a backslash for
// a slash must not find a resource in a path that names none here.
func parsePath(u *url.URL) (t target, refused *StatusError) {
	if u.Opaque != "" { // the recipient of the request may find a path in it
		return t, notClean()
	}
	escaped := u.EscapedPath()
	decoded := unescapeAll(escaped)
	startsWithHost := isSlash(decoded, 0) && isSlash(decoded, 1) // others may read a host after //
	if decoded == "*" || climbs(decoded) || startsWithHost {
		return t, notClean()
	}
	if !mayBeAPI(decoded) {
		return t, nil
	}
	elements := strings.Split(strings.TrimSuffix(escaped, "/"), "/")
	clean := len(elements)
	for i := 1; i < clean; i++ {
		var ok bool
		if elements[i], ok = canonical(elements[i]); !ok {
			clean = i
		}
	}
	if elements[0] != "" || clean < 2 || elements[1] != "api" && elements[1] != "apis" {
		return t, notClean()
	}
	t = parseElements(elements[1:clean])
	if clean < len(elements) && t.subresource != "proxy" { // a proxied server reads the rest
		return t, notClean()
	}
	return t, nil
}

func notClean() *StatusError {
	return BadRequest("the path of the request is not in its clean form, and others may read another one in it: " +
		"send it without empty elements, dots, and escapes of what is no part of a name")
}

// parseElements reads the elements of a path, of which the first is api or apis. The server ignores
// the elements below the subresource.
func parseElements(elements []string) (t target) {
	rest := elements[1:]
	next := func() (element string) {
		if len(rest) > 0 {
			element, rest = rest[0], rest[1:]
		}
		return element
	}
	if elements[0] == "apis" {
		t.group = next()
		t.isGroup = t.group != ""
	}
	t.version = next()
	rest = withoutNamespace(rest)
	t.name = next()
	next()
	t.subresource = next()
	return t
}

// withoutNamespace drops the namespace from the elements of a path, as the API server does. What
// looks like a resource called status or finalize is a subresource of the resource namespaces.
func withoutNamespace(rest []string) []string {
	if len(rest) < 3 || rest[0] != "namespaces" || rest[2] == "status" || rest[2] == "finalize" {
		return rest
	}
	return rest[2:]
}

// canonical returns an element of a path without its escapes, and reports whether everybody reads
// it as that. It then has only characters of names, and does not consist of dots.
func canonical(element string) (string, bool) {
	text, err := url.PathUnescape(element)
	if err != nil || strings.Trim(text, ".") == "" {
		return text, false
	}
	return text, !strings.ContainsFunc(text, func(r rune) bool { return !isNameRune(r) })
}

// isNameRune reports whether a character may be in the names of paths. These are the characters of
// names and subjects of Kubernetes, and the unreserved ones of RFC 3986.
func isNameRune(r rune) bool {
	return 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || strings.ContainsRune("-._~:@", r)
}

// unescapeAll decodes a path until there is nothing left to decode, in one pass.
func unescapeAll(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	b := make([]byte, 0, len(path))
	for i := range len(path) {
		b = append(b, path[i])
		for n := len(b); n >= 3 && b[n-3] == '%' && isHex(b[n-2]) && isHex(b[n-1]); n = len(b) {
			b = append(b[:n-3], unhex(b[n-2])<<4|unhex(b[n-1]))
		}
	}
	return string(b)
}

func isHex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

// climbs reports whether some server may read an element .. in a path whose escapes were decoded:
// between slashes of either kind, with blanks around it or parameters after it. It also reports
// paths with control characters, invalid UTF-8 or %u, and with characters that normal forms of
// Unicode turn into dots and slashes.
func climbs(path string) bool {
	dots, isSolid, hasEnded := 0, false, false
	for i, r := range path {
		switch {
		case r == '/' || r == '\\':
			if dots > 1 && !isSolid {
				return true
			}
			dots, isSolid, hasEnded = 0, false, false
		case r < ' ' || r == 0x7f || !isPlain(r) || r == utf8.RuneError && !strings.HasPrefix(path[i:], "\uFFFD"):
			return true
		case r == '%' && strings.HasPrefix(strings.ToLower(path[i+1:min(i+2, len(path))]), "u"):
			return true
		case r == ';' || r == '?' || r == '#':
			hasEnded = true
		case hasEnded || r == ' ' || r == '+':
		case r == '.':
			dots++
		default:
			isSolid = true
		}
	}
	return dots > 1 && !isSolid
}

// isPlain reports whether normal forms of Unicode keep a character what it is. Beyond ASCII these
// are letters, marks, numbers and signs, but not punctuation, blanks and operators, such as U+FF0E,
// U+2024 and U+2215.
func isPlain(r rune) bool {
	return r < utf8.RuneSelf || unicode.In(r, unicode.L, unicode.M, unicode.N, unicode.So)
}

func isSlash(s string, i int) bool {
	return i < len(s) && (s[i] == '/' || s[i] == '\\')
}

// mayBeAPI reports whether some server may read the first element of a path, whose escapes were
// decoded, as api or apis. A character beyond ASCII may be read as any letter, unless it belongs to
// a script in which nobody writes these names.
func mayBeAPI(path string) bool {
	for path != "" {
		element := path
		if i := strings.IndexAny(path, `/\`); i >= 0 {
			element, path = path[:i], path[i+1:]
		} else {
			path = ""
		}
		element = strings.TrimLeft(element, ". +")
		// parameters, and suffixes of formats and versions
		if end := strings.IndexAny(element, ";?#:@~,. +"); end >= 0 {
			element = element[:end]
		}
		if element != "" {
			return isLikeAPI(element)
		}
	}
	return false
}

func isLikeAPI(element string) bool {
	var letters []rune
	isFolded := false
	for _, r := range element {
		switch {
		case r < utf8.RuneSelf:
			letters = append(letters, unicode.ToLower(r))
		case unicode.In(r, unicode.Latin, unicode.Common, unicode.Inherited):
			isFolded = true
		default:
			return false
		}
		if len(letters) > len("apis") {
			return false
		}
	}
	if !isFolded {
		return string(letters) == "api" || string(letters) == "apis"
	}
	rest := []rune("apis")
	for _, r := range letters {
		i := slices.Index(rest, r)
		if i < 0 {
			return false
		}
		rest = rest[i+1:]
	}
	return true
}

// foldGroup and foldLabel return what a server may make of a group, and of a version, plural or
// subresource. Such a server folds case and drops dots at the end, and from a label also what looks
// like the suffix of a format.
func foldGroup(s string) string {
	return strings.ToLower(strings.Trim(upToAny(s, ":~@"), "."))
}

func foldLabel(s string) string {
	return strings.ToLower(upToAny(s, ".:~@"))
}

func upToAny(s, chars string) string {
	if i := strings.IndexAny(s, chars); i >= 0 {
		return s[:i]
	}
	return s
}
