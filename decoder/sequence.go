package decoder

// NOTE: an object is read three times. A valueReader validates it and finds its end, PeekType
// looks for its kind, which may come last, and then it is decoded as a slice. The origin of the
// decoder is the position at which the object starts in the stream.

import (
	"context"
	stderrors "errors"
	"io"
	"iter"
	"slices"

	"github.com/espalier-dev/espalier/errors"
	"github.com/espalier-dev/espalier/internal/fieldpath"
	"github.com/espalier-dev/espalier/internal/jsonwire"
	"github.com/espalier-dev/espalier/internal/program"
	"github.com/espalier-dev/espalier/internal/syntax"
	"github.com/espalier-dev/espalier/internal/walk"
	"github.com/espalier-dev/espalier/schema"
	"github.com/espalier-dev/espalier/yamlbridge"
)

// A Sequence decodes the objects of a stream one after the other, each against
// the program for its apiVersion and kind. It holds one object at a time, up to
// [Limits].HeldBytes, and the buffers of one decoder, with eight bytes for each
// field of up to 64 programs.
//
//	for {
//		if err := objects.Next(); err == io.EOF {
//			break
//		} else if err != nil {
//			return err // of the stream: the next object cannot be found
//		}
//		out, err := objects.AppendJSON(nil) // of this object only
//		...
//	}
//
// A Sequence must not be used by several goroutines at the same time.
type Sequence struct {
	values     valueReader
	lookup     Lookup
	programs   programCache
	decode     *Decoder              // decodes all objects
	hasProgram bool                  // decode has the program for the object
	scan       func(*Sequence) error // finds the next object
	object     []byte                // nil if there is none
	old        []byte                // the stored object that it replaces, or nil
	origin     errors.Position
	err        error // the error that has ended the sequence

	documents *yamlbridge.DocumentReader // nil for JSON
	bridge    yamlbridge.Reader
	json      []byte // the JSON form of a YAML document
	jsonErr   error  // why there is no JSON form
	isSplit   bool   // documents are only split: InParallel makes JSON of them
	state     listState
	items     errors.Position // the position of the name items, if it was read
}

// A Lookup finds the program for objects of an apiVersion and kind, or returns
// an error that says why there is none. The method Lookup of schema.Catalog is
// one.
type Lookup func(apiVersion, kind string) (*schema.Program, error)

// NewSequence returns a sequence of the JSON values in r, which are separated
// by white space, by line breaks (NDJSON) or by nothing. The options are those
// of the decoders. NewSequence panics if r or lookup is nil, where [New]
// panics, and where it is given [WithBudget].
func NewSequence(r io.Reader, lookup Lookup, opts ...Option) *Sequence {
	s := newSequence(r, lookup, opts)
	s.scan = (*Sequence).nextValue
	return s
}

// NewListSequence returns a sequence of the items of the single JSON object in
// r. The object is a List of Kubernetes or a list of any other kind: its own
// kind may follow the items, and does not matter. The members beside the items
// are validated and dropped. An object without items, or whose items are null,
// has no objects. NewListSequence panics where NewSequence does.
func NewListSequence(r io.Reader, lookup Lookup, opts ...Option) *Sequence {
	s := newSequence(r, lookup, opts)
	s.scan = (*Sequence).nextItem
	return s
}

// NewYAMLSequence returns a sequence of the YAML documents in r. It skips
// documents that are empty or null. It panics where NewSequence does.
func NewYAMLSequence(r io.Reader, lookup Lookup, opts ...Option) *Sequence {
	s := newSequence(r, lookup, opts)
	s.documents = yamlbridge.NewDocumentReader(&s.values)
	s.documents.Limit = s.decode.limits.HeldBytes
	s.scan = (*Sequence).nextDocument
	return s
}

func newSequence(r io.Reader, lookup Lookup, opts []Option) *Sequence {
	if r == nil || lookup == nil {
		panic("decoder: a Sequence needs a reader and a lookup")
	}
	o := optionsOf(opts)
	o.refuseBudget("a Sequence")
	s := &Sequence{lookup: lookup, decode: newDecoder(&program.Program{Root: walk.Any}, o)}
	s.bridge = s.decode.yaml
	s.values = valueReader{src: r, limits: s.decode.limits}
	s.values.skip.Bounds = s.decode.limits.bounds()
	return s
}

// SetContext makes the sequence stop when the context is done, before it reads
// on, with the error that [Reader.SetContext] describes.
func (s *Sequence) SetContext(ctx context.Context) { s.values.ctx = ctx }

