package fuzz

import (
	"maps"
	"slices"
	"time"

	"github.com/espalier-dev/espalier/schema"
)

// minimise makes a pair smaller while its difference stays the same.
func minimise(s *schema.Structural, doc []byte, k class, what string, newComparer maker) (*schema.Structural, []byte) {
	deadline := time.Now().Add(2 * time.Second)
	for range 4 {
		size := len(marshal(s)) + len(doc)
		c, err := newComparer(s, marshal(s))
		if err != nil {
			return s, doc
		}
		doc = shorten(doc, stillDiffers(c, k, what, deadline))
		s = reduce(s, func(s *schema.Structural) bool {
			c, err := newComparer(s, marshal(s))
			return err == nil && stillDiffers(c, k, what, deadline)(doc)
		})
		if len(marshal(s))+len(doc) == size {
			break
		}
	}
	return s, doc
}

// stillDiffers returns a test for whether a document has the difference. After the deadline it
// rejects all documents, to end the search for a smaller one.
func stillDiffers(c *comparer, k class, what string, deadline time.Time) func([]byte) bool {
	return func(doc []byte) bool {
		if time.Now().After(deadline) {
			return false
		}
		class, w, _ := c.compare(doc)
		return class == k && w == what
	}
}

// shorten leaves out runs of bytes while the text still fails.
func shorten(doc []byte, fails func([]byte) bool) []byte {
	for size := len(doc) / 2; size > 0; {
		removed := false
		for at := 0; at+size <= len(doc); {
			if shorter := slices.Concat(doc[:at], doc[at+size:]); fails(shorter) {
				doc, removed = shorter, true
			} else {
				at++
			}
		}
		if !removed || size > len(doc) {
			size = min(size-1, size*2/3, len(doc))
		}
	}
	return doc
}

// reduce leaves out parts of the schema while it still fails.
func reduce(s *schema.Structural, fails func(*schema.Structural) bool) *schema.Structural {
	try := func(edit func(n *schema.Structural), path []func(*schema.Structural) *schema.Structural) bool {
		c := clone(s)
		n := c
		for _, step := range path {
			n = step(n)
		}
		edit(n)
		if string(marshal(c)) != string(marshal(s)) && fails(c) {
			s = c
			return true
		}
		return false
	}
	var visit func(path []func(*schema.Structural) *schema.Structural)
	visit = func(path []func(*schema.Structural) *schema.Structural) {
		at := func() *schema.Structural {
			n := s
			for _, step := range path {
				n = step(n)
			}
			return n
		}
		for _, edit := range []func(*schema.Structural){
			func(n *schema.Structural) { n.Properties = nil },
			func(n *schema.Structural) { n.AdditionalProperties = nil },
			func(n *schema.Structural) { n.Items = nil },
			func(n *schema.Structural) { n.Default = nil },
			func(n *schema.Structural) { n.XPreserveUnknownFields = nil },
			func(n *schema.Structural) { n.XEmbeddedResource = false },
			func(n *schema.Structural) { n.XIntOrString = false },
			func(n *schema.Structural) { n.Nullable = false },
		} {
			try(edit, path)
		}
		for _, name := range slices.Sorted(maps.Keys(at().Properties)) {
			if !try(func(n *schema.Structural) { delete(n.Properties, name) }, path) {
				visit(slices.Concat(path, []func(*schema.Structural) *schema.Structural{
					func(n *schema.Structural) *schema.Structural { return n.Properties[name] }}))
			}
		}
		if n := at(); n.Items != nil {
			visit(slices.Concat(path, []func(*schema.Structural) *schema.Structural{
				func(n *schema.Structural) *schema.Structural { return n.Items.Schema }}))
		}
		if n := at(); n.AdditionalProperties != nil && n.AdditionalProperties.Schema != nil {
			visit(slices.Concat(path, []func(*schema.Structural) *schema.Structural{
				func(n *schema.Structural) *schema.Structural { return n.AdditionalProperties.Schema }}))
		}
	}
	visit(nil)
	return s
}

func clone(s *schema.Structural) *schema.Structural {
	c, err := schema.Parse(marshal(s))
	if err != nil {
		panic(err)
	}
	return c
}
