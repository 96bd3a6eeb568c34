package yamlbridge

import (
	"testing"
	"unicode/utf8"
)

// TestPlainRunes asserts that plainRunes, of all texts of three bytes and of four, accepts only
// UTF-8, and nothing that checkRune would refuse or change, and that it accepts a common script as
// a whole.
func TestPlainRunes(t *testing.T) {
	var readers []*Reader
	for _, d := range []Dialect{Kubernetes, Core} {
		readers = append(readers, &Reader{Dialect: d})
	}
	plain := func(b []byte) bool {
		if b[0] < utf8.RuneSelf {
			return b[0] >= ' ' && b[0] != 0x7f
		}
		for _, r := range readers {
			had := string(b)
			size, what := r.checkRune(b)
			if what != "" || string(b) != had || size != len(b) {
				return false
			}
		}
		return true
	}
	taken := 0
	check := func(b []byte) {
		for n := plainRunes(b); n > 0; taken++ {
			_, size := utf8.DecodeRune(b)
			if size > n || !plain(b[:size:size]) {
				t.Fatalf("%d bytes of %q are taken", n, b)
			}
			b, n = b[size:], n-size
		}
	}
	for c := range 1 << 24 {
		three := [...]byte{byte(c >> 16), byte(c >> 8), byte(c), 'x', 0x80}
		check(three[:])
		four := [...]byte{0xf0, byte(c >> 16), byte(c >> 8), byte(c), 'x'}
		check(four[:])
	}
	if taken == 0 {
		t.Error("nothing is taken")
	}
	for _, text := range []string{"größer", "Привет мир", "日本語、テキスト", "한국어", "😀😀"} {
		if n := plainRunes([]byte(text + "....")); n < len(text)-2 && text[0] >= utf8.RuneSelf {
			t.Errorf("%d bytes of %q are taken", n, text)
		}
	}
}
