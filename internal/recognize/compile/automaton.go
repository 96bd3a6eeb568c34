package compile

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"

	"github.com/espalier-dev/espalier/internal/recognize"
)

// An automaton is built subset by subset, and for each of them class by class.
type automaton struct {
	code     []syntax.Inst
	start    uint32
	anchored bool // no match begins after the start of the text
	steps    int  // that are left

	class   [256]uint8 // of each byte; those that are not ASCII share the last one
	samples []byte     // a byte of each other class
	reads   []*ascii   // what each instruction reads; nil if it asserts something
	kinds   [0x80]kind // of the characters

	subsets []subset
	numbers map[string]int // of the subsets, by their keys
	rows    []int          // the targets of each subset, by class

	// The subset that is being made.
	seen    []int // the round in which each instruction was reached last
	round   int
	found   []uint32
	matched bool
	stack   []uint32
	sources []uint32
	key     []byte
}

// A subset of the instructions is a state: those that may come next, in order. They read a byte, or
// assert something about it.
type subset struct {
	code   []uint32
	before kind // the byte before, if something is asserted
	ends   bool // the text matches if it ends here
}

// Targets that are no subsets.
const doubt, sure = -1, -2

// A kind of a neighbour is one that assertions tell apart: ^ and $ within lines, \b and \B. If a
// pattern has none of these, all bytes are of the same kind.
type kind uint8

const (
	other kind = iota
	line       // a line break
	word       // a character that \w reads
	edge       // the start of the text, or its end
	ahead      // a byte that was not read yet
)

// ascii is a set of characters.
type ascii [2]uint64

func (a *ascii) has(c byte) bool { return a[c>>6]>>(c&63)&1 != 0 }
func (a *ascii) add(c byte)      { a[c>>6] |= 1 << (c & 63) }

// build returns the matcher, or nil if it is too large or never sure.
func (a *automaton) build(program *syntax.Prog) *recognize.Matcher {
	a.code, a.start = program.Inst, uint32(program.Start)
	a.anchored = program.StartCond()&syntax.EmptyBeginText != 0
	a.classify()
	a.seen = make([]int, len(a.code))
	a.numbers = make(map[string]int)
	a.begin()
	a.follow(a.start, edge, ahead)
	start := a.target(edge)
	for i := 0; i < len(a.subsets); i++ {
		for _, c := range a.samples {
			if a.rows = append(a.rows, a.step(i, c)); a.steps < 0 {
				return nil
			}
		}
		// Beyond ASCII no byte is of a kind, and it is not known which instructions read it.
		beyond := doubt
		if a.assert(i, other); a.matched {
			beyond = sure
		}
		a.rows = append(a.rows, beyond)
		a.assert(i, edge)
		a.subsets[i].ends = a.matched
		if len(a.subsets) > maxStates || len(a.rows) > maxTable {
			return nil
		}
	}
	return a.matcher(start)
}

// classify sets the classes of bytes: those of a class are read by the same instructions, and are of
// the same kind.
func (a *automaton) classify() {
	type runes struct { // of an instruction; where the pattern repeats it, they are the same
		first *rune
		count int
		flags uint32
	}
	known := make(map[runes]*ascii)
	sets := make(map[ascii]*ascii)
	a.reads = make([]*ascii, len(a.code))
	for i := range a.code {
		switch in := &a.code[i]; in.Op {
		case syntax.InstEmptyWidth:
			const lines = syntax.EmptyBeginLine | syntax.EmptyEndLine
			const words = syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
			if syntax.EmptyOp(in.Arg)&lines != 0 {
				a.distinguish(line, func(c rune) bool { return c == '\n' })
			}
			if syntax.EmptyOp(in.Arg)&words != 0 {
				a.distinguish(word, syntax.IsWordChar)
			}
		case syntax.InstRune, syntax.InstRune1, syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
			r := runes{nil, len(in.Rune), in.Arg}
			if r.count > 0 {
				r.first = &in.Rune[0]
			}
			if known[r] == nil {
				set := a.read(in)
				if sets[set] == nil {
					sets[set] = &set
					a.split(&set)
				}
				known[r] = sets[set]
			}
			a.reads[i] = known[r]
		}
	}
	a.number()
}

// distinguish sets the kind of characters.
func (a *automaton) distinguish(k kind, is func(rune) bool) {
	if slices.Contains(a.kinds[:], k) {
		return
	}
	var set ascii
	for c := range a.kinds {
		if is(rune(c)) {
			set.add(byte(c))
			a.kinds[c] = k
		}
	}
	a.split(&set)
}

// read returns the characters that an instruction reads.
func (a *automaton) read(in *syntax.Inst) (set ascii) {
	if in.Op == syntax.InstRune1 {
		a.steps--
		if in.Rune[0] < 0x80 {
			set.add(byte(in.Rune[0]))
		}
		return set
	}
	a.steps -= len(a.kinds)
	for c := range a.kinds {
		if in.MatchRune(rune(c)) {
			set.add(byte(c))
		}
	}
	return set
}

// split divides each class of which only a part is in a set. Until number is called, a class is
// known by its least character.
func (a *automaton) split(set *ascii) {
	a.steps -= len(a.kinds)
	var inside, outside [0x80]uint8 // the least character of each part of a class, plus one
	for c := range a.kinds {
		part := &outside
		if set.has(byte(c)) {
			part = &inside
		}
		class := a.class[c]
		if part[class] == 0 {
			part[class] = uint8(c) + 1
		}
		a.class[c] = part[class] - 1
	}
}

