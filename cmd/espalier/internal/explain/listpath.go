package explain

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
)

// A ListPath applies a path to a List: to one of its items, or to each.
type ListPath struct {
	left   int // number of items to come
	at     int // index of the next item
	only   int // index of the item that the path names, or -1
	within string
}

// itemPath matches a path that starts at a List.
var itemPath = regexp.MustCompile(`^(?:\$?\.?items\[(\d+)\](?:\.|$)?|/items/(\d+)(?:$|/))(.*)$`)

// NewListPath returns the ListPath for a List with so many items: items[0].spec.a is spec.a of
// the first item, and spec.a is that of every item.
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

// Next returns the path in the next object, and whether the path applies to it.
func (l *ListPath) Next(path string) (within string, isMeant bool) {
	if l.left == 0 {
		return path, true // the object is not an item
	}
	l.left--
	l.at++
	return l.within, l.only < 0 || l.at-1 == l.only
}
