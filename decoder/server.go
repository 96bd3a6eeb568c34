package decoder

// NOTE: how a decoder decides as the API server does, in a ServerMode. The walker
// observes where metadata, apiVersion and kind are, and asServer changes its result.
// The rules about bytes are in package apiserver; here is when they apply.

import (
	stderrors "errors"
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

const (
	maxInt32 = 1<<31 - 1
	maxInt   = int(^uint(0) >> 1)
)

// asServer does to the result, which is out from start on, what the API server
// does to an object besides pruning and defaulting.
func (d *Decoder) asServer(out []byte, start int, src []byte) ([]byte, error) {
	w := &d.walker
	if err := d.checkType(src); err != nil {
		return out, err
	}
	if len(w.Observed.Metadata) > 0 {
		d.copyAside(out[start:])
		from, stored := 0, d.server == ServerStorage
		out = out[:start]
		for _, span := range w.Observed.Metadata {
			at := span.At - start
			r := syntax.New(d.scratch, at, 0)
			end := r.SkipValue()
			out = d.appended(out, d.scratch[from:at])
			var err error
			before := len(out)
			out, err = apiserver.AppendMetadata(out, d.scratch[at:end], stored, stored && span.Root, &d.account)
			if err != nil {
				way := syntax.New(src, 0, 0)
				way.Scan(span.Source)
				return out, &errors.ObjectError{Msg: err.Error(), Position: d.position(span.Source), Path: way.Path(), Err: err}
			}
			from = end
			if d.metadataDefaults && !d.withoutDefaults {
				if out, err = d.defaultMetadata(out, before, &span, src); err != nil {
					return out, err
				}
			}
		}
		out = d.appended(out, d.scratch[from:])
	}
	if d.server == ServerStorage && d.unfitDefaults {
		return d.again(out, start, src) // before numbers are written, once
	}
	if (w.HasOddNumber() || d.oddDefaults) && !d.numbersAsSent {
		d.copyAside(out[start:])
		// 1e20 has 21 digits, and there are two buffers while one grows.
		const longest = 12
		before := cap(out)
		d.account.Take(longest * len(d.scratch))
		out = apiserver.AppendNumbers(out[:start], d.scratch)
		d.account.Give(longest * len(d.scratch))
		d.account.Take(cap(out) - before)
	}
	return out, nil
}

// copyAside copies what is to be changed.
func (d *Decoder) copyAside(text []byte) {
	d.scratch = append(memory.Room(&d.account, d.scratch[:0], len(text)), text...)
}

// appended appends to the result.
func (d *Decoder) appended(out, text []byte) []byte {
	return append(memory.RoomOutside(&d.account, out, len(text)), text...)
}

// again decodes the result, which is out from start on, as if it were sent, but for
// defaults: the API server does so to what comes from storage, as part of its
// conversion between versions. Only what came out of defaults can change.
func (d *Decoder) again(out []byte, start int, src []byte) ([]byte, error) {
	second := newDecoder(d.program, options{validation: Ignore, limits: d.limits, server: ServerRequests, numbersAsSent: d.numbersAsSent})
	second.withoutDefaults = true
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
		// Its positions are none in the document, and nothing in that is wrong.
		err = &errors.ObjectError{Msg: "with defaults, " + unplaced(err), Position: d.position(jsonwire.Blanks(src, 0))}
	}
	return done, err
}

// unplaced returns the text of an error, for mismatches without their positions.
func unplaced(err error) string {
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

// defaultMetadata inserts defaults into the metadata that is out from start on: the
// server defaults after the round trip, in which members may have gone.
func (d *Decoder) defaultMetadata(out []byte, start int, span *walk.Metadata, src []byte) ([]byte, error) {
	w := &d.walker
	limits := d.limits
	limits.DefaultBytes = max(w.DefaultsLeft, 1)
	limits.NameBytes, limits.NumberBytes, limits.OutputBytes = maxInt32, maxInt32, maxInt-len(out) // are looked at elsewhere
	if d.ofMetadata == nil {
		d.ofMetadata = newDecoder(&program.Program{Cells: d.program.Cells}, options{validation: Ignore})
	}
	second := d.ofMetadata
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
	if d.program.Root.Types != program.Object {
		return nil // the root is no resource
	}
	if err := d.checkFirstReading(src); err != nil {
		return err
	}
	if d.server != ServerTypedRequests && (w.Observed.KindAt < 0 || textAt(src, w.Observed.KindAt) == "") {
		return &errors.ObjectError{Msg: "Object 'Kind' is missing", Position: d.position(jsonwire.Blanks(src, 0))}
	}
	if w.Observed.APIVersionAt < 0 {
		return nil
	}
	return d.checkVersion(src, w.Observed.APIVersionAt)
}

// checkExpected checks the type of the object at the root against that of [ExpectType].
func (d *Decoder) checkExpected(src []byte) error {
	for _, part := range []struct {
		name, want string
		at         int
	}{{"apiVersion", d.expected.apiVersion, d.walker.Observed.APIVersionAt}, {"kind", d.expected.kind, d.walker.Observed.KindAt}} {
		switch {
		case part.want == "":
		case part.at >= 0:
			if got := textAt(src, part.at); got != part.want {
				return &errors.ObjectError{
					Msg:      part.name + " is " + fieldpath.Quoted(got) + ", where " + fieldpath.Quoted(part.want) + " is expected",
					Position: d.position(part.at),
					Path:     errors.Path{}.Child(part.name),
					Err:      errors.ErrUnexpectedType,
				}
			}
		case d.server != ServerTypedRequests || !d.isOfType(part.name):
			return &errors.ObjectError{
				Msg:      part.name + " is missing, where " + fieldpath.Quoted(part.want) + " is expected",
				Position: d.position(jsonwire.Blanks(src, 0)),
				Err:      errors.ErrUnexpectedType,
			}
		}
	}
	return nil
}

// isOfType reports whether the walker notes where this field of the root is, as it does where its type is checked: as
// that of a resource is.
func (d *Decoder) isOfType(name string) bool {
	f := d.program.Root.Find([]byte(name))
	return f != nil && f.Node.Types == program.String
}

// lookAtDefaults notes whether a default has a number that the server may write
// otherwise, whether there are defaults within metadata, and whether a default may
// have what is not accepted if it is sent, or not kept: nulls, or metadata.
func (t *tuning) lookAtDefaults() {
	look := func(n *program.Node, e *program.Edge) {
		if e == nil || e.Default == "" {
			return
		}
		t.oddDefaults = t.oddDefaults || string(apiserver.AppendNumbers(nil, []byte(e.Default))) != e.Default
		t.metadataDefaults = t.metadataDefaults || n.Group != program.Pruned
		t.unfitDefaults = t.unfitDefaults || strings.Contains(e.Default, "null") || strings.Contains(e.Default, `"metadata":`)
	}
	for _, n := range t.program.Nodes {
		for i := range n.Fields {
			look(n, &n.Fields[i].Edge)
		}
		look(n, n.Unknown)
		look(n, &n.Elements)
	}
}
