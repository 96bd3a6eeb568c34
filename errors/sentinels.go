package errors

import "errors"

// These are the targets for errors.Is. A *[Finding] of the kind matches, and so
// does an error that wraps one, as [StrictError], [TypeError] and
// [InvalidError] wrap each finding that they have kept.
var (
	// ErrUnknownField matches findings of the kind [UnknownField].
	ErrUnknownField = errors.New("unknown field")
	// ErrDuplicateField matches findings of the kind [DuplicateField], and
	// a [DuplicateError].
	ErrDuplicateField = errors.New("duplicate field")
	// ErrTypeMismatch matches findings of the kind [TypeMismatch].
	ErrTypeMismatch = errors.New("type mismatch")
	// ErrDroppedNull matches findings of the kind [DroppedNull]. No error
	// of a decoder wraps these.
	ErrDroppedNull = errors.New("dropped null")
	// ErrInvalidValue matches findings of the kind [InvalidValue].
	ErrInvalidValue = errors.New("invalid value")
)

// ErrBudget is returned if memory is charged to a shared budget
// (decoder.Decoder.SetBudget) that has no room. It says nothing about the
// document, which may be decoded later.
var ErrBudget = errors.New("there is no room left in the memory that is shared with others: try again later")

// ErrUnexpectedType is wrapped by the [ObjectError] for an object of another
// type than expected (decoder.ExpectType).
var ErrUnexpectedType = errors.New("the object is of another type than expected")

// Is reports whether target is the error for findings of this kind, such as
// [ErrUnknownField].
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
	case InvalidValue:
		return target == ErrInvalidValue
	}
	return false
}

// Is reports whether target is [ErrDuplicateField].
func (e *DuplicateError) Is(target error) bool { return target == ErrDuplicateField }
