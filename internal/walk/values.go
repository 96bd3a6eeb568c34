package walk

import (
	"encoding/binary"
	"math/bits"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/internal/skip"
)

// NOTE: what a walk does with the rules for values, if the program has them. It looks at them where
// it is anyway, and only notes whether it has seen anything that is not surely valid: then package
// screen looks at the result. So a member may be looked at that is superseded or dropped later, and
// a default counts as valid if it was when the program was compiled.
//
// The fast path has no branch for it: a scalar with rules is diverted where types are compared, and
// an object where it would be for its defaults. An array has a register for what it awaits.

// values is what a walk knows of values.
type values struct {
	// Doubt says that something may be invalid.
	Doubt bool
	lists []openList
	tags  []uint64 // of the elements in open lists
}

// An openList is an array whose elements must differ, and in which there was a key.
type openList struct {
	sp    int    // its frame
	tags  int    // where its tags begin
	index int    // the last element that had a key
	tag   uint64 // of the keys of that element
}

func (v *values) start() { v.Doubt, v.lists, v.tags = false, v.lists[:0], v.tags[:0] }

// ruledScalar reads the scalar of node w.value at w.pos, and looks at its rules. It reports false if
// the machine is to read it.
func (w *Walker) ruledScalar(b []byte) bool {
	start, escaped := w.pos, false
	var end int
	switch c := b[start]; c {
	case '"':
		if only := w.value.Checks.Only; only != "" && len(b)-start >= len(only) && string(b[start:start+len(only)]) == only {
			w.pos += len(only)
			return true
		}
		end = start + 1
		if end <= len(b)-17 { // most are short
			end += jsonwire.Simple(
				binary.LittleEndian.Uint64(b[end:end+8]), binary.LittleEndian.Uint64(b[end+8:end+16]))
		}
		if end >= len(b) || b[end] != '"' {
			var s jsonwire.Status
			if end, escaped, s = jsonwire.ScanString(b, end); s != jsonwire.OK {
				return false
			}
		}
		end++
	case 't', 'f':
		literal := "true"
		if c == 'f' {
			literal = "false"
		}
		var s jsonwire.Status
		if end, s = jsonwire.ScanLiteral(b, start, literal); s != jsonwire.OK {
			return false
		}
	default:
		var t skip.Status
		if end, t = w.skip.Number(b, start); t != skip.Done {
			return false
		}
		if w.value.Types&program.Number == 0 {
			if _, ok := screen.Whole(b[start:end]); !ok {
				return false
			}
		}
	}
	w.pos = end
	if c := w.value.Checks; !w.Doubt {
		if c.Names != nil {
			w.checkName(c.Names, b, w.frames[w.sp].cur.Index())
		}
		w.apply(c, b, start, end, escaped)
	}
	return true
}

// apply looks at the rules for the scalar b[start:end].
func (w *Walker) apply(c *program.Checks, b []byte, start, end int, escaped bool) {
	verdict := program.Valid
	if b[start] == '"' {
		if c.Text != nil {
			text := b[start+1 : end-1]
			if escaped {
				text = w.unescape(text)
			}
			verdict = c.Text.Check(text)
		}
	} else if c.Literal != nil {
		verdict = c.Literal.Check(b[start:end])
	}
	if verdict != program.Valid || c.More {
		w.Doubt = true
	}
	if c.Key > 0 {
		w.addTag(c.Key, b[start:end])
	}
}

// addTag notes a value that tells the open element apart.
func (w *Walker) addTag(key int, text []byte) {
	sp := w.sp - 1
	if key == program.SetKey {
		sp = w.sp
	}
	last := len(w.lists) - 1
	index := int(w.frames[sp].cur)
	if last < 0 || w.lists[last].sp != sp {
		last++
		w.lists = append(memory.RoomForOne(w.account, w.lists), openList{sp: sp, tags: len(w.tags), index: index})
	}
	l := &w.lists[last]
	if l.index != index {
		w.tags = append(memory.RoomForOne(w.account, w.tags), l.tag)
		l.index, l.tag = index, 0
	}
	tag, sure := screen.Tag(text, uint64(key))
	l.tag += tag
	w.Doubt = w.Doubt || !sure
}

// checkValue looks at the types and the rules of the value at i, whose node is v, where the machine
// reads it. The frame has the place of the value.
func (w *Walker) checkValue(b []byte, i int, v *program.Node) {
	c, t := v.Checks, program.FirstTypes[b[i]]
	if c.Names != nil && !w.Doubt {
		w.checkName(c.Names, b, w.frames[w.sp].cur.Index())
	}
	switch {
	case w.Doubt:
	case c.Types&t == 0 || t == program.Null && (c.Rules.Enum || c.Rules.Unsure):
		w.Doubt = true
	case t&(program.Object|program.Array|program.Null) != 0:
	case v.Types&program.Ruled == 0 && t != program.Integer|program.Number:
	default:
		end, escaped, ok := w.scalarEnd(b, i)
		if !ok {
			w.Doubt = true // the value is not whole, or is no JSON
			return
		}
		if t == program.Integer|program.Number && c.Types&program.Number == 0 {
			if _, whole := screen.Whole(b[i:end]); !whole {
				w.Doubt = true
			}
		}
		w.apply(c, b, i, end, escaped)
	}
}

