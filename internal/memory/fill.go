//go:build poison

package memory

// Fill overwrites a slice up to its capacity with a value that nobody may read.
func Fill[T any](list []T, with T) {
	list = list[:cap(list)]
	for i := range list {
		list[i] = with
	}
}
