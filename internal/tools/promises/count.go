package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strconv"
	"strings"
)

const asserts = "github.com/stretchr/testify/assert"

// A counter counts checks.
type counter struct {
	root, dir string
	binaries  map[string]string // of the tests, by folder
	checks    map[string]bool   // the lines on which functions that check begin, as file:line
}

// count returns how many checks tests make. It is an error if one of them fails, or is not there.
func (c *counter) count(tests []test) (checks int, err error) {
	for _, t := range tests {
		n, err := c.countOne(t)
		if err != nil {
			return 0, err
		}
		checks += n
	}
	return checks, nil
}

func (c *counter) countOne(t test) (int, error) {
	folder := filepath.Join(c.root, filepath.FromSlash(t.folder))
	binary, err := c.build(folder)
	if err != nil {
		return 0, err
	}
	n, err := c.run(folder, binary, t, "-test.short")
	if n == 0 && err == nil { // it is skipped then
		n, err = c.run(folder, binary, t, "-test.short=false")
	}
	return n, err
}

func (c *counter) run(folder, binary string, t test, short string) (int, error) {
	profile := filepath.Join(c.dir, "profile")
	cmd := exec.Command(binary, short, "-test.v", "-test.run", t.pattern, "-test.coverprofile", profile)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "GOCOVERDIR="+c.dir) // some tests run their own program again, which warns without
	out, err := cmd.CombinedOutput()
	switch {
	case err != nil:
		return 0, fmt.Errorf("%s, %s: %w\n%s", folder, t.pattern, err, out)
	case !bytes.Contains(out, []byte("--- PASS")) && !bytes.Contains(out, []byte("--- SKIP")):
		return 0, fmt.Errorf("%s has no test %s", folder, t.pattern)
	}
	n, err := c.read(profile)
	if n == 0 { // the test checks by other means: at least once in each of its parts
		n = bytes.Count(out, []byte("--- PASS"))
	}
	return n, err
}

// build builds the tests of a package so that calls into package assert are counted.
func (c *counter) build(folder string) (string, error) {
	if binary := c.binaries[folder]; binary != "" {
		return binary, nil
	}
	binary, err := filepath.Abs(filepath.Join(c.dir, "test"+strconv.Itoa(len(c.binaries))))
	if err != nil {
		return "", err
	}
	cmd := exec.Command("go", "test", "-c", "-covermode=atomic", "-coverpkg="+asserts, "-o", binary, ".")
	cmd.Dir = folder
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go test -c in %s: %w\n%s", folder, err, out)
	}
	c.binaries[folder] = binary
	if c.checks == nil {
		c.checks, err = findChecks(folder)
	}
	return binary, err
}

// read adds up what a profile says of functions that check.
func (c *counter) read(profile string) (checks int, err error) {
	file, err := os.Open(profile)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		// file:line.column,line.column statements count
		name, rest, _ := strings.Cut(lines.Text(), ":")
		at, _, _ := strings.Cut(rest, ",")
		if !c.checks[path.Base(name)+":"+at] {
			continue
		}
		n, err := strconv.Atoi(rest[strings.LastIndexByte(rest, ' ')+1:])
		if err != nil {
			return 0, err
		}
		checks += n
	}
	return checks, nil
}

// findChecks returns where the bodies of the functions of package assert begin that get a TestingT, as
// file:line.column. A few call others, and count twice.
func findChecks(folder string) (map[string]bool, error) {
	cmd := exec.Command("go", "list", "-f", "{{.Dir}}", asserts)
	cmd.Dir = folder
	dir, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	names, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "*.go"))
	if err != nil {
		return nil, err
	}
	checks := map[string]bool{}
	for _, name := range names {
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, nil, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Recv != nil || !f.Name.IsExported() || len(f.Type.Params.List) == 0 {
				continue
			}
			if of, ok := f.Type.Params.List[0].Type.(*ast.Ident); !ok || of.Name != "TestingT" {
				continue
			}
			for _, at := range starts(f.Body) {
				p := positions.Position(at)
				checks[fmt.Sprintf("%s:%d.%d", filepath.Base(name), p.Line, p.Column)] = true
			}
		}
	}
	if len(checks) == 0 {
		return nil, errors.New("package assert has no function that checks")
	}
	return checks, nil
}

// starts returns where the first counter of a body may be: behind its brace, or at its first statement, as
// releases of Go differ.
func starts(body *ast.BlockStmt) []token.Pos {
	at := []token.Pos{body.Lbrace, body.Lbrace + 1}
	if len(body.List) > 0 {
		at = append(at, body.List[0].Pos())
	}
	return at
}
