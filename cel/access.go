package cel

import "github.com/espalier-dev/espalier/schema/validation"

// An access says which parts of a value are read.
type access struct {
	all     bool
	value   bool // if there is a value, whether it is null, and the value itself if it is a scalar
	members map[string]*access
	each    *access // of all members, whatever their names are
	element *access // of all elements
}

func (a *access) member(name string) *access {
	if a.members[name] == nil {
		if a.members == nil {
			a.members = map[string]*access{}
		}
		a.members[name] = new(access)
	}
	return a.members[name]
}

func (a *access) everyMember() *access {
	if a.each == nil {
		a.each = new(access)
	}
	return a.each
}

func (a *access) everyElement() *access {
	if a.element == nil {
		a.element = new(access)
	}
	return a.element
}

// read marks all parts as values that an expression reads.
func (a *access) read() {
	if a == nil {
		return
	}
	a.value = true
	for _, m := range a.members {
		m.read()
	}
	a.each.read()
	a.element.read()
}

// add adds what b reads.
func (a *access) add(b *access) {
	if b == nil {
		return
	}
	a.all, a.value = a.all || b.all, a.value || b.value
	for name, m := range b.members {
		a.member(name).add(m)
	}
	if b.each != nil {
		a.everyMember().add(b.each)
	}
	if b.element != nil {
		a.everyElement().add(b.element)
	}
}

// selection returns what is read in the form in which it is asked for.
func (a *access) selection() *validation.Selection {
	switch {
	case a == nil:
		return nil
	case a.all:
		return &validation.Selection{All: true}
	}
	s := &validation.Selection{Within: !a.value, Others: a.each.selection(), Elements: a.element.selection()}
	for name, m := range a.members {
		if s.Members == nil {
			s.Members = make(map[string]*validation.Selection, len(a.members))
		}
		if a.each != nil {
			both := new(access)
			both.add(m)
			both.add(a.each)
			m = both
		}
		s.Members[name] = m.selection()
	}
	return s
}

// readsOld reports whether rules of a node, or of those within it, read oldSelf.
func (n *node) readsOld() bool {
	return n != nil && (n.usesOld || n.oldBelow)
}

// children returns the nodes within a node, each with what leads to its values.
func (n *node) children(yield func(child *node, from func(*access) *access) bool) {
	if n.items != nil && !yield(n.items, (*access).everyElement) {
		return
	}
	if n.additional != nil && !yield(n.additional, (*access).everyMember) {
		return
	}
	for _, name := range n.names {
		if !yield(n.properties[name], func(a *access) *access { return a.member(name) }) {
			return
		}
	}
	for _, child := range n.allOf {
		if !yield(child, func(a *access) *access { return a }) {
			return
		}
	}
}

// accesses adds what the rules of a node, and of those within it, read of a value and of the old
// one, which is nil if they read nothing of that.
func (n *node) accesses(self, oldSelf *access) {
	if len(n.rules) > 0 || n.err != "" {
		self.value = true
		if oldSelf != nil {
			oldSelf.value = true
		}
	}
	if len(n.rules) > 0 && n.shape.typ != "object" && n.shape.typ != "array" {
		self.all = true // errors show it, even where it is no scalar, as the old one was
	}
	for i := range n.rules {
		for _, p := range []*program{n.rules[i].program, n.rules[i].message} {
			if p != nil {
				self.add(p.self)
			}
			if p != nil && oldSelf != nil {
				oldSelf.add(p.oldSelf)
			}
		}
	}
	for child, from := range n.children {
		var old *access
		if child.readsOld() {
			old = from(oldSelf)
		}
		child.accesses(from(self), old)
		if old != nil && child == n.items && n.shape.listType == "map" {
			for _, key := range n.shape.mapKeys { // by which old elements are found
				self.everyElement().member(key).value = true
				old.member(key).value = true
			}
		}
	}
}
