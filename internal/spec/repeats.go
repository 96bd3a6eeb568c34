package spec

import "github.com/espalier-dev/espalier/errors"

// lastWins returns the value without the members whose name comes again in their object. The last
// one counts, and stays where it is: RFC 8259, section 4, leaves it open, and the server reads a
// document into maps.
func lastWins(v Value) Value {
	switch v := v.(type) {
	case Object:
		left := make(Object, 0, len(v))
		for i, m := range v {
			if !v[i+1:].has(m.Name) {
				left = append(left, Member{m.Name, lastWins(m.Value)})
			}
		}
		return left
	case Array:
		return v.each(func(_ int, e Value) Value { return lastWins(e) })
	}
	return v
}

// findRepeated finds the names that repeat in an object, in all of the document, where the second
// of them is. A path is reported once, however often its name repeats (sigs.k8s.io/json:
// saveStrictError).
func (f *findings) findRepeated(v Value, at *place) {
	switch v := v.(type) {
	case Object:
		for i, m := range v {
			here := at.field(m.Name)
			if v[:i].has(m.Name) && !f.repeated.has(here.path()) {
				f.repeated.add(errors.DuplicateField, here)
			}
			f.findRepeated(m.Value, here)
		}
	case Array:
		for i, e := range v {
			f.findRepeated(e, at.element(i))
		}
	}
}
