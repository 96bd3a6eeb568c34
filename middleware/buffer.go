package middleware

import (
	"math/bits"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
)

// A ledger counts the bytes that the bodies of all requests hold, against a limit.
type ledger struct {
	held atomic.Int64
	most int64
}

// A loan is what one request holds.
type loan struct {
	from  *ledger
	bytes int64
}

// charge reports whether there is room for n more bytes, which it then holds.
func (l *loan) charge(n int) bool {
	if l.from.held.Add(int64(n)) > l.from.most {
		l.from.held.Add(-int64(n))
		return false
	}
	l.bytes += int64(n)
	return true
}

// grown charges n bytes that are held already.
func (l *loan) grown(n int) {
	l.from.held.Add(int64(n))
	l.bytes += int64(n)
}

// repay gives n bytes back.
func (l *loan) repay(n int) {
	l.from.held.Add(-int64(n))
	l.bytes -= int64(n)
}

// largeBody is the size from which on bodies are decoded in turn.
const largeBody = 64 << 10

// Turns bound how many large bodies are decoded at once, by the number of processors, which more
// would not make faster. What it allocates to find and explain mistakes can be many times
// the body, and is not in the ledger.
type turns chan struct{}

func newTurns() turns { return make(turns, runtime.GOMAXPROCS(0)) }

// take waits for a turn to decode a body of the size, until the function that it returns is called.
func (t turns) take(size int) (give func()) {
	if size < largeBody {
		return func() {}
	}
	t <- struct{}{}
	return func() { <-t }
}

func overloaded() *StatusError {
	return &StatusError{
		Code:    http.StatusServiceUnavailable,
		Reason:  "ServiceUnavailable",
		Message: "the bodies of too many requests are held, please try again later",
		header:  http.Header{"Retry-After": {"1"}},
	}
}

// Buffers are pooled by the power of two that their capacity reaches, so that who has sent
// little never holds much.
const (
	smallestBuffer = 4 << 10
	largestBuffer  = 8 << 20 // of those that are kept
)

var buffers [12]sync.Pool // 4 KiB << i

func class(size int) int {
	return max(0, bits.Len(uint(max(size, 1)-1))-bits.Len(smallestBuffer-1))
}

// newBuffer returns a buffer of at least the size.
func newBuffer(size int) []byte {
	i := class(size)
	if i >= len(buffers) {
		return make([]byte, 0, size)
	}
	if b, ok := buffers[i].Get().(*[]byte); ok {
		return (*b)[:0]
	}
	return make([]byte, 0, smallestBuffer<<i)
}

// freeBuffer gives a buffer back, which nobody may use any more.
func freeBuffer(b []byte) {
	if cap(b) < smallestBuffer || cap(b) > largestBuffer {
		return
	}
	i := class(cap(b))
	if smallestBuffer<<i > cap(b) {
		i-- // it is for the sizes that it has room for
	}
	kept := b // so that only what is kept is allocated
	buffers[i].Put(&kept)
}
