package decoder

import (
	"fmt"
	"strconv"

	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A FieldValidation says what happens to documents with unknown or duplicate fields
// (KEP-2885). In each case unknown fields are pruned, and of a name that stands
// twice the last value wins. It is an [Option].
type FieldValidation uint8

const (
	// Warn collects findings and returns the result. It is the default, as in
	// the API server.
	Warn FieldValidation = iota
	// Strict collects findings, and returns errors.StrictError together with the
	// result where there are any.
	Strict
	// Ignore collects nothing, which is faster.
	Ignore
)

// String returns the name as in the fieldValidation parameter of the API server.
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

// MarshalText returns what String returns, and fails for what is no FieldValidation.
func (v FieldValidation) MarshalText() ([]byte, error) {
	if v > Ignore {
		return nil, fmt.Errorf("decoder: there is no %s", v)
	}
	return []byte(v.String()), nil
}

// UnmarshalText is [ParseFieldValidation].
func (v *FieldValidation) UnmarshalText(text []byte) error {
	parsed, err := ParseFieldValidation(string(text))
	if err == nil {
		*v = parsed
	}
	return err
}

// ParseFieldValidation returns the FieldValidation of a name: Warn, Strict or Ignore, as the
// fieldValidation parameter of the API server has them, with regard to case.
func ParseFieldValidation(name string) (FieldValidation, error) {
	for v := Warn; v <= Ignore; v++ {
		if name == v.String() {
			return v, nil
		}
	}
	return 0, fmt.Errorf("decoder: there is no field validation called %s: it is Warn, Strict or Ignore", fieldpath.Quoted(name))
}

func (v FieldValidation) apply(o *options) { o.validation = v }

// A ServerMode says whether a decoder stands in for that of an API server, byte for byte, and for which
// of them: v0.37 of k8s.io/apiextensions-apiserver. It is an [Option].
//
// In each mode but [Standalone]:
//
//   - Invalid UTF-8 and surrogates without a partner become U+FFFD. Names are
//     compared after that.
//   - Numbers are written as they are after decoding: 1e3 as 1000, integers beyond
//     int64 as their float64. The float -0.0 is written as -0, which the server, and
//     this decoder, reads as the integer 0: only there the result of a result differs.
//   - Metadata is as after a round trip through ObjectMeta: empty members and
//     nulls are gone, nulls in maps and lists of strings are empty strings, times
//     are in UTC and seconds.
//   - Names and numbers may be of any length, where [Limits] say nothing else.
//   - YAML is read by yamlbridge.Server, where [YAMLDialect] says nothing else; see
//     [Decoder.YAMLDuplicates].
//   - Of what is unknown in the metadata of embedded resources, messages write the
//     keys of maps in brackets, m[k].metadata.x; errors.Finding.Path stays.
//
// Findings are limited, and names in their paths escaped, as in any decoder. The
// program is taken to be that of the object's group and kind.
type ServerMode uint8

const (
	// Standalone refuses what a server would mangle, and keeps what was sent. It is the default.
	Standalone ServerMode = iota
	// ServerRequests decodes custom resources that were sent to a server. An object must have a kind, and
	// an apiVersion of at most two parts. Both must be strings or null
	// in any case of their letters, and also where a later one replaces them: the server
	// reads them a first time with encoding/json.
	ServerRequests
	// ServerTypedRequests decodes objects of types that are compiled into a server, which takes
	// their kind from the request: it is ServerRequests, but that the object may have no kind.
	ServerTypedRequests
	// ServerStorage decodes custom resources that a server reads from its storage:
	// members of metadata that are of the wrong type are dropped instead of being
	// refused, and so are apiVersion and kind of embedded resources; a generation of
	// 0 becomes 1. The server decodes what it has read and defaulted a second time, as
	// if it were sent, but for defaults; so nulls that came out of defaults go, where
	// their fields are not nullable. The server does not look for findings then.
	//
	// A server that reads an object without metadata panics. It is decoded here.
	ServerStorage
)

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
	}
	return "ServerMode(" + strconv.Itoa(int(m)) + ")"
}

// MarshalText returns what String returns, and fails for what is no ServerMode.
func (m ServerMode) MarshalText() ([]byte, error) {
	if m > ServerStorage {
		return nil, fmt.Errorf("decoder: there is no %s", m)
	}
	return []byte(m.String()), nil
}

func (m ServerMode) apply(o *options) { o.server = m }

