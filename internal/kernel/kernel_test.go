package kernel

import (
	"bytes"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/stretchr/testify/require"
)

// slowString is ScanString byte by byte. At end the string is closed, goes on between characters,
// is wrong, or has a surrogate.
func slowString(b []byte) (end int, escaped, closed, wrong bool) {
	for i := 0; ; {
		switch {
		case i >= len(b):
			return i, escaped, false, false
		case b[i] == '"':
			return i, escaped, true, false
		case b[i] < ' ':
			return i, escaped, false, true
		case b[i] == '\\':
			escaped = true
			if i+1 >= len(b) {
				return i, escaped, false, false
			}
			if strings.IndexByte(`"\/bfnrt`, b[i+1]) >= 0 {
				i += 2
				continue
			}
			if b[i+1] != 'u' {
				return i, escaped, false, true
			}
			digits := b[i+2 : min(len(b), i+6)]
			if len(bytes.Trim(digits, "0123456789abcdefABCDEF")) == 0 {
				if len(digits) > 1 && digits[0]|0x20 == 'd' && digits[1] >= '8' {
					return i, escaped, false, true
				}
				if len(digits) < 4 {
					return i, escaped, false, false
				}
				i += 6
				continue
			}
			return i, escaped, false, true
		default:
			if !utf8.FullRune(b[i:]) {
				return i, escaped, false, false
			}
			r, n := utf8.DecodeRune(b[i:])
			if r == utf8.RuneError && n == 1 {
				return i, escaped, false, true
			}
			i += n
		}
	}
}

// checkString compares both kernels with slowString, or the only one that this machine has.
func checkString(t *testing.T, b []byte) {
	if Available {
		checkStringHere(t, b)
	}
	OnAVX2(func() { checkStringHere(t, b) })
}

func checkStringHere(t *testing.T, b []byte) {
	end, escaped, closed := ScanString(b)
	wantEnd, wantEscaped, wantClosed, wrong := slowString(b)
	blocks := len(b) &^ 63
	// It may end early where AVX2 takes an escape for a surrogate, and where blocks end within
	// characters.
	early := !Available && bytes.Contains(bytes.ToLower(b[:min(len(b), wantEnd+2)]), []byte(`\ud`))
	if wantClosed && wantEnd < blocks && wantEnd < end+inVain && !early {
		require.True(t, closed, "%q", b)
	}
	if closed {
		require.True(t, wantClosed, "%q", b)
		require.Equal(t, wantEnd, end, "%q", b)
		require.Equal(t, wantEscaped, escaped, "%q", b)
		return
	}
	// If it is not closed, it ends between characters before the fault.
	require.LessOrEqual(t, end, wantEnd, "%q", b)
	at, wasEscaped, _, _ := slowString(b[:end])
	require.Equal(t, end, at, "%q", b)
	if wasEscaped {
		require.True(t, escaped, "%q", b)
	}
	if escaped {
		require.True(t, wantEscaped, "%q", b)
	}
	if !wrong && !wantClosed && !early {
		// It goes on to the last end of a block that is between characters.
		for blocks = min(blocks, end+inVain); blocks > end; blocks -= 64 {
			at, _, _, _ := slowString(b[:blocks])
			require.NotEqual(t, blocks, at, "%q", b)
		}
	}
}

// checkPrintable compares the kernel with the bytes themselves.
func checkPrintable(t *testing.T, b []byte) {
	want := len(b) &^ 63
	for i, c := range b[:want] {
		if (c < ' ' || c > '~') && c != '\n' {
			want = i &^ 63
			break
		}
	}
	require.Equal(t, want, Printable(b), "%q", b)
}

