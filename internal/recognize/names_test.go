package recognize_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/corpus"
	"github.com/espalier-dev/espalier/internal/recognize"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// A rule is a recognizer with the field of metadata that the exact check judges by it.
type rule struct {
	name      string
	recognize func([]byte) bool
	field     func(text string) (name string, value any)
	max       int  // bytes
	empty     bool // an empty text is valid; where it is not, the field is absent
}

var rules = []rule{
	{"DNSLabel", recognize.DNSLabel, func(s string) (string, any) { return "namespace", s }, 63, false},
	{"DNSSubdomain", recognize.DNSSubdomain, func(s string) (string, any) { return "name", s }, 253, false},
	{"QualifiedName", recognize.QualifiedName, func(s string) (string, any) { return "labels", map[string]any{s: ""} }, 317, false},
	{"AnnotationKey", recognize.AnnotationKey, func(s string) (string, any) { return "annotations", map[string]any{s: ""} }, 317, false},
	{"LabelValue", recognize.LabelValue, func(s string) (string, any) { return "labels", map[string]any{"k": s} }, 63, true},
}

// isValid is the exact check.
func (r *rule) isValid(text string) bool {
	if text == "" {
		return r.empty
	}
	name, value := r.field(text)
	meta := map[string]any{"name": "n", name: value}
	steps := 1 << 20
	return len(new(validate.Validator).Object(new(schema.Structural), map[string]any{"metadata": meta}, &steps)) == 0
}

// TestNames holds that the recognizers decide as the exact checks do: for all short texts of
// letters, digits and signs, and for longer ones, among them those with the greatest lengths.
func TestNames(t *testing.T) {
	const signs = "a0Z-._/ "
	random := rand.New(rand.NewPCG(1, 2))
	for _, r := range rules {
		t.Run(r.name, func(t *testing.T) {
			valid, invalid := 0, 0
			check := func(text string) {
				want := r.isValid(text)
				require.Equal(t, want, r.recognize([]byte(text)), "%q", text)
				if want {
					valid++
				} else {
					invalid++
				}
			}
			texts := []string{""}
			for range 4 {
				var longer []string
				for _, text := range texts {
					check(text)
					for i := range signs {
						longer = append(longer, text+signs[i:i+1])
					}
				}
				texts = longer
			}
			for range 4000 {
				text := []byte(strings.Repeat("abcdefgh", 40)[:1+random.IntN(70)])
				for range random.IntN(5) {
					// Two neighbours, for the rules about dots.
					i := random.IntN(len(text))
					copy(text[i:], []byte{signs[random.IntN(len(signs))], signs[random.IntN(len(signs))]})
				}
				check(string(text))
			}
			for _, c := range "a." {
				for n := r.max - 2; n < r.max+3; n++ {
					check(strings.Repeat("a", n-2) + string(c) + "a")
				}
			}
			for c := range 0x80 {
				check("a" + string(rune(c)))
				check("abcdefgh" + string(rune(c)) + "bcd")
				check("abcdefghabc/bcdefghabc" + string(rune(c)) + "bcd")
			}
			for _, n := range []int{252, 253, 254} {
				for _, m := range []int{62, 63, 64} {
					check(strings.Repeat("a", n) + "/" + strings.Repeat("b", m))
					check(strings.Repeat("A", n) + "/" + strings.Repeat("B", m))
				}
			}
			assert.NotZero(t, valid)
			assert.NotZero(t, invalid)
		})
	}
}

// TestNamesBeyondASCII holds that nothing else is recognized, not even what is a letter of ASCII in
// lower case.
func TestNamesBeyondASCII(t *testing.T) {
	kelvin := rule{field: rules[3].field}
	require.True(t, kelvin.isValid("\u212a/a"))
	for _, r := range rules {
		for _, text := range []string{"\u212a/a", "é", "abcdefghié", "abcdefghi\xff", "\x80", "abc\xadabcdefgh"} {
			assert.False(t, r.recognize([]byte(text)), "%s %q", r.name, text)
		}
	}
}

// FuzzNames holds that what is recognized is valid, and that what is valid is recognized if it is
// ASCII.
func FuzzNames(f *testing.F) {
	corpus.AddSeeds(f)
	f.Add("app.kubernetes.io/managed-by")
	f.Add("ACME.Example.COM/Name")
	f.Add("my-object-0.example.com")
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 400 {
			return
		}
		ascii := strings.IndexFunc(text, func(r rune) bool { return r >= 0x80 }) < 0
		for _, r := range rules {
			got := r.recognize([]byte(text))
			if want := r.isValid(text); got != want && (got || ascii) {
				t.Errorf("%s says %v of %q", r.name, got, text)
			}
		}
	})
}

var usualNames = []string{
	"web-7f9c5d8b66-x2x5q", "app", "app.kubernetes.io/name", "trellises.garden.example.com", "my_value.1",
	"policies.kyverno.io/minversion",
}

func TestNamesAllocate(t *testing.T) {
	for _, r := range rules {
		for _, name := range append(usualNames, "ACME.Example.COM/Name", "-") {
			text := []byte(name)
			assert.Zero(t, testing.AllocsPerRun(10, func() { r.recognize(text) }), "%s %q", r.name, name)
		}
	}
}

func BenchmarkNames(b *testing.B) {
	for _, r := range rules {
		for _, name := range usualNames {
			if text := []byte(name); r.recognize(text) {
				b.Run(r.name+"/"+strings.ReplaceAll(name, "/", "|"), func(b *testing.B) {
					b.SetBytes(int64(len(text)))
					for range b.N {
						r.recognize(text)
					}
				})
			}
		}
	}
}
