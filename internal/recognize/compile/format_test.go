package compile

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/validate"
)

// usual has text of each format that must be recognized, and text that is not of the format.
var usual = map[string]struct{ ok, bad []string }{
	"bson-object-id": {[]string{"507f1f77bcf86cd799439011"}, []string{"", "507f1f77bcf86cd79943901", "507f1f77bcf86cd79943901g"}},
	"byte": {
		[]string{"YQ==", "YWI=", "YWJj", "+/+/", "AZaz", "0189", "YWJjYWJjYQ==", "YWJjYWJjYWI="},
		[]string{"", "YQ", "YQ=", "Y===", "=", "====", "Y-==", "YQ==\n", "YWJjYW*jYQ==", "YWJjYWJjYQ=a", "YWJjYWJj=Q=="},
	},
	"cidr": {
		[]string{"10.0.0.0/8", "0.0.0.0/0", "192.168.1.1/32", "::/0", "2001:db8::/128", "fd00::/48"},
		[]string{"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/a", "10.0.0.0/1000", "10.0.0/8", "::/129", "/8", "10.0.0.0/8/8"},
	},
	"credit-card": {
		[]string{"4220855426222389", "5139-2888-0209-8206", "4111 1111 1111 1111", "378282246310005", "30569309025904"},
		[]string{"", "4220855426213389", "6521674451993089", "42208554262223890", "422085542622238X"},
	},
	"date": {
		[]string{"2020-02-29", "2000-02-29", "2021-12-31", "2021-04-30", "0000-02-29"},
		[]string{
			"", "2020-02-30", "2021-02-29", "1900-02-29", "2021-04-31", "2021-01-32", "2021-01-00", "2021-00-01", "2021-13-01",
			"2020-2-2", "202a-02-02", "a020-02-02", "2020-0a-02", "2020-02-0a", "2020/02-02", "2020-02/02", "2020-01-01T00:00:00Z",
		},
	},
	"date-time": {
		[]string{
			"2014-12-15T19:30:20Z", "2014-12-15T19:30:20.000Z", "2014-12-15t23:59:59z", "2014-12-15T00:00:00.123456789+02:00",
			"2014-12-15T19:30:20-99:99",
		},
		[]string{
			"", "2014-12-15", "2014-12-15T19:30:20", "2014-12-15 19:30:20Z", "2014-12-15T24:00:00Z", "2014-12-15T23:60:00Z",
			"2014-12-15T23:59:60Z", "2014-12-15T19-30:20Z", "2014-12-15T19:30-20Z", "2014-12-35T19:30:20Z", "2014-12-15T19:30:20.Z",
			"2014-12-15T19:30:20.5", "2014-12-15T19:30:20x", "2014-12-15T19:30:20+0200", "2014-12-15T19:30:20+02-00",
			"2014-12-15T19:30:20*02:00", "2014-12-15T19:30:20+0a:00", "2014-12-15T19:30:20+00:0a",
		},
	},
	"duration": {
		[]string{
			"0", "0s", "30s", "1h30m", "1.5h", "-5m", "100ms", "10us", "7d", "2w", "1d12h", "22 ns", "3 weeks", "1 day", "5 minutes",
			"10 seconds", "2hours", "1 hr", "5 millis", "5 milliseconds",
		},
		[]string{"", "5", "5 foo", "h", "-", "99999999999999999999 s"},
	},
	"email": {
		[]string{"a@b.c", "jane.doe+tag@mail.example.com", "o'brien_1@example.com", "a@localhost"},
		[]string{"", "a", "@b", "a@", ".a@b", "a.@b", "a..b@c", "a@b..c", "a@b.", "a b@c"},
	},
	"hexcolor": {[]string{"#FFFFFF", "fff", "#0aF"}, []string{"", "#ff", "#ffff", "#ggg"}},
	"hostname": {
		[]string{"localhost", "example.com", "a-b.example.com", "1a.example.com", strings.Repeat(strings.Repeat("a", 63)+".", 3) + strings.Repeat("a", 63)},
		[]string{
			"", "-a.com", "a..b", "a.b-c.d.", "a.b.c1", "a_b.com", strings.Repeat("a", 64), strings.Repeat("a", 64) + ".com",
			"a." + strings.Repeat("b", 64), strings.Repeat("aaaa.", 50) + "aaaaaa",
		},
	},
	"ipv4": {
		[]string{"1.2.3.4", "0.0.0.0", "255.255.255.255", "10.0.100.20"},
		[]string{"", "1.2.3", "1.2.3.", "1.2.3.4.5", "1.2.3.256", "1.2..4", ".1.2.3", "1.2.3.a", "::1"},
	},
	"ipv6": {
		[]string{"::", "::1", "1::", "fe80::1", "2001:DB8:0:0:8:800:200C:417A", "1:2:3:4:5:6:7::", "::2:3:4:5:6:7:8", "1:2:3:4:5:6::8"},
		[]string{
			"", ":", ":::", ":1", "1:", "1::2::3", "::1::2", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "1:2:3:4:5:6:7:8::", "::12345",
			"::g", "1.2.3.4", "fe80::1%eth0", "1:::2", "::1:", "1::2:",
		},
	},
	"isbn":           {[]string{"0321751043", "978-0321751041", "3 401 01319 X"}, []string{"", "0321751044", "978-0321751042", "X321751043"}},
	"isbn10":         {[]string{"0321751043", "340101319X"}, []string{"978-0321751041", "X321751043", "032175104"}},
	"isbn13":         {[]string{"9780321751041"}, []string{"0321751043", "978032175104X", "97803217510411", "978032175104a"}},
	"k8s-long-name":  {[]string{"a", "a.b-c.0", strings.Repeat("a", 253)}, []string{"", "A", "a..b", "-a", strings.Repeat("a", 254)}},
	"k8s-short-name": {[]string{"a", "a-0", strings.Repeat("a", 63)}, []string{"", "a.b", "a-", strings.Repeat("a", 64)}},
	"mac": {
		[]string{"01:23:45:67:89:ab", "01-23-45-67-89-AB", "01:23:45:67:89:ab:cd:ef", "01-23-45-67-89-ab-cd-ef", "0123.4567.89ab", "0123.4567.89ab.cdef"},
		[]string{"", "01:23", "g1:23:45:67:89:ab", "01:23-45:67:89:ab", "01:23:45:67:89:ab:cd"},
	},
	"password": {[]string{"", "anything", "é", "\xff"}, nil},
	"rgbcolor": {[]string{"rgb(0,31,255)", "rgb( 1 , 2, 3 )", "rgb(10, 100, 200)"}, []string{"", "rgb(0,31,256)", "rgb(01,2,3)", "rgba(1,2,3)"}},
	"ssn":      {[]string{"123-45-6789", "123 45 6789"}, []string{"", "123456789", "123-45-678a"}},
	"uri": {
		[]string{
			"http://a.b/c?d#e", "https://example.com", "https://example.com:8443/a/b%20c/?q=1&r=%2F#top", "https://10.0.0.1:6443",
			"postgres://user:secret@db.example.com:5432/app?sslmode=disable", "oci://ghcr.io/org/chart", "s3://bucket/key",
			"file:///etc/passwd", "mailto:a@b.c", "urn:example:a:b", "/a/b", "/", "/a?b",
		},
		[]string{"", "a.b", "./a", "http://a b/", "http://a/%zz", "http://a:b/", "http://a:1:2/", "http://a/\x7f", "1http://a", "://a", "http://[::1/"},
	},
	"uuid":  {[]string{"550e8400-e29b-41d4-a716-446655440000", "550E8400E29B41D4A716446655440000"}, []string{"", "550e8400"}},
	"uuid3": {[]string{"550e8400-e29b-31d4-0716-446655440000"}, []string{"550e8400-e29b-41d4-a716-446655440000"}},
	"uuid4": {[]string{"550e8400-e29b-41d4-a716-446655440000"}, []string{"550e8400-e29b-41d4-0716-446655440000"}},
	"uuid5": {[]string{"550e8400-e29b-51d4-B716-446655440000"}, []string{"550e8400-e29b-41d4-a716-446655440000"}},
}

