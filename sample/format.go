package sample

import (
	"encoding/base64"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"time"
)

// A textFormat has texts of a format.
type textFormat struct {
	// texts are valid, the simplest first. The server takes them, and so do the types that usually
	// read the format in Go: metav1.Time, metav1.Duration, []byte, netip.Addr and the like.
	texts []string
	// make makes more of them. It may be nil.
	make func(c *choices) string
	// loose has texts that the server takes, but that such a type may refuse.
	loose []string
	// misses are texts that the server refuses. If it does not know the format, the type does.
	misses []string
}

// formatText makes a text of a format. It reports false if it knows no such format of texts.
func formatText(name string, c *choices) (string, bool) {
	f, known := formatOf(name)
	if !known {
		return "", false
	}
	if f.make != nil && c.in(2) {
		return f.make(c), true
	}
	return one(c, f.texts...), true
}

// formatLoose returns a text that the server takes, although programs that read the object may not.
// It reports false if it knows none.
func formatLoose(name string, c *choices) (string, bool) {
	f, _ := formatOf(name)
	if len(f.loose) == 0 {
		return "", false
	}
	return one(c, f.loose...), true
}

// formatMiss returns a text that is not of the format, though it looks like one. It reports false if
// it knows none.
func formatMiss(name string, c *choices) (string, bool) {
	f, _ := formatOf(name)
	if len(f.misses) == 0 {
		return "", false
	}
	return one(c, f.misses...), true
}

// formatOf returns the format with a name, in which dashes do not matter.
func formatOf(name string) (f textFormat, known bool) {
	f, known = textFormats[strings.ReplaceAll(name, "-", "")]
	return f, known
}

