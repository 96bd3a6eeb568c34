package examine

// This file adds what is wrong with the rules of definitions.

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cel"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/finding"
	"github.com/espalier-dev/espalier/cmd/espalier/internal/locate"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/internal/position"
)

// addRuleFault adds a fault of a rule, at its place in the expression if that has one. The text of
// the rule, and the drawing of the place in it, are left out of the server's message.
func (e *Examiner) addRuleFault(o *Object, fault *cel.DefinitionError) {
	shown := fault.SchemaError
	if len(fault.Limits) > 0 {
		limits := make([]string, len(fault.Limits))
		for i, limit := range fault.Limits {
			_, limits[i], _ = strings.Cut(limit, "openAPIV3Schema.")
		}
		shown.Msg += "; without a limit: " + strings.Join(limits, ", ")
	}
	if strings.HasPrefix(shown.Value, `{"Rule":`) {
		shown.Value = ""
	}
	if fault.Line == 0 {
		e.addFault(o, finding.Error, &shown)
		return
	}
	what, issues, _ := strings.Cut(fault.Msg, "ERROR: <input>:")
	all := strings.Split(issues, "\nERROR: <input>:")
	first, _, _ := strings.Cut(all[0], "\n")
	_, first, _ = strings.Cut(first, ": ")
	shown.Msg = what + first
	if len(all) > 1 {
		shown.Msg += fmt.Sprintf(", and %s", finding.Count(len(all)-1, "more error"))
	}
	at, ok := e.inExpression(o, fault)
	if !ok {
		shown.Msg += fmt.Sprintf(", at %d:%d of the expression", fault.Line, fault.Column)
		e.addFault(o, finding.Error, &shown)
		return
	}
	e.add(o, finding.Finding{
		Severity: finding.Error, Rule: finding.RuleInvalidSchema, Message: shown.Error(), At: at, SchemaPath: fault.Field,
	}, inFile, "")
}

// inExpression returns the place of a fault within the expression of a rule.
func (e *Examiner) inExpression(o *Object, fault *cel.DefinitionError) (at errors.Position, ok bool) {
	member, found := e.schemaOffset(o, locate.SchemaSteps(fault.Field))
	if !found {
		return at, false
	}
	d := locate.NewDecoder(bytes.NewReader(o.Doc.JSON[member:]))
	name, err := d.ReadValue()
	if err != nil {
		return at, false
	}
	start := member + len(name)
	for start < len(o.Doc.JSON) && strings.IndexByte(" \t\r\n:", o.Doc.JSON[start]) >= 0 {
		start++
	}
	value, err := locate.NewDecoder(bytes.NewReader(o.Doc.JSON[start:])).ReadValue()
	var expression string
	if err != nil || jsonv2.Unmarshal(value, &expression) != nil {
		return at, false
	}
	json := position.From(o.Doc.JSON, errors.Position{})
	inText := o.Doc.Locate(json.At(start)).Offset - o.Doc.Origin.Offset
	offset, ok := locate.InScalar(o.Doc.Text, int(inText), expression, fault.Line, fault.Column)
	if !ok {
		return at, false
	}
	text := position.From(o.Doc.Text, o.Doc.Origin)
	return text.At(offset), true
}
