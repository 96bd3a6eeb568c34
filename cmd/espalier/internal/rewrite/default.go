package rewrite

import (
	"bytes"
	stderrors "errors"
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/yamlwriter"
	"github.com/espalier-dev/espalier/internal/jsonv2"
)

// An addition is a document with the defaults to be inserted into it.
type addition struct {
	editedDocument
	insertions []edit.Insertion
}

// Default returns the content of a file with its defaults, and the edits that make it. If there
// is nothing to insert, there are no edits.
func Default(e *examine.Examiner, name string, content []byte, report func(finding.Outcome)) (edited []byte, edits []edit.Edit) {
	before := additionsIn(e, name, content, report)
	for _, f := range before {
		some, err := f.edits(content)
		if err != nil {
			report(f.refused(err.Error()))
			continue
		}
		edits = append(edits, some...)
	}
	if len(edits) == 0 {
		return content, nil
	}
	edited = edit.Apply(content, edits)
	after := additionsIn(e, name, edited, func(finding.Outcome) {})
	for i, f := range before {
		if i == len(after) || !bytes.Equal(f.results, after[i].results) {
			report(f.refused("with its defaults the document would mean something else; the file is left as it is"))
			return content, nil
		}
	}
	return edited, edits
}

// edits returns the edits for the document, with offsets in the content of its file.
func (f *addition) edits(content []byte) (edits []edit.Edit, err error) {
	if f.err != nil || len(f.insertions) == 0 {
		return nil, f.err
	}
	start := int(f.doc.Start.Offset)
	text := content[start : start+f.length]
	if f.doc.IsYAML {
		edits, err = edit.InsertYAML(text, f.insertions)
	} else {
		edits, err = edit.InsertJSON(text, f.insertions)
	}
	for i := range edits {
		edits[i].From += start
		edits[i].To += start
	}
	return edits, err
}

// additionsIn examines the documents of a file. It calls report for each object.
func additionsIn(e *examine.Examiner, name string, content []byte, report func(finding.Outcome)) (all []*addition) {
	var f *addition
	e.Input(name, bytes.NewReader(content), func(o *examine.Object) bool {
		if f == nil || f.doc.Number != o.Document {
			f = &addition{editedDocument: editedDocumentOf(o)}
			all = append(all, f)
		}
		if o.Result != nil && !o.IsList {
			f.object(o)
		}
		report(o.Outcome)
		return true
	})
	return all
}

// errRepeated is the error for a document with duplicate names, into which no defaults are
// written.
var errRepeated = stderrors.New("names occur twice in it: remove all but the last with espalier prune --write before defaults are written")

// object collects the insertions for an object.
func (f *addition) object(o *examine.Object) {
	f.result(o.Result)
	before, err := readNode(jsonv2.NewDecoder(bytes.NewReader(o.Doc.JSON), jsonv2.AllowDuplicateNames(true)), o.Doc.JSON)
	if err == nil {
		var after *node
		after, err = readNode(jsonv2.NewDecoder(bytes.NewReader(o.Result)), o.Result)
		if err == nil {
			err = f.compare(before, after, o)
		}
	}
	if repeated, _ := edit.Repeated(o.Doc.JSON); err == nil && len(repeated) > 0 && len(f.insertions) > 0 {
		err = errRepeated
	}
	if err != nil {
		f.err = err
	}
}

// compare collects what the result of an object has and the object does not.
func (f *addition) compare(before, after *node, o *examine.Object) error {
	switch {
	case before.kind == 'n' && after.kind != 'n':
		f.insertions = append(f.insertions, edit.Insertion{At: o.Doc.Base + before.at, Value: slices.Clone(after.raw)})
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
			f.insertions = append(f.insertions, member)
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
