package laws

import (
	"bytes"
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"
	kjson "sigs.k8s.io/json"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
)

// withoutPositions returns what findings say apart from their positions, in an order of its own.
func withoutPositions(l errors.List) []string {
	texts := make([]string, len(l))
	for i := range l {
		f := &l[i]
		texts[i] = fmt.Sprintf("%s %q %d %s %s", f.Kind, f.Path.Pointer(), f.Count, f.Want, f.Got)
	}
	slices.Sort(texts)
	return texts
}

// checkPosition compares a position with one that is counted from the start.
func (c *checker) checkPosition(p errors.Position) {
	c.Helper()
	require.GreaterOrEqual(c, p.Offset, int64(0))
	require.LessOrEqual(c, p.Offset, int64(len(c.src)))
	before := string(c.src[:p.Offset])
	for _, end := range []string{"\r\n", "\r"} {
		if end == "\r" && strings.HasSuffix(before, end) && bytes.HasPrefix(c.src[p.Offset:], []byte("\n")) {
			break // within a line break
		}
		before = strings.ReplaceAll(before, end, strings.Repeat(" ", len(end)-1)+"\n")
	}
	lines := strings.Split(before, "\n")
	line := lines[len(lines)-1]
	want := errors.Position{
		Offset: p.Offset, Line: len(lines), Column: utf8.RuneCountInString(line) + 1, ByteColumn: len(line) + 1,
	}
	require.Equal(c, want, p, "position in %q", c.src)
}

// checkFindings asserts that each finding is about a name or value that starts at its position,
// that the duplicates are the right ones, and that the order is right.
func (c *checker) checkFindings(doc *value, found errors.List) {
	c.Helper()
	starts := thingsAt(doc, found)
	unknown := make(map[int64]bool)
	var repeated errors.List
	for i := range found {
		f := &found[i]
		c.checkPosition(f.Position)
		at := starts[int(f.Position.Offset)]
		require.NotNil(c, at, "%s: nothing starts there in %q", f.Detail(), c.src)
		require.Equal(c, at.path, f.Path, "%s: in %q", f.Detail(), c.src)
		switch f.Kind {
		case errors.UnknownField:
			require.True(c, at.isName && at.stays, "%s: in %q", f.Detail(), c.src)
			require.False(c, unknown[f.Position.Offset], "%s: twice", f.Detail())
			unknown[f.Position.Offset] = true
		case errors.DuplicateField:
			require.True(c, at.isName, "%s: in %q", f.Detail(), c.src)
			c.checkPosition(f.First)
			repeated = append(repeated, *f)
		case errors.TypeMismatch:
			require.False(c, at.isName, "%s: in %q", f.Detail(), c.src)
			require.Equal(c, at.value.typeName(), f.Got, "%s: in %q", f.Detail(), c.src)
		case errors.DroppedNull:
			require.True(c, !at.isName && at.stays && at.value.kind == 'n', "%s: in %q", f.Detail(), c.src)
		}
	}
	require.Equal(c, duplicatesOf(doc), summary(repeated), "duplicates in %q", c.src)
	c.checkOrder(found)
}

// A thing is a name or a value of a document.
type thing struct {
	path   errors.Path
	value  *value
	isName bool
	stays  bool // where the last of equal names wins
}

// thingsAt returns the things that start at the offsets of findings.
func thingsAt(doc *value, found errors.List) map[int]*thing {
	things := make(map[int]*thing)
	for i := range found {
		things[int(found[i].Position.Offset)] = nil
	}
	enter := func(at int, t thing) {
		if _, wanted := things[at]; wanted {
			things[at] = &t
		}
	}
	see := func(stays bool) func(p path, m *member, v *value) {
		return func(p path, m *member, v *value) {
			if m != nil {
				enter(m.nameAt, thing{p.path(), v, true, stays})
			}
			enter(v.at, thing{p.path(), v, false, stays})
		}
	}
	enter(doc.at, thing{value: doc, stays: true})
	doc.walkAll(see(false))
	doc.walk(see(true))
	return things
}

