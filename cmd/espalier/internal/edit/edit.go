// Package edit removes members from the text of YAML and JSON documents, or adds
// some, and leaves the rest as it is, byte for byte. It works on texts and touches
// no file.
//
// # What is removed with a member
//
// A member that has its lines to itself is removed with all of them. So are the
// comments
//
//   - after it, on its lines,
//   - below it, if they are indented deeper than its name,
//   - directly above it: indented like its name, with no blank line between, as Go
//     takes comments for documentation.
//
// Other comments are kept. So are comments that are template code or directives
// for a program; their offsets are returned if they were beside a removed member.
// If blank lines are on both sides of a member, those below are removed with it. A
// member that shares its lines, as in brackets, is removed with its comma and the
// spaces up to the next member. A mapping that loses all its members becomes {}.
//
// # How an edit is checked
//
// Edits are made where the source map has the names. That is not enough to be
// right: a member to be removed may hold an anchor that another member needs, or
// may come through an alias itself. So the result is read again. It is right if
// its JSON is that of the document without the members, if readers of YAML 1.2
// read it where they read the document, and if no template code and no directive
// was lost. Otherwise the text is not edited, and the error says why; nothing is
// ever written in another style. The same holds for members that are added.
package edit

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	espalier "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An Edit replaces the bytes of a text between two offsets.
type Edit struct {
	From, To int
	Text     string
}

// Apply returns text with the edits, which are in the order of the text and do not overlap.
func Apply(text []byte, edits []Edit) []byte {
	length := len(text)
	for _, e := range edits {
		length += len(e.Text) - (e.To - e.From)
	}
	out := make([]byte, 0, length)
	at := 0
	for _, e := range edits {
		out = append(append(out, text[at:e.From]...), e.Text...)
		at = e.To
	}
	return append(out, text[at:]...)
}

// errOthers is for a text in which it is not clear what to remove.
var errOthers = errors.New("its text cannot be edited: removing the fields from their lines would change something else; remove them by hand")

// errComment is for a text in which a comment is in the way that must be kept.
var errComment = errors.New("its text cannot be edited: a comment that is template code or a directive is on the lines to be removed; move it to a line of its own")

// JSON returns the edits that remove members from a JSON document. names are the offsets of
// their names.
func JSON(text []byte, names []int) ([]Edit, error) {
	objects, want, err := without(text, names)
	if err != nil {
		return nil, err
	}
	e := newEditor(text, text, func(offset int) int { return offset })
	edits := e.remove(objects)
	if _, got, err := without(Apply(text, edits), nil); err != nil || !bytes.Equal(got, want) {
		return nil, errOthers
	}
	return edits, nil
}

// YAML returns the edits that remove members from the one YAML document in text. names are the
// offsets of their names in the JSON that [yamlbridge.AppendJSON] makes of the text. kept are
// the offsets in text of comments that are kept although they were beside a removed member.
func YAML(text []byte, names []int) (edits []Edit, kept []int, err error) {
	var r yamlbridge.Reader
	json, err := r.AppendJSON(nil, text)
	if err != nil {
		return nil, nil, err
	}
	objects, want, err := without(json, names)
	if err != nil {
		return nil, nil, err
	}
	e := newEditor(text, json, inText(&r))
	e.keepComments()
	edits = e.remove(objects)
	if err := e.check(edits, want); err != nil {
		if copied := copies(&r, objects); copied != nil {
			err = copied
		}
		return nil, nil, err
	}
	return edits, e.kept, nil
}

// inText returns the function that turns offsets in the JSON of a reader into those in its
// text.
func inText(r *yamlbridge.Reader) func(offset int) int {
	return func(offset int) int {
		at := r.Position(offset)
		if at != r.Definition(offset) {
			return -1
		}
		return int(at.Offset)
	}
}

// check reads the edited text again.
func (e *editor) check(edits []Edit, want []byte) error {
	text := Apply(e.text, edits)
	var r yamlbridge.Reader
	got, err := r.AppendJSON(nil, text)
	if err != nil {
		reason := err.Error()
		if syntax := (*espalier.SyntaxError)(nil); errors.As(err, &syntax) {
			reason = syntax.Msg // its position is in a text that nobody sees
		}
		return fmt.Errorf("its text cannot be edited: without the fields it could not be read any more, %s; remove them by hand", reason)
	}
	if !bytes.Equal(got, want) {
		return errOthers
	}
	if len(e.code) > 0 {
		if after := newEditor(text, got, inText(&r)).codeTexts(); !slices.Equal(after, e.codeTexts()) {
			return errComment
		}
	}
	if !e.isStrict(edits) {
		return errOthers
	}
	return nil
}

