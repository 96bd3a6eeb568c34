package screen

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
)

// Locate returns where in a text the values are to which the paths lead. The text is well-formed
// JSON. Where it has no such value, that is the value around it which it has. Of names that repeat
// in an object the last one counts. The time is that of one pass over the text, and of reading the
// paths.
func Locate(text []byte, paths [][]errors.Segment) []int {
	l := locator{text: text, paths: paths, at: make([]int, len(paths))}
	all := make([]int, len(paths))
	for i := range all {
		all[i] = i
	}
	l.locate(jsonwire.Blanks(text, 0), 0, all)
	return l.at
}

type locator struct {
	text  []byte
	paths [][]errors.Segment
	at    []int
	m     Machine // for its memory
}

// locate finds the paths that are given by their indices. They lead to the value at i or below it,
// and agree in their first depth segments.
func (l *locator) locate(i, depth int, which []int) {
	names, elements := make(map[string][]int), make(map[int][]int)
	for _, p := range which {
		l.at[p] = i
		if path := l.paths[p]; len(path) <= depth {
			continue
		} else if s := path[depth]; s.IsName {
			names[s.Name] = append(names[s.Name], p)
		} else {
			elements[s.Index] = append(elements[s.Index], p)
		}
	}
	b := l.text
	switch {
	case b[i] == '{' && len(names) > 0:
		last := make(map[string]int)
		for i = jsonwire.Blanks(b, i+1); b[i] == '"'; i = jsonwire.Blanks(b, i+1) {
			end, escaped := stringEnd(b, i+1)
			name := b[i+1 : end-1]
			if escaped {
				name = l.m.unescape(name)
			}
			i = jsonwire.Blanks(b, jsonwire.Blanks(b, end)+1)
			if _, wanted := names[string(name)]; wanted {
				last[string(name)] = i
			}
			if i = jsonwire.Blanks(b, valueEnd(b, i)); b[i] == '}' {
				break
			}
		}
		for name, at := range last {
			l.locate(at, depth+1, names[name])
		}
	case b[i] == '[' && len(elements) > 0:
		i = jsonwire.Blanks(b, i+1)
		for index := 0; b[i] != ']'; index++ {
			if below := elements[index]; below != nil {
				l.locate(i, depth+1, below)
			}
			if i = jsonwire.Blanks(b, valueEnd(b, i)); b[i] == ',' {
				i = jsonwire.Blanks(b, i+1)
			}
		}
	}
}
