package suggest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestClosest(t *testing.T) {
	declared := []string{"containers", "image", "name", "nodeSelector", "replicas", "url", "uri"}
	for name, want := range map[string]string{
		"replcas":      "replicas",
		"replicsa":     "replicas",
		"relpicsa":     "replicas",
		"rplca":        "",
		"nodeselector": "nodeSelector",
		"NODESELECTOR": "nodeSelector",
		"nmae":         "name",
		"nam":          "name",
		"mean":         "",
		"ulr":          "url",
		"urx":          "uri", // as close as url, and first
		"x":            "",
		"":             "",
		"zz":           "",
		"contaíners":   "containers",

		"containers" + strings.Repeat("s", 200): "",
	} {
		first := Closest(name, declared)
		if name == "urx" {
			first = Closest(name, []string{"uri", "url"})
		}
		assert.Equal(t, want, first, name)
	}
}

func TestDistance(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want int
	}{
		{"", "", 0}, {"", "ab", 2}, {"ab", "", 2}, {"ab", "ab", 0}, {"ab", "ba", 1}, {"abc", "ca", 3},
		{"kitten", "sitting", 3}, {"ä", "a", 1}, {"abcd", "acbd", 1}, {"a", "aa", 1},
	} {
		assert.Equal(t, test.want, distance([]rune(test.a), []rune(test.b)), "%s, %s", test.a, test.b)
		assert.Equal(t, test.want, distance([]rune(test.b), []rune(test.a)), "%s, %s", test.b, test.a)
	}
}

func TestValue(t *testing.T) {
	allowed := []string{`"ClusterIP"`, `"NodePort"`, `1`, `null`}
	assert.Equal(t, "ClusterIP", Value("Clusterip", allowed))
	assert.Equal(t, "NodePort", Value("NodPort", allowed))
	assert.Empty(t, Value("LoadBalancer", allowed))
	assert.Empty(t, Value("nul", allowed), "it would not be text")
	assert.Empty(t, Value("a", nil))
}
