package sample

// choices makes decisions from bytes: of a fuzzer, or of a random number generator. As soon as the
// bytes are used up, each decision is 0. Callers give 0 to the simplest possibility, so that fewer
// bytes make simpler objects, which is how `go test -fuzz` shrinks an input. It also replaces
// bytes, by '0' where that is possible, and therefore '0' makes the decision 0.
type choices struct {
	data []byte
}

// below returns a number from 0 to n-1. It uses no byte if n is 1 or less.
func (c *choices) below(n int) int {
	number := 0
	for room := 1; room < n && len(c.data) > 0; room <<= 8 {
		number = number<<8 | int(c.data[0]^'0')
		c.data = c.data[1:]
	}
	if n <= 1 {
		return 0
	}
	return number % n
}

// in reports true about once in n times, and never when the bytes are used up.
func (c *choices) in(n int) bool { return c.below(n) == n-1 }

// one returns one of the possibilities, of which the first is the simplest.
func one[T any](c *choices, of ...T) T { return of[c.below(len(of))] }
