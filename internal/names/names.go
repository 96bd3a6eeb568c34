// Package names holds the names of the members of open objects, and finds those
// that repeat in an object.
//
// The machines of packages skip and walk add each name that must not repeat, and
// say which objects open and close. Most objects have few names, and most names
// differ in their tags, which are cheap hashes. So most objects close after one
// comparison of tags. Where a sender makes tags collide, a hash with a secret
// seed decides (repeats.go).
//
// A Stack knows nothing of the grammar, of schemas or of findings. The window of
// the document is an argument of each method that reads names out of it.
package names

import (
	"encoding/binary"
	"hash/maphash"
	"math/bits"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A Place is an index of the window or, for what has left the window, an index
// of a buffer beside it.
type Place int

// Beside returns the place of an index beside the window.
//
//espalier:inline
func Beside(i int) Place { return Place(^i) }

// IsBeside reports whether the place is beside the window.
//
//espalier:inline
func (p Place) IsBeside() bool { return p < 0 }

// Index returns the index of the place: of the window, or of the buffer beside
// it.
//
//espalier:inline
func (p Place) Index() int { return int(p ^ p>>(bits.UintSize-1)) }

// A Name is the name of a member of an open object.
type Name struct {
	// At is where the name starts, at the opening quote; or beside the window, an
	// index of Stack.Left.
	At Place
	// Text is where its text starts; or beside the window, where the copy starts
	// that the Stack has of a text that has escapes or has left the window.
	Text Place
	Size int    // the length of the text in bytes
	Tag  uint32 // see [Tag]
	// Group is the number of its [Group], counted from 1, or 0 if it does not
	// repeat. It is right from Collect to the next call of Collect.
	Group int32
}

// A Level is an open object or, while repetitions are collected, an open array.
type Level struct {
	Names int // the index of its first name
	Index int // the index of the current element; -1 for an object
	// Tags has a bit for each of its names, see [TagBit]. An object with as many
	// bits as names has no name twice.
	Tags uint64
}

// Note notes that a name of the object has this tag.
//
//espalier:inline
func (l *Level) Note(tag uint32) { l.Tags |= TagBit(tag) }

// A Stack has the names of all open objects, those of the innermost object last.
// Fields that the machines change without a call are exported.
type Stack struct {
	Names  []Name
	Levels []Level
	// Left has the positions of the first names, those that have left the window.
	Left []errors.Position
	// Collecting says that all repetitions are collected, for which arrays need
	// levels, too; otherwise the first one ends the walk.
	Collecting bool
	// Groups are what Collect has found.
	Groups []Group

	copies []byte // the texts that are beside the window
	moved  []byte // those that Leave moves
	hashes
	account *memory.Account // that all lists are charged to
}

// Make returns an empty Stack, which charges its memory to the account.
func Make(account *memory.Account) Stack {
	return Stack{hashes: hashes{seed: maphash.MakeSeed()}, account: account}
}

// Start empties the stack for another document.
func (s *Stack) Start() {
	s.Names, s.copies, s.Levels, s.Left = s.Names[:0], s.copies[:0], s.Levels[:0], s.Left[:0]
	if s.copies == nil {
		s.copies = make([]byte, 0, 64) // an empty text must not be nil: see Segment
	}
}

// Add adds the name whose text, with its escapes, is b[from:to].
func (s *Stack) Add(b []byte, from, to int, escaped bool) {
	text, place := b[from:to], Place(from)
	if escaped {
		at := len(s.copies)
		s.copies = memory.Room(s.account, s.copies, len(text)) // escapes only shrink
		s.copies = jsonwire.AppendUnescaped(s.copies, text)
		text, place = s.copies[at:], Beside(at)
	}
	s.AddTagged(from-1, place, len(text), TagOf(text))
}

// AddTagged adds the name at an index whose text has this tag.
func (s *Stack) AddTagged(at int, text Place, size int, tag uint32) {
	last := len(s.Names)
	s.Names = memory.RoomForOne(s.account, s.Names)[:last+1]
	// One field after the other: a composite literal would be built aside and copied.
	n := &s.Names[last]
	n.At, n.Text, n.Size, n.Tag, n.Group = Place(at), text, size, tag, 0
}

// AddMember is Add for an object that has a level.
func (s *Stack) AddMember(b []byte, from, to int, escaped bool) {
	s.Add(b, from, to, escaped)
	s.Levels[len(s.Levels)-1].Note(s.Names[len(s.Names)-1].Tag)
}

// Reserve returns Names with room for n more.
func (s *Stack) Reserve(n int) []Name { return memory.Room(s.account, s.Names, n) }

// AddMembers makes room for n names of the innermost level, and returns them for
// the caller to fill and note.
func (s *Stack) AddMembers(n int) (*Level, []Name) {
	own := len(s.Names)
	s.Names = memory.Room(s.account, s.Names, n)[:own+n]
	return &s.Levels[len(s.Levels)-1], s.Names[own:]
}

// TagBit returns the bit that a name with this tag has in Level.Tags.
//
//espalier:inline
func TagBit(tag uint32) uint64 { return 1 << (tag >> 26) }

// TagOf returns the tag of a text: two names with different tags differ. Where a
// sender makes tags collide, at most MaxPairwise texts are compared in pairs.
func TagOf(text []byte) uint32 {
	var first, last uint64
	n := len(text)
	switch {
	case n >= 8:
		first = binary.LittleEndian.Uint64(text)
		last = binary.LittleEndian.Uint64(text[n-8:])
	case n >= 4:
		first = uint64(binary.LittleEndian.Uint32(text)) |
			uint64(binary.LittleEndian.Uint32(text[n-4:]))<<(8*(n-4))
	case n > 0:
		first = uint64(text[0]) | uint64(text[n/2])<<(8*(n/2)) | uint64(text[n-1])<<(8*(n-1))
	}
	return TagOfWords(first, last, n)
}

// TagOfWords is TagOf for a text of n bytes: first has up to eight of them from
// the start. Last has the eight at the end, or is 0 if there are fewer.
//
//espalier:inline
func TagOfWords(first, last uint64, n int) uint32 {
	return uint32((first ^ bits.RotateLeft64(last, 29) ^ uint64(n)<<57) * 0x9fb21c651e98df25 >> 32)
}

// Text returns the text of a name. It is valid until the stack or the window
// changes.
func (s *Stack) Text(b []byte, n *Name) []byte {
	if n.Text.IsBeside() {
		b = s.copies
	}
	at := n.Text.Index()
	return b[at : at+n.Size]
}

// HasCopies reports whether any text is beside the window. Without copies, names
// are forgotten by cutting the list.
func (s *Stack) HasCopies() bool { return len(s.copies) > 0 }

// Forget drops the names from first on, and their texts.
func (s *Stack) Forget(first int) {
	if len(s.copies) > 0 {
		for i := first; i < len(s.Names); i++ {
			steps.Add(1)
			if text := s.Names[i].Text; text.IsBeside() {
				s.copies = s.copies[:text.Index()]
				break
			}
		}
	}
	s.Names = s.Names[:first]
	s.Left = s.Left[:min(len(s.Left), first)]
}

// OpenObject opens a level.
func (s *Stack) OpenObject() {
	s.Levels = append(memory.RoomForOne(s.account, s.Levels), Level{Names: len(s.Names), Index: -1})
}

// OpenArray opens a level if repetitions are collected: their paths need the
// indices of elements.
func (s *Stack) OpenArray() {
	if s.Collecting {
		s.Levels = append(memory.RoomForOne(s.account, s.Levels), Level{Names: len(s.Names)})
	}
}

// NextElement counts an element of the innermost array.
func (s *Stack) NextElement() {
	if s.Collecting {
		s.Levels[len(s.Levels)-1].Index++
	}
}

// CloseArray closes the level of the innermost array.
func (s *Stack) CloseArray() {
	if s.Collecting {
		s.Levels = s.Levels[:len(s.Levels)-1]
	}
}

// CloseObject closes the innermost level, and forgets its names. Call ObjectRepeats
// before it.
func (s *Stack) CloseObject() {
	last := len(s.Levels) - 1
	s.Forget(s.Levels[last].Names)
	s.Levels = s.Levels[:last]
}

// ObjectRepeats reports whether a name of the innermost object repeats.
func (s *Stack) ObjectRepeats(b []byte) bool {
	l := &s.Levels[len(s.Levels)-1]
	return bits.OnesCount64(l.Tags) != len(s.Names)-l.Names && s.Repeats(b, s.Names[l.Names:])
}

// Segment returns the function that has the segments of the path of the levels,
// for package fieldpath. The path ends with the name leaf of the innermost
// object. In an outer object it goes through the last name, whose value is open.
func (s *Stack) Segment(b []byte, leaf *Name) func(i int) (name []byte, index int) {
	return func(i int) ([]byte, int) {
		if l := s.Levels[i]; l.Index >= 0 {
			return nil, l.Index
		}
		if i == len(s.Levels)-1 {
			return s.Text(b, leaf), 0
		}
		return s.Text(b, &s.Names[s.Levels[i+1].Names-1]), 0
	}
}

// Leaving makes room for the positions of the names that will leave the window b
// with its first n bytes. Those are Names[from:to]; the caller puts their
// positions into Left[from:to], and then calls Leave.
func (s *Stack) Leaving(n int) (from, to int) {
	from, to = len(s.Left), len(s.Left)
	for to < len(s.Names) && s.Names[to].At < Place(n) {
		steps.Add(1)
		to++
	}
	s.Left = memory.Room(s.account, s.Left, to-from)[:to]
	return from, to
}

// Leave copies the texts of the names that leave the window b with its first n
// bytes, and moves the places of the others. The copies stay in the order of the
// names, so that Forget can cut them: copies of names with escapes that are
// between those move on.
func (s *Stack) Leave(b []byte, n int) {
	first := len(s.Names)
	for first > 0 && !s.Names[first-1].At.IsBeside() {
		steps.Add(1)
		first--
	}
	names := s.Names[first:]
	for i := range names {
		steps.Add(1)
		if text := names[i].Text; text.IsBeside() {
			rest := s.copies[text.Index():]
			steps.Add(len(rest))
			s.moved = append(memory.Room(s.account, s.moved[:0], len(rest)), rest...)
			s.copies = s.copies[:text.Index()]
			break
		}
	}
	moved := s.moved // is not read where no name has escapes
	for i := range names {
		name, leaves := &names[i], first+i < len(s.Left)
		switch {
		case name.Text.IsBeside():
			name.Text = s.copyText(moved[:name.Size])
			moved = moved[name.Size:]
		case leaves:
			at := name.Text.Index()
			name.Text = s.copyText(b[at : at+name.Size])
		default:
			name.Text -= Place(n)
		}
		if leaves {
			name.At = Beside(first + i)
		} else {
			name.At -= Place(n)
		}
	}
}

// copyText copies a text beside the window.
func (s *Stack) copyText(text []byte) Place {
	at := len(s.copies)
	s.copies = append(memory.Room(s.account, s.copies, len(text)), text...)
	return Beside(at)
}

// OpenBytes returns the memory that the open objects of a stream need, beside
// their window, in bytes.
func (s *Stack) OpenBytes() int {
	const perName, perLevel = 64, 24 // a name has a position
	return len(s.copies) + perName*len(s.Names) + perLevel*len(s.Levels)
}

// Held returns the memory that the stack keeps, in bytes.
func (s *Stack) Held() int {
	return memory.Held(s.Names) + memory.Held(s.Levels) + memory.Held(s.Groups) + memory.Held(s.Left) +
		memory.Held(s.copies) + memory.Held(s.moved) + memory.Held(s.few) +
		memory.Held(s.filter) + memory.Held(s.table) + memory.Held(s.shared)
}

// Drop lets go of all that Held counts.
func (s *Stack) Drop() { *s = Stack{hashes: hashes{seed: s.seed}, account: s.account} }
