package request

import (
	"math/bits"
	"runtime"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
)

// A ledger counts the bytes that all requests hold, against a limit: bodies, results, what decoders need and
// answers. What is kept for the requests to come is below the same limit, and goes where there would be no room else.
// It is in lists here and not in a sync.Pool, where a wave of requests leaves what it needed.
type ledger struct {
	most int64

	mu       sync.Mutex
	held     int64 // by requests
	idle     int64 // by what is kept
	buffers  [12][][]byte
	decoders map[*decoder.Pool][]idleDecoder
	large    gate
	small    gate
}

// An idleDecoder is one that nobody uses, with what it holds.
type idleDecoder struct {
	*decoder.Decoder
	bytes int
}

func newLedger(most int64) *ledger {
	l := &ledger{most: most, decoders: map[*decoder.Pool][]idleDecoder{}}
	l.large.open(&l.mu, runtime.GOMAXPROCS(0))
	l.small.open(&l.mu, smallTurns*runtime.GOMAXPROCS(0))
	return l
}

// take counts n bytes more, or less, and reports whether there was room for them.
func (l *ledger) take(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count(n)
}

func (l *ledger) count(n int) bool {
	if n > 0 && l.held+int64(n) > l.most {
		return false
	}
	if l.held += int64(n); l.held+l.idle > l.most {
		l.dropIdle()
	}
	return true
}

func (l *ledger) dropIdle() {
	l.buffers = [len(l.buffers)][][]byte{}
	clear(l.decoders)
	l.idle = 0
}

// mayKeep reports whether n bytes that are idle are to be kept. Where there are too many they make room for what was used last.
func (l *ledger) mayKeep(n int) bool {
	most := min(l.most/4, l.most-l.held)
	if int64(n) > most {
		return false
	}
	if l.idle+int64(n) > most {
		l.dropIdle()
	}
	l.idle += int64(n)
	return true
}

// A loan is what one request holds of a ledger.
type loan struct {
	from  *ledger
	bytes int
}

// Take makes a loan a [decoder.Budget].
func (l *loan) Take(n int) bool {
	if !l.from.take(n) {
		return false
	}
	l.bytes += n
	return true
}

// charge reports whether there is room for n more bytes, which it then holds.
func (l *loan) charge(n int) bool { return l.Take(n) }

// repay gives n bytes back.
func (l *loan) repay(n int) {
	if n != 0 {
		l.Take(-n)
	}
}

// largeBody is the size from which on bodies are decoded in turn. There are as many turns as processors for
// large ones, which more would not make faster, and smallTurns times as many for the others, so that those
// need not wait for the large.
//
// What decoding holds is in the ledger. The turns are for what it takes unasked: up to some times a scalar of YAML, until
// the next token, and what errors and their paths are made of.
const (
	largeBody  = 64 << 10
	smallTurns = 4
)

// A gate lets some in at a time.
type gate struct {
	free int
	wait sync.Cond
}

func (g *gate) open(mu *sync.Mutex, turns int) {
	g.free = turns
	g.wait.L = mu
}

func (l *ledger) gate(size int) *gate {
	if size < largeBody {
		return &l.small
	}
	return &l.large
}

// enter waits for a turn to decode a body of the size. The ledger is locked.
func (l *ledger) enter(size int) {
	g := l.gate(size)
	for g.free == 0 {
		g.wait.Wait()
	}
	g.free--
}

// leave ends the turn. The ledger is locked.
func (l *ledger) leave(size int) {
	g := l.gate(size)
	g.free++
	g.wait.Signal()
}

// turn waits for a turn to decode a body of the size, until the function that it returns is called.
func (l *ledger) turn(size int) (give func()) {
	l.mu.Lock()
	l.enter(size)
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		l.leave(size)
		l.mu.Unlock()
	}
}

// borrow returns a decoder of the pool, which is charged to the loan, and charges it for what it takes from now on; or nil where
// there is no room.
func (l *ledger) borrow(pool *decoder.Pool, loan *loan) *decoder.Decoder {
	l.mu.Lock()
	d := l.idleDecoder(pool, loan)
	l.mu.Unlock()
	return lend(d, pool, loan)
}

