package middleware

import (
	"bytes"
	"encoding/json"
	stderrors "errors"
	"net/http"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
)

// A StatusError is a request that is refused, with what the answer says.
type StatusError struct {
	Code    int    // of HTTP
	Reason  string // one of metav1.StatusReason, such as BadRequest
	Message string
	// Err is the cause where there is one: an error of the decoder, of the body or of
	// the Finder.
	Err error

	details *details
	header  http.Header
}

// Error returns the message.
func (e *StatusError) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *StatusError) Unwrap() error { return e.Err }

func badRequest(message string) *StatusError {
	return &StatusError{Code: http.StatusBadRequest, Reason: "BadRequest", Message: message}
}

func tooLarge(limit int64) *StatusError {
	return &StatusError{
		Code:    http.StatusRequestEntityTooLarge,
		Reason:  "RequestEntityTooLarge",
		Message: "Request entity too large: limit is " + strconv.FormatInt(limit, 10),
	}
}

// invalid is NewInvalid of k8s.io/apimachinery/pkg/api/errors for one error of one field.
func invalid(group, kind, name, field, causeReason, body string) *StatusError {
	qualified := kind
	if group != "" {
		qualified += "." + group
	}
	return &StatusError{
		Code:    http.StatusUnprocessableEntity,
		Reason:  "Invalid",
		Message: qualified + " " + strconv.Quote(name) + " is invalid: " + field + ": " + body,
		details: &details{
			Name: name, Group: group, Kind: kind,
			Causes: []cause{{Reason: causeReason, Message: body, Field: field}},
		},
	}
}

// status is metav1.Status of k8s.io/apimachinery, with its members in their order.
type status struct {
	Kind       string   `json:"kind"`
	APIVersion string   `json:"apiVersion"`
	Metadata   struct{} `json:"metadata"`
	Status     string   `json:"status"`
	Message    string   `json:"message"`
	Reason     string   `json:"reason"`
	Details    *details `json:"details,omitempty"`
	Code       int      `json:"code"`
}

type details struct {
	Name   string  `json:"name,omitempty"`
	Group  string  `json:"group,omitempty"`
	Kind   string  `json:"kind,omitempty"`
	Causes []cause `json:"causes,omitempty"`
}

type cause struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
	Field   string `json:"field"`
}

// problem is a problem detail (RFC 9457 section 3), with a member errors for what is
// where in the body.
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

// Answer writes the answer: a metav1.Status in JSON, or problem details (RFC 9457).
func (e *StatusError) Answer(w http.ResponseWriter, problemDetails bool) {
	body, contentType := e.body(problemDetails)
	writeAnswer(w, e.Code, e.header, body, contentType)
}

// refuse answers, when what the request has held was given back.
func (e *exchange) refuse(w http.ResponseWriter, refused *StatusError) {
	e.free(&e.body)
	e.free(&e.result)
	e.loan.repay(e.loan.bytes)
	e.findings = nil
	e.answer(w, refused)
}

// answer is Answer where what that takes is charged: its reader may be slow.
func (e *exchange) answer(w http.ResponseWriter, refused *StatusError) {
	needs := refused.most(e.h.opts.ProblemDetails)
	if !e.loan.charge(needs) {
		refused, needs = overloaded(), 0
	}
	body, contentType := refused.body(e.h.opts.ProblemDetails)
	e.loan.repay(max(0, needs-cap(body)))
	writeAnswer(w, refused.Code, refused.header, body, contentType)
}

// most is how much memory the answer takes while it is written, at most: a text becomes six times as long
// in JSON, in two buffers that double.
func (e *StatusError) most(problemDetails bool) int {
	n := len(e.Message)
	if e.details != nil {
		n += len(e.details.Name) + len(e.details.Kind)
		for _, c := range e.details.Causes {
			n += len(c.Message)
		}
	}
	if problemDetails {
		for _, f := range e.faults() {
			n += len(f.Detail) + len(f.Pointer)
		}
	}
	return 6 * 4 * n
}

// body is what Answer writes.
func (e *StatusError) body(problemDetails bool) (text []byte, contentType string) {
	var body bytes.Buffer
	contentType = "application/json"
	encoder := json.NewEncoder(&body)
	if problemDetails {
		contentType = "application/problem+json"
		_ = encoder.Encode(problem{"about:blank", http.StatusText(e.Code), e.Code, e.Message, e.Reason, e.faults()})
	} else {
		_ = encoder.Encode(status{
			Kind: "Status", APIVersion: "v1", Status: "Failure",
			Message: e.Message, Reason: e.Reason, Details: e.details, Code: e.Code,
		})
	}
	return body.Bytes(), contentType
}

func writeAnswer(w http.ResponseWriter, code int, with http.Header, body []byte, contentType string) {
	header := w.Header()
	for name, values := range with {
		header[name] = values
	}
	header.Set("Content-Type", contentType)
	header.Set("Content-Length", strconv.Itoa(len(body)))
	header.Set("Cache-Control", "no-cache, private")
	header.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(body) // a client that is gone needs no answer
}

// faults says where in the body the causes are.
func (e *StatusError) faults() []fault {
	var list []fault
	add := func(detail string, path errors.Path, p errors.Position) {
		list = append(list, fault{detail, path.Pointer(), p.Line, p.Column})
	}
	var strict *errors.StrictError
	var mismatch *errors.TypeError
	var syntax *errors.SyntaxError
	var object *errors.ObjectError
	var limit *errors.LimitError
	var findings errors.List
	switch {
	case stderrors.As(e.Err, &strict):
		findings = strict.Findings()
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
