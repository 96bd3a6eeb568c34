package examine

import (
	stderrors "errors"
	"strings"

	"github.com/espalier-dev/espalier/cel"
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
	place := position.From(o.Doc.JSON, errors.Position{})
	root := o.Doc.Locate(place.At(0))
	if e.IsReported(finding.Place{File: e.file, At: root}) {
		o.Differs = root
	}
	crds, err := schema.ParseCRD(o.Doc.JSON)
	var syntax *errors.SyntaxError
	if stderrors.As(err, &syntax) {
		f := finding.Finding{Severity: finding.Error, Fatal: true, Rule: finding.RuleInvalidSchema, Message: placeless(syntax), At: syntax.Position}
		f.Field = syntax.Path
		e.add(o, f, o.Doc.Locate, "")
		return
	}
	if err != nil {
		e.refuse(o, err, o.Doc.Locate)
		return
	}
	for _, crd := range crds {
		e.addFaults(o, crd)
	}
}

// placeless returns the text of an error without its position.
func placeless(e *errors.SyntaxError) string {
	of := *e
	of.Position = errors.Position{}
	return withoutPosition(of.Error())
}

// addFaults adds the faults of a definition, beside the older one of its name if there is one.
func (e *Examiner) addFaults(o *Object, crd *schema.CRD) {
	old := e.oldDefinition(o, crd)
	var err error
	if old == nil {
		err = validation.CRD(crd)
	} else {
		err = validation.Update(crd, old)
	}
	var faults errors.SchemaErrors
	stderrors.As(err, &faults)
	for _, fault := range faults {
		e.addFault(o, finding.Error, fault)
	}
	for _, fault := range definition.Faults(crd) {
		if old == nil || fault.Field != "metadata.name" { // which cannot have changed
			e.addFault(o, finding.Error, fault)
		}
	}
	for _, fault := range cel.Definition(crd, old) {
		e.addRuleFault(o, &fault)
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
	steps := locate.SchemaSteps(fault.Field)
	if len(steps) > 0 && steps[0] == "openAPIV3Schema" {
		steps = steps[1:] // in a document that is only a schema
	}
	at, _ := e.schemaOffset(o, steps)
	name := ""
	if len(steps) > 0 {
		name = steps[len(steps)-1]
	}
	place := position.From(o.Doc.JSON, errors.Position{})
	e.add(o, finding.Finding{Severity: severity, Rule: finding.RuleInvalidSchema, Message: fault.Error(), At: place.At(at), SchemaPath: fault.Field}, o.Doc.Locate, name)
}

// schemaOffset returns where the steps of a path of the server lead to in a definition, or the
// nearest place above that exists. found says that all of them exist.
func (e *Examiner) schemaOffset(o *Object, steps []string) (at int, found bool) {
	if len(steps) > 1 && steps[0] == "status" && steps[1] == "storedVersions" {
		// It is what spec.versions lacks. A file seldom has the status, which the server sets itself.
		steps = []string{"spec", "versions"}
	}
	at, depth := locate.Offset(o.Doc.JSON, steps)
	if hoisted := len(steps) > 1 && steps[1] == "validation"; hoisted && depth < 2 {
		// The server reports faults in a schema that all versions share as if it were here.
		steps = append([]string{"spec", "versions", "0", "schema"}, steps[2:]...)
		at, depth = locate.Offset(o.Doc.JSON, steps)
	}
	return at, depth == len(steps)
}
