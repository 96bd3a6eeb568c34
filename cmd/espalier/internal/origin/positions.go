package origin

import (
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// Positions calls visit for definitions of a text that was read as a file with a name. at returns
// the position in the file of what names and indices lead to in the definition, or of the nearest
// place above that exists. It is valid during the call.
func Positions(
	file string, content []byte, crds []*schema.CRD,
	visit func(crd *schema.CRD, at func(steps []string) errors.Position),
) {
	texts := [][]byte{content}
	if plain, ok := input.WithoutActionLines(content); ok {
		texts = append(texts, plain)
	}
	for _, text := range texts {
		left := crds
		var reader input.Reader
		for doc, err := range reader.Texts(file, text) {
			if err != nil {
				continue
			}
			s := source{doc: doc}
			s.lines.Start(doc.JSON, 0)
			left = slices.DeleteFunc(slices.Clone(left), func(crd *schema.CRD) bool {
				if crd.Document == doc.Number {
					base := definitionBase(doc, crd)
					visit(crd, func(steps []string) errors.Position { return s.nearest(base, steps) })
				}
				return crd.Document == doc.Number
			})
		}
		crds = left
	}
}

// nearest returns the position of what steps lead to, or of the nearest place above. A schema that
// all versions share may be in either of two places.
func (s *source) nearest(base, steps []string) errors.Position {
	n := &s.root
	for _, step := range base {
		if n = n.find(s.doc.JSON, step); n == nil {
			return errors.Position{}
		}
	}
	if len(steps) > 3 && strings.Join(steps[:2], ".") == "spec.versions" && steps[3] == "schema" && !s.has(n, steps[:4]) && s.has(n, shared) {
		steps = append(slices.Clone(shared), steps[4:]...)
	}
	if len(steps) > 1 && slices.Equal(steps[:2], shared) && !s.has(n, shared) {
		steps = append([]string{"spec", "versions", "0", "schema"}, steps[2:]...)
	}
	for _, step := range steps {
		below := n.find(s.doc.JSON, step)
		if below == nil {
			break
		}
		n = below
	}
	return s.doc.Locate(s.lines.At(n.at))
}

// shared leads to the schema that all versions share, in v1beta1 and in errors of the server.
var shared = []string{"spec", "validation"}

func (s *source) has(n *node, steps []string) bool {
	for _, step := range steps {
		if n = n.find(s.doc.JSON, step); n == nil {
			return false
		}
	}
	return true
}
