package yamlbridge

import (
	"bytes"

	"gopkg.in/yaml.v3"
)

// A span is a part of a buffer.
type span struct{ buffer, start, end int }

// A target is a node that can be referred to: by an alias, or by the merge key
// whose value it is.
type target struct {
	node    *yaml.Node
	open    bool   // still being written
	written bool   // has a span; keys get one when they are used as values
	span    span   // its JSON
	scalar  scalar // of a scalar node
	height  int
	members []member // of a mapping, merged ones included
}

// anchor makes t what aliases of n mean.
func (e *emitter) anchor(n *yaml.Node, t *target) {
	if e.anchors == nil {
		e.anchors = make(map[*yaml.Node]*target)
	}
	t.node = n
	e.anchors[n] = t
}

// dereference returns what the alias n means.
func (e *emitter) dereference(n *yaml.Node, off int) (*target, error) {
	t := e.anchors[n.Alias]
	switch {
	case t == nil:
		return nil, e.fail(off, "unknown anchor "+excerpt(n.Value))
	case t.open:
		return nil, e.fail(off, "anchor "+excerpt(n.Value)+" value contains itself")
	}
	return t, nil
}

// alias writes the value of an alias.
func (e *emitter) alias(n *yaml.Node, off int) error {
	t, err := e.dereference(n, off)
	if err != nil {
		return err
	}
	if owner := e.mergeOwner(); owner != nil {
		owner.sources = append(owner.sources, source{t, owner.merges, off})
		if e.stack[len(e.stack)-1].target == nil {
			// Nothing can refer to the list, or to the merge key: what stands here
			// is never read.
			e.out = append(e.out, "null"...)
			return nil
		}
	}
	if !t.written {
		// An anchor on a key. Its value form differs (1.50 is the value 1.5), and
		// is written once; the copies that follow are charged before.
		start := len(e.out)
		if e.out, err = t.scalar.appendJSON(e.out); err != nil {
			return e.locate(err, off)
		}
		t.span, t.written = span{e.current, start, len(e.out)}, true
		return e.charge(len(e.out)-start, off)
	}
	e.height = t.height
	_, err = e.copy(t.span, t.height, off)
	return err
}

// copy writes what s spans once more, for the sake of the alias or merge key at
// off, and returns where it wrote it.
func (e *emitter) copy(s span, height, off int) (span, error) {
	if err := e.charge(s.end-s.start, off); err != nil {
		return span{}, err
	}
	if len(e.stack)+height > MaxDepth {
		return span{}, e.limit("depth", MaxDepth, off)
	}
	from := e.out
	if s.buffer != e.current {
		from = e.others[s.buffer]
	}
	start := len(e.out)
	e.out = append(e.out, from[s.start:s.end]...)
	return span{e.current, start, len(e.out)}, nil
}

// charge takes n bytes from the budget of aliases.
func (e *emitter) charge(n, off int) error {
	if e.budget -= n; e.budget < 0 {
		return e.limit("alias bytes", MaxAliasBytes, off)
	}
	return nil
}

// checkAliases refuses a document that is bound to exhaust the budget before
// any of it is written: a few hundred bytes can stand for gigabytes. It adds up
// the least that each anchored node can come to. Merge keys are left out, as all
// that they bring in may be overridden.
func (e *emitter) checkAliases(root *yaml.Node) error {
	if bytes.IndexByte(e.cursor.text, '*') < 0 || bytes.IndexByte(e.cursor.text, '&') < 0 {
		return nil
	}
	type frame struct {
		node *yaml.Node
		next int
		size int
	}
	sizes := make(map[*yaml.Node]int)
	total := 0
	stack := []frame{{node: root}}
	for {
		f := &stack[len(stack)-1]
		if n := f.node; f.next < len(n.Content) {
			child := n.Content[f.next]
			f.next++
			isMerged := n.Kind == yaml.MappingNode && f.next&1 == 0 && n.Content[f.next-2].Value == mergeKey
			if !isMerged {
				stack = append(stack, frame{node: child})
			}
			continue
		}
		n, size := f.node, f.size+1
		switch n.Kind {
		case yaml.ScalarNode:
			// Long texts are no numbers, so at worst they shrink as base64 does.
			if len(n.Value) > MaxNumberBytes {
				size = len(n.Value) / 2
			}
		case yaml.AliasNode:
			size = sizes[n.Alias]
			if total += size; total > MaxAliasBytes {
				return e.limit("alias bytes", MaxAliasBytes, e.offset(n))
			}
		}
		if n.Anchor != "" {
			sizes[n] = size
		}
		stack = stack[:len(stack)-1]
		if len(stack) == 0 {
			return nil
		}
		stack[len(stack)-1].size += size
	}
}
