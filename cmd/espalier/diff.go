package main

import (
	"bytes"
	"path/filepath"
	"strings"
)

// diffNames returns what a file is called in a diff, before and after: git apply
// and patch -p1 find it.
func diffNames(name string) (before, after string) {
	name = strings.TrimPrefix(filepath.ToSlash(name), "/")
	return "a/" + name, "b/" + name
}

// colorDiff colors the lines of a unified diff as git does.
func colorDiff(diff []byte, does bool) []byte {
	if !does {
		return diff
	}
	var out []byte
	for i, line := range bytes.SplitAfter(diff, []byte("\n")) {
		color := ""
		switch {
		case len(line) == 0:
			continue
		case i < len("-+"):
			color = "1"
		case line[0] == '@':
			color = "36"
		case line[0] == '-':
			color = "31"
		case line[0] == '+':
			color = "32"
		}
		text := bytes.TrimRight(line, "\r\n")
		if color != "" {
			out = append(append(append(out, "\x1b["+color+"m"...), text...), "\x1b[m"...)
			text = nil
		}
		out = append(append(out, text...), line[len(bytes.TrimRight(line, "\r\n")):]...)
	}
	return out
}
