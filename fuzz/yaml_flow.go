package fuzz

import (
	"fmt"
	"strings"
	"unicode/utf16"
)

// gap writes a separation between the tokens of a flow collection: nothing, if no blank is needed,
// or blanks, line breaks and comments.
func (g *yamlGrower) gap(c yamlContext, needed bool) {
	if c.line || !in(g.Rand, 6) {
		switch {
		case needed:
			g.write(g.blanks(1))
		case in(g.Rand, 4):
			g.write(g.blanks(0))
		}
		return
	}
	g.write(g.blanks(0))
	for {
		if in(g.Rand, 3) {
			g.write(" " + g.comment())
		}
		g.write(g.eol())
		if !in(g.Rand, 4) {
			break
		}
		g.write(strings.Repeat(" ", g.IntN(5)))
	}
	g.indent(c)
	if in(g.Rand, 8) {
		g.write("\t")
	}
}

// flowNode writes a node within a flow collection.
func (g *yamlGrower) flowNode(c yamlContext) *YAMLNode {
	g.size--
	c.flow = true
	switch kind := g.IntN(8); {
	case kind < 2 && g.size > 0:
		return g.flow(c)
	case kind == 2:
		if n := g.alias(anyNode); n != nil {
			return n
		}
	}
	return g.scalar(c)
}

// flow writes a flow collection.
func (g *yamlGrower) flow(c yamlContext) *YAMLNode {
	c.flow = true
	n := &YAMLNode{Kind: one(g.Rand, byte('['), byte('{'))}
	start, anchor := g.token(), openAnchor{}
	if in(g.Rand, 8) {
		_, anchor = g.properties(n.Kind)
	}
	n.At, n.Written = at(start), at(start)
	end := "]"
	if n.Kind == '{' {
		end = "}"
	}
	g.write(string(n.Kind))
	merge := newMerge(g, n)
	count := g.IntN(5)
	for i := range count {
		g.gap(c, false)
		switch {
		case n.Kind == '{' && merge.next():
			g.token()
			g.write("<<:")
			g.gap(c, true)
			merge.flow(c)
		case n.Kind == '{':
			g.entry(n, c, merge)
		case in(g.Rand, 8):
			pair := &YAMLNode{Kind: '{', At: at(g.token()), Written: at(len(g.out))}
			g.entry(pair, c, &merger{yamlGrower: g, node: pair})
			n.Members = append(n.Members, YAMLMember{Value: pair})
		default:
			n.Members = append(n.Members, YAMLMember{Value: g.flowNode(c)})
		}
		g.gap(c, false)
		if i < count-1 || in(g.Rand, 6) {
			g.token()
			g.write(",")
		}
	}
	g.gap(c, false)
	g.token()
	g.write(end)
	merge.finish()
	g.close(anchor, n)
	return n
}

// entry writes a member of a flow mapping, or a single member in a sequence.
func (g *yamlGrower) entry(n *YAMLNode, c yamlContext, merge *merger) {
	if in(g.Rand, 10) && !merge.on {
		g.token()
		g.write("?")
		g.gap(c, true)
		key := g.scalar(yamlContext{flow: true, key: true, indent: c.indent})
		if in(g.Rand, 3) {
			g.add(n, key, g.empty())
			return
		}
		g.gap(c, true)
		g.token()
		g.write(":")
		g.gap(c, true)
		g.add(n, key, g.flowNode(c))
		return
	}
	key := merge.key(yamlContext{flow: true, key: true, line: true})
	alone := n.At == key.At
	if !alone && in(g.Rand, 8) {
		g.add(n, key, g.empty())
		return
	}
	g.write(g.spaceBeforeColon(key))
	g.token()
	g.write(":")
	if in(g.Rand, 10) {
		value := g.empty()
		g.write(" ")
		g.add(n, key, value)
		return
	}
	g.gap(c, !key.quoted)
	g.add(n, key, g.flowNode(c))
}

// kyaml writes a document in the style of KYAML: flow collections, one member a line, all strings
// quoted, with comments and trailing commas.
func (g *yamlGrower) kyaml(depth int) *YAMLNode {
	g.size--
	indent := strings.Repeat("  ", depth+1)
	start := g.token()
	n := &YAMLNode{Kind: one(g.Rand, byte('{'), byte('{'), byte('[')), At: at(start), Written: at(start)}
	if depth > 0 && (g.size <= 0 || in(g.Rand, 2)) {
		n.Kind = 's'
		if in(g.Rand, 2) {
			n.beString(g.doubleQuoted(yamlContext{flow: true, line: true}))
			return n
		}
		s := one(g.Rand, "true", "false", "null", "12", "-3", "1.5")
		g.write(s)
		n.be(literal(s), literal(s), "", nil)
		return n
	}
	g.write(string(n.Kind))
	for range g.IntN(5) {
		if in(g.Rand, 8) {
			g.write(" " + g.comment())
		}
		g.write(g.eol() + indent)
		if in(g.Rand, 8) {
			g.write(g.comment() + g.eol() + indent)
		}
		if n.Kind == '[' {
			n.Members = append(n.Members, YAMLMember{Value: g.kyaml(depth + 1)})
		} else {
			key := g.scalarKey()
			g.write(": ")
			g.add(n, key, g.kyaml(depth+1))
		}
		g.token()
		g.write(",")
	}
	g.write(g.eol() + indent[2:])
	g.token()
	g.write(map[byte]string{'{': "}", '[': "]"}[n.Kind])
	return n
}

