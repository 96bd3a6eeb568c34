package decoder

import (
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
)

// NOTE: values are validated in the result, after everything else. Package screen passes nearly all
// valid objects at once. The program's Validator decides about the others, and has the server's
// texts; then the document is gone through once more, for the positions of what is invalid.

// A ValueValidation says whether values are validated as the API server does it
// after it has decoded, pruned and defaulted an object, and for which request.
// It is an [Option]. For all but [AcceptValues], programs must be compiled with
// validation.Values (package schema/validation).
//
// An invalid value is a finding of the kind errors.InvalidValue. Where there is
// one, the error is an [*errors.InvalidError], which comes with the complete
// result. Under [Strict], unknown and duplicate fields are reported first: the
// server does not validate an object that has them. The findings have both.
//
// Rules in CEL (x-kubernetes-validations) are evaluated if validation.Values was
// given a compiler for them. As on the server, they are not where other values
// are missing, too long, too many, of a wrong type or not in an enum: one
// finding without a path says so then.
//
// What an update may contain depends on the stored object: see
// [Decoder.SetOld]. The server compares more than is compared here: the name
// and the namespace in the URL, the resourceVersion, and what admission says.
// Where a value is that of the stored object, and not in the document, its
// finding has the position of the document's object.
//
// Metadata is validated as a server normalises it, in every [ServerMode].
//
// A [Reader] or [Writer] decides about a value when it has passed, and about the
// rest of the rules for an object or array at its end. It holds scalars that
// have rules, metadata, and those objects and arrays until they have ended that
// have rules for their contents besides those of each value: anyOf, oneOf,
// allOf, not, enum, minProperties, maxProperties, additionalProperties: false,
// required names that are not declared, x-kubernetes-list-type, and
// x-kubernetes-embedded-resource. They are held within [Limits].HeldBytes. The
// whole document is held if the program has rules in CEL, and to compare it with
// a stored object.
type ValueValidation uint8

const (
	// AcceptValues does not validate values. It is the default.
	AcceptValues ValueValidation = iota
	// ValidateCreate validates values as for an object that is created. The
	// server drops the status then, if it is a subresource, and does not
	// validate it.
	ValidateCreate
	// ValidateUpdate validates values as for an object that replaces the
	// stored one. Without that, which [Decoder.SetOld] sets, decoding fails.
	// Values of the schema that are invalid in the stored object, too, are
	// excused where they have not changed. The status is the stored one, if
	// it is a subresource.
	ValidateUpdate
	// ValidateStatusUpdate validates values as for an update of the status
	// subresource: those of the status, the metadata, and the elements of
	// all sets and maps. The server takes all but the status from the
	// stored object; if that is not set, it is that of the document.
	ValidateStatusUpdate
)

// String returns the name of the constant.
func (v ValueValidation) String() string {
	switch v {
	case AcceptValues:
		return "AcceptValues"
	case ValidateCreate:
		return "ValidateCreate"
	case ValidateUpdate:
		return "ValidateUpdate"
	case ValidateStatusUpdate:
		return "ValidateStatusUpdate"
	}
	return "ValueValidation(" + strconv.Itoa(int(v)) + ")"
}

// MarshalText returns the text of String. It fails where v is not one of the
// constants.
func (v ValueValidation) MarshalText() ([]byte, error) {
	if v > ValidateStatusUpdate {
		return nil, fmt.Errorf("decoder: there is no %s", v)
	}
	return []byte(v.String()), nil
}

func (v ValueValidation) apply(o *options) { o.validateValues = v }

// request returns what the values are validated for.
func (v ValueValidation) request() program.Request {
	switch v {
	case ValidateUpdate:
		return program.Update
	case ValidateStatusUpdate:
		return program.StatusUpdate
	}
	return program.Create
}

// cannotValidate returns why values cannot be validated by a program, or nothing.
func (v ValueValidation) cannotValidate(p *program.Program) string {
	if v == AcceptValues || p.Validator != nil {
		return ""
	}
	return "the program was compiled without validation.Values, and values are to be validated"
}

// refuseProgram panics if the options ask for what the program cannot do.
func (o *options) refuseProgram(p *program.Program) {
	if why := o.validateValues.cannotValidate(p); why != "" {
		panic("decoder: " + why)
	}
}

// validatesWhole reports whether values cannot be validated in parts.
func (d *Decoder) validatesWhole() bool {
	return d.comparesOld() && (d.old != nil || d.validateValues == ValidateUpdate) ||
		d.validateValues != AcceptValues && d.program.Validator.HasRules()
}

// checkValues validates the values of the result. src is the text that was walked. The error is
// fatal: invalid values are findings.
func (d *Decoder) checkValues(result, src []byte) error {
	old, err := d.oldObject()
	if err != nil {
		d.walker.Found.Reset()
		return err
	}
	as := d.validateValues.request()
	var errs []program.Error
	if !d.isSurelyValid(result, old, as) {
		if errs, err = d.validate(result, old, d.asSent(as), src); err != nil {
			return err
		}
	}
	if d.program.Validator.HasRules() {
		errs = append(errs, d.evaluate(result, old, d.asSent(as), errs)...)
	}
	if len(errs) > 0 {
		d.addInvalid(errs, src)
	}
	return nil
}

