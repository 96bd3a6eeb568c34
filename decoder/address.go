//go:build !purego

package decoder

import "unsafe"

// address returns where b starts, which is not empty.
func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }
