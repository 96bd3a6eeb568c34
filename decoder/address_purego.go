//go:build purego

package decoder

import "reflect"

// address returns the address of the first byte of b. b must not be empty. The value is
// made of a pointer, because one made of the slice would allocate.
func address(b []byte) uintptr { return reflect.ValueOf(&b[0]).Pointer() }
