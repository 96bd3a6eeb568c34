package examine

import (
	"bytes"
	"cmp"
	stderrors "errors"
	"io"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/input"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/yamlwriter"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// SchemasIn returns the places of the schemas in an object: a definition may have several, and
// a document without a kind is one itself.
func SchemasIn(o *Object) (all [][]locate.Step) {
	switch {
	case o.Result == nil || o.IsList:
	case isDefinition(o.APIVersion, o.Kind):
		if shared := locate.Fields("spec", "validation", "openAPIV3Schema"); locate.Has(o.Doc.JSON, shared) {
			all = append(all, shared)
		}
		for i := 0; ; i++ {
			version := append(locate.Fields("spec", "versions"), locate.Element(i))
			if !locate.Has(o.Doc.JSON, version) {
				return all
			}
			if below := append(version, locate.Fields("schema", "openAPIV3Schema")...); locate.Has(o.Doc.JSON, below) {
				all = append(all, below)
			}
		}
	case o.Kind == "" && o.APIVersion == "":
		all = append(all, nil)
	}
	return all
}

// Skeleton makes the output of an object from the schema at a place, or adds a finding if there
// is no skeleton.
func (e *Examiner) Skeleton(o *Object, steps []locate.Step) {
	value, _ := locate.Value(o.Doc.JSON, steps)
	s, err := schema.Skeleton(value)
	var faults errors.SchemaErrors
	switch {
	case stderrors.As(err, &faults):
		for _, fault := range faults {
			fault.Field = strings.TrimPrefix(strings.Join(locate.Keys(steps), ".")+strings.TrimPrefix(fault.Field, "openAPIV3Schema"), ".")
			e.addFault(o, finding.Error, fault)
		}
		return
	case err != nil:
		e.refuse(o, err, o.Doc.Locate)
		return
	}
	js, err := jsonv2.Marshal(s, jsonv2.Deterministic(true))
	if err == nil {
		o.Output, err = yamlwriter.Document(js)
	}
	if err != nil {
		e.refuse(o, err, o.Doc.Locate)
	}
}

// ValidateFile emits the faults in a file. A file with nothing to validate is skipped, unless
// it was named.
func (e *Examiner) ValidateFile(name string, stdin io.Reader, isNamed bool, emit func(*finding.Outcome) bool) {
	validated, partial, isTemplate := 0, false, false
	e.Read(name, stdin, func(obj *Object) bool {
		switch {
		case obj.Result == nil && input.IsTemplate(obj.Doc.Text):
			isTemplate = true
			obj.Findings = nil
		case obj.Result == nil: // it cannot be read
			validated++
		case isDefinition(obj.APIVersion, obj.Kind):
			e.CheckDefinition(obj)
			if partial = partial || obj.Partial; !obj.Partial {
				validated++
			}
		case obj.APIVersion == "" && obj.Kind == "" && isSchema(obj.Doc.JSON, isNamed):
			e.checkSchema(obj)
			validated++
		default:
			obj.Findings = nil // other objects are not for this command
		}
		slices.SortStableFunc(obj.Findings, func(a, b finding.Finding) int { return cmp.Compare(a.At.Offset, b.At.Offset) })
		return emit(&obj.Outcome)
	})
	if isTemplate && (validated > 0 || !isNamed) {
		emit(&finding.Outcome{IsTemplate: true})
	}
	switch {
	case validated > 0, (partial || isTemplate) && !isNamed:
	case isTemplate:
		emit(&finding.Outcome{Findings: []finding.Finding{{Severity: finding.Error, Rule: finding.RuleSyntax, Message: "is a template: validate what it renders to"}}})
	case !isNamed:
		emit(&finding.Outcome{Passed: true})
	case partial:
		emit(&finding.Outcome{Findings: []finding.Finding{{Severity: finding.Error, Rule: finding.RuleInvalidSchema, Message: "has only parts of definitions, without spec.versions or without spec.group and spec.names"}}})
	default:
		emit(&finding.Outcome{Findings: []finding.Finding{{Severity: finding.Error, Rule: finding.RuleInvalidSchema, Message: "has no custom resource definition and no schema"}}})
	}
}

// schemaFields are the fields of a schema.
var schemaFields = definition.Props().Properties

// isSchema reports whether a document without apiVersion and kind is a schema. The
// configurations of many programs have neither. So unless the file was named, the schema must
// describe objects.
func isSchema(js []byte, isNamed bool) bool {
	var hasField, isObject, hasDialect bool
	d := locate.NewDecoder(bytes.NewReader(js))
	locate.Members(d, func(name string) bool {
		value, err := d.ReadValue()
		if err != nil {
			return false
		}
		_, known := schemaFields[name]
		hasField = hasField || known
		switch name {
		case "$schema":
			hasDialect = true
		case "type":
			isObject = isObject || string(value) == `"object"`
		case "properties":
			isObject = isObject || hasMappings(value)
		}
		return true
	})
	return isObject && !hasDialect || isNamed && hasField
}

// hasMappings reports whether a value is an object with members that are all objects.
func hasMappings(value jsonv2.Value) bool {
	if value.Kind() != '{' {
		return false
	}
	n, all := 0, true
	locate.Each(locate.NewDecoder(bytes.NewReader(value)), func(_ string, v jsonv2.Value) {
		n++
		all = all && v.Kind() == '{'
	})
	return n > 0 && all
}

// checkSchema adds the faults of a document that is a schema.
func (e *Examiner) checkSchema(o *Object) {
	o.Findings = nil
	e.decode(o, e.SchemaProps)
	s, err := schema.Parse(o.Doc.JSON)
	if err != nil {
		e.refuse(o, err, o.Doc.Locate)
		return
	}
	var faults errors.SchemaErrors
	if stderrors.As(validation.Structural(s), &faults) {
		for _, fault := range faults {
			e.addFault(o, finding.Error, fault)
		}
	}
	for _, fault := range validation.Warnings(s) {
		e.addFault(o, finding.Warning, fault)
	}
}
