package yamlbridge

import (
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// This file reads merge keys (yaml.org/type/merge.html). The value of a merge key is first written
// like any other, with everything that it refers to. When it is complete it is moved to the side
// buffer, and its members are merged into the mapping: at once, as in the API server, or at the end
// of the mapping those that no other member has.

const mergeName = "<<"

// A merging is a merge key whose value is being read.
type merging struct {
	at      int // where the member starts in out, with its comma
	value   int // where its value starts
	marks   int // how many there were before
	anchors int
	sources int
	copies  int
	aside   int // copies in the side buffer
}

// A source is a mapping whose members are merged.
type source struct {
	span   span
	inSide bool
	anchor int // the index of its anchor if it was not copied, and otherwise -1
	offset int // of its place in the value of the merge key
	at     int // its place in the text
	depth  int // of the mapping that it is merged into
	merge  int // how many merge keys that mapping had up to this one
	height int32
}

// isMerge reports whether a key is a merge key: a plain <<, or one tagged !!merge. The tag "!",
// which makes other scalars strings, does not matter to the API server here.
func (r *Reader) isMerge(text []byte, plain bool) bool {
	if r.Dialect == Core || string(text) != mergeName {
		return false
	}
	switch r.props.kind {
	case noTag:
		return plain
	case nonSpecificTag, mergeTag:
		return true
	}
	return false
}

// mergeKey writes a merge key.
func (r *Reader) mergeKey(at int) {
	r.anchorKey(&value{kind: stringValue, text: []byte(mergeName)})
	r.props = properties{}
	r.merges = append(r.merges, merging{
		at: len(r.out) - r.base, marks: len(r.main.marks), anchors: len(r.anchors),
		sources: len(r.sources), copies: len(r.main.copies),
		aside: len(r.aside.copies),
	})
	r.writeString(at, []byte(mergeName), true)
	r.merges[len(r.merges)-1].value = len(r.out) - r.base
	f := &r.stack[len(r.stack)-1]
	if f.next == flowAfter {
		f.next = flowMerged
	} else {
		f.next = mapMerged
	}
}

// isMergeSource reports whether the next mapping is to be merged: it is the value of a merge key,
// or an element of that.
func (r *Reader) isMergeSource() bool {
	f := &r.stack[len(r.stack)-1]
	return f.next == mapMerged || f.next == flowMerged || f.mergeList
}

// mergeAlias handles an alias of a mapping that is to be merged. The mapping is not copied now,
// unless something may refer to the list that contains the alias.
func (r *Reader) mergeAlias(at, index int) error {
	a := &r.anchors[index]
	if r.json(a)[0] != '{' {
		return r.fail(at, notMergeable)
	}
	r.comma()
	if f := &r.stack[len(r.stack)-1]; f.mergeList && f.anchor >= 0 {
		if err := r.charge(int(a.at.end-a.at.start), at); err != nil {
			return err
		}
		r.mark(at)
		r.copy(a.at.span(), a.inSide)
		r.contain(a.height)
		return nil
	}
	r.sources = append(r.sources, source{
		anchor: index, offset: len(r.out) - r.base, at: at, height: a.height,
	})
	r.out = append(r.out, "{}"...)
	return nil
}

const notMergeable = "map merge requires map or sequence of maps as the value"

// merge removes the value of the innermost mapping's merge key from the output. It merges the
// value, or records that it is to be merged.
func (r *Reader) merge() error {
	f := &r.stack[len(r.stack)-1]
	if f.next == flowMerged {
		f.next, f.state = flowAfter, flowAfter
	} else {
		f.next, f.state = mapKey, mapKey
	}
	m := r.merges[len(r.merges)-1]
	r.merges = r.merges[:len(r.merges)-1]
	if err := r.findSources(m); err != nil {
		return err
	}
	found := r.found
	// Nested merge keys have copies in the side buffer, each of which is visited.
	if err := r.charge(len(r.aside.copies)-m.aside, int(r.main.marks[m.marks].text)); err != nil {
		return err
	}
	moved := r.moveAside(m)
	order := 1
	if n := len(r.sources); n > 0 && r.sources[n-1].depth == len(r.stack) {
		order = r.sources[n-1].merge + 1
	}
	for i := range found {
		s := &found[i]
		if s.anchor < 0 {
			s.span.start, s.span.end, s.inSide = s.span.start+moved, s.span.end+moved, true
		}
		s.depth, s.merge = len(r.stack), order
	}
	if !r.server {
		f.merges = true
		r.sources = append(memory.Room(&r.account, r.sources, len(found)), found...)
		return nil
	}
	slices.Reverse(found)
	for i := range found {
		if err := r.mergeAll(&found[i]); err != nil {
			return err
		}
	}
	return nil
}

// findSources collects in r.found the mappings that are the value of a merge key, or its elements. It
// returns an error for anything else there.
func (r *Reader) findSources(m merging) error {
	listed := r.sources[m.sources:]
	r.sources = r.sources[:m.sources]
	json := r.out[r.base+m.value:]
	found := r.found[:0]
	add := func(s span) error {
		s.start, s.end = s.start+m.value, s.end+m.value
		at := r.main.at(s.start)
		if r.out[r.base+s.start] != '{' {
			r.out = r.out[:r.base+m.value] // the path leads to it
			return r.fail(at, notMergeable)
		}
		// Both are in the order of the text.
		if len(listed) > 0 && listed[0].offset == s.start {
			found = append(found, listed[0])
			listed = listed[1:]
			return nil
		}
		found = append(found, source{span: s, anchor: -1, at: at})
		return nil
	}
	if json[0] == '[' {
		for i := 1; json[i] != ']'; {
			end := skipJSON(json, i)
			if err := add(span{i, end}); err != nil {
				return err
			}
			if i = end; json[i] == ',' {
				i++
			}
		}
	} else if err := add(span{0, len(json)}); err != nil {
		return err
	}
	r.found = found
	return nil
}

// moveAside moves the value of a merge key to the side buffer, with its marks and anchors, and
// returns by how much. It drops the key.
func (r *Reader) moveAside(m merging) (moved int) {
	moved = len(r.side) - m.value
	steps.Add(len(r.out) - r.base - m.value + len(r.main.marks) - m.marks +
		len(r.main.copies) - m.copies + len(r.aside.copies) - m.aside)
	r.side = append(memory.Room(&r.account, r.side, len(r.out)-r.base-m.value),
		r.out[r.base+m.value:]...)
	r.out = r.out[:r.base+m.at]
	for n := len(r.merged); n > 0 && r.merged[n-1].start >= m.at; n-- {
		r.merged = r.merged[:n-1]
	}
	for i := m.anchors; i < len(r.anchors); {
		steps.Add(1)
		a := &r.anchors[i]
		if int(a.moved) > i {
			i = int(a.moved) // they were moved with a merge key in this one
			continue
		}
		if at := a.at.span(); !a.inSide && at.start >= m.value {
			a.at, a.inSide = span{at.start + moved, at.end + moved}.packed(), true
		}
		i++
	}
	if m.anchors < len(r.anchors) {
		r.anchors[m.anchors].moved = int32(len(r.anchors))
	}
	r.aside.marks = memory.Room(&r.account, r.aside.marks, len(r.main.marks)-m.marks)
	r.aside.copies = memory.Room(&r.account, r.aside.copies, len(r.main.copies)-m.copies)
	for _, k := range r.main.marks[m.marks:] {
		if int(k.json) >= m.value {
			r.aside.marks = append(r.aside.marks, mark{uint32(int(k.json) + moved), k.text})
		}
	}
	for _, c := range r.main.copies[m.copies:] {
		c.start, c.end = c.start+moved, c.end+moved
		r.aside.copies = append(r.aside.copies, c)
	}
	for i := range r.aside.copies[m.aside:] {
		if c := &r.aside.copies[m.aside+i]; !c.inSide && c.from >= m.value {
			c.from, c.inSide = c.from+moved, true
		}
	}
	r.main.marks = r.main.marks[:m.marks]
	r.main.copies = r.main.copies[:m.copies]
	return moved
}

// resolved returns the JSON and the span of a source.
func (r *Reader) resolved(s *source) (json []byte, at span, inSide bool) {
	at, inSide = s.span, s.inSide
	if s.anchor >= 0 {
		at, inSide = r.anchors[s.anchor].at.span(), r.anchors[s.anchor].inSide
	}
	if inSide {
		return r.side[at.start:at.end], at, true
	}
	return r.out[r.base+at.start : r.base+at.end], at, false
}

// mergeAll writes all members of a source.
func (r *Reader) mergeAll(s *source) error {
	json, at, inSide := r.resolved(s)
	if err := r.charge(len(json), s.at); err != nil {
		return err
	}
	if len(json) == len("{}") {
		return nil
	}
	return r.mergeMembers(s, span{at.start + 1, at.end - 1}, inSide)
}

// mergeMembers copies one or more members of a source to the innermost mapping.
func (r *Reader) mergeMembers(s *source, members span, inSide bool) error {
	if len(r.stack)-2+int(s.height) > MaxDepth {
		return r.limit(errors.LimitDepth, MaxDepth, s.at)
	}
	r.comma()
	start := len(r.out) - r.base
	if s.anchor >= 0 {
		r.mark(s.at)
	} else {
		for i := r.aside.markAt(members.start); i < len(r.aside.marks) && int(r.aside.marks[i].json) < members.end; i++ {
			steps.Add(1)
			k := r.aside.marks[i]
			k.json = uint32(max(int(k.json)-members.start, 0) + start)
			r.main.marks = append(r.main.marks, k)
		}
	}
	r.copy(members, inSide)
	r.leadOn(&r.main.copies[len(r.main.copies)-1])
	r.contain(s.height - 1)
	return nil
}

// mergeSources writes the members of merge keys to the innermost mapping, except those that another
// of its members, or an earlier source, has.
func (r *Reader) mergeSources() error {
	f := &r.stack[len(r.stack)-1]
	depth := len(r.stack)
	first := len(r.sources)
	for first > 0 && r.sources[first-1].depth == depth {
		steps.Add(1)
		first--
	}
	sources := r.sources[first:]
	r.sources = r.sources[:first]
	// Of several merge keys the later wins, and in one list the earlier mapping.
	slices.SortStableFunc(sources, func(a, b source) int { return b.merge - a.merge })

	if r.isTooLong() && len(sources) > 0 {
		return r.tooLong(sources[0].at)
	}
	// The set gets the names of whichever has fewer: the mapping itself, or the sources.
	r.names.reset()
	size := 0
	for i := range sources {
		json, _, _ := r.resolved(&sources[i])
		size += len(json)
	}
	own := len(r.out) - r.base - int(f.start)
	for i := 0; size < own && i < len(sources); i++ {
		json, at, inSide := r.resolved(&sources[i])
		for _, m := range members(json, at) {
			r.enterName(m.start, inSide)
		}
	}
	r.takeOwn(int(f.start), size < own)
	for i := range sources {
		s := &sources[i]
		// Looking at overridden members costs as much as copying the others.
		json, at, inSide := r.resolved(s)
		if err := r.charge(len(json), s.at); err != nil {
			return err
		}
		start := len(r.out) - r.base
		for name, m := range members(json, at) {
			if r.isTaken(name) {
				continue
			}
			if err := r.mergeMembers(s, m, inSide); err != nil {
				return err
			}
		}
		// Names that repeat in one source repeat here as well.
		if i+1 < len(sources) {
			if r.isTooLong() {
				return r.tooLong(s.at)
			}
			r.takeAdded(start)
		}
	}
	r.merged = append(r.merged, span{int(f.start), len(r.out) - r.base + len("}")})
	return nil
}

// takeAdded takes the names of the members of the innermost mapping that start at start in the
// output: with a comma, or without one if they are the first.
func (r *Reader) takeAdded(start int) {
	json := r.out[r.base:]
	for i := start; i < len(json); {
		if json[i] == ',' {
			i++
		}
		r.takeName(i, false)
		i = skipJSON(json, skipJSON(json, i)+len(":"))
	}
}

// takeOwn takes the names of the members of the innermost mapping, which starts at start in the
// output and is not closed. If onlyOf is set, it takes only those that the set has. It skips the
// mappings within that it has handled before, and forgets them for this one, so that each byte is
// visited once, whatever the depth.
func (r *Reader) takeOwn(start int, onlyOf bool) {
	first := len(r.merged)
	for first > 0 && r.merged[first-1].start > start {
		first--
	}
	within := r.merged[first:]
	r.merged = r.merged[:first]

	json := r.out[r.base:]
	depth := 0
	for i := start + 1; i < len(json); {
		steps.Add(1)
		switch c := json[i]; {
		case len(within) > 0 && within[0].start == i:
			i = within[0].end
			within = within[1:]
		case c == '{' || c == '[':
			depth++
			i++
		case c == '}' || c == ']':
			depth--
			i++
		case c == ',':
			i++
		default:
			end := skipJSON(json, i)
			if end < len(json) && json[end] == ':' {
				if depth == 0 {
					r.takeName(i, onlyOf)
				}
				end++
			}
			i = end
		}
	}
}

// members iterates over the members of a JSON object: their names, with quotes, and their starts
// and ends. at is the span of the object.
func members(json []byte, at span) func(yield func([]byte, span) bool) {
	return func(yield func([]byte, span) bool) {
		for i := 1; json[i] != '}'; {
			start := i
			i = skipJSON(json, i)
			name := json[start:i]
			i = skipJSON(json, i+1)
			if !yield(name, span{start + at.start, i + at.start}) {
				return
			}
			if json[i] == ',' {
				i++
			}
		}
	}
}

// skipJSON returns the end of the value in compact, valid JSON that starts at i.
func skipJSON(json []byte, i int) int {
	start := i
	for depth := 0; ; i++ {
		switch json[i] {
		case '"':
			for i++; json[i] != '"'; i++ {
				if json[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			continue
		case '}', ']':
			depth--
		case ',', ':':
			continue
		default:
			for i+1 < len(json) && !is(json[i+1], isFlowIndicator) {
				i++
			}
		}
		if depth == 0 {
			steps.Add(i + 1 - start)
			return i + 1
		}
	}
}
