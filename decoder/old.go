package decoder

import (
	stderrors "errors"
	"fmt"
	"math"

	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/syntax"
	"github.com/espalier-dev/espalier/internal/walk"
)

// SetOld sets the stored object that the following documents replace: its JSON,
// as the server returns it in their version. It is for [ValidateUpdate] and
// [ValidateStatusUpdate], and has no effect otherwise. It counts for all
// documents, also those in YAML and those of Unmarshal, until it is set again;
// nil ends that. It is not copied, and must not be changed meanwhile. For a
// [Reader] or [Writer] it must be set before that is made or reset, and
// [Sequence.SetOld] sets that of one object. [Pool.Put] removes it.
//
// If it is no JSON object, or exceeds the limits of the decoder, decoding
// fails. If a name is repeated in it, the last value counts.
func (d *Decoder) SetOld(old []byte) { d.old = old }

// SetOld is [Decoder.SetOld] for the object that Next has found.
func (s *Sequence) SetOld(old []byte) { s.old = old }

// anything is a program that keeps everything. As it has no fields, none is ever predicted.
var (
	anything = &program.Program{Root: walk.Any}
	noFields = []*program.Field{program.NoField}
)

var errNoOld = stderrors.New("decoder: ValidateUpdate needs the stored object: see Decoder.SetOld")

// oldObject returns the stored object, in which no name repeats, or nil if there is none. It is
// valid until the next call.
func (d *Decoder) oldObject() ([]byte, error) {
	switch {
	case d.validateValues == ValidateUpdate && d.old == nil:
		return nil, errNoOld
	case d.old == nil || !d.comparesOld():
		return nil, nil
	}
	p := &d.parts
	w := p.walkerOf(&d.account)
	w.SetBounds(d.limits.bounds())
	w.Tune(anything, noFields)
	w.DefaultBytes, w.MostOut = 0, math.MaxInt
	st := w.Walk(p.old[:0], d.old)
	d.account.Own(cap(w.Out) - cap(p.old))
	p.old = w.Out
	limit, at, outOfRange := w.Overflew(), min(w.Pos(), len(d.old)), w.OutOfRange()
	w.Forget()
	switch {
	case st == skip.Overflow:
		return nil, fmt.Errorf("decoder: the stored object exceeds the limit of %d (%s)",
			d.limits.of(limit), limit)
	case st != skip.Done:
		r, why := syntax.New(d.old, 0, 0), ""
		if outOfRange {
			why = syntax.OutOfRange(d.old, at)
		} else {
			why = r.Scan(len(d.old) + 1)
			at = r.At
		}
		const text = "decoder: the stored object is no valid JSON: at byte %d: %s"
		return nil, fmt.Errorf(text, at, why)
	case p.old[jsonwire.Blanks(p.old, 0)] != '{':
		return nil, stderrors.New("decoder: the stored object is no JSON object")
	}
	return p.old, nil
}

// comparesOld reports whether documents are compared with the stored object.
func (d *Decoder) comparesOld() bool {
	return d.validateValues == ValidateUpdate || d.validateValues == ValidateStatusUpdate
}
