package errors

import "errors"

// What errors.Is looks for: a *[Finding] of the kind matches, and what wraps one, as [StrictError] and [TypeError] do for each
// that they have kept.
var (
	// ErrUnknownField is for findings of the kind [UnknownField].
	ErrUnknownField = errors.New("unknown field")
	// ErrDuplicateField is for findings of the kind [DuplicateField], and for a [DuplicateError].
	ErrDuplicateField = errors.New("duplicate field")
	// ErrTypeMismatch is for findings of the kind [TypeMismatch].
	ErrTypeMismatch = errors.New("type mismatch")
	// ErrDroppedNull is for findings of the kind [DroppedNull], which no error of a decoder wraps.
	ErrDroppedNull = errors.New("dropped null")
)

// ErrBudget is returned where memory is charged to a budget that others share (decoder.Decoder.SetBudget), and that has
// no room. It says nothing about the document, which may be decoded later.
var ErrBudget = errors.New("there is no room left in the memory that is shared with others: try again later")

// ErrUnexpectedType is wrapped by the [ObjectError] for an object of another type than the one that is expected
// (decoder.ExpectType).
var ErrUnexpectedType = errors.New("the object is of another type than expected")

// Is reports whether target is the error for findings of this kind, such as [ErrUnknownField].
func (f *Finding) Is(target error) bool {
	switch f.Kind {
	case UnknownField:
		return target == ErrUnknownField
	case DuplicateField:
		return target == ErrDuplicateField
	case TypeMismatch:
		return target == ErrTypeMismatch
	case DroppedNull:
		return target == ErrDroppedNull
	}
	return false
}

// Is reports whether target is [ErrDuplicateField].
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicateField }
