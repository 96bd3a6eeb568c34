package fuzz

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"strings"
	"unicode/utf8"
)

// A yamlGrower writes one document.
type yamlGrower struct {
	*rand.Rand
	out    []byte
	traits YAMLTraits
	eols   []string // line breaks to choose from
	handle string   // of a %TAG directive for the core tags
	size   int      // number of further nodes that are welcome
	copies int      // number of further nodes that aliases may copy

	anchors []yamlAnchor
	opened  map[string]int // how often each anchor has been opened
	empties []*YAMLNode    // waiting for the next token
	// tail is how far the next comment may be indented after a block scalar: farther in, or after a
	// blank line, it could be part of the scalar. It is -1 elsewhere.
	tail int
	bare bool // the last token was a block scalar without a line of text, at the root
}

// An openAnchor is the count of an anchor in opened, or the zero value.
type openAnchor struct {
	name  string
	count int
}

type yamlAnchor struct {
	name string
	node *YAMLNode
}

// NewYAML returns the document of the seed.
func NewYAML(seed uint64) *YAMLDocument {
	g := &yamlGrower{Rand: rand.New(rand.NewPCG(seed, 4)), opened: map[string]int{}, tail: -1, copies: 200}
	switch g.IntN(8) {
	case 0:
		g.eols = []string{"\r\n"}
	case 1:
		g.eols = []string{"\r"}
	case 2:
		g.eols = []string{"\n", "\r\n", "\r"}
	default:
		g.eols = []string{"\n"}
	}
	g.size = 1 + g.IntN(40)
	if in(g.Rand, 50) {
		g.size = 300
	}
	root := g.document()
	return &YAMLDocument{g.out, root, g.traits}
}

func (g *yamlGrower) document() *YAMLNode {
	if in(g.Rand, 16) {
		g.write("\uFEFF")
	}
	g.noise()
	marker := in(g.Rand, 3)
	if in(g.Rand, 30) {
		g.traits |= EmptyFirst
		g.write("---")
		g.endLine()
		g.noise()
		marker = true
	}
	if in(g.Rand, 10) && g.traits&EmptyFirst == 0 {
		g.directives()
		marker = true
	}
	var root *YAMLNode
	switch {
	case in(g.Rand, 40):
		return g.emptyDocument(marker)
	case in(g.Rand, 8):
		root = g.flowRoot(marker, g.kyaml)
	case in(g.Rand, 8):
		root = g.flowRoot(marker, g.json)
	case marker:
		g.token()
		g.write("---")
		root = g.block(-1, afterMarker)
	default:
		root = g.block(-1, atRoot)
	}
	g.trailer(root)
	g.token()
	return root
}

func (g *yamlGrower) directives() {
	var list []string
	if in(g.Rand, 2) {
		version := "1.1"
		if in(g.Rand, 2) {
			version = "1.2"
			g.traits |= Version12
		}
		list = append(list, "%YAML"+g.blanks(1)+version)
	}
	if len(list) == 0 || in(g.Rand, 2) {
		g.handle = one(g.Rand, "!e!", "!core-1!")
		list = append(list, "%TAG"+g.blanks(1)+g.handle+g.blanks(1)+"tag:yaml.org,2002:")
	}
	for _, d := range list {
		g.write(d)
		g.endLine()
		g.noise()
	}
}

func (g *yamlGrower) emptyDocument(marker bool) *YAMLNode {
	if marker {
		g.token()
		g.write("---")
		g.endLine()
	}
	n := g.empty()
	n.At.From, n.Written.From = 0, 0
	g.noise()
	g.token()
	return n
}

// flowRoot writes a document in a single style.
func (g *yamlGrower) flowRoot(marker bool, style func(depth int) *YAMLNode) *YAMLNode {
	if marker {
		g.write("---")
		if in(g.Rand, 2) {
			g.endLine()
		} else {
			g.write(" ")
		}
	}
	n := style(0)
	g.endLine()
	return n
}

// trailer writes a text that may follow the first document.
func (g *yamlGrower) trailer(root *YAMLNode) {
	g.noise()
	switch g.IntN(12) {
	case 0:
		if len(g.empties) > 0 && g.empties[0] == root {
			return // the next text could be taken for the first document
		}
		g.token()
		g.write("...")
		g.endLine()
		g.noise()
		if in(g.Rand, 4) {
			g.second(true)
		}
	case 1:
		if len(g.empties) == 0 || g.empties[0] != root {
			g.second(false)
		}
	case 2: // without the last line break, which a block scalar would miss
		if g.tail < 0 {
			g.out = bytes.TrimRight(g.out, "\r\n")
			for _, n := range g.empties {
				n.At.From = min(n.At.From, len(g.out))
				n.Written.From = n.At.From
			}
		}
	}
}

