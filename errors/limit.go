package errors

import "strconv"

// A Limit names what a document has too much of, in a [LimitError]. It is one
// of the constants.
type Limit uint8

const (
	// LimitDepth is how many objects and arrays are open at a time:
	// decoder.Limits.Depth and yamlbridge.MaxDepth.
	LimitDepth Limit = iota + 1
	// LimitNumberBytes is the length of one number literal:
	// decoder.Limits.NumberBytes and yamlbridge.MaxNumberBytes.
	LimitNumberBytes
	// LimitNameBytes is the length of one name as it is written:
	// decoder.Limits.NameBytes.
	LimitNameBytes
	// LimitDefaultBytes is how many bytes defaults insert into one
	// document: decoder.Limits.DefaultBytes.
	LimitDefaultBytes
	// LimitOutputBytes is the size of one result that is not a stream:
	// decoder.Limits.OutputBytes.
	LimitOutputBytes
	// LimitHeldBytes is how many bytes a stream holds at a time, or the
	// size of one object of a sequence: decoder.Limits.HeldBytes.
	LimitHeldBytes
	// LimitStreamBytes is the length of a stream, which must fit into an
	// int: 2 GiB where an int has 32 bits.
	LimitStreamBytes
	// LimitDocumentBytes is the length of one document of a stream:
	// yamlbridge.MaxDocumentBytes or the limit that was set on its reader.
	// It is also the length of one line of NDJSON in the command, and that
	// of any YAML document, 2 GiB.
	LimitDocumentBytes
	// LimitJSONBytes is the size of the JSON that a YAML document becomes:
	// 2 GiB.
	LimitJSONBytes
	// LimitKeyChars is the length of a YAML key without a question mark
	// before it, in characters: yamlbridge.MaxKeyChars.
	LimitKeyChars
	// LimitAliasBytes is how many bytes aliases and merge keys copy in one
	// YAML document: yamlbridge.MaxAliasBytes, yamlbridge.MaxAliasFactor or
	// the factor that was set on its reader.
	LimitAliasBytes
	// LimitInflatedBytes is the size of a compressed input of the command
	// after decompression.
	LimitInflatedBytes
	// LimitValidationSteps is how much work the validation of values may
	// be: 64 steps for each byte of the result, and 1,048,576. A step is,
	// for example, the comparison with one value of an enum, or one byte of
	// a message.
	LimitValidationSteps
)

var limitNames = [...]string{
	LimitDepth:           "depth of nesting",
	LimitNumberBytes:     "length of a number in bytes",
	LimitNameBytes:       "length of a name in bytes",
	LimitDefaultBytes:    "size of inserted defaults in bytes",
	LimitOutputBytes:     "size of the result in bytes",
	LimitHeldBytes:       "size of what a stream must hold in bytes",
	LimitStreamBytes:     "length of a stream in bytes",
	LimitDocumentBytes:   "length of a document in bytes",
	LimitJSONBytes:       "JSON bytes",
	LimitKeyChars:        "key characters",
	LimitAliasBytes:      "alias bytes",
	LimitInflatedBytes:   "size of a compressed input in bytes, decompressed,",
	LimitValidationSteps: "steps of validation",
}

// String returns the limit in words, such as "depth of nesting".
func (l Limit) String() string {
	if l == 0 || int(l) >= len(limitNames) {
		return "limit(" + strconv.Itoa(int(l)) + ")"
	}
	return limitNames[l]
}

// MarshalText returns the text of [Limit.String]. It never fails.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
