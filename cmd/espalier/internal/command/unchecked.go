package command

// This file reports the objects that have no schema, once for each kind, after all others; and that
// nothing was checked.

import (
	"fmt"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/report"
	"github.com/espalier-dev/espalier/schema"
)

// An uncheckedKind is a kind without a schema.
type uncheckedKind struct {
	file           string // of its first object
	first          finding.Outcome
	objects, files int
	last           string // file with an object of the kind
}

// unchecked are the kinds without a schema, in the order of their first objects.
type unchecked struct {
	byType map[[2]string]*uncheckedKind
	all    []*uncheckedKind
}

// add counts an object without a schema.
func (u *unchecked) add(file string, v *finding.Outcome) {
	key := [2]string{v.APIVersion, v.Kind}
	kind := u.byType[key]
	if kind == nil {
		kind = &uncheckedKind{file: file, first: *v}
		if u.byType == nil {
			u.byType = map[[2]string]*uncheckedKind{}
		}
		u.byType[key] = kind
		u.all = append(u.all, kind)
	}
	if kind.objects++; kind.last != file || kind.files == 0 {
		kind.files++
		kind.last = file
	}
}

// reportUnchecked reports each kind. A repository has objects of many definitions that are
// elsewhere, so these are warnings; but if nothing was checked by a schema, they are errors,
// because success would say what nobody knows.
func (c *checker) reportUnchecked(r report.Reporter) error {
	severity := finding.Warning
	if c.summary.Checked == 0 {
		severity = finding.Error
	}
	for _, kind := range c.unchecked.all {
		v := finding.Outcome{Identity: finding.Identity{APIVersion: kind.first.APIVersion, Kind: kind.first.Kind}}
		notFound := &schema.NotFoundError{APIVersion: v.APIVersion, Kind: v.Kind}
		verb := "are"
		if kind.objects == 1 {
			verb = "is"
		}
		v.Findings = []finding.Finding{{
			Severity: severity, Rule: finding.RuleMissingSchema, At: kind.first.Start,
			Message: fmt.Sprintf("%s: %s in %s %s not checked; name the definition with --crd, or accept them with --skip-kind%s",
				notFound, finding.Count(kind.objects, "object"), finding.Count(kind.files, "file"), verb, c.kubernetes.release.SwitchedOff(v.APIVersion, v.Kind)),
		}}
		if err := c.take(r, kind.file, &v); err != nil {
			return err
		}
	}
	return nil
}

// reportNothing reports that no object was checked by a schema, if no error says so and no flag
// accepts it: there were only templates, say, or the errors are in a baseline. A list is an answer
// even if it is empty.
func (c *checker) reportNothing(r report.Reporter, files int) error {
	s := &c.summary
	isAccepted := c.ignoreMissing || len(c.cluster.lists) > 0 || s.Skipped > 0 && s.Unchecked == 0 || files == 0 && c.excluded > 0
	if s.Checked+s.Lists+s.Errors > 0 || c.code != 0 || isAccepted {
		return nil
	}
	text := "nothing was checked: there is no object in " + finding.Count(files, "file")
	switch {
	case files == 0:
		text = "nothing was checked: there is no file in JSON or YAML"
	case s.Objects > 0:
		text = "no object was checked by a schema: name definitions with --crd"
	case s.Templates > 0:
		text = "nothing was checked, as templates are not: check the results of rendering them"
	}
	return c.take(r, c.arguments[0], &finding.Outcome{Findings: []finding.Finding{{
		Severity: finding.Error, Rule: finding.RuleNothing,
		Message: text + "; or accept this with --ignore-missing-schemas",
	}}})
}

// take counts and writes an outcome.
func (c *checker) take(r report.Reporter, name string, v *finding.Outcome) error {
	if c.known.baseline != nil {
		c.known.baseline.Suppress(name, v)
	}
	c.summary.Add(v)
	if v.Worst() >= c.threshold {
		c.code = max(c.code, ExitFindings)
	}
	if (v.IsTemplate || v.NoObject) && len(v.Findings)+len(v.Suppressed) == 0 {
		return nil
	}
	return r.Add(input.DisplayName(name), v)
}