// TestFormats holds that usual text is recognized, and that of other text only what is valid: each
// table entry, with every byte changed, left out or doubled, and with several changes.
func TestFormats(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for name, texts := range usual {
		sure, valid := Format(name), validate.KnownFormat(name)
		for _, text := range texts.ok {
			assert.True(t, valid(text), "%s %q", name, text)
			assert.True(t, sure([]byte(text)), "%s %q", name, text)
		}
		for _, text := range texts.bad {
			assert.False(t, valid(text), "%s %q", name, text)
			assert.False(t, sure([]byte(text)), "%s %q", name, text)
		}
		check := func(text string) {
			if sure([]byte(text)) && !valid(text) {
				t.Fatalf("%s recognizes %q", name, text)
			}
		}
		for _, text := range slices.Concat(texts.ok, texts.bad) {
			for i := range text {
				check(text[:i] + text[i+1:])
				check(text[:i+1] + text[i:])
				for c := range 256 {
					check(text[:i] + string([]byte{byte(c)}) + text[i+1:])
				}
			}
			for range 200 {
				check(text)
				text = mutated(random, text)
			}
		}
	}
}

// TestDates goes through the days of centuries, and a few more of each month.
func TestDates(t *testing.T) {
	valid := validate.KnownFormat("date")
	for _, year := range []string{"1900", "1999", "2000", "2023", "2024", "0000", "9999"} {
		for at := range 14 * 40 {
			text := []byte(year + "-00-00")
			text[5], text[6] = byte('0'+at/40/10), byte('0'+at/40%10)
			text[8], text[9] = byte('0'+at%40/10), byte('0'+at%40%10)
			require.Equal(t, valid(string(text)), isDate(text), "%s", text)
		}
	}
	require.True(t, isDateTime([]byte(time.Now().Format(time.RFC3339Nano))))
}