// TestPrintable has each byte at each place of up to four blocks.
func TestPrintable(t *testing.T) {
	needStrings(t)
	for _, n := range []int{0, 63, 64, 65, 128, 200, 256} {
		b := bytes.Repeat([]byte("key: 'v'\n"), n/9+1)[:n]
		checkPrintable(t, b)
		for i := range b {
			was := b[i]
			for c := range 256 {
				b[i] = byte(c)
				if want := i &^ 63; (c < ' ' || c > '~') && c != '\n' && i < n&^63 {
					require.Equal(t, want, Printable(b), "%q at %d of %d", b[i], i, n)
				} else {
					require.Equal(t, n&^63, Printable(b), "%q at %d of %d", b[i], i, n)
				}
			}
			b[i] = was
		}
	}
}

// checkLines compares the kernel with the bytes themselves.
func checkLines(t *testing.T, b []byte) {
	want := len(b) &^ 63
	if i := bytes.IndexByte(b[:want], '\r'); i >= 0 {
		want = i &^ 63
	}
	size, lines, start, chars := Lines(b)
	require.Equal(t, want, size, "%q", b)
	require.Equal(t, bytes.Count(b[:want], []byte{'\n'}), lines, "%q", b)
	require.Equal(t, bytes.LastIndexByte(b[:want], '\n')+1, start, "%q", b)
	wantChars := 0
	for _, c := range b[start:want] {
		if c&0xc0 != 0x80 {
			wantChars++
		}
	}
	require.Equal(t, wantChars, chars, "%q", b)
}

