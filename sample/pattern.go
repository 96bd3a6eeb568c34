package sample

import (
	"fmt"
	"regexp"
	"regexp/syntax"
)

// NOTE: A text matches a regular expression if there is a path through its program, from the start
// to the match. The program is the automaton that regexp/syntax makes. Most of its instructions
// read nothing: they branch, or assert something about the runes before and after. The others read
// one rune. A text is made by searching for a path (search.go), and choosing for each instruction
// on it a rune that the instruction reads.
//
// newPattern counts how many runes can follow each instruction. The search therefore takes no way
// to texts that are too long or too short, and hardly ever has to turn back. It cannot foresee ^
// and $ within lines, \b and \B, and that texts of some lengths may be missing.

// A pattern makes texts that match a regular expression. It is immutable.
type pattern struct {
	matcher *regexp.Regexp
	code    []syntax.Inst
	start   uint32
	ahead   []lengths // of each node
	// looksBack says that it matters of which kind the rune before an instruction is.
	looksBack bool
}

// lengths are the least and the greatest number of runes on a way to the match. They are endless if
// there is no way.
type lengths struct{ least, most int }

// maxText is the number of runes in the longest text that is made. API servers read 3 MB.
const maxText, endless = 1 << 20, 1 << 30

// maxCode is the number of instructions in the largest program that is accepted. [a-z]{1000} has
// 1000 instructions. The largest program that regexp accepts takes 100 MB.
const maxCode = 1 << 16

// newPattern returns the pattern for a regular expression. A text matches it if a part of the text
// does, as for regexp.MatchString. It is an error if the expression is malformed or too large.
func newPattern(expr string) (*pattern, error) {
	tree, err := syntax.Parse(expr, syntax.Perl)
	if err != nil {
		return nil, err
	}
	program, err := syntax.Compile(tree.Simplify())
	if err == nil && len(program.Inst) > maxCode {
		err = fmt.Errorf("the pattern has %d instructions, and may have %d", len(program.Inst), maxCode)
	}
	if err != nil {
		return nil, err
	}
	p := &pattern{}
	p.surround(program)
	for i := range p.code {
		const back = syntax.EmptyBeginLine | syntax.EmptyWordBoundary | syntax.EmptyNoWordBoundary
		if in := &p.code[i]; in.Op == syntax.InstEmptyWidth && syntax.EmptyOp(in.Arg)&back != 0 {
			p.looksBack = true
		}
	}
	p.measure()
	p.matcher, err = regexp.Compile(expr)
	return p, err
}

// surround sets the code: a program, and loops before and after it that read any runes, because the
// part that matches may be anywhere in the text. The last instruction is the match.
func (p *pattern) surround(program *syntax.Prog) {
	before := uint32(len(program.Inst))
	after := before + 2
	p.start = before
	p.code = append(program.Inst,
		syntax.Inst{Op: syntax.InstAlt, Out: uint32(program.Start), Arg: before + 1},
		syntax.Inst{Op: syntax.InstRuneAny, Out: before},
		syntax.Inst{Op: syntax.InstAlt, Out: after + 2, Arg: after + 1},
		syntax.Inst{Op: syntax.InstRuneAny, Out: after},
		syntax.Inst{Op: syntax.InstMatch})
	for i := range before {
		if p.code[i].Op == syntax.InstMatch {
			p.code[i] = syntax.Inst{Op: syntax.InstNop, Out: after}
		}
	}
}

// A place says where in a text an instruction is reached. ^ and $ depend on it.
type place uint32

const (
	atStart place = iota // before the first rune
	within               // a rune was read
	atEnd                // $ was passed, so that no rune may follow
	places
)

// A node is an instruction at a place.
type node uint32

func nodeAt(pc uint32, at place) node { return node(pc*uint32(places) + uint32(at)) }

// An arc leads from a node to one that can come next, by reading 0 or 1 runes.
type arc struct {
	to    node
	reads int
}

// arcs returns the arcs from a node. Assertions are taken to hold, except for ^ after a rune, and $
// before one.
func (p *pattern) arcs(from node) (arcs [2]arc, n int) {
	in, at := &p.code[uint32(from)/uint32(places)], place(uint32(from)%uint32(places))
	switch in.Op {
	case syntax.InstMatch, syntax.InstFail:
		return arcs, 0
	case syntax.InstAlt, syntax.InstAltMatch:
		return [2]arc{{nodeAt(in.Out, at), 0}, {nodeAt(in.Arg, at), 0}}, 2
	case syntax.InstCapture, syntax.InstNop:
	case syntax.InstEmptyWidth:
		op := syntax.EmptyOp(in.Arg)
		if op&syntax.EmptyBeginText != 0 && at == within {
			return arcs, 0
		}
		if op&syntax.EmptyEndText != 0 {
			at = atEnd
		}
	default: // it reads a rune
		if at == atEnd {
			return arcs, 0
		}
		return [2]arc{{nodeAt(in.Out, within), 1}}, 1
	}
	return [2]arc{{nodeAt(in.Out, at), 0}}, 1
}

