package main

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/cover"

	"github.com/espalier-dev/espalier/internal/tools/source"
)

const module = "github.com/espalier-dev/espalier/"

// A block is a run of statements that are executed together, in a file of the module.
type block struct {
	file            string
	line, col       int
	endLine, endCol int
}

// A count is how many statements a block has, and whether they are covered.
type count struct {
	statements int
	isCovered  bool
}

// readProfiles returns the blocks of all profiles. A block is covered if it is covered in any of
// them.
func readProfiles(names []string) (map[block]count, error) {
	blocks := make(map[block]count)
	for _, name := range names {
		profiles, err := cover.ParseProfiles(name)
		if err != nil {
			return nil, err
		}
		for _, p := range profiles {
			for _, b := range p.Blocks {
				key := block{strings.TrimPrefix(p.FileName, module), b.StartLine, b.StartCol, b.EndLine, b.EndCol}
				blocks[key] = count{b.NumStmt, blocks[key].isCovered || b.Count > 0}
			}
		}
	}
	return blocks, nil
}

// summary returns a line for each package that says how much of it is covered.
func summary(blocks map[block]count) (lines []string) {
	type total struct{ all, covered int }
	packages := make(map[string]total)
	for b, c := range blocks {
		sum := packages[path.Dir(b.file)]
		sum.all += c.statements
		if c.isCovered {
			sum.covered += c.statements
		}
		packages[path.Dir(b.file)] = sum
	}
	for name, sum := range packages {
		share := 100 * float64(sum.covered) / float64(max(1, sum.all))
		lines = append(lines, fmt.Sprintf("%-22s %6d statements, %6.2f %% covered", name, sum.all, share))
	}
	slices.Sort(lines)
	return lines
}

// uncovered returns the keys of the blocks that are not covered, in the order of their files.
func uncovered(root string, blocks map[block]count) (keys []string, err error) {
	var missing []block
	for b, c := range blocks {
		if !c.isCovered && c.statements > 0 {
			missing = append(missing, b)
		}
	}
	slices.SortFunc(missing, func(a, b block) int {
		if a.file != b.file {
			return strings.Compare(a.file, b.file)
		}
		return a.line*1000 + a.col - b.line*1000 - b.col
	})
	sources := make(map[string]*fileSource)
	for _, b := range missing {
		s := sources[b.file]
		if s == nil {
			if s, err = readSource(filepath.Join(root, b.file)); err != nil {
				return nil, err
			}
			sources[b.file] = s
		}
		keys = append(keys, fmt.Sprintf("%s: %s: %s", b.file, s.function(b.line, b.col), s.text(b)))
	}
	return keys, nil
}

// A fileSource is a Go file.
type fileSource struct {
	lines     []string
	functions []source.Function
}

func readSource(name string) (*fileSource, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	functions, err := source.Functions(name)
	if err != nil {
		return nil, err
	}
	return &fileSource{strings.Split(string(content), "\n"), functions}, nil
}

// function returns the name of the function at a place, or "" in the value of a variable.
func (s *fileSource) function(line, col int) string {
	for i := range s.functions {
		if f := &s.functions[i]; f.Holds(line, col) {
			return f.String()
		}
	}
	return ""
}

// text returns the line in which a block starts, and the first line of its statements if that is
// another.
func (s *fileSource) text(b block) string {
	text := strings.TrimSpace(s.lines[b.line-1])
	if !strings.HasSuffix(text, "{") && !strings.HasSuffix(text, ":") {
		return text
	}
	for _, line := range s.lines[b.line:b.endLine] {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "//") {
			return text + " " + line
		}
	}
	return text
}
