package jsonwire

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/kernel"
)

func TestBlanks(t *testing.T) {
	for n := range 40 {
		for _, blank := range []string{" ", "\n", "\t", "\r", " \n", "\n        \t"} {
			text := strings.Repeat(blank, n)
			assert.Equal(t, len(text), Blanks([]byte(text), 0))
			assert.Equal(t, len(text), Blanks([]byte(text+"x "), 0))
			assert.Equal(t, len(text), Blanks([]byte(text+"\u00a0"), 0), "only four bytes are white space")
			assert.Equal(t, len(text), Blanks([]byte(text+"\f"), 0))
		}
	}
}

// TestPastBlank has runs of spaces of every length before texts of every length.
func TestPastBlank(t *testing.T) {
	for run := range 25 {
		for rest := range 12 {
			b := []byte("\n" + strings.Repeat(" ", run) + "x23456789012"[:rest])
			want := 1 + run
			if word := 1 + run/8*8; word+8 > len(b) {
				want = word // less than a word is left there, which is not read
			}
			assert.Equal(t, want, PastBlank(b, 0), "%q", b)
		}
	}
}

func TestIsBlank(t *testing.T) {
	for c := range byte(' ' + 1) {
		assert.Equal(t, strings.IndexByte(" \t\n\r", c) >= 0, IsBlank(c), "%q", c)
	}
}

// TestDigits has each byte at each place of a word of digits, below each kind of byte.
func TestDigits(t *testing.T) {
	for at := range 9 {
		for c := range 256 {
			if c >= '0' && c <= '9' {
				continue
			}
			for _, above := range []byte{'0', '9', 0, 'a', 0xff} {
				b := []byte("0918273645"[:8])
				if at < 8 {
					b[at] = byte(c)
				}
				if at < 7 {
					b[at+1] = above
				}
				assert.Equal(t, at, Digits(binary.LittleEndian.Uint64(b)), "%q", b)
			}
		}
	}
}

// TestSpecial has each byte at each place of a word of simple bytes, and before each other byte.
func TestSpecial(t *testing.T) {
	special := func(c byte) bool { return c == '"' || c == '\\' || c < ' ' || c >= 0x80 }
	for c := range 256 {
		for at := range 8 {
			for _, above := range []byte{'a', '"', 0x00, 0x7f, 0x80, '!', '#', '[', ']'} {
				word := []byte("aaaaaaaa")
				word[at] = byte(c)
				if at < 7 {
					word[at+1] = above
				}
				want := 8
				for i, c := range word {
					if special(c) {
						want = i
						break
					}
				}
				m := Special(binary.LittleEndian.Uint64(word))
				got := 8
				if m != 0 {
					for got = 0; m&0x80 == 0; m >>= 8 {
						got++
					}
				}
				require.Equal(t, want, got, "%q", word)
			}
		}
	}
}

