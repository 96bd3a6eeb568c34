package extproc

import (
	"context"
	"errors"
	"io"
	"os"
)

// Status codes of gRPC.
const (
	canceled           = 1
	unknown            = 2
	invalidArgument    = 3
	deadlineExceeded   = 4
	notFound           = 5
	resourceExhausted  = 8
	failedPrecondition = 9
	unimplemented      = 12
	internal           = 13
	unavailable        = 14
)

// A statusError ends a stream with a status of gRPC other than OK. Envoy then refuses the request,
// unless it is configured to fail open.
type statusError struct {
	code    int
	message string
}

func (e *statusError) Error() string { return e.message }

// malformed is for messages that Envoy does not send.
func malformed(message string) error { return &statusError{invalidArgument, message} }

// failed is for configurations of Envoy by which a body would pass that nobody judges.
func failed(message string) error { return &statusError{failedPrecondition, message} }

// statusOf returns the status for the error with which a stream has ended.
func statusOf(err error) (code int, message string) {
	var status *statusError
	switch {
	case err == nil:
		return 0, ""
	case errors.As(err, &status):
		return status.code, status.message
	case errors.Is(err, io.ErrUnexpectedEOF):
		return invalidArgument, "the stream has ended before the request"
	case errors.Is(err, os.ErrDeadlineExceeded), errors.Is(err, context.DeadlineExceeded):
		return deadlineExceeded, "the messages did not come in time"
	case errors.Is(err, context.Canceled):
		return canceled, "the stream was cancelled"
	}
	return unknown, "the stream cannot be read or written"
}
