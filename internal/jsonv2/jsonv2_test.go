package jsonv2_test

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// comparing are the folders whose programs compare the library with others, among them this one.
var comparing = []string{"bench", "fuzz"}

// TestImports holds that the module which has no releases is imported where it can be exchanged, and nowhere else.
func TestImports(t *testing.T) {
	const root = "../.."
	where := make(map[string]bool)
	require.NoError(t, filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		for _, folder := range comparing {
			if path == filepath.Join(root, folder) {
				return fs.SkipDir
			}
		}
		if entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		if err != nil {
			return err
		}
		for _, imported := range file.Imports {
			name, err := strconv.Unquote(imported.Path.Value)
			if err != nil {
				return err
			}
			if strings.HasPrefix(name, "github.com/go-json-experiment/") {
				where[filepath.ToSlash(strings.TrimPrefix(path, root+string(filepath.Separator)))] = true
			}
		}
		return nil
	}))
	delete(where, "internal/jsonv2/jsonv2.go") // which has the standard library's packages in a core: module upstream
	assert.Equal(t, map[string]bool{"tokens/tokens.go": true}, where)
}