// second writes another document. Directives are only possible after a "..." line.
func (g *yamlGrower) second(ended bool) {
	g.traits |= SecondDocument
	g.token()
	directive := ended && in(g.Rand, 3)
	if directive {
		g.write("%YAML 1.1" + g.eol())
	}
	if directive || !ended || in(g.Rand, 2) {
		g.write("---" + g.eol())
	}
	g.write(one(g.Rand, "b: 2", "- x", "text", "{a: b}", "[]") + g.eol())
}

func (g *yamlGrower) write(s string) { g.out = append(g.out, s...) }

// eol returns a line break that does not merge with the one before it.
func (g *yamlGrower) eol() string {
	e := one(g.Rand, g.eols...)
	if e == "\n" && bytes.HasSuffix(g.out, []byte("\r")) {
		return "\r"
	}
	return e
}

// token notes that the next token starts here.
func (g *yamlGrower) token() int {
	for _, n := range g.empties {
		n.At.To, n.Written.To = len(g.out), len(g.out)
	}
	g.empties, g.tail, g.bare = g.empties[:0], -1, false
	return len(g.out)
}

// empty returns a node without text.
func (g *yamlGrower) empty() *YAMLNode {
	n := &YAMLNode{Kind: 's', At: at(len(g.out)), Written: at(len(g.out))}
	g.empties = append(g.empties, n)
	return n
}

// column returns the number of characters before this place on its line.
func (g *yamlGrower) column() int {
	line := g.out[1+bytes.LastIndexAny(g.out, "\r\n"):]
	return utf8.RuneCount(bytes.TrimPrefix(line, []byte("\uFEFF")))
}

// blanks returns at least that many spaces and tabs.
func (g *yamlGrower) blanks(least int) string {
	s := strings.Repeat(" ", least)
	switch g.IntN(6) {
	case 0:
		s += strings.Repeat(" ", g.IntN(4))
	case 1:
		s = strings.Repeat("\t", max(least, 1)) + strings.Repeat(" ", g.IntN(2))
	}
	return s
}

// endLine ends a line on which there may be a comment.
func (g *yamlGrower) endLine() {
	switch g.IntN(8) {
	case 0:
		g.write(g.blanks(0))
	case 1:
		g.write(g.blanks(1) + g.comment())
	}
	g.write(g.eol())
}

func (g *yamlGrower) comment() string {
	return "#" + one(g.Rand, "", " c", " a: b", "# - x", " \"", " é日🌳", "\t'", " [{", " \\")
}

// noise writes lines without meaning. The line before has ended.
func (g *yamlGrower) noise() {
	for in(g.Rand, 6) {
		if g.tail < 0 && in(g.Rand, 2) {
			g.write(strings.Repeat(" ", g.IntN(3)) + g.eol())
			continue
		}
		indent := g.IntN(6)
		if g.bare { // in YAML 1.2 it is text: there, such scalars need no indentation
			g.traits |= Unsettled
		}
		if g.tail >= 0 {
			indent = g.IntN(g.tail + 1)
			g.tail = -1
		}
		g.write(strings.Repeat(" ", indent) + g.comment() + g.eol())
	}
}

// open writes an anchor. From here on it refers to a node that is not complete.
func (g *yamlGrower) open() openAnchor {
	name := one(g.Rand, "a", "b", "c", "x-1", "long_anchor_name", "Z")
	g.anchors = slices.DeleteFunc(g.anchors, func(a yamlAnchor) bool { return a.name == name })
	g.opened[name]++
	g.write("&" + name)
	return openAnchor{name, g.opened[name]}
}

// close sets the node of an anchor, unless another node has taken the anchor since.
func (g *yamlGrower) close(a openAnchor, n *YAMLNode) {
	if a.count > 0 && g.opened[a.name] == a.count {
		g.anchors = append(g.anchors, yamlAnchor{a.name, n})
	}
}

// alias writes an alias to a suitable node, if there is one.
func (g *yamlGrower) alias(suits func(n *YAMLNode) bool) *YAMLNode {
	a := g.referent(suits)
	if a == nil {
		return nil
	}
	g.copies -= a.node.size()
	off := g.token()
	g.write("*" + a.name)
	return a.node.copyTo(at(off))
}

func (g *yamlGrower) referent(suits func(n *YAMLNode) bool) *yamlAnchor {
	var fit []int
	for i, a := range g.anchors {
		if a.node.size() <= g.copies && suits(a.node) {
			fit = append(fit, i)
		}
	}
	if len(fit) == 0 {
		return nil
	}
	return &g.anchors[one(g.Rand, fit...)]
}

// add appends a member, and notes if readers do not agree on its name.
func (g *yamlGrower) add(n, key, value *YAMLNode) {
	m := YAMLMember{Name: key.name, CoreName: key.name, At: key.At, Written: key.Written, Value: value, key: key.key}
	if s, ok := key.Core.(string); ok {
		m.CoreName = s
	} else { // how numbers become names is the library's own rule
		g.traits |= Unsettled
	}
	for _, other := range n.Members {
		if other.Name == m.Name && other.key != m.key {
			g.traits |= SameName
		}
	}
	n.Members = append(n.Members, m)
}