// measure sets the lengths ahead of each node.
func (p *pattern) measure() {
	count := len(p.code) * int(places)
	p.ahead = make([]lengths, count)
	back := make([][]arc, count) // the arcs to a node; they lead to where they come from
	for i := range p.ahead {
		p.ahead[i] = lengths{endless, endless}
		arcs, n := p.arcs(node(i))
		for _, a := range arcs[:n] {
			back[a.to] = append(back[a.to], arc{node(i), a.reads})
		}
	}
	match := uint32(len(p.code) - 1)
	p.measureLeast(back, nodeAt(match, atStart), nodeAt(match, within), nodeAt(match, atEnd))
	p.measureMost(back)
}

// measureLeast sets the least lengths: first those of nodes from which the match is reached without
// reading, then those of nodes that read one rune more, and so on.
func (p *pattern) measureLeast(back [][]arc, matches ...node) {
	var next []node
	for length, nodes := 0, matches; len(nodes) > 0; length, nodes, next = length+1, next, nil {
		for len(nodes) > 0 {
			n := nodes[len(nodes)-1]
			nodes = nodes[:len(nodes)-1]
			if p.ahead[n].least < endless {
				continue
			}
			p.ahead[n].least = length
			for _, a := range back[n] {
				if a.reads == 0 {
					nodes = append(nodes, a.to)
				} else {
					next = append(next, a.to)
				}
			}
		}
	}
}

// measureMost sets the greatest lengths. A node's is known when those of all nodes after it are.
// That never happens to the nodes of a loop and before it, which stay endless. A loop may read
// nothing, but then the search notices.
func (p *pattern) measureMost(back [][]arc) {
	unknown := make([]uint8, len(p.ahead)) // the number of nodes after this one
	most := make([]int, len(p.ahead))
	var known []node
	for i := range p.ahead {
		arcs, n := p.arcs(node(i))
		for _, a := range arcs[:n] {
			if p.ahead[a.to].least < endless {
				unknown[i]++
			}
		}
		if unknown[i] == 0 && p.ahead[i].least < endless {
			known = append(known, node(i))
		}
	}
	for len(known) > 0 {
		n := known[len(known)-1]
		known = known[:len(known)-1]
		p.ahead[n].most = most[n]
		for _, a := range back[n] {
			most[a.to] = max(most[a.to], most[n]+a.reads)
			if unknown[a.to]--; unknown[a.to] == 0 {
				known = append(known, a.to)
			}
		}
	}
}

// matchingAll makes a text that matches several patterns. Its length in code points is from least to
// most; if most is negative, there is no such bound. It reports false if there is no such text, or
// if none was found in time: before the work was used up, of which it takes its share.
func matchingAll(patterns []*pattern, c *choices, least, most int, work *int) (string, bool) {
	if most < 0 || most > maxText {
		most = maxText
	}
	for _, p := range patterns {
		ahead := p.ahead[nodeAt(p.start, atStart)]
		least, most = max(least, ahead.least), min(most, ahead.most)
	}
	if least > most {
		return "", false
	}
	aim := aimed(c, least, most)
	s := search{patterns: patterns, choices: c, odd: c.in(4), work: work}
	if text, ok := s.run(lengths{aim, aim}); ok {
		return text, true
	}
	// There may be no text of this length. Then one that is a bit longer will do, or else any. If
	// there is none of any length, that is found out soon.
	if !s.anywhere() {
		return "", false
	}
	for _, from := range []int{aim, least} {
		for _, more := range []int{1, 2, 4, 16, 128, 2048} { // expressions can repeat 1000 times
			if text, ok := s.run(lengths{from, min(most, from+more)}); ok {
				return text, true
			}
		}
	}
	return "", false
}

// aimed chooses the length of a text within bounds: the least, a bit more, or rarely the greatest.
func aimed(c *choices, least, most int) int {
	const far = 4096 // more than that is hardly meant to be used up
	aim := least
	switch c.below(8) {
	case 2, 3, 4:
		aim += c.below(8)
	case 5, 6:
		aim += c.below(64)
	case 7:
		if aim = most; most > least+far {
			aim = least + c.below(256)
		}
	}
	return min(aim, most)
}