// textFormats are those of k8s.io/kube-openapi/pkg/validation/strfmt, and quantity, micro-date-time
// and duration, which schema.ParseOpenAPI gives to types of Kubernetes. strfmt has a duration, too.
var textFormats = map[string]textFormat{
	"bsonobjectid": {
		texts: []string{
			"000000000000000000000000", "507f1f77bcf86cd799439011", "FFFFFFFFFFFFFFFFFFFFFFFF",
		},
		make: func(c *choices) string { return c.hex(24) },
		misses: []string{
			"507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g", "",
		},
	},
	"byte": {
		texts: []string{"AA==", "YWI=", "YWJj", "aGVsbG8=", "+/+/", "//79/A=="},
		make: func(c *choices) string {
			return base64.StdEncoding.EncodeToString([]byte(c.hex(1 + c.below(64))))
		},
		loose:  []string{"YR==", "YWJ="}, // bits that are not used are set
		misses: []string{"AA", "AA=", "A===", "_-==", "AA==\n", "not base64", ""},
	},
	"cidr": {
		texts: []string{
			"10.0.0.0/8", "0.0.0.0/0", "192.168.1.2/24", "255.255.255.255/32", "::/0", "2001:db8::/32",
			"::1/128",
		},
		make: func(c *choices) string {
			ip := ipv4(c)
			if c.in(2) {
				ip = ipv6(c)
			}
			return netip.PrefixFrom(ip, c.below(ip.BitLen()+1)).String()
		},
		loose: []string{"010.0.0.0/8", "::ffff:10.0.0.0/104"},
		misses: []string{
			"10.0.0.0", "10.0.0.0/33", "10.0.0/8", "10.0.0.256/8", "::/129", "10.0.0.0/-1", "10.0.0.0/", "",
		},
	},
	"creditcard": {
		texts: []string{
			"4111111111111111", "5555555555554444", "378282246310005", "6011111111111117", "30569309025904",
			"213100000000001", "4222222222222",
		},
		make: func(c *choices) string {
			s := "4" + c.digits(14)
			return s + luhn(s)
		},
		loose: []string{"4111 1111 1111 1111", "5139-2888-0209-8206"},
		misses: []string{
			"4111111111111112", "411111111111111", "41111111111111111", "0000000000000000",
			"6521674451993089", "",
		},
	},
	"date": {
		texts: []string{
			"2000-01-01", "2000-02-29", "1969-12-31", "2026-12-31", "0001-01-01", "9999-12-31",
		},
		make:  func(c *choices) string { return moment(c).Format(time.DateOnly) },
		loose: []string{"0000-01-01"},
		misses: []string{
			"2001-02-29", "2000-02-30", "2000-13-01", "2000-00-01", "2000-1-1", "2000-01-01T00:00:00Z",
			"10000-01-01", "",
		},
	},
	"datetime": {
		texts: []string{
			"2000-01-01T00:00:00Z", "2000-02-29T23:59:59Z", "1969-12-31T23:59:59.999999999Z",
			"2038-01-19T03:14:08+00:00", "2026-06-30T12:00:00.5+05:45", "0001-01-01T00:00:00Z",
			"9999-12-31T23:59:59-12:00",
		},
		make: func(c *choices) string {
			at := moment(c)
			if c.in(2) {
				at = at.In(time.FixedZone("", 60*(c.below(24*60)-12*60)))
			}
			if c.in(2) {
				at = at.Add(time.Duration(c.below(1_000_000)) * time.Microsecond)
			}
			return at.Format(time.RFC3339Nano)
		},
		loose: []string{
			"2000-01-01t00:00:00z", "2000-01-01T00:00:00zT", "2000-01-01T00:00:00,5Z",
			"2000-01-01T00:00:00+99:99",
		},
		misses: []string{
			"2000-01-01", "2000-01-01T00:00:00", "2000-01-01 00:00:00Z", "2000-01-01T24:00:00Z",
			"2000-01-01T23:59:60Z", "2000-02-30T00:00:00Z", "2000-01-01T00:00Z", "2000-01-01T00:00:00+0100",
			"2000-01-01T00:00:00.Z", "",
		},
	},
	"microdatetime": {
		texts: []string{
			"2000-01-01T00:00:00.000000Z", "1969-12-31T23:59:59.999999Z",
			"2026-06-30T12:00:00.500000+05:45", "0001-01-01T00:00:00.000000Z",
		},
		make: func(c *choices) string {
			const form = "2006-01-02T15:04:05.000000Z07:00" // RFC3339Micro in metav1.MicroTime
			return moment(c).Add(time.Duration(c.below(1_000_000)) * time.Microsecond).Format(form)
		},
		misses: []string{
			"2000-01-01T00:00:00Z", "2000-01-01T00:00:00.000Z", "2000-01-01T00:00:00.0000000Z",
			"2000-01-01T00:00:00.000000", "",
		},
	},
	"duration": {
		texts: []string{
			"1s", "0", "1h30m", "500ms", "1.5h", "-2m", "+5s", "100ns", "1us", "2562047h47m16.854775807s",
		},
		make: func(c *choices) string {
			d := time.Duration(c.below(1000)) * one(c, time.Second, time.Minute, time.Hour,
				time.Millisecond, time.Nanosecond, 1_234_567*time.Microsecond)
			return one(c, d, -d).String()
		},
		loose:  []string{"22 ns", "3 weeks", "1d", "P1D", "2 hours and 3 minutes"},
		misses: []string{"5", "1 x", "s", "1.5", "99999999999999999999s", ""},
	},
	"email": {
		texts: []string{
			"a@example.com", "first.last+tag@mail.example.com", "a@localhost", "A_0-b@EXAMPLE.org",
		},
		make:  func(c *choices) string { return c.dnsLabel() + "@" + hostname(c) },
		loose: []string{"Ann <ann@example.com>", "<a@b>", `"a b"@example.com`, "é@example.com"},
		misses: []string{
			"a", "@example.com", "a@", "a b@example.com", "a@b@c", "a..b@example.com", ".a@example.com",
			"a@example.com, b@example.com", "",
		},
	},
	"hexcolor": {
		texts:  []string{"#000000", "#fff", "#FFFFFF", "#12aBcD"},
		make:   func(c *choices) string { return "#" + c.hex(6) },
		loose:  []string{"000", "ffffff"},
		misses: []string{"#ff", "#ffff", "#fffff", "#ggg", "#0000000", "#", ""},
	},
	"hostname": {
		texts: []string{
			"localhost", "example.com", "a", "xn--bcher-kva.example", "a-b.c0.example", "1a.example",
			labelOf63, longHostname,
		},
		make:  hostname,
		loose: []string{"a-", "1a.example.中文", "€"},
		misses: []string{
			"-a", "a..b", "a.b-c.d", ".", "example.com.", "a_b", "a b", "example.c", labelOf63 + "a",
			labelOf63 + "a.com", "",
		},
	},
	"ipv4": {
		texts:  []string{"1.2.3.4", "0.0.0.0", "127.0.0.1", "255.255.255.255"},
		make:   func(c *choices) string { return ipv4(c).String() },
		loose:  []string{"01.002.3.004", "::ffff:1.2.3.4"},
		misses: []string{"1.2.3", "1.2.3.256", "1.2.3.4.5", "1.2..4", "1.2.3.4 ", "1.2.3.4/8", "::1", ""},
	},
	"ipv6": {
		texts: []string{
			"::1", "::", "2001:db8::1", "fe80::1", "2001:0DB8:0:0:0:0:0:1",
			"ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
		},
		make:  func(c *choices) string { return ipv6(c).String() },
		loose: []string{"::ffff:1.2.3.4", "64:ff9b::1.2.3.4"},
		misses: []string{
			":::", "1::2::3", "fe80::1%eth0", "[::1]", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::fffff",
			"1.2.3.4", "",
		},
	},
	"isbn": {
		texts:  []string{"0321751043", "9780321751041", "340101319X"},
		make:   func(c *choices) string { return one(c, isbn10, isbn13)(c) },
		loose:  []string{"978-0321751041", "3 401 01319 X"},
		misses: []string{"0321751044", "9780321751042", "032175104", "978032175104", "X321751043", ""},
	},
	"isbn10": {
		texts:  []string{"0000000000", "0321751043", "340101319X"},
		make:   isbn10,
		loose:  []string{"0-321-75104-3", "3 401 01319 X"},
		misses: []string{"0321751044", "032175104", "X321751043", "340101319x", "9780321751041", ""},
	},
	"isbn13": {
		texts:  []string{"9780000000002", "9780321751041", "9791090636071"},
		make:   isbn13,
		loose:  []string{"978-0-321-75104-1"},
		misses: []string{"9780321751042", "978032175104", "978032175104X", "0321751043", ""},
	},
	"k8slongname": {
		texts: []string{"a", "my-name", "example.com", "0", "a.b.c", "1.2.3.4", labelOf63, nameOf253},
		make:  (*choices).resourceName,
		misses: []string{
			"A", "-a", "a-", "a..b", ".a", "a.", "a_b", "a/b", "é", "a.-b", nameOf253 + "a", "",
		},
	},
	"k8sshortname": {
		texts:  []string{"a", "my-name", "0", "a-0", "x--y", labelOf63},
		make:   (*choices).dnsLabel,
		misses: []string{"A", "-a", "a-", "a.b", "a_b", "é", labelOf63 + "a", ""},
	},
	"mac": {
		texts: []string{
			"00:00:00:00:00:00", "00:00:5e:00:53:01", "02-00-5E-10-00-01", "0200.5e10.0001",
			"02:00:5e:10:00:00:00:01",
		},
		make: func(c *choices) string {
			pairs := make([]string, 6)
			for i := range pairs {
				pairs[i] = c.hex(2)
			}
			return strings.Join(pairs, ":")
		},
		misses: []string{
			"00:00:5e:00:53", "00:00:5e:00:53:0g", "00:00:5e:00:53:01:02", "00:00-5e-00-53-01",
			"0:0:5e:0:53:1", "",
		},
	},
	"password": {
		texts: []string{"secret", "", "pass word", "πάσσ", "\"'\\", "line\nbreak"},
	},
	"quantity": {
		texts: []string{
			"1", "0", "500m", "2Gi", "1.5", "-1", "+1", "1e3", "1E-2", "100k", "0.1Ki", "12E", "1Ei",
			"9223372036854775807", "1n", "1u", ".5", "5.",
		},
		make: func(c *choices) string {
			number := one(c, "", "-", "+") + strconv.Itoa(c.below(1000))
			if c.in(3) {
				number += "." + c.digits(1+c.below(3))
			}
			return number + one(c, "", "m", "k", "Ki", "M", "Mi", "G", "Gi", "T", "Ti", "P", "Pi",
				"E", "Ei", "n", "u", "e0", "e-3", "E+6")
		},
		misses: []string{
			"1 Gi", "1kB", "1gi", "1.5.2", "1e", "1e3k", "--1", "0x1", "1,5", "one", " ", "",
		},
	},
	"rgbcolor": {
		texts: []string{"rgb(0,0,0)", "rgb(255, 255, 255)", "rgb(0,31,255)"},
		make: func(c *choices) string {
			return fmt.Sprintf("rgb(%d,%d,%d)", c.below(256), c.below(256), c.below(256))
		},
		loose: []string{"rgb( 1 ,2 ,\t3 )"},
		misses: []string{
			"rgb(0,0,256)", "rgb(0,0)", "rgb(01,2,3)", "rgb(0,0,-1)", "rgba(1,2,3)", "RGB(0,0,0)",
			"rgb(0,0,0", "#000000", "",
		},
	},
	"ssn": {
		texts:  []string{"000-00-0000", "123-45-6789", "999-99-9999"},
		make:   func(c *choices) string { return c.digits(3) + "-" + c.digits(2) + "-" + c.digits(4) },
		loose:  []string{"123 45 6789", "123 45-6789"},
		misses: []string{"123456789", "123-45-678", "123-45-67890", "123-45-678a", "12-345-6789", ""},
	},
	"uri": {
		texts: []string{
			"http://example.com", "https://user@example.com:8443/a/b?c=d&e#f", "/", "mailto:a@example.com",
			"urn:isbn:0321751043", "ftp://[::1]/a%20b", "file:///tmp/a", "http://example.com/%C3%A9",
		},
		make: func(c *choices) string {
			uri := one(c, "https", "http", "ftp", "x-y+z.0") + "://" + hostname(c)
			for range c.below(3) {
				uri += one(c, "/", "/%20", "/~") + c.dnsLabel()
			}
			if c.in(3) {
				uri += one(c, "?", "?a=b&", "/?q=%C3%A9") + c.dnsLabel()
			}
			return uri
		},
		loose: []string{"http://a/é", "http://a/b c", "//", "http://"},
		misses: []string{
			"example.com", "./a", "a/b", "?a", "#a", "http://a/%zz", "http://[::1", "http://a:b", "://a",
			":", "http://a\x7f", "",
		},
	},
	"uuid": uuids('4', '8',
		"00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff"),
	"uuid3": uuids('3', '0', "550e8400-e29b-31d4-c716-446655440000"),
	"uuid4": uuids('4', 'b', "550e8400-e29b-41d4-a716-446655440000"),
	"uuid5": uuids('5', '8', "550e8400-e29b-51d4-b716-446655440000"),
}

