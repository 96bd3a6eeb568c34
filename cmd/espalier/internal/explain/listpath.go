package explain

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
)

// A ListPath says which of the items of a List are meant by a path, and by what of it.
type ListPath struct {
	left   int // how many items are still to come
	at     int // the index of the next one
	only   int // the index of the one that the path names, or -1
	within string
}

// itemPath is a path that starts at a List.
var itemPath = regexp.MustCompile(`^(?:\$?\.?items\[(\d+)\](?:\.|$)?|/items/(\d+)(?:$|/))(.*)$`)

// NewListPath returns the part of a path that is for the items of a List: items[0].spec.a is
// spec.a of the first, and spec.a is that of all of them.
func NewListPath(path string, items int) (ListPath, error) {
	l := ListPath{left: items, only: -1, within: path}
	m := itemPath.FindStringSubmatch(path)
	if m == nil {
		return l, nil
	}
	n, err := strconv.Atoi(m[1] + m[2])
	if err != nil || n >= items {
		return l, fmt.Errorf("the List has %s, and no items[%s]", finding.Count(items, "item"), m[1]+m[2])
	}
	l.only, l.within = n, m[3]
	if m[2] != "" && m[3] != "" {
		l.within = "/" + m[3]
	}
	return l, nil
}

// Next returns the path for the next object, and whether it is meant.
func (l *ListPath) Next(path string) (within string, isMeant bool) {
	if l.left == 0 {
		return path, true // it is no item
	}
	l.left--
	l.at++
	return l.within, l.only < 0 || l.at-1 == l.only
}
