//go:build purego

package memory

import "reflect"

// SizeOf returns how many bytes a value of the type takes, without what it points to.
func SizeOf[T any]() int { return int(reflect.TypeFor[T]().Size()) }