// begin is borrow in a turn for a body of the size. What it begins ends with end, whatever it returns.
func (l *ledger) begin(pool *decoder.Pool, loan *loan, size int) *decoder.Decoder {
	l.mu.Lock()
	l.enter(size)
	d := l.idleDecoder(pool, loan)
	l.mu.Unlock()
	return lend(d, pool, loan)
}

// lend charges what a decoder, or a new one, needs from now on.
func lend(d *decoder.Decoder, pool *decoder.Pool, loan *loan) *decoder.Decoder {
	if d == nil {
		if d = pool.Get(); !loan.charge(d.Cap()) {
			return nil
		}
	}
	d.SetBudget(loan)
	return d
}

// idleDecoder returns a decoder of the pool that is kept, or nil. The ledger is locked.
func (l *ledger) idleDecoder(pool *decoder.Pool, loan *loan) *decoder.Decoder {
	kept := l.decoders[pool]
	n := len(kept)
	if n == 0 {
		return nil
	}
	d := kept[n-1]
	kept[n-1] = idleDecoder{}
	l.decoders[pool] = kept[:n-1]
	l.idle -= int64(d.bytes)
	l.held += int64(d.bytes)
	loan.bytes += d.bytes
	return d.Decoder
}

// giveBack ends what borrow has begun: the loan is repaid, and the decoder kept.
func (l *ledger) giveBack(pool *decoder.Pool, d *decoder.Decoder, loan *loan) {
	d.SetBudget(nil)
	size := d.Cap()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.keep(pool, idleDecoder{d, size}, loan)
}

// keep is giveBack in a ledger that is locked.
func (l *ledger) keep(pool *decoder.Pool, d idleDecoder, loan *loan) {
	l.held -= int64(loan.bytes)
	loan.bytes = 0
	if l.mayKeep(d.bytes) {
		l.decoders[pool] = append(l.decoders[pool], d)
	}
}

// end ends what begin has begun: the turn and, if there was one, the use of the decoder.
func (l *ledger) end(pool *decoder.Pool, d *decoder.Decoder, loan *loan, size int) {
	idle := idleDecoder{Decoder: d}
	if d != nil {
		d.SetBudget(nil)
		idle.bytes = d.Cap()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leave(size)
	if d != nil {
		l.keep(pool, idle, loan)
	}
}

// Buffers are kept by the power of two that their capacity reaches, so that who has sent
// little never holds much.
const (
	smallestBuffer = 4 << 10
	largestBuffer  = 8 << 20 // of those that are kept
)

func class(size int) int {
	return max(0, bits.Len(uint(max(size, 1)-1))-bits.Len(smallestBuffer-1))
}

// buffer returns a buffer of at least the size, which is charged to the loan; or nil where there is no room.
func (l *ledger) buffer(size int, loan *loan) []byte {
	i := class(size)
	if i < len(l.buffers) {
		size = smallestBuffer << i
	}
	l.mu.Lock()
	kept := l.idleBuffer(i)
	size = max(size, cap(kept))
	hasRoom := l.count(size)
	l.mu.Unlock()
	if !hasRoom {
		return nil
	}
	loan.bytes += size
	if kept == nil {
		kept = make([]byte, 0, size) // not while others wait for the ledger
	}
	return kept[:0]
}

// idleBuffer returns a buffer of the class that was kept, or nil. The ledger is locked.
func (l *ledger) idleBuffer(i int) []byte {
	if i >= len(l.buffers) || len(l.buffers[i]) == 0 {
		return nil
	}
	kept := l.buffers[i]
	b := kept[len(kept)-1]
	kept[len(kept)-1] = nil
	l.buffers[i] = kept[:len(kept)-1]
	l.idle -= int64(cap(b))
	return b
}

// free gives a buffer back, which nobody may use any more.
func (l *ledger) free(b []byte, loan *loan) {
	if cap(b) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.held -= int64(cap(b))
	loan.bytes -= cap(b)
	if cap(b) < smallestBuffer || cap(b) > largestBuffer || !l.mayKeep(cap(b)) {
		return
	}
	i := class(cap(b))
	if smallestBuffer<<i > cap(b) {
		i-- // it is for the sizes that it has room for
	}
	l.buffers[i] = append(l.buffers[i], b)
}