// number gives the classes consecutive numbers.
func (a *automaton) number() {
	for c := range a.class {
		switch {
		case c >= len(a.kinds):
			a.class[c] = uint8(len(a.samples))
		case int(a.class[c]) == c:
			a.class[c] = uint8(len(a.samples))
			a.samples = append(a.samples, byte(c))
		default:
			a.class[c] = a.class[a.class[c]]
		}
	}
}

// begin begins a subset.
func (a *automaton) begin() {
	a.round++
	a.found, a.matched = a.found[:0], false
}

// follow adds the instructions that are reached from one without reading, between neighbours. What
// asserts something about a neighbour that was not read yet is one of them.
func (a *automaton) follow(from uint32, before, after kind) {
	hold, open := assertions(before, after)
	a.stack = append(a.stack, from)
	for len(a.stack) > 0 {
		pc := a.stack[len(a.stack)-1]
		a.stack = a.stack[:len(a.stack)-1]
		if a.steps--; a.seen[pc] == a.round {
			continue
		}
		a.seen[pc] = a.round
		switch in := &a.code[pc]; in.Op {
		case syntax.InstMatch:
			a.matched = true
		case syntax.InstFail:
		case syntax.InstAlt, syntax.InstAltMatch:
			a.stack = append(a.stack, in.Out, in.Arg)
		case syntax.InstCapture, syntax.InstNop:
			a.stack = append(a.stack, in.Out)
		case syntax.InstEmptyWidth:
			switch op := syntax.EmptyOp(in.Arg) &^ hold; {
			case op == 0:
				a.stack = append(a.stack, in.Out)
			case op&^open == 0:
				a.found = append(a.found, pc)
			}
		default:
			a.found = append(a.found, pc)
		}
	}
}

// assertions returns the assertions that hold between neighbours, and those that are open.
func assertions(before, after kind) (hold, open syntax.EmptyOp) {
	switch before {
	case edge:
		hold = syntax.EmptyBeginText | syntax.EmptyBeginLine
	case line:
		hold = syntax.EmptyBeginLine
	}
	switch after {
	case ahead:
		return hold, syntax.EmptyEndText | syntax.EmptyEndLine |
			syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
	case edge:
		hold |= syntax.EmptyEndText | syntax.EmptyEndLine
	case line:
		hold |= syntax.EmptyEndLine
	}
	if (before == word) != (after == word) {
		return hold | syntax.EmptyWordBoundary, 0
	}
	return hold | syntax.EmptyNoWordBoundary, 0
}

// assert makes the subset of what is reached, without reading, from the assertions of a subset.
func (a *automaton) assert(number int, after kind) {
	s := &a.subsets[number]
	a.begin()
	for _, pc := range s.code {
		if a.reads[pc] == nil {
			a.follow(pc, s.before, after)
		}
	}
}

// step returns the target after a subset and a character.
func (a *automaton) step(number int, c byte) (target int) {
	kind := a.kinds[c]
	a.assert(number, kind)
	if a.matched {
		return sure
	}
	a.sources = append(append(a.sources[:0], a.found...), a.subsets[number].code...)
	a.begin()
	for _, pc := range a.sources {
		a.steps--
		if set := a.reads[pc]; set != nil && set.has(c) {
			a.follow(a.code[pc].Out, kind, ahead)
		}
	}
	if !a.anchored {
		a.follow(a.start, kind, ahead)
	}
	return a.target(kind)
}

// target returns the number of the subset that was made.
func (a *automaton) target(before kind) int {
	if a.matched {
		return sure
	}
	if len(a.found) == 0 && (a.anchored || !slices.Contains(a.kinds[:], line)) {
		return doubt // after a line break a match could begin
	}
	slices.Sort(a.found)
	if !slices.ContainsFunc(a.found, func(pc uint32) bool { return a.reads[pc] == nil }) {
		before = other
	}
	a.steps -= len(a.found)
	a.key = append(a.key[:0], byte(before))
	for _, pc := range a.found {
		a.key = binary.LittleEndian.AppendUint32(a.key, pc)
	}
	number, ok := a.numbers[string(a.key)]
	if !ok {
		number = len(a.subsets)
		a.numbers[string(a.key)] = number
		a.subsets = append(a.subsets, subset{code: slices.Clone(a.found), before: before})
	}
	return number
}

// matcher returns the automaton, with the states in which a text may end after the others.
func (a *automaton) matcher(start int) *recognize.Matcher {
	width := len(a.samples) + 1
	states := make([]recognize.State, len(a.subsets)) // of the subsets
	end := recognize.First
	var final recognize.State
	for _, ends := range []bool{false, true} {
		final = end
		for i := range a.subsets {
			if a.subsets[i].ends == ends {
				states[i] = end
				end += recognize.State(width)
			}
		}
	}
	state := func(target int) recognize.State {
		switch target {
		case doubt:
			return recognize.Doubt
		case sure:
			return recognize.Sure
		}
		return states[target]
	}
	if start != sure && final == end && !slices.Contains(a.rows, sure) {
		return nil // the text has to go beyond ASCII
	}
	next := make([]recognize.State, end)
	for i, target := range a.rows {
		next[int(states[i/width])+i%width] = state(target)
	}
	return recognize.NewMatcher(a.class, next, state(start), final)
}
