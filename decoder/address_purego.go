//go:build purego

package decoder

import "reflect"

// address returns where b starts, which is not empty.
func address(b []byte) uintptr { return reflect.ValueOf(&b[0]).Pointer() } // of the slice itself it would allocate
