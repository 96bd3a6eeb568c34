package decoder

import (
	"fmt"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A Validation says what happens to documents with unknown or duplicate fields
// (KEP-2885). In each case unknown fields are pruned, and of a name that stands
// twice the last value wins.
type Validation uint8

const (
	// Warn collects findings and returns the result. It is the default, as in
	// the API server.
	Warn Validation = iota
	// Strict collects findings, and returns errors.StrictError together with the
	// result where there are any.
	Strict
	// Ignore collects nothing, which is faster.
	Ignore
)

// String returns the name as in the fieldValidation parameter of the API server.
func (v Validation) String() string {
	switch v {
	case Warn:
		return "Warn"
	case Strict:
		return "Strict"
	case Ignore:
		return "Ignore"
	}
	return "Validation(" + strconv.Itoa(int(v)) + ")"
}

// MarshalText returns what String returns, and fails for what is no Validation.
func (v Validation) MarshalText() ([]byte, error) {
	if v > Ignore {
		return nil, fmt.Errorf("decoder: there is no %s", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText is [ParseValidation].
func (v *Validation) UnmarshalText(text []byte) error {
	parsed, err := ParseValidation(string(text))
	if err == nil {
		*v = parsed
	}
	return err
}

// ParseValidation returns the Validation that is called so: Warn, Strict or Ignore, as the fieldValidation parameter of
// the API server has them, with regard to case.
func ParseValidation(name string) (Validation, error) {
	for v := Warn; v <= Ignore; v++ {
		if name == v.String() {
			return v, nil
		}
	}
	return 0, fmt.Errorf("decoder: there is no field validation called %s: it is Warn, Strict or Ignore", errors.AppendQuoted(nil, name))
}

// An Option changes how a [Decoder] works. Options are for [New] and for what makes decoders: they have no
// effect on one that is there. In which order they are given does not matter, but where two of them
// say the same thing: then the last one holds. What nobody has defined is refused with a panic by what they are given to: a nil
// option, a [Validation], [Limits] or a dialect of YAML that there are none of.
type Option func(*options)

// options are what all options together say.
type options struct {
	validation Validation
	limits     Limits // zero where nobody has said anything
	dialect    yamlbridge.Dialect

	kubernetes, fromStorage bool
	missingKind             bool
	numbersAsSent           bool
	compact                 bool
	nulls                   bool
	separate                bool
}

// optionsOf returns what the options say together. It panics where that is nothing.
func optionsOf(opts []Option) options {
	var o options
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("decoder: option %d of %d is nil", i+1, len(opts)))
		}
		opt(&o)
	}
	o.kubernetes = o.kubernetes || o.fromStorage
	for _, limit := range o.limits.fields() {
		if *limit < 0 {
			panic(fmt.Sprintf("decoder: WithLimits: no limit can be less than 0: %+v", o.limits))
		}
	}
	if o.kubernetes {
		o.limits = Limits{NameBytes: maxInt32, NumberBytes: maxInt32}.with(o.limits)
	}
	if o.validation > Ignore {
		panic("decoder: FieldValidation: there is no " + o.validation.String())
	}
	if o.dialect > yamlbridge.Core {
		panic(fmt.Sprintf("decoder: YAMLDialect: there is no yamlbridge.Dialect(%d)", o.dialect))
	}
	return o
}

// FieldValidation says what happens to unknown and duplicate fields. The
// default is [Warn].
func FieldValidation(v Validation) Option { return func(o *options) { o.validation = v } }

// WithLimits sets limits, each field by itself: those that are zero stay as they are, also where other
// options have set them.
func WithLimits(l Limits) Option { return func(o *options) { o.limits = o.limits.with(l) } }

// Compact says whether white space between tokens is removed. By default what
// is kept is copied as it stands.
func Compact(does bool) Option { return func(o *options) { o.compact = does } }

// ReportDroppedNulls says whether each null that is dropped, as its field is
// neither nullable nor has a default, is a finding. The API server drops these
// silently, and so does a Decoder by default. They never make a document fail.
func ReportDroppedNulls(does bool) Option { return func(o *options) { o.nulls = does } }

// SeparateStrings says whether [Decoder.Unmarshal] allocates each string and number by
// itself. By default those of up to 1 KiB are allocated together, up to 16 KiB of text and 250
// values at a time, which is faster; but then each of them keeps the others in memory: a string
// up to 16 KiB, and an interface value that holds one up to 250 strings. Programs that keep a few
// strings of many objects for long want it.
func SeparateStrings(does bool) Option { return func(o *options) { o.separate = does } }

// YAMLDialect says how [Decoder.AppendYAML] reads scalars and keys, and by which
// grammar: yamlbridge.Kubernetes, which is the default, or yamlbridge.Core.
func YAMLDialect(dialect yamlbridge.Dialect) Option {
	return func(o *options) { o.dialect = dialect }
}
