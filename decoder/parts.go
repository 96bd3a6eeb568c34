package decoder

import (
	"math"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/findings"
	"github.com/espalier-dev/espalier/internal/memory"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/screen"
	"github.com/espalier-dev/espalier/internal/walk"
)

// NOTE: values on a stream are validated in parts, see package walk. A part in doubt is walked once
// more, as a document of its own, for its result. What the screen does not pass, the program's Validator
// decides. Only the type of the object is about the whole: if it is wrong, the server validates
// nothing but lists and embedded resources, so that other findings are taken back at the end.

// parts is what a stream needs to validate values.
type parts struct {
	walker           *walk.Walker
	program          program.Program // whose root is the node of a part
	result           []byte          // of a part
	old              []byte          // the stored object, without names that repeat
	path             []errors.Segment
	apiVersion, kind typeText
	read             int             // bytes of the document that were read
	spent            int             // steps
	exceeded         bool            // more steps were needed
	charge           func(bytes int) // charges what is built for rules
	charged          int             // by that
	ofValues         int             // invalid values that are taken back if the type is wrong
}

// A typeText is an apiVersion or a kind that may be wrong, as JSON.
type typeText struct {
	text []byte
	at   errors.Position
}

// start prepares for another document.
func (p *parts) start() {
	clear(p.path[:cap(p.path)]) // the names of the last document
	p.apiVersion.text, p.kind.text = p.apiVersion.text[:0], p.kind.text[:0]
	p.read, p.spent, p.exceeded, p.ofValues = 0, 0, false, 0
}

// held returns how many bytes of memory there are that grow with documents.
func (p *parts) held() int {
	n := memory.Held(p.path) + cap(p.result) + cap(p.old) + cap(p.apiVersion.text) + cap(p.kind.text)
	if p.walker != nil {
		n += p.walker.Held()
	}
	return n
}

// drop lets go of what held counts.
func (p *parts) drop() {
	p.path, p.result, p.old, p.apiVersion.text, p.kind.text = nil, nil, nil, nil, nil
	if p.walker != nil {
		p.walker.Forget()
		p.walker.Drop()
	}
}

// walkerOf returns the walker for other texts than the document.
func (p *parts) walkerOf(account *memory.Account) *walk.Walker {
	if p.walker == nil {
		p.walker = new(walk.Walker)
		p.walker.Init(account)
	}
	return p.walker
}

// A judge is a Decoder as a walk over a stream sees it.
type judge Decoder

// Judge is the method of walk.Judge.
func (j *judge) Judge(q *walk.Question) {
	d := (*Decoder)(j)
	if d.parts.exceeded {
		return
	}
	var value []byte
	switch q.Kind {
	case walk.OfValue:
		value = d.walkPart(q.Node, q.Text)
	case walk.OfDefault:
		value = q.Text
	}
	if value == nil || !d.passes(value, q) {
		part := d.partOf(q)
		part.Value = value
		d.addParts(d.validatePart(part), part, q)
	}
}

// passes reports whether the screen passes a value. The type of the object is noted.
func (d *Decoder) passes(value []byte, q *walk.Question) bool {
	if q.Kind == walk.OfValue && q.Depth == 0 {
		return d.screen.IsValid(d.program, value, d.validateValues.request())
	}
	if q.Kind == walk.OfValue && q.Depth == 1 {
		d.noteType(d.pathOf(q)[0].Name, value, q)
	}
	return d.screen.Passes(q.Node, value)
}

// partOf returns the part that a question is about, without its value. Of the root it notes a type
// that is absent.
func (d *Decoder) partOf(q *walk.Question) *program.Part {
	part := &program.Part{Path: d.pathOf(q), IsArray: q.Kind == walk.OfArray, Elements: q.Elements}
	if q.Kind != walk.OfObject {
		return part
	}
	for i := range q.Node.Fields {
		if f := &q.Node.Fields[i]; f.Bit&q.Has != 0 {
			part.Names = append(part.Names, f.Name())
		}
	}
	if q.Depth == 0 {
		for _, name := range []string{"apiVersion", "kind"} {
			if f := q.Node.Find([]byte(name)); f != nil && f.Bit&q.Has == 0 {
				d.noteType(name, []byte("null"), q)
			}
		}
	}
	return part
}

