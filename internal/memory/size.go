//go:build !purego

package memory

import "unsafe"

// SizeOf returns how many bytes a value of the type takes, without what it points to.
func SizeOf[T any]() int {
	var value T
	return int(unsafe.Sizeof(value))
}
