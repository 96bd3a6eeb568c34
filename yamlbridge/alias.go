package yamlbridge

import (
	"math"
	"strconv"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/steps"
)

// An anchor is a node that aliases can refer to (YAML 1.2 section 7.1). Its span is the JSON of the
// node, in the reader's output or in its side buffer.
type anchor struct {
	name    packedSpan // in the text
	at      packedSpan
	inSide  bool
	open    bool  // the node is still being read
	isFloat bool  // as a key it has another form than an integer
	minus   bool  // it is -0.0, whose JSON is 0
	height  int32 // how deeply it nests
	moved   int32 // the anchors from this one up to moved are in the side buffer, unless moved is 0
	hash    uint32
}

// A packedSpan is a span in half of the memory, so that an anchor takes at most half of a cache
// line.
type packedSpan struct{ start, end uint32 }

func (s span) packed() packedSpan { return packedSpan{uint32(s.start), uint32(s.end)} }

func (s packedSpan) span() span { return span{int(s.start), int(s.end)} }

// addAnchor adds an anchor and returns its index. It hides earlier anchors of that name.
func (r *Reader) addAnchor(a anchor) int {
	a.hash = r.byName.hash(r.text[a.name.start:a.name.end])
	r.anchors = append(r.anchors, a)
	return len(r.anchors) - 1
}

// openAnchor takes the properties of a collection that is being opened, and returns the index of
// its anchor, or -1 if it has none.
func (r *Reader) openAnchor(seq bool) (int32, error) {
	if err := r.checkCollectionTag(seq); err != nil {
		return 0, err
	}
	index := -1
	if r.props.anchored() {
		start := len(r.out) - r.base
		at := span{start, start}.packed()
		index = r.addAnchor(anchor{name: r.props.anchor.packed(), at: at, open: true})
	}
	r.props = properties{}
	return int32(index), nil
}

// anchorKey adds the anchor of a key, if it has one. The value that aliases refer to differs from
// the name of the key, and is therefore written to the side buffer.
func (r *Reader) anchorKey(v *value) {
	if !r.props.anchored() {
		return
	}
	start := len(r.side)
	r.aside.marks = append(r.aside.marks, mark{uint32(start), uint32(r.props.at)})
	r.side = memory.Room(&r.account, r.side, maxEscape*len(v.text)+len(`""`))
	side, err := v.appendJSON(r.side)
	if err != nil {
		// It has a name, such as .inf, but no value in JSON.
		side, _ = v.appendName(r.side, r.Dialect)
	}
	r.side = side
	r.addAnchor(anchor{
		name: r.props.anchor.packed(), at: span{start, len(r.side)}.packed(),
		inSide: true, isFloat: v.kind == floatValue,
		minus: isMinusZero(v),
	})
}

// dereference returns the index of the anchor that an alias refers to. alias is its span in the
// text, with the asterisk.
func (r *Reader) dereference(alias span) (int, error) {
	name := r.text[alias.start+1 : alias.end]
	if len(name) == 0 || !r.endsName(alias.end) {
		return 0, r.failAt(alias.start,
			"did not find expected alphabetic or numeric character of an alias")
	}
	found := r.findAnchor(name)
	switch {
	case found < 0:
		return 0, r.fail(alias.start, "unknown anchor "+excerpt(string(name)))
	case r.anchors[found].open:
		return 0, r.fail(alias.start, "anchor "+excerpt(string(name))+" value contains itself")
	}
	return found, nil
}

// json returns the JSON of an anchor.
func (r *Reader) json(a *anchor) []byte {
	if a.inSide {
		return r.side[a.at.start:a.at.end]
	}
	return r.out[r.base+int(a.at.start) : r.base+int(a.at.end)]
}

// alias writes the value of an alias.
func (r *Reader) alias(alias span) error {
	index, err := r.dereference(alias)
	if err != nil {
		return err
	}
	if r.isMergeSource() {
		return r.mergeAlias(alias.start, index)
	}
	a := &r.anchors[index]
	json := r.json(a)
	if isInfinite(json) {
		if !r.server {
			return r.fail(alias.start, "infinity and NaN are no JSON values")
		}
		r.unfit = true
	}
	if err := r.charge(len(json), alias.start); err != nil {
		return err
	}
	if len(r.stack)-1+int(a.height) > MaxDepth {
		return r.limit(errors.LimitDepth, MaxDepth, alias.start)
	}
	r.comma()
	r.mark(alias.start)
	r.copy(a.at.span(), a.inSide)
	r.contain(a.height)
	return nil
}

// copy appends a part of the output, or of the side buffer, to the output.
func (r *Reader) copy(s span, inSide bool) {
	at := len(r.out) - r.base
	steps.Add(s.end - s.start)
	r.roomOut(s.end - s.start)
	r.main.copies = append(r.main.copies, copied{at, at + s.end - s.start, s.start, inSide})
	if inSide {
		r.out = append(r.out, r.side[s.start:s.end]...)
	} else {
		r.out = append(r.out, r.out[r.base+s.start:r.base+s.end]...)
	}
}

// aliasKey writes the name that an alias has as a key.
func (r *Reader) aliasKey(alias span) error {
	if r.props.set {
		return r.fail(alias.start, "an alias has no properties")
	}
	index, err := r.dereference(alias)
	if err != nil {
		return err
	}
	a := r.anchors[index]
	json := r.json(&a)
	if err := r.charge(len(json), alias.start); err != nil {
		return err
	}
	switch json[0] {
	case '{', '[':
		return r.fail(alias.start, "a mapping or sequence is no key")
	case '"':
		scratch := memory.Room(&r.account, r.scratch[:0], len(json))
		r.scratch = append(scratch, json[1:len(json)-1]...)
		r.writeString(alias.start, r.scratch, true)
	default:
		v, err := readScalar(json, a.isFloat)
		if a.minus {
			v.f = math.Copysign(0, -1)
		}
		if err == nil {
			err = r.writeKey(alias.start, &v)
		}
		if err != nil {
			return err
		}
	}
	// The definition of the copy is that of the name as well.
	start := int(r.main.marks[len(r.main.marks)-1].json)
	end := len(r.out) - r.base - len(":")
	r.main.copies = append(r.main.copies, copied{start, end, int(a.at.start), a.inSide})
	return nil
}

// isInfinite reports whether the value of a key is not JSON, but .inf, -.inf or .nan.
func isInfinite(json []byte) bool {
	return json[0] == '.' || json[0] == '-' && json[1] == '.'
}

// readScalar returns the value of JSON that was written for a scalar other than a string.
func readScalar(json []byte, isFloat bool) (value, error) {
	switch {
	case json[0] == 't' || json[0] == 'f':
		return value{kind: boolValue, b: json[0] == 't'}, nil
	case json[0] == 'n':
		return value{}, nil
	case isInfinite(json):
		v, _ := resolveFloatWord(json)
		return v, nil
	case isFloat:
		f, err := strconv.ParseFloat(string(json), 64)
		return value{kind: floatValue, f: f}, err
	}
	sign := byte(0)
	if json[0] == '-' {
		sign, json = '-', json[1:]
	}
	v, _ := integer(json, 10, sign)
	return v, nil
}

// charge takes n bytes from the budget of aliases. Each node has at least one byte, so that the
// number of nodes is bounded as well.
func (r *Reader) charge(n, off int) error {
	if r.budget -= n; r.budget < 0 {
		return r.limit(errors.LimitAliasBytes, int64(r.allowed), off)
	}
	return nil
}
