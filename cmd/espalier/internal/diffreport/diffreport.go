// Package diffreport writes the differences between definitions: as text for
// people, as Markdown for pull requests, and as JSON for programs.
package diffreport

import (
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/origin"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemadiff"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/schema"
)

// A Report has the definitions of two states, and what has changed between these.
type Report struct {
	Definitions []Definition
	// NotCompared counts old definitions of groups that are not among the new ones.
	NotCompared int
}

// A Definition is one in the old state, in the new one, or in both.
type Definition struct {
	Name    string
	Changes []Change
}

// A group has the changes of a version, or those that are about no version.
type group struct {
	changes []*Change
	also    []string // other versions with the same changes
}

// groups returns the changes of at least one severity and at most another. Versions with the same
// changes are one group.
func (d *Definition) groups(least, most schemadiff.Severity) (all []*group) {
	for i := range d.Changes {
		c := &d.Changes[i]
		if c.Severity < least || c.Severity > most {
			continue
		}
		if n := len(all); n == 0 || versionText(all[n-1].changes[0]) != versionText(c) {
			all = append(all, &group{})
		}
		last := all[len(all)-1]
		last.changes = append(last.changes, c)
	}
	var folded []*group
	for _, g := range all {
		i := slices.IndexFunc(folded, func(other *group) bool {
			return slices.EqualFunc(g.changes, other.changes, (*Change).isLike)
		})
		if i < 0 {
			folded = append(folded, g)
		} else {
			folded[i].also = append(folded[i].also, versionText(g.changes[0]))
		}
	}
	return folded
}

// isLike reports whether two changes differ in their version and places alone.
func (c *Change) isLike(other *Change) bool {
	return c.Severity == other.Severity && c.Rule == other.Rule && c.Message == other.Message && slices.Equal(c.Path, other.Path)
}

// A Change has its places in both files. A place without a file is unknown.
type Change struct {
	schemadiff.Change
	OldPlace, NewPlace finding.Place
}

// New returns the report about two states.
func New(definitions []schemadiff.Definition, old, updated *schemas.State) *Report {
	var r Report
	var before, after wanted
	for _, d := range definitions {
		one := Definition{Name: d.Name}
		for _, c := range d.Changes {
			one.Changes = append(one.Changes, Change{Change: c})
		}
		r.Definitions = append(r.Definitions, one)
		for i := range one.Changes {
			c := &one.Changes[i]
			before.add(d.Old, c.Old, &c.OldPlace)
			after.add(d.New, c.New, &c.NewPlace)
		}
	}
	before.find(old)
	after.find(updated)
	return &r
}

// wanted are places to find in definitions.
type wanted map[*schema.CRD][]want

type want struct {
	steps []string
	to    *finding.Place
}

func (w *wanted) add(crd *schema.CRD, steps []string, to *finding.Place) {
	if crd == nil {
		return
	}
	if *w == nil {
		*w = wanted{}
	}
	(*w)[crd] = append((*w)[crd], want{steps, to})
}

// find reads each file once.
func (w wanted) find(s *schemas.State) {
	for _, f := range s.Files {
		crds := slices.DeleteFunc(slices.Clone(f.CRDs), func(crd *schema.CRD) bool { return len(w[crd]) == 0 })
		if len(crds) == 0 {
			continue
		}
		origin.Positions(f.Name, f.Content, crds, func(crd *schema.CRD, at func([]string) errors.Position) {
			for _, one := range w[crd] {
				*one.to = finding.Place{File: f.Name, At: at(one.steps)}
			}
		})
	}
}

// Worst returns the highest severity of the changes, or 0.
func (r *Report) Worst() (s schemadiff.Severity) {
	for _, d := range r.Definitions {
		for i := range d.Changes {
			s = max(s, d.Changes[i].Severity)
		}
	}
	return s
}

// Count returns how many changes have a severity.
func (r *Report) Count(s schemadiff.Severity) (n int) {
	for _, d := range r.Definitions {
		for i := range d.Changes {
			if d.Changes[i].Severity == s {
				n++
			}
		}
	}
	return n
}

// Changed returns how many definitions have changes.
func (r *Report) Changed() (n int) {
	for _, d := range r.Definitions {
		if len(d.Changes) > 0 {
			n++
		}
	}
	return n
}

// versionText says which version a change is about.
func versionText(c *Change) string {
	text := c.Version
	if c.From != "" {
		text = c.From + " read as " + c.Version
	}
	if c.Stored && c.From != "" {
		text = c.From + " rewritten as " + c.Version
	}
	return text
}

// places returns where a change is, in the old and the new file.
func places(c *Change) string {
	old, updated := c.OldPlace, c.NewPlace
	switch {
	case old.File == "" && updated.File == "":
		return ""
	case old.File == "":
		return updated.String()
	case updated.File == "":
		return old.String()
	}
	return old.String() + " -> " + updated.String()
}