// Next advances to the next object. It returns io.EOF when there is none. Its
// other errors are an [*errors.SyntaxError] where the stream violates the
// grammar of JSON, an [*errors.LimitError] where an object is too large, and an
// [*errors.IOError] where reading fails. After an error, every call returns the
// same error.
//
// A YAML document with a wrong grammar is not an error of Next, because the
// next document can still be found. Invalid UTF-8 and lone surrogates in JSON,
// which a [ServerMode] would repair, are an [*errors.SyntaxError].
func (s *Sequence) Next() error {
	s.hasProgram, s.object, s.old = false, nil, nil
	if s.err == nil {
		s.err = s.scan(s)
	}
	return s.err
}

// All returns an iterator over the remaining objects. Each step calls
// [Sequence.Next]; the other methods of the sequence are then about that
// object. An error of Next other than io.EOF is the last step.
//
//	for err := range objects.All() {
//		if err != nil {
//			return err
//		}
//		out, err := objects.AppendJSON(nil)
//		...
//	}
func (s *Sequence) All() iter.Seq[error] {
	return func(yield func(error) bool) {
		for {
			err := s.Next()
			if err == io.EOF || !yield(err) || err != nil {
				return
			}
		}
	}
}

// Raw returns the text of the object. It is valid until the next call of Next
// and must not be changed.
func (s *Sequence) Raw() []byte { return s.object }

// Position returns where the text of the object starts in the stream.
func (s *Sequence) Position() errors.Position { return s.origin }

// Type returns the apiVersion and kind of the object: see [PeekType]. The
// limits are those of the options.
func (s *Sequence) Type() (apiVersion, kind string, err error) {
	if s.object == nil {
		return "", "", s.noObject()
	}
	limits := s.decode.limits
	if s.documents == nil {
		return peekType(s.object, s.origin, limits, nil)
	}
	if s.jsonErr != nil {
		return "", "", s.jsonErr
	}
	apiVersion, kind, err = peekType(s.json, errors.Position{}, limits, nil)
	switch e := err.(type) {
	case *errors.TypeError:
		for i := range e.Findings {
			s.toText(&e.Findings[i].Position)
		}
	case *errors.LimitError:
		s.toText(&e.Position)
	}
	return apiVersion, kind, err
}

// toText changes a position in the JSON form of a YAML document to that in the stream.
func (s *Sequence) toText(p *errors.Position) { *p = s.bridge.Position(int(p.Offset)) }

var errBeforeNext = stderrors.New("decoder: a Sequence has no object before Next")

// noObject returns the error for a call that needs an object while there is none.
func (s *Sequence) noObject() error {
	if s.err == nil {
		return errBeforeNext
	}
	return s.err
}

// AppendJSON appends the object to dst: see [Decoder.AppendJSON] and
// [Decoder.AppendYAML]. Positions are those in the stream. Its errors include
// those of the lookup.
func (s *Sequence) AppendJSON(dst []byte) ([]byte, error) {
	d, err := s.decoder()
	if err != nil {
		return dst, err
	}
	if s.documents != nil {
		return d.AppendYAML(dst, s.object)
	}
	return d.AppendJSON(dst, s.object)
}

// Unmarshal stores the object in the value that v points to: see
// [Decoder.Unmarshal]. Its errors include those of the lookup.
func (s *Sequence) Unmarshal(v any) error {
	d, err := s.decoder()
	if err != nil {
		return err
	}
	if s.documents != nil {
		return d.UnmarshalYAML(s.object, v)
	}
	return d.Unmarshal(s.object, v)
}

// Findings returns the findings of the object from the last time it was
// decoded: see [Decoder.Findings].
func (s *Sequence) Findings() errors.List {
	if !s.hasProgram {
		return nil
	}
	return s.decode.Findings()
}

// Omitted returns how many findings of the object are not kept: see
// [Decoder.Omitted].
func (s *Sequence) Omitted() int {
	if !s.hasProgram {
		return 0
	}
	return s.decode.Omitted()
}

// decoder returns the decoder for the object.
func (s *Sequence) decoder() (*Decoder, error) {
	if s.object == nil {
		return nil, s.noObject()
	}
	d := s.decode
	if !s.hasProgram {
		apiVersion, kind, err := s.Type()
		if err != nil {
			return nil, err
		}
		p, err := s.lookup(apiVersion, kind)
		if err != nil {
			return nil, err
		}
		if p == nil || program.Of(p).Root == nil {
			return nil, noProgram(apiVersion, kind)
		}
		if why := d.validateValues.cannotValidate(program.Of(p)); why != "" {
			return nil, stderrors.New("decoder: kind " + fieldpath.Quoted(kind) + " in version " + fieldpath.Quoted(apiVersion) + ": " + why)
		}
		d.setProgram(s.programs.state(p, d.server != Standalone))
		s.hasProgram = true
	}
	d.origin, d.yaml.Origin, d.old = s.origin, s.origin, s.old
	return d, nil
}

