package cel

import (
	"bufio"
	"bytes"
	"regexp"
	"strings"

	serverfield "k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/espalier-dev/espalier/errors"
)

// fieldPath reads the fieldPath of a rule, as ValidFieldPath of the server's package cel does:
// names after dots, and names in brackets and single quotes. It returns the names, and the path in
// the form in which the server shows it.
func fieldPath(path string, of *shape) (names []errors.Segment, shown string, ok bool) {
	var p *serverfield.Path
	scanner := bufio.NewScanner(strings.NewReader(path))
	scanner.Split(splitPath)
	next := func() string {
		scanner.Scan()
		return scanner.Text()
	}
	for scanner.Scan() {
		var name string
		switch scanner.Text() {
		case ".":
			if !scanner.Scan() {
				return nil, "", false
			}
			name = scanner.Text()
		case "[":
			quoted := next()
			if len(quoted) < 2 || quoted[0] != '\'' || quoted[len(quoted)-1] != '\'' {
				return nil, "", false
			}
			if name, ok = unescape(quoted[1 : len(quoted)-1]); !ok || next() != "]" {
				return nil, "", false
			}
		default:
			return nil, "", false
		}
		switch {
		case of == nil:
			return nil, "", false
		case of.properties != nil:
			p, of = p.Child(name), of.properties[name]
			if of == nil {
				return nil, "", false
			}
		case of.hasAdditional:
			p, of = p.Key(name), of.additional
		default:
			return nil, "", false
		}
		names = append(names, errors.Segment{Name: name, IsName: true})
	}
	return names, p.String(), true
}

// splitPath makes tokens of the delimiters, of what is between quotes, and of what is between
// these.
func splitPath(data []byte, atEOF bool) (advance int, token []byte, err error) {
	if len(data) > 0 && data[0] == '\'' {
		for i := 1; i < len(data); i++ {
			if data[i] == '\'' && data[i-1] != '\\' {
				return i + 1, data[:i+1], nil
			}
		}
	} else if i := bytes.IndexAny(data, ".[]"); i >= 0 {
		i = max(i, 1)
		return i, data[:i], nil
	}
	if atEOF && len(data) > 0 {
		return len(data), data, nil
	}
	return 0, nil, nil
}

var escapes = regexp.MustCompile(`\\.`)

func unescape(s string) (_ string, ok bool) {
	ok = true
	s = escapes.ReplaceAllStringFunc(s, func(escape string) string {
		i := strings.IndexByte(`abfnrtv'\`, escape[1])
		if i < 0 {
			ok = false
			return ""
		}
		return "\a\b\f\n\r\t\v'\\"[i : i+1]
	})
	return s, ok
}
