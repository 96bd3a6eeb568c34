package request

// A Budget is memory that several gates share, through [Options].Budget: those
// of a server with several sites, or those that follow one another when a
// server is configured again. Any number of goroutines can use it.
type Budget struct{ shared *budget }

// NewBudget returns a budget of so many bytes, or of [DefaultMaxHeldBytes] if
// bytes is not greater than 0.
func NewBudget(bytes int64) *Budget {
	if bytes <= 0 {
		bytes = DefaultMaxHeldBytes
	}
	return &Budget{newBudget(bytes)}
}

// Limit returns how many bytes may be held.
func (b *Budget) Limit() int64 { return b.shared.limit }

// Held returns how many bytes the requests of all gates hold, and how many are
// kept for later requests. The sum of both is within the limit.
func (b *Budget) Held() (requests, idle int64) { return b.shared.heldNow() }

// DropIdle drops what is kept for later requests. It is for servers that have
// replaced definitions or a finder: idle decoders would keep the old ones in
// memory.
func (b *Budget) DropIdle() {
	b.shared.mu.Lock()
	defer b.shared.mu.Unlock()
	b.shared.dropIdle()
}

func (b *budget) heldNow() (requests, idle int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.held, b.idle
}