// noProgram returns the error for a lookup that has returned neither a program nor an error.
func noProgram(apiVersion, kind string) error {
	return stderrors.New("decoder: the lookup has returned no program for kind " +
		fieldpath.Quoted(kind) + " in version " + fieldpath.Quoted(apiVersion) + ", and no error")
}

// nextDocument finds the next YAML document that is not empty.
func (s *Sequence) nextDocument() error {
	for {
		doc, err := s.documents.Next()
		if err != nil {
			s.object = nil
			return err
		}
		s.object, s.origin = doc.Bytes, doc.Origin
		if s.isSplit || !s.isNull() {
			return nil
		}
	}
}

// isNull makes JSON of a YAML document, and reports whether that is empty or null.
func (s *Sequence) isNull() bool {
	s.bridge.Origin = s.origin
	s.json, s.jsonErr = s.bridge.AppendJSON(s.json[:0], s.object)
	return s.jsonErr == nil && string(s.json) == "null"
}

// nextValue finds the next value of a stream of values.
func (s *Sequence) nextValue() error {
	s.state = beforeItem
	if _, err := s.values.peek(); err != nil || s.values.atEnd() {
		return orEOF(err)
	}
	s.state = afterItem
	return s.take()
}

// take reads the next value and makes it the object.
func (s *Sequence) take() (err error) {
	s.origin = s.values.position(s.values.at)
	s.object, err = s.values.value(errors.LimitHeldBytes)
	s.object = slices.Clip(s.object) // so that appending to Raw cannot overwrite the next object
	return err
}

// orEOF returns the error, or io.EOF if there is none.
func orEOF(err error) error {
	if err == nil {
		return io.EOF
	}
	return err
}

// A listState is the place in the grammar of a list that a Sequence has reached. Of values in a row,
// each is an item.
type listState uint8

const (
	beforeList listState = iota
	beforeFirstName
	beforeName
	afterMember
	beforeFirstItem
	beforeItem
	afterItem
	afterList
)

// nextItem finds the next item of a list.
func (s *Sequence) nextItem() error {
	in := &s.values
	for {
		c, err := in.peek()
		if err != nil {
			return err
		}
		switch {
		case s.state == beforeList && c == '{':
			in.at++
			s.state = beforeFirstName
		case (s.state == beforeFirstName || s.state == beforeName) && c == '"':
			err = s.member()
		case (s.state == beforeFirstName || s.state == afterMember) && c == '}':
			in.at++
			s.state = afterList
		case s.state == afterMember && c == ',':
			in.at++
			s.state = beforeName
		case (s.state == beforeFirstItem || s.state == afterItem) && c == ']':
			in.at++
			s.state = afterMember
		case s.state == afterItem && c == ',':
			in.at++
			s.state = beforeItem
		case s.state == beforeFirstItem || s.state == beforeItem:
			s.state = afterItem
			return s.take()
		case s.state == afterList && in.atEnd():
			return io.EOF
		default:
			err = in.fault(s.state.expects())
		}
		if err != nil {
			return err
		}
	}
}

// expects returns the token that may come next, and the kind of container that it is in.
func (s listState) expects() (syntax.Expectation, syntax.Container) {
	switch s {
	case beforeFirstName:
		return syntax.FirstName, syntax.Object
	case beforeName:
		return syntax.Name, syntax.Object
	case afterMember:
		return syntax.Comma, syntax.Object
	case afterItem:
		return syntax.Comma, syntax.Array
	case afterList:
		return syntax.Comma, syntax.Root
	}
	return syntax.AnObject, syntax.Root
}

// member reads a member of the list. Of the member items it reads the opening bracket only.
func (s *Sequence) member() error {
	in := &s.values
	at := in.position(in.at)
	text, err := in.value(errors.LimitNameBytes)
	if err != nil {
		return err
	}
	name := jsonwire.AppendUnescaped(nil, text[1:len(text)-1])
	c, err := in.peek()
	if err == nil && c != ':' {
		err = in.fault(syntax.Colon, syntax.Object)
	}
	if err != nil {
		return err
	}
	in.at++
	if c, err = in.peek(); err != nil {
		return err
	}
	s.state = afterMember
	if string(name) == "items" {
		if s.items.IsValid() {
			return &errors.DuplicateError{
				Path: errors.Path{}.Child("items"), Position: at, First: s.items,
			}
		}
		s.items = at
		switch c {
		case '[':
			in.at++
			s.state = beforeFirstItem
			return nil
		case 'n': // null: there are no items
		default:
			return in.fault(syntax.AnArray, syntax.Object)
		}
	}
	_, err = in.value(0)
	return err
}
