// Package edit removes members from the text of YAML and JSON documents, or adds
// some, and leaves the rest as it stands, byte for byte.
//
// # What goes with a member
//
// A member that has its lines to itself goes with all of them. Comments go with
// it that are
//
//   - behind it, on its lines,
//   - below it, and indented deeper than its name,
//   - directly above it: as deep as its name, with no blank line between, as Go
//     takes comments for documentation.
//
// Other comments stay. Where blank lines stand on both sides of what goes, those
// below go, too. A member that shares its lines, as in brackets, goes with
// its comma and the spaces to the next one. A mapping that loses all its members
// becomes {}.
//
// # How it is made sure
//
// Text is edited where the source map says that names stand, which is not enough
// to be right: a member that goes may hold an anchor that another one needs, or
// may itself come through an alias. So the result is read again, and is only
// right if its JSON is that of the document without these members. If it is not,
// [YAML] edits the tree of yaml.v3 instead and writes that, with its comments,
// but in the style of yaml.v3. This is checked in the same way, and so is what is
// added, for which there is no second way.
package edit

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// An Edit replaces the bytes of a text between two offsets.
type Edit struct {
	From, To int
	Text     string
}

// Apply returns text with the edits, which are in the order of the text and do
// not overlap.
func Apply(text []byte, edits []Edit) []byte {
	var out []byte
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(out, text[at:]...)
}

// errFailed is returned for a document that no way of editing does right.
var errFailed = errors.New("the members cannot be removed from the text; other parts of it depend on them")

// JSON returns the edits that remove members from a JSON document. names are the
// offsets at which their names start.
func JSON(text []byte, names []int) ([]Edit, error) {
	objects, want, err := without(text, names)
	if err != nil {
		return nil, err
	}
	e := newEditor(text, text, func(offset int) int { return offset })
	edits := e.remove(objects)
	if _, got, err := without(Apply(text, edits), nil); err != nil || !bytes.Equal(got, want) {
		return nil, errFailed
	}
	return edits, nil
}

// YAML returns the edits that remove members from the one YAML document in text.
// names are the offsets of their names in the JSON that [yamlbridge.AppendJSON]
// makes of it. rewritten says that the document had to be written anew.
func YAML(text []byte, names []int) (edits []Edit, rewritten bool, err error) {
	var r yamlbridge.Reader
	json, err := r.AppendJSON(nil, text)
	if err != nil {
		return nil, false, err
	}
	objects, want, err := without(json, names)
	if err != nil {
		return nil, false, err
	}
	isRight := func(text []byte) bool {
		got, err := yamlbridge.AppendJSON(nil, text)
		return err == nil && bytes.Equal(got, want)
	}
	e := newEditor(text, json, func(offset int) int {
		at := r.Position(offset)
		if at != r.Definition(offset) {
			return -1
		}
		return int(at.Offset)
	})
	if edits := e.remove(objects); isRight(Apply(text, edits)) {
		return edits, false, nil
	}
	if text, ok := rewrite(text, json, names); ok && isRight(text) {
		return []Edit{{0, len(e.text), string(text)}}, true, nil
	}
	return nil, false, errFailed
}

// An editor collects what is to be removed from a text.
type editor struct {
	text, json []byte
	// at leads from the offset of a name or value in json to that in text. It is
	// -1 for what was copied there, as by an alias.
	at    func(offset int) int
	lines lines
	gone  []bool // lines
	first []bool // gone lines with which a mapping starts
	edits []Edit // within lines
}

func newEditor(text, json []byte, at func(int) int) *editor {
	l := newLines(text)
	return &editor{text: text, json: json, at: at, lines: l, gone: make([]bool, l.count()), first: make([]bool, l.count())}
}

// remove returns the edits that remove the members from the objects, as far as
// the editor understands the text.
func (e *editor) remove(objects []object) []Edit {
	for _, o := range objects {
		at := e.at(o.at)
		if at < 0 {
			continue
		}
		if at = skipProperties(e.text, at); at < len(e.text) && e.text[at] == '{' {
			e.flow(at, o.members)
		} else {
			e.block(o.members)
		}
	}
	e.removeBlankLines()
	for i := 0; i < len(e.gone); i++ {
		if from := i; e.gone[i] {
			for i < len(e.gone) && e.gone[i] {
				i++
			}
			e.edits = append(e.edits, Edit{From: e.lines.start(from), To: e.lines.start(i)})
		}
	}
	slices.SortFunc(e.edits, func(a, b Edit) int { return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To)) })
	merged := e.edits[:0]
	for _, next := range e.edits {
		if n := len(merged); n > 0 && next.From < merged[n-1].To {
			last := &merged[n-1]
			last.To = max(last.To, next.To)
			last.Text += next.Text
			continue
		}
		merged = append(merged, next)
	}
	return merged
}

// removeLines marks the lines of a member as gone, with the comments directly
// above that are as deep. Lines before floor are no comments; first says that the
// mapping starts with the member.
func (e *editor) removeLines(from, to, indent, floor int, first bool) {
	for from > floor && e.isComment(from-1, indent) {
		from--
	}
	e.first[from] = first
	for i := from; i < to; i++ {
		e.gone[i] = true
	}
}

// isComment reports whether there is nothing but a comment on a line, so deep.
func (e *editor) isComment(line, indent int) bool {
	spaces, rest := e.lines.indent(line)
	return spaces == indent && len(rest) > 0 && rest[0] == '#'
}

// removeBlankLines removes blank lines around what goes: those below it, where a
// blank line or the start of a mapping is above; and where nothing is below it,
// those above.
func (e *editor) removeBlankLines() {
	blank := func(i int) bool {
		_, rest := e.lines.indent(i)
		return len(rest) == 0
	}
	from := -1 // where the lines start that are gone before this one
	for i := range e.gone {
		switch {
		case e.gone[i] && from < 0:
			from = i
		case from >= 0 && !e.gone[i]:
			if blank(i) && (from == 0 || e.first[from] || blank(from-1)) {
				e.gone[i] = true
				continue
			}
			from = -1
		}
	}
	if from < 0 {
		return
	}
	for i := from - 1; i >= 0 && blank(i); i-- {
		e.gone[i] = true
	}
}
