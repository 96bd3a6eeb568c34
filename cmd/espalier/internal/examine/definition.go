package examine

import (
	stderrors "errors"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/definition"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// isDefinition reports whether objects of a kind are custom resource definitions.
func isDefinition(apiVersion, kind string) bool {
	group, _, _ := strings.Cut(apiVersion, "/")
	return group == "apiextensions.k8s.io" && kind == "CustomResourceDefinition"
}

// CheckDefinition adds a finding for each reason why the API server refuses a custom resource
// definition, if the object is one.
func (e *Examiner) CheckDefinition(o *Object) {
	if o.Result == nil || o.Skipped || o.Partial || !isDefinition(o.APIVersion, o.Kind) {
		return
	}
	crds, err := schema.ParseCRD(o.Doc.JSON)
	var syntax *errors.SyntaxError
	if stderrors.As(err, &syntax) {
		at := *syntax
		at.Position = errors.Position{}
		f := finding.Finding{Severity: finding.Error, Fatal: true, Rule: finding.RuleInvalidSchema, Message: withoutPosition(at.Error()), At: syntax.Position}
		f.Field = syntax.Path
		e.add(o, f, o.Doc.Locate, "")
		return
	}
	for _, crd := range crds {
		var faults errors.SchemaErrors
		if stderrors.As(validation.CRD(crd), &faults) {
			for _, fault := range faults {
				e.addFault(o, finding.Error, fault)
			}
		}
		for _, fault := range definition.Faults(crd) {
			e.addFault(o, finding.Error, fault)
		}
	}
}

// isPartial reports whether a definition is only a part of one, such as a patch for kustomize
// or the expectation of a test. A whole definition has spec.versions, or its predecessors
// spec.version and spec.validation, and at least one of spec.group and spec.names, in case its
// author forgot the other.
func isPartial(js []byte) bool {
	has := func(name string) bool { return locate.Has(js, locate.Fields("spec", name)) }
	return !has("versions") && !has("version") && !has("validation") || !has("group") && !has("names")
}

// addFault adds a fault of a schema at its place, or at the nearest place above that exists.
func (e *Examiner) addFault(o *Object, severity finding.Severity, fault *errors.SchemaError) {
	steps := fieldSteps(fault.Field)
	if len(steps) > 0 && steps[0] == "openAPIV3Schema" {
		steps = steps[1:] // in a document that is only a schema
	}
	at, depth := locate.Offset(o.Doc.JSON, steps)
	if hoisted := len(steps) > 1 && steps[1] == "validation"; hoisted && depth < 2 {
		// The server reports faults in a schema that all versions share as if it were here.
		at, _ = locate.Offset(o.Doc.JSON, append([]string{"spec", "versions", "0", "schema"}, steps[2:]...))
	}
	name := ""
	if len(steps) > 0 {
		name = steps[len(steps)-1]
	}
	place := position.From(o.Doc.JSON, errors.Position{})
	e.add(o, finding.Finding{Severity: severity, Rule: finding.RuleInvalidSchema, Message: fault.Error(), At: place.At(at), SchemaPath: fault.Field}, o.Doc.Locate, name)
}

// fieldSteps splits the path of a schema error into names and indices:
// spec.versions[0].schema.openAPIV3Schema.properties[a.b].
func fieldSteps(field string) (steps []string) {
	for field != "" {
		if key, ok := strings.CutPrefix(field, "["); ok {
			// A key may contain brackets. The one that ends it is followed by a dot, a bracket
			// or nothing.
			end := 0
			for end < len(key) && (key[end] != ']' || end+1 < len(key) && key[end+1] != '.' && key[end+1] != '[') {
				end++
			}
			steps = append(steps, key[:end])
			field = strings.TrimPrefix(key[min(end+1, len(key)):], ".")
			continue
		}
		end := strings.IndexAny(field, ".[")
		if end < 0 {
			end = len(field)
		}
		steps = append(steps, field[:end])
		field = strings.TrimPrefix(field[end:], ".")
	}
	return steps
}
