// Package finding holds the command's findings: places in files with a rule, a
// severity and a message. Every other package makes, passes or writes them.
package finding

import (
	"cmp"
	"fmt"
	"slices"
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
	// Old is the object that this one replaces, if the server would accept the value in a new one.
	Old    Place
	Source string // the line of At, or the part around it
	Cut    int    // how many characters of the line precede Source
	// Suppression is why the finding is not reported, or nil.
	Suppression *Suppression
}

// A Suppression is the reason for which a finding is not reported.
type Suppression struct {
	InSource bool // a comment beside the finding has it, and no other file
	Reason   string
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

// A Choice says by which definition an object was checked, of several of its kind that differ.
type Choice struct {
	By Place
	// Refuses is a definition by which the object has errors, if it has none by the other.
	Refuses Place
	// Untried means that there are more definitions than were tried.
	Untried bool
}

// An Outcome is everything to report about one object, or about a file.
type Outcome struct {
	Identity
	Document int             // in the file, from 1; 0 for the file itself
	Start    errors.Position // of the object
	Findings []Finding
	// Suppressed are findings that are not reported.
	Suppressed []Finding
	IsList     bool // it is a List without its items
	Skipped    bool // it has no schema and needs none
	Partial    bool // it is a part of a definition, such as a patch
	Part       bool // it is a part of another object, in which nothing is missing
	NoObject   bool // it is no object of Kubernetes
	// Unchecked means that there is no schema, and that nothing is known of its group.
	Unchecked  bool
	IsTemplate bool    // the file or document is a template, and was not examined
	Chart      string  // the folder of the chart that the template belongs to, or ""
	Rendered   string  // the template that the object was rendered from, if it says so
	Compared   bool    // it replaces an object of the old state
	Passed     bool    // it is neither a definition nor a schema, which were looked for
	Output     []byte  // the text to write for the object
	Changes    bool    // the file has a difference that is not written
	Choice     *Choice // of a definition, or nil
	// RulesOff means that rules in CEL were not evaluated because of values that are not there yet.
	RulesOff bool
	// Differs is where it is reported that this definition and others differ, or zero, and Quiet is
	// why it is not, or nil.
	Differs errors.Position
	Quiet   *Suppression
}

// Suppress moves findings to those that are not reported, if suppression returns a reason for
// them. Findings of fixed rules stay.
func (v *Outcome) Suppress(suppression func(*Finding) *Suppression) {
	v.Findings = slices.DeleteFunc(v.Findings, func(f Finding) bool {
		if rule := RuleOf(f.Rule); rule == nil || rule.Fixed {
			return false
		}
		if f.Suppression = suppression(&f); f.Suppression == nil {
			return false
		}
		v.Suppressed = append(v.Suppressed, f)
		return true
	})
}

// Worst returns the highest severity of the findings, or 0.
func (v *Outcome) Worst() (s Severity) {
	for i := range v.Findings {
		s = max(s, v.Findings[i].Severity)
	}
	return s
}

// Errors returns how many findings are errors of their own.
func (v *Outcome) Errors() (n int) {
	for i := range v.Findings {
		if f := &v.Findings[i]; f.Severity == Error && !v.Follows(f) {
			n++
		}
	}
	return n
}

// Sort sorts the findings by their places. What follows from others comes last.
func (v *Outcome) Sort() {
	slices.SortStableFunc(v.Findings, func(a, b Finding) int {
		switch last := IsConsequence(a.Invalid); {
		case last == IsConsequence(b.Invalid):
			return cmp.Compare(a.At.Offset, b.At.Offset)
		case last:
			return 1
		}
		return -1
	})
}

// Follows reports whether a finding is no error of its own: it says that rules in CEL were not
// evaluated because of other errors, and one of these is reported. Otherwise it is all that is left
// to say that the object is not known to be valid.
func (v *Outcome) Follows(f *Finding) bool {
	return IsConsequence(f.Invalid) && slices.ContainsFunc(v.Findings, func(f Finding) bool {
		return f.Severity == Error && !IsConsequence(f.Invalid)
	})
}

// IsConsequence reports whether the server only says that it did not evaluate rules in CEL because
// of other errors.
func IsConsequence(e *errors.ValueError) bool {
	return e != nil && e.Rule == "x-kubernetes-validations" && e.Field == "" &&
		strings.Contains(e.Msg, "some validation rules were not checked")
}

// IsFatal reports whether the object has no result, be that reported or not.
func (v *Outcome) IsFatal() bool {
	isFatal := func(f Finding) bool { return f.Fatal }
	return slices.ContainsFunc(v.Findings, isFatal) || slices.ContainsFunc(v.Suppressed, isFatal)
}