// scalarEnd returns where the scalar at b[i] ends.
func (w *Walker) scalarEnd(b []byte, i int) (end int, escaped, ok bool) {
	if b[i] == '"' {
		end, escaped, s := jsonwire.ScanString(b, i+1)
		return end + 1, escaped, s == jsonwire.OK
	}
	for end = i; end < len(b) && b[end] > ' ' && b[end] != ',' && b[end] != '}' && b[end] != ']'; {
		end++
	}
	return end, false, end < len(b) || w.skip.EOF
}

// checkName looks at the name of a member, which starts at b[at].
func (w *Walker) checkName(names program.Checker, b []byte, at int) {
	end, escaped, _ := jsonwire.ScanString(b, at+1)
	name := b[at+1 : end]
	if escaped {
		name = w.unescape(name)
	}
	w.Doubt = names.Check(name) != program.Valid
}

// closeRuled looks at the rules of an object of node n, with the fields that were seen. Defaults of
// others are inserted.
func (w *Walker) closeRuled(n *program.Node, seen uint64) {
	if w.isJudged() {
		w.judgeObject(n, seen)
		return
	}
	c := n.Checks
	if c.Keys != 0 {
		w.addAbsentKeys(n, seen)
	}
	if !c.Object || w.Doubt {
		return
	}
	r := c.Rules
	has := seen | n.Defaulted
	w.Doubt = c.Required&^has != 0 || c.Doubtful&^seen != 0 || c.Undeclared != nil || r.Unsure || r.Enum ||
		!allowsMembers(n, has) || r.Size > 0 && len(w.b) > r.Size || w.WithoutDefaults || junctorsDoubt(c, has)
}

// junctorsDoubt reports whether the junctors are not surely satisfied by an object with these fields.
func junctorsDoubt(c *program.Checks, has uint64) bool {
	for i := range c.Rules.Junctors {
		j := &c.Rules.Junctors[i]
		fit, misfit := 0, 0
		if len(j.Alternatives) > maxAlternatives {
			return true
		}
		for k, a := range j.Alternatives {
			switch {
			case a.Node != nil:
				return true
			case c.Alternatives[i][k]&^has == 0:
				fit++
			default:
				misfit++
			}
		}
		if j.Kind.Combine(fit, 0, misfit) != program.Valid {
			return true
		}
	}
	return false
}

// maxAlternatives is how many alternatives are looked at for each object.
const maxAlternatives = 64

// allowsMembers reports whether an object of node n with these fields surely has not too few members,
// nor too many. Others than fields are not counted here.
func allowsMembers(n *program.Node, has uint64) bool {
	r := n.Checks.Rules
	return r.Members == program.Unbounded ||
		n.Unknown == nil && len(n.Fields) < 64 && r.Members.Allow(bits.OnesCount64(has))
}

// addAbsentKeys notes the defaults of keys that are absent from an element.
func (w *Walker) addAbsentKeys(n *program.Node, seen uint64) {
	for absent := n.Checks.Keys &^ seen; absent != 0; absent &= absent - 1 {
		switch f := &n.Fields[bits.TrailingZeros64(absent)]; {
		case f.Default == "":
		case f.Node.Checks.Key == 0:
			w.Doubt = true
		default:
			w.addTag(f.Node.Checks.Key, []byte(f.Default))
		}
	}
}

// dropRuled looks at the null at i in an object or array of node n that is dropped or replaced by the
// edge e, which is that of field f or of other members or elements.
func (w *Walker) dropRuled(i int, n *program.Node, f *program.Field, e *program.Edge) {
	if w.isJudged() {
		w.judgeNull(i, f, e)
		return
	}
	if c := n.Checks; c != nil {
		w.Doubt = w.Doubt || e.Null != program.DropNull || c.Object || c.Array || c.Keys != 0
	}
}

// closeArray looks at the rules of the array of node n, which is the current container and has so
// many elements.
func (w *Walker) closeArray(n *program.Node, elements int) {
	c := n.Checks
	if !c.Array {
		return
	}
	if w.isJudged() {
		w.judgeArray(n, elements)
		return
	}
	r := c.Rules
	if r.List != program.Atomic {
		w.closeList(r.List, elements)
	}
	w.Doubt = w.Doubt || !r.Items.Allow(elements) || r.Unsure || r.Enum || r.Junctors != nil
}

// closeList looks whether the elements of the current array differ.
func (w *Walker) closeList(of program.ListType, elements int) {
	last := len(w.lists) - 1
	if last < 0 || w.lists[last].sp != w.sp {
		// None of them has a key, and a single one may be no object.
		w.Doubt = w.Doubt || elements > 1 || elements > 0 && of == program.Keyed
		return
	}
	l := w.lists[last]
	w.tags = append(memory.RoomForOne(w.account, w.tags), l.tag)
	own := w.tags[l.tags:]
	w.Doubt = w.Doubt || len(own) != elements || !screen.Distinct(own)
	w.tags, w.lists = w.tags[:l.tags], w.lists[:last]
}
