package errors

import "strconv"

// A Limit is what a document is beyond where there is a [LimitError]: one of the constants.
type Limit uint8

const (
	// LimitDepth is how many objects and arrays are open at a time: decoder.Limits.Depth and yamlbridge.MaxDepth.
	LimitDepth Limit = iota + 1
	// LimitNumberBytes is the length of one number literal: decoder.Limits.NumberBytes and yamlbridge.MaxNumberBytes.
	LimitNumberBytes
	// LimitNameBytes is the length of one name as it is written: decoder.Limits.NameBytes.
	LimitNameBytes
	// LimitDefaultBytes is what defaults insert into one document: decoder.Limits.DefaultBytes.
	LimitDefaultBytes
	// LimitOutputBytes is the size of one result that is no stream: decoder.Limits.OutputBytes.
	LimitOutputBytes
	// LimitHeldBytes is what a stream holds at a time, and one object of a sequence: decoder.Limits.HeldBytes.
	LimitHeldBytes
	// LimitStreamBytes is the length of a stream, which int cannot count beyond: 2 GiB where it has 32 bits.
	LimitStreamBytes
	// LimitDocumentBytes is the length of one document of a stream: yamlbridge.MaxDocumentBytes, or what its reader was
	// told, also of one line of NDJSON in the command; and that of any document in YAML, 2 GiB.
	LimitDocumentBytes
	// LimitJSONBytes is the size of the JSON that a document in YAML becomes, 2 GiB.
	LimitJSONBytes
	// LimitKeyChars is the length of a key in YAML that no question mark announces: yamlbridge.MaxKeyChars.
	LimitKeyChars
	// LimitAliasBytes is what aliases and merge keys copy in one document of YAML: yamlbridge.MaxAliasBytes, MaxAliasFactor
	// and what its reader was told.
	LimitAliasBytes
	// LimitInflatedBytes is what a compressed input of the command may become.
	LimitInflatedBytes
)

var limitNames = [...]string{
	LimitDepth:         "depth of nesting",
	LimitNumberBytes:   "length of a number in bytes",
	LimitNameBytes:     "length of a name in bytes",
	LimitDefaultBytes:  "size of inserted defaults in bytes",
	LimitOutputBytes:   "size of the result in bytes",
	LimitHeldBytes:     "size of what a stream must hold in bytes",
	LimitStreamBytes:   "length of a stream in bytes",
	LimitDocumentBytes: "length of a document in bytes",
	LimitJSONBytes:     "JSON bytes",
	LimitKeyChars:      "key characters",
	LimitAliasBytes:    "alias bytes",
	LimitInflatedBytes: "size of a compressed input in bytes, decompressed,",
}

// String returns the limit in words, such as "depth of nesting".
func (l Limit) String() string {
	if l == 0 || int(l) >= len(limitNames) {
		return "limit(" + strconv.Itoa(int(l)) + ")"
	}
	return limitNames[l]
}

// MarshalText returns what [Limit.String] returns. It never fails.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }
