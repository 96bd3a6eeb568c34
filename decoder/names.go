package decoder

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"hash/maphash"
	"math/bits"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/steps"
)

// A name is the name of a member of an open object.
type name struct {
	at   int // where it starts, the opening quote; or the complement of an index of tracked.left
	text int // where its text starts in the window, or the complement of where it does in the arena
	n    int // the length of the text
	tag  uint32
	// group is the index plus one of the name's group, or 0 if it does not repeat. It is right
	// between collect and the next one.
	group int32
}

// A level is an object that is open in skip, or, where repetitions are
// collected, an array.
type level struct {
	names int // where its names start
	index int // of the element that is read, for an array; or -1
	// tags has a bit for each of its names, by the upper bits of their tags: where there are as many bits as
	// names, no name repeats.
	tags uint64
}

// tagBit is the bit that a name with this tag has in a level's tags.
func tagBit(tag uint32) uint64 { return 1 << (tag >> 26) }

// tracked holds the names of all open objects back to back, those of the
// innermost object last. An object's names are checked when it closes: most
// objects are small, and then comparing each pair of tags beats any table.
type tracked struct {
	names     []name
	arena     []byte // the text of names that have escapes, or have left the window
	levels    []level
	firstName int // where the names of the object that run is in start
	firstWord int // where its words of seen fields start

	// left has where the first of the names are, which have left the window.
	left []errors.Position

	// For objects with many names.
	seed   maphash.Seed
	filter []uint64
	shared []int32 // indices of names: of those that share a bit, and then of those in the table
	few    []name
	table  []uint32

	// For collecting repetitions instead of stopping at the first.
	collecting bool
	losers     []loser
	seconds    []int // where names are repeated first
	lastSecond int   // up to where these are reported
	groups     []group

	memory *memory.Account // that the lists are charged to
}

// A group is what has one name in an object, more than once.
type group struct {
	first         int // the index of the first
	second, count int // where it is repeated first, and how often it is
	last          int // the index of the last so far
}

func (t *tracked) start() {
	t.names, t.arena, t.levels, t.left = t.names[:0], t.arena[:0], t.levels[:0], t.left[:0]
	t.firstName, t.firstWord = 0, 0
	if t.arena == nil {
		t.arena = make([]byte, 0, 64) // a name without text must not be nil, which is an index
	}
}

// addName notes the name whose text, with its escapes, is b[from:to].
func (t *tracked) addName(b []byte, from, to int, escaped bool) {
	text, at := b[from:to], from
	if escaped {
		at = ^len(t.arena)
		t.arena = memory.Room(t.memory, t.arena, len(text)) // unescaped it is no longer
		t.arena = jsonwire.AppendUnescaped(t.arena, text)
		text = t.arena[^at:]
	}
	t.addTagged(from-1, at, len(text), tagOf(text))
}

func (t *tracked) addTagged(at, text, size int, tag uint32) {
	last := len(t.names)
	t.names = roomier(t.memory, t.names)[:last+1]
	n := &t.names[last] // one field after the other, as in push
	n.at, n.text, n.n, n.tag, n.group = at, text, size, tag, 0
}

// roomier returns the list with room for one more. Where it has none it gets twice as much: append
// is sparing with large lists, and copies them so often that it takes five times their size.
func roomier[T any](m *memory.Account, list []T) []T {
	if len(list) == cap(list) {
		return doubled(m, list)
	}
	return list
}

//go:noinline
func doubled[T any](m *memory.Account, list []T) []T { return memory.Room(m, list, max(16, len(list))) }

// addMember is addName for an object that is open in skip.
func (t *tracked) addMember(b []byte, from, to int, escaped bool) {
	t.addName(b, from, to, escaped)
	t.levels[len(t.levels)-1].note(t.names[len(t.names)-1].tag)
}

// note notes that one of its names has this tag.
func (l *level) note(tag uint32) { l.tags |= tagBit(tag) }

// tagOf is a cheap hash: two names with different tags differ. What an attacker
// makes collide costs a comparison of texts among at most maxPairwise names.
func tagOf(text []byte) uint32 {
	var first, last uint64
	n := len(text)
	switch {
	case n >= 8:
		first = binary.LittleEndian.Uint64(text)
		last = binary.LittleEndian.Uint64(text[n-8:])
	case n >= 4:
		first = uint64(binary.LittleEndian.Uint32(text)) | uint64(binary.LittleEndian.Uint32(text[n-4:]))<<(8*(n-4))
	case n > 0:
		first = uint64(text[0]) | uint64(text[n/2])<<(8*(n/2)) | uint64(text[n-1])<<(8*(n-1))
	}
	return tagOfWords(first, last, n)
}

// tagOfWords is tagOf for a text with n bytes: of the first up to eight, and of the
// last eight, or if there are less than that, of 0.
func tagOfWords(first, last uint64, n int) uint32 {
	return uint32((first ^ bits.RotateLeft64(last, 29) ^ uint64(n)<<57) * 0x9fb21c651e98df25 >> 32)
}

// maxPairwise is up to how many names are compared in pairs.
const maxPairwise = 32

func (t *tracked) text(b []byte, n *name) []byte {
	if n.text < 0 {
		return t.arena[^n.text : ^n.text+n.n]
	}
	return b[n.text : n.text+n.n]
}

func (t *tracked) equal(b []byte, x, y *name) bool {
	steps.Add(1)
	if steps.On && x.tag == y.tag && x.n == y.n {
		steps.Add(x.n)
	}
	return x.tag == y.tag && x.n == y.n && bytes.Equal(t.text(b, x), t.text(b, y))
}

// repeats reports whether two of the names are equal.
func (t *tracked) repeats(b []byte, names []name) bool {
	if len(names) > maxPairwise {
		return t.repeatsAmongMany(b, names)
	}
	for i := 1; i < len(names); i++ {
		steps.Add(i)
		for j := range i {
			if names[i].tag == names[j].tag && t.equal(b, &names[i], &names[j]) {
				return true
			}
		}
	}
	return false
}

// repeatsAmongMany looks only at names that share a bit of a filter with others, of some 16
// to 32 for each name. The bit is by the tag; or where many tags are alike, which may be meant,
// by a hash with a seed that no sender knows, as those in the table always are.
func (t *tracked) repeatsAmongMany(b []byte, names []name) bool {
	if t.repeats(b, names[:4]) {
		return true // as they do where one name is all that is sent
	}
	t.share(names)
	if len(t.shared) > len(names)/4 {
		for i := range names {
			t.hash(b, &names[i])
		}
		t.share(names)
	}
	if len(t.shared) == 0 {
		return false
	}
	if len(t.shared) <= len(names)/4 {
		t.few = t.few[:0]
		for _, i := range t.shared {
			t.few = append(roomier(t.memory, t.few), names[i])
		}
		names = t.few
	}
	t.makeTable(len(names))
	for i := range names {
		t.hash(b, &names[i])
		if t.enter(b, names, i) >= 0 {
			return true
		}
	}
	return false
}

// hash makes the tag of a name one that no sender can foresee.
func (t *tracked) hash(b []byte, n *name) {
	steps.Add(1 + n.n)
	n.tag = uint32(maphash.Bytes(t.seed, t.text(b, n)))
}

// share finds the names that share a bit of the filter. Their tags are gone through twice, and by then they
// are together: many names are not in a cache any more. The table is not in use yet.
func (t *tracked) share(names []name) {
	steps.Add(2 * len(names))
	words := 1 << bits.Len(uint(len(names)/4))
	t.filter = memory.Room(t.memory, t.filter[:0], words)[:words]
	clear(t.filter)
	t.shared = t.shared[:0]
	tags := memory.Room(t.memory, t.table[:0], len(names))[:len(names)]
	t.table = tags
	for i := range names {
		tag := names[i].tag
		tags[i] = tag
		if word, bit := t.filtered(tag); *word&bit != 0 {
			t.shared = append(roomier(t.memory, t.shared), int32(i))
		} else {
			*word |= bit
		}
	}
	if len(t.shared) == 0 {
		return
	}
	clear(t.filter)
	for _, i := range t.shared {
		word, bit := t.filtered(tags[i])
		*word |= bit
	}
	t.shared = t.shared[:0]
	for i, tag := range tags {
		if word, bit := t.filtered(tag); *word&bit != 0 {
			t.shared = append(roomier(t.memory, t.shared), int32(i))
		}
	}
}

