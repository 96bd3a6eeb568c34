// Package jsonwire reads and writes the bytes of JSON (RFC 8259): white space, strings, numbers and
// literals. Its functions have no state. It imports only package kernel.
//
// A scanner named ScanX starts at an index within the slice. It returns the index at which it
// stopped, and why: [OK] after the value that it scanned, [Cut] if the slice ended before the value
// did, [Bad] at the first byte that is not allowed there.
package jsonwire

import (
	"encoding/binary"
	"math/bits"
)

// A Status says why a scanner stopped.
type Status uint8

const (
	// OK: the value is whole and valid.
	OK Status = iota
	// Cut: the slice ended first. If more bytes follow, scanning goes on at the index that was
	// returned. If none follow, the document is truncated.
	Cut
	// Bad: the byte at the index, or the escape or character that starts there, is not allowed.
	Bad
)

// At returns the byte at i, or 0 past the end. No JSON token starts with 0.
//
//espalier:inline
func At(b []byte, i int) byte {
	if uint(i) < uint(len(b)) {
		return b[i]
	}
	return 0
}

// Blanks returns the index of the first byte from i that is not white space (RFC 8259 section 2).
//
//espalier:nocalls
func Blanks(b []byte, i int) int {
	// Indentation is a line break and a run of spaces. One word finds the end of both.
	for i+8 <= len(b) {
		x := binary.LittleEndian.Uint64(b[i:]) ^ spaces
		if x == 0 {
			i += 8
			continue
		}
		i += bits.TrailingZeros64(x) >> 3
		if c := b[i]; c != '\n' && c != '\r' && c != '\t' {
			return i
		}
		i++
	}
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

const spaces = 0x2020202020202020

// IsBlank reports whether c is white space, for c up to ' '.
//
//espalier:inline
func IsBlank(c byte) bool {
	return uint64(1)<<(c&63)&(1<<' '|1<<'\n'|1<<'\t'|1<<'\r') != 0
}

// PastBlank returns the index after the white space at i and a run of spaces after that. More white
// space may follow.
//
//espalier:inline
func PastBlank(b []byte, i int) int {
	i++
	for i >= 0 && i <= len(b)-8 {
		x := binary.LittleEndian.Uint64(b[i:i+8]) ^ spaces
		if x != 0 {
			return i + bits.TrailingZeros64(x)>>3
		}
		i += 8
	}
	return i
}

// Special returns a mask with the top bit of each byte set at which the simple part of a string
// ends: a quote, a backslash, a control character, or a byte that is not ASCII. The mask is exact
// up to its lowest such byte. Bytes above that one may be marked wrongly.
//
//espalier:inline
func Special(v uint64) uint64 {
	return (((v ^ 0x0202020202020202) - 0x2121212121212121) |
		((v ^ 0x5c5c5c5c5c5c5c5c) - 0x0101010101010101) | v) & 0x8080808080808080
}

// Digits returns how many bytes of v are digits, counted from the lowest byte up to the first that
// is not a digit.
//
//espalier:inline
func Digits(v uint64) int {
	v ^= 0x3030303030303030
	return bits.TrailingZeros64((v+0x7676767676767676|v)&0x8080808080808080) >> 3
}

// ScanLiteral scans the literal lit, whose first byte is at i.
//
//espalier:inline
func ScanLiteral(b []byte, i int, lit string) (end int, s Status) {
	if end := i + len(lit); end <= len(b) && string(b[i:end]) == lit {
		return end, OK
	}
	for j := i; j < len(b); j++ {
		if b[j] != lit[j-i] {
			return j, Bad
		}
	}
	return len(b), Cut
}

// Simple returns how many bytes at the start of two words of a string are simple, in the sense of
// [Special]: up to 16.
//
// NOTE: keep this function free of branches. The length of strings is not predictable.
//
//espalier:inline
func Simple(v, next uint64) int {
	n := bits.TrailingZeros64(Special(v)) >> 3 // 8 if all of them are simple
	return n + bits.TrailingZeros64(Special(next))>>3&-(n>>3)
}
