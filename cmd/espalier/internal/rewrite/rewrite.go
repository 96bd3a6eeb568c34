// Package rewrite makes the edits that prune a file or write its defaults down. It
// works on one document after the other, and touches no file. The edits of a
// document count only if its new text, examined again, gives the same objects and
// leaves nothing to be edited.
package rewrite

import (
	"bytes"
	"crypto/sha256"
	stderrors "errors"
	"hash"
	"io"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/examine"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/internal/position"
)

// A Document is a document of a file as it was read. If it does not stay as it is, it has edits.
type Document struct {
	At     int64 // where Text starts in the file
	Text   []byte
	Edits  []edit.Edit
	Edited []byte // Text with the edits
}

// A Rewriter edits files, one after the other. It holds one document at a time.
type Rewriter struct {
	examiner *examine.Examiner // of files
	reader   *examine.Examiner // of edited texts, while the examiner is within a file
	begin    func() changes
	spoiled  string
	objects  hash.Hash // of all objects of the file
}

// changes are the changes to be made to a document.
type changes interface {
	// add collects the changes to an object of the document. It returns the object as it must be
	// after the changes, too, or nil.
	add(e *examine.Examiner, o *examine.Object) (result []byte, err error)
	count() int
	// edits makes the edits. kept are offsets of comments that are kept though they were beside
	// something that is removed.
	edits(text []byte, isYAML bool) (edits []edit.Edit, kept []int, err error)
}

// Edit examines the documents of a file in their order. It calls report for each object, and for
// each document that cannot be edited; and next for each document that could be read. The document
// is valid until next returns.
func (r *Rewriter) Edit(name string, in io.Reader, report func(finding.Outcome), next func(Document)) {
	var d *document
	r.objects = sha256.New()
	r.examiner.Documents(name, in, func(o *examine.Object) bool {
		d = r.add(d, r.examiner, o)
		report(o.Outcome)
		return true
	}, func(doc input.Document) {
		r.objects.Write(d.objects.Sum(nil))
		whole := Document{At: doc.Start.Offset, Text: doc.Text}
		if err := r.edit(name, &whole, d, doc, report); err != nil {
			report(d.refused(err.Error()))
		}
		next(whole)
	})
}

// edit makes the edits of a document, and tries them.
func (r *Rewriter) edit(name string, whole *Document, d *document, doc input.Document, report func(finding.Outcome)) error {
	if d.err != nil || d.count() == 0 {
		return d.err
	}
	edits, kept, err := d.edits(doc.Text, doc.IsYAML)
	if err != nil || len(edits) == 0 {
		return err
	}
	if doc.IsYAML {
		name += ".yaml" // whatever the text starts with
	}
	edited := edit.Apply(doc.Text, edits)
	if sum := sha256.Sum256(d.objects.Sum(nil)); !r.gives(sum[:], name, bytes.NewReader(edited)) {
		return stderrors.New(r.spoiled)
	}
	whole.Edits, whole.Edited = edits, edited
	if len(kept) > 0 {
		v := d.Outcome
		lines := position.From(doc.Text, doc.Origin)
		for _, at := range kept {
			v.Findings = append(v.Findings, finding.Finding{Severity: finding.Warning, Rule: finding.RuleEdit, At: lines.At(at), Message: keptComment})
		}
		report(v)
	}
	return nil
}

// Holds reports whether the edited file, read again, has the same objects as the file that was
// edited last, and nothing more to edit.
func (r *Rewriter) Holds(name string, edited io.Reader) bool {
	return r.gives(r.objects.Sum(nil), name, edited)
}

// gives reports whether a text has the objects with this sum, and nothing to edit.
func (r *Rewriter) gives(sum []byte, name string, text io.Reader) bool {
	var d *document
	objects, done := sha256.New(), true
	r.reader.Documents(name, text, func(o *examine.Object) bool {
		d = r.add(d, r.reader, o)
		done = done && !o.IsFatal()
		return done
	}, func(input.Document) {
		objects.Write(d.objects.Sum(nil))
		done = done && d.err == nil && d.count() == 0
	})
	return done && bytes.Equal(objects.Sum(nil), sum)
}

// A document is a document that is edited in its file.
type document struct {
	finding.Outcome
	changes
	objects hash.Hash // of the results for its objects, which the edits must not change
	err     error     // the reason for not editing it
}

// add collects the changes to an object. d is the document of the object before it, or nil.
func (r *Rewriter) add(d *document, e *examine.Examiner, o *examine.Object) *document {
	if d == nil || d.Document != o.Document {
		d = &document{changes: r.begin(), objects: sha256.New()}
		d.Outcome = finding.Outcome{Identity: o.Identity, Document: o.Document, Start: o.Start}
		d.Namespace, d.Name = locate.ObjectName(o.Doc.JSON)
	}
	result, err := d.changes.add(e, o)
	if err != nil {
		d.err = err
	}
	if result != nil {
		d.objects.Write(result)
		d.objects.Write([]byte{'\n'})
	}
	return d
}

// refused returns the outcome for a document that is not edited.
func (d *document) refused(why string) finding.Outcome {
	v := d.Outcome
	v.Findings = []finding.Finding{{Severity: finding.Error, Fatal: true, Rule: finding.RuleEdit, Message: why, At: v.Start}}
	return v
}

// keptComment is the warning for comments that may be about more than their field.
const keptComment = "the comment is kept, though its field is removed, because it looks like template code or a directive: check that it is still right"
