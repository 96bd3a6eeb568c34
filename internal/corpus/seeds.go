package corpus

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// AddSeeds adds the seeds of a fuzz target. They are in testdata/fuzz of its package, in a file
// with the name of the target. A target calls AddSeeds before it adds other seeds, so that go test
// calls the seed with number 7 in the file seed#7.
func AddSeeds(f *testing.F) {
	f.Helper()
	file := filepath.Join("testdata", "fuzz", f.Name()+".txtar")
	archive, err := ReadArchive(file)
	if err != nil {
		f.Fatal(err)
	}
	for i, s := range archive.Sections {
		if number, _, _ := strings.Cut(s.Name, " "); number != strconv.Itoa(i) {
			f.Fatalf("%s: the number of seed %q should be %d", file, s.Name, i)
		}
		args, err := parseSeed(string(s.Data))
		if err != nil {
			f.Fatalf("%s: seed %q: %v", file, s.Name, err)
		}
		f.Add(args...)
	}
}

// parseSeed returns the arguments in the text of a seed. Each argument has a line of its own,
// unless it is a raw string with line breaks.
func parseSeed(text string) (args []any, err error) {
	for text != "" {
		kind, rest, _ := strings.Cut(text, "(")
		literal, err := strconv.QuotedPrefix(rest)
		if err != nil { // a number or a boolean
			literal, _, _ = strings.Cut(rest, ")")
		}
		next, isArgument := strings.CutPrefix(rest[len(literal):], ")\n")
		if !isArgument {
			return nil, fmt.Errorf("want type(literal) and a line break: %q", text)
		}
		arg, err := parseArgument(kind, literal)
		if err != nil {
			return nil, fmt.Errorf("%s(%s): %w", kind, literal, err)
		}
		args = append(args, arg)
		text = next
	}
	return args, nil
}

// parseArgument returns the value of a literal converted to a type, as in Go.
func parseArgument(kind, literal string) (any, error) {
	switch kind {
	case "[]byte":
		s, err := strconv.Unquote(literal)
		return []byte(s), err
	case "string":
		return strconv.Unquote(literal)
	case "byte":
		body, isQuoted := strings.CutPrefix(literal, "'")
		char, _, end, err := strconv.UnquoteChar(body, '\'')
		if !isQuoted || err != nil || end != "'" || char > 0xff {
			return nil, errors.New("want a character up to U+00FF in single quotes")
		}
		return byte(char), nil
	case "bool":
		return strconv.ParseBool(literal)
	case "int":
		return strconv.Atoi(literal)
	case "uint":
		n, err := strconv.ParseUint(literal, 10, strconv.IntSize)
		return uint(n), err
	case "uint64":
		return strconv.ParseUint(literal, 10, 64)
	}
	return nil, errors.New("seeds have no arguments of this type")
}
