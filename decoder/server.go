package decoder

// This file makes a decoder decide as the API server does where the default is to
// refuse, or to keep what was sent. The walker notes where metadata, apiVersion
// and kind are; the rest is done to its result.

import (
	stderrors "errors"
	"slices"
	"strconv"
	"strings"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/objectmeta"
	"github.com/espalier-dev/espalier/internal/program"
)

const (
	maxInt32 = 1<<31 - 1
	maxInt   = int(^uint(0) >> 1)
)

// met is what the walker notes for the server's rules.
type met struct {
	asServer, fromStorage, withoutDefaults bool
	notesType                              bool // kindAt and apiVersionAt are wanted

	kindAt, apiVersionAt int // where their values are in the text, or -1
	metadata             []metadataSpan
	oddNumber            bool // there is a number that the server may write otherwise
	oddType              bool // a name of the root may be one that the server takes for kind or apiVersion
}

// A metadataSpan is metadata in the result.
type metadataSpan struct {
	at     int // where it starts in the result
	source int // where it starts in the text
	root   bool
	node   *program.Node
}

func (m *met) start() {
	m.kindAt, m.apiVersionAt = -1, -1
	m.metadata = m.metadata[:0]
	m.oddNumber, m.oddType = false, false
}

// check looks at the value at i, whose node v takes some types only. parent is
// the node of the container. It returns the node that governs the value, or nil
// if its member is to be dropped.
func (w *walker) check(b []byte, i int, v, parent *program.Node, kind uint8, cur int) *program.Node {
	t := firstTypes[b[i]]
	switch {
	case t == 0: // a syntax error, which is found next
		return v
	case v.Types == 0: // unknown, but for a null, of which the schema has said what becomes
		if w.report {
			w.note(cur, kind, cur, w.unknown(parent.Group))
		}
		return nil
	case v.Types&t == 0:
		if !w.tolerates(v, parent) {
			w.note(i, kind, cur, w.mismatch(v.Types, t))
		} else if v.Group == program.Pruned {
			return nil
		}
		return anyNode
	case w.notesType && kind == inObject && parent.Group == program.Pruned:
		w.meet(b, i, v, cur)
	}
	return v
}

// tolerates reports whether a value of the wrong type is no error: in what comes
// from storage, members of metadata, and apiVersion and kind of embedded
// resources.
func (w *walker) tolerates(v, parent *program.Node) bool {
	isText := v.Group == program.Pruned && v.Types == program.String && w.sp > 1
	isWithin := v.Group != program.Pruned && parent.Group != program.Pruned
	return w.fromStorage && (isText || isWithin)
}

// meet notes metadata, apiVersion and kind.
func (w *walker) meet(b []byte, i int, v *program.Node, cur int) {
	w.here(inObject, cur)
	if v.Group != program.Pruned {
		if !w.asServer {
			return
		}
		w.flush(b, i)
		span := metadataSpan{len(w.out), i, v.Group == program.RootMetadata, v}
		if n := len(w.metadata); n > 0 && w.metadata[n-1].source == i {
			w.metadata = w.metadata[:n-1] // the walk was cut here
		}
		w.metadata = append(roomier(w.memory, w.metadata), span)
		return
	}
	if v.Types != program.String || w.sp > 1 {
		return
	}
	if name, _ := w.frameSegment(0); string(name) == "kind" {
		w.kindAt = i
	} else {
		w.apiVersionAt = i
	}
}

// asServer does to the result, which is out from start on, what the API server
// does to an object besides pruning and defaulting.
func (d *Decoder) asServer(out []byte, start int, src []byte) ([]byte, error) {
	w := &d.walker
	if err := d.checkType(src); err != nil {
		return out, err
	}
	if len(w.metadata) > 0 {
		d.copyAside(out[start:])
		from := 0
		out = out[:start]
		for _, span := range w.metadata {
			at := span.at - start
			r := reader{b: d.scratch, at: at}
			end := r.skipValue()
			out = d.appended(out, d.scratch[from:at])
			var err error
			before := len(out)
			out, err = objectmeta.Append(out, d.scratch[at:end], d.server == ServerStorage, d.server == ServerStorage && span.root, &d.account)
			if err != nil {
				way := reader{b: src}
				way.read(span.source)
				return out, &errors.ObjectError{Msg: err.Error(), Position: d.position(span.source), Path: way.path(), Err: err}
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
	if (w.oddNumber || d.oddDefaults) && !d.numbersAsSent {
		d.copyAside(out[start:])
		// 1e20 has 21 digits, and there are two buffers while one grows.
		const longest = 12
		before := cap(out)
		d.account.Take(longest * len(d.scratch))
		out = jsonwire.AppendServerNumbers(out[:start], d.scratch)
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
	second := newDecoder(d.walker.program, options{validation: Ignore, limits: d.limits, server: ServerRequests, numbersAsSent: d.numbersAsSent})
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

// defers reports whether no defaults are inserted into objects of the node, and
// nulls that these would replace stay, as that is done later or not at all.
func (w *walker) defers(n *program.Node) bool {
	return w.withoutDefaults || w.asServer && n.Group != program.Pruned // see defaultMetadata
}

// defaultMetadata inserts defaults into the metadata that is out from start on: the
// server defaults after the round trip, in which members may have gone.
func (d *Decoder) defaultMetadata(out []byte, start int, span *metadataSpan, src []byte) ([]byte, error) {
	w := &d.walker
	limits := w.limits
	limits.DefaultBytes = max(w.budget, 1)
	limits.NameBytes, limits.NumberBytes, limits.OutputBytes = maxInt32, maxInt32, maxInt-len(out) // are looked at elsewhere
	if d.ofMetadata == nil {
		d.ofMetadata = newDecoder(&program.Program{Cells: w.program.Cells}, options{validation: Ignore})
	}
	second := d.ofMetadata
	second.SetBudget(d.account.Budget())
	second.walker.program.Root, second.walker.limits = span.node, limits
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
		w.overflew, w.pos = errors.LimitDefaultBytes, span.source
		w.findings.reset()
		return out, d.fatal(src, overflow)
	}
	w.budget = second.walker.budget
	return out, nil
}

// checkType checks the type of the object at the root: runtime.NewMissingKindErr
// and schema.ParseGroupVersion of k8s.io/apimachinery.
func (d *Decoder) checkType(src []byte) error {
	w := &d.walker
	if w.program.Root.Types != program.Object {
		return nil // the root is no resource
	}
	if err := d.checkFirstReading(src); err != nil {
		return err
	}
	if d.server != ServerTypedRequests && (w.kindAt < 0 || textAt(src, w.kindAt) == "") {
		return &errors.ObjectError{Msg: "Object 'Kind' is missing", Position: d.position(jsonwire.Blanks(src, 0))}
	}
	if w.apiVersionAt < 0 {
		return nil
	}
	return d.checkVersion(src, w.apiVersionAt)
}

// checkExpected checks the type of the object at the root against that of [ExpectType].
func (d *Decoder) checkExpected(src []byte) error {
	for _, part := range []struct {
		name, want string
		at         int
	}{{"apiVersion", d.expected.apiVersion, d.walker.apiVersionAt}, {"kind", d.expected.kind, d.walker.kindAt}} {
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
	f := d.walker.program.Root.Find([]byte(name))
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
		t.oddDefaults = t.oddDefaults || string(jsonwire.AppendServerNumbers(nil, []byte(e.Default))) != e.Default
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
