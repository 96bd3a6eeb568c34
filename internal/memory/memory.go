// Package memory charges buffers to a shared budget before they grow.
//
// Where the budget has no room, it panics: buffers grow deep within loops that have no other reason
// to stop. The function that has opened the account recovers from that with [Recover].
package memory

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
)

// A Budget is the memory that the owners of several accounts share.
type Budget interface {
	// Take asks for n bytes, and reports whether there is room for them. With a negative n it
	// returns bytes, which never fails.
	Take(n int) bool
}

// An Account charges a budget for the memory of one owner. A zero or nil Account charges nobody.
type Account struct {
	budget  Budget
	charged int // for the memory of the owner
	lent    int // taken from the budget since the account was opened
}

// Open makes an account charge a budget from now on, or nobody if that is nil. The memory that the
// owner holds already is charged elsewhere.
func (a *Account) Open(b Budget, held int) { *a = Account{budget: b, charged: held} }

// Budget returns the budget that is charged, or nil.
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

// Settle charges the memory that the owner holds now and that was not charged when it grew. It is
// for small buffers.
func (a *Account) Settle(held int) {
	if more := held - a.charged; more > 0 {
		a.Take(more)
	} else {
		a.Give(-more)
	}
	a.charged = held
}

// Moved notes that the owner holds n more bytes, which another account of the same budget has
// charged.
func (a *Account) Moved(n int) { a.charged, a.lent = a.charged+n, a.lent+n }

// Join takes over the memory that another account of the same budget has taken.
func (a *Account) Join(other *Account) {
	a.lent += other.lent
	other.lent = 0
}

// Own notes that the owner keeps n more bytes of a list that [RoomOutside] has made.
func (a *Account) Own(n int) { a.charged += n }

// Held returns how many bytes are charged for the memory of the owner.
func (a *Account) Held() int { return a.charged }

// Mark returns a copy of the account, for [Account.Rollback].
func (a *Account) Mark() Account { return *a }

// Rollback gives back all that was charged since the mark. Of the bytes that were charged before,
// it gives back those that the owner no longer holds. It takes nothing, not even for a moment, as
// others may have taken all the room.
func (a *Account) Rollback(mark Account, held int) {
	owed := mark.charged + a.lent - mark.lent
	a.charged = min(held, mark.charged, owed)
	a.Give(owed - a.charged)
}

// An exhausted is the value of the panic where there is no room.
type exhausted struct{}

// Recover is deferred by the function that has opened an account. If there was no room, it sets the
// error and calls undo.
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

// Room returns the owner's list with room for n more elements. The list grows as with append.
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

// Resized returns a copy of the owner's list with a capacity of size, and charges for that in place
// of the old one.
func Resized(a *Account, list []byte, size int) []byte {
	a.Take(size)
	a.Give(cap(list))
	a.Own(size - cap(list))
	return append(make([]byte, 0, size), list...)
}

//go:noinline
func growOwn[T any](a *Account, list []T, n int) []T {
	before := Held(list)
	list = grow(a, list, n)
	if a != nil {
		a.charged += Held(list) - before
	}
	return list
}

// Held returns how many bytes a list takes, up to its capacity.
func Held[T any](list []T) int { return cap(list) * SizeOf[T]() }

// grow charges the new list before it gives the old one back, as both exist while one is copied.
//
//go:noinline
func grow[T any](a *Account, list []T, n int) []T {
	if a == nil || a.budget == nil {
		return slices.Grow(list, n)
	}
	held := Held(list)
	want := (len(list) + max(n, len(list)/4)) * SizeOf[T]()
	a.Take(want)
	list = slices.Grow(list, n)
	a.Take(Held(list) - want) // append rounds up to a size class
	a.Give(held)
	return list
}
