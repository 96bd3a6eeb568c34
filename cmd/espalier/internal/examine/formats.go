package examine

import (
	"slices"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/formats"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

// maxFormats is how many values that cannot be decoded are reported in one object.
const maxFormats = decoder.DefaultFindings

// checkFormats adds the values in an object that have the right type, but cannot be decoded by
// the API server.
func (e *Examiner) checkFormats(o *Object) {
	if !e.Check && !e.Explain || o.Program == e.Anything {
		return
	}
	bad, more := formats.Find(o.Doc.JSON, e.formatsOf(o), o.Doc.IsYAML, maxFormats)
	var lines position.Index
	lines.Start(o.Doc.JSON, 0)
	for _, b := range bad {
		if e.isOpen(o, b.Offset) {
			continue
		}
		at := lines.At(b.Offset)
		// What validation says of such metadata follows from this.
		o.Findings = slices.DeleteFunc(o.Findings, func(f finding.Finding) bool {
			return f.Invalid != nil && f.Invalid.Rule == "metadata" && b.Path.IsWithin(f.Field)
		})
		isKnown := slices.ContainsFunc(o.Findings, func(f finding.Finding) bool {
			return f.Rule == finding.RuleType && f.Field.Compare(b.Path) == 0
		})
		if !isKnown {
			e.add(o, finding.Finding{Severity: finding.Error, Rule: finding.RuleFormat, Message: `field "` + b.Path.String() + `" must be ` + b.Must, At: at, Field: b.Path}, o.Doc.Locate, "")
		}
	}
	if more > 0 {
		e.add(o, finding.Finding{Severity: finding.Error, Rule: finding.RuleMore, Message: finding.Count(more, "more value") + " that cannot be decoded in this object", At: o.Start}, inFile, "")
	}
}

// formatsOf returns the formats that the server decodes in an object.
func (e *Examiner) formatsOf(o *Object) *schema.Structural {
	s, ok := e.formats[o.Program]
	if !ok {
		if entry, ok := e.Entry(o.APIVersion, o.Kind); ok {
			s = formats.Of(entry.Version.Schema, entry.CRD.GoType)
		} else if o.Program == e.Definition {
			s = formats.Of(nil, false)
		}
		e.formats[o.Program] = s
	}
	return s
}