// TestLines has each byte at each place of up to four blocks, and texts of many lines.
func TestLines(t *testing.T) {
	needStrings(t)
	for _, n := range []int{0, 63, 64, 65, 128, 200, 256} {
		for _, fill := range []string{"a", "é", "key: 'v'\n"} {
			b := bytes.Repeat([]byte(fill), n/len(fill)+1)[:n]
			checkLines(t, b)
			for i := range b {
				was := b[i]
				for c := range 256 {
					b[i] = byte(c)
					checkLines(t, b)
				}
				b[i] = was
			}
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 20_000 {
		b := make([]byte, r.IntN(400))
		for i := range b {
			b[i] = "ab\n\xc3\xa9\t\n\x00"[r.IntN(8)]
		}
		if r.IntN(4) == 0 && len(b) > 0 {
			b[r.IntN(len(b))] = '\r'
		}
		checkLines(t, b)
	}
}

// TestScanStringInVain asserts that at most inVain bytes are scanned while no block ends between
// characters.
func TestScanStringInVain(t *testing.T) {
	needStrings(t)
	check := func() {
		for _, over := range []string{"é", "日", "😀", `\n`, `\u00e9`} {
			text := func(blocks int) []byte {
				fill := strings.Repeat("a", 64-len(over))
				return []byte(strings.Repeat("a", len(over)-1) + strings.Repeat(fill+over, blocks) + "\"" + strings.Repeat(" ", 64))
			}
			end, _, closed := ScanString(text(inVain/64 - 1))
			require.Equal(t, inVain-64+len(over)-1, end, over)
			require.True(t, closed, over)
			end, _, closed = ScanString(text(inVain / 64))
			require.Zero(t, end, over)
			require.False(t, closed, over)
		}
	}
	check()
	OnAVX2(check)
}

// pieces are pieces of texts: most of JSON, and bytes that break it.
var pieces = []string{
	"a", "plain text ", "\"", "\"", `\"`, `\\`, `\n`, `\/`, `\u00fc`, `\uD83d\ude00`, `\ud7ff`, `\udc00`, `\u12`, `\u`, `\x`, `\`, `\\\`,
	"ü", "€", "😀", "\xc3", "\xe2\x82", "\xf0\x9f\x98", "\x80", "\xbf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe0\x80\x80", "\xc0\x80", "\xff", "\xf8",
	`"name":`, "false", "0.5", "-0",
	"\x1f", "\n", "\x00", "\x7f", " ", "\t", "{", "}", "[", "]", ":", ",", "12", "-1.5e3", "true", "null", "\x1a", "\x0c", "{\"name\":\"value\"},",
}

// text returns about n bytes of pieces, of fewer kinds the simpler it is to be.
func text(r *rand.Rand, n int) []byte {
	var b []byte
	some := make([]string, 1+r.IntN(6))
	for i := range some {
		some[i] = pieces[r.IntN(len(pieces))]
	}
	plain := r.IntN(4) > 0
	for len(b) < n {
		if plain && r.IntN(3) > 0 {
			b = append(b, pieces[r.IntN(2)]...)
			continue
		}
		b = append(b, some[r.IntN(len(some))]...)
	}
	return b
}

func needKernels(t testing.TB) {
	if !Available {
		t.Skip("no kernels for this machine or build")
	}
}

// needStrings is needKernels for tests to which ScanString is enough.
func needStrings(t testing.TB) {
	if !Strings {
		t.Skip("no kernels for this machine or build")
	}
}

func rounds() int {
	if testing.Short() {
		return 20_000
	}
	return 300_000
}

func TestScanStringRandom(t *testing.T) {
	needStrings(t)
	r := rand.New(rand.NewPCG(1, 1))
	for range rounds() {
		b := text(r, r.IntN(4*64+2))
		checkString(t, b)
	}
}

// TestScanStringPlaces has each piece at each place of up to four blocks, alone and twice.
func TestScanStringPlaces(t *testing.T) {
	needStrings(t)
	for _, p := range pieces {
		for _, n := range []int{0, 63, 64, 65, 128, 200, 256} {
			b := []byte(strings.Repeat("x", n) + p + p + strings.Repeat("y", 70) + "\"" + strings.Repeat("z", 64))
			checkString(t, b)
			for cut := n; cut < min(n+8, len(b)); cut++ {
				checkString(t, b[:cut])
			}
		}
	}
}

// slowTokens is Find byte by byte, without the depth.
func slowTokens(b []byte) (pos []int, size int) {
	at := func(i int) byte {
		if i < 0 {
			return ' '
		}
		if i >= len(b) {
			return ' ' // as if blanks followed
		}
		return b[i]
	}
	isCont := func(c byte) bool { return c&0xc0 == 0x80 }
	inString, active, scalar := false, false, false
	digits, surrogate := 0, false
	for i := 0; i < (len(b)+63)&^63; i++ {
		if i&63 == 0 {
			size = i // the block before was valid
		}
		c := at(i)
		escaped := active
		active = false
		switch {
		case digits > 0:
			if strings.IndexByte("0123456789abcdefABCDEF", c) < 0 || digits == 3 && surrogate && c >= '8' {
				return before(pos, size), size
			}
			surrogate = digits == 4 && c|0x20 == 'd'
			digits--
		case escaped && c == 'u':
			digits = 4
		case escaped && strings.IndexByte(`"\/bfnrt`, c) < 0:
			return before(pos, size), size
		}
		if c == '\\' && !escaped {
			active = true
		}
		p1, p2, p3 := at(i-1), at(i-2), at(i-3)
		twice := isCont(p1) && isCont(c)
		switch {
		case p1 >= 0xc0 && !isCont(c), p1 < 0x80 && isCont(c), twice != (p2 >= 0xe0 || p3 >= 0xf0),
			isCont(c) && (p1 == 0xc0 || p1 == 0xc1 || p1 == 0xe0 && c < 0xa0 || p1 == 0xed && c > 0x9f || p1 == 0xf0 && c < 0x90 || p1 == 0xf4 && c > 0x8f || p1 > 0xf4):
			return before(pos, size), size
		}
		wasScalar := scalar
		scalar = false
		switch {
		case c == '"' && !escaped:
			if inString = !inString; inString {
				pos = append(pos, i)
			}
		case inString:
			if c < ' ' {
				return before(pos, size), size
			}
		case strings.IndexByte("{}[]:,\x1a\x0c", c) >= 0:
			// After the last two, a number need not go on.
			pos = append(pos, i)
		case strings.IndexByte(" \t\r\n", c) >= 0:
		default:
			if scalar = true; !wasScalar {
				pos = append(pos, i)
			}
		}
	}
	return pos, len(b)
}

func before(pos []int, size int) []int {
	for len(pos) > 0 && pos[len(pos)-1] >= size {
		pos = pos[:len(pos)-1]
	}
	return pos
}

