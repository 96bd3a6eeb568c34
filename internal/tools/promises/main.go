// Promises runs the tests that hold what a table of the documentation promises, and counts, row by row,
// how much held it:
//
//	go run ./promises [-root DIR] [-update] [FILE]
//
// FILE is docs/threat-model.md by default. A table counts if its last columns are "test" and "checks". The
// second says how many checks the tests of the row make at least: how often a function of testify's package
// assert was called when they ran, with -short if they run then, rounded down to two digits. -update writes
// the numbers into the file; otherwise promises exits with 1 where fewer are made than it says, or where a
// test fails.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

func main() {
	root := flag.String("root", "..", "the `folder` of the repository, relative to this module")
	update := flag.Bool("update", false, "write the numbers into the file")
	flag.Parse()
	file := "docs/threat-model.md"
	if flag.NArg() > 0 {
		file = flag.Arg(0)
	}
	if err := run(*root, file, *update); err != nil {
		fmt.Fprintln(os.Stderr, "promises:", err)
		os.Exit(1)
	}
}

func run(root, file string, update bool) error {
	name := filepath.Join(root, filepath.FromSlash(file))
	page, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "espalier-promises-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	c := &counter{root: root, dir: dir, binaries: map[string]string{}}
	lines := strings.SplitAfter(string(page), "\n")
	rows, short := 0, 0
	for _, at := range promisesOf(lines) {
		cells := cellsOf(lines[at])
		tests, err := parseTests(cells[len(cells)-2])
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, at+1, err)
		}
		n, err := c.count(tests)
		if err == nil && n == 0 {
			err = errors.New("its tests are skipped")
		}
		if err != nil {
			return fmt.Errorf("%s:%d: %w", file, at+1, err)
		}
		rows++
		said, _ := parseNumber(cells[len(cells)-1])
		fmt.Printf("%s:%d: %s checks: %s\n", file, at+1, formatNumber(n), cells[0])
		if n < said {
			short++
			fmt.Printf("%s:%d: the page says %s\n", file, at+1, formatNumber(said))
		}
		cells[len(cells)-1] = formatNumber(roundDown(n))
		lines[at] = "| " + strings.Join(cells, " | ") + " |\n"
	}
	switch {
	case rows == 0:
		return fmt.Errorf("%s has no table whose last columns are test and checks", file)
	case update:
		return os.WriteFile(name, []byte(strings.Join(lines, "")), 0o644)
	case short > 0:
		return fmt.Errorf("%d of %d rows say more than was counted", short, rows)
	}
	return nil
}

// promisesOf returns which lines are rows of tables with checks.
func promisesOf(lines []string) (rows []int) {
	inside := false
	for i, line := range lines {
		switch {
		case strings.HasSuffix(line, "| test | checks |\n"):
			inside = true
		case !strings.HasPrefix(line, "|"):
			inside = false
		case inside && !strings.HasPrefix(line, "| ---"):
			rows = append(rows, i)
		}
	}
	return rows
}

// cellsOf returns the cells of a row of a table. No cell has a bar in it.
func cellsOf(line string) []string {
	cells := strings.Split(strings.Trim(line, "| \n"), "|")
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	return cells
}

// roundDown keeps the first two digits.
func roundDown(n int) int {
	unit := 1
	for n/unit >= 100 {
		unit *= 10
	}
	return n / unit * unit
}

// formatNumber returns a number with blanks between thousands, as all numbers of the pages.
func formatNumber(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + " " + text[i:]
	}
	return text
}

func parseNumber(text string) (int, error) { return strconv.Atoi(strings.ReplaceAll(text, " ", "")) }