// filtered returns where in the filter the bit is that names with a tag have.
func (t *tracked) filtered(tag uint32) (word *uint64, bit uint64) {
	return &t.filter[tag>>6&uint32(len(t.filter)-1)], 1 << (tag & 63)
}

// makeTable empties the table, and makes room for n names.
func (t *tracked) makeTable(n int) {
	size := 1 << bits.Len(uint(2*n))
	t.table = memory.Room(t.memory, t.table[:0], size)[:size]
	steps.Add(size)
	clear(t.table)
	t.shared = t.shared[:0]
}

// enter puts a name that was hashed into the table. If one that is equal is there, it returns
// the index of that instead. An entry of the table is the number of a name among those that were entered, counted
// from 1, with as many of the upper bits of its hash as there is room for, in open
// addressing with linear probing; less than half of them are in use.
func (t *tracked) enter(b []byte, names []name, i int) (equal int) {
	if len(t.shared)+1 >= len(t.table)/2 {
		t.growTable(names)
	}
	mask := uint32(len(t.table) - 1)
	number := mask >> 1 // no name has a larger one
	n := &names[i]
	at := n.tag & mask
	for ; t.table[at] != 0; at = (at + 1) & mask {
		steps.Add(1)
		if x := t.table[at]; (x^n.tag)&^number == 0 {
			if m := int(t.shared[x&number-1]); t.equal(b, n, &names[m]) {
				return m
			}
		}
	}
	t.shared = append(roomier(t.memory, t.shared), int32(i))
	t.table[at] = n.tag&^number | uint32(len(t.shared))
	return -1
}

// growTable makes a table twice as large of the names that are in it.
func (t *tracked) growTable(names []name) {
	entered := t.shared
	t.makeTable(len(t.table))
	t.shared = entered
	mask := uint32(len(t.table) - 1)
	for k, i := range entered {
		tag := names[i].tag
		at := tag & mask
		for ; t.table[at] != 0; at = (at + 1) & mask {
			steps.Add(1)
		}
		t.table[at] = tag&^(mask>>1) | uint32(k+1)
	}
}

// forget drops the names from first on, and their texts.
func (t *tracked) forget(first int) {
	if len(t.arena) > 0 {
		for i := first; i < len(t.names); i++ {
			steps.Add(1)
			if text := t.names[i].text; text < 0 {
				t.arena = t.arena[:^text]
				break
			}
		}
	}
	t.names = t.names[:first]
	t.left = t.left[:min(len(t.left), first)]
}

// closeNames ends the object of node n that run is in. It reports whether an
// undeclared name of it repeats. On a stream that is only a finding where these
// names are dropped.
func (w *walker) closeNames(n *program.Node) bool {
	repeats := w.repeats(w.b, w.names[w.firstName:])
	if repeats && w.streaming {
		repeats = n.Unknown != nil
		w.collectOnStream(w.firstName, repeats)
	}
	w.forget(w.firstName)
	return repeats
}

// collectOnStream makes findings of the repetitions among the names from first on; or
// if they are kept, of nothing else.
func (w *walker) collectOnStream(first int, kept bool) {
	if kept {
		w.findings.reset()
		w.fatal = true
	}
	w.collect(first)
	if !kept && len(w.levels) == 0 {
		w.forgetLosers(w.names[first:])
	}
}

// forgetLosers takes back that names of the open object are unknown which later ones
// replace. What was found before the object is not looked at.
func (w *walker) forgetLosers(names []name) {
	first := len(w.records)
	for first > 0 && w.compareToName(names[0], &w.records[first-1]) <= 0 {
		first--
	}
	steps.Add((len(w.records) - first) * bits.Len(uint(len(names))))
	kept, located := w.records[:first], min(first, w.located)
	for i := first; i < len(w.records); i++ {
		r := &w.records[i]
		if r.kind == errors.UnknownField {
			at, found := slices.BinarySearchFunc(names, r, w.compareToName)
			if found && names[at].group != 0 && w.groups[names[at].group-1].last != at {
				w.strict--
				continue
			}
		}
		if i < w.located {
			located++
		}
		kept = append(kept, *r)
	}
	w.records, w.located = kept, located
}

// compareToName compares where a name and a finding are. Both have left the window, or
// neither has, or the finding comes first or last.
func (w *walker) compareToName(n name, r *record) int {
	switch located := r.position.IsValid(); {
	case located && n.at < 0:
		return cmp.Compare(w.left[^n.at].Offset, r.position.Offset)
	case located:
		return 1
	case n.at < 0:
		return -1
	}
	return cmp.Compare(n.at, r.at)
}