// uuids returns the format of the UUIDs of a version and a variant.
func uuids(version, variant byte, more ...string) textFormat {
	join := func(digits string) string {
		return digits[:8] + "-" + digits[8:12] + "-" + string(version) + digits[13:16] + "-" +
			string(variant) + digits[17:20] + "-" + digits[20:]
	}
	zero := join(strings.Repeat("0", 32))
	return textFormat{
		texts: append([]string{zero, strings.ToUpper(zero[:35] + "f")}, more...),
		make:  func(c *choices) string { return join(c.hex(32)) },
		loose: []string{strings.ReplaceAll(zero, "-", ""), zero[:8] + zero[9:]},
		misses: []string{
			zero[1:], zero + "0", zero[:35] + "g", "{" + zero + "}", "urn:uuid:" + zero, "x", "",
		},
	}
}

// digits returns n decimal digits.
func (c *choices) digits(n int) string { return c.of("0123456789", n) }

// hex returns n hexadecimal digits.
func (c *choices) hex(n int) string { return c.of("0123456789abcdef", n) }

// moment returns a second in the hundred years from 2000 on.
func moment(c *choices) time.Time {
	const days = 36525
	return time.Date(2000, 1, 1+c.below(days), c.below(24), c.below(60), c.below(60), 0, time.UTC)
}

