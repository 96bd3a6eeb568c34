// Package adversarial has families of documents that are made to cost more than their size. Its
// tests assert what each of them may cost. Module bench asserts that twice the document costs twice
// the time.
package adversarial

import (
	"strings"
)

// Schema is the schema of all families, as YAML. It has a place for each thing that can happen to a
// value: it is declared and walked, kept whole, dropped, or defaulted.
const Schema = `
type: object
properties:
  apiVersion: {type: string}
  kind: {type: string}
  metadata: {type: object}
  s: {type: string}
  raw: {x-kubernetes-preserve-unknown-fields: true}
  spec: {type: object, properties: {a: {type: string}, b: {type: integer}}}
  map: {type: object, additionalProperties: {type: string}}
  objects:
    type: object
    additionalProperties: {type: object, properties: {a: {type: string}}}
  strings: {type: array, items: {type: string}}
  numbers: {type: array, items: {type: number}}
  list:
    type: array
    items:
      type: object
      properties:
        a: {type: string, default: some}
        o: {type: object, default: {p: 1, q: [1, 2]}, properties: {p: {type: integer}, q: {type: array, items: {type: integer}}}}
        long-name-of-a-field-1-declared: {type: string}
        long-name-of-a-field-2-declared: {type: string}
`

// A Family makes documents of one kind.
type Family struct {
	Name string
	YAML bool
	// Fatal says that the documents are refused, at their end.
	Fatal bool
	// Lookups says that parts of the documents refer to any other part.
	Lookups bool
	// Make returns a document of about n bytes.
	Make func(n int) []byte
}

// Families returns all families.
func Families() []Family {
	var all []Family
	for _, list := range [][]Family{
		objects(), collisions(), nested(), scalars(), places(), blocks(), flows(), aliases(), merges(), lines(),
	} {
		all = append(all, list...)
	}
	return all
}

// fill returns head, then unit(0), unit(1) and so on up to n bytes, then tail.
func fill(head, tail string, unit func(i int) string) func(n int) []byte {
	return func(n int) []byte {
		b := append(make([]byte, 0, n+1024), head...)
		for i := 0; len(b)+len(tail) < n; i++ {
			b = append(b, unit(i)...)
		}
		return append(b, tail...)
	}
}

// same returns a unit that does not change.
func same(unit string) func(int) string { return func(int) string { return unit } }

// nest returns open depth times, then middle, then close depth times.
func nest(open, middle, close string, depth int) string {
	return strings.Repeat(open, depth) + middle + strings.Repeat(close, depth)
}

// fields returns a JSON family for each place of the schema where any value may be. The name of the
// family ends with that place.
func fields(name string, make func(before, after string) func(n int) []byte) []Family {
	return []Family{
		{Name: name + ", dropped", Make: make(`{"zz":`, `}`)},
		{Name: name + ", kept", Make: make(`{"raw":`, `}`)},
		{Name: name + ", walked", Make: make(`{"map":`, `}`)},
	}
}
