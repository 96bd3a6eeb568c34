package fuzz

import (
	"fmt"

	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// costs compute how many bytes defaulting.Default would insert, before it does. A default can
// contain objects that are defaulted in turn, so the bytes multiply with each level. Here they are
// counted once for each schema and added up without being copied.
type costs struct {
	nullable      bool
	value         any // the default
	total         int // of the default and everything inserted into it, or -1
	properties    map[string]*costs
	values, items *costs
}

// manyBytes is where counting ends, so that sums do not overflow.
const manyBytes = 1 << 40

func costsOf(s *structural.Structural) *costs {
	if s == nil {
		return nil
	}
	c := &costs{nullable: s.Nullable, value: s.Default.Object, total: -1, items: costsOf(s.Items)}
	if s.AdditionalProperties != nil {
		c.values = costsOf(s.AdditionalProperties.Structural)
	}
	c.properties = make(map[string]*costs, len(s.Properties))
	for name, p := range s.Properties {
		c.properties[name] = costsOf(&p)
	}
	return c
}

// inserted returns about how many bytes are inserted into x.
func (c *costs) inserted(x any) int {
	if c == nil {
		return 0
	}
	n := 0
	switch x := x.(type) {
	case map[string]any:
		for name, p := range c.properties {
			if v, found := x[name]; p.value != nil && (!found || v == nil && !p.nullable) {
				n += p.ofDefault()
			} else {
				n += p.inserted(v)
			}
		}
		for name, v := range x {
			if c.properties[name] == nil {
				n += c.values.element(v)
			}
		}
	case []any:
		for _, v := range x {
			n += c.items.element(v)
		}
	}
	return min(n, manyBytes)
}

// element is inserted for a value of a map or array, which is replaced if it is null.
func (c *costs) element(v any) int {
	if v == nil && c != nil && !c.nullable {
		return c.ofDefault()
	}
	return c.inserted(v)
}

func (c *costs) ofDefault() int {
	if c.total < 0 {
		c.total = min(len(fmt.Sprint(c.value))+c.inserted(c.value), manyBytes)
	}
	return c.total
}
