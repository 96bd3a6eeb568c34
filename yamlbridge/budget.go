package yamlbridge

import (
	"slices"

	"github.com/espalier-dev/espalier/internal/memory"
)

// A Budget is memory that several readers share. Its method is called by the
// goroutines of all of them, at the same time.
type Budget interface {
	// Take asks for n bytes and reports whether there is room for them. A
	// negative n returns bytes to the budget, and that never fails.
	Take(n int) bool
}

// mostAliased returns how many bytes aliases may add to a document of this length.
func (r *Reader) mostAliased(n int) int {
	factor := int64(MaxAliasFactor)
	if r.AliasFactor > 0 {
		factor = min(factor, int64(r.AliasFactor))
	}
	return int(min(MaxAliasBytes, 64<<10+int64(n)*factor))
}

// within is appendJSON for a reader that has a budget.
func (r *Reader) within(dst, src []byte) (out []byte, err error) {
	r.account.Open(r.Budget, r.Cap())
	defer r.account.Open(nil, 0)
	mark := r.account.Mark()
	r.outHeld, r.loose = cap(dst), 0
	defer memory.Recover(&err, func() {
		out = dst
		r.exhausted(mark)
	})
	out, err = r.appendJSON(dst, src)
	r.account.Take(cap(out) - r.outHeld)
	r.account.Settle(r.Cap())
	r.account.Give(r.loose)
	return out, err
}

// exhausted drops all buffers after there was no room for them.
func (r *Reader) exhausted(mark memory.Account) {
	*r = Reader{
		Dialect: r.Dialect, Origin: r.Origin, AliasFactor: r.AliasFactor, Budget: r.Budget,
		account: r.account,
	}
	r.account.Rollback(mark, 0)
}

// settledBytes is how much JSON is written between two settlements. Buffers that grow by one
// element at a time are charged at these: until the next one they have at most doubled.
const settledBytes = 64 << 10

// settle is called when there is more JSON than at the last settlement, and first when there is
// any. It reports whether the JSON is too long.
func (r *Reader) settle() (tooLong bool) {
	n := max(len(r.out)-r.base, len(r.side))
	if n > maxJSONBytes {
		return true
	}
	if r.settled = maxJSONBytes; r.account.Budget() != nil {
		r.chargeOut()
		r.settled = min(n+settledBytes, maxJSONBytes)
	}
	return false
}

// chargeOut charges the bytes that the output takes now, and all other buffers.
func (r *Reader) chargeOut() {
	if more := cap(r.out) - r.outHeld; more != 0 {
		r.account.Take(more)
		r.outHeld = cap(r.out)
	}
	r.account.Settle(r.Cap())
}

// roomOut makes room for n more bytes in the output.
func (r *Reader) roomOut(n int) {
	if n > cap(r.out)-len(r.out) {
		r.growOut(n)
	}
}

func (r *Reader) growOut(n int) {
	if r.account.Budget() == nil {
		r.out = slices.Grow(r.out, n)
		return
	}
	r.chargeOut()
	r.out = memory.RoomOutside(&r.account, r.out, n)
	r.outHeld = cap(r.out)
}

// maxBreak is the most bytes of JSON for a line break.
const maxBreak = len("\u2028")

// chargeLoose charges memory outside of the reader's buffers, until the document ends.
func (r *Reader) chargeLoose(n int) {
	r.account.Take(n)
	r.loose += n
}

// maxEscape is the most bytes of JSON for one byte of a text.
const maxEscape = len(`\u0000`)
