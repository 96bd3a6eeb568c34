package fuzz

import "strings"

// A merger writes the merge keys of a mapping, if it has any, and knows the merged members. By the
// rule of YAML an explicit key wins wherever it is, an earlier mapping of a list wins over a later
// one, and a later merge key over an earlier one.
type merger struct {
	*yamlGrower
	on      bool
	node    *YAMLNode
	sources [][]*YAMLNode // of each merge key
}

func newMerge(g *yamlGrower, n *YAMLNode) *merger {
	return &merger{yamlGrower: g, on: n.Kind == '{' && in(g.Rand, 12), node: n}
}

// next reports whether another merge key follows.
func (m *merger) next() bool {
	if !m.on || !in(m.Rand, 2) {
		return false
	}
	m.traits |= Merges
	return true
}

// key writes a key. Keys beside merge keys are strings that do not repeat.
func (m *merger) key(c yamlContext) *YAMLNode {
	if m.on {
		return m.simpleKey(m.node)
	}
	if in(m.Rand, 16) {
		if n := m.alias(isKey); n != nil {
			return n
		}
	}
	return m.scalar(c)
}

// simpleKey writes a key that can be merged, and that n does not have.
func (g *yamlGrower) simpleKey(n *YAMLNode) *YAMLNode {
	start := g.token()
	key := &YAMLNode{Kind: 's', At: at(start), Written: at(start)}
	used := make(map[string]bool)
	for _, m := range n.Members {
		used[m.Name] = true
	}
	word := one(g.Rand, keyWords...)
	for used[word] {
		word += "'"
	}
	if strings.Contains(word, "'") {
		g.write(word)
		key.beString(word)
		return key
	}
	g.keyWord(key, word)
	return key
}

func isMergeable(n *YAMLNode) bool { return n.isMergeable() }

// block writes the value of a merge key in a block mapping.
func (m *merger) block(column int) {
	c := yamlContext{flow: true, indent: column + 1}
	if in(m.Rand, 4) {
		m.breakLine(afterColon)
		n := &YAMLNode{Kind: '{'}
		inner := column + 1 + m.IntN(3)
		for i := range 1 + m.IntN(3) {
			m.noise()
			m.write(strings.Repeat(" ", inner))
			key := m.simpleKey(n)
			if i == 0 {
				n.At, n.Written = key.At, key.Written
			}
			m.write(":")
			m.add(n, key, m.yamlGrower.block(inner, afterColon))
		}
		m.sources = append(m.sources, []*YAMLNode{n})
		return
	}
	m.before(afterColon)
	m.flow(c)
	m.endLine()
}

// flow writes the value of a merge key on one line.
func (m *merger) flow(c yamlContext) {
	if in(m.Rand, 2) {
		m.sources = append(m.sources, []*YAMLNode{m.source(c)})
		return
	}
	m.token()
	m.write("[")
	var list []*YAMLNode
	for i := range m.IntN(4) {
		if i > 0 {
			m.write(",")
		}
		m.gap(c, false)
		list = append(list, m.source(c))
		m.gap(c, false)
	}
	m.token()
	m.write("]")
	m.sources = append(m.sources, list)
}

// source writes an alias to a mapping, or a mapping.
func (m *merger) source(c yamlContext) *YAMLNode {
	if in(m.Rand, 2) {
		if n := m.alias(isMergeable); n != nil {
			return n
		}
	}
	start := m.token()
	n := &YAMLNode{Kind: '{', At: at(start), Written: at(start)}
	m.write("{")
	for i := range m.IntN(4) {
		if i > 0 {
			m.write(",")
		}
		m.gap(c, false)
		key := m.simpleKey(n)
		m.write(": ")
		m.add(n, key, m.flowNode(c))
		m.gap(c, false)
	}
	m.token()
	m.write("}")
	return n
}

// finish adds the merged members.
func (m *merger) finish() {
	taken := make(map[string]bool)
	for _, member := range m.node.Members {
		taken[member.Name] = true
	}
	for i := len(m.sources) - 1; i >= 0; i-- {
		for _, source := range m.sources[i] {
			for _, member := range source.Members {
				if !taken[member.Name] {
					taken[member.Name], member.Merged = true, true
					m.node.Members = append(m.node.Members, member)
				}
			}
		}
	}
}
