package decoder

// NOTE: this file makes a decoder decide as the API server does, in a ServerMode. The walker
// observes where metadata, apiVersion and kind are, and asServer changes its result. Package
// apiserver has the server's rules about bytes, and this file decides when they apply.

import (
	"bytes"
	stderrors "errors"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/apiserver"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/syntax"
	"github.com/espalier-dev/espalier/internal/walk"
)

// asServer does to the result, which is out[start:], everything that the API server does to an
// object before it validates it, besides pruning and defaulting.
func (d *Decoder) asServer(out []byte, start int, src []byte) ([]byte, error) {
	w := &d.walker
	if err := d.checkType(src); err != nil {
		return out, err
	}
	if len(w.Observed.Metadata) > 0 {
		var err error
		if out, err = d.rewriteMetadata(out, start, src); err != nil {
			return out, err
		}
	}
	if d.decodesAgain() {
		return d.decodeAgain(out, start, src)
	}
	return out, nil
}

// decodesAgain reports whether the result is decoded a second time, which rewrites the numbers.
func (d *Decoder) decodesAgain() bool { return d.server == ServerStorage && d.unstableDefault }

// numbersAsServer writes the numbers of the result, which is out[start:], as the server does. Values
// are validated before: to the server 1.0 is no integer, but it writes 1.
func (d *Decoder) numbersAsServer(out []byte, start int) []byte {
	if (d.walker.HasOddNumber() || d.oddNumberDefault) && !d.numbersAsSent && !d.decodesAgain() {
		out = d.rewriteNumbers(out, start)
	}
	return out
}

// rewriteMetadata replaces each metadata in the result, which is out[start:], by what the
// server makes of it.
func (d *Decoder) rewriteMetadata(out []byte, start int, src []byte) (_ []byte, err error) {
	d.copyToScratch(out[start:])
	from, stored := 0, d.server.isStored()
	out = out[:start]
	for _, span := range d.walker.Observed.Metadata {
		at := span.At - start
		r := syntax.New(d.scratch, at, 0)
		end := r.SkipValue()
		out = d.appendCharged(out, d.scratch[from:at])
		before := len(out)
		text := d.scratch[at:end]
		out, err = apiserver.AppendMetadata(out, text, stored, stored && span.Root, &d.account)
		if err == nil && d.server == ServerStorage && !bytes.Equal(out[before:], text) {
			out, err = d.metadataAgain(out, before)
		}
		if err != nil {
			r := syntax.New(src, 0, 0)
			r.Scan(span.Source)
			return out, &errors.ObjectError{
				Msg: err.Error(), Position: d.position(span.Source), Path: r.Path(), Err: err,
			}
		}
		from = end
		if d.metadataDefault && d.server != ServerConversions {
			if out, err = d.defaultMetadata(out, before, &span, src); err != nil {
				return out, err
			}
		}
	}
	return d.appendCharged(out, d.scratch[from:]), nil
}

// metadataAgain replaces metadata, which is out[from:], by what the server makes of it when its
// converter of versions returns a stored object: a time that is zero was written as null, which is
// dropped, and a time beyond the year 9999 cannot be read again.
func (d *Decoder) metadataAgain(out []byte, from int) ([]byte, error) {
	text := slices.Clone(out[from:])
	d.account.Take(len(text))
	defer d.account.Give(len(text))
	return apiserver.AppendMetadata(out[:from], text, false, false, &d.account)
}

// rewriteNumbers writes the numbers of the result, which is out[start:], as the server does.
func (d *Decoder) rewriteNumbers(out []byte, start int) []byte {
	d.copyToScratch(out[start:])
	// 1e20 has 21 digits, and there are two buffers while one grows.
	const longest = 12
	before := cap(out)
	d.account.Take(longest * len(d.scratch))
	out = apiserver.AppendNumbers(out[:start], d.scratch)
	d.account.Give(longest * len(d.scratch))
	d.account.Take(cap(out) - before)
	return out
}

// copyToScratch copies a text that is about to be overwritten.
func (d *Decoder) copyToScratch(text []byte) {
	d.scratch = append(memory.Room(&d.account, d.scratch[:0], len(text)), text...)
}

// appendCharged appends to the result, and charges the budget for its growth.
func (d *Decoder) appendCharged(out, text []byte) []byte {
	return append(memory.RoomOutside(&d.account, out, len(text)), text...)
}

// decodeAgain decodes the result, which is out[start:], as if it had been sent, but inserts no
// defaults. The API server does so to an object from storage, as part of its conversion between
// versions. Only values that came from defaults can change.
func (d *Decoder) decodeAgain(out []byte, start int, src []byte) ([]byte, error) {
	second := newDecoder(d.program, options{
		validation: Ignore, limits: d.limits, server: ServerConversions, numbersAsSent: d.numbersAsSent,
	})
	d.account.Take(second.Cap() + len(out) - start)
	second.SetBudget(d.account.Budget())
	aside := slices.Clone(out[start:])
	done, err := second.appendJSON(out[:start], aside)
	d.account.Join(&second.account)
	if err == errors.ErrBudget {
		return done, err
	}
	d.account.Give(second.account.Held() + len(aside))
	if err != nil {
		// The positions of err are not those of the document, in which nothing is wrong.
		err = &errors.ObjectError{
			Msg:      "with defaults, " + textWithoutPositions(err),
			Position: d.position(jsonwire.Blanks(src, 0)),
		}
	}
	return done, err
}

