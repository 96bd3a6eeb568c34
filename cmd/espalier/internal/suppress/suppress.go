// Package suppress silences findings that people know of: by comments in YAML,
// and by rules for paths in the configuration. Both need a reason, and say when
// they silence nothing any more.
package suppress

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/pathmatch"
	"github.com/espalier-dev/espalier/schema"
)

// An Override is an entry of overrides in the configuration: it suppresses findings of some rules
// in some files.
type Override struct {
	Paths    []*pathmatch.Pattern
	IDs      []string
	Reason   string
	isUsed   []atomic.Bool // for each of IDs
	isPartly atomic.Bool   // an object in the files was not examined
	hasFiles []atomic.Bool // for each of Paths
}

// NewOverride returns an Override.
func NewOverride(paths []*pathmatch.Pattern, ids []string, reason string) *Override {
	return &Override{Paths: paths, IDs: ids, Reason: reason, isUsed: make([]atomic.Bool, len(ids)), hasFiles: make([]atomic.Bool, len(paths))}
}

// matches reports whether the entry is about a file.
func (o *Override) matches(name string) (matches bool) {
	for i, p := range o.Paths {
		if p.Match(name) {
			o.hasFiles[i].Store(true)
			matches = true
		}
	}
	return matches
}

func (o *Override) suppression(f *finding.Finding) *finding.Suppression {
	for i, id := range o.IDs {
		if covers(id, f.Rule) {
			o.isUsed[i].Store(true)
			return &finding.Suppression{Reason: o.Reason}
		}
	}
	return nil
}

// covers reports whether a name stands for a rule: it is the rule's name, or that of the rules of
// which this is one, as invalid-value is for invalid-value/enum.
func covers(id, rule string) bool {
	general, _, _ := strings.Cut(rule, "/")
	return id == rule || id == general
}

// A List suppresses findings in the files of a run.
type List struct {
	Overrides []*Override
	// Looks reports whether findings of a rule are looked for at all. Suppressions of others are not
	// unused.
	Looks func(rule string) bool
}

// Unused returns a finding for each part of an override that silences nothing, if all files were
// read that it could be about.
func (l *List) Unused(arguments []string) (found []finding.Finding) {
	for i, o := range l.Overrides {
		if slices.ContainsFunc(o.Paths, func(p *pathmatch.Pattern) bool { return !p.IsWithin(arguments) }) {
			continue
		}
		add := func(format string, args ...any) {
			found = append(found, finding.Finding{
				Severity: finding.Warning, Rule: finding.RuleUnused, Message: fmt.Sprintf("overrides[%d]", i) + fmt.Sprintf(format, args...),
			})
		}
		hasFiles := false
		for j, p := range o.Paths {
			if o.hasFiles[j].Load() {
				hasFiles = true
			} else {
				add(".paths: no file matches %q: remove the pattern", p)
			}
		}
		for j, id := range o.IDs {
			if hasFiles && !o.isPartly.Load() && !o.isUsed[j].Load() && l.Looks(id) {
				add(".ignore: there is nothing to silence of the rule %s: remove it", id)
			}
		}
	}
	return found
}

// A File suppresses findings in one file. Its objects are given to it in their order.
type File struct {
	list      *List
	overrides []*Override
	comments  []*comment // about the whole file
	unread    bool       // an object in it was not examined

	document int // the number of the document, which a List shares with its items
	within   []*comment
	faults   []finding.Finding
	partly   bool // an object in the document was not examined

	byRule map[place]*comment // for each rule the first comment about a place
}

// A place is what a comment is about: a scope, a line for that of a line, and a rule.
type place struct {
	scope scope
	line  int
	id    string
}

// File returns what suppresses findings in a file.
func (l *List) File(name string) *File {
	f := &File{list: l, byRule: map[place]*comment{}}
	for _, o := range l.Overrides {
		if o.matches(name) {
			f.overrides = append(f.overrides, o)
		}
	}
	return f
}

