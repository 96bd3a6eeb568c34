package command

// This file reports definitions of one kind that differ, once for each kind, and by which of them
// objects were checked.

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/schemas"
	"github.com/espalier-dev/espalier/errors"
)

// differing has what was chosen for the objects of kinds whose definitions differ.
type differing struct {
	kinds []*schemas.DifferingKind
	of    map[[2]string]*choices          // by group and kind
	quiet map[string]*finding.Suppression // by the places of definitions
}

// choices are those of the objects of a kind.
type choices struct {
	objects   map[finding.Place]int // by the definitions that count
	untried   int
	refused   int
	object    finding.Place // the first one that another definition refuses
	by, other finding.Place // which definition accepts it, and which one does not
}

// add counts what was chosen for an object.
func (d *differing) add(file string, v *finding.Outcome) {
	if v.Quiet != nil {
		d.quiet[finding.Place{File: file, At: v.Differs}.String()] = v.Quiet
	}
	if v.Choice == nil {
		return
	}
	group, _, _ := strings.Cut(v.APIVersion, "/")
	key := [2]string{group, v.Kind}
	of := d.of[key]
	if of == nil {
		of = &choices{objects: map[finding.Place]int{}}
		d.of[key] = of
	}
	of.objects[v.Choice.By]++
	if v.Choice.Untried {
		of.untried++
	}
	if v.Choice.Refuses.File == "" {
		return
	}
	if of.refused++; of.refused == 1 {
		of.object = finding.Place{File: input.DisplayName(file), At: v.Start}
		of.by, of.other = v.Choice.By, v.Choice.Refuses
	}
}

// maxNamed is how many definitions of a kind are named.
const maxNamed = 3

// text says by which definitions objects were checked, in the order of the definitions.
func (of *choices) text(k *schemas.DifferingKind) string {
	var others, by []string
	rest := 0
	for i, r := range k.Definitions {
		name := "this one"
		if i > 0 {
			name = nameBeside(k, r)
			others = append(others, name)
		}
		n := of.objects[r.Place()]
		switch {
		case n > 0 && len(by) < maxNamed:
			by = append(by, fmt.Sprintf("by %s: %d", name, n))
		default:
			rest += n
		}
	}
	if rest > 0 {
		by = append(by, fmt.Sprintf("by others: %d", rest))
	}
	if more := len(others) - maxNamed; more > 0 {
		others = append(others[:maxNamed], fmt.Sprintf("%d more", more))
	}
	text := fmt.Sprintf("%s of group %s is defined here and differently in %s; objects checked %s",
		sanitize.Name(k.Kind), sanitize.Name(k.Group), strings.Join(others, ", "), strings.Join(by, ", "))
	if of.untried > 0 {
		text += fmt.Sprintf("; for %s only the nearest %d definitions were tried", finding.Count(of.untried, "object"), schemas.MaxRivals)
	}
	if of.refused > 0 {
		text += fmt.Sprintf("; %s accepted by one definition and refused by another, first %s, which %s accepts and %s refuses",
			are(of.refused, "object"), of.object, of.by, of.other)
	}
	return text + "; name the definition that counts with --crd, or leave out the others with --exclude"
}

// nameBeside returns the file of a definition, and its place there if the first one is in the same file.
func nameBeside(k *schemas.DifferingKind, r *schemas.Rival) string {
	at := r.Place()
	if at.File != k.Definitions[0].Place().File {
		at.At = errors.Position{}
	}
	return at.String()
}

// are returns a number with its noun and a verb.
func are(n int, of string) string {
	if n == 1 {
		return "1 " + of + " is"
	}
	return fmt.Sprintf("%d %ss are", n, of)
}

// reportDiffering reports each kind with objects at its first definition.
func (c *checker) reportDiffering(r report.Reporter) error {
	for _, k := range c.differing.kinds {
		of := c.differing.of[[2]string{k.Group, k.Kind}]
		if of == nil {
			continue
		}
		first := k.Definitions[0]
		at := first.Place()
		f := finding.Finding{Severity: finding.Warning, Rule: finding.RuleDiffering, At: at.At, Message: of.text(k)}
		v := finding.Outcome{Identity: first.Name(), Findings: []finding.Finding{f}}
		v.Suppress(func(*finding.Finding) *finding.Suppression { return c.differing.quiet[at.String()] })
		c.suppressions.File(at.File).Object(&input.Document{}, &v)
		if err := c.take(r, at.File, &v); err != nil {
			return err
		}
	}
	return nil
}