var stringTexts = []string{
	``, `a`, `abcdefgh`, `abcdefghi`, `日本語`, `🌳`, `a\"b`, `\\`, `\/\b\f\n\r\t`, `\u0041\u00e9`, `\ud83c\udf33`, "\x7f",
	"seven b\x80", "\xc3\xa9", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xf0\x9f\x8c", "\xff", "\x01", "\n", "\x00",
	`x y z`, `\uabcd\uABCD\u0fF9`, "\u007f\u0080", `\ud800\udc00`, `\udbff\udfff`, `\ud800\ue000`, `\ud800\udbff`, `\udc00\udc00`, `\udbff`, `\ue000`, `\u`, `\u00`,
	`\u00/0`, `\u00:0`, "\\u00`0", `\u00g0`, `\u00@0`, `\u00G0`, `\q`, `\u12`, `\u12g4`, `\ud800`, `\ud800x`, `\ud800\n`, `\ud800\u0041`, `\udc00`, `\uD83C\uDF33`, `\`, `\u`, `\ud83c\`, `\ud83c\u`, `\ud83c\udf3`,
}

func TestScanString(t *testing.T) {
	for _, text := range stringTexts {
		for pad := range 17 + 2*64 { // kernels take over after 32 bytes
			checkString(t, strings.Repeat("x", pad)+text)
		}
	}
}

// TestScanStringPairs has all strings of two bytes, at the end of the window and far from it. They
// are valid if encoding/json and unicode/utf8 say so.
func TestScanStringPairs(t *testing.T) {
	for pair := range 1 << 16 {
		text := []byte{byte(pair >> 8), byte(pair)}
		quoted := append(append([]byte{'"'}, text...), '"')
		valid := json.Valid(quoted) && utf8.Valid(text)
		for _, after := range []string{"", "                "} {
			end, escaped, s := ScanString(append(quoted[:4:4], after...), 1)
			if ok := s == OK && end == 3; ok != valid || ok && escaped != (text[0] == '\\') {
				t.Fatalf("%q: index %d, escaped %t, status %d, want valid %t", text, end, escaped, s, valid)
			}
		}
	}
}

// TestScanUTF8 compares scanUTF8 with unicode/utf8 for all texts of three bytes, and checks where
// it stops.
func TestScanUTF8(t *testing.T) {
	check := func(b []byte, stop int) {
		end, s := scanUTF8(b, 0, stop)
		want, wantStatus := 0, OK
		for want < stop && b[want] >= utf8.RuneSelf && wantStatus == OK {
			r, n := utf8.DecodeRune(b[want:])
			switch {
			case r != utf8.RuneError || n > 1:
				want += n
			case utf8.FullRune(b[want:]):
				wantStatus = Bad
			default:
				wantStatus = Cut
			}
		}
		if end != want || s != wantStatus {
			t.Fatalf("%q up to %d: index %d, status %d, want %d and %d", b, stop, end, s, want, wantStatus)
		}
	}
	for c := range 1 << 24 {
		b := [4]byte{byte(c >> 16), byte(c >> 8), byte(c), 'x'}
		check(b[:], 4)
	}
	for _, text := range []string{"日本語x", "é日😀é", "\xe3\x81\x82\xe3\x81", "日本\xed\xa0\x80日"} {
		for stop := range len(text) + 1 {
			check([]byte(text), stop)
		}
	}
}

func FuzzScanString(f *testing.F) {
	corpus.AddSeeds(f)
	for _, text := range stringTexts {
		f.Add(text)
	}
	f.Fuzz(checkString)
}

// checkString compares ScanString with jsontext, a scan in two parts with one in a single part, and
// with the scan of a slice that goes on after the string.
func checkString(t *testing.T, text string) {
	quoted := []byte(`"` + text + `"`)
	end, escaped, s := ScanString(quoted, 1)
	if s != Cut {
		n, esc, status := ScanString([]byte(string(quoted)+`, "next": [true, false, null]}`), 1)
		require.Equal(t, []any{end, escaped, s}, []any{n, esc, status}, "%q", quoted)
	}
	if i := indexQuote(text); i >= 0 {
		quoted = quoted[:i+2] // the string ends earlier
	}
	valid := jsontext.Value(quoted).IsValid()
	require.Equal(t, valid, s == OK && end == len(quoted)-1, "%q: %v at %d", quoted, s, end)
	if !valid {
		text, _, ok := Text(quoted, 0)
		require.Equal(t, s == OK, ok, "%q", quoted)
		require.Equal(t, ok, text != nil, "%q", quoted)
		return
	}
	require.Equal(t, strings.ContainsRune(string(quoted), '\\'), escaped)
	var want string
	require.NoError(t, json.Unmarshal(quoted, &want))
	require.Equal(t, want, string(AppendUnescaped(nil, quoted[1:end])))
	read, after, ok := Text([]byte("{"+string(quoted)+"}"), 1)
	require.Equal(t, []any{want, 1 + len(quoted), true}, []any{string(read), after, ok}, "%q", quoted)
	for at := 1; at <= end; at++ {
		first, _, s := ScanString(quoted[:at], 1)
		if s != Cut || first > at {
			t.Fatalf("%q cut at %d: %v at %d", quoted, at, s, first)
		}
		if second, _, s := ScanString(quoted, first); s != OK || second != end {
			t.Fatalf("%q cut at %d and read from %d on: %v at %d, not %d", quoted, at, first, s, second, end)
		}
	}
}

// indexQuote returns where an unescaped quote is in text.
func indexQuote(text string) int {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			return i
		}
	}
	return -1
}

func TestAppendQuoted(t *testing.T) {
	for _, text := range []string{"", "a", `"\`, "\x00\x1f\b\f\n\r\t", "é🌳\u2028", "<>&", `\`, "a b", "\x7f", "a\x1f "} {
		quoted := AppendQuoted(nil, text)
		var got string
		require.NoError(t, json.Unmarshal(quoted, &got))
		assert.Equal(t, text, got)
		assert.Equal(t, quoted, AppendQuoted(nil, []byte(text)))
	}
	assert.Equal(t, `"\u001f \n \" \\ é"`, string(AppendQuoted(nil, "\x1f \n \" \\ é")), "no more is escaped than must be")
	for _, invalid := range []string{"\xff", "\x80"} {
		assert.Equal(t, "\"\ufffd\"", string(AppendQuoted(nil, invalid)))
	}
}

