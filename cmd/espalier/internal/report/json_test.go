package report

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestREADMEReport compares the names that docs/check.md has for the members of a finding
// with those that there are.
func TestREADMEReport(t *testing.T) {
	page, err := os.ReadFile("../../../../docs/check.md")
	require.NoError(t, err)
	_, text, ok := strings.Cut(strings.Join(strings.Fields(string(page)), " "), "A finding in JSON has ")
	require.True(t, ok)
	text, _, ok = strings.Cut(text, ", as far as")
	require.True(t, ok)
	var listed, members []string
	for _, m := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(text, -1) {
		listed = append(listed, m[1])
	}
	for f := range reflect.TypeFor[jsonFinding]().Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		members = append(members, name)
	}
	assert.Equal(t, members, listed)
	assert.Contains(t, string(page), "`apiVersion: "+reportVersion+"`")
}
