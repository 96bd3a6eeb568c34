// Package rewrite makes the edits that prune a file or write its defaults down. It
// works on contents and touches no file. An edit counts only if the new content,
// examined again, gives the same objects.
package rewrite

import (
	"bytes"
	stderrors "errors"
	"fmt"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
)

// An editedDocument is a document that is edited in its file.
type editedDocument struct {
	finding.Outcome
	doc     input.Document // of which the texts are not valid any more
	length  int            // of its text
	results []byte         // what becomes of its objects, which must not change
	err     error          // why it is left as it is
}

// targetOf returns the document that an object is in, or that holds it in a List.
func targetOf(o *examine.Object) editedDocument {
	t := editedDocument{doc: o.Doc, length: len(o.Doc.Text)}
	t.Outcome = finding.Outcome{Identity: o.Identity, Document: o.Document, Start: o.Start}
	t.Namespace, t.Name = locate.ObjectName(o.Doc.JSON)
	return t
}

func (t *editedDocument) result(object []byte) {
	t.results = append(append(t.results, object...), '\n')
}

// refused says why a document is left as it is.
func (t *editedDocument) refused(why string) finding.Outcome {
	v := t.Outcome
	v.Findings = []finding.Finding{{Severity: finding.Error, Fatal: true, Rule: finding.RuleEdit, Message: why, At: v.Start}}
	return v
}

// A removal says what is to be removed from a document.
type removal struct {
	editedDocument
	names  []int // where the members start that are to go, in its JSON
	edited bool
}

// object notes what was found in an object.
func (m *removal) object(o *examine.Object) {
	if o.Decoder.Omitted() > 0 {
		m.err = fmt.Errorf("more than %d unknown and duplicate fields in one object; the document is left as it is", len(o.Decoder.Findings()))
	}
	m.unknown(o.Doc, o.Decoder.Findings())
	m.repeated(o.Doc, func(int) bool { return true })
	m.result(o.Result)
}

// envelope notes what was found in a List, and not in its items.
func (m *removal) envelope(o *examine.Object) {
	m.unknown(o.Doc, o.Decoder.Findings())
	from, to := 0, 0
	if n := len(o.Items); n > 0 {
		from, to = o.Items[0].Base, o.Items[n-1].Base+len(o.Items[n-1].JSON)
	}
	m.repeated(o.Doc, func(at int) bool { return at < from || to <= at })
}

func (m *removal) unknown(doc input.Document, found errors.List) {
	for i := range found {
		if found[i].Kind == errors.UnknownField {
			m.names = append(m.names, doc.Base+int(found[i].Position.Offset))
		}
	}
}

// repeated notes the members whose names stand again later: the last one wins.
func (m *removal) repeated(doc input.Document, counts func(at int) bool) {
	names, err := edit.Repeated(doc.JSON)
	if err != nil {
		m.err = err
	}
	for _, at := range names {
		if counts(doc.Base + at) {
			m.names = append(m.names, doc.Base+at)
		}
	}
}

// removalsIn looks at all documents of a file. report is called for each object.
func removalsIn(e *examine.Examiner, name string, content []byte, report func(finding.Outcome)) (all []*removal) {
	var m *removal
	e.Input(name, bytes.NewReader(content), func(o *examine.Object) bool {
		if m == nil || m.doc.Number != o.Document {
			m = &removal{editedDocument: targetOf(o)}
			all = append(all, m)
		}
		switch {
		case o.IsList && o.Decoder != nil && !o.IsFatal():
			m.envelope(o)
			if frame, ok := frameOf(e, o); ok {
				m.result(frame)
			}
		case o.Result != nil:
			m.object(o)
		}
		report(o.Outcome)
		return true
	})
	return all
}

// frameOf returns what becomes of what is around the items of a List.
func frameOf(e *examine.Examiner, o *examine.Object) (result []byte, ok bool) {
	var err error
	e.Out, err = e.Decoder(e.EmptyList).AppendJSON(e.Out[:0], o.Doc.JSON)
	if err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		e.Refuse(o, err, o.Doc.Locate)
		return nil, false
	}
	return e.Out, true
}

// Prune returns the content of a file without what is pruned, and the edits that
// lead to it: none where there is nothing to do. Documents that cannot be edited are
// reported and left as they are.
func Prune(e *examine.Examiner, name string, content []byte, report func(finding.Outcome)) (edited []byte, edits []edit.Edit) {
	before := removalsIn(e, name, content, report)
	edits = editDocuments(content, before, report)
	if len(edits) == 0 {
		return content, nil
	}
	edited = edit.Apply(content, edits)
	if m := changed(e, name, edited, before); m != nil {
		report(m.refused("without its unknown and duplicate fields the document would mean something else; the file is left as it is"))
		return content, nil
	}
	return edited, edits
}

// editDocuments returns the edits of all documents in the content of a file.
func editDocuments(content []byte, removals []*removal, report func(finding.Outcome)) (edits []edit.Edit) {
	var lines position.Index
	lines.Start(content, 0)
	for _, m := range removals {
		if m.err == nil && len(m.names) == 0 {
			continue
		}
		start := int(m.doc.Start.Offset)
		text := content[start : start+m.length]
		var some []edit.Edit
		var kept []int
		err := m.err
		switch {
		case err != nil:
		case m.doc.IsYAML:
			some, kept, err = edit.YAML(text, m.names)
		default:
			some, err = edit.JSON(text, m.names)
		}
		if err != nil {
			report(m.refused(err.Error()))
			continue
		}
		if len(kept) > 0 {
			v := m.Outcome
			for _, at := range kept {
				v.Findings = append(v.Findings, finding.Finding{Severity: finding.Warning, Rule: finding.RuleEdit, At: lines.At(start + at), Message: keptComment})
			}
			report(v)
		}
		for _, one := range some {
			edits = append(edits, edit.Edit{From: start + one.From, To: start + one.To, Text: one.Text})
		}
		m.edited = true
	}
	return edits
}

// keptComment is said of comments that are not about a field alone.
const keptComment = "the comment is kept, though its field is removed, because it looks like template code or a directive: check that it is still right"

// changed returns the first document of which the objects in an edited file are not
// the same as before, or that still has something to be removed though it was edited;
// nil where there is none.
func changed(e *examine.Examiner, name string, edited []byte, before []*removal) *removal {
	after := removalsIn(e, name, edited, func(finding.Outcome) {})
	for i, b := range before {
		if i == len(after) || !bytes.Equal(b.results, after[i].results) || b.edited && len(after[i].names) > 0 {
			return b
		}
	}
	return nil
}
