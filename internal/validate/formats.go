package validate

import (
	"encoding/hex"
	"net"
	"net/mail"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// This file has the formats of text that the API server knows: those that
// k8s.io/kube-openapi/pkg/validation/strfmt registers. It is as lenient as the server, oddities
// included. An unknown format allows everything.

// formatCheck returns the check for a format, or nil. Dashes in the name do not matter: date-time
// is datetime.
func formatCheck(name string) func(string) bool {
	var text [16]byte // the names are shorter
	n := 0
	for i := range len(name) {
		if name[i] == '-' {
			continue
		}
		if n == len(text) {
			return nil
		}
		text[n] = name[i]
		n++
	}
	return formats[string(text[:n])]
}

// KnownFormat returns the check that text of a format has to pass, or nil if the server knows no such
// format.
func KnownFormat(name string) func(string) bool { return formatCheck(name) }

var formats = map[string]func(string) bool{
	"bsonobjectid": func(s string) bool { b, err := hex.DecodeString(s); return err == nil && len(b) == 12 },
	"byte":         matches(`^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`),
	"cidr":         func(s string) bool { _, _, err := net.ParseCIDR(withoutLeadingZeros(s)); return err == nil },
	"creditcard":   isCreditCard,
	"date":         isDate,
	"datetime":     isDateTime,
	"duration":     isDuration,
	"email":        func(s string) bool { a, err := mail.ParseAddress(s); return err == nil && a.Address != "" },
	"hexcolor":     matches(`^#?(?:[[:xdigit:]]{3}|[[:xdigit:]]{6})$`),
	"hostname":     isHostname,
	"ipv4": func(s string) bool {
		return strings.Contains(s, ".") && net.ParseIP(withoutLeadingZeros(s)) != nil
	},
	"ipv6":         func(s string) bool { return strings.Contains(s, ":") && net.ParseIP(s) != nil },
	"isbn":         func(s string) bool { return isISBN10(s) || isISBN13(s) },
	"isbn10":       isISBN10,
	"isbn13":       isISBN13,
	"k8slongname":  isLongName,
	"k8sshortname": isShortName,
	"mac":          func(s string) bool { _, err := net.ParseMAC(s); return err == nil },
	"password":     func(string) bool { return true },
	"rgbcolor":     isRGBColor,
	"ssn":          func(s string) bool { return len(s) == 11 && isSSN(s) },
	"uri":          func(s string) bool { _, err := url.ParseRequestURI(s); return err == nil },
	"uuid":         matches(uuid("[[:xdigit:]]", "[[:xdigit:]]")),
	"uuid3":        matches(uuid("3", "[[:xdigit:]]")),
	"uuid4":        matches(uuid("4", "[89abAB]")),
	"uuid5":        matches(uuid("5", "[89abAB]")),
}

// lazily returns a function that compiles a pattern when it is first called.
func lazily(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}

func matches(pattern string) func(string) bool {
	re := lazily(pattern)
	return func(s string) bool { return re().MatchString(s) }
}

// uuid returns the pattern of a UUID. Version and variant are one digit each.
func uuid(version, variant string) string {
	const digit = `[[:xdigit:]]`
	return "^" + digit + "{8}-?" + digit + "{4}-?" + version + digit + "{3}-?" +
		variant + digit + "{3}-?" + digit + "{12}$"
}

var isSSN = matches(`^\d{3}[- ]?\d{2}[- ]?\d{4}$`)

// isHostname reports whether s is a hostname: labels of letters, digits and symbols, with dashes
// inside, the last of which has at least two letters, or a single label.
func isHostname(s string) bool {
	if len(s) > 255 || !hostname(s) {
		return false
	}
	for label := range strings.SplitSeq(s, ".") {
		if len(label) > 63 {
			return false
		}
	}
	return true
}

var hostname = func() func(string) bool {
	const char, dashOrChar = `[a-zA-Z0-9\p{S}\p{L}]`, `[a-zA-Z0-9\-\p{S}\p{L}]`
	const alone = char + `(?:-?` + char + `{0,62})?`
	const label = char + `(?:` + dashOrChar + `{0,61}` + char + `)?`
	return matches(`^(?:` + alone + `|(?:` + label + `\.)+[a-zA-Z\p{L}]{2,63})$`)
}()

// withoutLeadingZeros drops leading zeros from the numbers of a dotted IPv4 address. Go allowed
// them before 1.17, and the server still does.
func withoutLeadingZeros(s string) string {
	ip, mask, hasMask := strings.Cut(s, "/")
	head, dotted := "", ip
	if i := strings.LastIndexByte(ip, ':'); i >= 0 {
		head, dotted = ip[:i+1], ip[i+1:]
	}
	if strings.Contains(dotted, ".") {
		parts := strings.Split(dotted, ".")
		for i, part := range parts {
			if part = strings.TrimLeft(part, "0"); part == "" && parts[i] != "" {
				part = "0"
			}
			parts[i] = part
		}
		ip = head + strings.Join(parts, ".")
	}
	if hasMask {
		ip += "/" + mask
	}
	return ip
}

func isDate(s string) bool {
	_, err := time.Parse(time.DateOnly, s)
	return err == nil
}

var clock = lazily(`^(\d{2}):(\d{2}):(\d{2})(?:.\d+)?(?:z|[+-]\d{2}:\d{2})$`)

func isDateTime(s string) bool {
	parts := strings.Split(strings.ToLower(s), "t")
	if len(parts) < 2 || !isDate(parts[0]) {
		return false
	}
	m := clock().FindStringSubmatch(parts[1])
	return m != nil && m[1] <= "23" && m[2] <= "59" && m[3] <= "59"
}

var amount = lazily(`(\d+)\s*([A-Za-zµ]+)`)

// isDuration reports whether s is a duration of Go, or contains an amount with a unit in the
// spelling of Scala: 22 ns, 3 weeks.
func isDuration(s string) bool {
	if _, err := time.ParseDuration(s); err == nil {
		return true
	}
	found := false
	for _, m := range amount().FindAllStringSubmatch(s, -1) {
		if _, err := strconv.ParseInt(m[1], 10, 64); err != nil {
			return false
		}
		found = found || isTimeUnit(strings.ToLower(m[2]))
	}
	return found
}

func isTimeUnit(s string) bool {
	switch s {
	case "ns", "us", "µs", "ms", "s", "m", "h", "hr", "d", "w", "wk":
		return true
	}
	for _, long := range []string{"nano", "micro", "milli", "sec", "min", "hour", "day", "week"} {
		if strings.HasPrefix(s, long) {
			return true
		}
	}
	return false
}

var (
	notDigit    = lazily(`[^0-9]+`)
	spaceOrDash = lazily(`[\s-]+`)
	cardNumber  = matches(`^(?:4\d{12}(?:\d{3})?|5[1-5]\d{14}|6(?:011|5\d\d)\d{12}|3[47]\d{13}` +
		`|3(?:0[0-5]|[68]\d)\d{11}|(?:2131|1800|35\d{3})\d{11})$`)
)

func isCreditCard(s string) bool {
	s = notDigit().ReplaceAllString(s, "")
	if !cardNumber(s) {
		return false
	}
	sum := 0 // the Luhn algorithm
	for i := range len(s) {
		d := int(s[len(s)-1-i] - '0')
		if i%2 == 1 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return sum%10 == 0
}

var (
	digits9X = matches(`^\d{9}[\dX]$`)
	digits13 = matches(`^\d{13}$`)
)

func isISBN10(s string) bool {
	if s = spaceOrDash().ReplaceAllString(s, ""); !digits9X(s) {
		return false
	}
	sum := 0
	for i := range s {
		d := int(s[i] - '0')
		if s[i] == 'X' {
			d = 10
		}
		sum += (i + 1) * d
	}
	return sum%11 == 0
}

func isISBN13(s string) bool {
	if s = spaceOrDash().ReplaceAllString(s, ""); !digits13(s) {
		return false
	}
	sum := 0
	for i := range s {
		sum += int(s[i]-'0') * (1 + 2*(i%2))
	}
	return sum%10 == 0
}

var isRGBColor = func() func(string) bool {
	const byte = `\s*(?:0|[1-9]\d?|1\d\d?|2[0-4]\d|25[0-5])\s*`
	return matches(`^rgb\(` + byte + `,` + byte + `,` + byte + `\)$`)
}()

func isShortName(s string) bool { return len(s) <= 63 && dnsLabel(s) }
func isLongName(s string) bool  { return len(s) <= 253 && dnsSubdomain(s) }
