package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

// TestSurvivors asserts that the expressions that testdata/mutation lists are in the function that
// is named.
func TestSurvivors(t *testing.T) {
	root := filepath.Join("..", "..", "..")
	lists, err := filepath.Glob(filepath.Join(root, "testdata/mutation/*.txt"))
	require.NoError(t, err)
	require.NotEmpty(t, lists)
	for _, list := range lists {
		listed, err := source.ReadList(list)
		require.NoError(t, err)
		for key := range listed {
			part := strings.SplitN(key, ": ", 3)
			name, function, expression := filepath.Join(root, part[0]), part[1], part[2]
			end := strings.LastIndex(expression, ": ")
			require.Positive(t, end, "%s: want file: function: expression: mutation", key)
			_, err := os.Stat(name)
			require.NoError(t, err, key)
			s, err := readSource(name)
			require.NoError(t, err)
			assert.Contains(t, s.body(function), expression[:end], "%s", key)
		}
	}
}

// body returns the text of the functions with a name, with a single space for each run of white
// space.
func (s *fileSource) body(name string) string {
	var text []string
	for i := range s.functions {
		if f := &s.functions[i]; f.String() == name {
			text = append(text, s.lines[f.Start.Line-1:f.End.Line]...)
		}
	}
	return strings.Join(strings.Fields(strings.Join(text, "\n")), " ")
}