// TestFormatNames holds that the exact check knows the formats. Package validate tests that it knows
// no others.
func TestFormatNames(t *testing.T) {
	for name := range formats {
		assert.NotNil(t, validate.KnownFormat(name), name)
	}
	var tested []string
	for name := range usual {
		tested = append(tested, strings.ReplaceAll(name, "-", ""))
	}
	assert.ElementsMatch(t, slices.Collect(maps.Keys(formats)), tested)
	for _, name := range []string{"", "int32", "int64", "float", "double", "Date", "unknown"} {
		assert.Nil(t, Format(name), name)
		assert.Nil(t, validate.KnownFormat(name), name)
	}
}

// FuzzFormats holds that what is recognized is valid.
func FuzzFormats(f *testing.F) {
	corpus.AddSeeds(f)
	for _, name := range slices.Sorted(maps.Keys(usual)) {
		f.Add(usual[name].ok[0])
	}
	checks := map[string]func(string) bool{}
	for name := range formats {
		checks[name] = validate.KnownFormat(name)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for name, valid := range checks {
			if Format(name)([]byte(text)) && !valid(text) {
				t.Errorf("%s recognizes %q", name, text)
			}
		}
	})
}

func TestFormatsAllocate(t *testing.T) {
	for name, texts := range usual {
		sure := Format(name)
		for _, s := range slices.Concat(texts.ok, texts.bad) {
			text := []byte(s)
			assert.Zero(t, testing.AllocsPerRun(5, func() { sure(text) }), "%s %q", name, text)
		}
	}
}

func BenchmarkFormat(b *testing.B) {
	for _, name := range []string{"date-time", "byte", "cidr", "hostname", "uri", "uuid", "email", "duration"} {
		s := usual[name].ok[0]
		if name == "byte" {
			s = strings.Repeat("YWJj", 256)
		}
		sure, valid, text := Format(name), validate.KnownFormat(name), []byte(s)
		b.Run(name+"/sure", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				sure(text)
			}
		})
		b.Run(name+"/exact", func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for range b.N {
				valid(s)
			}
		})
	}
}