// pathOf returns the path of the part that a question is about. It is valid until the next call.
func (d *Decoder) pathOf(q *walk.Question) []errors.Segment {
	p := &d.parts
	p.path = d.walker.AppendPath(memory.Room(&d.account, p.path[:0], q.Depth+1), q.Depth)
	if q.Field != nil {
		p.path = append(p.path, errors.Segment{Name: q.Field.Name(), IsName: true})
	}
	return p.path
}

// noteType notes the type of the object, which may be wrong.
func (d *Decoder) noteType(name string, text []byte, q *walk.Question) {
	of := &d.parts.kind
	switch name {
	case "apiVersion":
		of = &d.parts.apiVersion
	case "kind":
	default:
		return
	}
	of.text = append(memory.Room(&d.account, of.text[:0], len(text)), text...)
	if of.at = q.Position; q.At >= 0 {
		d.linesToWindow()
		lines := d.lines // the next offset may be a smaller one
		of.at = lines.At(q.At)
	}
}

// walkPart returns the result of a part, which is valid until the next call.
func (d *Decoder) walkPart(n *program.Node, text []byte) []byte {
	p := &d.parts
	w := p.walkerOf(&d.account)
	p.program.Root = n // a walk asks for nothing else
	w.SetBounds(d.limits.bounds())
	w.Tune(&p.program, d.predicted)
	w.DefaultBytes, w.MostOut = d.limits.DefaultBytes, math.MaxInt
	w.Walk(p.result[:0], text) // the walk over the stream has found no fault in it
	d.account.Own(cap(w.Out) - cap(p.result))
	p.result = w.Out
	w.Forget()
	return p.result
}

// validatePart validates a part exactly.
func (d *Decoder) validatePart(part *program.Part) (errs []program.Error) {
	p, as := &d.parts, d.validateValues.request()|program.AsSent
	size := len(part.Value) + len(part.Path) + len(part.Names)
	names := 0 // bytes, which are copied for the path and for its spellings
	for i := range part.Path {
		names += 4 * len(part.Path[i].Name)
	}
	d.account.Take(names)
	defer d.account.Give(names)
	// All parts together have as many steps as the document.
	p.exceeded = !d.withSteps(size, validationSteps(p.read)-p.spent, func(steps int) bool {
		left := steps
		errs = d.program.Validator.ValidatePart(part, as, &left)
		p.spent += steps - max(left, 0)
		return left >= 0
	})
	return errs
}

// addParts adds findings about the invalid values of a part.
func (d *Decoder) addParts(errs []program.Error, part *program.Part, q *walk.Question) {
	if len(errs) == 0 {
		return
	}
	at := make([]int, len(errs))
	if q.Kind == walk.OfValue {
		within := make([][]errors.Segment, len(errs))
		for i := range errs {
			within[i] = errs[i].Path[min(len(part.Path), len(errs[i].Path)):]
		}
		at = screen.Locate(q.Text, within)
	}
	for i := range errs {
		if !program.IsOfAnyType(&errs[i].ValueError) {
			d.parts.ofValues++
		}
		r := findings.Invalid(q.At+at[i], &errs[i].ValueError)
		r.Position = q.Position
		if len(errs[i].Path) > q.Depth {
			for _, null := range q.Nulls {
				if null.Field.Name() == errs[i].Path[q.Depth].Name {
					r.At, r.Position = null.At, null.Position
				}
			}
		}
		addPath(&d.walker.Found, r, errs[i].Path)
	}
}

// finishParts validates the type of the object at the end of a stream.
func (d *Decoder) finishParts() {
	p, found := &d.parts, &d.walker.Found
	if len(p.apiVersion.text) == 0 && len(p.kind.text) == 0 {
		return
	}
	errs := d.program.Validator.ValidateType(p.apiVersion.text, p.kind.text)
	if len(errs) == 0 {
		return
	}
	found.RetractInvalid(p.ofValues, func(e *errors.ValueError) bool { return !program.IsOfAnyType(e) })
	for i := range errs {
		of := &p.kind
		if errs[i].Rule == "apiVersion" {
			of = &p.apiVersion
		}
		r := findings.Invalid(int(of.at.Offset), &errs[i].ValueError)
		r.Position = of.at
		addPath(found, r, errs[i].Path)
	}
}
