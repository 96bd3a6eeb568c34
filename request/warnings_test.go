package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// The figures were observed at a kube-apiserver v0.37.
func TestWarningBudget(t *testing.T) {
	texts := func(n int, format string) (list []string) {
		for i := range n {
			list = append(list, fmt.Sprintf(format, i))
		}
		return list
	}
	for _, c := range []struct {
		name       string
		texts      []string
		want, each int // headers, runes in each
	}{
		{"short", texts(1000, `unknown field "spec.f%05d"`), 152, 27},
		{"as many as fit", texts(4096/32, "%032d"), 128, 32},
		{"one more rune", append(texts(4096/32-1, "%032d"), strings.Repeat("x", 33)), 128, 32},
		{"long", texts(30, "%0320d"), 16, 256},
		{"one", []string{strings.Repeat("ä", 5000)}, 1, 256},
		{"one that fits", []string{strings.Repeat("ä", 4096)}, 1, 4096},
	} {
		values := warnings(c.texts)
		assert.Equal(t, c.want, len(values), c.name)
		text := strings.TrimSuffix(strings.TrimPrefix(values[0], `299 - "`), `"`)
		assert.Equal(t, c.each, len([]rune(strings.ReplaceAll(text, `\"`, `"`))), c.name)
	}
}

func TestWarningText(t *testing.T) {
	values := warnings([]string{`a "b" \c`, "", "d\n", "e\xff", "f", "f", "ü"})
	assert.Equal(t, []string{`299 - "a \"b\" \\c"`, `299 - "f"`, `299 - "ü"`}, values)
	assert.Nil(t, warnings(nil))
}
