package corpus

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestParseSeed(t *testing.T) {
	for text, want := range map[string][]any{
		"":                                {},
		"[]byte(\"\")\n":                  {[]byte{}},
		"[]byte(\"a)\\n\\xff\\u00ff\")\n": {[]byte("a)\n\xff\u00ff")},
		"[]byte(`{\"a\":\n\"\\u)`)\n":     {[]byte("{\"a\":\n\"\\u)")},
		"string(\"a\")\nstring(`(\n)`)\n": {"a", "(\n)"},
		"byte('\\'')\nbyte('\\u00ff')\n":  {byte('\''), byte(0xff)},
		"byte('ÿ')\nbyte('\\x00')\n":      {byte(0xff), byte(0)},
		"bool(true)\nbool(false)\n":       {true, false},
		"int(-17)\nuint(17)\n":            {-17, uint(17)},
		"uint64(18446744073709551615)\n":  {^uint64(0)},
	} {
		got, err := parseSeed(text)
		assert.NoError(t, err, "%q", text)
		assert.Len(t, got, len(want), "%q", text)
		for i := range min(len(want), len(got)) {
			assert.Equal(t, want[i], got[i], "%q", text)
		}
	}
}

func TestParseSeedRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"go test fuzz v1\n":              "want type(literal) and a line break",
		"[]byte(\"a\")":                  "want type(literal) and a line break",
		"[]byte(\"a\") \n":               "want type(literal) and a line break",
		"int(1)\n\n":                     "want type(literal) and a line break",
		"[]byte(\"a\n\")\n":              "invalid syntax",
		"[]byte(1)\n":                    "invalid syntax",
		"string(1)\n":                    "invalid syntax",
		"bool(2)\n":                      "invalid syntax",
		"int(x)\n":                       "invalid syntax",
		"uint(-1)\n":                     "invalid syntax",
		"uint64(18446744073709551616)\n": "value out of range",
		"byte(1)\n":                      "want a character",
		"byte(\"a\")\n":                  "want a character",
		"byte('Ā')\n":                    "want a character",
		"float32(1)\n":                   "no arguments of this type",
	} {
		_, err := parseSeed(text)
		assert.ErrorContains(t, err, want, "%q", text)
	}
}

// TestTargets asserts that each fuzz target of the repository adds the seeds of its file before all
// others, whose numbers go test then uses, and that each file has a target. Packages in testdata are
// examples for users, who have no such files.
func TestTargets(t *testing.T) {
	begins := regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\) \{\n` +
		`(?:\tneed\w+\(f\)\n)?\t(.*)\n`)
	root := moduleRoot(t)
	targets := map[string]bool{}
	var seeds []string
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		dir, base := filepath.Split(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && strings.HasPrefix(base, ".") && name != root:
			return fs.SkipDir
		case strings.HasSuffix(base, "_test.go") && !strings.Contains(filepath.ToSlash(dir), "/testdata/"):
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			for _, begin := range begins.FindAllSubmatch(text, -1) {
				assert.Equal(t, "corpus.AddSeeds(f)", string(begin[2]), "%s: %s", name, begin[1])
				targets[filepath.Join(dir, "testdata", "fuzz", string(begin[1])+".txtar")] = true
			}
		case filepath.Base(dir) == "fuzz" && filepath.Ext(base) == ".txtar":
			seeds = append(seeds, name)
		}
		return nil
	})
	require.NoError(t, err)
	assert.ElementsMatch(t, slices.Collect(maps.Keys(targets)), seeds)
}