// used has arbitrary content from an earlier use.
var used = func() (t Tokens) {
	for i := range t.first {
		t.first[i] = '{'
	}
	for i := range t.pos {
		t.pos[i] = 0xffff
	}
	for i := range t.words {
		t.words[i].String, t.words[i].Colon = 1<<64-1, 1<<64-1
	}
	for i := range t.scalars {
		t.scalars[i] = 'x'
	}
	for i := range t.from {
		t.from[i], t.colons[i] = 0xfff0, 0xffff
	}
	return t
}()

func checkTokens(t *testing.T, b []byte) {
	tokens := used
	count, size, slashes := tokens.Find(b, len(b)+1)
	want, wantSize := slowTokens(b)
	require.Equal(t, wantSize, size, "%q", b)
	require.Equal(t, len(want), count, "%q", b)
	if bytes.IndexByte(b[:wantSize], '\\') >= 0 {
		require.True(t, slashes, "%q", b)
	}
	for i, at := range want {
		w := tokens.Word(i / 64)
		got := ""
		for k, m := range []uint64{w.OpenObject, w.CloseObject, w.OpenArray, w.CloseArray, w.Colon, w.Comma, w.String} {
			if m>>(i%64)&1 != 0 {
				got += `{}[]:,"`[k : k+1]
			}
		}
		kind := ""
		if strings.IndexByte(`{}[]:,"`, b[at]) >= 0 {
			kind = string(b[at : at+1])
		}
		if tokens.Pos(i) != at || got != kind {
			t.Fatalf("token %d of %q is %q at %d, not %q at %d", i, b, got, tokens.Pos(i), kind, at)
		}
	}
	checkTokensScalars(t, &tokens, b, count, size)
	for _, first := range []int{count, count / 2} {
		checkTokensNames(t, &tokens, b, first, count, slashes)
		checkTokensNames(t, &tokens, b, first, count, true)
	}
}

var (
	plainScalar  = regexp.MustCompile(`^(true|false|null|-?(0|[1-9][0-9]*)(\.[0-9]+)?)$`)
	startOfPlain = regexp.MustCompile(`^(t(ru?)?|f(a(ls?)?)?|n(ul?)?|-?((0|[1-9][0-9]*)\.?)?)$`)
)

// checkTokensScalars compares Scalars with a regular expression.
func checkTokensScalars(t *testing.T, tokens *Tokens, b []byte, count, size int) {
	wantPlain, wantOdd, either := true, false, false
	for i := range count {
		at := tokens.Pos(i)
		if strings.IndexByte(`{}[]:,"`, b[at]) >= 0 {
			continue
		}
		text := b[at:size]
		if n := bytes.IndexAny(text[1:], " \t\r\n{}[]:,\"\x1a\x0c"); n >= 0 {
			text = text[:n+1]
		}
		if at+len(text) == size && size%64 == 0 && !plainScalar.Match(text) && !startOfPlain.Match(text) {
			either = true // it goes on and will be wrong
			continue
		}
		whole := at+len(text) < size || size%64 != 0
		wantPlain = wantPlain && len(text) < 19 && (plainScalar.Match(text) || !whole && startOfPlain.Match(text))
		wantOdd = wantOdd || bytes.IndexByte(text, '.') > 0 || bytes.HasPrefix(text, []byte("-0"))
	}
	plain, odd := tokens.Scalars()
	if plain || !either {
		require.Equal(t, wantPlain, plain, "%q", b[:size])
	}
	if plain && !either {
		require.Equal(t, wantOdd, odd, "%q", b[:size])
	}
}

