package source

import (
	"fmt"
	"os"
	"strings"
)

// ReadList returns how often each block is listed. A list has one block a line. After one or more
// blocks an indented line gives the reason for them. Lines that start with # are comments.
func ReadList(name string) (map[string]int, error) {
	content, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	listed := make(map[string]int)
	waiting := "" // the block before, if it has no reason yet
	for i, line := range strings.Split(string(content), "\n") {
		switch {
		case strings.TrimSpace(line) == "", line[0] == '#':
		case line[0] == ' ' || line[0] == '\t':
			waiting = ""
		case strings.Count(line, ": ") < 2:
			return nil, fmt.Errorf("%s:%d: want file: function: statement", name, i+1)
		default:
			listed[line]++
			waiting = line
		}
	}
	if waiting != "" {
		return nil, fmt.Errorf("%s: no reason is given for %s", name, waiting)
	}
	return listed, nil
}