// isStrict reports whether readers of YAML 1.2 can read the edited text, if they can read the
// original one. libyaml is not as strict: YAML 1.2 requires white space before a comment
// (section 6.6). And no line may start with a comma that did not before, because some readers
// refuse that.
func (e *editor) isStrict(edits []Edit) bool {
	for _, edit := range edits {
		if edit.To == len(e.text) || e.text[edit.To] != '#' && e.text[edit.To] != ',' {
			continue
		}
		before := append(bytes.Clone(e.text[bytes.LastIndexAny(e.text[:edit.From], "\r\n")+1:edit.From]), edit.Text...)
		switch {
		case e.text[edit.To] == ',' && isBlank(before):
			return false
		case e.text[edit.To] == '#' && len(before) > 0 && !isSpace(before[len(before)-1]):
			return false
		}
	}
	return isCore(Apply(e.text, edits)) || !isCore(e.text)
}

// isCore reports whether a text is YAML 1.2 with the core schema.
func isCore(text []byte) bool {
	r := yamlbridge.Reader{Dialect: yamlbridge.Core}
	_, err := r.AppendJSON(nil, text)
	return err == nil
}

// copies returns an error if one of the members is written elsewhere and other places use it as
// well, or nil.
func copies(r *yamlbridge.Reader, objects []object) error {
	for _, o := range objects {
		for _, m := range o.members {
			if at, from := r.Position(m.name), r.Definition(m.name); m.gone && at != from {
				return fmt.Errorf("its text cannot be edited: a field to be removed comes to line %d from line %d of the document, through an alias or a merge key, "+
					"and other places use it, too; replace the alias or the merge key by the fields that are to be kept", at.Line, from.Line)
			}
		}
	}
	return nil
}

// An editor collects the removals from a text.
type editor struct {
	text, json []byte
	// at turns the offset of a name or value in json into that in text. It is -1 for values
	// that were copied, as by an alias.
	at    func(offset int) int
	lines lines
	gone  []bool // lines to be removed
	keep  []bool // lines that hold only a comment to be kept
	code  []comment
	kept  []int // offsets of comments, as YAML returns them
	// spared are lines that are kept only because of the comment on them.
	spared []bool
	first  []bool // removed lines with which a mapping starts
	edits  []Edit // within lines
}

func newEditor(text, json []byte, at func(int) int) *editor {
	l := newLines(text)
	n := l.count()
	return &editor{text: text, json: json, at: at, lines: l, gone: make([]bool, n), first: make([]bool, n), keep: make([]bool, n), spared: make([]bool, n)}
}

// remove returns the edits that remove the members from the objects, as far as the editor
// understands the text.
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
	e.kept = e.rescue()
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

// removeLines marks the lines of a member as removed, with the comments directly above that
// have its indentation. Lines before floor are not comments. first means that the mapping
// starts with the member and has others.
func (e *editor) removeLines(from, to, indent, floor int, first bool) {
	for from > floor && e.isComment(from-1, indent) {
		from--
	}
	e.first[from] = first
	e.removeAll(from, to, indent)
}

// removeAll marks the lines from from to before to as removed. Comments to be kept must not be
// indented deeper than the text beside them was: they could become text of a block scalar
// above.
func (e *editor) removeAll(from, to, indent int) {
	for i := from; i < to; i++ {
		e.gone[i], e.spared[i] = !e.keep[i], e.keep[i]
		if spaces, _ := e.lines.indent(i); e.keep[i] && spaces > indent {
			e.edits = append(e.edits, Edit{From: e.lines.start(i), To: e.lines.start(i) + spaces - indent})
		}
	}
}

// isComment reports whether a line holds only a comment with the given indentation.
func (e *editor) isComment(line, indent int) bool {
	spaces, rest := e.lines.indent(line)
	return spaces == indent && len(rest) > 0 && rest[0] == '#'
}

// removeBlankLines removes blank lines around removed lines: those below, if a blank line or
// the start of a mapping is above; and if nothing is below, those above.
func (e *editor) removeBlankLines() {
	blank := func(i int) bool {
		_, rest := e.lines.indent(i)
		return len(rest) == 0
	}
	from := -1 // the first of the removed lines before this one
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
