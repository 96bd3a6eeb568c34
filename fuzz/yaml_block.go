package fuzz

import "strings"

// A where says what a block node follows.
type where uint8

const (
	atRoot        where = iota // nothing, at the start of a line
	afterMarker                // ---
	afterDash                  // the - of an element
	afterColon                 // the : of an implicit key
	afterQuestion              // the ? of an explicit key
	afterValue                 // the : of an explicit key, on a line of its own
)

// block writes a node after an indicator, with all of its last line. parent is the column of the
// collection that contains it, or -1.
func (g *yamlGrower) block(parent int, w where) *YAMLNode {
	g.size--
	c := yamlContext{indent: parent + 1, key: w == afterQuestion}
	if w == afterQuestion {
		return g.inline(c, w, func() *YAMLNode {
			if in(g.Rand, 5) {
				return g.blockScalar(parent, c)
			}
			if in(g.Rand, 6) {
				if n := g.alias(isKey); n != nil {
					return n
				}
			}
			return g.scalar(c)
		})
	}
	kind := g.IntN(12)
	if g.size <= 0 {
		kind = 6 + g.IntN(6)
	} else if parent < 0 {
		kind = g.IntN(8) // the larger ones
	}
	switch kind {
	case 0, 1, 2:
		return g.collection(parent, w, '{')
	case 3, 4:
		return g.collection(parent, w, '[')
	case 5:
		return g.inline(c, w, func() *YAMLNode { return g.flow(c) })
	case 6:
		return g.inline(c, w, func() *YAMLNode { return g.blockScalar(parent, c) })
	case 7:
		if w != atRoot {
			n := g.empty()
			if w == afterMarker { // a document without content has no better place than its start
				n.At.From, n.Written.From = 0, 0
			}
			g.breakLine(w)
			return n
		}
	case 8:
		if n := g.referent(anyNode); n != nil {
			return g.inline(c, w, func() *YAMLNode { return g.alias(anyNode) })
		}
	}
	return g.inline(c, w, func() *YAMLNode { return g.scalar(c) })
}

func isKey(n *YAMLNode) bool   { return n.Kind == 's' && n.key != nil }
func anyNode(n *YAMLNode) bool { return n.Kind != 's' || n.Scalar != nil || n.key == nil }

// before writes the separation between an indicator and a node on its line.
func (g *yamlGrower) before(w where) {
	switch w {
	case atRoot:
		g.write(strings.Repeat(" ", max(0, g.IntN(8)-5)))
	case afterColon, afterMarker:
		g.write(g.blanks(1))
	default: // where a tab is an error to the server
		g.write(one(g.Rand, " ", " ", " ", "  ", "   "))
	}
}

// inline writes a node that begins on the line of its indicator, or on a later one.
func (g *yamlGrower) inline(c yamlContext, w where, write func() *YAMLNode) *YAMLNode {
	if w != atRoot && in(g.Rand, 8) {
		g.breakLine(w)
		g.noise()
		g.indent(c)
	} else {
		g.before(w)
	}
	n := write()
	if g.tail < 0 { // block scalars end their line
		g.endLine()
	}
	return n
}

// breakLine ends a line after an indicator.
func (g *yamlGrower) breakLine(w where) {
	switch {
	case w == afterColon || w == afterMarker:
		g.endLine()
	case in(g.Rand, 4):
		g.write(" " + g.comment() + g.eol())
	default:
		g.write(strings.Repeat(" ", g.IntN(2)) + g.eol())
	}
}

// collection writes a block mapping or sequence.
func (g *yamlGrower) collection(parent int, w where, kind byte) *YAMLNode {
	n := &YAMLNode{Kind: kind}
	start, anchor := -1, openAnchor{}
	column := parent + 1 + g.IntN(3)
	switch compact := w == afterDash || w == afterValue; {
	case compact && in(g.Rand, 2):
		g.before(w)
		column = g.column()
		g.members(n, column, false)
		return n
	case w == atRoot:
		column = max(0, g.IntN(6)-3)
		if in(g.Rand, 8) {
			start, anchor = g.properties(kind)
			g.endLine()
			g.noise()
		}
	default:
		properties := in(g.Rand, 6)
		switch {
		case properties && in(g.Rand, 3): // on a line of their own
			g.breakLine(w)
			g.noise()
			g.write(strings.Repeat(" ", parent+1+g.IntN(3)))
			start, anchor = g.properties(kind)
			g.endLine()
		case properties:
			g.before(w)
			start, anchor = g.properties(kind)
			g.endLine()
		default:
			g.breakLine(w)
		}
		g.noise()
	}
	if kind == '[' && parent >= 0 && (w == afterColon || w == afterValue) && in(g.Rand, 2) {
		column = parent
	}
	g.members(n, column, true)
	if start >= 0 {
		n.At, n.Written = at(start), at(start)
	}
	g.close(anchor, n)
	return n
}

// properties writes the properties of a collection.
func (g *yamlGrower) properties(kind byte) (start int, anchor openAnchor) {
	start = g.token()
	tag := "!!seq"
	if kind == '{' {
		tag = one(g.Rand, "!!map", "!!map", "!!set")
	}
	if in(g.Rand, 12) {
		tag = one(g.Rand, "!foo", "!!omap")
		g.traits |= CustomTag
	}
	order := g.IntN(4)
	if order == 0 {
		g.tag(tag, yamlContext{line: true})
	}
	if order != 1 {
		anchor = g.open()
		g.write(g.blanks(1))
	}
	if order == 1 || order == 2 {
		g.tag(tag, yamlContext{line: true})
	}
	return start, anchor
}

