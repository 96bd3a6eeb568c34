package main

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/edit"
)

// How much is removed from one object at most: it is known before, and with it
// where it stands.
const (
	maxRemoved      = 10_000
	maxRemovedBytes = 16 << 20
)

// A removal says what is to be removed from a document.
type removal struct {
	doc     document // of which the texts are not valid any more
	length  int      // of its text
	names   []int    // where the members start that are to go, in its JSON
	results []byte   // what becomes of its objects, which must not change
	err     error    // why it is left as it is
	edited  bool
}

// object notes what was found in an object.
func (m *removal) object(doc document, d *decoder.Decoder) {
	if d.Omitted() > 0 {
		m.err = fmt.Errorf("more than %d unknown and duplicate fields in one object; the document is left as it is", len(d.Findings()))
	}
	m.unknown(doc, d.Findings())
	m.repeated(doc, func(int) bool { return true })
}

// envelope notes what was found in a List, and not in its items.
func (m *removal) envelope(doc document, items []document, found errors.List) {
	m.unknown(doc, found)
	from, to := 0, 0
	if n := len(items); n > 0 {
		from, to = items[0].base, items[n-1].base+len(items[n-1].json)
	}
	m.repeated(doc, func(at int) bool { return at < from || to <= at })
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

func (m *removal) result(object []byte) { m.results = append(append(m.results, object...), '\n') }

// removals looks at all documents of an input.
func (p *pruner) removals(r *report, name string, content []byte) (all []*removal) {
	for doc, err := range documents(name, bytes.NewReader(content)) {
		if err != nil {
			r.unreadable(doc, err)
			continue
		}
		p.removal = &removal{doc: doc, length: len(doc.text)}
		// It fails only where it writes.
		_ = p.document(r, doc, true)
		all = append(all, p.removal)
	}
	return all
}

// editFile removes from a file what is pruned, or shows the difference. Documents
// that cannot be edited are reported and left as they are.
func (p *pruner) editFile(name string, stdin io.Reader) error {
	display, in, err := open(name, stdin)
	if err != nil {
		p.fail("%v", err)
		return nil
	}
	defer in.Close()
	content, err := io.ReadAll(in)
	if err != nil {
		p.fail("%v", err)
		return nil
	}
	r := &report{to: p.stderr, file: display}
	defer func() { p.code = max(p.code, r.code) }()
	removals := p.removals(r, name, content)
	edits := editDocuments(r, content, removals)
	if len(edits) == 0 {
		return nil
	}
	edited := edit.Apply(content, edits)
	if doc, ok := p.isSame(name, edited, removals); !ok {
		r.fatal(doc, stderrors.New("without its unknown and duplicate fields the document would be another; the file is left as it is"), doc.locate)
		return nil
	}
	if p.diff {
		p.code = max(p.code, exitFindings)
		before, after := diffNames(display)
		return p.print(colorDiff(edit.Unified(before, after, content, edits), p.colored))
	}
	if err := replaceFile(name, edited); err != nil {
		p.fail("%v", err)
	}
	return nil
}

// editDocuments returns the edits of all documents in the content of a file.
func editDocuments(r *report, content []byte, removals []*removal) (edits []edit.Edit) {
	for _, m := range removals {
		if m.err == nil && len(m.names) == 0 {
			continue
		}
		start := int(m.doc.start.Offset)
		text := content[start : start+m.length]
		var some []edit.Edit
		var rewritten bool
		err := m.err
		switch {
		case err != nil:
		case m.doc.isYAML:
			some, rewritten, err = edit.YAML(text, m.names)
		default:
			some, err = edit.JSON(text, m.names)
		}
		if err != nil {
			r.fatal(m.doc, err, m.doc.locate)
			continue
		}
		if rewritten {
			r.line(m.doc.start, "warning", "the document is written anew, with its comments: anchors, aliases or merge keys are in the way of removing lines")
		}
		for _, e := range some {
			edits = append(edits, edit.Edit{From: start + e.From, To: start + e.To, Text: e.Text})
		}
		m.edited = true
	}
	return edits
}

// isSame reports whether the objects in an edited file are the same as before,
// with nothing to be removed from those that were edited. If not, it returns the
// first that is not so.
func (p *pruner) isSame(name string, edited []byte, before []*removal) (document, bool) {
	after := p.removals(&report{to: io.Discard}, name, edited)
	for i, b := range before {
		if i == len(after) || !bytes.Equal(b.results, after[i].results) || b.edited && len(after[i].names) > 0 {
			return b.doc, false
		}
	}
	return document{}, true
}
