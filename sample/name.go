package sample

import (
	"strconv"
	"strings"
)

// The longest names that Kubernetes takes (RFC 1123): labels have 63 bytes, and subdomains 253.
var (
	labelOf63    = strings.Repeat("a", 63)
	nameOf253    = labelOf63 + "." + labelOf63 + "." + labelOf63 + "." + labelOf63[:61]
	longHostname = labelOf63 + "." + labelOf63 + "." + labelOf63 + "." + labelOf63
)

const lowerAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789"

// of chooses n bytes of a text.
func (c *choices) of(text string, n int) string {
	s := make([]byte, n)
	for i := range s {
		s[i] = text[c.below(len(text))]
	}
	return string(s)
}

// dnsLabel makes a DNS label (RFC 1123): lower case, digits, and dashes inside.
func (c *choices) dnsLabel() string {
	switch c.below(8) {
	case 1, 2, 3:
		return c.of(lowerAndDigits, 1+c.below(8))
	case 4:
		return c.of(lowerAndDigits, 1) + c.of(lowerAndDigits+"---", c.below(61)) + c.of(lowerAndDigits, 1)
	case 5:
		return one(c, "0", "123", "x-0", "a--b", "xn--bcher-kva", "true", "1e3")
	case 6:
		return labelOf63
	case 7:
		return one(c, "kubernetes", "default", "kube-system", "my-name")
	}
	return "a"
}

// resourceName makes the name of a resource: a DNS subdomain (RFC 1123).
func (c *choices) resourceName() string {
	switch c.below(8) {
	case 1, 2, 7:
		return c.dnsLabel()
	case 3, 4:
		name := c.dnsLabel()
		for range 1 + c.below(2) { // five labels can be too long together
			name += "." + c.dnsLabel()
		}
		return name
	case 5:
		return one(c, "example.com", "1.2.3.4", "a.b.c.d.e.f.g.h", "0.0", "a.xn--p1ai")
	case 6:
		return one(c, nameOf253, strings.Repeat("a.", 126)+"a")
	}
	return one(c, "a", "b", "my-name")
}

// labelKey makes a key of a label or an annotation: a name, after a DNS subdomain and a slash if
// there is one.
func (c *choices) labelKey() string {
	switch c.below(4) {
	case 2:
		return one(c, "example.com/", "app.kubernetes.io/", "a/") + c.qualified()
	case 3:
		return c.resourceName() + "/" + c.qualified()
	}
	return c.qualified()
}

// labelValue makes the value of a label, which may be empty.
func (c *choices) labelValue() string {
	if c.in(4) {
		return c.qualified()
	}
	return one(c, "", "a", "true", "1", "v1.2.3", "My_Value-0", labelOf63)
}

// qualified makes a name of letters, digits, and '-', '_' or '.' inside.
func (c *choices) qualified() string {
	const both = lowerAndDigits + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	switch c.below(4) {
	case 1:
		return c.of(both, 1) + c.of(both+"-_.-_.", c.below(62)) + c.of(both, 1)
	case 2:
		return one(c, "name", "MyName", "A", "0", "a..b", "a_b-c.d", "0.1")
	case 3:
		return labelOf63
	}
	return c.of(lowerAndDigits, 1)
}

// mapKey makes the name of entry i of a map, which can be any text. Names may be the same.
func (c *choices) mapKey(i int) string {
	switch c.below(4) {
	case 1:
		return c.of(lowerAndDigits, 1+c.below(20))
	case 2:
		return c.labelKey()
	case 3:
		return one(c, oddNames...)
	}
	letter := string(rune('a' + i%26))
	if i < 26 {
		return letter
	}
	return letter + strconv.Itoa(i/26)
}

// oddNames are those that paths, YAML, JSON or decoders of names treat in a way of their own.
var oddNames = []string{
	"", " ", "a b", " a", "a ", ".", "a.b", "/", "a/b", "~", "~1", "[0]", "a[0]", "*", "$", "$ref",
	"%", "%2F", "-", "- a", "?", "? a", ":", "a: b", "#", "a #b", "&a", "*a", "!a", "|", ">", "@a",
	"`", "{", "}", "[", "]", ",", "'", "\"", "q\"t", "\\", "a\\nb", "\\u0061", "true", "false",
	"null", "Null", "yes", "no", "on", "off", "y", "n", "=", "<<", "0", "-1", "1e3", "0x1f", "0o7",
	"1_000", "1:30", ".5", ".inf", ".nan", "2000-01-01", "---", "...", "line\nbreak", "tab\t", "\r\n",
	"nul\x00", "\x1b", "\x7f", "\u0085", "\u2028", "\u202e", "\ufeff", "\u00a0", "é", "e\u0301",
	"日本語", "🌳", "\U0010ffff", "\ufffd", "\u212a", "\u017f", "metadata", "__proto__", "constructor",
	"exactly-16-bytes", "longer-than-sixteen-bytes", labelOf63, nameOf253,
	strings.Repeat("long", 300),
}
