package request

import (
	"slices"
	"strings"
)

const (
	methodPost  = "POST"
	methodPut   = "PUT"
	methodPatch = "PATCH"
)

var (
	// writes have a body for a schema.
	writes = []string{methodPost, methodPut, methodPatch}
	// passing are the other methods, which no server takes for a write of the body.
	passing = []string{"GET", "HEAD", "DELETE", "OPTIONS"}
)

// JudgeMethod reports whether requests with a method have a body for a schema, which those with POST, PUT and
// PATCH have. With GET, HEAD, DELETE and OPTIONS they pass untouched, whatever body they have; all others are refused with 405, as
// they may or may not be writes, such as MERGE and post. Methods have case (RFC 9110 section 9.1).
func JudgeMethod(method string) (isWrite bool, refused *StatusError) {
	isWrite = slices.Contains(writes, method)
	if isWrite || slices.Contains(passing, method) {
		return isWrite, nil
	}
	allowed := strings.Join(slices.Concat(passing, writes), ", ")
	return false, &StatusError{
		Code:    statusNotAllowed,
		Reason:  "MethodNotAllowed",
		Message: "the method of the request is not passed on - methods are in capitals, and these are: " + allowed,
		Header:  map[string]string{"Allow": allowed}, // RFC 9110 section 15.5.6
	}
}
