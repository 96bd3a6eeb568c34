package validation

import (
	"fmt"
	"maps"
	"slices"

	"github.com/espalier-dev/espalier/schema"
)

// maxPlaces is how many places a schema may have for [Structural], [Warnings] and [CRD], which
// visit each of them. It is more than a text of 256 MiB can have. A schema that a program has made
// may be in many places.
const maxPlaces = 1 << 24

// infinite returns the reason why not all places of a schema can be visited, or "" if they can.
func infinite(s *schema.Structural) string {
	f := finite{places: map[*schema.Structural]int{}}
	switch n := f.count(s, 0); {
	case f.loops:
		return fmt.Sprintf("must not hold itself, or be deeper than %d", schema.MaxDepth)
	case n > maxPlaces:
		return fmt.Sprintf("has more than %d places: a schema counts once for each place that it is in", maxPlaces)
	}
	return ""
}

// A finite counts the places of a schema, in time linear in its size.
type finite struct {
	places map[*schema.Structural]int // 0 while it is counted
	loops  bool
}

func (f *finite) count(s *schema.Structural, depth int) int {
	if s == nil || f.loops {
		return 0
	}
	if n, known := f.places[s]; known || depth > schema.MaxDepth {
		f.loops = f.loops || n == 0
		return n
	}
	f.places[s] = 0
	n := 1
	for _, c := range within(s) {
		n = min(n+f.count(c, depth+1), maxPlaces+1)
	}
	f.places[s] = n
	return n
}

// within returns the schemas in s, some of which may be nil.
func within(s *schema.Structural) []*schema.Structural {
	list := []*schema.Structural{s.Not, element(s), additional(s)}
	list = slices.Concat(list, s.AllOf, s.AnyOf, s.OneOf)
	for _, m := range []map[string]*schema.Structural{s.Properties, s.PatternProperties, s.Definitions} {
		list = slices.AppendSeq(list, maps.Values(m))
	}
	if s.AdditionalItems != nil {
		list = append(list, s.AdditionalItems.Schema)
	}
	if s.Items != nil {
		list = append(list, s.Items.Schemas...)
	}
	return list
}
