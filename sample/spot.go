package sample

import (
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/schema"
)

// A spot is a value within an object, with the schemas that it has to satisfy whatever the
// alternatives of junctors say.
type spot struct {
	value   *value
	given   []*schema.Structural // its own schema is the first
	pointer string               // RFC 6901
	// isElement is set for elements of arrays, in which a null stays a null.
	isElement bool
}

// spots returns the values in v, but for apiVersion, kind and metadata of resources. Values that no
// schema specifies are left out.
func spots(v *value, given []*schema.Structural) []spot {
	list := []spot{{value: v, given: given}}
	for i := 0; i < len(list); i++ {
		p := list[i]
		g := &goal{given: p.given, all: inForce(p.given)}
		for n, m := range p.value.members {
			below := spot{value: m.value, isElement: p.value.kind == '['}
			if below.isElement {
				below.given, below.pointer = g.element(), p.pointer+"/"+strconv.Itoa(n)
			} else {
				below.given, below.pointer = g.member(m.name), p.pointer+"/"+escapePointer.Replace(m.name)
			}
			if below.given[0] != anything && !(p.given[0].XEmbeddedResource && isReserved(m.name)) {
				list = append(list, below)
			}
		}
	}
	return list
}

var escapePointer = strings.NewReplacer("~", "~0", "/", "~1")

// inForce returns the schemas and all that their allOf asks for.
func inForce(given []*schema.Structural) []*schema.Structural {
	all := slices.Clone(given)
	for i := 0; i < len(all); i++ {
		all = append(all, all[i].AllOf...)
	}
	return all
}
