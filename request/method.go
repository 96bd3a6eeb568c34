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
	// writes are the methods whose body a schema judges.
	writes = []string{methodPost, methodPut, methodPatch}
	// passing are the methods that pass: no server takes them for a write of the body.
	passing = []string{"GET", "HEAD", "DELETE", "OPTIONS"}
)

// JudgeMethod reports whether requests with a method have a body for a schema.
// POST, PUT and PATCH have one. GET, HEAD, DELETE and OPTIONS pass untouched,
// whatever body they have. All other methods, such as MERGE and post, are
// refused with 405, because they may be writes. The case of a method matters
// (RFC 9110, section 9.1).
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
