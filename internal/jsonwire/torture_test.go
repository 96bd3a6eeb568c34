package jsonwire

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/torture"
)

// TestTortureStrings compares scans of strings with jsontext, which is as strict, and with
// encoding/json, which is not, scans with each kernel with scans without kernels, and scans in two
// parts with scans in one.
func TestTortureStrings(t *testing.T) {
	make := func(r *rand.Rand, b []byte) []byte { return append(torture.String(r, b), `","next":"`...) }
	var quoted, want, got []byte
	torture.Run(t, make, func(t *testing.T, r *rand.Rand, text []byte) bool {
		quoted = append(append(quoted[:0], '"'), text...)
		end, escaped, s := ScanString(quoted, 1)
		for _, on := range []func(func()){kernel.Without, kernel.OnAVX2} {
			on(func() {
				if e, esc, st := ScanString(quoted, 1); st != s || s != Bad && (e != end || esc != escaped) {
					t.Fatalf("%q: %d %v %v, and %d %v %v with less kernels", quoted, end, escaped, s, e, esc, st)
				}
			})
		}
		if stop := stringEnd(quoted); stop > 0 {
			quoted = quoted[:stop]
		}
		var err error
		want, err = jsontext.AppendUnquote(want[:0], quoted)
		if (err == nil) != (s == OK) {
			t.Fatalf("%q: jsontext says %v, and we %v at %d", quoted, err, s, end)
		}
		if s != OK {
			if json.Valid(quoted) && utf8.Valid(quoted) && !bytes.Contains(bytes.ToLower(quoted), []byte(`\ud`)) {
				t.Fatalf("%q: encoding/json takes it, and we do not", quoted)
			}
			return false
		}
		if got = AppendUnescaped(got[:0], quoted[1:end]); !bytes.Equal(got, want) || end != len(quoted)-1 {
			t.Fatalf("%q: %q up to %d, and not %q", quoted, got, end, want)
		}
		if escaped != bytes.Contains(quoted, []byte(`\`)) {
			t.Fatalf("%q: escaped is %v", quoted, escaped)
		}
		first, _, s := ScanString(quoted[:1+r.IntN(end)], 1)
		if second, _, again := ScanString(quoted, first); s != Cut || again != OK || second != end {
			t.Fatalf("%q: cut before %d, it is %v, and then %v up to %d", quoted, first, s, again, second)
		}
		return true
	})
}

// stringEnd returns the length of a string with its quotes, or 0 if it does not end.
func stringEnd(quoted []byte) int {
	for i := 1; i < len(quoted); i++ {
		switch quoted[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return 0
}

// TestTortureNumbers compares scans of numbers with encoding/json and strconv.
func TestTortureNumbers(t *testing.T) {
	make := func(r *rand.Rand, b []byte) []byte { return torture.Number(r, b) }
	var text []byte
	torture.Run(t, make, func(t *testing.T, r *rand.Rand, number []byte) bool {
		if len(number) == 0 || number[0] != '-' && number[0]-'0' > 9 {
			return false // callers have checked the first byte
		}
		text = append(append(text[:0], number...), ',')
		end, kind, whole, s := ScanNumber(text, 0)
		valid := json.Valid(number) && len(bytes.TrimSpace(number)) == len(number)
		if valid != (s == OK && whole && end == len(number)) {
			t.Fatalf("%q: %v %v at %d", number, s, whole, end)
		}
		if !valid {
			return false
		}
		if isExponent, isFraction := bytes.ContainsAny(number, "eE"), bytes.IndexByte(number, '.') >= 0; (kind == Exponent) != isExponent ||
			(kind == Fraction) != (isFraction && !isExponent) {
			t.Fatalf("%q is of kind %v", number, kind)
		}
		if cutEnd, _, whole, s := ScanNumber(number, 0); s != Cut || !whole || cutEnd != end {
			t.Fatalf("%q may go on after its slice: %v at %d", number, s, cutEnd)
		}
		f, err := strconv.ParseFloat(string(number), 64)
		if FitsFloat64(number) != (err == nil) {
			t.Fatalf("%q: %v", number, err)
		}
		if err != nil {
			return true
		}
		n, err := strconv.ParseInt(string(number), 10, 64)
		isInt := err == nil || kind != Integer && f >= -1<<63 && f < 1<<63 && f == float64(int64(f))
		if IsInt64(number, kind) != isInt {
			t.Fatalf("%q: it is an int64: %v", number, isInt)
		}
		if err == nil && kind == Integer && !IsOddNumber(number, kind) && strconv.FormatInt(n, 10) != string(number) {
			t.Fatalf("%q is written otherwise", number)
		}
		return true
	})
}
