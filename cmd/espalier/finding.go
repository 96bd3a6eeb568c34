package main

import (
	"strings"

	"github.com/espalier-dev/espalier/errors"
)

// The rules, which stand in brackets behind messages and name findings in the
// output for machines.
const (
	ruleUnknown       = "unknown-field"
	ruleDuplicate     = "duplicate-field"
	ruleType          = "type-mismatch"
	ruleFormat        = "invalid-format"
	ruleNull          = "dropped-null"
	ruleMore          = "more-findings"
	ruleSeparator     = "missing-separator"
	ruleSyntax        = "syntax"
	ruleLimit         = "limit"
	ruleMissingSchema = "missing-schema"
	ruleMissingType   = "missing-type"
	ruleInvalidSchema = "invalid-schema"
	ruleEdit          = "edit"
	ruleUnreadable    = "unreadable"
	ruleUnwritable    = "unwritable"
)

// A rule is a kind of finding, and a sentence about it.
type rule struct{ id, about string }

// rules are all there are, in the order in which they are listed.
var rules = []rule{
	{ruleUnknown, "A field that the schema does not declare: the API server drops it."},
	{ruleDuplicate, "A name that stands twice in one object: the last value wins."},
	{ruleType, "A value of another JSON type than the schema gives: the API server refuses the object."},
	{ruleFormat, "A time, quantity, number or text in base64 that the API server cannot decode: it refuses the object."},
	{ruleNull, "A null that the API server drops, as its field is neither nullable nor has a default."},
	{ruleMore, "Findings of an object beyond those that are listed."},
	{ruleSeparator, "Two objects in one document, of which only the last would be left: a --- is missing."},
	{ruleSyntax, "A document that is not JSON or YAML, or that programs read differently."},
	{ruleLimit, "A document that is too large, too deep or too costly."},
	{ruleMissingSchema, "An object of a kind that no schema is known for."},
	{ruleMissingType, "An object without apiVersion or kind."},
	{ruleInvalidSchema, "A custom resource definition whose schema the API server refuses."},
	{ruleEdit, "A document that is left as it is, or in which a comment stays, where a file is edited in place."},
	{ruleUnreadable, "A file that cannot be read."},
	{ruleUnwritable, "A file that cannot be written, or that somebody else changed meanwhile."},
}

// A severity says how much a finding matters.
type severity uint8

const (
	warning severity = iota + 1
	failure
)

func (s severity) String() string {
	if s == failure {
		return "error"
	}
	return "warning"
}

// A finding is what the command reports about a place in a file.
type finding struct {
	severity severity
	rule     string
	message  string
	// fatal says that there is no result for the document.
	fatal bool
	// at and end are in the file; at is zero where the place is not known, and
	// end where there is no more than a place.
	at, end errors.Position
	// first is where a name that is repeated stands first.
	first errors.Position
	// field leads to the field, for findings about one.
	field      errors.Path
	schemaPath string // leads to a place in a schema, as the API server spells it
	suggestion string // what the field was probably meant to be
	source     string // the line that at is in
	cut        int    // how many characters of that line are left out in front
}

// path returns the place that a finding is about in the spelling of the API server, and
// as a JSON Pointer if it is in the object.
func (f *finding) path() (text, pointer string) {
	if f.field.IsRoot() {
		return f.schemaPath, ""
	}
	return f.field.String(), f.field.Pointer()
}

// An identity is what an object is called. It is empty where nothing is known.
type identity struct{ apiVersion, kind, namespace, name string }

// String returns the kind, and the name with its namespace: Deployment prod/web.
// What comes from the document cannot forge lines.
func (id identity) String() string {
	text := printable(id.kind)
	if id.name != "" {
		text += " "
		if id.namespace != "" {
			text += printable(id.namespace) + "/"
		}
		text += printable(id.name)
	}
	return strings.TrimSpace(text)
}

// A verdict is all that is to be said about one object, or about a file.
type verdict struct {
	identity
	document int             // counts those of a file from 1; 0 for the file itself
	start    errors.Position // of the object
	findings []finding
	isList   bool   // it is what is around the items of a List
	skipped  bool   // there is no schema, and that is in order
	partial  bool   // it is a part of a definition, for a tool that merges or compares it
	passed   bool   // it is no definition and no schema, where these are looked for
	output   []byte // what the object becomes
	changes  bool   // the file is not what it should be, and was not changed
}

// worst returns the severity of the worst finding, or 0.
func (v *verdict) worst() (s severity) {
	for i := range v.findings {
		s = max(s, v.findings[i].severity)
	}
	return s
}

// isFatal reports whether there is no result.
func (v *verdict) isFatal() bool {
	for i := range v.findings {
		if v.findings[i].fatal {
			return true
		}
	}
	return false
}