// typeName returns the word that findings have for the type of a value.
func (v *value) typeName() string {
	switch v.kind {
	case 'n':
		return "null"
	case 't', 'f':
		return "boolean"
	case '"':
		return "string"
	case '{':
		return "object"
	case '[':
		return "array"
	}
	return "number"
}

// A duplicate is what a finding says about a name that repeats.
type duplicate struct {
	path      errors.Path
	at, first int
	count     int
}

func summary(found errors.List) []duplicate {
	var all []duplicate
	for _, f := range found {
		all = append(all, duplicate{f.Path, int(f.Position.Offset), int(f.First.Offset), f.Count})
	}
	return all
}

// duplicatesOf returns the names that repeat, in the order of their first repetitions. Names of one
// path, in objects that are repeated themselves, are one duplicate.
func duplicatesOf(doc *value) []duplicate {
	var all []duplicate
	look := func(p path, v *value) {
		seen := make(map[string]int) // an index in all, or the complement of an offset
		for _, m := range v.members {
			at, ok := seen[m.name]
			switch {
			case !ok:
				seen[m.name] = ^m.nameAt
			case at < 0:
				seen[m.name] = len(all)
				all = append(all, duplicate{append(p, step{name: []byte(m.name)}).path(), m.nameAt, ^at, 1})
			default:
				all[at].count++
			}
		}
	}
	look(nil, doc)
	doc.walkAll(func(p path, _ *member, v *value) { look(p, v) })
	slices.SortFunc(all, func(a, b duplicate) int { return cmp.Compare(a.at, b.at) })
	var merged []duplicate
	for _, d := range all {
		if i := slices.IndexFunc(merged, func(m duplicate) bool { return m.path == d.path }); i >= 0 {
			merged[i].count += d.count
		} else {
			merged = append(merged, d)
		}
	}
	return merged
}

// The groups in which findings are reported.
const (
	duplicates = iota // in the order of the document
	rootMetadata
	pruned // also within the metadata of embedded resources
	others // in the order of the document
)

// checkOrder asserts that findings are in the documented groups, and sorted within each. Only the
// schema says which unknown fields below a name metadata are those of a resource, so the order of
// these is not checked.
func (c *checker) checkOrder(found errors.List) {
	c.Helper()
	group := func(f *errors.Finding) int {
		first, depth := "", 0
		for s := range f.Path.Segments() {
			if depth++; depth == 1 {
				first = s.Name
			}
		}
		switch {
		case f.Kind == errors.DuplicateField:
			return duplicates
		case f.Kind != errors.UnknownField:
			return others
		case c.resource && first == "metadata" && depth > 1:
			return rootMetadata
		}
		return pruned
	}
	var last string // the path of the last pruned field, as the server spells it
	for i := range found {
		b, in := &found[i], group(&found[i])
		if in == pruned {
			if text, mayBeEmbedded := spell(b.Path); !mayBeEmbedded {
				require.LessOrEqual(c, last, text, "%s", b.Detail())
				last = text
			}
		}
		if i == 0 {
			continue
		}
		a := &found[i-1]
		require.LessOrEqual(c, group(a), in, "%s before %s", a.Detail(), b.Detail())
		switch {
		case group(a) < in:
		case in == rootMetadata:
			require.LessOrEqual(c, a.Path.Compare(b.Path), 0, "%s before %s", a.Detail(), b.Detail())
		case in != pruned:
			require.Less(c, a.Position.Offset, b.Position.Offset, "%s before %s", a.Detail(), b.Detail())
		}
	}
}

// spell spells the path of a pruned field as the server does.
func spell(p errors.Path) (text string, hasMetadata bool) {
	first := true
	for s := range p.Segments() {
		switch {
		case !s.IsName:
			text += string(fieldpath.AppendStep(nil, fieldpath.Segment(s), first, false))
		case first:
			text = s.Name
		default:
			text += "." + s.Name
		}
		first = false
		hasMetadata = hasMetadata || s.Name == "metadata"
	}
	return text, hasMetadata
}

