package origin

import (
	"bytes"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
)

// A node is a value in a JSON text. What is directly within it is found when it is asked for the
// first time, so that each value is gone through once for each value that it is in, however many
// places are looked for.
type node struct {
	at    int // where its name starts or, in an array, the value itself
	value int // where the value starts
	below map[string]*node
}

// find returns the member with a name, or the element with an index. It returns nil if there is
// none.
func (n *node) find(js []byte, step string) *node {
	if n.below == nil {
		n.enter(js)
	}
	return n.below[step]
}

// enter finds what is directly within the value, as far as it can be read.
func (n *node) enter(js []byte) {
	n.below = make(map[string]*node)
	d := locate.NewDecoder(bytes.NewReader(js[n.value:]))
	kind := d.PeekKind()
	if kind != '{' && kind != '[' {
		return
	}
	next := func(separators string) int {
		at := n.value + int(d.InputOffset())
		for at < len(js) && strings.IndexByte(separators, js[at]) >= 0 {
			at++
		}
		return at
	}
	if _, err := d.ReadToken(); err != nil {
		return
	}
	for i := 0; d.PeekKind() != '}' && d.PeekKind() != ']'; i++ {
		at, name := next(" \t\r\n,"), strconv.Itoa(i)
		if kind == '{' {
			t, err := d.ReadToken()
			if err != nil {
				return
			}
			name = t.String()
		}
		value := next(" \t\r\n:,")
		if d.SkipValue() != nil {
			return
		}
		n.below[name] = &node{at: at, value: value}
	}
}
