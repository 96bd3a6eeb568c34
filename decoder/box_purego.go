//go:build purego

package decoder

import "reflect"

// address returns where b starts, which is not empty.
func address(b []byte) uintptr { return reflect.ValueOf(&b[0]).Pointer() } // of the slice itself it would allocate

type boxes struct{}

func (c *chunks) boxString(s string) any { return s }

func (c *chunks) boxInt(x int64) any { return x }

func (c *chunks) boxFloat(x float64) any { return x }
