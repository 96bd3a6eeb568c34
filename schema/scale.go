package schema

import (
	"strings"

	"github.com/espalier-dev/espalier/internal/program"
)

// A scale is what is left of the paths of a scale subresource below a node, each in a line: a letter,
// and the names with a dot before each. The letter is i for the path of an integer, and s for that
// of a string. The server, too, splits paths at their dots.
type scale string

// rootVariant returns the variant of the root, with the paths of the scale subresource.
func (v *values) rootVariant() (of variant) {
	if v.maker == nil || v.version == nil || v.version.Scale == nil {
		return of
	}
	add := func(letter, path string) { of.scale += scale(letter + "." + strings.TrimPrefix(path, ".") + "\n") }
	add("i", v.version.Scale.SpecReplicasPath)
	add("i", v.version.Scale.StatusReplicasPath)
	if path := v.version.Scale.LabelSelectorPath; path != nil {
		add("s", *path)
	}
	return of
}

// each calls f for each path: with its letter, its first name, and the rest. Of a path that ends here
// there is no more.
func (s scale) each(f func(letter, name, rest string, more bool)) {
	for line := range strings.Lines(string(s)) {
		letter, path := line[:1], strings.TrimSuffix(line[1:], "\n")
		name, rest := "", ""
		if path != "" {
			var goesOn bool
			if name, rest, goesOn = strings.Cut(path[1:], "."); goesOn {
				rest = "." + rest
			}
		}
		f(letter, name, rest, path != "")
	}
}

// below returns what is left of the paths in a member.
func (s scale) below(name string) (below scale) {
	s.each(func(letter, first, rest string, more bool) {
		if more && first == name {
			below += scale(letter + rest + "\n")
		}
	})
	return below
}

// restrict adds the rules for the ends of paths, and for what is on the way to them
// (customResourceValidator.ValidateScaleSpec and ValidateScaleStatus).
func (p scale) restrict(r *program.Rules, maker ruleMaker, s *Structural) {
	p.each(func(letter, name, rest string, more bool) {
		switch {
		case more:
			r.Types &= program.Object | program.Null
			if _, ok := s.Properties[name]; !ok && (s.AdditionalProperties != nil || rest != "") {
				r.Unsure = true // there may be such a member
			}
		case letter == "s":
			r.Types &= program.String
		default:
			r.Types &= program.Integer
			maker.Replicas(r)
		}
	})
}
