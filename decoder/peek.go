package decoder

import (
	"sync"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
)

// peekers are decoders for a program that keeps only apiVersion and kind.
var peekers = sync.Pool{New: func() any {
	text := &program.Node{Types: program.String}
	text.Elements.Node = text
	root := &program.Node{Types: program.Object, Fields: make([]program.Field, 2)}
	root.Elements.Node = text
	for i, name := range []string{"apiVersion", "kind"} {
		root.Fields[i].Node = text
		root.Fields[i].SetKey(`"` + name + `":`)
	}
	p := program.Finish(root, []*program.Node{root, text}, nil)
	return newDecoder(&p, options{validation: Ignore, compact: true})
}}

// PeekType returns the apiVersion and kind of the object in the JSON document
// src, so that the caller can choose the program for it. Both are empty where
// they are absent. PeekType reads the values that AppendJSON keeps: the whole
// document is validated, and the last of several equal names counts.
//
// Of the options only [Limits] and [WithBudget] have an effect. A [ServerMode]
// does not change the limits, which are the defaults where no others are given.
// Memory that was taken from a budget is returned to it; the caller charges for
// the two strings.
//
// The errors are [*errors.SyntaxError], [*errors.LimitError],
// [errors.ErrBudget], and an [*errors.TypeError] where the document is not an
// object or one of the two values is not a string. PeekType can be called by
// any number of goroutines.
func PeekType(src []byte, opts ...Option) (apiVersion, kind string, err error) {
	if len(opts) == 0 {
		return peekType(src, errors.Position{}, Limits{}.withDefaults(), nil)
	}
	o := mergeOptions(opts)
	return peekType(src, errors.Position{}, o.limits.withDefaults(), o.budget)
}

// peekType is PeekType for a document that starts at origin.
func peekType(src []byte, origin errors.Position, limits Limits, b Budget) (
	apiVersion, kind string, err error,
) {
	d := peekers.Get().(*Decoder)
	d.origin = origin
	d.setLimits(limits)
	if b == nil {
		defer peekers.Put(d)
		return d.peek(src)
	}
	counted := countingBudget{Budget: b}
	if !counted.Take(d.Cap()) {
		peekers.Put(d)
		return "", "", errors.ErrBudget
	}
	d.SetBudget(&counted)
	apiVersion, kind, err = d.peek(src)
	d.SetBudget(nil)
	if d.Cap() <= maxPooledPeeker {
		peekers.Put(d)
	}
	b.Take(-counted.taken)
	return apiVersion, kind, err
}

// maxPooledPeeker is the size up to which a peeker returns to the pool after a call with a
// budget.
const maxPooledPeeker = 64 << 10

// A countingBudget is a budget that counts the bytes that were taken from it.
type countingBudget struct {
	Budget
	taken int
}

// Take takes n bytes from the budget and counts them.
func (c *countingBudget) Take(n int) bool {
	if !c.Budget.Take(n) {
		return false
	}
	c.taken += n
	return true
}

// peek is PeekType for a decoder of peekers.
func (d *Decoder) peek(src []byte) (apiVersion, kind string, err error) {
	var room [128]byte
	out, err := d.AppendJSON(room[:0], src)
	if err != nil {
		return "", "", err
	}
	// The result is {"kind":"a","apiVersion":"b"}, with its members in either order.
	for i := 1; i < len(out) && out[i] != '}'; {
		name, end, _ := jsonwire.Text(out, i)
		value, end, _ := jsonwire.Text(out, end+1)
		if string(name) == "kind" {
			kind = string(value)
		} else {
			apiVersion = string(value)
		}
		i = end + 1 // after the comma or the brace
	}
	return apiVersion, kind, nil
}
