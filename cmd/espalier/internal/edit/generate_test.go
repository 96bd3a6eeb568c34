package edit

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/yamlbridge"
)

// A writer writes a document twice: whole, and as it must be without the members
// whose names start with x.
type writer struct {
	*rand.Rand
	names int
}

// A both is lines of text in the two forms.
type both struct{ whole, kept []string }

func (b *both) add(more both, gone bool) {
	b.whole = append(b.whole, more.whole...)
	if !gone {
		b.kept = append(b.kept, more.kept...)
	}
}

func same(lines ...string) both { return both{lines, lines} }

func (w *writer) one(of ...string) string { return of[w.IntN(len(of))] }

func (w *writer) chance(percent int) bool { return w.IntN(100) < percent }

func (w *writer) name() (name string, gone bool) {
	w.names++
	if w.chance(35) {
		return fmt.Sprintf(w.one("x%d", "\"x%d\"", "'x%d'"), w.names), true
	}
	return fmt.Sprintf(w.one("k%d", "\"k: %d\"", "'k # %d'", "kä%d"), w.names), false
}

// block returns the members of a mapping in block style at an indentation, and
// whether none is kept.
func (w *writer) block(indent string, depth int, behindDash bool) (b both, empty bool) {
	empty = true
	n := 1 + w.IntN(4)
	for i := range n {
		name, gone := w.name()
		m := both{}
		if i > 0 || !behindDash {
			if w.chance(15) {
				b.add(same("", indent+"# alone", ""), false)
			}
			if w.chance(20) {
				m.add(same(indent+"# above", indent+"#above"), false)
			}
		}
		m.add(w.member(indent, name, depth), false)
		if w.chance(10) {
			m.add(same(indent+" # below"), false)
		}
		b.add(m, gone)
		empty = empty && gone
	}
	if w.chance(10) {
		b.add(same(indent+"# at the end"), false)
	}
	return b, empty
}

func (w *writer) comment() string { return w.one("", "", "", " # behind", "\t# it's") }

// member returns a member of a mapping in block style.
func (w *writer) member(indent, name string, depth int) both {
	if depth > 0 {
		switch w.IntN(5) {
		case 0, 1:
			below, empty := w.block(indent+w.one(" ", "  ", "    "), depth-1, false)
			comment := w.comment()
			b := both{[]string{indent + name + ":" + comment}, []string{indent + name + ":" + comment}}
			if empty {
				b.kept = []string{indent + name + ": {}" + comment}
			}
			b.add(below, false)
			return b
		case 2:
			b := same(indent + name + ":" + w.comment())
			b.add(w.sequence(indent+w.one("", "  "), depth-1), false)
			return b
		}
	}
	return w.scalar(indent, name+":", depth)
}

func (w *writer) sequence(indent string, depth int) (b both) {
	for range 1 + w.IntN(3) {
		if w.chance(15) {
			b.add(same(indent+"# an element"), false)
		}
		if depth == 0 || w.chance(30) {
			b.add(w.scalar(indent, "-", depth), false)
			continue
		}
		spaces := w.one(" ", "  ")
		inner := indent + " " + spaces
		below, empty := w.block(inner, depth-1, true)
		dash := indent + "-" + spaces
		below.whole[0] = dash + below.whole[0][len(inner):]
		switch {
		case empty:
			below.kept = append([]string{dash + "{}"}, below.kept...)
		default:
			for below.kept[0] == "" {
				below.kept = below.kept[1:]
			}
			below.kept[0] = dash + below.kept[0][len(inner):]
		}
		b.add(below, false)
	}
	return b
}

// scalar returns a value that is not a collection in block style, as it follows a key or a
// dash.
func (w *writer) scalar(indent, before string, depth int) both {
	comment := w.comment()
	if before == "-" {
		// A tab is not allowed after a dash, nor after the token that follows it.
		comment = strings.ReplaceAll(comment, "\t", " ")
	}
	first := indent + before
	line := func(text string) string { return first + text }
	if depth > 0 && w.chance(40) {
		return w.flow(indent, before, depth)
	}
	if before == "-" {
		// Lines of a text are indented deeper than the dash; that is enough.
		indent += " "
	}
	switch w.IntN(10) {
	case 0:
		return same(line(comment))
	case 1:
		return same(line(" |"+w.one("", "-")+comment), indent+"  # no comment", "", indent+"  x: {")
	case 2:
		return same(line(" >"+comment), indent+" - a", indent+" - b")
	case 3:
		return same(line(" \"a\\\""), "# no comment", indent+"# nor this", "x: 'b\""+comment)
	case 4:
		return same(line(" 'it''s"), "x: \"", "'"+comment)
	case 5:
		return same(line(" plain"), indent+" text:no # not")
	case 6:
		return same(line(" [a, 'b]', \"c}\",")+"", "# a comment", "]"+comment)
	case 7:
		return same(line(" !!str  &a" + fmt.Sprint(w.names) + " v" + comment))
	default:
		return same(line(" " + w.one("v", "'v'", "\"v\"", "1", "null", "{}", "[]", "http://v#v") + comment))
	}
}

