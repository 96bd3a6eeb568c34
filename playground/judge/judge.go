// Package judge says what an API server makes of an object: what is left of it, what is found in it
// and where, and why each field goes or comes. It is what the playground asks at each keystroke, and
// knows nothing of pages or WebAssembly.
//
// Time and memory are linear in the two texts, and all lists in an answer are bounded.
package judge

import (
	stderrors "errors"
	"slices"

	"github.com/espalier-dev/espalier/decoder"
	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/schema/validation"
)

// Bounds of an answer.
const (
	maxFindings     = 500
	maxFindingBytes = 1 << 20
	maxChanges      = 500
)

// A Request is what the page has: two texts and what is chosen beside them.
type Request struct {
	// Definition is one custom resource definition or several, or a schema alone, in YAML or JSON.
	Definition string `json:"definition"`
	// Same says that the definition is the one of the last request. It need not be said again.
	Same bool `json:"same"`
	// Object is one object, in JSON if it starts with a brace, and else in YAML.
	Object string `json:"object"`
	// Stored is the object that this one replaces, of the same apiVersion and kind. It counts where values
	// are validated. If it is empty, the object is created.
	Stored string `json:"stored"`
	// Validation is Ignore, Warn or Strict (KEP-2885). Everything else is Strict.
	Validation string `json:"validation"`
	// KEP asks for the semantics of the KEPs, where a server does otherwise (schema.KEP).
	KEP bool `json:"kep"`
	// Values asks for the values to be validated, too.
	Values bool `json:"values"`
	// YAML asks for the result in YAML, and not in JSON.
	YAML bool `json:"yaml"`
	// Difference asks for Before, too.
	Difference bool `json:"difference"`
	// Brief asks for findings alone.
	Brief bool `json:"brief"`
}

// An Answer is what the page shows.
type Answer struct {
	// Kind is the object's kind and apiVersion, such as "BackupPlan of backup.example.com/v1". It is
	// empty if the definition is a schema alone.
	Kind string `json:"kind"`
	// Refused says that the server refuses the object or the definition.
	Refused bool `json:"refused"`
	// Findings are those in the object, and Faults those in the definition, in the order of the texts.
	Findings []Finding `json:"findings"`
	Faults   []Finding `json:"faults"`
	// Unstored says why the stored object cannot be used. The object is judged as a new one then.
	Unstored []Finding `json:"unstored"`
	// Replaces says that the object is judged as one that replaces the stored one.
	Replaces bool `json:"replaces"`
	// Omitted is how many findings in the object there are beyond those.
	Omitted int `json:"omitted"`
	// Rules says that the definition has rules in CEL, and Evaluated that they are evaluated.
	Rules     bool `json:"rules"`
	Evaluated bool `json:"evaluated"`

	// What follows is empty in a brief answer.

	// Result is the object pruned and defaulted. It is empty if there is none. Before is the object
	// itself in the same format and style, if it was asked for.
	Result string `json:"result"`
	Before string `json:"before"`
	// Changes are the differences between the two, in the order of the object, and More how many
	// there are beyond those.
	Changes []Change `json:"changes"`
	More    int      `json:"more"`
}

// CEL is what evaluates and judges rules, which a small playground goes without.
type CEL struct {
	Rules validation.RuleCompiler
	// Faults returns what is wrong with the rules of a definition.
	Faults func(*schema.CRD) errors.SchemaErrors
}

// A Judge answers one request after the other, and remembers the definition of the last one. It
// serves one goroutine.
type Judge struct {
	cel  *CEL
	last *definition
}

// New returns a Judge. cel is nil for one that evaluates no rules.
func New(cel *CEL) *Judge { return &Judge{cel: cel} }

// JSON answers a Request in JSON by an Answer in JSON. What is no Request is answered by an Answer with a
// finding that says so.
func (j *Judge) JSON(request []byte) []byte {
	var r Request
	answer := &Answer{Findings: []Finding{{Error: true, Message: "the page asks for something that is no request"}}}
	if jsonv2.Unmarshal(request, &r) == nil {
		answer = j.Judge(&r)
	}
	// Texts of a page are valid UTF-8, and what is made of them is, too.
	js, err := jsonv2.Marshal(answer, jsonv2.AllowInvalidUTF8(true))
	if err != nil {
		return []byte(`{"refused":true,"findings":[],"faults":[],"unstored":[],"changes":[]}`)
	}
	return js
}

