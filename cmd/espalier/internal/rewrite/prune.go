// Package rewrite makes the edits that prune a file or write its defaults down. It
// works on contents and touches no file. An edit counts only if the new content,
// examined again, gives the same objects.
package rewrite

import (
	"bytes"
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
	doc     input.Document // without its texts, which are not valid any more
	length  int            // length of its text
	results []byte         // the results for its objects, which the edits must not change
	err     error          // the reason for not editing it
}

// editedDocumentOf returns the document that contains an object.
func editedDocumentOf(o *examine.Object) editedDocument {
	t := editedDocument{doc: o.Doc, length: len(o.Doc.Text)}
	t.Outcome = finding.Outcome{Identity: o.Identity, Document: o.Document, Start: o.Start}
	t.Namespace, t.Name = locate.ObjectName(o.Doc.JSON)
	return t
}

func (t *editedDocument) result(object []byte) {
	t.results = append(append(t.results, object...), '\n')
}

// refused returns the outcome for a document that is not edited.
func (t *editedDocument) refused(why string) finding.Outcome {
	v := t.Outcome
	v.Findings = []finding.Finding{{Severity: finding.Error, Fatal: true, Rule: finding.RuleEdit, Message: why, At: v.Start}}
	return v
}

// A removal is a document with the members to be removed from it.
type removal struct {
	editedDocument
	names  []int // offsets of the members to be removed, in its JSON
	edited bool
}

// object collects the removals in an object.
func (m *removal) object(o *examine.Object) {
	if o.Decoder.Omitted() > 0 {
		m.err = fmt.Errorf("more than %d unknown and duplicate fields in one object; the document is left as it is", len(o.Decoder.Findings()))
	}
	m.unknown(o.Doc, o.Decoder.Findings())
	m.repeated(o.Doc, func(int) bool { return true })
	m.result(o.Result)
}

// list collects the removals in a List, without those in its items.
func (m *removal) list(o *examine.Object) {
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

// repeated collects the members whose names occur again later, because the last one wins.
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

// removalsIn examines the documents of a file. It calls report for each object.
func removalsIn(e *examine.Examiner, name string, content []byte, report func(finding.Outcome)) (all []*removal) {
	var m *removal
	e.Input(name, bytes.NewReader(content), func(o *examine.Object) bool {
		if m == nil || m.doc.Number != o.Document {
			m = &removal{editedDocument: editedDocumentOf(o)}
			all = append(all, m)
		}
		switch {
		case o.IsList && o.Decoder != nil && !o.IsFatal():
			m.list(o)
			if list, ok := e.WithoutItems(o); ok {
				m.result(list)
			}
		case o.Result != nil:
			m.object(o)
		}
		report(o.Outcome)
		return true
	})
	return all
}

// Prune returns the content of a file without the members that are pruned or lose to a
// duplicate, and the edits that make it. If there is nothing to remove, there are no edits.
// Documents that cannot be edited are reported.
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

// editDocuments returns the edits for all documents in the content of a file.
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

// keptComment is the warning for comments that may be about more than their field.
const keptComment = "the comment is kept, though its field is removed, because it looks like template code or a directive: check that it is still right"

// changed returns the first document that the edits have spoiled, or nil: its objects are not
// the same as before, or although it was edited, it has something to remove.
func changed(e *examine.Examiner, name string, edited []byte, before []*removal) *removal {
	after := removalsIn(e, name, edited, func(finding.Outcome) {})
	for i, b := range before {
		if i == len(after) || !bytes.Equal(b.results, after[i].results) || b.edited && len(after[i].names) > 0 {
			return b
		}
	}
	return nil
}
