package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
)

// readList returns how often each block is listed. A list has one block a line. After one or more
// blocks an indented line gives the reason for them. Lines that start with # are comments.
func readList(name string) (map[string]int, error) {
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

// compare returns the blocks that are neither covered nor listed, and those that are listed without
// need.
func compare(missing []string, listed map[string]int) (unlisted, stale []string) {
	left := make(map[string]int)
	for key, n := range listed {
		left[key] = n
	}
	for _, key := range missing {
		if left[key]--; left[key] < 0 {
			unlisted = append(unlisted, key)
		}
	}
	for key, n := range left {
		for range n {
			stale = append(stale, key)
		}
	}
	slices.Sort(stale)
	return unlisted, stale
}
