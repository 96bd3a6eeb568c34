package yamlbridge

import (
	"slices"

	"gopkg.in/yaml.v3"
)

const mergeKey = "<<"

// A member is a member of a mapping that merge keys may copy.
type member struct {
	name    string
	value   span
	height  int
	key, at int // where key and value stand in the source
}

// A source is a mapping that a merge key brings in.
type source struct {
	*target
	merge int // which merge key of its mapping it was, from 1
	off   int // of the alias, or -1 where the mapping stands there itself
}

// isMerge reports whether a key is a merge key: a plain <<, or one tagged !!merge.
// The tag "!", which makes it a string anywhere else, makes no difference to the
// API server here.
func isMerge(n *yaml.Node) bool {
	if n.Kind != yaml.ScalarNode || n.Value != mergeKey {
		return false
	}
	if n.Style&yaml.TaggedStyle != 0 {
		return n.Tag == tagMerge
	}
	return n.Style == 0
}

// merge notes what the value of a merge key brings into the mapping f. A value
// that stands there itself, and is no alias, is written into a buffer of its
// own: aliases may refer to any part of it, also to what is overridden.
func (e *emitter) merge(f *frame, value *yaml.Node) error {
	f.merges++
	f.merging = true
	notMap := func(n *yaml.Node) bool {
		return n.Kind != yaml.MappingNode && (n.Kind != yaml.AliasNode || n.Alias.Kind != yaml.MappingNode)
	}
	if notMap(value) && (value.Kind != yaml.SequenceNode || slices.ContainsFunc(value.Content, notMap)) {
		return e.fail(e.offset(value), "map merge requires map or sequence of maps as the value")
	}
	if value.Kind == yaml.AliasNode {
		off := e.offset(value)
		t, err := e.dereference(value, off)
		f.sources = append(f.sources, source{t, f.merges, off})
		f.merging = false
		return err
	}
	e.enterBuffer()
	return e.value(value)
}

// mergeOwner returns the mapping into which the node that is next will be merged,
// if its place is that of a source: right under a merge key, or in its list.
func (e *emitter) mergeOwner() *frame {
	n := len(e.stack)
	switch {
	case n > 0 && e.stack[n-1].merging:
		return &e.stack[n-1]
	case n > 1 && e.stack[n-1].isMergeList:
		return &e.stack[n-2]
	}
	return nil
}

// splice writes the members that merge keys bring into the mapping f and that no
// explicit member and no source before them has.
func (e *emitter) splice(f *frame) error {
	if len(f.sources) == 0 {
		return nil
	}
	taken := make(map[string]struct{}, len(f.members))
	for i := range f.members {
		taken[f.members[i].name] = struct{}{}
	}
	// Of several merge keys the later wins, of one list the earlier.
	slices.SortStableFunc(f.sources, func(a, b source) int { return b.merge - a.merge })
	for _, s := range f.sources {
		// Names that stand twice in one source do so here, too.
		first := len(f.members)
		for _, m := range s.members {
			if s.off >= 0 {
				m.key, m.at = s.off, s.off
			}
			if err := e.charge(len(m.name)+1, m.key); err != nil {
				return err
			}
			if _, ok := taken[m.name]; ok {
				continue
			}
			e.name(f, m.name, m.key)
			e.mark(m.at)
			var err error
			if m.value, err = e.copy(m.value, m.height, m.at); err != nil {
				return err
			}
			f.height = max(f.height, m.height+1)
			f.members = append(f.members, m)
		}
		for i := range f.members[first:] {
			taken[f.members[first+i].name] = struct{}{}
		}
	}
	return nil
}

func (e *emitter) enterBuffer() {
	e.others[e.current] = e.out
	e.current = len(e.others)
	e.others = append(e.others, nil)
	e.out = nil
}

// leaveBuffer goes back to the buffer with that number.
func (e *emitter) leaveBuffer(to int) {
	e.others[e.current] = e.out
	e.current = to
	e.out = e.others[to]
}
