package edit

// This file adds members after the last one of an object, and puts values in place of nulls. As
// with removals, an edit counts only after the text was read again.

import (
	"bytes"
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/espalier-dev/espalier/internal/jsonv2"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// An Insertion is a member that is added to an object after its last one, or a value that takes
// the place of a null.
type Insertion struct {
	At    int    // offset in the JSON: of the object, or of the null
	Name  string // of the member; not used for a null
	Value []byte // in JSON
	// Lines is the member in YAML as in a mapping without indentation, with a line feed at its
	// end. It is not used for JSON, or for a null.
	Lines string
}

// errNotInserted is for a document to which nothing can be added.
var errNotInserted = errors.New("the defaults cannot be inserted, because other parts of the text depend on their places, as with anchors and aliases; write them by hand")

// InsertJSON returns the edits that make insertions into a JSON document.
func InsertJSON(text []byte, insertions []Insertion) ([]Edit, error) {
	return insert(text, text, insertions, false, func(offset int) int { return offset }, func(text []byte) ([]byte, error) {
		v := jsonv2.Value(slices.Clone(text))
		return v, v.Compact(jsonv2.AllowDuplicateNames(true), jsonv2.AllowInvalidUTF8(true))
	})
}

// InsertYAML returns the edits that make insertions into the one YAML document in text.
// Offsets are those in the JSON that [yamlbridge.AppendJSON] makes of it.
func InsertYAML(text []byte, insertions []Insertion) ([]Edit, error) {
	var r yamlbridge.Reader
	json, err := r.AppendJSON(nil, text)
	if err != nil {
		return nil, err
	}
	for i := range insertions {
		// Numbers are compared after YAML has read them.
		if insertions[i].Value, err = yamlbridge.AppendJSON(nil, insertions[i].Value); err != nil {
			return nil, err
		}
	}
	return insert(text, json, insertions, true, inText(&r), func(text []byte) ([]byte, error) { return yamlbridge.AppendJSON(nil, text) })
}

func insert(text, json []byte, insertions []Insertion, isYAML bool, at func(int) int, read func([]byte) ([]byte, error)) ([]Edit, error) {
	root, err := parseTree(json)
	if err != nil {
		return nil, err
	}
	e := newEditor(text, json, at)
	byPlace := map[int][]Insertion{}
	for _, n := range insertions {
		byPlace[n.At] = append(byPlace[n.At], n)
	}
	if !e.insertInto(root, byPlace, isYAML) {
		return nil, errNotInserted
	}
	// Of objects that end at the same place, the inner ones come first, as they were found.
	slices.SortStableFunc(e.edits, func(a, b Edit) int { return cmp.Compare(a.From, b.From) })
	want := compactTree(nil, json, root, byPlace)
	if got, err := read(Apply(text, e.edits)); err != nil || !bytes.Equal(got, want) {
		return nil, errNotInserted
	}
	if isYAML && !e.isStrict(e.edits) {
		return nil, errNotInserted
	}
	return e.edits, nil
}

// A tree is a value of a JSON text, with the values in it.
type tree struct {
	from, to int
	names    []int   // offsets of the names of members
	values   []*tree // members or elements
}

// parseTree reads a JSON text. Decoding has limited its depth.
func parseTree(json []byte) (*tree, error) {
	return readTree(newDecoder(json), json)
}

func readTree(d *jsonv2.Decoder, json []byte) (*tree, error) {
	kind := d.PeekKind()
	t := &tree{from: tokenStart(json, int(d.InputOffset()))}
	if _, err := d.ReadToken(); err != nil {
		return nil, err
	}
	if kind == '{' || kind == '[' {
		for next := d.PeekKind(); next != '}' && next != ']'; next = d.PeekKind() {
			if kind == '{' {
				t.names = append(t.names, tokenStart(json, int(d.InputOffset())))
				if _, err := d.ReadToken(); err != nil {
					return nil, err
				}
			}
			value, err := readTree(d, json)
			if err != nil {
				return nil, err
			}
			t.values = append(t.values, value)
		}
		if _, err := d.ReadToken(); err != nil {
			return nil, err
		}
	}
	t.to = int(d.InputOffset())
	return t, nil
}

// compactTree appends the JSON text with the insertions, without white space.
func compactTree(dst, json []byte, t *tree, insertions map[int][]Insertion) []byte {
	here := insertions[t.from]
	switch json[t.from] {
	case '{':
		dst = append(dst, '{')
		for i, value := range t.values {
			name := jsonv2.Value(json[t.names[i]:])
			d := newDecoder(name)
			_, _ = d.ReadToken()
			dst = append(append(dst, name[:d.InputOffset()]...), ':')
			dst = append(compactTree(dst, json, value, insertions), ',')
		}
		for _, n := range here {
			dst, _ = jsonv2.AppendQuote(dst, n.Name)
			dst = append(append(append(dst, ':'), n.Value...), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), '}')
	case '[':
		dst = append(dst, '[')
		for _, value := range t.values {
			dst = append(compactTree(dst, json, value, insertions), ',')
		}
		return append(bytes.TrimSuffix(dst, []byte(",")), ']')
	}
	if len(here) > 0 {
		return append(dst, here[0].Value...)
	}
	return append(dst, json[t.from:t.to]...)
}

// insertInto adds the edits for a value and the values in it. It is not ok if the text is not
// as expected.
func (e *editor) insertInto(t *tree, insertions map[int][]Insertion, isYAML bool) (ok bool) {
	for _, value := range t.values {
		if !e.insertInto(value, insertions, isYAML) {
			return false
		}
	}
	here := insertions[t.from]
	if len(here) == 0 {
		return true
	}
	at := e.at(t.from)
	if at < 0 {
		return false
	}
	at = skipProperties(e.text, at)
	switch {
	case e.json[t.from] == 'n':
		return e.replaceNull(at, here[0].Value)
	case at < len(e.text) && e.text[at] == '{':
		return e.insertFlow(at, here)
	case isYAML && len(t.values) > 0:
		return e.insertBlock(t, here)
	}
	return false
}

// replaceNull puts a value in place of a null, which may be written as nothing at all.
func (e *editor) replaceNull(at int, value []byte) bool {
	for _, null := range []string{"null", "Null", "NULL", "~"} {
		if bytes.HasPrefix(e.text[at:], []byte(null)) {
			e.edits = append(e.edits, Edit{at, at + len(null), string(value)})
			return true
		}
	}
	if at > 0 && !isSpace(e.text[at-1]) {
		value = append([]byte(" "), value...)
	}
	e.edits = append(e.edits, Edit{at, at, string(value)})
	return true
}

// insertFlow adds members to a mapping in brackets, each on a line of its own if the last
// member has one.
func (e *editor) insertFlow(at int, insertions []Insertion) bool {
	spans, closing := flowMembers(e.text, at)
	if closing == len(e.text) {
		return false
	}
	from, before, between := at+1, "", ", "
	if n := len(spans); n > 0 {
		last := spans[n-1]
		from, before = last.end, ", "
		line := e.lines.of(last.start)
		if indent := e.text[e.lines.start(line):last.start]; isBlank(indent) {
			between = "," + e.lineBreak() + string(indent)
			before = between
		}
		if last.comma >= 0 {
			from, before = last.comma+1, strings.TrimPrefix(before, ",")
		}
	}
	var b strings.Builder
	for i, n := range insertions {
		if b.WriteString(before); i > 0 {
			b.WriteString(between)
		}
		before = ""
		name, _ := jsonv2.AppendQuote(nil, n.Name)
		b.WriteString(string(name) + ": " + string(n.Value))
	}
	e.edits = append(e.edits, Edit{from, from, b.String()})
	return true
}

// insertBlock adds members after the last line of a mapping in block style, with the
// indentation of its keys.
func (e *editor) insertBlock(t *tree, insertions []Insertion) bool {
	n := len(t.names) - 1
	at := e.at(t.names[n])
	if at < 0 {
		return false
	}
	line := e.lines.of(at)
	indent := at - e.lines.start(line)
	last := e.lastLine(member{name: t.names[n], value: t.values[n].from, end: t.values[n].to}, at, indent)
	// A comment below the last member with a deeper indentation stays there.
	to := e.lines.end(last)
	var b strings.Builder
	for _, n := range insertions {
		for text := range strings.SplitSeq(strings.TrimSuffix(n.Lines, "\n"), "\n") {
			b.WriteString(e.lineBreak())
			if text != "" {
				b.WriteString(strings.Repeat(" ", indent) + text)
			}
		}
	}
	e.edits = append(e.edits, Edit{to, to, b.String()})
	return true
}

// lineBreak returns the break of the first line of the text.
func (e *editor) lineBreak() string {
	i := bytes.IndexAny(e.text, "\r\n")
	switch {
	case i >= 0 && bytes.HasPrefix(e.text[i:], []byte("\r\n")):
		return "\r\n"
	case i >= 0 && e.text[i] == '\r':
		return "\r"
	}
	return "\n"
}
