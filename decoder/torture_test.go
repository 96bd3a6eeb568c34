package decoder

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	kjson "sigs.k8s.io/json"

	ferrors "github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/kernel"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/skip"
	"github.com/espalier-dev/espalier/internal/torture"
)

// A torturedPlace is one of places, with decoders that use all machines, and with decoders that use
// only the first and the second machine.
type torturedPlace struct {
	before, after string
	all, alone    []*Decoder
}

// These are the indices of two decoders of a place.
const compacting, exactly = 2, 3

func newTorturedPlaces(t *testing.T) (made []torturedPlace) {
	for _, place := range places {
		p := compileYAML(t, place.schema, place.opts...)
		slow := withoutSimple(program.Of(p))
		made = append(made, torturedPlace{before: place.before, after: place.after})
		for _, opts := range [][]Option{
			{Ignore}, {Strict}, {Ignore, Compact(true)}, {Warn, ServerTypedRequests},
		} {
			at := &made[len(made)-1]
			at.all = append(at.all, New(p, opts...))
			at.alone = append(at.alone, newDecoder(slow, optionsOf(opts)))
		}
	}
	return made
}

// An outcome is the outcome of decoding a document.
type outcome struct {
	out      []byte
	err      error
	findings int
}

func (v outcome) String() string {
	return fmt.Sprintf("%q, %v, %d findings", v.out, v.err, v.findings)
}

func (v outcome) equal(w outcome) bool {
	if (v.err == nil) != (w.err == nil) || v.err != nil && v.err.Error() != w.err.Error() {
		return false
	}
	return bytes.Equal(v.out, w.out) && v.findings == w.findings
}

func decode(d *Decoder, to []byte, doc []byte) outcome {
	out, err := d.AppendJSON(to[:0], doc)
	return outcome{out, err, len(d.Findings())}
}

// TestTortureMachines compares the outcome on random documents with other readers of JSON, and the
// results of simple machines and kernels with those of the machines that know all of the grammar.
// Now and then it decodes a document as a stream in parts.
func TestTortureMachines(t *testing.T) {
	defer SetFirstWindow(16)()
	defer func(was [2]int) { skip.SmallValue = was }(skip.SmallValue)
	at := newTorturedPlaces(t)
	var doc, bufAll, bufAlone []byte
	torture.Run(t, torture.JSON, func(t *testing.T, r *rand.Rand, text []byte) bool {
		place := &at[r.IntN(len(at))]
		doc = append(append(append(doc[:0], place.before...), text...), place.after...)
		how := r.IntN(len(place.all))
		small := r.IntN(2) << 20
		skip.SmallValue = [2]int{small, small} // kernels run wherever they can, or nowhere
		all := decode(place.all[how], bufAll, doc)
		var alone outcome
		less := kernel.Without
		if r.IntN(4) == 0 {
			less = kernel.OnAVX2
		}
		less(func() { alone = decode(place.alone[how], bufAlone, doc) })
		if !all.equal(alone) {
			t.Fatalf("%q, decoder %d:\n%v\n%v by one machine", doc, how, all, alone)
		}
		bufAll, bufAlone = append(bufAll[:0], all.out...), append(bufAlone[:0], alone.out...)
		want := isTaken(doc, how == exactly)
		if want != isJSON(all.err) && !isStrictError(all.err) {
			t.Fatalf("%q, decoder %d: it is JSON: %v; %v", doc, how, want, all)
		}
		if want && how == compacting && place == &at[0] && jsontext.Value(doc).IsValid() {
			kept := jsontext.Value(bytes.Clone(doc))
			if err := kept.Compact(); err != nil || !bytes.Equal(kept, all.out) {
				t.Fatalf("%q: nothing is to be dropped, and %q is left", doc, all.out)
			}
		}
		if how != exactly && r.IntN(16) == 0 {
			checkStream(t, r, place.all[how], doc, outcome{bufAll, all.err, all.findings})
		}
		return want
	})
}

// isTaken reports whether other readers accept a document: jsontext, which is as strict as the
// default, and the server's reader, which refuses numbers out of range.
func isTaken(doc []byte, asServer bool) bool {
	if asServer && !json.Valid(doc) {
		return false
	}
	if !asServer && !jsontext.Value(doc).IsValid(jsontext.AllowDuplicateNames(true)) {
		return false
	}
	if !bytes.ContainsAny(doc, "eE") {
		return true // no number is out of range
	}
	var v any
	return kjson.UnmarshalCaseSensitivePreserveInts(doc, &v) == nil
}

func isStrictError(err error) bool {
	_, is := err.(*ferrors.StrictError)
	return is
}

// checkStream compares the outcome of a document that is read in parts with that of the document as
// a slice. A stream cannot take back a member whose name comes again.
func checkStream(t *testing.T, r *rand.Rand, d *Decoder, doc []byte, whole outcome) {
	out, err := io.ReadAll(d.NewReader(&partsReader{bytes.Clone(doc), r, 1 + r.IntN(1+len(doc))}))
	var twice *ferrors.DuplicateError
	if errors.As(err, &twice) && whole.findings+len(whole.out) > 0 {
		return
	}
	isWhole := err == nil || isStrictError(err)
	if isWhole != (whole.err == nil || isStrictError(whole.err)) {
		t.Fatalf("%q: as a stream it ends with %v, and else with %v", doc, err, whole.err)
	}
	if isWhole && !bytes.Equal((&compactor{}).compact(out, 0), (&compactor{}).compact(whole.out, 0)) {
		t.Fatalf("%q: as a stream it becomes %q, and else %q", doc, out, whole.out)
	}
}
