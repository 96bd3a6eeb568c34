package fuzz

import "strings"

// A yamlContext has the restrictions on a scalar or flow collection.
type yamlContext struct {
	flow   bool // within a flow collection
	key    bool // it is a key, so it must not be null, and must have a name
	line   bool // it must stay on its line
	indent int  // least indentation of its further lines
}

// scalar writes a scalar, with its properties, that is not a block scalar.
func (g *yamlGrower) scalar(c yamlContext) *YAMLNode {
	start := g.token()
	n := &YAMLNode{Kind: 's'}
	var anchor openAnchor
	if in(g.Rand, 10) {
		anchor = g.open()
		g.separate(c)
	}
	switch {
	case in(g.Rand, 12):
		g.tagged(n, c, anchor.count == 0)
	case in(g.Rand, 4):
		g.special(n, c)
	case c.key && in(g.Rand, 2):
		g.keyWord(n, one(g.Rand, keyWords...))
	default:
		g.text(n, c)
	}
	n.At, n.Written = at(start), at(start)
	g.close(anchor, n)
	return n
}

// separate writes the separation between properties and the node.
func (g *yamlGrower) separate(c yamlContext) {
	if c.line || !in(g.Rand, 6) {
		g.write(g.blanks(1))
		return
	}
	g.write(g.blanks(0))
	if in(g.Rand, 3) {
		g.write(" " + g.comment())
	}
	g.write(g.eol())
	g.indent(c)
}

// indent begins a further line of a node in c.
func (g *yamlGrower) indent(c yamlContext) {
	g.write(strings.Repeat(" ", max(c.indent, 0)+g.IntN(3)))
}

func (n *YAMLNode) be(kubernetes, core any, name string, key any) {
	n.Scalar, n.Core, n.name, n.key = kubernetes, core, name, key
}

func (n *YAMLNode) beString(s string) { n.be(s, s, s, s) }

// tag writes a tag and the separation from the node.
func (g *yamlGrower) tag(tag string, c yamlContext) {
	if suffix, ok := strings.CutPrefix(tag, "!!"); ok {
		switch {
		case in(g.Rand, 6):
			tag = "!<tag:yaml.org,2002:" + suffix + ">"
		case g.handle != "" && in(g.Rand, 2):
			tag = g.handle + suffix
		}
	}
	g.write(tag)
	g.separate(c)
}

// tagged writes a scalar with a tag, and perhaps an anchor after that.
func (g *yamlGrower) tagged(n *YAMLNode, c yamlContext, mayAnchor bool) {
	t := one(g.Rand, taggedScalars...)
	for c.key && t.key == nil || t.traits&^Unsettled != 0 && !in(g.Rand, 4) {
		t = one(g.Rand, taggedScalars...)
	}
	g.traits |= t.traits
	if t.text == "" {
		c.line = true // or the next line could become its value
	}
	g.tag(t.tag, c)
	if mayAnchor && in(g.Rand, 4) {
		anchor := g.open()
		g.separate(c)
		defer g.close(anchor, n)
	}
	g.write(t.text)
	n.be(t.value, t.value, t.name, t.key)
}

// special writes a plain scalar that is not a string, or nearly so.
func (g *yamlGrower) special(n *YAMLNode, c yamlContext) {
	table := plainScalars
	switch {
	case in(g.Rand, 30):
		table = valueOnly
		if c.key {
			table = keyOnly
		}
	case !c.key && in(g.Rand, 200):
		g.traits |= BeyondFloat
		table = []plainScalar{{"1e400", "1e400", "1e400", "", nil}}
	}
	s := one(g.Rand, table...)
	for c.key && s.key == nil {
		s = one(g.Rand, table...)
	}
	g.write(s.text)
	n.be(s.kubernetes, s.core, s.name, s.key)
}

func (g *yamlGrower) keyWord(n *YAMLNode, word string) {
	switch g.IntN(6) {
	case 0:
		g.write(`"` + word + `"`)
		n.quoted = true
	case 1:
		g.write(`'` + word + `'`)
		n.quoted = true
	default:
		g.write(word)
	}
	n.beString(word)
}

