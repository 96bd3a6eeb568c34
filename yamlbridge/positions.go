package yamlbridge

import (
	"sort"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/position"
)

// A mark says that the JSON from an offset on was written at an offset of the text.
type mark struct{ json, text uint32 }

// A copied is a part of the JSON that was copied for an alias or a merge key.
type copied struct {
	start, end int
	from       int  // where it was copied from
	inSide     bool // from is in the side buffer
}

// A trail maps JSON back to the text. Its marks and copies are in the order of the JSON.
type trail struct {
	marks  []mark
	copies []copied
}

func (t *trail) reset() { t.marks, t.copies = t.marks[:0], t.copies[:0] }

// markAt returns the index of the last mark at or before an offset of the JSON.
func (t *trail) markAt(offset int) int {
	after := sort.Search(len(t.marks), func(i int) bool { return int(t.marks[i].json) > offset })
	return max(after-1, 0)
}

// at returns the offset in the text of an offset of the JSON.
func (t *trail) at(offset int) int { return int(t.marks[t.markAt(offset)].text) }

// copyAt returns the copy that contains the offset of the JSON.
func (t *trail) copyAt(offset int) (c copied, ok bool) {
	i := sort.Search(len(t.copies), func(i int) bool { return t.copies[i].end > offset })
	if i == len(t.copies) || t.copies[i].start > offset {
		return copied{}, false
	}
	return t.copies[i], true
}

// Position returns the position of the name or value at an offset in the JSON
// that was appended last, counted from its first byte. Between the starts of
// two of them the earlier one counts. It returns the zero Position if there is
// no document.
//
// The position of a name is the start of its key. The position of a value is
// the start of its node, including tag and anchor, or for an empty node the
// place after its colon or dash. Everything that was copied through an alias
// has the position of the alias. A member that came through a merge key has the
// position of the merged alias, or its own in the mapping that is written
// there.
//
// A byte order mark is not a column, but counts in Offset and ByteColumn. Lines
// are counted once, up to the last place that a caller asked for.
func (r *Reader) Position(offset int) errors.Position {
	if len(r.main.marks) == 0 {
		return errors.Position{}
	}
	return r.at(r.main.at(offset))
}

// Definition is Position, except for text that was copied through an alias or a
// merge key: it returns where that text was written.
func (r *Reader) Definition(offset int) errors.Position {
	if len(r.main.marks) == 0 {
		return errors.Position{}
	}
	return r.at(r.definition(offset))
}

// definition returns the offset in the text of an offset of the JSON. Within a copy, this is the
// place of the original.
func (r *Reader) definition(offset int) int {
	t := &r.main
	for {
		c, ok := t.copyAt(offset)
		if !ok {
			return t.at(offset)
		}
		offset += c.from - c.start
		t = r.trail(c.inSide)
	}
}

// leadOn makes a copy of merged members refer to the place where they were written, if all of it is
// within another copy. Every copy on the way from an offset to the text has then added something,
// and their number is bounded by the size of the document. A copy for an alias is never within
// another copy, because it has an anchor of its own.
func (r *Reader) leadOn(c *copied) {
	for {
		o, ok := r.trail(c.inSide).copyAt(c.from)
		if !ok || o.end-c.from < c.end-c.start {
			return
		}
		c.from, c.inSide = o.from+c.from-o.start, o.inSide
	}
}

// trail returns the trail of the side buffer, or of the output.
func (r *Reader) trail(inSide bool) *trail {
	if inSide {
		return &r.aside
	}
	return &r.main
}

// at returns the position of an offset in the text.
func (r *Reader) at(off int) errors.Position {
	return position.Within(r.lines.At(off+r.lead), r.Origin)
}

// path returns the path of the member or element that is being written.
func (r *Reader) path() errors.Path {
	type step struct {
		name    []byte
		index   int
		mapping bool
		named   bool
	}
	var steps []step
	json := r.out[r.base:]
	for i := 0; i < len(json); i++ {
		last := len(steps) - 1
		switch json[i] {
		case '{':
			steps = append(steps, step{mapping: true})
		case '[':
			steps = append(steps, step{})
		case '}', ']':
			steps = steps[:last]
		case ',':
			if s := &steps[last]; s.mapping {
				s.named = false
			} else {
				s.index++
			}
		case '"':
			end := i + 1
			for end < len(json) && json[end] != '"' {
				if json[end] == '\\' {
					end++
				}
				end++
			}
			if end >= len(json) {
				json = json[:i] // a string that is being written is not complete
				break
			}
			if last >= 0 && steps[last].mapping && !steps[last].named {
				steps[last].name, steps[last].named = json[i+1:end], true
			}
			i = end
		}
	}
	depth := len(steps)
	if depth > 0 {
		s := &steps[depth-1]
		if c := json[len(json)-1]; s.mapping && c != ':' {
			// A member is complete; the next one has no name yet.
			depth--
		} else if !s.mapping && c != '[' && c != ',' {
			s.index++ // the next element, whose comma is not written yet
		}
	}
	return errors.PathOf(fieldpath.Encode(depth, func(i int) ([]byte, int) {
		if s := &steps[i]; s.mapping {
			name, _ := zeroName(string(jsonwire.AppendUnescaped(nil, s.name)))
			return []byte(name), 0
		}
		return nil, steps[i].index
	}))
}