// Object suppresses findings in an object. It returns an outcome of its own for the document before,
// or nil, if there is something to say about its comments.
func (f *File) Object(doc *input.Document, v *finding.Outcome) (before *finding.Outcome) {
	if v.Document != f.document {
		before = f.endDocument()
		f.begin(doc, v)
	}
	if v.Unchecked {
		f.accept(v)
	}
	if v.Differs.IsValid() {
		v.Quiet = f.suppression(&finding.Finding{Rule: finding.RuleDiffering, At: v.Differs}) // reported at the end
	}
	if v.Skipped || v.Unchecked || v.NoObject || v.IsTemplate || v.IsFatal() {
		f.partly, f.unread = true, true
		for _, o := range f.overrides {
			o.isPartly.Store(true)
		}
	}
	v.Suppress(f.suppression)
	if !v.IsList && doc.Base == 0 { // it is all of the document
		if end := f.endDocument(); end != nil {
			v.Findings = append(v.Findings, end.Findings...)
			v.Sort()
		}
	}
	return before
}

// accept suppresses that there is no schema for an object, which is reported once for a kind.
func (f *File) accept(v *finding.Outcome) {
	missing := finding.Finding{
		Severity: finding.Warning, Rule: finding.RuleMissingSchema, At: v.Start,
		Message: (&schema.NotFoundError{APIVersion: v.APIVersion, Kind: v.Kind}).Error(),
	}
	if missing.Suppression = f.suppression(&missing); missing.Suppression != nil {
		v.Unchecked, v.Skipped = false, true
		v.Suppressed = append(v.Suppressed, missing)
	}
}

// begin reads the comments of a document.
func (f *File) begin(doc *input.Document, v *finding.Outcome) {
	clear(f.byRule)
	f.document, f.within, f.partly = v.Document, nil, false
	var found []*comment
	found, f.faults = findComments(doc)
	for _, c := range found {
		if c.scope == inFile {
			f.comments = append(f.comments, c)
		} else {
			f.within = append(f.within, c)
		}
	}
	for _, comments := range [][]*comment{f.comments, f.within} {
		for _, c := range comments {
			for _, id := range c.ids {
				if at := (place{c.scope, c.line, id}); f.byRule[at] == nil {
					f.byRule[at] = c
				}
			}
		}
	}
}

// suppression returns why a finding is suppressed, or nil: by the nearest that is about it.
func (f *File) suppression(one *finding.Finding) *finding.Suppression {
	general, _, _ := strings.Cut(one.Rule, "/")
	for _, at := range []place{{onLine, one.At.Line, ""}, {inDocument, 0, ""}, {inFile, 0, ""}} {
		for _, at.id = range []string{one.Rule, general} {
			if c := f.byRule[at]; c != nil {
				c.used[slices.Index(c.ids, at.id)] = true
				return &finding.Suppression{InSource: true, Reason: c.reason}
			}
		}
	}
	for _, o := range f.overrides {
		if s := o.suppression(one); s != nil {
			return s
		}
	}
	return nil
}

// endDocument returns what is to be said about the comments of the document, or nil.
func (f *File) endDocument() *finding.Outcome {
	found := f.faults
	if !f.partly {
		found = append(found, f.unused(f.within)...)
	}
	f.faults, f.within = nil, nil
	return f.outcome(found)
}

// End returns what is to be said about comments at the end of the file, or nil.
func (f *File) End() (all []*finding.Outcome) {
	if v := f.endDocument(); v != nil {
		all = append(all, v)
	}
	f.document = 0
	if !f.unread {
		if v := f.outcome(f.unused(f.comments)); v != nil {
			all = append(all, v)
		}
	}
	return all
}

func (f *File) unused(comments []*comment) (found []finding.Finding) {
	for _, c := range comments {
		for i, id := range c.ids {
			if c.used[i] || !f.list.Looks(id) {
				continue
			}
			where := map[scope]string{onLine: fmt.Sprintf("on line %d", c.line), inDocument: "in this document", inFile: "in this file"}[c.scope]
			found = append(found, finding.Finding{
				Severity: finding.Warning, Rule: finding.RuleUnused, At: c.at,
				Message: fmt.Sprintf("the comment silences nothing: there is no finding of the rule %s %s", id, where),
			})
		}
	}
	return found
}

// maxFindings is how many findings about the comments of one document are reported.
const maxFindings = 100

// outcome returns findings that are about comments, and not about an object.
func (f *File) outcome(found []finding.Finding) *finding.Outcome {
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b finding.Finding) int { return cmp.Compare(a.At.Offset, b.At.Offset) })
	if more := len(found) - maxFindings; more > 0 {
		found = append(found[:maxFindings], finding.Finding{
			Severity: finding.Error, Rule: finding.RuleMore, At: found[maxFindings].At,
			Message: fmt.Sprintf("%d more findings about comments from here on", more),
		})
	}
	return &finding.Outcome{Document: f.document, IsList: true, Findings: found}
}