var numberTexts = []string{
	"0", "-0", "7", "-1", "10", "123456789012345678901234567890", "0.5", "-0.0", "1e3", "1E+3", "1e-3", "0.1e1",
	"01", "-", "+1", ".5", "1.", "1.e3", "1e", "1e+", "0x10", "--1", "1_000", "1e309", "1e308", "17976931348623157e292",
	"17976931348623159e292", "0e999", "-0.0e99999999999", "1e-400", "1e99999999999999999999", "1e-99999999999999999999", "0.00001e310", "9223372036854775807", "9223372036854775808",
	"-9223372036854775808", "-9223372036854775809", "-9223372036854775808.0", "-9223372036854775808e0", "9223372036854775808.0", "9223372036854775807.0", "1.5", "-17976931348623159e292",
	"-1e308", "10e308", "999999999999999999", "9999999999999999999", "0.17976931348623157e309", "0.17976931348623159e309", "179769313486231579.9e291",
	"1e9223372036854775807", "-1e9223372036854775807", "1e-9223372036854775808", "1.0E0", "9.9e9", "1:", "1/", "-:", "-/", "0:", "1.:", "1./", "1e:", "1e/", "1ea",
}

func TestScanNumber(t *testing.T) {
	for _, text := range numberTexts {
		checkNumber(t, text)
	}
	long := strings.Repeat("9", 400)
	checkNumber(t, long)
	checkNumber(t, "0."+long)
	checkNumber(t, long+"e-300")
	checkNumber(t, long+"e-10")
}

func FuzzScanNumber(f *testing.F) {
	corpus.AddSeeds(f)
	for _, text := range numberTexts {
		f.Add(text)
	}
	f.Fuzz(checkNumber)
}

func checkNumber(t *testing.T, text string) {
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return
	}
	b := []byte(text + ",")
	end, kind, whole, s := ScanNumber(b, 0)
	isNumber := json.Valid([]byte(text)) && strings.TrimSpace(text) == text
	require.Equal(t, isNumber, s == OK && whole && end == len(text), "%q: %v at %d", text, s, end)
	if !isNumber {
		return
	}
	want := Integer
	switch {
	case strings.ContainsAny(text, "eE"):
		want = Exponent
	case strings.Contains(text, "."):
		want = Fraction
	}
	require.Equal(t, want, kind)
	end, _, whole, s = ScanNumber([]byte(text), 0)
	require.Equal(t, Cut, s, "a number may go on where the slice ends")
	require.True(t, whole)
	require.Equal(t, len(text), end)

	f, err := strconv.ParseFloat(text, 64)
	require.Equal(t, err == nil, FitsFloat64([]byte(text)), text)
	isInt := false
	if kind == Integer {
		_, err := strconv.ParseInt(text, 10, 64)
		isInt = err == nil
	} else if err == nil && f >= -1<<63 && f < 1<<63 {
		isInt = f == float64(int64(f))
	}
	require.Equal(t, isInt, IsInt64([]byte(text), kind), text)
}

