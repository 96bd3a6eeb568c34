package validate

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/espalier-dev/espalier/internal/recognize/compile"
)

// TestFormats has texts that each format allows, and others. The results are those of
// k8s.io/kube-openapi/pkg/validation/strfmt.
func TestFormats(t *testing.T) {
	// A hostname, if it had two letters more.
	longest := strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("a", 60) + "."
	for _, test := range []struct {
		format string
		ok     []string
		bad    []string
	}{
		{"bsonobjectid", []string{"507f1f77bcf86cd799439011"}, []string{"", "507f", "507f1f77bcf86cd79943901g"}},
		{"byte", []string{"YQ==", "YWI=", "YWJj", "+/+/"}, []string{"", "YQ", "YQ=", "Y-==", "YQ==\n"}},
		{"cidr", []string{"10.0.0.0/8", "010.0.0.1/8", "::/0"}, []string{"10.0.0.0", "10.0.0.0/33", "10.0.0/8"}},
		{"creditcard", []string{"4220855426222389", "5139-2888-0209-8206", "4111111111111111", "378282246310005", "30569309025904"}, []string{"", "4220855426213389", "6521674451993089"}},
		{"date", []string{"2020-02-29"}, []string{"", "2020-02-30", "2020-2-2", "2020-01-01T00:00:00Z"}},
		{"date-time", []string{"2014-12-15T19:30:20.000Z", "2014-12-15t19:30:20+02:00", "2014-12-15T19:30:20zT", "2014-12-15T23:59:59Z"}, []string{"2014-12-15", "2014-12-15T24:00:00Z", "2014-12-15T23:59:60Z", "2014-12-15T19:30:20"}},
		{"duration", []string{"1h30m", "22 ns", "3 weeks", "see 5 minutes", "5 foo 3 weeks"}, []string{"", "5", "5 foo", "99999999999999999999 s"}},
		{"email", []string{"a@b.c", "Bob <a@b>"}, []string{"", "a", "@b"}},
		{"hexcolor", []string{"#FFFFFF", "fff"}, []string{"", "#ff", "#ggg"}},
		{"hostname", []string{"localhost", "example.com", "1a.example.中文", "a-", "a-" + strings.Repeat("b", 61), longest + "aa"}, []string{"", "-a", "a..b", "a.b-c.d", strings.Repeat("a", 64) + ".com", "a-" + strings.Repeat("b", 62), longest + "aaa"}},
		{"ipv4", []string{"1.2.3.4", "01.002.3.004", "::ffff:1.2.3.4", "::ffff:01.2.3.004"}, []string{"", "1.2.3", "1.2.3.256", "::1", "1.2..4"}},
		{"ipv6", []string{"::1", "::ffff:1.2.3.4"}, []string{"", "1.2.3.4", "fe80::1%eth0", ":::"}},
		{"isbn", []string{"0321751043", "978-0321751041", "3 401 01319 X"}, []string{"", "0321751044", "978-0321751042"}},
		{"isbn10", []string{"0321751043"}, []string{"978-0321751041", "X321751043"}},
		{"isbn13", []string{"9780321751041"}, []string{"0321751043", "978032175104X"}},
		{"k8s-long-name", []string{"a", "a.b-c.0", strings.Repeat("a", 253)}, []string{"", "A", "a..b", "-a", strings.Repeat("a", 254)}},
		{"k8s-short-name", []string{"a", "a-0", strings.Repeat("a", 63)}, []string{"", "a.b", "a-", strings.Repeat("a", 64)}},
		{"mac", []string{"01:23:45:67:89:ab", "0123.4567.89ab"}, []string{"", "01:23", "g1:23:45:67:89:ab"}},
		{"password", []string{"", "anything"}, nil},
		{"rgbcolor", []string{"rgb(0,31,255)", "rgb( 1 , 2, 3 )"}, []string{"", "rgb(0,31,256)", "rgb(01,2,3)", "rgba(1,2,3)"}},
		{"ssn", []string{"123-45-6789", "123 45 6789"}, []string{"", "123456789", "123-45-678a"}},
		{"uri", []string{"http://a.b/c?d#e", "/a/b", "mailto:a@b"}, []string{"", "a.b", "./a"}},
		{"uuid", []string{"550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"}, []string{"", "550e8400"}},
		{"uuid3", []string{"550e8400-e29b-31d4-0716-446655440000"}, []string{"550e8400-e29b-41d4-a716-446655440000"}},
		{"uuid4", []string{"550e8400-e29b-41d4-a716-446655440000"}, []string{"550e8400-e29b-41d4-0716-446655440000"}},
		{"uuid5", []string{"550e8400-e29b-51d4-B716-446655440000"}, []string{"550e8400-e29b-41d4-a716-446655440000"}},
	} {
		check := formatCheck(test.format)
		for _, s := range test.ok {
			if !check(s) {
				t.Errorf("%s refuses %q", test.format, s)
			}
		}
		for _, s := range test.bad {
			if check(s) {
				t.Errorf("%s allows %q", test.format, s)
			}
		}
	}
	if formatCheck("int32") != nil || formatCheck("") != nil {
		t.Error("a check for a format that has none")
	}
}

// TestRecognizers holds that there is a recognizer for each format.
func TestRecognizers(t *testing.T) {
	for name := range formats {
		assert.NotNil(t, KnownFormat(name), name)
		assert.NotNil(t, compile.Format(name), name)
	}
}
