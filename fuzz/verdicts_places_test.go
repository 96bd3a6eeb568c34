package fuzz

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	yamlv3 "gopkg.in/yaml.v3"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/validate"
)

// A placeFinder finds the values in a document, slowly and in an obvious way: in JSON by package
// jsontext, and in YAML by yaml.v3.
type placeFinder struct {
	doc       []byte
	isYAML    bool
	root      *yamlv3.Node
	positions []ferrors.Position // by offset
}

func newPlaceFinder(doc []byte, isYAML bool) *placeFinder {
	return &placeFinder{doc: doc, isYAML: isYAML}
}

// A valuePlace is where a value starts or, if the document does not have it, where the innermost
// value around it does.
type valuePlace struct {
	line, column int
	isThere      bool
	isNull       bool
	scalar       string // as field errors show it, if that is known
}

// check says what is wrong with the position of a finding. A null may be gone, so the finding may be
// at the value around it.
func (p *placeFinder) check(f *ferrors.Finding) string {
	path := slices.Collect(f.Path.Segments())
	isElided := slices.ContainsFunc(path, func(s ferrors.Segment) bool { return s.Gap > 0 })
	if isElided || p.isYAML && bytes.Contains(p.doc, []byte("<<:")) {
		return "" // yaml.v3 does not say where merged members are
	}
	at, around, err := p.find(path)
	if err != nil {
		return err.Error()
	}
	isAt := func(place valuePlace) bool { return place.line == f.Position.Line && place.column == f.Position.Column }
	if !isAt(at) && !(at.isNull && isAt(around)) {
		return fmt.Sprintf("not %d:%d", at.line, at.column)
	}
	// The texts about these rules have the value, and numbers may be in the form of a float64.
	isShown := slices.Contains([]string{"pattern", "enum", "minimum", "maximum"}, f.Invalid.Rule) &&
		!strings.Contains(f.Invalid.Msg, " boundary ")
	if isShown && at.isThere && at.scalar != "" && at.scalar != f.Invalid.Value && !areEqual(at.scalar, f.Invalid.Value) {
		return "there is " + at.scalar
	}
	return ""
}

// isName reports whether a segment leads to the member of a name. Paths shorten long names.
func isName(s ferrors.Segment, name string) bool {
	return s.IsName && (ferrors.Path{}).Child(s.Name) == (ferrors.Path{}).Child(name)
}

func areEqual(a, b string) bool {
	x, err := strconv.ParseFloat(a, 64)
	y, err2 := strconv.ParseFloat(b, 64)
	return err == nil && err2 == nil && x == y
}

func (p *placeFinder) find(path []ferrors.Segment) (at, around valuePlace, err error) {
	if p.isYAML {
		if p.root == nil {
			var doc yamlv3.Node
			if err := yamlv3.Unmarshal(p.doc, &doc); err != nil {
				return at, around, err
			}
			p.root = doc.Content[0]
		}
		at, around = inYAMLNode(p.root, path)
		return at, around, nil
	}
	if p.positions == nil {
		p.positions = positionsIn(p.doc)
	}
	return p.inJSON(p.doc, 0, path)
}

// inJSON looks in the value that starts at an offset. Of members with the same name the last one
// counts.
func (p *placeFinder) inJSON(text []byte, offset int, path []ferrors.Segment) (at, around valuePlace, err error) {
	dec := jsontext.NewDecoder(bytes.NewReader(text), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	kind := dec.PeekKind()
	value, err := dec.ReadValue()
	if err != nil {
		return at, around, err
	}
	start := offset + int(dec.InputOffset()) - len(value)
	here := p.positions[start]
	at = valuePlace{line: here.Line, column: here.Column, isThere: len(path) == 0, isNull: kind == 'n'}
	if len(path) == 0 {
		if kind == '0' || kind == '"' {
			x, err := validate.Decode(value)
			if err != nil {
				return at, around, err
			}
			at.scalar = validate.Render(x)
		}
		return at, around, nil
	}
	if kind != '{' && kind != '[' {
		return at, around, nil
	}
	dec = jsontext.NewDecoder(bytes.NewReader(value), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if _, err := dec.ReadToken(); err != nil {
		return at, around, err
	}
	var child []byte
	childAt := 0
	for i := 0; dec.PeekKind() != '}' && dec.PeekKind() != ']'; i++ {
		isIt := kind == '[' && !path[0].IsName && path[0].Index == i
		if kind == '{' {
			name, err := dec.ReadToken()
			if err != nil {
				return at, around, err
			}
			isIt = isName(path[0], name.String())
		}
		v, err := dec.ReadValue()
		if err != nil {
			return at, around, err
		}
		if isIt {
			child, childAt = bytes.Clone(v), start+int(dec.InputOffset())-len(v)
		}
	}
	if child == nil {
		return at, around, nil
	}
	inner, innerAround, err := p.inJSON(child, childAt, path[1:])
	if innerAround == (valuePlace{}) {
		innerAround = at
	}
	return inner, innerAround, err
}

func inYAMLNode(n *yamlv3.Node, path []ferrors.Segment) (at, around valuePlace) {
	at = valuePlace{line: n.Line, column: n.Column, isThere: len(path) == 0, isNull: n.Tag == "!!null"}
	if n.Tag == "!!str" {
		at.scalar = strconv.Quote(n.Value)
	}
	if len(path) == 0 {
		return at, around
	}
	var child *yamlv3.Node
	for i, c := range n.Content {
		switch {
		case n.Kind == yamlv3.SequenceNode && !path[0].IsName && path[0].Index == i,
			n.Kind == yamlv3.MappingNode && i%2 == 1 && isName(path[0], n.Content[i-1].Value):
			child = c
		}
	}
	if child == nil {
		at.scalar = ""
		return at, around
	}
	inner, innerAround := inYAMLNode(child, path[1:])
	if innerAround == (valuePlace{}) {
		innerAround = at
	}
	return inner, innerAround
}