func ipv4(c *choices) netip.Addr {
	var a [4]byte
	for i := range a {
		a[i] = byte(c.below(256))
	}
	return netip.AddrFrom4(a)
}

func ipv6(c *choices) netip.Addr {
	a := [16]byte{0x20, 0x01, 0x0d, 0xb8} // for documentation (RFC 3849)
	for i := 4; i < len(a); i++ {
		a[i] = byte(c.below(256))
	}
	return netip.AddrFrom16(a)
}

// luhn returns the digit that follows the digits of the number of a card.
func luhn(digits string) string {
	sum := 0
	for i := range len(digits) {
		d := int(digits[len(digits)-1-i] - '0')
		if i%2 == 0 {
			d = d*2/10 + d*2%10
		}
		sum += d
	}
	return strconv.Itoa((10 - sum%10) % 10)
}

func isbn10(c *choices) string {
	s := c.digits(9)
	sum := 0
	for i := range len(s) {
		sum += (i + 1) * int(s[i]-'0')
	}
	return s + "0123456789X"[sum%11:][:1]
}

func isbn13(c *choices) string {
	s := "978" + c.digits(9)
	sum := 0
	for i := range len(s) {
		sum += int(s[i]-'0') * (1 + 2*(i%2))
	}
	return s + strconv.Itoa((10-sum%10)%10)
}

// hostname returns one with a top-level domain of two letters or more, which the format demands.
func hostname(c *choices) string {
	var b strings.Builder
	for range 1 + c.below(3) {
		b.WriteString(c.dnsLabel())
		b.WriteByte('.')
	}
	return b.String() + one(c, "example", "com", "xy")
}
