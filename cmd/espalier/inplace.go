package main

import (
	"bytes"
	stderrors "errors"
	"fmt"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/position"
)

// How much is removed from one object at most: it is known before, and with it
// where it stands.
const (
	maxRemoved      = 10_000
	maxRemovedBytes = 16 << 20
)

// A target is a document that is edited in its file.
type target struct {
	verdict
	doc     document // of which the texts are not valid any more
	length  int      // of its text
	results []byte   // what becomes of its objects, which must not change
	err     error    // why it is left as it is
}

// targetOf returns the document that an object is in, or that holds it in a List.
func targetOf(o *object) target {
	t := target{doc: o.doc, length: len(o.doc.text)}
	t.verdict = verdict{identity: o.identity, document: o.document, start: o.start}
	t.namespace, t.name = peekName(o.doc.json)
	return t
}

func (t *target) result(object []byte) { t.results = append(append(t.results, object...), '\n') }

// refused says why a document is left as it is.
func (t *target) refused(why string) verdict {
	v := t.verdict
	v.findings = []finding{{severity: failure, fatal: true, rule: ruleEdit, message: why, at: v.start}}
	return v
}

// A removal says what is to be removed from a document.
type removal struct {
	target
	names  []int // where the members start that are to go, in its JSON
	edited bool
}

// object notes what was found in an object.
func (m *removal) object(o *object) {
	if o.decoder.Omitted() > 0 {
		m.err = fmt.Errorf("more than %d unknown and duplicate fields in one object; the document is left as it is", len(o.decoder.Findings()))
	}
	m.unknown(o.doc, o.decoder.Findings())
	m.repeated(o.doc, func(int) bool { return true })
	m.result(o.result)
}

// envelope notes what was found in a List, and not in its items.
func (m *removal) envelope(o *object) {
	m.unknown(o.doc, o.decoder.Findings())
	from, to := 0, 0
	if n := len(o.items); n > 0 {
		from, to = o.items[0].base, o.items[n-1].base+len(o.items[n-1].json)
	}
	m.repeated(o.doc, func(at int) bool { return at < from || to <= at })
}

func (m *removal) unknown(doc document, found errors.List) {
	for i := range found {
		if found[i].Kind == errors.UnknownField {
			m.names = append(m.names, doc.base+int(found[i].Position.Offset))
		}
	}
}

// repeated notes the members whose names stand again later: the last one wins.
func (m *removal) repeated(doc document, counts func(at int) bool) {
	names, err := edit.Repeated(doc.json)
	if err != nil {
		m.err = err
	}
	for _, at := range names {
		if counts(doc.base + at) {
			m.names = append(m.names, doc.base+at)
		}
	}
}

// removals looks at all documents of a file. report is called for each object.
func removals(e *examiner, name string, content []byte, report func(verdict)) (all []*removal) {
	var m *removal
	e.input(name, bytes.NewReader(content), func(o *object) bool {
		if m == nil || m.doc.number != o.document {
			m = &removal{target: targetOf(o)}
			all = append(all, m)
		}
		switch {
		case o.isList && o.decoder != nil && !o.isFatal():
			m.envelope(o)
			if frame, ok := frameOf(e, o); ok {
				m.result(frame)
			}
		case o.result != nil:
			m.object(o)
		}
		report(o.verdict)
		return true
	})
	return all
}

// frameOf returns what becomes of what is around the items of a List.
func frameOf(e *examiner, o *object) (result []byte, ok bool) {
	var err error
	e.out, err = e.decoder(e.frame).AppendJSON(e.out[:0], o.doc.json)
	if err != nil && !stderrors.As(err, new(*errors.StrictError)) {
		e.refuse(o, err, o.doc.locate)
		return nil, false
	}
	return e.out, true
}

// pruneFile returns the content of a file without what is pruned, and the edits that
// lead to it: none where there is nothing to do. Documents that cannot be edited are
// reported and left as they are.
func pruneFile(e *examiner, name string, content []byte, report func(verdict)) (edited []byte, edits []edit.Edit) {
	before := removals(e, name, content, report)
	edits = editDocuments(content, before, report)
	if len(edits) == 0 {
		return content, nil
	}
	edited = edit.Apply(content, edits)
	if m := changed(e, name, edited, before); m != nil {
		report(m.refused("without its unknown and duplicate fields the document would be another; the file is left as it is"))
		return content, nil
	}
	return edited, edits
}

// editDocuments returns the edits of all documents in the content of a file.
func editDocuments(content []byte, removals []*removal, report func(verdict)) (edits []edit.Edit) {
	var lines position.Index
	lines.Start(content, 0)
	for _, m := range removals {
		if m.err == nil && len(m.names) == 0 {
			continue
		}
		start := int(m.doc.start.Offset)
		text := content[start : start+m.length]
		var some []edit.Edit
		var kept []int
		err := m.err
		switch {
		case err != nil:
		case m.doc.isYAML:
			some, kept, err = edit.YAML(text, m.names)
		default:
			some, err = edit.JSON(text, m.names)
		}
		if err != nil {
			report(m.refused(err.Error()))
			continue
		}
		if len(kept) > 0 {
			v := m.verdict
			for _, at := range kept {
				v.findings = append(v.findings, finding{severity: warning, rule: ruleEdit, at: lines.At(start + at), message: keptComment})
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
const keptComment = "the comment stays, though the field that it stood by goes: it looks like code of a template, or like a directive; see whether it is still right"

// changed returns the first document of which the objects in an edited file are not
// the same as before, or that still has something to be removed though it was edited;
// nil where there is none.
func changed(e *examiner, name string, edited []byte, before []*removal) *removal {
	after := removals(e, name, edited, func(verdict) {})
	for i, b := range before {
		if i == len(after) || !bytes.Equal(b.results, after[i].results) || b.edited && len(after[i].names) > 0 {
			return b
		}
	}
	return nil
}