// TestScanNumberStops has literals that are not numbers, or not yet, and says where the scan stops,
// and why.
func TestScanNumberStops(t *testing.T) {
	for _, c := range []struct {
		text  string
		end   int
		kind  Number
		whole bool
		s     Status
	}{
		{"-", 1, Integer, false, Cut}, {"-a", 1, Integer, false, Bad}, {"--", 1, Integer, false, Bad}, {"-.", 1, Integer, false, Bad},
		{"0", 1, Integer, true, Cut}, {"00", 1, Integer, true, OK}, {"12", 2, Integer, true, Cut}, {"12 ", 2, Integer, true, OK},
		{"1.", 2, Fraction, false, Cut}, {"1..", 2, Fraction, false, Bad}, {"1.e1", 2, Fraction, false, Bad}, {"1.5", 3, Fraction, true, Cut},
		{"1e", 2, Exponent, false, Cut}, {"1ee", 2, Exponent, false, Bad}, {"1.0E", 4, Exponent, false, Cut}, {"1E5}", 3, Exponent, true, OK},
		{"1e+", 3, Exponent, false, Cut}, {"1e-x", 3, Exponent, false, Bad}, {"1e+-", 3, Exponent, false, Bad}, {"1e-1", 4, Exponent, true, Cut},
	} {
		end, kind, whole, s := ScanNumber([]byte(c.text), 0)
		assert.Equal(t, []any{c.end, c.kind, c.whole, c.s}, []any{end, kind, whole, s}, c.text)
	}
}

// TestFitsFloat64Allocates has long literals whose digits and exponent decide. strconv would need
// them as strings.
func TestFitsFloat64Allocates(t *testing.T) {
	zeros := strings.Repeat("0", 40)
	for _, text := range []string{
		"1" + zeros, "-1." + zeros, strings.Repeat("9", 308), "-" + strings.Repeat("9", 308), "1." + zeros + "e307", "-1" + zeros + "e267",
		"1." + zeros + "e-307", "0." + zeros + "1e307", zeros[:1] + "." + zeros + "e-1000001",
	} {
		lit := []byte(text)
		assert.Zero(t, testing.AllocsPerRun(10, func() {
			if !FitsFloat64(lit) {
				t.Error("too large:", text)
			}
		}), text)
	}
}

// TestIsOddNumber has literals at the limits beyond which the server may rewrite a number.
func TestIsOddNumber(t *testing.T) {
	for lit, want := range map[string]bool{
		"0": false, "-0": true, "-1": false, "10": false, "-10": false, "999999999999999999": false, "9999999999999999999": true,
	} {
		assert.Equal(t, want, IsOddNumber([]byte(lit), Integer), lit)
	}
	assert.True(t, IsOddNumber([]byte("1.5"), Fraction))
	assert.True(t, IsOddNumber([]byte("1e3"), Exponent))
}

func TestScanLiteral(t *testing.T) {
	for _, c := range []struct {
		text string
		end  int
		s    Status
	}{
		{"null", 4, OK}, {"null,", 4, OK}, {"nullx", 4, OK}, {"nul", 3, Cut}, {"n", 1, Cut}, {"nulx", 3, Bad}, {"nx", 1, Bad}, {"nulx,", 3, Bad},
	} {
		for _, before := range []string{"", "[", "[null, "} {
			end, s := ScanLiteral([]byte(before+c.text), len(before), "null")
			assert.Equal(t, len(before)+c.end, end, before+c.text)
			assert.Equal(t, c.s, s, before+c.text)
		}
	}
}

