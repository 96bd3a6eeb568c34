package fuzz

// A Rule is a rule that a pair of a schema and a document exercises. TestRules checks that each
// rule is exercised often enough, as a generator that misses a rule proves nothing about it.
type Rule uint8

// The rules.
const (
	UnknownField Rule = iota
	UnknownBelowArray
	UnknownBelowMap
	KeptByPreserve
	SpecifiedBelowPreserve
	ElementOfPreservingArray
	AnyAdditional  // additionalProperties: true
	NoAdditional   // additionalProperties: false
	AdditionalNode // additionalProperties: a schema
	PropertyBesideAdditional
	ObjectForScalar
	ObjectForArray
	ArrayForObject
	ScalarForObject
	ObjectForIntOrString
	ArrayOfArrays
	ManyFields
	NullDropped
	NullDefaulted
	NullOfNullable
	NullOfNullableWithDefault
	NullElement
	NullElementDefaulted
	NullInMap
	NullInMapDefaulted
	NullUnspecified
	NullPreserving
	AbsentDefaulted
	AbsentInElement
	AbsentInMapValue
	AbsentParent
	NullInDefault     // which stored objects lose
	MetadataInDefault // which may not fit
	RootPreserve
	RootMetadataPresent
	RootMetadataJunk
	RootMetadataMistyped
	RootMetadataNull
	Embedded
	EmbeddedMetadataPresent
	EmbeddedMetadataJunk
	EmbeddedMetadataMistyped
	EmbeddedMetadataDeclared
	EmbeddedBelowArray
	EmbeddedBelowMap
	EmbeddedPreserve
	EmbeddedTypeMistyped
	TypeMetaBelow // kind, apiVersion or metadata as ordinary fields
	TypeMetaOdd
	TypeMetaCase
	Duplicate
	DuplicateEscaped
	DuplicateOfMany // more names than are compared pairwise
	EscapedName
	OddName
	OddNumber
	HugeNumber
	NonASCII
	InvalidUTF8
	LoneSurrogate
	WhiteSpace
	BrokenSyntax
	NoObject
	DeepNesting
	rules
)

var ruleNames = [rules]string{
	"unknown field", "unknown field below array", "unknown field below map", "kept by preserve",
	"specified below preserve", "element of preserving array", "additionalProperties true",
	"additionalProperties false", "additionalProperties schema", "property beside additionalProperties",
	"object for scalar", "object for array", "array for object", "scalar for object",
	"object for int-or-string", "array of arrays", "more than 64 fields", "null dropped", "null defaulted",
	"null of nullable", "null of nullable with default", "null element", "null element defaulted",
	"null in map", "null in map defaulted", "null unspecified", "null of preserving", "absent defaulted",
	"absent in element", "absent in map value", "absent parent",
	"null in default", "metadata in default", "root preserves", "root metadata",
	"root metadata junk", "root metadata mistyped", "root metadata null", "embedded", "embedded metadata",
	"embedded metadata junk", "embedded metadata mistyped", "embedded metadata declared",
	"embedded below array", "embedded below map", "embedded preserves", "embedded type mistyped",
	"type meta below", "type meta odd", "type meta in another case", "duplicate", "duplicate escaped",
	"duplicate of many", "escaped name", "odd name", "odd number", "huge number", "not ASCII",
	"invalid UTF-8", "lone surrogate", "white space", "broken syntax", "no object", "deep nesting",
}

func (r Rule) String() string { return ruleNames[r] }

// Rules is a set of rules.
type Rules uint64

// Has reports whether the rule is in the set.
func (r Rules) Has(rule Rule) bool { return r>>rule&1 != 0 }

func (r *Rules) hit(rule Rule) { *r |= 1 << rule }
