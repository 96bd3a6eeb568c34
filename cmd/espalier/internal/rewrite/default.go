package rewrite

import (
	"bytes"
	stderrors "errors"
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/yamlwriter"
)

// NewDefaulter returns a rewriter that inserts defaults.
func NewDefaulter(s *examine.Settings) *Rewriter {
	return &Rewriter{
		examiner: examine.New(s), reader: examine.New(s), begin: func() changes { return new(additions) },
		spoiled: "with its defaults the document would mean something else; the file is left as it is: write the defaults by hand",
	}
}

// additions are the defaults to be inserted into a document.
type additions []edit.Insertion

func (f *additions) count() int { return len(*f) }

func (f *additions) edits(text []byte, isYAML bool) (edits []edit.Edit, kept []int, err error) {
	if isYAML {
		edits, err = edit.InsertYAML(text, *f)
	} else {
		edits, err = edit.InsertJSON(text, *f)
	}
	return edits, nil, err
}

// errRepeated is the error for a document with duplicate names, into which no defaults are
// written.
var errRepeated = stderrors.New("it has names that occur twice in an object: remove all but the last, as espalier prune --write does, before defaults are written")

// add collects the insertions for an object.
func (f *additions) add(_ *examine.Examiner, o *examine.Object) (result []byte, err error) {
	if o.Result == nil || o.IsList {
		return nil, nil
	}
	before, err := readNode(jsonv2.NewDecoder(bytes.NewReader(o.Doc.JSON), jsonv2.AllowDuplicateNames(true)), o.Doc.JSON)
	if err == nil {
		var after *node
		after, err = readNode(jsonv2.NewDecoder(bytes.NewReader(o.Result)), o.Result)
		if err == nil {
			err = f.compare(before, after, o)
		}
	}
	if repeated, _ := edit.Repeated(o.Doc.JSON); err == nil && len(repeated) > 0 && len(*f) > 0 {
		err = errRepeated
	}
	return o.Result, err
}

// compare collects what the result of an object has and the object does not.
func (f *additions) compare(before, after *node, o *examine.Object) error {
	switch {
	case before.kind == 'n' && after.kind != 'n':
		*f = append(*f, edit.Insertion{At: o.Doc.Base + before.at, Value: slices.Clone(after.raw)})
		return nil
	case before.kind == '[' && after.kind == '[' && len(before.values) == len(after.values):
		for i := range before.values {
			if err := f.compare(before.values[i], after.values[i], o); err != nil {
				return err
			}
		}
	case before.kind == '{' && after.kind == '{':
		at := map[string]int{}
		for i, name := range before.names {
			at[name] = i
		}
		for i, name := range after.names {
			value := after.values[i]
			if old, ok := at[name]; ok {
				if err := f.compare(before.values[old], value, o); err != nil {
					return err
				}
				continue
			}
			member, err := insertion(o.Doc.Base+before.at, name, value.raw)
			if err != nil {
				return err
			}
			*f = append(*f, member)
		}
	}
	return nil
}

// insertion returns a member that is inserted into the object at an offset.
func insertion(at int, name string, value []byte) (edit.Insertion, error) {
	js, err := jsonv2.AppendQuote([]byte("{"), name)
	if err != nil {
		return edit.Insertion{}, err
	}
	lines, err := yamlwriter.Document(append(append(append(js, ':'), value...), '}'))
	return edit.Insertion{At: at, Name: name, Value: slices.Clone(value), Lines: string(lines)}, err
}

// A node is a value of a JSON text, with the values in it.
type node struct {
	kind   jsonv2.Kind
	at     int // its offset
	raw    []byte
	names  []string
	values []*node
}

// readNode reads the next value of a text. Decoding has limited its depth.
func readNode(d *jsonv2.Decoder, js []byte) (*node, error) {
	n := &node{kind: d.PeekKind()}
	if n.kind != '{' && n.kind != '[' {
		value, err := d.ReadValue()
		n.at = int(d.InputOffset()) - len(value)
		n.raw = js[n.at:d.InputOffset()]
		return n, err
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	n.at = int(d.InputOffset()) - 1
	for next := d.PeekKind(); next != '}' && next != ']'; next = d.PeekKind() {
		if n.kind == '{' {
			name, err := d.ReadToken()
			if err != nil {
				return nil, err
			}
			n.names = append(n.names, name.String())
		}
		value, err := readNode(d, js)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, value)
	}
	_, err := d.ReadToken()
	n.raw = js[n.at:d.InputOffset()]
	return n, err
}
