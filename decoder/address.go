//go:build !purego

package decoder

import "unsafe"

// address returns the address of the first byte of b. b must not be empty.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