// text writes a string in any style.
func (g *yamlGrower) text(n *YAMLNode, c yamlContext) {
	switch g.IntN(3) {
	case 0:
		n.beString(g.plain(c))
	case 1:
		n.beString(g.singleQuoted(c))
		n.quoted = true
	default:
		n.beString(g.doubleQuoted(c))
		n.quoted = true
	}
}

// fold breaks the line and returns the meaning of that: a space, or a line break for each blank
// line. Blanks around it do not count.
func (g *yamlGrower) fold(c yamlContext) string {
	g.write(g.blanks(0) + g.eol())
	empty := 0
	for in(g.Rand, 4) {
		g.write(strings.Repeat(" ", g.IntN(4)) + g.eol())
		empty++
	}
	g.indent(c)
	if empty == 0 {
		return " "
	}
	return strings.Repeat("\n", empty)
}

// plain writes words, the first of which makes it a string.
func (g *yamlGrower) plain(c yamlContext) string {
	words := plainWords
	if !c.flow && in(g.Rand, 3) {
		words = blockWords
	}
	value := one(g.Rand, words...)
	g.write(value)
	for in(g.Rand, 2) {
		if !c.line && in(g.Rand, 5) {
			value += g.fold(c)
		} else {
			space := one(g.Rand, " ", " ", "  ", "\t")
			g.write(space)
			value += space
		}
		word := one(g.Rand, words...)
		if in(g.Rand, 3) {
			word = one(g.Rand, innerWords...)
		}
		g.write(word)
		value += word
	}
	return value
}

func (g *yamlGrower) singleQuoted(c yamlContext) string {
	return g.quoted("'", c, func() string {
		switch g.IntN(4) {
		case 0:
			g.write("''")
			return "'"
		case 1:
			s := one(g.Rand, `\`, `"`, "#", ": ", "- ", "[", "}", "\\n", "&a")
			g.write(s)
			return s
		}
		word := strings.ReplaceAll(one(g.Rand, plainWords...), "'", "")
		g.write(word)
		return word
	})
}

func (g *yamlGrower) doubleQuoted(c yamlContext) string {
	return g.quoted(`"`, c, func() string {
		switch g.IntN(4) {
		case 0:
			e := one(g.Rand, escapes...)
			g.write(e.text)
			return e.value
		case 1:
			s := one(g.Rand, "'", "#", ": ", "- ", "[", "}", "''", "&a")
			g.write(s)
			return s
		}
		word := strings.NewReplacer(`\`, "", `"`, "").Replace(one(g.Rand, plainWords...))
		g.write(word)
		return word
	})
}

// quoted writes pieces between quotes, with spaces and line breaks.
func (g *yamlGrower) quoted(quote string, c yamlContext, piece func() string) string {
	g.write(quote)
	value, blanks, folded := "", 0, false
	for range g.IntN(8) {
		switch {
		case !c.line && !folded && in(g.Rand, 6):
			// Blanks around a line break do not count.
			value = value[:len(value)-blanks] + g.fold(c)
			blanks, folded = 0, true
			continue
		case !c.line && !folded && quote == `"` && in(g.Rand, 10):
			// Blanks before an escaped line break do.
			g.write(`\`)
			empty := 0
			g.write(g.eol())
			for in(g.Rand, 6) {
				g.write(g.eol())
				empty++
			}
			g.indent(c)
			value += strings.Repeat("\n", empty)
			blanks, folded = 0, true
			continue
		case !folded && in(g.Rand, 3):
			s := one(g.Rand, " ", "  ", "\t", " \t ")
			g.write(s)
			value += s
			blanks += len(s)
			continue
		}
		// A piece may end in a space that is not escaped.
		p := piece()
		value += p
		blanks, folded = 0, false
		if end := string(g.out[len(g.out)-2:]); strings.HasSuffix(p, " ") && end != `\ ` {
			blanks = 1
		}
	}
	g.write(quote)
	return value
}