// An Option changes how a [Decoder] works. It is a [FieldValidation], a [ServerMode], [Limits], or what a
// function of this package returns. Options are for [New] and for what makes decoders: they have no
// effect on one that is there. In which order they are given does not matter, but where two of them
// say the same thing: then the last one holds. What nobody has defined is refused with a panic by what
// they are given to: a nil option, and values of these types, or dialects of YAML, that there are none of.
type Option interface{ apply(*options) }

// An optionFunc is an option that is made by a function.
type optionFunc func(*options)

func (f optionFunc) apply(o *options) { f(o) }

// options are what all options together say.
type options struct {
	validation FieldValidation
	server     ServerMode
	limits     Limits // zero where nobody has said anything
	dialect    yamlbridge.Dialect
	hasDialect bool // somebody has said which
	expected   objectType
	budget     Budget

	numbersAsSent bool
	compact       bool
	nulls         bool
	separate      bool
}

// An objectType is the type of an object. What is empty may be anything.
type objectType struct{ apiVersion, kind string }

// optionsOf returns what the options of a decoder say together. It panics where that is nothing.
func optionsOf(opts []Option) options {
	o := mergedOf(opts)
	if o.server != Standalone {
		o.limits = Limits{NameBytes: maxInt32, NumberBytes: maxInt32}.With(o.limits)
		if !o.hasDialect {
			o.dialect = yamlbridge.Server
		}
	}
	return o
}

// mergedOf is optionsOf without what follows from one option for others.
func mergedOf(opts []Option) options {
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
	case o.server > ServerStorage:
		panic("decoder: there is no " + o.server.String())
	case o.dialect > yamlbridge.Server:
		panic(fmt.Sprintf("decoder: YAMLDialect: there is no yamlbridge.Dialect(%d)", o.dialect))
	}
	return o
}

// refuseBudget panics where there is one.
func (o *options) refuseBudget(who string) {
	if o.budget != nil {
		panic("decoder: WithBudget: " + who + " cannot give back what it takes; see Decoder.SetBudget")
	}
}

// Compact says whether white space between tokens is removed. By default what
// is kept is copied as it stands.
func Compact(does bool) Option { return optionFunc(func(o *options) { o.compact = does }) }

// ReportDroppedNulls says whether each null that is dropped, as its field is
// neither nullable nor has a default, is a finding. The API server drops these
// silently, and so does a Decoder by default. They never make a document fail.
func ReportDroppedNulls(does bool) Option { return optionFunc(func(o *options) { o.nulls = does }) }

// SeparateStrings says whether [Decoder.Unmarshal] allocates each string and number by
// itself. By default those of up to 1 KiB are allocated together, up to 16 KiB of text and 250
// values at a time, which is faster; but then each of them keeps the others in memory: a string
// up to 16 KiB, and an interface value that holds one up to 250 strings. Programs that keep a few
// strings of many objects for long want it.
func SeparateStrings(does bool) Option { return optionFunc(func(o *options) { o.separate = does }) }

// NumbersAsSent says whether numbers keep their text in each [ServerMode], as they do without
// one. For Decoder.Unmarshal that is closer to the API server: what it decodes 1.0 to is a
// float64, and only becomes 1 when it is written.
func NumbersAsSent(does bool) Option { return optionFunc(func(o *options) { o.numbersAsSent = does }) }

// ExpectType refuses objects of another apiVersion or kind, or without the one or the other, with an
// errors.ObjectError that wraps errors.ErrUnexpectedType: a program prunes an object of a type that it is not made for to its shell. Where an
// argument is empty anything may stand, or nothing. It is for programs of resources: at other roots, apiVersion and kind are
// fields like any other, and count as missing. With [ServerTypedRequests] either may be missing. By default no type is expected.
//
// A [Reader] or [Writer] emits nothing of an object before it knows its type, and so holds all of it.
func ExpectType(apiVersion, kind string) Option {
	return optionFunc(func(o *options) { o.expected = objectType{apiVersion, kind} })
}

// WithBudget is [Decoder.SetBudget] for [New], and says what [PeekType] takes its memory from. A [Pool] and a [Sequence]
// refuse it with a panic, as they make decoders that nobody gives back.
func WithBudget(b Budget) Option { return optionFunc(func(o *options) { o.budget = b }) }

// YAMLDialect says how [Decoder.AppendYAML] reads scalars and keys, and by which
// grammar. The default is yamlbridge.Kubernetes, or yamlbridge.Server where a [ServerMode] is set.
func YAMLDialect(dialect yamlbridge.Dialect) Option {
	return optionFunc(func(o *options) { o.dialect, o.hasDialect = dialect, true })
}