// asSent returns a request that says whether metadata is as it was sent.
func (d *Decoder) asSent(as program.Request) program.Request {
	if d.server == Standalone {
		as |= program.AsSent
	}
	return as
}

// isSurelyValid reports whether a result is valid at a glance.
func (d *Decoder) isSurelyValid(result, old []byte, as program.Request) bool {
	doubt := d.walker.Doubt || d.metadataDefault || d.unstableDefault
	switch {
	case old == nil:
		return !doubt || d.screen.IsValid(d.program, result, as)
	case as == program.Update:
		return d.screen.IsValidUpdate(d.program, result, old, doubt)
	}
	return d.screen.IsValidStatusUpdate(d.program, result, old, doubt)
}

// validate validates a result exactly.
func (d *Decoder) validate(
	result, old []byte, as program.Request, src []byte,
) (errs []program.Error, err error) {
	size := len(result) + len(old)
	if d.withSteps(size, validationSteps(size), func(steps int) (complete bool) {
		errs, complete = d.program.Validator.ValidateUpdate(result, old, as, steps)
		return complete
	}) {
		return errs, nil
	}
	d.walker.Found.Reset()
	limit := d.limitError(src, errors.LimitValidationSteps, 0)
	limit.Max = int64(validationSteps(size))
	return nil, limit
}

// evaluate evaluates the rules in CEL for a result that has other errors already.
func (d *Decoder) evaluate(
	result, old []byte, as program.Request, errs []program.Error,
) []program.Error {
	if slices.ContainsFunc(errs, func(e program.Error) bool { return e.Hinders }) {
		return []program.Error{{ValueError: errors.ValueError{
			Kind: errors.SchemaInvalid, Rule: "x-kubernetes-validations",
			Value: "null", Msg: notEvaluated,
		}}}
	}
	p := &d.parts
	if p.charge == nil {
		p.charge = func(bytes int) {
			d.account.Take(bytes)
			p.charged += bytes
		}
	}
	defer func() {
		d.account.Give(p.charged)
		p.charged = 0
	}()
	return d.program.Validator.Evaluate(result, old, as, p.charge)
}

const notEvaluated = "some validation rules were not checked because the object was invalid; " +
	"correct the existing errors to complete validation"

// withSteps tries to validate a value of so many bytes, with more and more steps up to all, until
// they suffice. A few do for most objects, and need little memory. It reports whether any sufficed.
func (d *Decoder) withSteps(bytes, all int, try func(steps int) bool) bool {
	for steps := min(fewSteps(bytes), all); ; steps = min(4*steps, all) {
		size := neededFor(bytes, steps)
		d.account.Take(size)
		complete := try(steps)
		d.account.Give(size)
		if complete || steps == all {
			return complete
		}
	}
}

// neededFor returns how much memory the validation of a value may take, in bytes. Decoded values
// take up to 64 bytes for each byte of text. An error takes up to 16 bytes for each step, as it is
// kept at several levels until all are known.
func neededFor(bytes, steps int) int {
	const perByte, perStep = 64, 16
	return min(bytes, math.MaxInt/4/perByte)*perByte + min(steps, math.MaxInt/4/perStep)*perStep
}

// fewSteps returns how many steps the validation of most values takes at most.
func fewSteps(bytes int) int {
	const few, perByte = 1 << 14, 2
	return few + perByte*min(bytes, (math.MaxInt-few)/perByte)
}

// validationSteps returns how many steps validating a result may take.
func validationSteps(bytes int) int {
	const few, perByte = 1 << 20, 64
	return few + perByte*min(bytes, (math.MaxInt-few)/perByte)
}

// addInvalid adds findings about invalid values.
func (d *Decoder) addInvalid(errs []program.Error, src []byte) {
	found := &d.walker.Found
	paths := make([][]errors.Segment, len(errs))
	for i := range errs {
		if !errs[i].IsOld {
			paths[i] = errs[i].Path
		}
	}
	for i, at := range screen.Locate(src, paths) {
		addPath(found, findings.Invalid(at, &errs[i].ValueError), errs[i].Path)
	}
	found.Locate((*locator)(d))
	found.FinishInvalid()
}

// addPath adds a finding with a path.
func addPath(found *findings.Collector, r findings.Record, path []errors.Segment) {
	found.Add(r, len(path), func(i int) ([]byte, int) {
		if s := path[i]; s.IsName {
			return append(make([]byte, 0, len(s.Name)+1), s.Name...), 0
		}
		return nil, path[i].Index
	})
}

// isComplete reports whether a complete result comes with the error.
func isComplete(err error) bool {
	switch err.(type) {
	case nil, *errors.StrictError, *errors.InvalidError:
		return true
	}
	return false
}