// checkRest asserts that the result is the document without the unknown fields and dropped nulls
// that were found: see becomes.
func (c *checker) checkRest(doc *value, found errors.List, out string) {
	c.Helper()
	gone := make(map[int]bool)
	for _, f := range only(found, errors.UnknownField, errors.DroppedNull) {
		gone[int(f.Position.Offset)] = true
	}
	if why := c.becomes(doc, read(c, []byte(out)), gone); why != "" {
		require.Fail(c, "the result is not the document without what was found", "%s\n%q\n%s", why, c.src, out)
	}
}

// becomes returns why b is not the rest of a, or "". Nulls may become defaults. Members that a does
// not have are defaults, after the rest and in the order of their names. Unless the reading is
// hardened, values are normalised.
func (c *checker) becomes(a, b *value, gone map[int]bool) string {
	switch {
	case a.kind == 'n':
		return ""
	case a.kind != b.kind:
		return fmt.Sprintf("%s at %d became %s", a.kind, a.at, b.kind)
	case a.kind == '[' && len(a.elements) != len(b.elements):
		return fmt.Sprintf("the array at %d has %d elements", a.at, len(b.elements))
	case a.kind == '{':
		return c.objectBecomes(a, b, gone)
	case c.reading == Hardened && !bytes.Equal(a.text, b.text),
		a.kind == '"' && unquote(a.text) != unquote(b.text),
		a.kind == '0' && !sameNumber(a.text, b.text):
		return fmt.Sprintf("%s at %d became %s", a.text, a.at, b.text)
	}
	for i := range a.elements {
		if why := c.becomes(a.elements[i], b.elements[i], gone); why != "" {
			return why
		}
	}
	return ""
}

func (c *checker) objectBecomes(a, b *value, gone map[int]bool) string {
	rest := b.members
	removed := make(map[string]bool)
	for _, m := range a.members {
		switch {
		case m.loses:
			continue
		case gone[m.nameAt] || gone[m.at]:
			removed[m.name] = true
			continue
		case c.reading == FromStorage && (m.name == "kind" || m.name == "apiVersion") && m.kind != '"' &&
			(len(rest) == 0 || rest[0].name != m.name || m.kind != 'n' && m.kind != rest[0].kind):
			continue // a value of another type may be dropped silently
		case len(rest) == 0 || rest[0].name != m.name || c.reading == Hardened && !bytes.Equal(rest[0].quoted, m.quoted):
			return fmt.Sprintf("the member %s at %d is gone without a finding", m.quoted, m.nameAt)
		case c.reading == Hardened || m.name != "metadata":
			if why := c.becomes(m.value, rest[0].value, gone); why != "" {
				return why
			}
		}
		rest = rest[1:]
	}
	for i, m := range rest {
		if removed[m.name] {
			return fmt.Sprintf("%s of the object at %d was found to be gone", m.quoted, a.at)
		}
		if i > 0 && rest[i-1].name >= m.name {
			return fmt.Sprintf("%s of the object at %d was added after %s", m.quoted, a.at, rest[i-1].quoted)
		}
	}
	return ""
}

// sameNumber reports whether two literals are the same number to sigs.k8s.io/json.
func sameNumber(a, b []byte) bool {
	var x, y any
	errA := kjson.UnmarshalCaseSensitivePreserveInts(a, &x)
	errB := kjson.UnmarshalCaseSensitivePreserveInts(b, &y)
	if f, ok := x.(float64); ok { // it may be written as an integer
		if n, ok := y.(int64); ok {
			return f == float64(n)
		}
	}
	return errA == nil && errB == nil && reflect.DeepEqual(x, y)
}

// firstOf returns a value as a reader sees it for whom the first of equal names wins.
func firstOf(t testing.TB, v *value) any {
	switch v.kind {
	case '{':
		object := make(map[string]any)
		for _, m := range v.members {
			if _, ok := object[m.name]; !ok {
				object[m.name] = firstOf(t, m.value)
			}
		}
		return object
	case '[':
		list := make([]any, len(v.elements))
		for i, e := range v.elements {
			list[i] = firstOf(t, e)
		}
		return list
	}
	var scalar any
	require.NoError(t, kjson.UnmarshalCaseSensitivePreserveInts(v.text, &scalar))
	return scalar
}
