package compile

import (
	"strings"

	"github.com/espalier-dev/espalier/internal/recognize"
)

// This file has the formats of internal/validate. They are functions (text.go), patterns of the
// server, or stricter ones where the server parses the text: for its usual forms, in ASCII.

// Format returns a function that surely recognizes text of a format, or nil if the server knows no
// such format. Dashes in the name do not matter.
func Format(name string) func(text []byte) bool {
	if f := formats[strings.ReplaceAll(name, "-", "")]; f != nil {
		return f()
	}
	return nil
}

var formats = map[string]func() func([]byte) bool{
	"bsonobjectid": pattern(`^[[:xdigit:]]{24}$`),
	"byte":         is(isBase64),
	"cidr":         is(isCIDR),
	"creditcard":   is(isCreditCard),
	"date":         is(isDate),
	"datetime":     is(isDateTime),
	"duration":     pattern(duration),
	"email":        pattern(email),
	"hexcolor":     pattern(`^#?(?:[[:xdigit:]]{3}|[[:xdigit:]]{6})$`),
	"hostname":     is(isHostname),
	"ipv4":         is(isIPv4),
	"ipv6":         is(isIPv6),
	"isbn":         is(isISBN),
	"isbn10":       is(isISBN10),
	"isbn13":       is(isISBN13),
	"k8slongname":  is(recognize.DNSSubdomain),
	"k8sshortname": is(recognize.DNSLabel),
	"mac":          pattern(mac),
	"password":     is(func([]byte) bool { return true }),
	"rgbcolor":     pattern(`^rgb\(` + color + `,` + color + `,` + color + `\)$`),
	"ssn":          pattern(`^\d{3}[- ]\d{2}[- ]\d{4}$`),
	"uri":          pattern(uri),
	"uuid":         pattern(uuid(`[[:xdigit:]]`, `[[:xdigit:]]`)),
	"uuid3":        pattern(uuid(`3`, `[[:xdigit:]]`)),
	"uuid4":        pattern(uuid(`4`, `[89abAB]`)),
	"uuid5":        pattern(uuid(`5`, `[89abAB]`)),
}

func is(f func([]byte) bool) func() func([]byte) bool {
	return func() func([]byte) bool { return f }
}

func pattern(expr string) func() func([]byte) bool {
	compiled := matcher(expr)
	return func() func([]byte) bool { return compiled().Match }
}

// A duration is a sequence of amounts with units, with fractions as in Go, or one amount with the
// name of a unit. Amounts are so small that each is an int64.
const duration = `^(?:0|[-+]?(?:\d{1,9}(?:\.\d{1,9})?(?:ns|us|ms|[smhdw]))+|` +
	`\d{1,9} ?(?:ns|us|ms|[smhdw]|hr|wk|(?:nano|micro|milli)s(?:ec(?:ond)?s?)?|` +
	`sec(?:ond)?s?|min(?:ute)?s?|hours?|days?|weeks?))$`

// email is the addr-spec of RFC 5322, section 3.4.1, with letters, digits and dashes in the domain.
const (
	email = `^` + atom + `(?:\.` + atom + `)*@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$`
	atom  = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+"
)

const (
	mac = `^(?:` + octet + `(?:(?::` + octet + `){5}|(?::` + octet + `){7}|(?:-` + octet + `){5}|` +
		`(?:-` + octet + `){7})|[[:xdigit:]]{4}(?:(?:\.[[:xdigit:]]{4}){2}|(?:\.[[:xdigit:]]{4}){3}))$`
	octet = `[[:xdigit:]]{2}`
	color = ` ?(?:\d|[1-9]\d|1\d\d|2[0-4]\d|25[0-5]) ?`
)

// A uri is absolute, or a path alone (RFC 3986, sections 3 and 4.2). The host is a name.
const (
	uri = `^(?:` + scheme + `//(?:[A-Za-z0-9._~!$&'()*+,;=:-]+@)?[A-Za-z0-9._~-]*(?::\d*)?(?:/` + path + `)?|` +
		scheme + pchar + path + `|/` + path + `)(?:\?` + query + `)?$`
	scheme = `[A-Za-z][A-Za-z0-9+.-]*:`
	pchar  = `(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[[:xdigit:]]{2})`
	path   = `(?:` + pchar + `|[/#])*`
	query  = `(?:` + pchar + `|[/#?])*`
)

// uuid returns the pattern of a UUID. Version and variant are one digit each.
func uuid(version, variant string) string {
	const digit = `[[:xdigit:]]`
	return `^` + digit + `{8}-?` + digit + `{4}-?` + version + digit + `{3}-?` +
		variant + digit + `{3}-?` + digit + `{12}$`
}