// textWithoutPositions returns the text of an error. It leaves out the positions of mismatches.
func textWithoutPositions(err error) string {
	e, isMismatch := stderrors.AsType[*errors.TypeError](err)
	if !isMismatch {
		return err.Error()
	}
	var texts []string
	for i := range e.Findings {
		texts = append(texts, e.Findings[i].Error())
	}
	if e.Omitted > 0 {
		texts = append(texts, strconv.Itoa(e.Omitted)+" more")
	}
	return strings.Join(texts, ", ")
}

// defaultMetadata inserts defaults into the metadata that is out[start:]. The server inserts
// them after the round trip through ObjectMeta, which may have removed members.
func (d *Decoder) defaultMetadata(
	out []byte, start int, span *walk.Metadata, src []byte,
) ([]byte, error) {
	w := &d.walker
	limits := d.limits
	limits.DefaultBytes = max(w.DefaultsLeft, 1)
	// The walk over the whole document applies these limits.
	limits.NameBytes, limits.NumberBytes = math.MaxInt32, math.MaxInt32
	limits.OutputBytes = math.MaxInt - len(out)
	if d.metadataDecoder == nil {
		p := &program.Program{Cells: d.program.Cells}
		d.metadataDecoder = newDecoder(p, options{validation: Ignore})
	}
	second := d.metadataDecoder
	second.SetBudget(d.account.Budget())
	second.program.Root = span.Node
	second.setLimits(limits)
	held := second.Cap()
	d.account.Take(len(out) - start)
	aside := slices.Clone(out[start:])
	out, err := second.appendJSON(out[:start], aside)
	d.account.Give(len(aside))
	d.account.Join(&second.account)
	d.account.Own(second.Cap() - held)
	if err == errors.ErrBudget {
		return out, err
	}
	if err != nil {
		w.Found.Reset()
		return out, d.limitError(src, errors.LimitDefaultBytes, span.Source)
	}
	w.DefaultsLeft = second.walker.DefaultsLeft
	return out, nil
}

// checkType checks the type of the object at the root: runtime.NewMissingKindErr
// and schema.ParseGroupVersion of k8s.io/apimachinery.
func (d *Decoder) checkType(src []byte) error {
	w := &d.walker
	if d.program.Root.Hard() != program.Object {
		return nil // the root is not a resource
	}
	if err := d.checkFirstReading(src); err != nil {
		return err
	}
	hasKind := w.Observed.KindAt >= 0 && textAt(src, w.Observed.KindAt) != ""
	if !hasKind && d.server != ServerTypedRequests {
		return &errors.ObjectError{
			Msg: "Object 'Kind' is missing", Position: d.position(jsonwire.Blanks(src, 0)),
		}
	}
	if w.Observed.APIVersionAt < 0 {
		return nil
	}
	return d.checkVersion(src, w.Observed.APIVersionAt)
}

// checkExpected checks the type of the object at the root against the one that [ExpectType]
// has set.
func (d *Decoder) checkExpected(src []byte) error {
	observed := &d.walker.Observed
	for _, part := range []struct {
		name, want string
		at         int
	}{
		{"apiVersion", d.expected.apiVersion, observed.APIVersionAt},
		{"kind", d.expected.kind, observed.KindAt},
	} {
		switch {
		case part.want == "":
		case part.at >= 0:
			if got := textAt(src, part.at); got != part.want {
				return &errors.ObjectError{
					Msg: part.name + " is " + fieldpath.Quoted(got) +
						", where " + fieldpath.Quoted(part.want) + " is expected",
					Position: d.position(part.at),
					Path:     errors.Path{}.Child(part.name),
					Err:      errors.ErrUnexpectedType,
				}
			}
		case d.server != ServerTypedRequests || !d.isObserved(part.name):
			return &errors.ObjectError{
				Msg:      part.name + " is missing, where " + fieldpath.Quoted(part.want) + " is expected",
				Position: d.position(jsonwire.Blanks(src, 0)),
				Err:      errors.ErrUnexpectedType,
			}
		}
	}
	return nil
}

// isObserved reports whether the walker observes where a field of the root is. It does so if
// the field must be a string, as in a resource.
func (d *Decoder) isObserved(name string) bool {
	f := d.program.Root.Find([]byte(name))
	return f != nil && f.Node.Hard() == program.String
}

// examineDefaults looks for defaults with numbers that the server may write differently, for
// defaults within metadata, and for defaults with nulls or metadata, which may be refused or
// dropped when they are sent.
func (t *programState) examineDefaults() {
	look := func(n *program.Node, e *program.Edge) {
		if e == nil || e.Default == "" {
			return
		}
		t.oddNumberDefault = t.oddNumberDefault ||
			string(apiserver.AppendNumbers(nil, []byte(e.Default))) != e.Default
		t.metadataDefault = t.metadataDefault || n.Group != program.Pruned
		t.unstableDefault = t.unstableDefault ||
			strings.Contains(e.Default, "null") || strings.Contains(e.Default, `"metadata":`)
	}
	for _, n := range t.program.Nodes {
		for i := range n.Fields {
			look(n, &n.Fields[i].Edge)
		}
		look(n, n.Unknown)
		look(n, &n.Elements)
	}
}
