package screen

import (
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/steps"
)

// Locate returns where in a text the values are to which the paths lead. The text is well-formed
// JSON. Where it has no such value, that is the value around it which it has. Of names that repeat
// in an object the last one counts. The time is that of one pass over the text, and of reading the
// paths.
func Locate(text []byte, paths [][]errors.Segment) []int {
	l := locator{text: text}
	root := l.tree(paths)
	l.find(root)
	at := make([]int, len(paths))
	for i, path := range paths {
		p := root
		for _, s := range path {
			below := p.below[s]
			if below.around != p.at {
				break // it was not found, or in a value that is superseded
			}
			p = below
		}
		at[i] = p.at
	}
	return at
}

// A place is the end of a path, and the start of others.
type place struct {
	below  map[errors.Segment]*place
	at     int // where its value starts
	around int // where the value starts in which it was found, or -1
}

type locator struct {
	text []byte
	open []openPlace
	m    Machine // for its memory
}

// An openPlace is a container that has places.
type openPlace struct {
	*place
	index int // of the next element, or -1 in an object
}

// tree returns the place of the root, with those of all paths below it.
func (l *locator) tree(paths [][]errors.Segment) *place {
	root := &place{around: -1}
	for _, path := range paths {
		p := root
		steps.Add(len(path))
		for _, s := range path {
			below := p.below[s]
			if below == nil {
				below = &place{around: -1}
				if p.below == nil {
					p.below = make(map[errors.Segment]*place)
				}
				p.below[s] = below
			}
			p = below
		}
	}
	return root
}

// find finds the places. It skips all values that have none.
func (l *locator) find(root *place) {
	b := l.text
	i := l.enter(jsonwire.Blanks(b, 0), root)
	for len(l.open) > 0 {
		top := &l.open[len(l.open)-1]
		if i = jsonwire.Blanks(b, i); b[i] == ',' {
			i = jsonwire.Blanks(b, i+1)
		}
		if b[i] == '}' || b[i] == ']' {
			l.open = l.open[:len(l.open)-1]
			i++
			continue
		}
		s := errors.Segment{Index: top.index}
		if top.index >= 0 {
			top.index++
		} else {
			end, escaped := StringEnd(b, i+1)
			name := b[i+1 : end-1]
			if escaped {
				name = l.m.unescape(name)
			}
			s = errors.Segment{Name: string(name), IsName: true}
			i = jsonwire.Blanks(b, jsonwire.Blanks(b, end)+1)
		}
		if p := top.below[s]; p != nil {
			p.around = top.at
			i = l.enter(i, p)
		} else {
			i = ValueEnd(b, i)
		}
	}
}

// enter notes the place of the value at i. It returns where the value ends or, if there are places
// in it, where its first member or element may be.
func (l *locator) enter(i int, p *place) int {
	p.at = i
	if c := l.text[i]; p.below == nil || c != '{' && c != '[' {
		return ValueEnd(l.text, i)
	}
	index := 0
	if l.text[i] == '{' {
		index = -1
	}
	l.open = append(l.open, openPlace{p, index})
	return i + 1
}
