// Package marks has marked functions, some of which are not as their marks ask.
package marks

type node struct{ next *node }

//go:noinline
func called(x int) int { return x * 3 }

// Leaf may fail in all the ways that cost nothing, and stores a pointer.
//
//espalier:nocalls
func Leaf(b []byte, n *node, i int, shift int) byte {
	n.next = n.next.next
	return b[i:][i>>shift] / b[0]
}

//espalier:nocalls
func Calls(n int) (sum int) {
	for i := range n {
		sum += twice(called(i))
	}
	return sum
}

//espalier:nocalls
func (n *node) Dynamic(f func(), s interface{ Size() int }) int {
	f()
	return s.Size()
}

//espalier:nocalls
func Appends[T any](list []T, x T) []T { return append(list, x) }

var Instances = []any{Appends[int], Appends[string]}

//espalier:nocalls
func EndsInCall(x int) int { return called(x) }

// twice is inlined into Calls, as larger is not.
//
//espalier:inline
func twice(x int) int { return 2 * x }

//espalier:inline
func larger(x int) (y int) {
	for i := range x {
		for j := range i {
			y += called(i) + called(j) + called(i*j) + called(i-j)
		}
	}
	return larger2(y)
}

//espalier:inline
//espalier:nocalls
func larger2(x int) int { return x + 1 }

// even and odd can be inlined, but neither into itself.
//
//espalier:inline
func even(n int) bool { return n == 0 || odd(n-1) }

func odd(n int) bool { return n != 0 && even(n-1) }

// Even inlines even, which inlines odd, which calls even.
func Even(n int) bool { return even(n) || larger(n) == 0 }

// A Box has generic methods, one of which is reached through a type that embeds it.
type Box[K comparable, V any] struct {
	key   K
	value V
}

//espalier:inline
func (b *Box[K, V]) Get(key K) (v V, ok bool) {
	if b.key != key {
		return v, false
	}
	return b.value, true
}

type Case struct{ Box[string, int] }

type Getter interface{ Get(string) (int, bool) }

var Method Getter = &Case{}

var MethodValue = new(Case).Get
