package sample

import (
	"encoding/binary"
	"regexp/syntax"
	"slices"
)

// A search looks for a text that several patterns match, rune by rune. Its state is an instruction
// in each pattern, all reached by the same runes. Where no option leads on, it turns back to the
// last state that has another one, and remembers the dead end. So it finds a text if there is one,
// unless it has spent too much before.
type search struct {
	patterns []*pattern
	choices  *choices
	odd      bool // some runes are odd

	bounds    lengths // of the text
	anyLength bool    // there are none, and states do not depend on the length so far
	looksBack bool    // one of the patterns does

	text  []rune
	stack []state // one for each length of the text, from 0 on
	dead  map[string]bool
	left  int  // what may still be spent
	work  *int // what may be spent by this search and others

	// For steps: the instructions to look at, and those that it has looked at, by pattern. An
	// instruction has the round in which that was, and a set of sets of kinds.
	todo  []step
	seen  [][]uint64
	round uint64
}

// What a search may spend: 1 for each instruction that it looks at, and more for an option and a
// state. All of it takes some 15 ms. A long text may cost more.
const (
	maxSpent     = 1 << 19
	maxSpentEach = 64 // for a rune that the text must have
	matchedRate  = 64 // package regexp looks at so many instructions for 1
	optionCost   = 4
	stateCost    = 32
)

// A state is what comes after a text.
type state struct {
	at      []uint32 // the instruction in each pattern
	last    kinds    // the kind of the last rune
	options []option // that were not tried yet
}

// remove takes out option i. The last one gets its place.
func (s *state) remove(i int) {
	last := len(s.options) - 1
	s.options[i] = s.options[last]
	s.options = s.options[:last]
}

// An option is a way on from a state. If next is noRune, it is the match in each pattern. Otherwise
// it is an instruction in each pattern that reads the next rune, which is of a kind in next.
type option struct {
	at   []uint32
	next kinds
}

// A step is an option for one pattern.
type step struct {
	pc   uint32
	next kinds
}

// anywhere reports whether there is a text of any length.
func (s *search) anywhere() bool {
	free := search{patterns: s.patterns, choices: &choices{}, anyLength: true, work: s.work}
	_, ok := free.run(lengths{0, endless - 1})
	return ok
}

// run returns a text whose length is within bounds.
func (s *search) run(bounds lengths) (string, bool) {
	s.bounds = bounds
	most := max(min(maxSpent+maxSpentEach*bounds.least, *s.work), 0)
	s.left = most
	defer func() { *s.work -= most - s.left }()
	s.dead = map[string]bool{}
	s.text, s.stack, s.seen = nil, nil, nil
	var at []uint32
	for _, p := range s.patterns {
		at = append(at, p.start)
		s.seen = append(s.seen, make([]uint64, len(p.code)))
		s.looksBack = s.looksBack || p.looksBack
	}
	s.enter(at, noRune)
	for len(s.stack) > 0 && s.left > 0 {
		top := &s.stack[len(s.stack)-1]
		if len(top.options) == 0 {
			s.leave(top)
			continue
		}
		i := s.choices.below(len(top.options))
		if top.options[i].next == noRune {
			text := string(s.text)
			return text, s.matches(text)
		}
		s.follow(top, i)
	}
	return "", false
}

// matches reports whether package regexp is of the same opinion. It may look at each instruction for
// each rune.
func (s *search) matches(text string) bool {
	return !slices.ContainsFunc(s.patterns, func(p *pattern) bool {
		*s.work -= len(text) / matchedRate * len(p.code)
		return *s.work < 0 || !p.matcher.MatchString(text)
	})
}

// follow writes a rune that option i of a state reads, if there is one. The option is then taken
// out, or stays for other kinds of runes if the kind matters.
func (s *search) follow(top *state, i int) {
	o := top.options[i]
	runes := classes[o.next]
	at := make([]uint32, len(o.at))
	for j, p := range s.patterns {
		in := &p.code[o.at[j]]
		s.left -= len(runes) + len(in.Rune)
		runes = runes.and(classOf(in))
		at[j] = in.Out
	}
	if len(runes) == 0 {
		top.remove(i)
		return
	}
	r := runes.plain
	if s.odd && s.choices.in(2) {
		r = runes.odd
	}
	s.text = append(s.text, r(s.choices))
	kind := kindOf(s.text[len(s.text)-1])
	if top.options[i].next &^= kind; !s.looksBack || top.options[i].next == 0 {
		top.remove(i)
	}
	s.enter(at, kind)
}

