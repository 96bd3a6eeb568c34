package request

import (
	"math/bits"
	"runtime"
	"sync"

	"github.com/espalier-dev/espalier/decoder"
)

// A budget counts the bytes that all requests hold, against a limit: bodies, results, the memory
// of decoders, and answers. What is kept for later requests counts towards the same limit, and is
// dropped when a request needs the room. It is kept in lists, because a sync.Pool would keep as
// much as a wave of requests has needed.
type budget struct {
	limit int64

	mu       sync.Mutex
	held     int64 // by requests
	idle     int64 // by what is kept
	buffers  [12][][]byte
	decoders map[*decoder.Pool][]idleDecoder
	large    semaphore
	small    semaphore
}

// An idleDecoder is a decoder that nobody uses, with the bytes that it holds.
type idleDecoder struct {
	*decoder.Decoder
	bytes int
}

func newBudget(limit int64) *budget {
	b := &budget{limit: limit, decoders: map[*decoder.Pool][]idleDecoder{}}
	b.large.init(&b.mu, runtime.GOMAXPROCS(0))
	b.small.init(&b.mu, smallSlots*runtime.GOMAXPROCS(0))
	return b
}

// take counts n more bytes as held and reports whether there was room for them. A negative n
// gives bytes back.
func (b *budget) take(n int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.count(n)
}

// count is take for a budget that is locked.
func (b *budget) count(n int) bool {
	if n > 0 && int64(n) > b.limit-b.held { // which cannot overflow
		return false
	}
	if b.held += int64(n); b.held+b.idle > b.limit {
		b.dropIdle()
	}
	return true
}

func (b *budget) dropIdle() {
	b.buffers = [len(b.buffers)][][]byte{}
	clear(b.decoders)
	b.idle = 0
}

// mayKeep reports whether n bytes that have become idle should be kept, and counts them if so. If
// too many bytes are idle, the older ones are dropped.
func (b *budget) mayKeep(n int) bool {
	most := min(b.limit/4, b.limit-b.held)
	if int64(n) > most {
		return false
	}
	if b.idle+int64(n) > most {
		b.dropIdle()
	}
	b.idle += int64(n)
	return true
}

// A reservation is the part of a budget that one request holds.
type reservation struct {
	from  *budget
	bytes int
}

// Take makes a reservation a [decoder.Budget].
func (r *reservation) Take(n int) bool {
	if !r.from.take(n) {
		return false
	}
	r.bytes += n
	return true
}

// charge reserves n more bytes and reports whether there was room for them.
func (r *reservation) charge(n int) bool { return r.Take(n) }

// release gives n bytes back.
func (r *reservation) release(n int) {
	if n != 0 {
		r.Take(-n)
	}
}

// A body is decoded in a slot, and waits until one is free. Bodies of largeBody bytes or more have
// one slot for each processor, because more would not make them faster. Smaller bodies have
// smallSlots for each processor, so that they need not wait for the large ones.
//
// The budget counts what decoding holds. Slots bound what it allocates without asking: a few times
// the size of a scalar of YAML, until the next token, and the memory of errors and their paths.
const (
	largeBody  = 64 << 10
	smallSlots = 4
)

// A semaphore has a number of slots.
type semaphore struct {
	free int
	wait sync.Cond
}

func (s *semaphore) init(mu *sync.Mutex, slots int) {
	s.free = slots
	s.wait.L = mu
}

// slots returns the semaphore for bodies of the size.
func (b *budget) slots(size int) *semaphore {
	if size < largeBody {
		return &b.small
	}
	return &b.large
}

// acquire waits for a slot for a body of the size. The budget is locked.
func (b *budget) acquire(size int) {
	s := b.slots(size)
	for s.free == 0 {
		s.wait.Wait()
	}
	s.free--
}

// vacate frees the slot of a body of the size. The budget is locked.
func (b *budget) vacate(size int) {
	s := b.slots(size)
	s.free++
	s.wait.Signal()
}

// slot waits for a slot for a body of the size. The caller frees it with the function that slot
// returns.
func (b *budget) slot(size int) (vacate func()) {
	b.mu.Lock()
	b.acquire(size)
	b.mu.Unlock()
	return func() {
		b.mu.Lock()
		b.vacate(size)
		b.mu.Unlock()
	}
}

// borrow returns a decoder of the pool, or nil if there is no room for one. Its memory is charged
// to the reservation, and so is what it allocates from now on.
func (b *budget) borrow(pool *decoder.Pool, r *reservation) *decoder.Decoder {
	b.mu.Lock()
	d := b.idleDecoder(pool, r)
	b.mu.Unlock()
	return lend(d, pool, r)
}

