package examine

// This file adds what validation says of values.

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/position"
	"github.com/espalier-dev/espalier/internal/suggest"
	"github.com/espalier-dev/espalier/internal/validate"
	"github.com/espalier-dev/espalier/schema"
)

// valueValidation returns how a program validates the values of objects like o.
func (e *Examiner) valueValidation(o *Object, program *schema.Program) decoder.ValueValidation {
	if !e.Values || o.Part || !e.hasValueRules(o) || program == e.Anything {
		return decoder.AcceptValues
	}
	return decoder.ValidateCreate
}

// hasValueRules reports whether the server validates objects of a kind by a definition. It has
// other code for the kinds of OpenAPI documents.
func (e *Examiner) hasValueRules(o *Object) bool {
	entry, ok := e.Entry(o.APIVersion, o.Kind)
	return ok && !entry.CRD.OpenAPI
}

// invalidValue completes a finding about an invalid value. It returns the text of the value, which
// may be at its place.
func (e *Examiner) invalidValue(
	o *Object, n *finding.Finding, why *errors.ValueError,
) (text string) {
	n.Severity, n.Rule, n.Invalid = finding.Error, finding.ValueRule(why.Rule), why
	if entry, ok := e.Entry(o.APIVersion, o.Kind); ok {
		n.Definition = e.Files.Rule(entry, n.Field, why)
	}
	value, err := strconv.Unquote(why.Value)
	if err != nil {
		return why.Value
	}
	if n.Suggestion = suggest.Value(value, why.Allowed); n.Suggestion != "" {
		n.Message += ", did you mean " + fieldpath.Quoted(n.Suggestion) + "?"
	}
	return value
}

// maxWarnings is how many warnings about one object are reported.
const maxWarnings = 20

// warn adds the server's warnings about owner references and about the names of finalizers, of an
// update those that are new. It gives them where it accepts an object.
func (e *Examiner) warn(o *Object) {
	if !e.Check || !e.Values || o.Part || !e.hasValueRules(o) {
		return
	}
	metadata := locate.ResultMetadata(o.Result)
	has := func(name string) bool { return bytes.Contains(metadata, []byte(`"`+name+`"`)) }
	if !has("finalizers") && !has("ownerReferences") {
		return
	}
	for i := range o.Findings {
		if o.Findings[i].Invalid != nil {
			return
		}
	}
	x, err := validate.Decode(o.Result)
	object, ok := x.(map[string]any)
	if err != nil || !ok {
		return
	}
	var old map[string]any
	if o.Old != nil {
		if x, err := validate.Decode(o.Old.JSON); err == nil {
			old, _ = x.(map[string]any)
		}
	}
	texts := new(validate.Validator).UpdateWarnings(object, old)
	for _, text := range texts[:min(len(texts), maxWarnings)] {
		path := warnedOf(object, text)
		at, _ := locate.Offset(o.Doc.JSON, locate.Keys(path))
		lines := position.From(o.Doc.JSON, errors.Position{})
		e.add(o, finding.Finding{
			Severity: finding.Warning, Rule: finding.RuleWarning, Message: text,
			At: lines.At(at), Field: locate.FieldPath(path),
		}, o.Doc.Locate, "")
	}
	if more := len(texts) - maxWarnings; more > 0 {
		e.add(o, finding.Finding{
			Severity: finding.Warning, Rule: finding.RuleMore,
			Message: finding.Count(more, "more warning") + " about this object", At: o.Start,
		}, inFile, "")
	}
}

// warnedOf returns the path to the finalizer that a warning is about, or to the owner references.
func warnedOf(object map[string]any, warning string) []locate.Step {
	path := locate.Fields("metadata", "finalizers")
	metadata, _ := object["metadata"].(map[string]any)
	list, _ := metadata["finalizers"].([]any)
	for i, name := range list {
		if strings.HasPrefix(warning, fmt.Sprintf("metadata.finalizers: %q: ", name)) {
			return append(path, locate.Element(i))
		}
	}
	return locate.Fields("metadata", "ownerReferences")
}
