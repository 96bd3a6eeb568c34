package errors

import "strconv"

// A Position is a place in the document that was read.
//
// The zero Position means that the place is not known.
type Position struct {
	// Offset counts bytes from the start of the document, from 0.
	Offset int64 `json:"offset"`
	// Line counts from 1. LF, CRLF and CR end a line (YAML 1.2, section
	// 5.4); U+0085, U+2028 and U+2029 do not.
	Line int `json:"line"`
	// Column counts characters (Unicode code points) from 1. A byte that is
	// not valid UTF-8 counts as one character.
	Column int `json:"column"`
	// ByteColumn counts bytes from 1.
	ByteColumn int `json:"byteColumn"`
}

// IsValid reports whether the place is known.
func (p Position) IsValid() bool { return p.Line > 0 }

// String returns "line:column", or "-" if the place is not known.
func (p Position) String() string {
	if !p.IsValid() {
		return "-"
	}
	return strconv.Itoa(p.Line) + ":" + strconv.Itoa(p.Column)
}