func (t *tracked) openObject() {
	t.levels = append(roomier(t.memory, t.levels), level{names: len(t.names), index: -1})
}

// openArray and closeArray count elements for the paths of findings, which are
// needed only where repetitions are collected.
func (t *tracked) openArray() {
	if t.collecting {
		t.levels = append(roomier(t.memory, t.levels), level{names: len(t.names)})
	}
}

func (t *tracked) nextElement() {
	if t.collecting {
		t.levels[len(t.levels)-1].index++
	}
}

func (t *tracked) closeArray() {
	if t.collecting {
		t.levels = t.levels[:len(t.levels)-1]
	}
}

// closeObject ends the innermost object of skip. It reports whether a name of
// it repeats; where repetitions are collected they are, and it does not, unless they
// are kept on a stream.
func (w *walker) closeObject() bool {
	last := len(w.levels) - 1
	first := w.levels[last].names
	repeats := false
	if bits.OnesCount64(w.levels[last].tags) != len(w.names)-first && w.repeats(w.b, w.names[first:]) {
		switch {
		case w.streaming:
			repeats = !w.dropping
			w.collectOnStream(first, repeats)
		case w.collecting:
			w.collect(first)
		default:
			repeats = true
		}
	}
	w.forget(first)
	w.levels = w.levels[:last]
	return repeats
}

// collect notes the repetitions among the names from first on: as findings, and
// as members to be left out.
func (w *walker) collect(first int) {
	w.groups = w.groups[:0]
	names := w.names[first:]
	many := len(names) > maxPairwise
	if many {
		w.makeTable(maxPairwise) // few of them may be distinct
	}
	tag := uint32(0) // of the name before
	for i := range names {
		n := &names[i]
		n.group = 0
		var equal int // or -1
		switch {
		case i > 0 && n.tag == tag && n.n == names[i-1].n && bytes.Equal(w.text(w.b, n), w.text(w.b, &names[i-1])):
			equal = w.firstEqual(names, i-1) // senders who repeat names like one best
		case many:
			tag = n.tag
			w.hash(w.b, n)
			equal = w.enter(w.b, names, i)
		default:
			tag = n.tag
			equal = slices.IndexFunc(names[:i], func(m name) bool { return w.equal(w.b, &m, n) })
		}
		if equal >= 0 {
			w.repeat(names, equal, i)
		}
	}
	if !w.report && !w.streaming {
		return
	}
	for i := range w.groups {
		g := &w.groups[i]
		n := &names[g.first]
		if w.streaming {
			w.addDuplicate(n, g)
			continue
		}
		w.seconds = append(roomier(w.memory, w.seconds), g.second)
		if g.second <= w.lastSecond {
			w.add(record{kind: errors.DuplicateField, at: g.second, first: n.at, count: g.count},
				len(w.levels), w.levelSegment(n))
		}
	}
}

// firstEqual returns the index of the first name that is equal to the one with the index i.
func (t *tracked) firstEqual(names []name, i int) int {
	if g := names[i].group; g > 0 {
		return t.groups[g-1].first
	}
	return i
}

// repeat notes that the name with the index i is that of the group whose first has the other.
func (w *walker) repeat(names []name, first, i int) {
	if names[first].group == 0 {
		w.groups = append(roomier(w.memory, w.groups), group{first: first, second: names[i].at, last: first})
		names[first].group = int32(len(w.groups))
	}
	names[i].group = names[first].group
	g := &w.groups[names[i].group-1]
	g.count++
	if !w.streaming {
		w.lose(names[g.last].at, names[g.last+1].at)
	}
	g.last = i
}

// levelSegment returns the segments of the path to a name of the innermost
// level: of an outer object, the last name is the one that is being read.
func (w *walker) levelSegment(leaf *name) func(i int) ([]byte, int) {
	return func(i int) ([]byte, int) {
		if l := w.levels[i]; l.index >= 0 {
			return nil, l.index
		}
		if i == len(w.levels)-1 {
			return w.text(w.b, leaf), 0
		}
		return w.text(w.b, &w.names[w.levels[i+1].names-1]), 0
	}
}
