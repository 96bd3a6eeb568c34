package sanitize

import (
	stderrors "errors"
	"fmt"
	"io"
)

// WriteErrors writes a line for each of the errors that were joined.
func WriteErrors(to io.Writer, err error) {
	for _, one := range Unjoin(err) {
		fmt.Fprintf(to, "error: %s\n", Text(one.Error()))
	}
}

// Unjoin returns the errors of which errors.Join has made one. What a message holds cannot
// do that: it is not cut at its line ends.
func Unjoin(err error) []error {
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	if text := stderrors.Join(joined.Unwrap()...); text == nil || text.Error() != err.Error() {
		return []error{err} // of which these are only the causes
	}
	var all []error
	for _, one := range joined.Unwrap() {
		all = append(all, Unjoin(one)...)
	}
	return all
}
