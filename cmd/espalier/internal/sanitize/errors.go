package sanitize

import (
	stderrors "errors"
	"fmt"
	"io"
)

// WriteErrors writes a line for each of the joined errors.
func WriteErrors(to io.Writer, err error) {
	for _, one := range Unjoin(err) {
		fmt.Fprintf(to, "error: %s\n", Text(one.Error()))
	}
}

// Unjoin returns the errors that errors.Join has joined. It does not split messages at line
// feeds, so that a message cannot pretend to be several errors.
func Unjoin(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	if text := stderrors.Join(joined.Unwrap()...); text == nil || text.Error() != err.Error() {
		return []error{err} // it wraps others, but has a message of its own
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, Unjoin(one)...)
	}
	return all
}
