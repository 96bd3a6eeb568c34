package request

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"maps"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
)

// The status codes of refusals: RFC 9110 section 15.
const (
	statusBadRequest       = 400
	statusForbidden        = 403
	statusNotAllowed       = 405
	statusTimeout          = 408
	statusTooLarge         = 413
	statusUnsupportedMedia = 415
	statusInvalid          = 422
	statusInternalError    = 500
	statusUnavailable      = 503
)

// A StatusError is the refusal of a request, with the contents of the answer.
type StatusError struct {
	// Code is the status code of HTTP.
	Code int
	// Reason is a metav1.StatusReason, such as BadRequest.
	Reason  string
	Message string
	// Details are the details of a metav1.Status, or nil.
	Details *Details
	// Header has the headers of the answer besides those of its body, such
	// as Retry-After, by their canonical names.
	Header map[string]string
	// Err is the cause if there is one: an error of the decoder, of the
	// body or of the Finder.
	Err error
}

// Details say what a [StatusError] is about, as metav1.StatusDetails does.
type Details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"`
	Causes []Cause `json:"causes,omitempty"`
}

// A Cause says what is wrong with a field, as metav1.StatusCause does.
type Cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// Error returns the message.
func (e *StatusError) Error() string { return e.Message }

// Unwrap returns the cause, or nil. A nil StatusError has no cause.
func (e *StatusError) Unwrap() error {
	if e == nil { // errors.Is may ask before anybody sees that the error is nil
		return nil
	}
	return e.Err
}

// BadRequest returns a refusal with the code 400.
func BadRequest(message string) *StatusError {
	return &StatusError{Code: statusBadRequest, Reason: "BadRequest", Message: message}
}

// TooLarge returns the refusal of a body that has more bytes than a limit, with
// the code 413.
func TooLarge(limit int64) *StatusError {
	return &StatusError{
		Code:    statusTooLarge,
		Reason:  "RequestEntityTooLarge",
		Message: "Request entity too large: limit is " + strconv.FormatInt(limit, 10),
	}
}

// Overloaded returns the refusal of a request for which there is no room, with
// the code 503 and a Retry-After of one second.
func Overloaded() *StatusError { return overloaded() }

func overloaded() *StatusError {
	return &StatusError{
		Code:    statusUnavailable,
		Reason:  "ServiceUnavailable",
		Message: "the bodies of too many requests are held, please try again later",
		Header:  map[string]string{"Retry-After": "1"},
	}
}

// invalid is invalidFields for one error of one field.
func invalid(group, kind, name, field, causeReason, body string) *StatusError {
	return invalidFields(group, kind, name, []Cause{{Reason: causeReason, Message: body, Field: field}}, 0)
}

// invalidFields is NewInvalid of k8s.io/apimachinery/pkg/api/errors, for at least one error. omitted
// is how many further ones there are.
func invalidFields(group, kind, name string, causes []Cause, omitted int) *StatusError {
	qualified := kind
	if group != "" {
		qualified += "." + group
	}
	reason := aggregate(causes)
	if omitted > 0 {
		reason += " and " + strconv.Itoa(omitted) + " more"
	}
	return &StatusError{
		Code:    statusInvalid,
		Reason:  "Invalid",
		Message: qualified + " " + strconv.Quote(name) + " is invalid: " + reason,
		Details: &Details{Name: name, Group: group, Kind: kind, Causes: causes},
	}
}