// checkTokensNames compares Names with the tokens.
func checkTokensNames(t *testing.T, tokens *Tokens, b []byte, first, count int, slashes bool) {
	names := tokens.Names(b, first, slashes)
	for i := range first {
		at := tokens.Pos(i)
		if b[at] != '"' || i+1 == count || b[tokens.Pos(i+1)] != ':' {
			continue
		}
		if len(names) == 0 {
			t.Fatalf("too few names of %q", b)
		}
		end := tokens.Pos(i+1) - 1
		text := b[at+1 : max(end, at+1)]
		known := len(text) > 0 && b[end] == '"' && end+8 <= len(b) && (!slashes || len(text) <= 16 && bytes.IndexByte(text, '\\') < 0)
		from, size, tag := names[0].Split()
		if known != (names[0] != 0) || known && (from != at+1 || size != len(text) || tag != slowTag(text)) {
			t.Fatalf("%q at %d in %q is known: %t, %d bytes from %d on, hash %#x", text, at, b, names[0] != 0, size, from, tag)
		}
		names = names[1:]
	}
	if first == count {
		require.Empty(t, names, "%q", b)
	}
}

// slowTag is the hash of names.
func slowTag(text []byte) uint32 {
	var first, last uint64
	for i, c := range text[:min(8, len(text))] {
		first |= uint64(c) << (8 * i)
	}
	if len(text) >= 8 {
		for i, c := range text[len(text)-8:] {
			last |= uint64(c) << (8 * i)
		}
	}
	return uint32((first ^ bits.RotateLeft64(last, 29) ^ uint64(len(text))<<57) * 0x9fb21c651e98df25 >> 32)
}

// TestScalars has scalars of all kinds, valid and invalid, at all places of the words of masks, and
// up to the largest number of them.
func TestScalars(t *testing.T) {
	needKernels(t)
	r := rand.New(rand.NewPCG(5, 5))
	const some = "0123456789012-.eE+truefalsn\x00\x80\xb1\xf2!"
	right := []string{"true", "false", "null", "0", "-0", "7", "-1.5", "0.25", "120", "-123456789012345678", "123456789012345678", "0.0123456789012345"}
	scalar := func() string {
		text := []byte(right[r.IntN(len(right))])
		switch r.IntN(40) {
		case 0:
			text[r.IntN(len(text))] = some[r.IntN(len(some))]
		case 1:
			text = append(text, some[r.IntN(len(some))])
		case 2:
			text = text[:1+r.IntN(len(text))]
		}
		return string(text)
	}
	for range rounds() / 100 {
		var b []byte
		for n := r.IntN(MaxBytes); len(b) < n; {
			b = append(b, scalar()...)
			b = append(b, ", ]\n\":{\""[r.IntN(5)])
		}
		checkTokens(t, b[:min(len(b), MaxBytes)])
	}
	for range rounds() {
		checkTokens(t, []byte(scalar()+","+scalar()+"]"))
	}
	// Each scalar ends at each place, as the only one that is wrong.
	for _, wrong := range []string{"1.2.3", "01", "-", "1.", ".5", "tru", "truee", "nulse", "true1", "1true", "-01", "1-", "falsetrue", "1234567890123456789", "--1"} {
		for n := range 9 * 64 {
			checkTokens(t, []byte(strings.Repeat("1", n%17+1)+","+strings.Repeat("2,", n/2)+wrong+","+strings.Repeat("3,", 70)))
		}
	}
}

// TestNames has names of all lengths at all distances from the end.
func TestNames(t *testing.T) {
	needKernels(t)
	for n := range 100 {
		for _, name := range []string{strings.Repeat("n", n), strings.Repeat("é", n), strings.Repeat("n", n) + `\n`, `\"` + strings.Repeat("n", n)} {
			for _, colon := range []string{":", " :", "\n\t: "} {
				for end := range 20 {
					checkTokens(t, []byte(`{"`+name+`"`+colon+strings.Repeat("1", end)))
				}
			}
		}
	}
	checkTokens(t, bytes.Repeat([]byte(`"":`), MaxBytes/3))
	checkTokens(t, bytes.Repeat([]byte(`"a":`), MaxBytes/4))
}

func TestTokensRandom(t *testing.T) {
	needKernels(t)
	r := rand.New(rand.NewPCG(2, 2))
	for range rounds() {
		checkTokens(t, text(r, r.IntN(4*64+2)))
	}
}

