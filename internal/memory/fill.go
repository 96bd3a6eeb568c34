//go:build poison

package memory

// Fill fills a slice to its capacity, with what nobody may read of it.
func Fill[T any](list []T, with T) {
	list = list[:cap(list)]
	for i := range list {
		list[i] = with
	}
}