// Judge answers a request.
func (j *Judge) Judge(r *Request) *Answer {
	if r.Same && j.last != nil {
		same := *r
		same.Definition = j.last.text
		r = &same
	}
	if j.last == nil || !j.last.isFor(r) {
		j.last = j.define(r)
	}
	d := j.last
	a := &Answer{Faults: d.faults, Rules: d.hasRules, Evaluated: j.cel != nil && r.Values}
	o, err := read([]byte(r.Object), errors.Position{})
	if err != nil {
		a.Findings = []Finding{fatal(err, nil)}
	} else if d.catalog != nil {
		d.judge(r, o, a)
	}
	placed(a.Findings, r.Object)
	a.Refused = slices.ContainsFunc(slices.Concat(a.Faults, a.Findings), func(f Finding) bool { return f.Error })
	return a
}

// judge adds to an answer what becomes of an object.
func (d *definition) judge(r *Request, o *document, a *Answer) {
	entry, err := d.entry(o)
	if err != nil {
		a.Findings = []Finding{fatal(err, o)}
		return
	}
	if !d.isSchema {
		a.Kind = entry.Kind + " of " + entry.APIVersion
	}
	program, err := d.program(entry)
	if err != nil {
		a.Faults = append(slices.Clone(a.Faults), Finding{Error: true, Message: err.Error(), Line: 1, Column: 1})
		return
	}
	old, faults := d.stored(r, entry, program)
	a.Unstored = placed(faults, r.Stored)
	a.Replaces = old != nil
	dec := decoder.New(program, options(r, a.Replaces)...)
	dec.SetOld(old)
	result, err := dec.AppendJSON(nil, o.json)
	if !isComplete(err) {
		a.Findings = fatals(err, o)
		return
	}
	found := slices.Clone(dec.Findings())
	found.SortByPosition()
	a.Findings, a.Omitted = o.findings(found, program, r.Validation), dec.Omitted()
	if !r.Brief {
		d.compare(r, entry, o, result, a)
	}
}

// stored returns the stored object as a server reads it, pruned and defaulted, nil if there is none, or why it
// cannot be used.
func (d *definition) stored(r *Request, entry schema.Entry, program *schema.Program) ([]byte, []Finding) {
	if r.Stored == "" || !r.Values {
		return nil, nil
	}
	o, err := read([]byte(r.Stored), errors.Position{})
	if err != nil {
		return nil, []Finding{fatal(err, nil)}
	}
	if its, err := d.entry(o); err != nil || its.APIVersion != entry.APIVersion || its.Kind != entry.Kind {
		return nil, []Finding{{Error: true, Rule: "old-object", Message: "the stored object has another apiVersion or kind", Line: 1, Column: 1}}
	}
	js, err := decoder.New(program, decoder.Ignore, decoder.Compact(true)).AppendJSON(nil, o.json)
	if err != nil {
		return nil, fatals(err, o)
	}
	return js, nil
}

func options(r *Request, isUpdate bool) []decoder.Option {
	opts := []decoder.Option{fieldValidation(r.Validation), decoder.Compact(true), decoder.Limits{Findings: maxFindings, FindingBytes: maxFindingBytes}}
	switch {
	case isUpdate:
		opts = append(opts, decoder.ValidateUpdate)
	case r.Values:
		opts = append(opts, decoder.ValidateCreate)
	}
	return opts
}

func fieldValidation(name string) decoder.FieldValidation {
	v, err := decoder.ParseFieldValidation(name)
	if err != nil {
		return decoder.Strict
	}
	return v
}

// isComplete reports whether there is a result beside an error of a decoder.
func isComplete(err error) bool {
	return err == nil || stderrors.As(err, new(*errors.StrictError)) || stderrors.As(err, new(*errors.InvalidError))
}