// TestTokensPlaces has each piece at each place of up to four blocks, outside of strings and in
// one.
func TestTokensPlaces(t *testing.T) {
	needKernels(t)
	for _, p := range pieces {
		for _, n := range []int{0, 63, 64, 65, 128, 200, 256} {
			for _, fill := range []string{" ", ",", "1", "\"" + strings.Repeat("s", 64)} {
				checkTokens(t, []byte(strings.Repeat(fill, n/len(fill))+p+p+`":[1,"`))
			}
		}
	}
}

func TestTokensMany(t *testing.T) {
	needKernels(t)
	for _, n := range []int{63, 64, 65, 127, 128, 129, MaxBytes - 1, MaxBytes} {
		checkTokens(t, bytes.Repeat([]byte("["), n))
	}
	var tokens Tokens
	count, size, _ := tokens.Find(bytes.Repeat([]byte("["), MaxBytes+1), 1)
	require.Equal(t, MaxBytes, count)
	require.Equal(t, MaxBytes, size)
}

// TestTokensDepth asserts that Find stops after the block in which the last container closes.
func TestTokensDepth(t *testing.T) {
	needKernels(t)
	var tokens Tokens
	for n := range 300 {
		count, size, _ := tokens.Find([]byte(strings.Repeat(" ", n)+"]}"+strings.Repeat(" ", 300)), 2)
		require.Equal(t, []int{2, (n+1)&^63 + 64}, []int{count, size})
	}
	count, size, _ := tokens.Find([]byte(`{"a":1}`+strings.Repeat(" ", 600)), 0)
	require.Equal(t, []int{5, 64}, []int{count, size})
}

func FuzzScanString(f *testing.F) {
	needStrings(f)
	corpus.AddSeeds(f)
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) { checkString(t, b) })
}

func FuzzTokens(f *testing.F) {
	needKernels(f)
	corpus.AddSeeds(f)
	seed(f)
	f.Fuzz(func(t *testing.T, b []byte) { checkTokens(t, b[:min(len(b), MaxBytes)]) })
}

func seed(f *testing.F) {
	r := rand.New(rand.NewPCG(3, 3))
	for range 200 {
		f.Add(text(r, r.IntN(300)))
	}
}

func BenchmarkScanString(b *testing.B) {
	needStrings(b)
	for _, s := range []string{"plain text of the sort that is common ", `a line with a line break\nand \"quotes\" `, "größer als erwartet, und überall ", `\u00fcberall, `} {
		text := []byte(strings.Repeat(s, 2000/len(s)) + "\"" + strings.Repeat(" ", 64))
		b.Run(fmt.Sprintf("%.12s", s), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				ScanString(text)
			}
		})
		b.Run(fmt.Sprintf("AVX2/%.12s", s), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			OnAVX2(func() {
				for b.Loop() {
					ScanString(text)
				}
			})
		})
	}
}

func BenchmarkTokens(b *testing.B) {
	needKernels(b)
	var tokens Tokens
	for _, s := range []string{`{"name":"container-17","ports":[{"containerPort":8080},{"containerPort":9090}]},`, `{"text":"some \"escaped\" text of a length that is common","n":[1,2,3,4.5e1]},`, `{"text":"größer als erwartet, und überall"},`} {
		text := []byte(strings.Repeat(s, MaxBytes/len(s)))
		b.Run(fmt.Sprintf("%.12s", s), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				tokens.Find(text, 100)
			}
		})
	}
}

func BenchmarkScalars(b *testing.B) {
	needKernels(b)
	var tokens Tokens
	text := bytes.Repeat([]byte(`{"run":"sleep 4","after":[8,270.5,null]},`), MaxBytes/41)
	tokens.Find(text, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.Scalars()
	}
}

func BenchmarkNames(b *testing.B) {
	needKernels(b)
	var tokens Tokens
	text := bytes.Repeat([]byte(`{"name":"container-17","ports":[{"containerPort":8080}]},`), MaxBytes/57)
	count, _, _ := tokens.Find(text, 100)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		tokens.Names(text, count, false)
	}
}