// aggregate returns the texts of field errors as ToAggregate of field.ErrorList joins them: each
// text once.
func aggregate(causes []Cause) string {
	texts := make([]string, 0, len(causes))
	seen := make(map[string]bool, len(causes))
	for _, c := range causes {
		if text := c.Field + ": " + c.Message; !seen[text] {
			seen[text] = true
			texts = append(texts, text)
		}
	}
	if len(texts) == 1 {
		return texts[0]
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// status is metav1.Status of k8s.io/apimachinery, with the members in the same order.
type status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Status     string   `json:"status"`
	Message    string   `json:"message"`
	Reason     string   `json:"reason"`
	Details    *Details `json:"details,omitempty"`
	Code       int      `json:"code"`
}

// problem is a problem detail (RFC 9457 section 3). Its member errors has the faults in the body
// with their places.
type problem struct {
	Type   string  `json:"type"`
	Title  string  `json:"title"`
	Status int     `json:"status"`
	Detail string  `json:"detail"`
	Reason string  `json:"reason"`
	Errors []fault `json:"errors,omitempty"`
}

type fault struct {
	Detail  string `json:"detail"`
	Pointer string `json:"pointer"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
}

// An Answer is a refusal in the form in which it is sent.
type Answer struct {
	Code int
	// Header has all headers except Content-Length, by their canonical
	// names.
	Header map[string]string
	Body   []byte
}

// Answer returns the answer that tells the sender of the error: a metav1.Status
// in JSON, or problem details (RFC 9457). For a refusal by an [Exchange], use
// [Exchange.Answer], which charges its memory.
func (e *StatusError) Answer(problemDetails bool) Answer {
	body, contentType := e.body(problemDetails)
	header := make(map[string]string, len(e.Header)+3)
	maps.Copy(header, e.Header)
	header["Content-Type"] = contentType
	header["Cache-Control"] = "no-cache, private"
	header["X-Content-Type-Options"] = "nosniff"
	return Answer{e.Code, header, body}
}

// most returns the most memory that the answer takes while it is written. A text may become six
// times as long in JSON, in two buffers that double.
func (e *StatusError) most(problemDetails bool) int {
	n := len(e.Message)
	if e.Details != nil {
		n += len(e.Details.Name) + len(e.Details.Kind)
		for _, c := range e.Details.Causes {
			n += len(c.Message) + len(c.Field)
		}
	}
	if problemDetails {
		for _, f := range e.faults() {
			n += len(f.Detail) + len(f.Pointer)
		}
	}
	return 6 * 4 * n
}

// body returns the body of the answer and its type.
func (e *StatusError) body(problemDetails bool) (text []byte, contentType string) {
	var body bytes.Buffer
	contentType = "application/json"
	encoder := json.NewEncoder(&body)
	if problemDetails {
		contentType = "application/problem+json"
		_ = encoder.Encode(problem{"about:blank", titles[e.Code], e.Code, e.Message, e.Reason, e.faults()})
	} else {
		_ = encoder.Encode(status{
			Kind: "Status", APIVersion: "v1", Status: "Failure",
			Message: e.Message, Reason: e.Reason, Details: e.Details, Code: e.Code,
		})
	}
	return body.Bytes(), contentType
}

// faults returns the faults in the body with their places.
func (e *StatusError) faults() []fault {
	var list []fault
	add := func(detail string, path errors.Path, p errors.Position) {
		list = append(list, fault{detail, path.Pointer(), p.Line, p.Column})
	}
	var strict *errors.StrictError
	var invalid *errors.InvalidError
	var mismatch *errors.TypeError
	var syntax *errors.SyntaxError
	var object *errors.ObjectError
	var limit *errors.LimitError
	var findings errors.List
	switch {
	case stderrors.As(e.Err, &strict):
		findings = strict.Findings()
	case stderrors.As(e.Err, &invalid):
		findings = invalid.Findings()
	case stderrors.As(e.Err, &mismatch):
		findings = mismatch.Findings
	case stderrors.As(e.Err, &syntax):
		add(syntax.Msg, syntax.Path, syntax.Position)
	case stderrors.As(e.Err, &object):
		add(object.Msg, object.Path, object.Position)
	case stderrors.As(e.Err, &limit):
		add(limit.Error(), limit.Path, limit.Position)
	}
	for i := range findings {
		add(findings[i].Error(), findings[i].Path, findings[i].Position)
	}
	return list
}