// enter goes to the state after the text.
func (s *search) enter(at []uint32, last kinds) {
	s.left -= stateCost
	next := state{at: at, last: last}
	key := s.key(&next)
	if !s.dead[key] {
		next.options = s.options(at, last)
	}
	if s.anyLength { // to come here again is of no use
		s.dead[key] = true
	}
	s.stack = append(s.stack, next)
}

// leave turns back from a state without options.
func (s *search) leave(top *state) {
	s.dead[s.key(top)] = true
	s.stack = s.stack[:len(s.stack)-1]
	s.text = s.text[:max(len(s.text)-1, 0)]
}

// key identifies the state after the text.
func (s *search) key(of *state) string {
	length := len(s.text)
	if s.anyLength {
		length = min(length, 1)
	}
	key := binary.AppendUvarint(nil, uint64(length))
	if s.looksBack {
		key = append(key, byte(of.last))
	}
	for _, pc := range of.at {
		key = binary.AppendUvarint(key, uint64(pc))
	}
	return string(key)
}

// options returns the ways on from a state. The first one leads to the shortest text.
func (s *search) options(at []uint32, last kinds) []option {
	all := []option{{next: anyKind}}
	for i := range s.patterns {
		var joint []option
		steps := s.steps(i, at[i], last)
		for _, o := range all {
			if s.left -= optionCost * len(steps); s.left < 0 {
				return nil
			}
			for _, step := range steps {
				if next := o.next & step.next; next != 0 {
					joint = append(joint, option{append(slices.Clip(o.at), step.pc), next})
				}
			}
		}
		all = joint
	}
	shortest, length := 0, endless
	for i, o := range all {
		if n := s.ahead(o); n < length {
			shortest, length = i, n
		}
	}
	if len(all) > 0 {
		all[0], all[shortest] = all[shortest], all[0]
	}
	return all
}

// ahead returns the least number of runes that an option leads to.
func (s *search) ahead(o option) (n int) {
	if o.next == noRune {
		return 0
	}
	for i, p := range s.patterns {
		n = max(n, 1+p.ahead[nodeAt(p.code[o.at[i]].Out, within)].least)
	}
	return n
}

// steps returns the instructions of pattern i that are reached from one without reading, and that
// are the match or read a rune.
func (s *search) steps(i int, from uint32, last kinds) (steps []step) {
	p, seen := s.patterns[i], s.seen[i]
	at := within
	if len(s.text) == 0 {
		at = atStart
	}
	s.round++
	s.todo = append(s.todo[:0], step{from, anyKind})
	for len(s.todo) > 0 {
		pc, next := s.todo[len(s.todo)-1].pc, s.todo[len(s.todo)-1].next
		s.todo = s.todo[:len(s.todo)-1]
		const sets = 16 // of kinds
		if seen[pc]>>sets != s.round {
			seen[pc] = s.round << sets
		}
		if seen[pc]&(1<<next) != 0 || !s.fits(p.ahead[nodeAt(pc, at)]) {
			continue
		}
		seen[pc] |= 1 << next
		s.left--
		in := &p.code[pc]
		switch in.Op {
		case syntax.InstAlt, syntax.InstAltMatch:
			s.todo = append(s.todo, step{in.Arg, next}, step{in.Out, next})
			continue
		case syntax.InstCapture, syntax.InstNop:
			s.todo = append(s.todo, step{in.Out, next})
			continue
		case syntax.InstEmptyWidth:
			if next = asserted(syntax.EmptyOp(in.Arg), last, next); next != 0 {
				s.todo = append(s.todo, step{in.Out, next})
			}
			continue
		case syntax.InstMatch:
			next &= noRune
		default:
			next &= anyRune
		}
		if next != 0 {
			steps = append(steps, step{pc, next})
		}
	}
	return steps
}

// fits reports whether a text with so many runes more than now can be within bounds.
func (s *search) fits(ahead lengths) bool {
	n := len(s.text)
	return n+ahead.least <= s.bounds.most && n+ahead.most >= s.bounds.least
}

// asserted returns those kinds of next for which assertions hold after a rune of kind last.
func asserted(op syntax.EmptyOp, last, next kinds) kinds {
	if op&syntax.EmptyBeginText != 0 && last != noRune ||
		op&syntax.EmptyBeginLine != 0 && last != noRune && last != lineBreak {
		return 0
	}
	if op&syntax.EmptyEndText != 0 {
		next &= noRune
	}
	if op&syntax.EmptyEndLine != 0 {
		next &= noRune | lineBreak
	}
	if op&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0 {
		if (last == wordRune) == (op&syntax.EmptyWordBoundary != 0) {
			next &^= wordRune
		} else {
			next &= wordRune
		}
	}
	return next
}
