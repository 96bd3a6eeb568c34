package decoder

import "github.com/espalier-dev/espalier/yamlbridge"

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
	case Strict:
		return "Strict"
	case Ignore:
		return "Ignore"
	}
	return "Warn"
}

// Limits bound what one document may cost. A zero field stands for its default,
// the constant beside it.
type Limits struct {
	Depth        int // open objects and arrays, DefaultDepth
	Findings     int // that are kept; more are counted only; DefaultFindings
	FindingBytes int // of paths, over all findings that are kept, DefaultFindingBytes
	NumberBytes  int // of one number literal, DefaultNumberBytes
	NameBytes    int // of one name as it is written, DefaultNameBytes
	DefaultBytes int // that defaults insert into one document, DefaultDefaultBytes
	OutputBytes  int // of one result, DefaultOutputBytes; streams have no such limit
	HeldBytes    int // that a stream holds at a time (see Reader), DefaultHeldBytes
}

// The limits that hold where [Limits] says nothing else.
const (
	// DefaultDepth is that of the API server (sigs.k8s.io/json).
	DefaultDepth = 10_000
	// DefaultFindings is the API server's for duplicate fields.
	DefaultFindings     = 100
	DefaultFindingBytes = 64 << 10
	// DefaultNumberBytes leaves room for any float64 written out in full.
	DefaultNumberBytes  = 1000
	DefaultNameBytes    = 50_000
	DefaultDefaultBytes = 16 << 20
	DefaultOutputBytes  = 1 << 30
	DefaultHeldBytes    = 64 << 20
)

func (l Limits) withDefaults() Limits {
	set := func(field *int, to int) {
		if *field <= 0 {
			*field = to
		}
	}
	set(&l.Depth, DefaultDepth)
	set(&l.Findings, DefaultFindings)
	set(&l.FindingBytes, DefaultFindingBytes)
	set(&l.NumberBytes, DefaultNumberBytes)
	set(&l.NameBytes, DefaultNameBytes)
	set(&l.DefaultBytes, DefaultDefaultBytes)
	set(&l.OutputBytes, DefaultOutputBytes)
	set(&l.HeldBytes, DefaultHeldBytes)
	return l
}

// A limit is one of the limits, in errors.
type limit uint8

const (
	limitDepth limit = iota + 1
	limitNumber
	limitName
	limitDefaults
	limitOutput
	limitHeld
	limitLength
)

func (l Limits) of(which limit) (name string, max int) {
	switch which {
	case limitDepth:
		return "depth of nesting", l.Depth
	case limitNumber:
		return "length of a number in bytes", l.NumberBytes
	case limitName:
		return "length of a name in bytes", l.NameBytes
	case limitDefaults:
		return "size of inserted defaults in bytes", l.DefaultBytes
	case limitHeld:
		return "size of what a stream must hold in bytes", l.HeldBytes
	case limitLength:
		return "length of a stream in bytes", maxInt // which matters where int has 32 bits
	}
	return "size of the result in bytes", l.OutputBytes
}

// An Option changes how a [Decoder] works.
type Option func(*Decoder)

// FieldValidation says what happens to unknown and duplicate fields. The
// default is [Warn].
func FieldValidation(v Validation) Option { return func(d *Decoder) { d.validation = v } }

// WithLimits sets limits; fields that are zero keep their defaults.
func WithLimits(l Limits) Option { return func(d *Decoder) { d.walker.limits = l.withDefaults() } }

// Compact says whether white space between tokens is removed. By default what
// is kept is copied as it stands.
func Compact(does bool) Option { return func(d *Decoder) { d.compact = does } }

// ReportDroppedNulls says whether each null that is dropped, as its field is
// neither nullable nor has a default, is a finding. The API server drops these
// silently, and so does a Decoder by default. They never make a document fail.
func ReportDroppedNulls(does bool) Option { return func(d *Decoder) { d.nulls = does } }

// SeparateStrings says whether [Decoder.Unmarshal] allocates each string and number by
// itself. By default those of up to 1 KiB are allocated together, up to 16 KiB of text and 250
// values at a time, which is faster; but then each of them keeps the others in memory: a string
// up to 16 KiB, and an interface value that holds one up to 250 strings. Programs that keep a few
// strings of many objects for long want it.
func SeparateStrings(does bool) Option { return func(d *Decoder) { d.separate = does } }

// YAMLDialect says how [Decoder.AppendYAML] reads scalars and keys, and by which
// grammar: yamlbridge.Kubernetes, which is the default, or yamlbridge.Core.
func YAMLDialect(dialect yamlbridge.Dialect) Option {
	return func(d *Decoder) { d.yaml.Dialect = dialect }
}
