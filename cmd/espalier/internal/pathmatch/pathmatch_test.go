package pathmatch

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestMatch(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ dir, pattern, matches, others string }{
		// Without a slash, a pattern is for names at any depth.
		{"", "vendor", "vendor vendor/a.yaml x/vendor/y/a.yaml ./vendor/a.yaml", "vendored/a.yaml a/xvendor ../vendor/a.yaml -"},
		{"", "vendor/", "vendor/a.yaml x/vendor/a.yaml", "vendor x/vendor"},
		{"", "*.tpl.yaml", "a.tpl.yaml x/y/a.tpl.yaml a.tpl.yaml/b", "tpl.yaml a.yaml"},
		// With one, it is for paths below the folder.
		{"", "test/e2e", "test/e2e/a.yaml test/e2e", "x/test/e2e/a.yaml test/e2e2/a.yaml"},
		{"", "/vendor", "vendor/a.yaml", "x/vendor/a.yaml"},
		{"", "./test/*", "test/a.yaml test/b/c.yaml", "test x/test/a.yaml"},
		{"", "test/**/bad-?.yaml", "test/bad-1.yaml test/x/y/bad-2.yaml", "test/bad-10.yaml bad-1.yaml"},
		{"", "**/test/**", "test/a.yaml x/test/a.yaml", "tests/a.yaml"},
		{"", "[ab].yaml", "a.yaml x/b.yaml", "c.yaml"},
		{"team", "crds", "team/crds/a.yaml team/x/crds/a.yaml", "crds/a.yaml other/crds/a.yaml"},
		{"..", "*/x", "x/a.yaml", "y/a.yaml"},
	} {
		if c.dir == ".." && c.pattern == "*/x" {
			t.Chdir(t.TempDir()) // whose name * matches
		}
		p, err := New(c.dir, c.pattern)
		require.NoError(t, err, c.pattern)
		assert.Equal(t, c.pattern, p.String())
		for _, name := range strings.Fields(c.matches) {
			assert.True(t, p.Match(name), "%s: %s", c.pattern, name)
			absolute, err := filepath.Abs(name)
			require.NoError(t, err)
			assert.True(t, p.Match(absolute), "%s: %s", c.pattern, absolute)
		}
		for _, name := range strings.Fields(c.others) {
			assert.False(t, p.Match(name), "%s: %s", c.pattern, name)
		}
	}
}

func TestMalformed(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                        "has an empty name",
		"/":                       "has an empty name",
		"a//b":                    "has an empty name",
		"[a":                      "is malformed",
		"{a,b}":                   "{ is not supported",
		"!a":                      "! is not supported",
		"../a":                    "leads out",
		"a/../../b":               "leads out",
		strings.Repeat("a", 1001): "is longer than 1000 bytes",
	} {
		_, err := New("", pattern)
		assert.ErrorContains(t, err, want, pattern)
	}
}

// TestIsWithin: a pattern that matches nothing is a mistake only if all that it could match was read.
func TestIsWithin(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct {
		pattern, arguments string
		want               bool
	}{
		{"test/**/*.yaml", "test", true},
		{"test/**/*.yaml", ".", true},
		{"test/**/*.yaml", "other test/", true},
		{"test/**/*.yaml", "test/a", false},
		{"test/a.yaml", "test/a.yaml", true},
		{"test/a.yaml", "test/b.yaml", false},
		{"vendor", "test", false},
		{"vendor", ".", true},
		{"vendor", "-", false},
	} {
		p, err := New("", c.pattern)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.IsWithin(strings.Fields(c.arguments)), "%s: %s", c.pattern, c.arguments)
	}
}

// TestHostilePatterns: what a pattern costs is no power of its stars.
func TestHostilePatterns(t *testing.T) {
	name := strings.Repeat("a/", 1000) + strings.Repeat("a", 1000)
	for _, pattern := range []string{
		strings.Repeat("*a", 490) + "b",
		strings.Repeat("**/", 330) + "b",
		strings.Repeat("**/*a", 190) + "b",
		strings.Repeat("[a-b]*", 160) + "c",
	} {
		p, err := New("", pattern)
		require.NoError(t, err)
		began := time.Now()
		assert.False(t, p.Match(name), pattern)
		assert.Less(t, time.Since(began), 2*time.Second, pattern)
	}
}