// members writes the members of a block collection at a column. All but the first begin a line.
func (g *yamlGrower) members(n *YAMLNode, column int, indentFirst bool) {
	merge := newMerge(g, n)
	for i := range 1 + g.IntN(6) {
		if i > 0 {
			g.noise()
			if g.size <= 0 {
				break
			}
		}
		if i > 0 || indentFirst {
			g.write(strings.Repeat(" ", column))
		}
		start := g.token()
		if i == 0 {
			n.At, n.Written = at(start), at(start)
		}
		if n.Kind == '[' {
			g.write("-")
			n.Members = append(n.Members, YAMLMember{Value: g.block(column, afterDash)})
			continue
		}
		if merge.next() {
			g.write("<<:")
			merge.block(column)
			continue
		}
		if in(g.Rand, 12) && !merge.on {
			g.explicit(n, column)
			continue
		}
		key := merge.key(yamlContext{key: true, line: true})
		g.write(g.spaceBeforeColon(key) + ":")
		g.add(n, key, g.block(column, afterColon))
	}
	merge.finish()
}

// explicit writes a member with a question mark.
func (g *yamlGrower) explicit(n *YAMLNode, column int) {
	g.write("?")
	key := g.block(column, afterQuestion)
	g.noise()
	if in(g.Rand, 6) {
		g.add(n, key, g.empty())
		return
	}
	g.write(strings.Repeat(" ", column))
	g.token()
	g.write(":")
	g.add(n, key, g.block(column, afterValue))
}

// spaceBeforeColon returns the separation before the colon of a key, which must not become part of
// the key.
func (g *yamlGrower) spaceBeforeColon(key *YAMLNode) string {
	if key.At != key.Written { // an alias
		return " "
	}
	if last := g.out[len(g.out)-1]; last == ' ' || last == '\t' { // properties without a scalar
		return ""
	}
	return one(g.Rand, "", "", "", "", "", "", " ", "  ")
}

// blockScalar writes a literal or folded scalar with all of its lines.
func (g *yamlGrower) blockScalar(parent int, c yamlContext) *YAMLNode {
	start := g.token()
	var anchor openAnchor
	if in(g.Rand, 10) {
		anchor = g.open()
		g.separate(c)
	}
	if in(g.Rand, 12) {
		g.tag("!!str", c)
	}
	literal := in(g.Rand, 2)
	style := ">"
	if literal {
		style = "|"
	}
	indent, base := 0, max(parent, 0)
	indicator := ""
	lines := g.lines()
	if in(g.Rand, 5) || len(lines) > 0 && strings.HasPrefix(lines[0].text, " ") {
		indent = base + 1 + g.IntN(4)
		indicator = string(rune('0' + indent - base))
	} else {
		indent = max(parent+1, 1) + g.IntN(4)
	}
	chomp := one(g.Rand, "", "-", "+")
	if in(g.Rand, 2) {
		g.write(style + indicator + chomp)
	} else {
		g.write(style + chomp + indicator)
	}
	g.endLine()

	value := ""
	for i, l := range lines {
		for range l.before {
			g.write(strings.Repeat(" ", g.IntN(indent+1)) + g.eol())
		}
		g.write(strings.Repeat(" ", indent) + l.text + g.eol())
		switch {
		case i == 0:
			value = strings.Repeat("\n", l.before)
		case !literal && !isSpaced(l.text) && !isSpaced(lines[i-1].text):
			if l.before == 0 {
				value += " "
			} else {
				value += strings.Repeat("\n", l.before)
			}
		default:
			value += strings.Repeat("\n", 1+l.before)
		}
		value += l.text
	}
	after := max(0, g.IntN(6)-3)
	for range after {
		g.write(strings.Repeat(" ", g.IntN(indent+1)) + g.eol())
	}
	if len(lines) > 0 && chomp != "-" {
		value += "\n"
	}
	if chomp == "+" {
		value += strings.Repeat("\n", after)
	}
	n := &YAMLNode{Kind: 's', At: at(start), Written: at(start)}
	n.beString(value)
	g.close(anchor, n)
	g.tail, g.bare = base, parent < 0 && len(lines) == 0
	return n
}

// isSpaced reports whether a line of a folded scalar keeps its line breaks.
func isSpaced(line string) bool { return strings.HasPrefix(line, " ") || strings.HasPrefix(line, "\t") }

// A textLine is a line of a block scalar, with the number of empty lines before it.
type textLine struct {
	before int
	text   string
}

func (g *yamlGrower) lines() []textLine {
	var list []textLine
	for range g.IntN(5) {
		l := textLine{before: max(0, g.IntN(6)-3)}
		if in(g.Rand, 4) {
			l.text = one(g.Rand, " ", "  ", "\t")
		}
		if l.text == "" || !in(g.Rand, 6) {
			l.text += one(g.Rand, "text", "two words", "# none", "key: value", "- x", "---", "...", "'", "\"", "\\", "é 日本 🌳", "a\tb", "trailing ", "trailing\t",
				"%", "&a", "*a", "|", "a line of text that is as long as such lines are in real manifests", ",", "}")
		}
		list = append(list, l)
	}
	if len(list) > 0 && strings.HasPrefix(list[0].text, "\t") {
		list[0].text = "x" + list[0].text
	}
	return list
}
