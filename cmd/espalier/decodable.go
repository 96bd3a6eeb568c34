package main

import (
	"slices"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/internal/formats"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
)

// maxFormats is how many values that cannot be decoded are reported of an object.
const maxFormats = decoder.DefaultFindings

// checkFormats adds the values of an object that are of the right type and cannot be decoded
// by the API server.
func (e *examiner) checkFormats(o *object) {
	if !e.checks && !e.explains || o.program == e.anything {
		return
	}
	bad, more := formats.Find(o.doc.json, e.formatsOf(o), o.doc.isYAML, maxFormats)
	var lines position.Index
	lines.Start(o.doc.json, 0)
	for _, b := range bad {
		at := lines.At(b.Offset)
		isKnown := slices.ContainsFunc(o.findings, func(f finding) bool {
			return f.rule == ruleType && f.field.Compare(b.Path) == 0
		})
		if !isKnown {
			e.add(o, finding{severity: failure, rule: ruleFormat, message: `field "` + b.Path.String() + `" must be ` + b.Must, at: at, field: b.Path}, o.doc.locate, "")
		}
	}
	if more > 0 {
		e.add(o, finding{severity: failure, rule: ruleMore, message: count(more, "more value") + " that cannot be decoded in this object", at: o.start}, inFile, "")
	}
}

// formatsOf returns the formats that decoding an object takes.
func (e *examiner) formatsOf(o *object) *schema.Structural {
	s, ok := e.formats[o.program]
	if !ok {
		if entry, ok := e.entry(o.apiVersion, o.kind); ok {
			s = formats.Of(entry.Version.Schema, entry.CRD.GoType)
		} else if o.program == e.definition {
			s = formats.Of(nil, false)
		}
		e.formats[o.program] = s
	}
	return s
}
