// Package finding holds the command's findings: places in files with a rule, a
// severity and a message. Every other package makes, passes or writes them.
package finding

import (
	"fmt"
	"strings"

	"github.com/espalier-dev/espalier/cmd/espalier/internal/sanitize"
	"github.com/espalier-dev/espalier/errors"
)

func Count(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return fmt.Sprintf("%d %ss", n, of)
}

// The rules, which stand in brackets behind messages and name findings in the
// output for machines.
const (
	RuleUnknown       = "unknown-field"
	RuleDuplicate     = "duplicate-field"
	RuleType          = "type-mismatch"
	RuleFormat        = "invalid-format"
	RuleNull          = "dropped-null"
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

// A Rule is a kind of finding, and a sentence about it.
type Rule struct{ ID, About string }

// Rules are all there are, in the order in which they are listed.
var Rules = []Rule{
	{RuleUnknown, "A field that the schema does not declare: the API server drops it."},
	{RuleDuplicate, "A name that occurs twice in one object: the last value wins."},
	{RuleType, "A value that is not of the JSON type that the schema gives: the API server refuses the object."},
	{RuleFormat, "A time, quantity, number or text in base64 that the API server cannot decode: it refuses the object."},
	{RuleNull, "A null that the API server drops, as its field is neither nullable nor has a default."},
	{RuleMore, "Findings in an object beyond those that are listed."},
	{RuleSeparator, "Two objects in one document, only the last of which would be left: a --- is missing."},
	{RuleSyntax, "A document that is not JSON or YAML, or that programs read differently."},
	{RuleLimit, "A document that is too large, too deep or too costly."},
	{RuleMissingSchema, "An object of a kind without a known schema."},
	{RuleMissingType, "An object without apiVersion or kind."},
	{RuleInvalidSchema, "A custom resource definition whose schema the API server refuses."},
	{RuleEdit, "A document that was not edited, or that keeps a comment, in a file that is edited in place."},
	{RuleUnreadable, "A file that cannot be read."},
	{RuleUnwritable, "A file that cannot be written, or that somebody else changed meanwhile."},
}

// A Severity says how much a finding matters.
type Severity uint8

const (
	Warning Severity = iota + 1
	Error
)

func (s Severity) String() string {
	if s == Error {
		return "error"
	}
	return "warning"
}

// A Finding is what the command reports about a place in a file.
type Finding struct {
	Severity Severity
	Rule     string
	Message  string
	// Fatal says that there is no result for the document.
	Fatal bool
	// At and end are in the file; at is zero where the place is not known, and
	// end where there is no more than a place.
	At, End errors.Position
	// First is where a name that is repeated stands first.
	First errors.Position
	// Field leads to the field, for findings about one.
	Field      errors.Path
	SchemaPath string // leads to a place in a schema, as the API server spells it
	Suggestion string // what the field was probably meant to be
	Source     string // the line that at is in
	Cut        int    // how many characters of that line are left out in front
}

// Path returns the place that a finding is about in the spelling of the API server, and
// as a JSON Pointer if it is in the object.
func (f *Finding) Path() (text, pointer string) {
	if f.Field.IsRoot() {
		return f.SchemaPath, ""
	}
	return f.Field.String(), f.Field.Pointer()
}

// An Identity is what an object is called. It is empty where nothing is known.
type Identity struct{ APIVersion, Kind, Namespace, Name string }

// String returns the kind, and the name with its namespace: Deployment prod/web.
// What comes from the document cannot forge lines.
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

// An Outcome is all that is to be said about one object, or about a file.
type Outcome struct {
	Identity
	Document int             // counts those of a file from 1; 0 for the file itself
	Start    errors.Position // of the object
	Findings []Finding
	IsList   bool   // it is what is around the items of a List
	Skipped  bool   // there is no schema, and that is in order
	Partial  bool   // it is a part of a definition, for a tool that merges or compares it
	Passed   bool   // it is no definition and no schema, where these are looked for
	Output   []byte // what the object becomes
	Changes  bool   // the file is not what it should be, and was not changed
}

// Worst returns the severity of the worst finding, or 0.
func (v *Outcome) Worst() (s Severity) {
	for i := range v.Findings {
		s = max(s, v.Findings[i].Severity)
	}
	return s
}

// IsFatal reports whether there is no result.
func (v *Outcome) IsFatal() bool {
	for i := range v.Findings {
		if v.Findings[i].Fatal {
			return true
		}
	}
	return false
}