// scalarKey writes a key that is a string.
func (g *yamlGrower) scalarKey() *YAMLNode {
	start := g.token()
	n := &YAMLNode{Kind: 's', At: at(start), Written: at(start)}
	g.keyWord(n, one(g.Rand, keyWords...))
	return n
}

func literal(s string) any {
	switch s {
	case "true", "false":
		return s == "true"
	case "null":
		return nil
	}
	return jsonNumber(s)
}

// json writes a document that is JSON.
func (g *yamlGrower) json(depth int) *YAMLNode {
	g.size--
	start := g.token()
	n := &YAMLNode{Kind: one(g.Rand, byte('{'), byte('{'), byte('[')), At: at(start), Written: at(start)}
	if depth > 0 && (g.size <= 0 || in(g.Rand, 2)) {
		n.Kind = 's'
		if in(g.Rand, 2) {
			n.beString(g.jsonString())
			return n
		}
		s := one(g.Rand, jsonNumbers...)
		g.write(s[0])
		n.be(literal(s[1]), literal(s[1]), "", nil)
		return n
	}
	g.write(string(n.Kind))
	for i := range g.IntN(5) {
		if i > 0 {
			g.token()
			g.write(",")
		}
		g.jsonSpace(depth + 1)
		if n.Kind == '[' {
			n.Members = append(n.Members, YAMLMember{Value: g.json(depth + 1)})
		} else {
			start := g.token()
			key := &YAMLNode{Kind: 's', At: at(start), Written: at(start)}
			key.beString(g.jsonString())
			g.write(one(g.Rand, ":", ": ", " : ", ":\t"))
			g.add(n, key, g.json(depth+1))
		}
		g.jsonSpace(depth)
	}
	g.token()
	g.write(map[byte]string{'{': "}", '[': "]"}[n.Kind])
	return n
}

// jsonSpace writes white space that may be empty, after a token of JSON.
func (g *yamlGrower) jsonSpace(depth int) {
	switch g.IntN(4) {
	case 0:
		g.write(g.eol() + strings.Repeat("  ", depth))
	case 1:
		g.write(g.eol() + " " + strings.Repeat("\t", depth))
	case 2:
		g.write(" ")
	}
}

// jsonNumbers are numbers of JSON, with the texts that sigs.k8s.io/yaml writes for their values.
var jsonNumbers = [][2]string{
	{"true", "true"}, {"false", "false"}, {"null", "null"}, {"0", "0"}, {"12", "12"}, {"-3", "-3"}, {"1.0", "1"}, {"1.50", "1.5"}, {"1e3", "1000"},
	{"1E+2", "100"}, {"-2.5e-7", "-2.5e-7"}, {"12345678901234567890", "12345678901234567890"}, {"1e21", "1e+21"}, {"0.1", "0.1"},
	{"9007199254740993", "9007199254740993"}, {"9007199254740993.0", "9007199254740992"},
}

func (g *yamlGrower) jsonString() string {
	value := ""
	g.write(`"`)
	for range g.IntN(4) {
		switch g.IntN(8) {
		case 0:
			e := one(g.Rand, `\"`+`"`, `\\`+`\`, `\n`+"\n", `\t`+"\t", `\b`+"\b", `\f`+"\f", `\r`+"\r")
			g.write(e[:2])
			value += e[2:]
		case 1:
			r := one(g.Rand, 'A', 'é', '\u2028', '日', 0, '"')
			g.write(fmt.Sprintf(`\u%04x`, r))
			value += string(r)
		case 2:
			if !in(g.Rand, 20) {
				continue
			}
			g.traits |= JSONEscapes
			if in(g.Rand, 2) {
				g.write(`\/`)
				value += "/"
			} else {
				hi, lo := utf16.EncodeRune('😀')
				g.write(fmt.Sprintf(`\u%04X\u%04x`, hi, lo))
				value += "😀"
			}
		default:
			word := strings.NewReplacer(`\`, "", `"`, "").Replace(one(g.Rand, plainWords...))
			g.write(word)
			value += word
		}
	}
	g.write(`"`)
	return value
}
