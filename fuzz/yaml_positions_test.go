package fuzz

import (
	"bytes"
	"fmt"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/stretchr/testify/require"

	"github.com/espalier-dev/espalier/errors"
)

// positionsIn is the slow, obvious reference: the position of each offset of the text, counted from
// its start.
func positionsIn(src []byte) []errors.Position {
	list := make([]errors.Position, len(src)+1)
	p := errors.Position{Line: 1, Column: 1, ByteColumn: 1}
	for i := 0; i < len(src); {
		list[i] = p
		r, size := utf8.DecodeRune(src[i:])
		switch {
		case r == '\n' || r == '\r' && !bytes.HasPrefix(src[i:], []byte("\r\n")):
			p.Line, p.Column, p.ByteColumn = p.Line+1, 1, 1
		case i == 0 && r == '\uFEFF': // a byte order mark is no character of the line
			p.ByteColumn += size
		default:
			p.Column, p.ByteColumn = p.Column+1, p.ByteColumn+size
		}
		i += size
		p.Offset = int64(i)
	}
	list[len(src)] = p
	return list
}

// A positionCheck compares the positions of a reading with those known from how the document was
// made.
type positionCheck struct {
	places  []errors.Position
	reading yamlReading
	dec     *jsontext.Decoder
	checked int
	// what describes the first fault, in general and in particular.
	what, detail string
}

func checkPositions(src []byte, root *YAMLNode, r yamlReading, coreNames bool) (checked int, what, detail string) {
	c := positionCheck{places: positionsIn(src), reading: r, dec: jsontext.NewDecoder(bytes.NewReader(r.json), jsontext.AllowDuplicateNames(true))}
	c.value(root, coreNames)
	return c.checked, c.what, c.detail
}

// start returns the offset of the next token.
func (c *positionCheck) start() int {
	off := int(c.dec.InputOffset())
	for c.reading.json[off] == ',' || c.reading.json[off] == ':' {
		off++
	}
	return off
}

// place checks the next token.
func (c *positionCheck) place(what, text string, at, written YAMLPlace) {
	off := c.start()
	c.checked++
	if at.To > at.From {
		what = "an empty " + what
	} else if at != written {
		what += " through an alias"
	}
	c.compare("position of "+what, text, off, c.reading.position, at)
	c.compare("definition of "+what, text, off, c.reading.definition, written)
}

func (c *positionCheck) compare(what, text string, off int, position func(int) errors.Position, want YAMLPlace) {
	got := position(off)
	for at := want.From; at <= want.To; at++ {
		if got == c.places[at] {
			return
		}
	}
	detail := fmt.Sprintf("%.40s at %d of %s\nwe:   %+v\nwant: %+v", text, off, c.reading.json, got, c.places[want.From])
	if want.To > want.From {
		detail += fmt.Sprintf(" to %+v", c.places[want.To])
	}
	c.fail(what, detail)
}

func (c *positionCheck) fail(what, detail string) {
	if c.what == "" {
		c.what, c.detail = what, detail
	}
}

// value checks a value and everything in it.
func (c *positionCheck) value(n *YAMLNode, coreNames bool) {
	c.place("value", show(n.Value(coreNames)), n.At, n.Written)
	if n.Kind == 's' {
		_ = c.dec.SkipValue()
		return
	}
	_, _ = c.dec.ReadToken()
	explicit := n.Members
	merged := make(map[string]YAMLMember)
	for i, m := range n.Members {
		if m.Merged {
			explicit = n.Members[:i]
			for _, m := range n.Members[i:] {
				merged[m.Name] = m
			}
			break
		}
	}
	// Members are in the order of the document. The places of merged members among them are not
	// specified.
	for c.what == "" {
		kind := c.dec.PeekKind()
		if kind == ']' || kind == '}' {
			break
		}
		var m YAMLMember
		if n.Kind == '[' {
			if len(explicit) == 0 {
				c.fail("members", "an element too many")
				return
			}
			m, explicit = explicit[0], explicit[1:]
		} else {
			off := c.start()
			name, err := jsontext.AppendUnquote(nil, nextString(c.reading.json[off:]))
			if err != nil {
				c.fail("members", err.Error())
				return
			}
			isMerged := false
			if m, isMerged = merged[string(name)]; isMerged {
				delete(merged, string(name))
			} else if len(explicit) > 0 {
				m, explicit = explicit[0], explicit[1:]
			}
			want := m.Name
			if coreNames {
				want = m.CoreName
			}
			if string(name) != want || m.Value == nil {
				c.fail("members", fmt.Sprintf("the name %q for %q", name, want))
				return
			}
			c.place("name", string(name), m.At, m.Written)
			_, _ = c.dec.ReadToken()
		}
		c.value(m.Value, coreNames)
	}
	if c.what == "" && len(explicit)+len(merged) > 0 {
		c.fail("members", "too few")
	}
	_, _ = c.dec.ReadToken()
}

func nextString(js []byte) []byte {
	d := jsontext.NewDecoder(bytes.NewReader(js))
	v, err := d.ReadValue()
	if err != nil {
		return nil
	}
	return v
}

// TestYAMLPositions checks the positions of all names and values of generated documents.
func TestYAMLPositions(t *testing.T) {
	y := newTally()
	checked := make(chan int)
	total := 0
	done := make(chan bool)
	go func() {
		for n := range checked {
			total += n
		}
		close(done)
	}()
	forYAMLSeeds(t, func(seed uint64) {
		d := NewYAML(seed)
		for _, m := range []yamlMode{hardened, asServer, core} {
			if !m.agreesOn(d) {
				continue
			}
			r := m.read(d.Source)
			if r.err != nil {
				y.add(differs, m.String()+": refused: "+sortOf(r.err), func() string {
					return fmt.Sprintf("seed %d, %s: %v\n%q", seed, m, r.err, d.Source)
				})
				continue
			}
			n, what, detail := checkPositions(d.Source, d.Root, r, m == core)
			checked <- n
			if what == "" {
				y.add(same, "", nil)
				continue
			}
			y.add(differs, m.String()+": "+what, func() string {
				return fmt.Sprintf("seed %d, %s: %s %s\n%q", seed, m, what, detail, d.Source)
			})
		}
	})
	close(checked)
	<-done
	y.log(t)
	t.Log(total, "names and values")
	require.Greater(t, y.classes[same], 0)
}

// agreesOn reports whether the mode reads the document as its root says.
func (m yamlMode) agreesOn(d *YAMLDocument) bool {
	const refused = CustomTag | BinaryTag | BeyondFloat | SecondDocument | EmptyFirst
	switch m {
	case asServer:
		return d.Traits&(Version12|JSONEscapes|BinaryTag|EmptyFirst|Merges) == 0
	case core:
		return d.Traits&(refused|Merges|Unsettled) == 0
	}
	return d.Traits&refused == 0
}