// flow returns a mapping in flow style, on one line or with one for each member.
func (w *writer) flow(indent, before string, depth int) both {
	type m struct {
		name string
		gone bool
		text string
		kept string
	}
	var members []m
	kept := 0
	for range 1 + w.IntN(4) {
		name, gone := w.name()
		value := w.one("v", "'{v'", "\"v,\\\"}\"", "[v, {w: 1}]", "{}", "it's", "a#b", "a \"b")
		v := m{name, gone, name + ": " + value, name + ": " + value}
		if depth > 1 && w.chance(20) {
			inner := w.inline(depth - 2)
			v.text, v.kept = name+": "+inner.whole[0], name+": "+inner.kept[0]
		}
		members = append(members, v)
		if !gone {
			kept++
		}
	}
	comment := w.comment()
	open, end := indent+before+" {", "}"
	if kept == 0 {
		if !w.chance(50) {
			var text []string
			for _, v := range members {
				text = append(text, v.text)
			}
			return both{[]string{open + strings.Join(text, ", ") + end + comment}, []string{open + end + comment}}
		}
		b := both{[]string{open}, []string{open + end + comment}}
		for _, v := range members {
			b.whole = append(b.whole, indent+"# above", indent+v.text+",")
		}
		b.whole = append(b.whole, end+comment)
		return b
	}
	comma := w.one("", ",")
	b := same(open)
	var last int
	for i, v := range members {
		separator := ","
		if i == len(members)-1 {
			separator = comma
		}
		behind := w.comment()
		lines := both{[]string{indent + v.text + separator + behind}, []string{indent + v.kept + "," + behind}}
		if w.chance(20) {
			b.add(same("", indent+"# alone", ""), false)
		}
		if w.chance(20) {
			b.add(same(indent+"# above"), v.gone)
		}
		b.add(lines, v.gone)
		if !v.gone {
			last = len(b.kept) - 1
		}
	}
	if comma == "" {
		i := strings.LastIndex(b.kept[last], ",")
		for _, c := range []string{" # behind", "\t# it's"} {
			if strings.HasSuffix(b.kept[last], ","+c) {
				i = len(b.kept[last]) - len(c) - 1
			}
		}
		b.kept[last] = b.kept[last][:i] + b.kept[last][i+1:]
	}
	b.add(same(end+comment), false)
	return b
}

// inline returns a mapping in flow style on one line.
func (w *writer) inline(depth int) both {
	var whole, kept []string
	for range 1 + w.IntN(4) {
		name, gone := w.name()
		value := same(w.one("v", "1", "[a, b]"))
		if depth > 0 && w.chance(30) {
			value = w.inline(depth - 1)
		}
		whole = append(whole, name+": "+value.whole[0])
		if !gone {
			kept = append(kept, name+": "+value.kept[0])
		}
	}
	return both{[]string{"{" + strings.Join(whole, ", ") + "}"}, []string{"{" + strings.Join(kept, ", ") + "}"}}
}

// withoutBlankLines makes texts comparable: the rule for blank lines has tests of
// its own.
func withoutBlankLines(text []byte, lineBreak string) []byte {
	var kept [][]byte
	for line := range bytes.SplitSeq(text, []byte(lineBreak)) {
		if len(line) > 0 {
			kept = append(kept, line)
		}
	}
	return bytes.Join(kept, []byte(lineBreak))
}

// TestGenerated edits documents of which it is known what must be left, line by
// line.
func TestGenerated(t *testing.T) {
	for seed := range uint64(2_000) {
		w := writer{Rand: rand.New(rand.NewPCG(seed, 0))}
		b, empty := w.block("", 4, false)
		if empty {
			continue
		}
		lineBreak := w.one("\n", "\n", "\r\n", "\r")
		text := []byte(strings.Join(b.whole, lineBreak))
		if w.chance(80) {
			text = append(text, lineBreak...)
		}
		js, err := yamlbridge.AppendJSON(nil, text)
		require.NoError(t, err, "seed %d:\n%q", seed, text)
		edits, kept, err := YAML(text, xNames(js))
		require.NoError(t, err, "seed %d:\n%q", seed, text)
		require.Empty(t, kept, "seed %d:\n%q", seed, text)
		got := Apply(text, edits)
		want := []byte(strings.Join(b.kept, lineBreak))
		require.Equal(t, string(withoutBlankLines(want, lineBreak)), string(withoutBlankLines(got, lineBreak)), "seed %d:\n%q", seed, text)
	}
}
