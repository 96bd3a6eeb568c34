package main

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
)

// A test is named by its package's folder, and has the form that -test.run matches.
type test struct{ folder, pattern string }

var (
	nameToken = regexp.MustCompile("( to )?`([^`]+)`")
	fullName  = regexp.MustCompile(`^([a-z]+(?:/[a-z]+)*)\.((?:Test|Fuzz)\w+)(?:/(.+))?$`)
	caseName  = regexp.MustCompile(`^\d{3}$`)
)

// parseTests parses a cell of tests. Those of cases with numbers may be shortened, as in "`decoder.TestX/001`
// to `003`, `007`".
func parseTests(cell string) (tests []test, err error) {
	var folder, name string
	last := 0 // the number of the last case
	for _, token := range nameToken.FindAllStringSubmatch(cell, -1) {
		isRange, text := token[1] != "", token[2]
		if m := fullName.FindStringSubmatch(text); m != nil {
			if folder, name = m[1], m[2]; !caseName.MatchString(m[3]) {
				tests = append(tests, test{folder, pattern(name, m[3])})
				continue
			}
			text = m[3]
		}
		if name == "" || !caseName.MatchString(text) {
			return nil, fmt.Errorf("%q is no name of a test", text)
		}
		n, _ := strconv.Atoi(text)
		from := n
		if isRange {
			from = last + 1
		}
		for last = from; last <= n; last++ {
			tests = append(tests, test{folder, pattern(name, fmt.Sprintf("%03d", last))})
		}
		last = n
	}
	if tests == nil {
		return nil, errors.New("it names no test")
	}
	return tests, nil
}

// pattern matches a test, and one below it if there is a name for that.
func pattern(name, below string) string {
	p := "^" + name + "$"
	if below != "" {
		p += "/^" + below
	}
	return p
}
