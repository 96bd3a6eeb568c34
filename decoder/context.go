package decoder

import (
	"context"
	stderrors "errors"

	"github.com/espalier-dev/espalier/errors"
)

// checkContext returns an error of reading at the offset if the context is done. The context
// may be nil.
func checkContext(ctx context.Context, offset int64) error {
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	err, cause := ctx.Err(), context.Cause(ctx)
	if !stderrors.Is(cause, err) {
		cause = &doneError{cause, err}
	}
	return &errors.IOError{Op: "read", Offset: offset, Err: cause}
}

// A doneError is the cause of a context that is done, for a cause in which errors.Is does not
// find the error of the context.
type doneError struct{ cause, err error }

func (e *doneError) Error() string { return e.cause.Error() }

// Unwrap returns the errors that errors.Is finds: the cause, and context.Canceled or
// context.DeadlineExceeded.
func (e *doneError) Unwrap() []error { return []error{e.cause, e.err} }
