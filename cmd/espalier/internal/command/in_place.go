package command

// This file edits one file, or shows its edits. A file of any length is edited document by
// document.

import (
	"bytes"
	stderrors "errors"
	"io"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/edit"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/replace"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/rewrite"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/terminal"
)

// A fileEdit is the work on one file.
type fileEdit struct {
	*transformer
	rewriter *rewrite.Rewriter
	name     string
	colors   bool
	emit     func(*finding.Outcome) bool

	passed  passedOver
	failed  bool        // a document cannot be handled
	changes bool        // there are edits
	edits   []edit.Edit // under --diff
}

var (
	errGzip = stderrors.New("is compressed, and cannot be edited: decompress it first")
	// errNotWhole is the error for a file that is not written because one of its documents cannot
	// be edited: nobody has asked for half of the edits.
	errNotWhole = stderrors.New("the file is left as it is, with all of its documents, because of the errors in it")
	errSpoiled  = stderrors.New("the edited file, read again, has other objects; the file is left as it is: edit it by hand")
)

func (f *fileEdit) run() {
	if f.name == "-" {
		f.standardInput()
		return
	}
	file, err := replace.Open(f.name)
	if err != nil {
		f.fail(finding.RuleUnreadable, err)
		return
	}
	defer file.Close()
	head := make([]byte, 2)
	if n, _ := io.ReadFull(file.Old(), head); input.IsGzip(head[:n]) {
		f.fail(finding.RuleUnreadable, errGzip)
		return
	}
	f.rewriter.Edit(f.name, file.Old(), f.report, func(d rewrite.Document) {
		if f.add(d); f.write && !f.failed && len(d.Edits) > 0 {
			file.Edit(d.At, d.Text, d.Edited)
		} else {
			file.Pass(d.At, d.Text)
		}
	})
	f.passed.end(f.emit)
	if !f.mayEdit() {
		return
	}
	var v finding.Outcome
	err = file.Finish()
	switch {
	case err != nil:
	case !f.write:
		v, err = f.show(file.Old(), file.IsCurrent)
	case !f.rewriter.Holds(f.name, file.New()):
		f.fail(finding.RuleEdit, errSpoiled)
		return
	default:
		err = file.Commit()
	}
	f.end(v, err)
}

// standardInput shows the edits of standard input, which is read whole.
func (f *fileEdit) standardInput() {
	content, err := replace.ReadLimited(f.stdin)
	switch {
	case err == nil && input.IsBlank(content):
		err = input.ErrEmptyInput
	case err == nil && input.IsGzip(content):
		err = errGzip
	}
	if err != nil {
		f.fail(finding.RuleUnreadable, err)
		return
	}
	f.rewriter.Edit(f.name, bytes.NewReader(content), f.report, f.add)
	if f.mayEdit() {
		f.end(f.show(bytes.NewReader(content), func() error { return nil }))
	}
}

// report passes on what is found in a document.
func (f *fileEdit) report(v finding.Outcome) {
	f.passed.add(&v)
	f.failed = f.failed || v.IsFatal()
	f.emit(&v)
}

// fail reports an error of the file itself.
func (f *fileEdit) fail(rule string, err error) {
	f.report(finding.Outcome{Findings: []finding.Finding{{Severity: finding.Error, Fatal: true, Rule: rule, Message: input.WithoutName(err).Error()}}})
}

// add notes the edits of a document.
func (f *fileEdit) add(d rewrite.Document) {
	f.changes = f.changes || len(d.Edits) > 0
	if f.diff && !f.failed {
		for _, e := range d.Edits {
			f.edits = append(f.edits, edit.Edit{From: int(d.At) + e.From, To: int(d.At) + e.To, Text: e.Text})
		}
	}
}

// mayEdit reports whether there are edits, and no document is in the way. If one is, it says so.
func (f *fileEdit) mayEdit() bool {
	if f.changes && f.failed {
		f.fail(finding.RuleEdit, errNotWhole)
	}
	return f.changes && !f.failed
}

// end reports what was done to the file, or the error because of which nothing was done.
func (f *fileEdit) end(v finding.Outcome, err error) {
	if err != nil {
		f.fail(finding.RuleUnwritable, err)
		return
	}
	if f.lists {
		v.Output = append([]byte(sanitize.Name(input.DisplayName(f.name))), '\n')
	}
	v.Changes = !f.write
	f.emit(&v)
}

// show returns the diff of a text that is read once more.
func (f *fileEdit) show(text io.Reader, isCurrent func() error) (v finding.Outcome, err error) {
	if !f.diff {
		return v, nil
	}
	before, after := rewrite.DiffNames(input.DisplayName(f.name))
	if v.Output, err = edit.Diff(before, after, text, f.edits); err == nil {
		err = isCurrent()
	}
	if f.colors || terminal.Is(f.stdout) {
		v.Output = rewrite.ShownDiff(v.Output)
	}
	v.Output = rewrite.ColorDiff(v.Output, f.colors)
	return v, err
}
