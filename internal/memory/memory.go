// Package memory charges what buffers take to a budget that others share, before they take it.
//
// Where there is no room, it panics: buffers grow deep within loops that have no other reason to
// stop. Who has opened the account recovers from that with [Recover].
package memory

import (
	"slices"
	"unsafe"

	"github.com/espalier-dev/espalier/errors"
)

// A Budget is what an [Account] charges.
type Budget interface {
	// Take asks for n bytes, and reports whether there is room for them. A negative n gives back,
	// which never fails.
	Take(n int) bool
}

// An Account charges a budget for what one owner holds. The zero Account charges nobody, nor does nil.
type Account struct {
	budget  Budget
	charged int // for what the owner holds
	lent    int // by the budget, since the account was opened
}

// Open makes an account charge a budget from now on, or nobody if that is nil. Somebody else has charged what
// is held already.
func (a *Account) Open(b Budget, held int) { *a = Account{budget: b, charged: held} }

// Budget is what is charged, or nil.
func (a *Account) Budget() Budget { return a.budget }

// Take charges n bytes, until they are given back.
func (a *Account) Take(n int) {
	if a == nil || a.budget == nil {
		return
	}
	if !a.budget.Take(n) {
		panic(exhausted{})
	}
	a.lent += n
}

// Give gives n bytes back.
func (a *Account) Give(n int) {
	if a != nil && a.budget != nil {
		a.budget.Take(-n)
		a.lent -= n
	}
}

// Settle charges what the owner holds by now, as far as that was not charged when it grew. It is for what is small.
func (a *Account) Settle(held int) {
	if more := held - a.charged; more > 0 {
		a.Take(more)
	} else {
		a.Give(-more)
	}
	a.charged = held
}

// Moved notes that the owner holds n bytes more than before, which another account of the same budget was
// charged for.
func (a *Account) Moved(n int) { a.charged, a.lent = a.charged+n, a.lent+n }

// Join takes over what another account of the same budget was lent.
func (a *Account) Join(other *Account) {
	a.lent += other.lent
	other.lent = 0
}

// Own notes that the owner keeps n bytes more than before of what [RoomOutside] has made.
func (a *Account) Own(n int) { a.charged += n }

// Held is what the owner was charged for.
func (a *Account) Held() int { return a.charged }

// Mark returns the account as it is, for [Account.Rollback].
func (a *Account) Mark() Account { return *a }

// Rollback gives back what was charged since the mark, and of what was charged before it all but what the owner still
// holds. It takes nothing, not even for a moment: others may have all the room by now.
func (a *Account) Rollback(mark Account, held int) {
	owed := mark.charged + a.lent - mark.lent
	a.charged = min(held, mark.charged, owed)
	a.Give(owed - a.charged)
}

// An exhausted is what is thrown where there is no room.
type exhausted struct{}

// Recover is deferred by whoever has opened an account. Where there was no room it sets the error, and
// calls undo.
func Recover(err *error, undo func()) {
	switch p := recover().(type) {
	case nil:
	case exhausted:
		*err = errors.ErrBudget
		undo()
	default:
		panic(p)
	}
}

// Room returns the owner's list with room for n more elements. It grows as by append.
//
//espalier:inline
func Room[T any](a *Account, list []T, n int) []T {
	if n > cap(list)-len(list) {
		return growOwn(a, list, n)
	}
	return list
}

// RoomForOne returns the owner's list with room for one more element. A list
// without room doubles: append is sparing with large lists, and copies them so
// often that it takes five times their size.
//
//espalier:inline
func RoomForOne[T any](a *Account, list []T) []T {
	if len(list) == cap(list) {
		return doubled(a, list)
	}
	return list
}

//go:noinline
func doubled[T any](a *Account, list []T) []T { return Room(a, list, max(16, len(list))) }

// RoomOutside is Room for a list that the owner does not keep.
//
//espalier:inline
func RoomOutside[T any](a *Account, list []T, n int) []T {
	if n > cap(list)-len(list) {
		return grow(a, list, n)
	}
	return list
}

// Resized returns the owner's list with this capacity.
func Resized(a *Account, list []byte, size int) []byte {
	a.Take(size)
	a.Give(cap(list))
	a.Own(size - cap(list))
	return append(make([]byte, 0, size), list...)
}

//go:noinline
func growOwn[T any](a *Account, list []T, n int) []T {
	before := cap(list)
	list = grow(a, list, n)
	if a != nil {
		a.charged += (cap(list) - before) * sizeOf[T]()
	}
	return list
}

func sizeOf[T any]() int {
	var element T
	return int(unsafe.Sizeof(element))
}

// grow charges the new list before it gives the old one back: while one is copied, there are both.
//
//go:noinline
func grow[T any](a *Account, list []T, n int) []T {
	if a == nil || a.budget == nil {
		return slices.Grow(list, n)
	}
	held := cap(list) * sizeOf[T]()
	want := (len(list) + max(n, len(list)/4)) * sizeOf[T]()
	a.Take(want)
	list = slices.Grow(list, n)
	got := cap(list) * sizeOf[T]()
	a.Take(got - want) // what append adds to that
	a.Give(held)
	return list
}
