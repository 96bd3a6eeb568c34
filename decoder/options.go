package decoder

import (
	"fmt"
	"math"
	"strconv"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A FieldValidation says what happens to documents with unknown or duplicate
// fields (KEP-2885). In every case unknown fields are pruned, and the last
// value of a repeated name wins. It is an [Option].
type FieldValidation uint8

const (
	// Warn collects findings and returns the result. It is the default, as
	// in the API server.
	Warn FieldValidation = iota
	// Strict collects findings and, where there are any, returns an
	// [*errors.StrictError] together with the result.
	Strict
	// Ignore collects no findings, which is faster.
	Ignore
)

// String returns the name that the fieldValidation parameter of the API server
// has for v.
func (v FieldValidation) String() string {
	switch v {
	case Warn:
		return "Warn"
	case Strict:
		return "Strict"
	case Ignore:
		return "Ignore"
	}
	return "FieldValidation(" + strconv.Itoa(int(v)) + ")"
}

// MarshalText returns the text of String. It fails where v is not one of the
// constants.
func (v FieldValidation) MarshalText() ([]byte, error) {
	if v > Ignore {
		return nil, fmt.Errorf("decoder: there is no %s", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText sets v to what [ParseFieldValidation] returns for the text.
func (v *FieldValidation) UnmarshalText(text []byte) error {
	parsed, err := ParseFieldValidation(string(text))
	if err == nil {
		*v = parsed
	}
	return err
}

// ParseFieldValidation returns the FieldValidation for Warn, Strict or Ignore,
// the names in the fieldValidation parameter of the API server. Case matters,
// and any other name is an error.
func ParseFieldValidation(name string) (FieldValidation, error) {
	for v := Warn; v <= Ignore; v++ {
		if name == v.String() {
			return v, nil
		}
	}
	const text = "decoder: there is no field validation called %s: it is Warn, Strict or Ignore"
	return 0, fmt.Errorf(text, fieldpath.Quoted(name))
}

func (v FieldValidation) apply(o *options) { o.validation = v }

// A ServerMode says whether a decoder gives, byte for byte, the results of an
// API server, and in which of the server's roles. The server is that of v0.37
// of k8s.io/apiextensions-apiserver. A ServerMode is an [Option].
//
// In every mode but [Standalone]:
//
//   - Invalid UTF-8 and lone surrogates become U+FFFD. Names are compared after
//     that.
//   - Numbers are written as they are after decoding: 1e3 as 1000, and integers
//     beyond int64 as float64. The float -0.0 is written as -0, which both the
//     server and this decoder read as the integer 0. Only in this case does
//     decoding a result again change it.
//   - metadata is as after a round trip through ObjectMeta: empty members and
//     nulls are gone, nulls in maps and lists of strings are empty strings, and
//     times are in UTC with a precision of one second.
//   - Names and numbers may have any length, unless [Limits] bound them.
//   - YAML is read by yamlbridge.Server, unless [YAMLDialect] sets another
//     dialect; see also [Decoder.YAMLDuplicates].
//   - Messages about unknown fields in the metadata of embedded resources write
//     map keys in brackets: m[k].metadata.x. Their [errors.Finding.Path] is the
//     same as in Standalone.
//
// As in every decoder, findings are limited, and names in their paths are
// escaped. The program is assumed to be that of the object's group and kind.
type ServerMode uint8

const (
	// Standalone refuses what a server would alter, and keeps text as it
	// was sent. It is the default.
	Standalone ServerMode = iota
	// ServerRequests decodes custom resources that clients send to a
	// server. An object must have a kind, and an apiVersion of at most two
	// parts. Members of these names, in any case of their letters, must be
	// strings or null, even where a later one replaces them: the server
	// first reads them with encoding/json.
	ServerRequests
	// ServerTypedRequests decodes objects whose types are compiled into a
	// server. The server takes their kind from the request. The mode is
	// ServerRequests, except that the object may lack a kind.
	ServerTypedRequests
	// ServerStorage decodes custom resources that a server reads from its
	// storage, in the version that is asked for. Members of metadata that have the wrong type are dropped
	// instead of being refused, and so are apiVersion and kind of embedded
	// resources that have the wrong type. A generation of 0 becomes 1. The
	// server decodes the object that it has read and defaulted a second
	// time, as if it had been sent, but without inserting defaults. Nulls
	// that came from defaults are therefore removed where their fields are
	// not nullable. The server does not look for findings then.
	//
	// A server that reads an object without metadata panics. This decoder
	// decodes it.
	ServerStorage
	// ServerConversions decodes custom resources that a server has read,
	// and converted to another version. The mode is ServerRequests, except
	// that no defaults are inserted, that a null stays where a default would
	// replace it, and that only the members kind and apiVersion themselves
	// must be strings.
	ServerConversions
	// ServerUnconverted decodes custom resources that a server reads from its
	// storage, and is about to convert to another version. The mode is
	// ServerStorage, except that the object is decoded once: the second time
	// is that of ServerConversions, by the schema of the other version. A
	// deletionTimestamp that is zero is written as null, and a time beyond the
	// year 9999 with five digits, which the second time refuses.
	ServerUnconverted
)

// isStored reports whether a server reads objects from its storage in this mode.
func (m ServerMode) isStored() bool { return m == ServerStorage || m == ServerUnconverted }

// String returns the name of the constant.
func (m ServerMode) String() string {
	switch m {
	case Standalone:
		return "Standalone"
	case ServerRequests:
		return "ServerRequests"
	case ServerTypedRequests:
		return "ServerTypedRequests"
	case ServerStorage:
		return "ServerStorage"
	case ServerConversions:
		return "ServerConversions"
	case ServerUnconverted:
		return "ServerUnconverted"
	}
	return "ServerMode(" + strconv.Itoa(int(m)) + ")"
}

// MarshalText returns the text of String. It fails where m is not one of the
// constants.
func (m ServerMode) MarshalText() ([]byte, error) {
	if m > ServerUnconverted {
		return nil, fmt.Errorf("decoder: there is no %s", m)
	}
	return []byte(m.String()), nil
}

func (m ServerMode) apply(o *options) { o.server = m }

// An Option changes how a [Decoder] works. It is a [FieldValidation], a
// [ValueValidation], a [ServerMode], [Limits], or the result of a function of this package such as
// [Compact]. Options are given to [New] and to other functions that make
// decoders; they have no effect on a decoder that exists. Their order does not
// matter, except that of two options that set the same thing the last one
// counts.
//
// Functions that take options panic where an option is invalid: nil, a negative
// limit, or a FieldValidation, ValueValidation, ServerMode or
// yamlbridge.Dialect that is not one of the constants.
type Option interface{ apply(*options) }

// An optionFunc is an option that sets something in options.
type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// options are the settings that all options make together.
type options struct {
	validation FieldValidation
	server     ServerMode
	limits     Limits // with zeros for defaults
	dialect    yamlbridge.Dialect
	hasDialect bool // YAMLDialect was given
	expected   objectType
	budget     Budget

	validateValues ValueValidation

	numbersAsSent   bool
	compact         bool
	reportNulls     bool
	separateStrings bool
}

// An objectType is a type that objects may have to have. An empty field allows any value.
type objectType struct{ apiVersion, kind string }

// optionsOf returns the settings of a decoder with the options. It panics if one is invalid.
func optionsOf(opts []Option) options {
	o := mergeOptions(opts)
	if o.server != Standalone {
		o.limits = Limits{NameBytes: math.MaxInt32, NumberBytes: math.MaxInt32}.With(o.limits)
		if !o.hasDialect {
			o.dialect = yamlbridge.Server
		}
	}
	return o
}

// mergeOptions is optionsOf without the defaults that depend on other options.
func mergeOptions(opts []Option) options {
	var o options
	for i, opt := range opts {
		if opt == nil {
			panic(fmt.Sprintf("decoder: option %d of %d is nil", i+1, len(opts)))
		}
		opt.apply(&o)
	}
	for _, limit := range o.limits.fields() {
		if *limit < 0 {
			panic(fmt.Sprintf("decoder: no limit can be less than 0: %+v", o.limits))
		}
	}
	switch {
	case o.validation > Ignore:
		panic("decoder: there is no " + o.validation.String())
	case o.validateValues > ValidateStatusUpdate:
		panic("decoder: there is no " + o.validateValues.String())
	case o.server > ServerUnconverted:
		panic("decoder: there is no " + o.server.String())
	case o.dialect > yamlbridge.Server:
		panic(fmt.Sprintf("decoder: YAMLDialect: there is no yamlbridge.Dialect(%d)", o.dialect))
	}
	return o
}

// refuseBudget panics if there is a budget. who is the type that cannot have one.
func (o *options) refuseBudget(who string) {
	if o.budget != nil {
		panic("decoder: WithBudget: " + who + " cannot give back what it takes; see Decoder.SetBudget")
	}
}

// Compact sets whether white space between tokens is removed. By default the
// white space of what is kept stays.
func Compact(does bool) Option { return optionFunc(func(o *options) { o.compact = does }) }

// ReportDroppedNulls sets whether a null is a finding if it is dropped because
// its field is neither nullable nor has a default. The API server drops these
// nulls silently, and so does a Decoder by default. These findings never fail a
// document, and under [Ignore] there are none.
func ReportDroppedNulls(does bool) Option {
	return optionFunc(func(o *options) { o.reportNulls = does })
}

// SeparateStrings sets whether [Decoder.Unmarshal] allocates each string and
// number by itself. By default strings and numbers of up to 1 KiB are allocated
// together, up to 16 KiB of text and 250 values at a time. That is faster, but
// each of them then keeps the others in memory: a string keeps up to 16 KiB of
// text, and an interface value that holds a string keeps up to 250 strings.
// Programs that keep a few strings of many objects for a long time should set
// it.
func SeparateStrings(does bool) Option {
	return optionFunc(func(o *options) { o.separateStrings = does })
}

// NumbersAsSent sets whether numbers keep their text under every [ServerMode],
// as they do under [Standalone]. For Decoder.Unmarshal this is closer to the
// API server, which decodes 1.0 to a float64 that only becomes 1 when it is
// written.
func NumbersAsSent(does bool) Option {
	return optionFunc(func(o *options) { o.numbersAsSent = does })
}

// ExpectType refuses objects of another apiVersion or kind, and objects that
// lack one of the two. The error is an [*errors.ObjectError] that wraps
// [errors.ErrUnexpectedType]. Without this option, a program prunes an object
// of a type that it was not made for to an empty shell. An empty argument
// expects nothing: that field may have any value, or be absent. By default, and
// if both arguments are empty, no type is expected.
//
// The option is for programs of resources, where under [ServerTypedRequests]
// either field may be missing. At other roots apiVersion and kind are ordinary
// fields and count as missing.
//
// A [Reader] or [Writer] emits nothing of an object before it knows its type,
// which may come last. With this option it therefore holds the whole document,
// up to [Limits].HeldBytes.
func ExpectType(apiVersion, kind string) Option {
	return optionFunc(func(o *options) { o.expected = objectType{apiVersion, kind} })
}

// WithBudget makes [New] call [Decoder.SetBudget] with b, and makes [PeekType]
// take its memory from b. [Pool] and [Sequence] panic where they are given this
// option, because nobody returns the memory of the decoders that they make.
func WithBudget(b Budget) Option { return optionFunc(func(o *options) { o.budget = b }) }

// YAMLDialect sets the grammar by which [Decoder.AppendYAML] reads YAML, and
// how it reads scalars and keys. The default is yamlbridge.Kubernetes, or
// yamlbridge.Server under every [ServerMode] but [Standalone].
func YAMLDialect(dialect yamlbridge.Dialect) Option {
	return optionFunc(func(o *options) { o.dialect, o.hasDialect = dialect, true })
}
