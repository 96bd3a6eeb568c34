package errors

import (
	"slices"
	"strconv"
	"strings"
)

// A StrictError is returned under strict field validation for a document that
// has findings. The result that comes with it is complete and pruned, as with
// runtime.NewStrictDecodingError of k8s.io/apimachinery.
//
// errors.As finds each *Finding in it.
//
// A StrictError is immutable, because its methods return copies. A decoder that
// finds the same again therefore returns the same error again, to any caller,
// and allocates nothing for clients that repeat themselves.
type StrictError struct {
	list    List
	omitted int
}

// NewStrictError returns the error for the findings in list. omitted is how
// many further findings were not kept. The list belongs to the error
// afterwards.
func NewStrictError(list List, omitted int) *StrictError { return &StrictError{list, omitted} }

// Findings returns the unknown and duplicate fields, in the order of the API
// server. The list is a copy that belongs to the caller.
func (e *StrictError) Findings() List { return slices.Clone(e.list) }

// Omitted returns how many findings were beyond the limits and were not kept.
func (e *StrictError) Omitted() int { return e.omitted }

// Error returns the API server's text: strict decoding error: unknown field
// "a", unknown field "b".
func (e *StrictError) Error() string {
	return "strict decoding error: " + joinFindings(e.list, e.omitted, (*Finding).Error)
}

// Unwrap returns the findings, each a *Finding. They are copies that belong to
// the caller: changing them does not change the text of the error.
func (e *StrictError) Unwrap() []error { return unwrapFindings(e.Findings()) }

// A TypeError is returned for a document with values of another JSON type than
// the schema demands, where that is an error. Under the semantics of the KEP
// (KEP-2332, proposal 3), and with schema.CheckTypes, it is an error wherever
// types are checked. Under those of the deployed server it is an error in
// apiVersion, kind and metadata of resources. There is no result.
//
// errors.As finds each *Finding in it.
type TypeError struct {
	// Findings are the mismatches, in the order of the document. The list
	// belongs to the error.
	Findings List `json:"findings"`
	// Omitted counts the mismatches beyond the limits that were not kept.
	Omitted int `json:"omitted,omitzero"`
}

// Error names each value with its position, the type that it must have and the
// type that it has: 4:3: field "spec.a" must be an object, not a string.
func (e *TypeError) Error() string { return joinFindings(e.Findings, e.Omitted, (*Finding).Detail) }

// Unwrap returns the findings, each a *Finding.
func (e *TypeError) Unwrap() []error { return unwrapFindings(e.Findings) }

func joinFindings(l List, omitted int, text func(*Finding) string) string {
	var b strings.Builder
	for i := range l {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(text(&l[i]))
	}
	if omitted > 0 {
		b.WriteString(" and " + strconv.Itoa(omitted) + " more")
	}
	return b.String()
}

func unwrapFindings(l List) []error {
	errs := make([]error, len(l))
	for i := range l {
		errs[i] = &l[i]
	}
	return errs
}

// A SyntaxError is returned for a document that is not JSON or YAML, or that is
// refused because programs read it differently, such as one with invalid UTF-8
// or with text after its end. There is no result.
type SyntaxError struct {
	// Msg says what is wrong, in one line. Text of the document appears in
	// it only shortened and escaped.
	Msg string `json:"message"`
	// Position is where the document goes wrong.
	Position Position `json:"position"`
	// Path leads to the value with the fault.
	Path Path `json:"path"`
	// Err is the cause if there is one, such as an error of the reader.
	Err error `json:"-"`
}

// Error returns the message with its position and path.
func (e *SyntaxError) Error() string {
	return e.Position.String() + ": " + e.Msg + within(e.Path)
}

// Unwrap returns the cause, or nil.
func (e *SyntaxError) Unwrap() error { return e.Err }

// A LimitError is returned for a document that exceeds one of the limits. There
// is no result.
type LimitError struct {
	// Limit is the limit that was exceeded.
	Limit Limit `json:"limit"`
	// Max is how much the limit allows, in the unit of the limit.
	Max int64 `json:"max"`
	// Position is where the document exceeds the limit.
	Position Position `json:"position"`
	// Path leads to the value that exceeds the limit.
	Path Path `json:"path"`
}

// Error returns the message with its position and path.
func (e *LimitError) Error() string {
	return e.Position.String() + ": " + e.Limit.String() + " exceeds the limit of " +
		strconv.FormatInt(e.Max, 10) + within(e.Path)
}

// A DuplicateError is returned on a stream for a name that occurs twice in an
// object of the result: the first occurrence was already sent and cannot be
// taken back. There is no complete result.
type DuplicateError struct {
	// Path leads to the member that is repeated.
	Path Path `json:"path"`
	// Position is where the name occurs again.
	Position Position `json:"position"`
	// First is where the name occurs first. It is the zero Position if the
	// schema declares the name, because the positions of such names are not
	// kept.
	First Position `json:"first,omitzero"`
}

// Error returns the API server's text, with the position.
func (e *DuplicateError) Error() string {
	text := e.Position.String() + `: duplicate field "` + e.Path.String() + `"`
	if e.First.IsValid() {
		text += ", first at " + e.First.String()
	}
	return text + ": the first was sent already"
}

// An IOError is returned on a stream if reading the document or writing the
// result fails, or if its context is done. There is no complete result.
type IOError struct {
	// Op is the operation that failed: read or write.
	Op string
	// Offset is how many bytes had been read or written.
	Offset int64
	// Err is the cause. If a context is done, errors.Is finds in it both
	// the context's Err, which is context.Canceled or
	// context.DeadlineExceeded, and its context.Cause, and the text of Err
	// is that of the latter.
	Err error
}

// Error says what failed, where, and why.
func (e *IOError) Error() string {
	return e.Op + " at offset " + strconv.FormatInt(e.Offset, 10) + ": " + e.Err.Error()
}

// Unwrap returns the cause.
func (e *IOError) Unwrap() error { return e.Err }

// An ObjectError is returned for a document that is well-formed, but not the
// object of Kubernetes that it should be. Either the API server would refuse to
// decode it, because it has no kind, or an apiVersion or metadata that cannot
// be read; or it is of another type than decoder.ExpectType has set. There is
// no result.
type ObjectError struct {
	// Msg says what is wrong, with the API server's text if it has one.
	Msg string `json:"message"`
	// Position is that of the wrong value, or of the object that lacks a
	// value.
	Position Position `json:"position"`
	// Path leads to the value.
	Path Path `json:"path"`
	// Err is the cause if there is one.
	Err error `json:"-"`
}

// Error returns the message with its position and path.
func (e *ObjectError) Error() string {
	return e.Position.String() + ": " + e.Msg + within(e.Path)
}

// Unwrap returns the cause, or nil.
func (e *ObjectError) Unwrap() error { return e.Err }

func within(p Path) string {
	if p.IsRoot() {
		return ""
	}
	return ` in "` + p.String() + `"`
}
