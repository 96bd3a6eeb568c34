package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/txtar"
)

// A seed has the text of a target's arguments, and the reason why it is kept.
type seed struct{ reason, text string }

// hasFailed reports whether the target has once failed for the seed.
func (s seed) hasFailed() bool { return strings.HasPrefix(s.reason, "failed") }

// comment is the comment at the start of a file of seeds.
const comment = `Seeds of %s. internal/tools/seeds writes this file.

A seed has the arguments of one call, as Go literals. Its name has its number in
go test, and the function in which it covered statements that no seed before it
did. The name of a seed that once made the target fail says "failed" instead.

`

// readSeeds returns the seeds in a file, or none if it is not there.
func readSeeds(file string) (seeds []seed, err error) {
	archive, err := txtar.ParseFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	for _, f := range archive.Files {
		_, reason, _ := strings.Cut(f.Name, " ")
		seeds = append(seeds, seed{reason, string(f.Data)})
	}
	return seeds, nil
}

// writeSeeds writes a file of seeds, each with its number.
func writeSeeds(file string, seeds []seed) error {
	target := strings.TrimSuffix(filepath.Base(file), ".txtar")
	archive := txtar.Archive{Comment: fmt.Appendf(nil, comment, target)}
	for i, s := range seeds {
		name := strings.TrimSpace(fmt.Sprintf("%d %s", i, s.reason))
		archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(s.text)})
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, txtar.Format(&archive), 0o666)
}

// readInputs returns the inputs in a folder that go test -fuzz has written, with their file names.
func readInputs(folder string) (inputs []seed, err error) {
	files, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		written, err := os.ReadFile(filepath.Join(folder, f.Name()))
		if err != nil {
			return nil, err
		}
		text, isInput := strings.CutPrefix(string(written), "go test fuzz v1\n")
		if !isInput {
			return nil, fmt.Errorf("%s is no input of version 1", filepath.Join(folder, f.Name()))
		}
		inputs = append(inputs, seed{f.Name(), readable(text)})
	}
	return inputs, nil
}

// readable returns the text of an input, with raw strings where these are easier to read. Each
// argument has a line of its own, which ends in a line break.
func readable(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		kind, rest, _ := strings.Cut(line, "(")
		literal, err := strconv.QuotedPrefix(rest)
		s, errString := strconv.Unquote(literal)
		if err == nil && errString == nil && rest[0] == '"' && isReadable(s) {
			line = kind + "(`" + s + "`)"
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// isReadable reports whether a string has escapes when it is quoted, and can be read without them:
// all of it is visible, and no line in it starts a file of the archive. Tabs are only allowed in
// JSON, where they mean the same as spaces.
func isReadable(s string) bool {
	if len(strconv.Quote(s)) == len(s)+len(`""`) || !utf8.ValidString(s) {
		return false
	}
	isJSON := json.Valid([]byte(s))
	for _, r := range s {
		if r == '`' || r != '\n' && !strconv.IsPrint(r) && (r != '\t' || !isJSON) {
			return false
		}
	}
	return !strings.Contains(s, " \n") && !strings.Contains(s, "\n-- ")
}