func TestCountChars(t *testing.T) {
	for _, text := range []string{"", "a", "abcdefgh", "日本語日本語日本語", "aé🌳aé🌳aé🌳aé🌳", strings.Repeat("🌳x", 100)} {
		for i := range text {
			if utf8.RuneStart(text[i]) {
				assert.Equal(t, utf8.RuneCountInString(text[i:]), CountChars([]byte(text[i:])))
			}
		}
	}
}

// TestSimple has each byte at each place of two words.
func TestSimple(t *testing.T) {
	for at := range 16 {
		for c := range 256 {
			b := []byte("abcdefgh01234567")
			b[at] = byte(c)
			want := 16
			if c < ' ' || c == '"' || c == '\\' || c >= 0x80 {
				want = at
			}
			assert.Equal(t, want, Simple(binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[8:])), "%q", b)
		}
	}
}

// TestPlainRun has each byte at each place of texts around the step length of PlainRun.
func TestPlainRun(t *testing.T) {
	for size := range 80 {
		for _, fill := range []byte("aA") { // with and without the bit 0x20
			b := bytes.Repeat([]byte{fill}, size)
			assert.Equal(t, size&^7, PlainRun(b))
			for at := range b {
				for c := range 256 {
					b[at] = byte(c)
					want := size &^ 7
					if c < ' ' || c >= 0x80 {
						want = min(want, at&^7)
					}
					if got := PlainRun(b); got != want {
						assert.Equal(t, want, got, "%d bytes, %#x at %d", size, c, at)
					}
				}
				b[at] = fill
			}
		}
	}
}

// TestCharRun has each byte at each place of texts around the step length of CharRun, between
// characters of one byte and of two.
func TestCharRun(t *testing.T) {
	for size := range 80 {
		for _, fill := range []string{"a", "A", "\u00e9", "\u007f", "\U0001f333"} {
			b := []byte(strings.Repeat(fill, size))[:size]
			for at := range b {
				was := b[at]
				for c := range 256 {
					b[at] = byte(c)
					n, chars := CharRun(b)
					if chars != CountChars(b[:n]) || n > at && c < ' ' || n < size && c >= ' ' && size >= 8 || n < at-31 {
						t.Fatalf("%d bytes with %#x at %d: %d bytes, %d characters", size, c, at, n, chars)
					}
				}
				b[at] = was
			}
		}
	}
}

// BenchmarkScanString scans strings of each script, with each kernel and without kernels.
func BenchmarkScanString(b *testing.B) {
	for _, s := range []string{"plain text of the sort that is common ", `a few\n `, "größer als erwartet ", "Привет мир, ", "日本語テキスト", "😀 "} {
		for _, n := range []int{40, 300, 2000} {
			text := []byte(strings.Repeat(s, n/len(s)) + "\"" + strings.Repeat(" ", 64))
			for _, on := range []struct {
				kernels string
				do      func(func())
			}{{"portable", kernel.Without}, {"AVX2", kernel.OnAVX2}, {"all", func(f func()) { f() }}} {
				b.Run(fmt.Sprintf("%.6s/%d/%s", s, n, on.kernels), func(b *testing.B) {
					b.SetBytes(int64(len(text) - 64))
					on.do(func() {
						for b.Loop() {
							ScanString(text, 0)
						}
					})
				})
			}
		}
	}
}

func TestShortInteger(t *testing.T) {
	for text, end := range map[string]int{
		"1,": 1, "12]": 2, "123456789012345678}": 18, "1234567890123456789,": 0, "1": 0, "12": 0, "1.5,": 0, "1e5,": 0, "1E5,": 0, "12 ": 2, "1x": 1,
	} {
		for _, before := range []string{"", strings.Repeat("7", 30) + ","} {
			want := end
			if end > 0 {
				want += len(before)
			}
			assert.Equal(t, want, ShortInteger([]byte(before+text), len(before)), text)
		}
	}
}
