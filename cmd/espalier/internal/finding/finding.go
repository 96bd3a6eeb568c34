// Package finding holds the command's findings: places in files with a rule, a
// severity and a message. Every other package makes, passes or writes them.
package finding

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/errors"
)

// Count returns a number with its noun: 1 error, 2 errors.
func Count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// The rules. Messages end with them in brackets, and reports for programs name findings by
// them.
const (
	RuleUnknown       = "unknown-field"
	RuleDuplicate     = "duplicate-field"
	RuleType          = "type-mismatch"
	RuleFormat        = "invalid-format"
	RuleNull          = "dropped-null"
	RuleValue         = "invalid-value" // with a keyword: see ValueRule
	RuleWarning       = "server-warning"
	RuleMore          = "more-findings"
	RuleSeparator     = "missing-separator"
	RuleSyntax        = "syntax"
	RuleLimit         = "limit"
	RuleMissingSchema = "missing-schema"
	RuleMissingType   = "missing-type"
	RuleInvalidSchema = "invalid-schema"
	RuleEdit          = "edit"
	RuleUnreadable    = "unreadable"
	RuleUnwritable    = "unwritable"
)

// A Rule is a kind of finding, with a sentence about it, and one about what to do.
type Rule struct{ ID, About, Help string }

// Rules are all rules, in the order in which reports list them.
var Rules = append([]Rule{
	{
		RuleUnknown,
		"A field that the schema does not declare: the API server drops it.",
		"Remove the field, or correct its name or its place. If the schema should declare it, fix the definition.",
	},
	{
		RuleDuplicate,
		"A name that occurs twice in one object: the last value wins.",
		"Remove all of the values but one.",
	},
	{
		RuleType,
		"A value that is not of the JSON type that the schema gives: the API server refuses the object.",
		"Write a value of the type that the message names. In YAML, quotes make a string.",
	},
	{
		RuleFormat,
		"A time, quantity, number or text in base64 that the API server cannot decode: it refuses the object.",
		"Write the value in the form that the message names.",
	},
	{
		RuleNull,
		"A null that the API server drops, as its field is neither nullable nor has a default.",
		"Remove the field.",
	},
	{
		RuleMore,
		"Findings in an object beyond those that are listed.",
		"Correct what is listed, and check the object again.",
	},
	{
		RuleSeparator,
		"Two objects in one document, only the last of which would be left: a --- is missing.",
		"Write a line with --- between the objects.",
	},
	{
		RuleSyntax,
		"A document that is not JSON or YAML, or that programs read differently.",
		"Correct the text at this place.",
	},
	{
		RuleLimit,
		"A document that is too large, too deep or too costly.",
		"Divide the document into smaller ones.",
	},
	{
		RuleMissingSchema,
		"An object of a kind without a known schema.",
		"Name the definition with --crd, or the OpenAPI document with --openapi; or pass the kind with --skip-kind.",
	},
	{
		RuleMissingType,
		"An object without apiVersion or kind.",
		"Write the apiVersion and the kind of the object; or pass documents that are no objects with --ignore-missing-schemas.",
	},
	{
		RuleInvalidSchema,
		"A custom resource definition whose schema the API server refuses.",
		"Correct the definition at this place.",
	},
	{
		RuleEdit,
		"A document that was not edited, or that keeps a comment, in a file that is edited in place.",
		"Edit the file at this place.",
	},
	{RuleUnreadable, "A file that cannot be read.", "Look at the file and its permissions."},
	{
		RuleUnwritable,
		"A file that cannot be written, or that somebody else changed meanwhile.",
		"Look at the file, and run the command again.",
	},
}, valueRules...)

// A Severity says how much a finding matters.
type Severity uint8

const (
	Warning Severity = iota + 1
	Error
)

// String returns error or warning.
func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// A Place is a position in a file.
type Place struct {
	File string
	At   errors.Position
}

// String returns the place as file:line:column, or the file alone if the position is not known.
func (p Place) String() string {
	if !p.At.IsValid() {
		return sanitize.Name(p.File)
	}
	return sanitize.Name(p.File) + ":" + p.At.String()
}

// A Finding is something to report about a place in a file.
type Finding struct {
	Severity Severity
	Rule     string
	Message  string
	// Fatal means that the document has no result.
	Fatal bool
	// At and End are positions in the file. At is zero if the place is unknown, and End if the
	// place has no extent.
	At, End errors.Position
	// First is the first occurrence of a duplicate name.
	First errors.Position
	// Field is the path to the field, for findings about one.
	Field      errors.Path
	SchemaPath string // path to a place in a schema, as the API server spells it
	Suggestion string // the field or the value that was probably meant
	// Invalid is what the API server says of an invalid value, and Definition is where the
	// definition asks for another one.
	Invalid    *errors.ValueError
	Definition Place
	Source     string // the line of At, or the part around it
	Cut        int    // how many characters of the line precede Source
}

// Path returns the path to the place of a finding as the API server spells it, and if it is in
// the object, as a JSON Pointer, too.
func (f *Finding) Path() (text, pointer string) {
	if f.Field.IsRoot() {
		return f.SchemaPath, ""
	}
	return f.Field.String(), f.Field.Pointer()
}

// An Identity tells which object this is, as far as it is known.
type Identity struct{ APIVersion, Kind, Namespace, Name string }

// String returns the kind and the name with its namespace: Deployment prod/web. Texts from the
// document cannot forge lines in it.
func (id Identity) String() string {
	text := sanitize.Name(id.Kind)
	if id.Name != "" {
		text += " "
		if id.Namespace != "" {
			text += sanitize.Name(id.Namespace) + "/"
		}
		text += sanitize.Name(id.Name)
	}
	return strings.TrimSpace(text)
}

// An Outcome is everything to report about one object, or about a file.
type Outcome struct {
	Identity
	Document int             // in the file, from 1; 0 for the file itself
	Start    errors.Position // of the object
	Findings []Finding
	IsList   bool   // it is a List without its items
	Skipped  bool   // it has no schema and needs none
	Partial  bool   // it is a part of a definition, such as a patch
	Passed   bool   // it is neither a definition nor a schema, which were looked for
	Output   []byte // the text to write for the object
	Changes  bool   // the file has a difference that is not written
}

// Worst returns the highest severity of the findings, or 0.
func (v *Outcome) Worst() (s Severity) {
	for i := range v.Findings {
		s = max(s, v.Findings[i].Severity)
	}
	return s
}

// IsFatal reports whether the object has no result.
func (v *Outcome) IsFatal() bool {
	for i := range v.Findings {
		if v.Findings[i].Fatal {
			return true
		}
	}
	return false
}