// borrowInSlot is borrow after a slot for a body of the size was acquired. The caller ends the use
// of both with giveBackInSlot, even if there is no decoder.
func (b *budget) borrowInSlot(pool *decoder.Pool, r *reservation, size int) *decoder.Decoder {
	b.mu.Lock()
	b.acquire(size)
	d := b.idleDecoder(pool, r)
	b.mu.Unlock()
	return lend(d, pool, r)
}

// lend charges to the reservation what d allocates from now on. If d is nil, it takes a decoder
// from the pool and charges that first.
func lend(d *decoder.Decoder, pool *decoder.Pool, r *reservation) *decoder.Decoder {
	if d == nil {
		if d = pool.Get(); !r.charge(d.Cap()) {
			return nil
		}
	}
	d.SetBudget(r)
	return d
}

// idleDecoder returns an idle decoder of the pool, or nil. The budget is locked.
func (b *budget) idleDecoder(pool *decoder.Pool, r *reservation) *decoder.Decoder {
	kept := b.decoders[pool]
	n := len(kept)
	if n == 0 {
		return nil
	}
	d := kept[n-1]
	kept[n-1] = idleDecoder{}
	b.decoders[pool] = kept[:n-1]
	b.idle -= int64(d.bytes)
	b.held += int64(d.bytes)
	r.bytes += d.bytes
	return d.Decoder
}

// giveBack ends the use of a decoder from borrow: it releases the reservation and keeps the
// decoder.
func (b *budget) giveBack(pool *decoder.Pool, d *decoder.Decoder, r *reservation) {
	d.SetBudget(nil)
	size := d.Cap()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.keep(pool, idleDecoder{d, size}, r)
}

// keep releases the reservation and keeps a decoder. The budget is locked.
func (b *budget) keep(pool *decoder.Pool, d idleDecoder, r *reservation) {
	b.held -= int64(r.bytes)
	r.bytes = 0
	if b.mayKeep(d.bytes) {
		b.decoders[pool] = append(b.decoders[pool], d)
	}
}

// giveBackInSlot ends the use of a slot and, unless d is nil, of the decoder from borrowInSlot.
func (b *budget) giveBackInSlot(pool *decoder.Pool, d *decoder.Decoder, r *reservation, size int) {
	idle := idleDecoder{Decoder: d}
	if d != nil {
		d.SetBudget(nil)
		idle.bytes = d.Cap()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.vacate(size)
	if d != nil {
		b.keep(pool, idle, r)
	}
}

// Idle buffers are in classes by the power of two that their capacity reaches, so that a request
// with a small body never holds a large buffer.
const (
	smallestBuffer = 4 << 10
	largestBuffer  = 8 << 20 // that is kept
)

// class returns the class of buffers with room for the size.
func class(size int) int {
	return max(0, bits.Len(uint(max(size, 1)-1))-bits.Len(smallestBuffer-1))
}

// buffer returns an empty buffer with at least the size as its capacity, which is charged to the
// reservation. It returns nil if there is no room.
func (b *budget) buffer(size int, r *reservation) []byte {
	i := class(size)
	if i < len(b.buffers) {
		size = smallestBuffer << i
	}
	b.mu.Lock()
	kept := b.idleBuffer(i)
	size = max(size, cap(kept))
	hasRoom := b.count(size)
	b.mu.Unlock()
	if !hasRoom {
		return nil
	}
	r.bytes += size
	if kept == nil {
		kept = make([]byte, 0, size) // not while the budget is locked
	}
	return kept[:0]
}

// idleBuffer returns an idle buffer of the class, or nil. The budget is locked.
func (b *budget) idleBuffer(i int) []byte {
	if i >= len(b.buffers) || len(b.buffers[i]) == 0 {
		return nil
	}
	kept := b.buffers[i]
	buffer := kept[len(kept)-1]
	kept[len(kept)-1] = nil
	b.buffers[i] = kept[:len(kept)-1]
	b.idle -= int64(cap(buffer))
	return buffer
}

// free gives a buffer back. Nobody may use it afterwards.
func (b *budget) free(buffer []byte, r *reservation) {
	if cap(buffer) == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held -= int64(cap(buffer))
	r.bytes -= cap(buffer)
	if cap(buffer) < smallestBuffer || cap(buffer) > largestBuffer || !b.mayKeep(cap(buffer)) {
		return
	}
	i := class(cap(buffer))
	if smallestBuffer<<i > cap(buffer) {
		i-- // its room is that of the class below
	}
	b.buffers[i] = append(b.buffers[i], buffer)
}
